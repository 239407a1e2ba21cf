"""Shortest paths in hops: breadth-first searches from many nodes at once, a bit for each.

Sixty-four searches share one word a node, so that a step of all of them along all edges is one
pass over the edges. Where few nodes are about to be left, only their edges are looked at: a long
path does not cost its length times all edges.

References
----------
Then et al., The More the Merrier: Efficient Multi-Source Graph Traversal, VLDB 2014.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import IntArray
from graphgauge.colours import UintArray

__all__ = ["AT_ONCE", "hops"]

AT_ONCE = 64
_ENTRIES = 2**22
# Scattering an entry costs about as much as gathering eight.
_SCATTER = 8


def hops(pattern: sp.csr_array, sources: IntArray) -> IntArray:
    """Count the edges of a shortest path from each source to each node ``[n, m]``; -1 for none.

    Parameters
    ----------
    pattern
        Symmetric, such as `Graph.neighbours`.
    sources
        At most `AT_ONCE` nodes ``[m]``.

    Examples
    --------
    >>> path = sp.csr_array(([1, 1, 1, 1], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(4, 4))
    >>> hops(path, np.array([0, 1])).T
    array([[ 0,  1,  2, -1],
           [ 1,  0,  1, -1]], dtype=int32)
    """
    n, m = pattern.shape[0], len(sources)
    found = np.full((n, m), -1, np.int32)
    front = np.zeros(n, np.uint64)
    np.bitwise_or.at(front, sources, np.uint64(1) << np.arange(m, dtype=np.uint64))
    seen = front.copy()
    for steps in itertools.count():
        nodes = np.flatnonzero(front)
        if not len(nodes):
            return found
        rows = found[nodes]
        rows[_bits(front[nodes], m)] = steps
        found[nodes] = rows
        front = _reached(pattern, front, nodes) & ~seen
        seen |= front
    raise AssertionError("unreachable")


def _bits(words: UintArray, m: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    flags = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
    return flags.reshape(len(words), AT_ONCE)[:, :m].astype(bool)


def _reached(pattern: sp.csr_array, front: UintArray, nodes: IntArray) -> UintArray:
    """Give every node the bits of its neighbours."""
    starts = pattern.indptr
    lengths = starts[nodes + 1] - starts[nodes]
    reached = np.zeros_like(front)
    if lengths.sum(dtype=np.int64) * _SCATTER < pattern.nnz:
        edges = np.repeat(starts[nodes] - np.cumsum(lengths) + lengths, lengths)
        edges += np.arange(len(edges), dtype=edges.dtype)
        np.bitwise_or.at(reached, pattern.indices[edges], np.repeat(front[nodes], lengths))
        return reached
    for rows in _row_blocks(starts):
        block = starts[rows.start : rows.stop + 1]
        linked = np.flatnonzero(np.diff(block))
        if len(linked):
            bits = front.take(pattern.indices[block[0] : block[-1]])
            reached[rows.start + linked] = np.bitwise_or.reduceat(bits, block[linked] - block[0])
    return reached


def _row_blocks(starts: IntArray) -> Iterator[slice]:
    """Cut the rows where so many entries are full; a single long row stays whole."""
    cuts = np.searchsorted(starts, np.arange(_ENTRIES, starts[-1], _ENTRIES))
    return itertools.starmap(slice, itertools.pairwise(np.unique([0, *cuts, len(starts) - 1])))
