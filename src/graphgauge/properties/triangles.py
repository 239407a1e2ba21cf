"""Triangles: how many there are on every edge and on every node, counted in whole numbers.

Nodes are ranked by degree and every edge points to the end of higher rank, so that few edges leave
even a hub, at most ``sqrt(2 · n_edges)``. From the lowest node of a triangle two edges leave; an
edge must lead from the lower of their ends, the middle, to the higher one, the top. So all pairs
of edges that leave a node are looked up, those of the same middle together: the edges that leave
it mark their places in a small sieve, and the few pairs that it lets through are compared exactly.
Memory follows the edges and the size of a block, time the number of pairs.

References
----------
Schank and Wagner, Finding, counting and listing all triangles in large graphs, 2005;
Latapy, Main-memory triangle computations for very large (sparse (power-law)) graphs, 2008.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import BoolArray, IntArray

__all__ = ["edge_triangles", "node_triangles"]

# Edges are read and pairs looked up so many at a time; pairs and sieve fit a processor's cache.
_EDGES, _PAIRS, _SIEVE = 2**20, 2**16, 2**20
_MASK = _SIEVE - 1
_SPREAD = np.uint32(0x9E3779B1)


def edge_triangles(edges: IntArray, n_nodes: int) -> IntArray:
    """Count the triangles on every edge, which is how many neighbours its two ends share.

    Parameters
    ----------
    edges
        Unique undirected edges ``[e, 2]`` without self-loops, as `Graph.edges` has them.
    n_nodes
        Number of nodes.

    Examples
    --------
    >>> edge_triangles(np.array([[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]), 4)
    array([1, 2, 1, 1, 1])
    """
    ranked = _Ranked.of(edges, n_nodes)
    found = np.zeros(len(edges), np.int64)
    for sides in _triangles(ranked):
        for side in sides:
            np.add.at(found, side, 1)
    counts = np.empty_like(found)
    counts[ranked.rows] = found
    return counts


def node_triangles(edges: IntArray, n_nodes: int) -> IntArray:
    """Count the triangles that every node is in; takes what `edge_triangles` takes.

    Examples
    --------
    >>> node_triangles(np.array([[0, 1], [0, 2], [0, 3], [1, 2], [2, 3]]), 4)
    array([2, 1, 2, 1])
    """
    counts = edge_triangles(edges, n_nodes)
    some = np.flatnonzero(counts)
    ends, counts = edges.take(some, axis=0), counts.take(some)
    twice = sum(np.bincount(side, counts, minlength=n_nodes) for side in ends.T)
    return np.asarray(twice, np.int64) // 2


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Edges in the order of the ranks of their lower and then of their higher ends.

    Parameters
    ----------
    starts
        Where the edges that leave each rank begin ``[n + 1]``.
    tops
        Rank of the higher end of every edge ``[e]``.
    rows
        Where the edge stood ``[e]``.
    """

    starts: IntArray
    tops: IntArray
    rows: IntArray

    @classmethod
    def of(cls, edges: IntArray, n_nodes: int) -> _Ranked:
        degrees = sum(np.bincount(ends, minlength=n_nodes) for ends in edges.T)
        rank = np.empty(n_nodes, np.int32)
        rank[np.argsort(degrees * n_nodes + np.arange(n_nodes))] = np.arange(
            n_nodes, dtype=np.int32
        )
        u, v = rank.take(edges[:, 0]), rank.take(edges[:, 1])
        rows = np.arange(len(edges), dtype=_index(len(edges)))
        at = np.minimum(u, v), np.maximum(u, v)
        pairs = sp.coo_array((rows, at), (n_nodes, n_nodes))
        # No edge occurs twice; and going by columns first sorts the rows, with no other sorting.
        pairs.has_canonical_format = True
        ordered = pairs.tocsc().tocsr()
        return cls(ordered.indptr, ordered.indices, ordered.data)

    def by_middle(self) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Yield edges ordered by their higher ends, these ends, and how many pairs they make.

        An edge is paired with those behind it that leave the same node.
        """
        n = len(self.starts) - 1
        numbers = np.arange(len(self.tops), dtype=self.rows.dtype)
        entering = sp.csr_array((numbers, self.tops, self.starts), (n, n)).tocsc()
        leaves = np.diff(self.starts) > 0
        for start in range(0, len(numbers), _EDGES):
            block = slice(start, start + _EDGES)
            edge, low = entering.data[block], entering.indices[block]
            middle = self.tops.take(edge)
            pairs = self.starts[1:].take(low) - edge - 1
            some = np.flatnonzero((pairs > 0) & leaves.take(middle))
            yield edge.take(some), middle.take(some), pairs.take(some)


def _triangles(ranked: _Ranked) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield blocks of triangles as edges: low to middle, low to top, middle to top."""
    sieve = np.zeros(_SIEVE, bool)
    for edge, middle, pairs in ranked.by_middle():
        before = np.append(0, np.cumsum(pairs, dtype=np.int64))
        done = 0
        while done < len(edge):
            until = int(np.searchsorted(before, before[done] + _PAIRS, "right")) - 1
            block = slice(done, max(until, done + 1))
            yield _closed(ranked, edge[block], middle[block], pairs[block], sieve)
            done = block.stop


def _closed(
    ranked: _Ranked, edge: IntArray, middle: IntArray, pairs: IntArray, sieve: BoolArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Pair each edge with those behind it that leave the same node; keep pairs that are joined."""
    fresh = np.append(True, middle[1:] != middle[:-1])
    group = np.cumsum(fresh) - 1
    middles = middle[fresh]
    first = ranked.starts[middles]
    sizes = ranked.starts[middles + 1] - first
    third_group = np.repeat(np.arange(len(first)), sizes)
    third = _ranges(first, sizes, third_group)
    salts = np.arange(len(first), dtype=np.uint32) * _SPREAD & np.uint32(_MASK)
    salts = salts.astype(np.int32)
    third_tops = ranked.tops.take(third)
    places = (third_tops + salts[third_group]) & _MASK
    sieve[places] = True
    which = np.repeat(np.arange(len(edge), dtype=edge.dtype), pairs)
    second = _ranges(edge + 1, pairs, which)
    tops = ranked.tops.take(second)
    passed = np.flatnonzero(sieve.take((salts[group].take(which) + tops) & _MASK))
    sieve[places] = False
    # What passed is compared exactly, by middle and top at once.
    n = len(ranked.starts) - 1
    keys = third_group * n + third_tops
    which = which[passed]
    wanted = group[which] * n + tops[passed]
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    joined = keys[at] == wanted
    return edge[which[joined]], second[passed[joined]], third[at[joined]]


def _ranges(starts: IntArray, lengths: IntArray, which: IntArray) -> IntArray:
    """Count up from every start, one range after the other; `which` tells the range of each place.

    Examples
    --------
    >>> _ranges(np.array([5, 2]), np.array([2, 3]), np.array([0, 0, 1, 1, 1]))
    array([5, 6, 2, 3, 4])
    """
    before = np.cumsum(lengths) - lengths
    steps = (starts - before).astype(starts.dtype).take(which)
    steps += np.arange(len(steps), dtype=starts.dtype)
    return steps


def _index(n: int) -> type[np.signedinteger[Any]]:
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64
