"""Domains: neighbouring values of a property under one number, for methods that align domains."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphgauge.arrays import FloatArray, IntArray, floats
from graphgauge.errors import InputError
from graphgauge.parts import check_parts
from graphgauge.splits.levels import levels

__all__ = ["domains"]


def domains(
    sigma: npt.ArrayLike, n: int = 10, *, by: str = "count", index: npt.ArrayLike | None = None
) -> IntArray:
    """Assign nodes to domains by a property: codes ``[n_nodes]``, -1 for nodes outside `index`.

    Equal values are always in one domain: each level of the property goes where its middle falls.
    So domains of equal count are only nearly equal where there are ties, and there may be fewer
    than `n` of them. They are numbered from 0, the smallest values, without gaps.

    Parameters
    ----------
    sigma
        Property of every node ``[n_nodes]``.
    n
        How many domains there are, at most.
    by
        ``count``: equally many nodes in each; ``width``: ranges of values of equal width. The
        paper says ten bins and not which.
    index
        The nodes to number, by number or as a mask, usually those to train on; all by default.

    References
    ----------
    Bazhenov et al., Evaluating Robustness and Uncertainty of Graph Models Under Structural
    Distributional Shifts, NeurIPS 2023, appendix F (DANN and CORAL).

    Examples
    --------
    >>> domains([0.1, 0.2, 0.3, 9.0], 2), domains([0.1, 0.2, 0.3, 9.0], 2, by="width")
    (array([0, 0, 1, 1]), array([0, 0, 0, 1]))
    >>> domains([0.0, 0.0, 0.0, 1.0], 4, index=[0, 1, 3])
    array([ 0,  0, -1,  1])
    """
    values = floats("sigma", sigma, ndim=1).astype(np.float64)
    if n < 1:
        raise InputError(f"n: {n} domains cannot be made")
    nodes: IntArray = np.arange(len(values))
    if index is not None:
        nodes = check_parts({"index": index}, len(values))["index"]
    codes = np.full(len(values), -1, np.int64)
    if not len(nodes):
        return codes
    level = levels(values[nodes])
    if by not in ("count", "width"):
        raise InputError(f"by: {by!r} is neither 'count' nor 'width'")
    coarse = _by_count(level, n) if by == "count" else _by_width(level, values[nodes], n)
    codes[nodes] = np.unique(coarse, return_inverse=True)[1]
    return codes


def _by_count(level: IntArray, n: int) -> IntArray:
    """Place every level by the rank of its middle, in half nodes to stay among whole numbers."""
    sizes = np.bincount(level)
    middles = 2 * np.cumsum(sizes) - sizes
    return (middles * n // (2 * len(level)))[level]


def _by_width(level: IntArray, values: FloatArray, n: int) -> IntArray:
    """Place every level by its smallest value; the last range holds its upper end."""
    lowest = np.full(level.max() + 1, np.inf)
    np.minimum.at(lowest, level, values)
    span = lowest[-1] - lowest[0]
    places = (lowest - lowest[0]) / span if span > 0 else np.zeros(len(lowest))
    return np.minimum((places * n).astype(np.int64), n - 1)[level]
