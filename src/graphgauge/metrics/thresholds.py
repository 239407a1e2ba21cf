"""What lies on the accepted side of every threshold that a score allows.

A threshold takes or leaves all items of one score, so items that tie are one group, and every sum
here is given at the ends of groups only. Nothing built on it can depend on the order of items.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphgauge.arrays import BoolArray, FloatArray, IntArray, floats, integers, same_length
from graphgauge.errors import InputError, name_rows

__all__ = ["SLACK", "Sweep", "sweep"]

# Sums of weights are rounded; a target that is met exactly must not be missed for that.
SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Sweep:
    """Weight of the marked and of the other items taken so far, one entry a distinct score.

    Parameters
    ----------
    marked
        Weight of the marked items taken at each threshold ``[g]``; counts without weights.
    others
        Weight of the items taken that are not marked ``[g]``.
    n_items
        How many items there are (with weight).
    """

    marked: FloatArray | IntArray
    others: FloatArray | IntArray
    n_items: int

    @property
    def taken(self) -> FloatArray | IntArray:
        """Weight of all items taken at each threshold ``[g]``."""
        return self.marked + self.others


def sweep(
    score: object, marks: object, weights: object = None, *, names: tuple[str, str], falling: bool
) -> Sweep:
    """Take items from the lowest score up, or from the highest down if `falling`.

    Only the order of the scores counts: they may be infinite, but not NaN.

    Parameters
    ----------
    score
        One number an item ``[n]``.
    marks
        Which items are marked ``[n]``: booleans, or zeros and ones.
    weights
        Weight of every item ``[n]``; items without weight are left out.
    names
        What score and marks are called in an error.
    falling
        From high to low.

    Examples
    --------
    >>> taken = sweep([0.1, 0.3, 0.3], [0, 1, 0], names=("score", "ood"), falling=False)
    >>> taken.marked, taken.others
    (array([0, 1]), array([1, 2]))
    """
    keys, marked = _ordered(names[0], score), _marks(names[1], marks)
    weight = None if weights is None else _weights(weights)
    same_length(**{names[0]: keys, names[1]: marked, "weights": weight})
    if weight is not None and not weight.all():
        present = weight > 0
        keys, marked, weight = keys[present], marked[present], weight[present]
    order = np.argsort(-keys if falling else keys)
    keys, marked = keys[order], marked[order]
    ends = np.flatnonzero(keys[1:] != keys[:-1])
    ends = np.append(ends, len(keys) - 1) if len(keys) else ends
    if weight is None:
        counts = np.cumsum(marked, dtype=np.int64)[ends]
        return Sweep(counts, ends + 1 - counts, len(keys))
    weight = weight[order]
    hits, others = np.cumsum(weight * marked)[ends], np.cumsum(weight * ~marked)[ends]
    return Sweep(hits, others, len(keys))


def _ordered(name: str, value: object) -> FloatArray:
    array = floats(name, value, ndim=1, finite=False)
    unordered = np.isnan(array)
    if unordered.any():
        raise InputError(f"{name}: NaN has no place in an order ({name_rows(unordered)})")
    return array


def _marks(name: str, value: object) -> BoolArray:
    array = integers(name, value, ndim=1)
    bad = (array != 0) & (array != 1)
    if bad.any():
        raise InputError(f"{name}: expected booleans or zeros and ones ({name_rows(bad)})")
    return array.astype(bool)


def _weights(value: object) -> FloatArray:
    array = floats("weights", value, ndim=1)
    bad = array < 0
    if bad.any():
        raise InputError(f"weights: may not be negative ({name_rows(bad)})")
    return array.astype(np.float64)
