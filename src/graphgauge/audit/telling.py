"""How much of a node's class one feature column gives away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import FloatArray, IntArray

__all__ = ["telling"]

# Bins are this full at least, so that few nodes in a bin cannot agree by chance.
_FULL = 20
_MOST_BINS = 255
# Entries of features, and cells of bins by classes, worked on at a time.
_AT_A_TIME = 2**22


def telling(features: Any, classes: IntArray) -> FloatArray:
    """Share of the errors of plain guessing that each column, alone, removes ``[d]``.

    A column's values are put into bins: zero is one, the other values share up to 255 of at least
    20 entries each, equal values together. Predict the most frequent class of the bin. Let `e` be
    the errors and `e0` those of always predicting the most frequent class of all; the column
    removes ``1 - e / e0`` of them (the lambda of Goodman and Kruskal). The same is done for each
    class against the rest, and the largest share counts. Classes with fewer than 20 nodes (or all
    but 20) are not looked at.

    Parameters
    ----------
    features
        One row a node ``[n, d]``, dense or sparse.
    classes
        Class of every node ``[n]``, none of them unknown.

    References
    ----------
    Goodman and Kruskal, Measures of Association for Cross Classifications, 1954, section 5.

    Examples
    --------
    >>> classes = np.arange(100) % 2
    >>> telling(np.stack([classes, np.ones(100)], axis=1), classes)
    array([1., 0.])
    """
    n_columns = features.shape[1]
    totals = np.bincount(classes)
    shares = np.zeros(n_columns)
    for columns in _blocks(features, len(totals)):
        counts, first = _contingency(_by_column(features, columns), classes, totals)
        shares[columns] = _removed(counts, first, totals)
    return shares


def _blocks(features: Any, n_classes: int) -> Iterator[slice]:
    n_rows, n_columns = features.shape
    width = max(1, _AT_A_TIME // max(n_rows, (_MOST_BINS + 1) * n_classes, 1))
    if sp.issparse(features):
        per_column = max(1, features.nnz // max(n_columns, 1))
        width = max(1, _AT_A_TIME // max(per_column, 2 * n_classes))
    return (slice(i, min(i + width, n_columns)) for i in range(0, n_columns, width))


def _by_column(features: Any, columns: slice) -> sp.csc_array:
    block = sp.csc_array(features[:, columns])
    block.eliminate_zeros()
    return block


def _contingency(
    block: sp.csc_array, classes: IntArray, totals: IntArray
) -> tuple[IntArray, IntArray]:
    """Count bins by classes ``[bins, C]``, all columns' bins in a row, and each one's first.

    A column's first bin is that of its zeros.
    """
    filled = np.diff(block.indptr)
    n_bins = np.clip(filled // _FULL, 1, _MOST_BINS)
    first = np.concatenate([[0], np.cumsum(n_bins + 1)])
    column = np.repeat(np.arange(len(filled)), filled)
    order = np.lexsort((block.data, column))
    rank = _rank_of_equals(block.data[order], column, block.indptr[:-1])
    bins = first[column] + 1 + rank * n_bins[column] // filled[column]
    n_classes = len(totals)
    cells = bins * n_classes + classes[block.indices[order]]
    counts = np.bincount(cells, minlength=first[-1] * n_classes).reshape(-1, n_classes)
    counts[first[:-1]] = totals - np.add.reduceat(counts, first[:-1], axis=0)
    return counts, first[:-1]


def _rank_of_equals(values: Any, column: IntArray, starts: IntArray) -> IntArray:
    """Rank within the column, counted from zero; equal values have the first one's rank."""
    places = np.arange(len(values))
    fresh = np.ones(len(values), bool)
    fresh[1:] = (values[1:] != values[:-1]) | (column[1:] != column[:-1])
    return np.maximum.accumulate(np.where(fresh, places, 0)) - starts[column]


def _removed(counts: IntArray, first: IntArray, totals: IntArray) -> FloatArray:
    n = totals.sum()
    sizes = counts.sum(axis=1)
    errors = np.add.reduceat(sizes - counts.max(axis=1), first)
    removed = _share_removed(errors, n - totals.max(keepdims=True))
    rest = np.add.reduceat(np.minimum(counts, sizes[:, None] - counts), first, axis=0)
    each = _share_removed(rest, np.minimum(totals, n - totals))
    return np.asarray(np.maximum(removed, each.max(axis=1)))


def _share_removed(errors: IntArray, without: IntArray) -> FloatArray:
    return np.asarray(np.where(without >= _FULL, 1 - errors / np.maximum(without, 1), 0.0))
