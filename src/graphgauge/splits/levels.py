"""Levels of a property: whole numbers in place of values, equal where rounding alone differs."""

from __future__ import annotations

import numpy as np

from graphgauge.arrays import FloatArray, IntArray, floats

__all__ = ["TOLERANCE", "levels", "share_tied"]

# On the published values of five graphs every tolerance from 1e-14 to 1e-10 finds the same levels:
# rounding differs by less, real differences are larger.
TOLERANCE = 1e-12


def levels(sigma: object, *, tolerance: float = TOLERANCE) -> IntArray:
    """Rank the distinct values of a property ``[n]`` from 0, the smallest, upwards.

    Sums taken in another order differ in their last digits, and the order of summation follows
    the numbering of the nodes. So neighbours in ascending order share a level if they differ by no
    more than `tolerance` times the larger magnitude. Gaps are looked at rather than rounded
    values: a grid has borders, on whose two sides equal values can fall.

    Examples
    --------
    >>> levels([0.3, 0.1 + 0.2, 7.0, -1.0])
    array([1, 1, 2, 0])
    """
    values: FloatArray = floats("sigma", sigma, ndim=1).astype(np.float64)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    sizes = np.abs(ordered)
    codes = np.zeros(len(values), np.int64)
    with np.errstate(over="ignore"):  # the gap between the two largest numbers is infinite
        apart = np.diff(ordered) > tolerance * np.maximum(sizes[1:], sizes[:-1])
    codes[order[1:]] = np.cumsum(apart)
    return codes


def share_tied(level: IntArray, cut: int) -> float:
    """Return the share of the items that are tied where the `cut` smallest are separated.

    Nothing is tied unless a level has members on both sides.

    Examples
    --------
    >>> share_tied(np.array([0, 1, 1, 2]), 2), share_tied(np.array([0, 1, 1, 2]), 3)
    (0.5, 0.0)
    """
    if not 0 < cut < len(level):
        return 0.0
    below, above = np.partition(level, [cut - 1, cut])[cut - 1 : cut + 1]
    return float(np.mean(level == below)) if below == above else 0.0
