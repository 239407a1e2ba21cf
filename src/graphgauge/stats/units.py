"""Units: items that are drawn, flipped or swapped together."""

from __future__ import annotations

import numpy as np

from graphgauge.arrays import FloatArray, IntArray, integers
from graphgauge.errors import InputError

__all__ = ["add_up", "units"]


def units(blocks: IntArray, *, n_items: int) -> tuple[IntArray, int]:
    """Give every item the number of its block ``[n_items]``, from zero, and how many blocks.

    Examples
    --------
    >>> units(np.array([7, 7, 3]), n_items=3)
    (array([1, 1, 0]), 2)
    """
    labels = integers("blocks", blocks, ndim=1)
    if len(labels) != n_items:
        raise InputError(f"blocks: has {len(labels)} labels for {n_items} items")
    known, unit = np.unique(labels, return_inverse=True)
    return unit, len(known)


def add_up(values: FloatArray | IntArray, unit: IntArray, n_units: int) -> FloatArray:
    """Add values ``[n_items]`` up over units ``[n_units]``.

    Examples
    --------
    >>> add_up(np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), 3)
    array([4., 3., 0.])
    """
    return np.asarray(np.bincount(unit, weights=values, minlength=n_units), dtype=np.float64)
