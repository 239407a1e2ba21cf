"""Edges as items: which of them are judged, and what was predicted for their two ends.

An edge is right when both its ends are. Without joint edge marginals its probabilities are the
product of the ends' probabilities. Edges are unique undirected pairs ``[e, 2]`` (see
:func:`graphgauge.graph.undirected_edges`); all measures are symmetric, so that counting both
directions would give the same values.

Reference: *A Graph Is More Than Its Nodes* (Hsu, Shen and Cremers 2022, arXiv 2210.15575).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from graphgauge.arrays import BoolArray, FloatArray, IntArray, refuse
from graphgauge.errors import InputError
from graphgauge.metrics.metric import Direction, Metric, Needs
from graphgauge.metrics.outcomes import Outcomes

__all__ = [
    "CARDS",
    "JointArgmax",
    "agreeing",
    "edge_outcomes",
    "edges_within",
    "homophily",
    "joint_along",
    "joint_argmax",
    "joint_outcomes",
    "k_index",
    "touched",
]

JointArgmax: TypeAlias = Literal["joint", "node"]

_BLOCK = 8192


def edges_within(edges: IntArray, part: BoolArray) -> BoolArray:
    """Mark the edges with both ends in a part, given as a mask over the nodes (E_U).

    Examples
    --------
    >>> edges_within(np.array([[0, 1], [1, 2]]), np.array([True, True, False]))
    array([ True, False])
    """
    return part[edges[:, 0]] & part[edges[:, 1]]


def agreeing(edges: IntArray, labels: IntArray) -> BoolArray:
    """Mark the edges whose ends truly have the same label (E_A; the others are E_D).

    Examples
    --------
    >>> agreeing(np.array([[0, 1], [1, 2]]), np.array([4, 4, 1]))
    array([ True, False])
    """
    same = np.empty(len(edges), bool)
    _check_known(edges, labels)
    for start in range(0, len(edges), _BLOCK):
        u, v = labels[edges[start : start + _BLOCK].T]
        same[start : start + _BLOCK] = u == v
    return same


def homophily(edges: IntArray, labels: IntArray) -> float:
    """Share of the edges whose ends have the same label: |E_A| / |E_U| (equation 22).

    Examples
    --------
    >>> homophily(np.array([[0, 1], [1, 2]]), np.array([4, 4, 1]))
    0.5
    """
    return float(agreeing(edges, labels).mean()) if len(edges) else float("nan")


def k_index(edges: IntArray, n_items: int) -> float:
    """Share of the judged nodes that some edge of the set touches: K(E) (equation 23).

    Parameters
    ----------
    edges
        Any set of edges among the judged nodes ``[e, 2]``: all, agreeing or disagreeing.
    n_items
        Number of judged nodes |U|.

    Examples
    --------
    >>> k_index(np.array([[0, 1], [1, 2]]), 4)
    0.75
    """
    if not n_items:
        return float("nan")
    touched = np.zeros(int(edges.max()) + 1 if len(edges) else 0, bool)
    touched[edges[:, 0]] = True
    touched[edges[:, 1]] = True
    return float(touched.sum() / n_items)


def touched(edges: IntArray, labels: IntArray) -> float:
    """Return the K index of edges among nodes with these labels: `k_index` as a metric.

    Examples
    --------
    >>> touched(np.array([[0, 1], [1, 2]]), np.array([4, 4, 1, 0]))
    0.75
    """
    return k_index(edges, len(labels))


def edge_outcomes(nodes: Outcomes, edges: IntArray) -> Outcomes:
    """Return the outcomes of edges from those of all nodes, by the product of the ends.

    Examples
    --------
    >>> nodes = Outcomes.of_nodes(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0, 0]))
    >>> edge_outcomes(nodes, np.array([[0, 1]])).confidence
    array([0.45])
    """
    return nodes.ends(edges)


def joint_outcomes(
    edge_probs: FloatArray,
    edges: IntArray,
    labels: IntArray,
    *,
    argmax: JointArgmax = "joint",
) -> Outcomes:
    """Return the outcomes of edges from their own joint marginals.

    Parameters
    ----------
    edge_probs
        Probability of each pair of classes ``[e, C, C]``; the first axis of classes belongs to
        ``edges[:, 0]``.
    edges, labels
        Pairs of nodes ``[e, 2]`` and the class of every node ``[n]``.
    argmax
        What is predicted: the most probable pair (``joint``), or the pair of the classes that are
        most probable for each end alone (``node``). Ties go to the first.

    Examples
    --------
    >>> joint = np.array([[[0.4, 0.0], [0.3, 0.3]]])
    >>> edges, labels = np.array([[0, 1]]), np.array([1, 0])
    >>> joint_outcomes(joint, edges, labels).confidence
    array([0.4])
    >>> joint_outcomes(joint, edges, labels, argmax="node").correct
    array([ True])
    """
    predicted = joint_argmax(edge_probs, argmax)
    n_classes = edge_probs.shape[-1]
    flat = edge_probs.reshape(len(edges), n_classes**2)
    _check_known(edges, labels)
    u, v = labels[edges.T]
    happened = u.astype(np.intp) * n_classes + v
    index = np.arange(len(edges))
    squares = np.einsum("ij,ij->i", flat, flat, dtype=np.float64)
    return Outcomes(
        flat[index, predicted],
        np.asarray(predicted == happened),
        flat[index, happened].astype(np.float64),
        squares,
    )


def joint_argmax(edge_probs: FloatArray, argmax: JointArgmax = "joint") -> IntArray:
    """Return the pair of classes (a, b) predicted for each edge as a number ``a * C + b``.

    Examples
    --------
    >>> joint = np.array([[[0.4, 0.0], [0.3, 0.3]]])
    >>> joint_argmax(joint), joint_argmax(joint, "node")
    (array([0]), array([2]))
    """
    if argmax not in ("joint", "node"):
        raise InputError(f"argmax: {argmax!r} is neither 'joint' nor 'node'")
    n, n_classes = len(edge_probs), edge_probs.shape[-1]
    predicted = np.empty(n, np.intp)
    for start in range(0, n, _BLOCK):
        block = edge_probs[start : start + _BLOCK]
        if argmax == "joint":
            pair = block.reshape(len(block), -1).argmax(axis=1)
        else:
            pair = block.sum(axis=2).argmax(axis=1) * n_classes + block.sum(axis=1).argmax(axis=1)
        predicted[start : start + _BLOCK] = pair
    return predicted


def joint_along(
    edge_probs: FloatArray, edges: IntArray, pairs: IntArray, rows: IntArray
) -> FloatArray:
    """Carry joint marginals over from edges as given to unique pairs ``u < v``.

    Parameters
    ----------
    edge_probs, edges
        Joint marginals ``[e, C, C]`` of edges as given ``[e, 2]``.
    pairs, rows
        Unique pairs and the row each was first seen in.

    Examples
    --------
    >>> joint = np.array([[[0.1, 0.2], [0.3, 0.4]]])
    >>> joint_along(joint, np.array([[5, 3]]), np.array([[3, 5]]), np.array([0])).tolist()
    [[[0.1, 0.3], [0.2, 0.4]]]
    """
    carried = edge_probs[rows]
    turned = np.flatnonzero(edges[rows, 0] != pairs[:, 0])
    carried[turned] = carried[turned].swapaxes(1, 2)
    return carried


def _check_known(edges: IntArray, labels: IntArray) -> None:
    # The ends are searched for unknown labels only where there are any.
    if len(labels) and labels.min() < 0:
        unknown = np.asarray((labels[edges] < 0).any(axis=1))
        refuse("edges", unknown, "has an unlabelled end", "have an unlabelled end")


CARDS: tuple[Metric, ...] = (
    Metric(
        name="homophily",
        compute=homophily,
        definition="Share of the edges whose ends have the same label.",
        direction=Direction.NEITHER,
        low=0.0,
        high=1.0,
        chance="sum over classes of their squared shares, for labels placed at random",
        needs=Needs.STRUCTURE,
        reference="Hsu, Shen and Cremers 2022 (arXiv 2210.15575), equation 22",
    ),
    Metric(
        name="k_index",
        compute=touched,
        definition="Share of the judged nodes that some edge of the set touches.",
        direction=Direction.NEITHER,
        low=0.0,
        high=1.0,
        chance="none: it describes the graph",
        needs=Needs.STRUCTURE,
        reference="Hsu, Shen and Cremers 2022 (arXiv 2210.15575), equation 23",
    ),
)
