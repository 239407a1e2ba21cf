"""Bootstrap intervals: how far a number would move had other nodes been drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from graphgauge.arrays import FloatArray, floats, same_length
from graphgauge.errors import InputError
from graphgauge.stats.resampling import Counts, Statistic, mean_replicates, replicates, resamples

__all__ = [
    "Interval",
    "Kind",
    "Spread",
    "bootstrap",
    "bootstrap_mean",
    "interval",
    "ten_bootstraps",
]

Kind: TypeAlias = Literal["percentile", "basic"]


@dataclass(frozen=True)
class Interval:
    """A value between the bounds that resampling gives it.

    Parameters
    ----------
    value
        The statistic of the data themselves.
    low, high
        The bounds.
    level
        Share of such intervals that should cover the truth.
    n
        Resamples the bounds rest on.
    n_undefined
        Resamples left out because the statistic is undefined there, such as the AUROC of a
        resample without positives. The bounds hold given that it is defined.
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    n_undefined: int = 0


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over `n` resamples."""

    mean: float
    sd: float
    n: int


def interval(
    value: float,
    replicates: FloatArray,
    *,
    level: float = 0.95,
    kind: Kind = "basic",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """Put a value between bounds taken from its replicates.

    Parameters
    ----------
    value
        The statistic of the data.
    replicates
        The statistic of the resamples ``[n_resamples]``; NaN where it is undefined.
    level
        Share of such intervals that should cover the truth.
    kind
        ``basic`` reflects the quantiles *q* of the replicates about the value, *2θ − q*;
        ``percentile`` takes them as they are. See the notes.
    bounds
        The range the statistic cannot leave.

    Notes
    -----
    An ECE grows in a resample, since copies make bins noisier; its percentile interval lies too
    high and, for a calibrated model, never holds the truth, while the basic one shifts back. For
    statistics that resampling does not shift, such as an AUROC near one on few items, percentiles
    cover a little better.

    Examples
    --------
    >>> interval(3.0, np.arange(101.0), level=0.5, kind="percentile")
    Interval(value=3.0, low=25.0, high=75.0, level=0.5, n=101, n_undefined=0)
    >>> interval(3.0, np.arange(101.0), level=0.5, kind="basic", bounds=(-50, 50))
    Interval(value=3.0, low=-50.0, high=-19.0, level=0.5, n=101, n_undefined=0)
    """
    if not 0 < level < 1:
        raise InputError(f"level: {level} is not between 0 and 1")
    if kind not in ("percentile", "basic"):
        raise InputError(f"kind: {kind!r} is neither percentile nor basic")
    defined = replicates[~np.isnan(replicates)]
    n, n_undefined = len(defined), len(replicates) - len(defined)
    if n == 0 or np.isnan(value):
        return Interval(float(value), np.nan, np.nan, level, n, n_undefined)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    if kind == "basic":
        low, high = 2 * value - high, 2 * value - low
    low, high = np.clip([low, high], *bounds)
    return Interval(float(value), float(low), float(high), level, n, n_undefined)


def bootstrap(
    statistic: Statistic,
    counts: Counts,
    *,
    level: float = 0.95,
    kind: Kind = "basic",
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Interval:
    """Put a statistic between its bootstrap bounds.

    `statistic` takes the weights of the items ``[n]``; its value is taken at ones, its replicates
    at the counts that `resample_counts` or `resamples` gives. For the other parameters see
    `interval`.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 3.0, 4.0])
    >>> found = bootstrap(lambda w: w @ values / w.sum(), resamples(4, 1000, seed=0))
    >>> found.value, found.low, found.high
    (2.5, 1.5, 3.5)
    """
    chunks = iter([counts] if isinstance(counts, np.ndarray) else counts)
    first = next(chunks, None)
    if first is None:
        raise InputError("counts: no resamples were given")
    value = float(statistic(np.ones(len(first))))
    parts = [replicates(statistic, first), *(replicates(statistic, part) for part in chunks)]
    return interval(value, np.concatenate(parts), level=level, kind=kind, bounds=bounds)


def bootstrap_mean(
    values: FloatArray,
    counts: Counts,
    *,
    weights: FloatArray | None = None,
    level: float = 0.95,
) -> Interval:
    """Put a (weighted) mean between its percentile bounds; the fast road of `bootstrap`.

    Examples
    --------
    >>> bootstrap_mean(np.array([1.0, 2.0, 3.0, 4.0]), resamples(4, 1000, seed=0)).high
    3.5
    """
    values = floats("values", values, ndim=1)
    share = np.ones(len(values)) if weights is None else floats("weights", weights, ndim=1)
    same_length(values=values, weights=share)
    value = float(share @ values / share.sum()) if share.any() else np.nan
    return interval(
        value, mean_replicates(values, counts, weights=share), level=level, kind="percentile"
    )


def ten_bootstraps(statistic: Statistic, n_items: int, *, seed: int, ddof: int = 1) -> Spread:
    """Give mean and standard deviation over ten bootstraps of a test set, as printed by a paper.

    "Are Graph Neural Networks Miscalibrated?" prints the mean over ten full-size resamples with
    replacement of the test set of one model, which is not a spread over seeds. The paper does not
    say how the deviation is computed; it is the sample deviation here (``ddof=1``). Its balanced
    metrics weigh classes anew in each resample: see `balanced_counts`.

    Examples
    --------
    >>> values = np.array([0.0, 0.0, 1.0, 1.0])
    >>> ten_bootstraps(lambda w: w @ values / w.sum(), 4, seed=0).n
    10
    """
    found = replicates(statistic, resamples(n_items, 10, seed=seed))
    return Spread(float(found.mean()), float(found.std(ddof=ddof)), len(found))
