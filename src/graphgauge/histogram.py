"""Histograms that set two or more sets of values side by side, of a size that never grows."""

from __future__ import annotations

import numpy as np

from graphgauge.arrays import FloatArray

__all__ = ["bin_edges", "bin_shares", "count_edges", "log_edges"]

_BINS = 40
_OUTERMOST = (0.005, 0.995)


def bin_edges(values: FloatArray, n: int = _BINS) -> FloatArray:
    """Lay equal bins over all but the outermost values, which join the bins at the ends.

    Examples
    --------
    >>> bin_edges(np.array([0.0, 1.0, 2.0]), 2)
    array([0., 1., 2.])
    """
    low, high = np.quantile(values.astype(np.float64), _OUTERMOST, method="inverted_cdf")
    if low == high:
        low, high = low - 0.5, high + 0.5
    steps = np.linspace(0.0, 1.0, n + 1)
    # Weights instead of high - low, which may overflow; their rounding must not turn edges round.
    return np.maximum.accumulate(low * (1.0 - steps) + high * steps)


def log_edges(values: FloatArray, n: int = _BINS) -> FloatArray:
    """Lay bins of equal ratio over the positive values; what is not positive joins the first.

    Examples
    --------
    >>> log_edges(np.array([0.0, 1.0, 100.0]), 2)
    array([  1.,  10., 100.])
    """
    positive = values[values > 0]
    return np.asarray(np.exp(bin_edges(np.log(positive if len(positive) else np.ones(1)), n)))


def count_edges(values: FloatArray, n: int = _BINS) -> FloatArray:
    """Lay bins over whole numbers from 0: one each for small ones, then of equal ratio.

    Examples
    --------
    >>> count_edges(np.array([0.0, 3.0, 20.0]), 6)
    array([ 0.,  1.,  2.,  3.,  6., 11., 21.])
    """
    top = max(float(values.max(initial=0)), 1.0) + 1
    grown = np.floor(np.geomspace(1, top, n) + 0.5)
    return np.append(0.0, np.unique(np.append(grown, np.arange(1, min(top, 3) + 1))))


def bin_shares(values: FloatArray, edges: FloatArray) -> list[float]:
    """Return the share of the values in every bin; values beyond the ends count in these.

    Examples
    --------
    >>> bin_shares(np.array([-9.0, 0.5, 1.5, 9.0]), np.array([0.0, 1.0, 2.0]))
    [0.5, 0.5]
    """
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return [float(share) for share in counts / max(len(values), 1)]
