"""Sums over neighbours: the one thing that walks on a graph are computed from.

Nodes stand in falling order of degree: rows of like length follow one another, so that a processor
guesses right where they end. All entries of the matrix are one, and one run of ones, which stays
in a processor's cache, does for all its blocks. A long row is summed in pieces: added up one by
one, a million equal numbers are off by 1e-11, and hubs would be the least exact of all.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import FloatArray, IntArray

__all__ = ["Links"]

_ENTRIES = 2**17
_PIECE = 128


@dataclass(frozen=True, eq=False)
class Links:
    """Who is next to whom, arranged for sums.

    Parameters
    ----------
    order
        The node in every place ``[n]``, by falling degree.
    degrees
        How many neighbours it has ``[n]``.
    firsts
        The first piece of every row of several pieces, and the first one behind all those.
    blocks
        Pieces of rows as matrices with entries of one, for either precision.

    Examples
    --------
    >>> links = Links.of(sp.csr_array([[0, 0, 1], [0, 0, 1], [1, 1, 0]]))
    >>> links.order, links.sums(np.array([5.0, 1.0, 2.0]))
    (array([2, 0, 1]), array([3., 5., 5.]))
    """

    order: IntArray
    degrees: IntArray
    firsts: IntArray
    blocks: Mapping[np.dtype[Any], tuple[sp.csr_array, ...]]

    @classmethod
    def of(cls, pattern: sp.csr_array) -> Links:
        """Arrange a symmetric pattern without loops, such as `Graph.neighbours`."""
        degrees = np.diff(pattern.indptr)
        order = np.argsort(np.arange(len(degrees)) - degrees.astype(np.int64) * len(degrees))
        place = np.empty(len(order), pattern.indices.dtype)
        place[order] = np.arange(len(order))
        entries = (pattern.data, place.take(pattern.indices), pattern.indptr)
        rows = sp.csr_array(entries, pattern.shape)[order]
        degrees = degrees[order]
        n_pieces = -(-degrees[degrees > _PIECE] // _PIECE)
        firsts = np.append(0, np.cumsum(n_pieces))
        return cls(order, degrees, firsts, _blocks(_cut(rows, n_pieces)))

    def sums(self, values: FloatArray) -> FloatArray:
        """Add up the values of every node's neighbours, in the precision of the values."""
        sums = np.concatenate([block @ values for block in self.blocks[values.dtype]])
        if len(self.firsts) == 1:
            return sums
        behind = self.firsts[-1]
        return np.append(np.add.reduceat(sums[:behind], self.firsts[:-1]), sums[behind:])


def _cut(rows: sp.csr_array, n_pieces: IntArray) -> sp.csr_array:
    """Cut the first rows into so many pieces."""
    starts, long = rows.indptr, len(n_pieces)
    of_row = np.arange(n_pieces.sum()) - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)
    pieces = np.repeat(starts[:long], n_pieces) + _PIECE * of_row
    starts = np.append(pieces.astype(starts.dtype), starts[long:])
    return sp.csr_array((rows.data, rows.indices, starts), (len(starts) - 1, rows.shape[1]))


def _blocks(pieces: sp.csr_array) -> dict[np.dtype[Any], tuple[sp.csr_array, ...]]:
    cuts = np.searchsorted(pieces.indptr, np.arange(0, max(pieces.nnz, 1), _ENTRIES))
    cuts[0] = 0
    cuts = np.append(cuts, pieces.shape[0])
    starts = [pieces.indptr[first : last + 1] for first, last in itertools.pairwise(cuts)]
    longest = max(int(here[-1] - here[0]) for here in starts)
    blocks = {}
    for precision in (np.float32, np.float64):
        ones = np.ones(longest, precision)
        blocks[np.dtype(precision)] = tuple(
            sp.csr_array(
                (ones[: here[-1] - here[0]], pieces.indices[here[0] : here[-1]], here - here[0]),
                (len(here) - 1, pieces.shape[1]),
            )
            for here in starts
        )
    return blocks
