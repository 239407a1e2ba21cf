"""Resamples: a vector of counts each, how often every item was drawn.

Every metric takes weights, and a whole weight equals as many copies, so counts are all a resample
is; nothing is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.stats.units import units

__all__ = [
    "Counts",
    "Statistic",
    "mean_replicates",
    "ratio_replicates",
    "replicates",
    "resample_counts",
    "resamples",
]

Statistic: TypeAlias = Callable[[FloatArray], float]
Counts: TypeAlias = IntArray | Iterable[IntArray]

# Counts held at once: four million, which as doubles are 32 MB.
_CELLS = 1 << 22


def resamples(
    n_items: int,
    n_resamples: int,
    *,
    seed: int,
    blocks: IntArray | None = None,
    chunk: int | None = None,
) -> Iterator[IntArray]:
    """Draw resamples as counts ``[n_items, chunk]``, a chunk at a time.

    Parameters
    ----------
    n_items, n_resamples
        How many items there are, and how many resamples are drawn.
    seed
        Same seed, same counts, whatever the chunk.
    blocks
        Label of every item's block ``[n_items]``: as many whole blocks as there are labels are
        drawn with replacement. None draws items.
    chunk
        Resamples held at once; by default as many as fit into a few megabytes.

    Examples
    --------
    >>> [counts.shape for counts in resamples(3, 5, seed=0, chunk=2)]
    [(3, 2), (3, 2), (3, 1)]
    >>> next(resamples(4, 2, seed=0, blocks=np.array([7, 7, 3, 3])))
    array([[2, 1],
           [2, 1],
           [0, 1],
           [0, 1]], dtype=uint8)
    """
    unit, n_units = (None, n_items) if blocks is None else units(blocks, n_items=n_items)
    rng = np.random.default_rng(seed)
    width = chunk or max(1, _CELLS // max(n_items, 1))
    for start in range(0, n_resamples, width):
        drawn = _draw(rng, min(width, n_resamples - start), n_units)
        yield drawn.T if unit is None else drawn[:, unit].T


def resample_counts(
    n_items: int, n_resamples: int, *, seed: int, blocks: IntArray | None = None
) -> IntArray:
    """Draw all resamples at once as counts ``[n_items, n_resamples]``; see `resamples`.

    Examples
    --------
    >>> resample_counts(4, 3, seed=1).sum(axis=0)
    array([4, 4, 4], dtype=uint64)
    """
    chunk = max(n_resamples, 1)
    for counts in resamples(n_items, n_resamples, seed=seed, blocks=blocks, chunk=chunk):
        return counts
    return np.zeros((n_items, 0), np.uint8)


def _draw(rng: np.random.Generator, n_rows: int, n_units: int) -> IntArray:
    # A byte is enough: a unit is drawn more than 255 times with probability below 1e-500.
    drawn = np.zeros((n_rows, n_units), np.uint8)
    if n_units:
        for row in drawn:
            row[:] = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
    return drawn


def replicates(statistic: Statistic, counts: Counts) -> FloatArray:
    """Compute a statistic on every resample.

    Parameters
    ----------
    statistic
        Takes the weights of the items ``[n]`` and gives a number.
    counts
        What `resample_counts` or `resamples` gives.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 9.0])
    >>> replicates(lambda w: w @ values / w.sum(), np.array([[3, 1], [0, 1], [0, 1]]))
    array([1., 4.])
    """
    found = [statistic(row) for drawn in _rows(counts) for row in drawn]
    return np.array(found, dtype=np.float64)


def mean_replicates(
    values: FloatArray, counts: Counts, *, weights: FloatArray | None = None
) -> FloatArray:
    """Compute (weighted) means on every resample by one matrix product.

    Values of one model ``[n]`` give ``[n_resamples]``, of several ``[n, k]`` give
    ``[n_resamples, k]``.

    Examples
    --------
    >>> mean_replicates(np.array([1.0, 2.0, 9.0]), np.array([[3, 1], [0, 1], [0, 1]]))
    array([1., 4.])
    """
    share = np.ones(len(values)) if weights is None else weights
    return ratio_replicates((values.T * share).T, share, counts)


def ratio_replicates(tops: FloatArray, bottoms: FloatArray, counts: Counts) -> FloatArray:
    """Compute ratios of sums on every resample; NaN where the lower sum is zero.

    With sums of values over blocks ``[n_blocks]`` or ``[n_blocks, k]`` as `tops` and sizes of
    blocks as `bottoms` ``[n_blocks]``, counts of blocks do the work of counts of items.

    Examples
    --------
    >>> ratio_replicates(np.array([3.0, 4.0]), np.array([2.0, 1.0]), np.array([[1, 2], [1, 0]]))
    array([2.33333333, 1.5       ])
    """
    top, bottom = [np.zeros((0, *tops.shape[1:]))], [np.zeros(0)]
    for drawn in _rows(counts):
        top.append(drawn @ tops)
        bottom.append(drawn @ bottoms)
    size = np.concatenate(bottom)
    ratio: FloatArray = (np.concatenate(top).T / np.where(size > 0, size, np.nan)).T
    return ratio


def _rows(counts: Counts) -> Iterator[FloatArray]:
    """Turn counts into weights, a few resamples at a time, each of them a row."""
    for matrix in [counts] if isinstance(counts, np.ndarray) else counts:
        width = max(1, _CELLS // max(len(matrix), 1))
        for start in range(0, matrix.shape[1], width):
            yield np.ascontiguousarray(matrix[:, start : start + width].T, dtype=np.float64)
