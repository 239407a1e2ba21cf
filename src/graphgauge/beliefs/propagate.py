"""Belief propagation: what is asked for, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from graphgauge.arrays import FloatArray, integers, refuse
from graphgauge.beliefs.flooding import Flooding
from graphgauge.beliefs.model import PairwiseModel
from graphgauge.errors import InputError

__all__ = ["Beliefs", "propagate_beliefs", "published_beliefs"]

_PAIRS = 2**20
_PUBLISHED_ROUNDS, _PUBLISHED_FLOOR, _PUBLISHED_LOW = 100, -20.0, -1e5


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What the nodes of a model are labelled, each and by pairs.

    Parameters
    ----------
    nodes
        Marginals ``[n, C]`` of sum-product; max-marginals, scaled to a sum of one, of max-product.
    log_z
        Bethe's estimate of log Σ_y exp S(y), the negative of his free energy; for max-product of
        max_y S(y). Exact on trees.
    iterations
        Rounds that were taken.
    converged
        Whether the last round changed no message by more than the tolerance.
    residual
        The largest change of a message in the last round: of the logarithm of two labels' ratio.

    Examples
    --------
    >>> beliefs = propagate_beliefs(PairwiseModel([[1.0, 0.0], [0.0, 0.0]], [[0, 1]], np.eye(2)))
    >>> beliefs.nodes.round(3)
    array([[0.731, 0.269],
           [0.607, 0.393]])
    >>> beliefs.edges().round(3), beliefs.edges().sum(axis=2).round(3)
    (array([[[0.534, 0.197],
            [0.072, 0.197]]]), array([[0.731, 0.269]]))
    >>> round(beliefs.log_z, 6) == round(float(np.log((np.e + 1) * (np.e + 1))), 6)
    True
    """

    nodes: FloatArray
    log_z: float
    iterations: int
    converged: bool
    residual: float
    _messages: Flooding = field(repr=False)

    def edges(self, rows: object = None) -> FloatArray:
        """Return the joint marginals of all edges, or those in some rows, ``[k, C, C]``.

        The first axis of labels belongs to the first end of an edge as it stands in the model.
        """
        n_edges = len(self._messages.model.edges)
        chosen = np.arange(n_edges) if rows is None else integers("rows", rows, ndim=1)
        told = f"outside the edges 0..{n_edges - 1}"
        refuse("rows", (chosen < 0) | (chosen >= n_edges), f"is {told}", f"are {told}")
        n_classes = self.nodes.shape[1]
        joint = np.empty((len(chosen), n_classes, n_classes), self.nodes.dtype)
        for block in self._blocks(len(chosen)):
            joint[block] = self._messages.joint(chosen[block])
        return joint

    def edge_blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the joint marginals of all edges, of some at a time: rows, ``[k, C, C]``.

        Examples
        --------
        >>> model = PairwiseModel(np.zeros((3, 2)), [[0, 1], [1, 2]], np.eye(2))
        >>> blocks = propagate_beliefs(model).edge_blocks()
        >>> [(rows, joint.shape) for rows, joint in blocks]
        [(slice(0, 2, None), (2, 2, 2))]
        """
        for block in self._blocks(len(self._messages.model.edges)):
            yield block, self._messages.joint(np.arange(block.start, block.stop))

    def _blocks(self, n: int) -> Iterator[slice]:
        size = max(_PAIRS // self.nodes.shape[1] ** 2, 1)
        return (slice(start, min(start + size, n)) for start in range(0, n, size))


def propagate_beliefs(
    model: PairwiseModel,
    *,
    product: Literal["sum", "max"] = "sum",
    damping: float = 0.0,
    tolerance: float = 1e-6,
    iterations: int = 100,
) -> Beliefs:
    """Send messages along all edges, both ways at once, until they no longer change.

    On a tree the beliefs are exact after as many rounds as its longest path has edges. On a graph
    with loops they are an approximation, and may not settle; damping helps.

    Parameters
    ----------
    model
        Scores, edges, couplings and what is known.
    product
        ``sum`` for marginals, ``max`` for max-marginals and the best score.
    damping
        Share of its old logarithm that a message keeps in a round, from 0 to below 1.
    tolerance
        Stop when no message changes by more (see `Beliefs.residual`). In single precision there
        is no hope for less than 1e-6 times the scores. With 0 all rounds are taken.
    iterations
        Rounds at most.

    References
    ----------
    Pearl, Probabilistic Reasoning in Intelligent Systems, 1988; Yedidia, Freeman and Weiss,
    Constructing Free-Energy Approximations and Generalized Belief Propagation Algorithms, 2005;
    Murphy, Weiss and Jordan, Loopy Belief Propagation for Approximate Inference, UAI 1999.

    Examples
    --------
    A clamped node draws its neighbours along a path.

    >>> scores, path = np.zeros((3, 2)), [[0, 1], [1, 2]]
    >>> model = PairwiseModel(scores, path, 2 * np.eye(2), clamped=[0, -1, -1])
    >>> propagate_beliefs(model).nodes.round(3)
    array([[1.   , 0.   ],
           [0.881, 0.119],
           [0.79 , 0.21 ]])
    """
    if product not in ("sum", "max"):
        raise InputError(f"product: {product!r} is neither 'sum' nor 'max'")
    if not 0 <= damping < 1:
        raise InputError(f"damping: {damping} is not from 0 to below 1")
    if not 0 <= tolerance < np.inf:
        raise InputError(f"tolerance: {tolerance} is not a number from 0")
    if iterations < 1 or iterations % 1:
        raise InputError(f"iterations: {iterations} is not a whole number above 0")
    messages = Flooding(model, _clamped_scores(model), maximal=product == "max")
    return _settled(messages, damping, tolerance, iterations)


def published_beliefs(model: PairwiseModel) -> Beliefs:
    """Repeat the inference behind the published numbers of EPFGNN, with what is wrong about it.

    What the paper calls loopy belief propagation is max-product, 100 rounds of it without a test.
    Scores are cut off at 20 below the best label. And the clamp misses: of the nodes that are
    known all labels become alike, and the score of the k-th one's label is written into row k of
    the graph, whichever node that is. Pass scores in single precision to do as the code did.
    `log_z` is that of the scores so changed.

    References
    ----------
    Hsu, Shen and Cremers, A Graph Is More Than Its Nodes, 2022 (arXiv 2210.15575), tables 1 and 3.

    Examples
    --------
    The label of node 2 is known, but it is node 0 that gets sure of it.

    >>> model = PairwiseModel([[0, 0], [0, 0], [0, 4.0]], [[0, 1]], np.eye(2), clamped=[-1, -1, 1])
    >>> published_beliefs(model).nodes.round(3)
    array([[0.018, 0.982],
           [0.269, 0.731],
           [0.5  , 0.5  ]])
    """
    messages = Flooding(model, _published_scores(model), maximal=True)
    return _settled(messages, 0.0, 0.0, _PUBLISHED_ROUNDS)


def _settled(messages: Flooding, damping: float, tolerance: float, iterations: int) -> Beliefs:
    taken, change, log_z = messages.settle(damping, tolerance, iterations)
    return Beliefs(messages.marginals(), log_z, taken, change <= tolerance, change, messages)


def _clamped_scores(model: PairwiseModel) -> FloatArray:
    """Make all labels impossible but the one that is known."""
    scores = model.scores.copy()
    if model.clamped is not None:
        nodes = np.flatnonzero(model.clamped >= 0)
        labels = model.clamped[nodes]
        scores[nodes] = -np.inf
        scores[nodes, labels] = model.scores[nodes, labels]
    return scores


def _published_scores(model: PairwiseModel) -> FloatArray:
    """Clamp as the authors' code does: what is known lands in the first rows."""
    scores = model.scores.copy()
    if model.clamped is not None:
        nodes = np.flatnonzero(model.clamped >= 0)
        labels = model.clamped[nodes]
        scores[nodes] = _PUBLISHED_LOW
        scores[np.arange(len(nodes)), labels] = model.scores[nodes, labels]
    scores -= scores.max(axis=1, keepdims=True)
    return np.maximum(scores, _PUBLISHED_FLOOR, out=scores)
