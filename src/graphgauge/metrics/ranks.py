"""Ranks of true links among pairs that are no links: two integers a positive.

How many negatives score strictly higher than a positive, and how many score the same, is all that
the ranking metrics need under every tie rule. Both are counted in one pass over the negatives, a
block at a time, so their scores may lie on disk.

Tie rules, for a positive with ``greater`` negatives above it and ``equal`` beside it:

- ``mean``: its rank is the middle of the tied places, ``1 + greater + equal / 2``;
- ``optimistic``, ``pessimistic``: the first, the last of the tied places;
- ``random``: the expected value when ties are broken at random, without drawing anything;
- ``ogb``: as OGB's evaluator. The mean rank, except for Hits@K among shared negatives, where a
  positive counts only if it is strictly above the K-th best negative: the last place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from graphgauge.archive import Blocks
from graphgauge.arrays import BoolArray, FloatArray, IntArray, floats
from graphgauge.errors import InputError, name_rows

__all__ = ["Blocks", "Ranks"]

# Scores compared at a time: 1 MB of single precision, so that block and mask stay in the cache.
_CELLS = 2**18
# Shared scores sorted at a time: fewer, larger chunks mean fewer searches for every positive.
_CHUNK = 2**21
# How many of the tied negatives come before the positive.
_SHARE = {"mean": 0.5, "optimistic": 0.0, "pessimistic": 1.0, "random": 0.5, "ogb": 0.5}


@dataclass(frozen=True, eq=False)
class Ranks:
    """Positives among their negatives: all that ranking metrics need.

    Parameters
    ----------
    greater
        For every positive, how many negatives score strictly higher ``[e]``.
    equal
        For every positive, how many negatives score the same ``[e]``.
    n_negatives
        How many negatives each positive was compared with.
    shared
        Whether all positives were compared with the same negatives.

    Examples
    --------
    >>> ranks = Ranks.of([0.5, 0.9], [[0.7, 0.5, 0.1], [0.2, 0.3, 0.4]])
    >>> ranks.greater, ranks.equal, ranks.n_negatives
    (array([1, 0], dtype=int32), array([1, 0], dtype=int32), 3)
    """

    greater: IntArray
    equal: IntArray
    n_negatives: int
    shared: bool = False

    def __len__(self) -> int:
        """Count the positives."""
        return len(self.greater)

    @classmethod
    def of(cls, pos: npt.ArrayLike, neg: npt.ArrayLike | Blocks) -> Ranks:
        """Rank scores of positives ``[e]`` among scores of negatives.

        Scores are compared as they are, so positives and negatives should come in one precision:
        0.1 in double precision lies below 0.1 in single precision.

        Parameters
        ----------
        pos
            Scores of the positives ``[e]``.
        neg
            Scores of each positive's own negatives ``[e, k]``, or of one list shared by all
            ``[m]``; in memory or read by blocks. It is never copied as a whole.

        Examples
        --------
        >>> Ranks.of([0.5, 0.9], [0.7, 0.5, 0.1]).greater
        array([1, 0], dtype=int32)
        """
        positives = floats("pos", pos, ndim=1)
        negatives = neg if isinstance(neg, Blocks | np.ndarray) else _array(neg)
        _check_shapes(positives, negatives)
        shared = negatives.ndim == 1
        count = _count_shared if shared else _count_own
        greater, equal = count(positives, negatives)
        return cls(greater, equal, int(negatives.shape[-1]), shared)

    def take(self, index: IntArray | BoolArray) -> Ranks:
        """Keep the positives at `index` (numbers or a mask)."""
        return replace(self, greater=self.greater[index], equal=self.equal[index])

    def positions(self, ties: str = "mean") -> FloatArray:
        """Return the rank of every positive ``[e]``, 1 for the best.

        Examples
        --------
        >>> Ranks.of([0.5], [0.7, 0.5]).positions()
        array([2.5])
        """
        if ties not in _SHARE:
            raise InputError(f"ties: there is no rule {ties!r} (there are: {', '.join(_SHARE)})")
        return 1.0 + self.greater + _SHARE[ties] * self.equal


def _array(neg: npt.ArrayLike) -> npt.NDArray[Any]:
    try:
        return np.asarray(neg)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"neg: not an array of numbers ({error})") from None


def _check_shapes(pos: FloatArray, neg: npt.NDArray[Any] | Blocks) -> None:
    if neg.ndim not in (1, 2):
        raise InputError(f"neg: has {neg.ndim} axes (shape {neg.shape}), expected 1 or 2")
    if neg.ndim == 2 and len(neg) != len(pos):
        raise InputError(f"lengths differ: pos has {len(pos)} rows, neg has {len(neg)}")
    if len(pos) and not neg.shape[-1]:
        raise InputError("neg: is empty, there is nothing to rank against")


def _zeros(pos: FloatArray, neg: npt.NDArray[Any] | Blocks) -> tuple[IntArray, IntArray]:
    dtype = np.int32 if neg.shape[-1] <= np.iinfo(np.int32).max else np.int64
    return np.zeros(len(pos), dtype), np.zeros(len(pos), dtype)


def _count_own(pos: FloatArray, neg: npt.NDArray[Any] | Blocks) -> tuple[IntArray, IntArray]:
    greater, equal = _zeros(pos, neg)
    for rows, block in _stream(neg, max(1, _CELLS // max(1, neg.shape[1]))):
        own = pos[rows, np.newaxis]
        greater[rows] = (block > own).sum(axis=1, dtype=greater.dtype)
        equal[rows] = (block == own).sum(axis=1, dtype=equal.dtype)
    return greater, equal


def _count_shared(pos: FloatArray, neg: npt.NDArray[Any] | Blocks) -> tuple[IntArray, IntArray]:
    above, beside = _zeros(pos, neg)
    order = np.argsort(pos)  # searches in rising order find their neighbours in the cache
    rising = pos[order]
    for _, block in _stream(neg, _CHUNK):
        chunk = np.sort(block)
        first, end = (np.searchsorted(chunk, rising, side) for side in ("left", "right"))
        above += len(chunk) - end
        beside += end - first
    greater, equal = np.empty_like(above), np.empty_like(beside)
    greater[order], equal[order] = above, beside
    return greater, equal


def _stream(neg: npt.NDArray[Any] | Blocks, rows: int) -> Iterator[tuple[slice, FloatArray]]:
    """Yield finite blocks and their places; what is not finite is told of when all was seen."""
    bad: list[IntArray] = []
    start = 0
    for raw in _blocks(neg, rows):
        block = floats("neg", raw, ndim=neg.ndim, finite=False)
        place = slice(start, start + len(block))
        if block.shape[1:] != neg.shape[1:] or place.stop > len(neg):
            raise InputError(f"neg: a block of shape {block.shape} does not fit {neg.shape}")
        if _all_finite(block):
            yield place, block
        else:
            finite = np.isfinite(block).reshape(len(block), -1).all(axis=1)
            bad.append(start + np.flatnonzero(~finite))
        start = place.stop
    if start < len(neg):
        raise InputError(f"neg: ends after {start} of {len(neg)} rows")
    if bad:
        rows_told = np.concatenate(bad)
        told = "1 row is" if len(rows_told) == 1 else f"{len(rows_told)} rows are"
        raise InputError(f"neg: {told} not finite ({name_rows(rows_told)})")


def _blocks(neg: npt.NDArray[Any] | Blocks, rows: int) -> Iterator[npt.NDArray[Any]]:
    if isinstance(neg, np.ndarray):
        return (neg[start : start + rows] for start in range(0, len(neg), rows))
    return neg.blocks(rows)


def _all_finite(block: FloatArray) -> bool:
    # A sum is finite unless an entry is not (or it overflows): the cheap test first.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(block.sum()) or np.isfinite(block).all())
