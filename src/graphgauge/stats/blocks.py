"""Blocks: which items belong together when a graph is resampled.

Nodes are not independent: neighbours share classes, features and mistakes. Drawing whole
communities keeps most of that dependence inside a block; for edges, whose ends serve many of
them, either an end's edges are drawn together or the nodes are drawn and edges follow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import FloatArray, IntArray, floats, integers, same_length
from graphgauge.errors import InputError
from graphgauge.stats.units import add_up

__all__ = ["balanced_counts", "communities", "edge_counts", "endpoint_blocks"]

# Half-sweeps over the nodes of a level, at most, before it is contracted.
_ROUNDS = 12


def endpoint_blocks(edges: IntArray) -> IntArray:
    """Give every edge ``[e, 2]`` the block of its first end in canonical order ``[e]``.

    Which end is written first does not matter: the smaller node number counts.

    Examples
    --------
    >>> endpoint_blocks(np.array([[5, 2], [2, 9], [7, 8]]))
    array([2, 2, 7])
    """
    return np.asarray(_pairs(edges).min(axis=1))


def edge_counts(counts: FloatArray | IntArray, edges: IntArray) -> FloatArray | IntArray:
    """Count how often edges ``[e, 2]`` occur when nodes are drawn: both ends' counts multiplied.

    Counts of one resample ``[n]`` give ``[e]``, of several ``[n, r]`` give ``[e, r]``; so
    ``lambda w: metric(edge_counts(w, edges))`` is a statistic of nodes.

    Examples
    --------
    >>> edge_counts(np.array([2, 1, 0, 3]), np.array([[0, 1], [0, 3], [2, 3]]))
    array([2, 6, 0])
    """
    pairs = _pairs(edges)
    # A product of two bytes needs two.
    wide = counts.astype(np.uint16) if counts.dtype == np.uint8 else counts
    product: FloatArray | IntArray = wide[pairs[:, 0]] * wide[pairs[:, 1]]
    return product


def balanced_counts(counts: FloatArray, labels: IntArray) -> FloatArray:
    """Weigh a resample so that classes count alike: its counts ``[n]`` over those of the class.

    Examples
    --------
    >>> balanced_counts(np.array([3.0, 1.0, 0.0, 2.0]), np.array([0, 0, 1, 1]))
    array([0.75, 0.25, 0.  , 1.  ])
    """
    counts, labels = floats("counts", counts, ndim=1), integers("labels", labels, ndim=1)
    same_length(counts=counts, labels=labels)
    drawn = add_up(counts, labels, 0)[labels]
    return np.asarray(np.divide(counts, drawn, out=np.zeros(len(counts)), where=drawn > 0))


def communities(adjacency: Any, *, seed: int = 0, most: int | None = None) -> IntArray:
    """Find communities of at most `most` nodes, to be drawn as blocks.

    Nodes move, a random half at a time, to the neighbouring community that raises modularity most
    and still has room; communities then become the nodes of a smaller graph, until none moves
    (after Blondel et al. 2008; the limit on size after Meyerhenke et al. 2014). Time and memory
    are about linear in the number of edges.

    Parameters
    ----------
    adjacency
        Sparse matrix ``[n, n]``. Where its entries are matters; their values, their direction and
        the diagonal do not.
    seed
        Same graph and seed, same communities.
    most
        Nodes of the largest community. By default a fiftieth of all nodes, or the root of their
        number if that is more: an interval from few blocks is too short.

    Returns
    -------
    Label of every node's community ``[n]``, numbered by first appearance. An isolated node is a
    community of its own.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> triangles = sp.block_diag([np.ones((3, 3)), np.ones((3, 3)), [[0]]], format="csr")
    >>> communities(triangles, most=3)
    array([0, 0, 0, 1, 1, 1, 2])
    """
    graph = _simple(adjacency)
    n = graph.shape[0]
    limit = max(1, int(np.ceil(np.sqrt(n))), n // 50) if most is None else most
    if limit < 1:
        raise InputError(f"most: {most} is not a number of nodes")
    rng = np.random.default_rng(seed)
    level = _Level(graph, np.diff(graph.indptr).astype(float), np.ones(n, np.int64), limit)
    label = np.arange(n)
    group = level.group(rng)
    while group.max(initial=-1) + 1 < level.n:
        label, level = group[label], level.contract(group)
        group = level.group(rng)
    return _by_appearance(label)


class _Level:
    """A graph whose nodes are communities found so far, and the groups they form."""

    def __init__(self, graph: Any, degree: FloatArray, size: IntArray, limit: int) -> None:
        self.graph, self.degree, self.size, self.limit = graph, degree, size, limit
        self.n = graph.shape[0]

    def group(self, rng: np.random.Generator) -> IntArray:
        """Move nodes between groups until few do, and number the groups from zero."""
        label = np.arange(self.n)
        linked = np.flatnonzero(np.diff(self.graph.indptr))
        n_moved = 0
        if len(linked) == 0:
            return label
        for turn in range(_ROUNDS):
            if turn % 2 == 0:
                linked, n_moved = rng.permutation(linked), 0
            half = np.sort(linked[turn % 2 :: 2])
            n_moved += self._move(half, label)
            if turn % 2 == 1 and n_moved <= len(linked) // 100:
                break
        return _by_appearance(label)

    def contract(self, group: IntArray) -> _Level:
        """Make every group a node; edges inside a group live on in its degree."""
        n_groups = int(group.max()) + 1
        member = _one_hot(group, n_groups)
        merged = (member.T @ self.graph @ member).tocsr()
        merged.setdiag(0)
        merged.eliminate_zeros()
        degree = add_up(self.degree, group, n_groups)
        size = add_up(self.size, group, n_groups).astype(np.int64)
        return _Level(merged, degree, size, self.limit)

    def _move(self, nodes: IntArray, label: IntArray) -> int:
        """Move the given nodes to their best groups, in place; tell how many did."""
        held = add_up(self.size, label, self.n)
        target, gain = self._best(nodes, label, held)
        rows = np.flatnonzero(gain > 1e-12)
        rows = rows[self._fits(nodes[rows], target[rows], gain[rows], held)]
        label[nodes[rows]] = target[rows]
        return len(rows)

    def _best(
        self, nodes: IntArray, label: IntArray, held: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Find the group with room that each node gains most by moving to, and the gain."""
        near = self.graph[nodes] @ _one_hot(label, self.n)
        row = np.repeat(np.arange(len(nodes)), np.diff(near.indptr))
        node, group = nodes[row], near.indices
        total = add_up(self.degree, label, self.n) / self.degree.sum()
        at_home = group == label[node]
        score = near.data - self.degree[node] * total[group]
        stay = -self.degree[nodes] * (total[label[nodes]] - self.degree[nodes] / self.degree.sum())
        stay[row[at_home]] += near.data[at_home]
        score[at_home | (held[group] + self.size[node] > self.limit)] = -np.inf
        best = np.maximum.reduceat(score, near.indptr[:-1])
        hits = np.flatnonzero(score == best[row])
        first = hits[np.unique(row[hits], return_index=True)[1]]
        return group[first], best - stay

    def _fits(
        self, nodes: IntArray, target: IntArray, gain: FloatArray, held: FloatArray
    ) -> IntArray:
        """Let those in that gain most when more want to join a group than it has room for."""
        order = np.lexsort((nodes, -gain, target))
        size = self.size[nodes[order]].cumsum()
        starts = np.flatnonzero(np.diff(target[order], prepend=-1))
        before = np.repeat(
            size[starts] - self.size[nodes[order[starts]]], np.diff(starts, append=len(order))
        )
        fits: IntArray = order[held[target[order]] + size - before <= self.limit]
        return fits


def _pairs(edges: IntArray) -> IntArray:
    pairs = integers("edges", edges, ndim=2)
    if pairs.shape[1] != 2:
        raise InputError(f"edges: has {pairs.shape[1]} columns, expected 2")
    return pairs


def _simple(adjacency: Any) -> Any:
    """Make a symmetric graph of ones without a diagonal."""
    if not sp.issparse(adjacency) or adjacency.shape[0] != adjacency.shape[1]:
        raise InputError("adjacency: expected a square sparse matrix")
    graph = sp.csr_array(adjacency, copy=True)
    graph.eliminate_zeros()
    graph.data = np.ones(len(graph.data))
    graph = (graph + graph.T).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    graph.data = np.ones(len(graph.data))
    return graph


def _one_hot(label: IntArray, n_labels: int) -> Any:
    n = len(label)
    return sp.csr_array((np.ones(n), label, np.arange(n + 1)), shape=(n, n_labels))


def _by_appearance(label: IntArray) -> IntArray:
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]
