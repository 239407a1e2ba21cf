"""Colours: one number a node that tells its place in the graph and not its row in a file.

Nodes start alike and take, round after round, the colours of their neighbours, features and class
into their own, until no colour splits any further (Weisfeiler and Leman's refinement). Columns of
features and class numbers are coloured the same way, so that neither their order nor the order of
the nodes matters. Two uses: a graph has the same set of colours whatever file it came from, and a
choice among nodes that is made by colour survives any renumbering.

References
----------
Weisfeiler and Leman, The reduction of a graph to canonical form, 1968.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.arrays import FloatArray, IntArray

__all__ = ["Colours", "copies_before", "mixed", "refine"]

UintArray: TypeAlias = npt.NDArray[np.uint64]

_ROUNDS = 16
_ENTRIES = 2**21


@dataclass(frozen=True, eq=False)
class Colours:
    """Colours of the nodes ``[n]``, the columns of the features and the classes that occur."""

    nodes: UintArray
    columns: UintArray
    classes: UintArray


def mixed(values: npt.NDArray[Any], salt: int = 0) -> UintArray:
    """Scramble whole numbers so that close ones end far apart, alike on every machine.

    Examples
    --------
    >>> mixed(np.array([0, 1]), salt=7).tolist() == mixed(np.array([0, 1]), salt=7).tolist()
    True
    """
    x = values.astype(np.uint64)
    # The finaliser of SplitMix64 (Steele, Lea and Flood 2014); sums wrap around, as they should.
    x += np.uint64((0x9E3779B97F4A7C15 * (salt + 1)) % 2**64)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def refine(
    adjacency: sp.csr_array,
    features: FloatArray | sp.csr_array | None = None,
    labels: IntArray | None = None,
) -> Colours:
    """Colour nodes, columns and classes until no colour splits further.

    Examples
    --------
    >>> path = sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> nodes = refine(path).nodes
    >>> bool(nodes[0] == nodes[2]), bool(nodes[0] == nodes[1])
    (True, False)
    """
    n = adjacency.shape[0]
    n_columns = 0 if features is None else features.shape[1]
    n_classes = 0
    if labels is not None:
        # Numbers that no node has are no classes: they would count for files that skip none.
        occurring = np.unique(labels[labels >= 0])
        n_classes = len(occurring)
        labels = np.where(labels >= 0, np.searchsorted(occurring, labels), -1)
    state = Colours(*(np.zeros(size, np.uint64) for size in (n, n_columns, n_classes)))
    n_colours = -1
    for _ in range(_ROUNDS):
        state = _next(state, adjacency, features, labels)
        found = len(np.unique(state.nodes))
        if found == n_colours:
            break
        n_colours = found
    return state


def copies_before(colours: UintArray) -> IntArray:
    """Count for every item the earlier items of the same colour.

    Examples
    --------
    >>> copies_before(np.array([5, 3, 5, 5], np.uint64))
    array([0, 0, 1, 2])
    """
    order = np.argsort(colours, kind="stable")
    ordered = colours[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(order) else order
    lengths = np.diff(np.r_[starts, len(order)])
    counts = np.empty(len(order), np.int64)
    counts[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    return counts


def _next(
    state: Colours,
    adjacency: sp.csr_array,
    features: FloatArray | sp.csr_array | None,
    labels: IntArray | None,
) -> Colours:
    nodes = mixed(state.nodes, 1)
    for salt, sums in enumerate(_sums(adjacency, state.nodes, state.nodes), start=2):
        nodes += mixed(sums, salt)
    columns, classes = state.columns, state.classes
    if features is not None:
        of_rows, of_columns = _sums(features, state.columns, state.nodes)
        nodes += mixed(of_rows, 4)
        columns = mixed(mixed(columns, 5) + of_columns)
    if labels is not None:
        known = labels >= 0
        # One more colour, which no class can take, for the nodes without a label.
        nodes += mixed(np.append(classes, np.uint64(0)), 6)[np.where(known, labels, len(classes))]
        members = np.zeros(len(classes), np.uint64)
        np.add.at(members, labels[known], mixed(state.nodes[known], 7))
        classes = mixed(mixed(classes, 8) + members)
    return Colours(mixed(nodes), columns, classes)


def _sums(
    matrix: FloatArray | sp.csr_array, columns: UintArray, rows: UintArray
) -> tuple[UintArray, UintArray]:
    """Add up over the entries of each row, and of each column, who stands there and how large."""
    of_rows = np.zeros(matrix.shape[0], np.uint64)
    of_columns = np.zeros(matrix.shape[1], np.uint64)
    to_columns, to_rows = mixed(columns, 9), mixed(rows, 10)
    for row, column, sizes in _entries(matrix):
        np.add.at(of_rows, row, mixed(sizes + to_columns[column]))
        np.add.at(of_columns, column, mixed(sizes + to_rows[row]))
    return of_rows, of_columns


def _entries(matrix: Any) -> Iterator[tuple[IntArray, IntArray, UintArray]]:
    """Yield rows, columns and scrambled sizes of the entries that are not zero, by blocks."""
    n, width = matrix.shape
    if not sp.issparse(matrix):
        step = max(1, _ENTRIES // max(width, 1))
        starts = [*range(0, n, step), n]
    else:
        cuts = np.arange(0, matrix.nnz, _ENTRIES)
        starts = [0, *np.unique(np.searchsorted(matrix.indptr, cuts[1:])).tolist(), n]
    for first, last in itertools.pairwise(starts):
        block = sp.coo_array(matrix[first:last])
        kept = block.data != 0
        row, column = (places[kept] for places in block.coords)
        yield row.astype(np.int64) + first, column, _bits(block.data[kept])


def _bits(values: npt.NDArray[Any]) -> UintArray:
    if values.size and (values == values[0]).all():
        return np.broadcast_to(mixed(values[:1].astype(np.float64).view(np.uint64)), values.shape)
    return mixed(values.astype(np.float64).view(np.uint64))
