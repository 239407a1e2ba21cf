"""Aggregation over seeds: nothing is rounded, and no failed seed is dropped in silence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from graphgauge.arrays import FloatArray, floats
from graphgauge.errors import InputError

__all__ = ["Summary", "summarize"]


@dataclass(frozen=True)
class Summary:
    """What the seeds say together.

    Parameters
    ----------
    mean, sd
        Mean and standard deviation; NaN unless every expected seed has a value.
    n, n_expected
        Seeds that have a value, and seeds that should.
    low, high
        Interval of the mean by Student's t, for seeds as independent draws.
    level
        Share of such intervals that should cover the truth.
    ddof
        1 for the deviation of a sample, 0 for that of a population.

    Examples
    --------
    >>> str(summarize([0.81, 0.83, 0.82])), str(summarize([0.81, np.nan, 0.82]))
    ('0.82 ± 0.01', '2 of 3 seeds')
    """

    mean: float
    sd: float
    n: int
    low: float
    high: float
    n_expected: int
    level: float = 0.95
    ddof: int = 1

    @property
    def complete(self) -> bool:
        """Whether every expected seed has a value."""
        return 0 < self.n == self.n_expected

    def __str__(self) -> str:
        """Show mean and deviation, or how many seeds there are when some failed."""
        if not self.complete:
            return f"{self.n} of {self.n_expected} seeds"
        return f"{self.mean:.4g} ± {self.sd:.2g}"


def summarize(
    values: FloatArray | list[float],
    *,
    n_expected: int | None = None,
    ddof: int = 1,
    level: float = 0.95,
) -> Summary:
    """Summarize one number over seeds.

    Parameters
    ----------
    values
        One value a seed ``[n_seeds]``; NaN for a seed that failed.
    n_expected
        How many seeds there should be; by default as many as there are values.
    ddof
        1 (default) for the sample deviation, 0 for the population's, which the paper on structured
        uncertainty ("A Graph Is More Than Its Nodes") prints.
    level
        Share of intervals that should cover the truth.

    Notes
    -----
    Seeds do not fail at random, so a mean over those that survived is not given: with a seed
    missing all figures are NaN, and the counts tell why. The interval rests on the sample
    deviation whatever `ddof` is, and needs two seeds.

    Examples
    --------
    >>> found = summarize([1.0, 2.0, 3.0])
    >>> found.mean, found.sd, round(found.low, 3), round(found.high, 3)
    (2.0, 1.0, -0.484, 4.484)
    """
    if ddof not in (0, 1):
        raise InputError(f"ddof: {ddof} is neither 0 (population) nor 1 (sample)")
    if not 0 < level < 1:
        raise InputError(f"level: {level} is not between 0 and 1")
    seeds = floats("values", values, ndim=1, finite=False).astype(np.float64, copy=False)
    n, expected = int((~np.isnan(seeds)).sum()), len(seeds) if n_expected is None else n_expected
    if n > expected:
        raise InputError(f"n_expected: {expected} seeds were expected, {n} have values")
    if n == 0 or n < expected:
        return Summary(np.nan, np.nan, n, np.nan, np.nan, expected, level, ddof)
    present = seeds[~np.isnan(seeds)]
    mean, half = float(present.mean()), _half_width(present, level)
    sd = _deviation(present, ddof)
    return Summary(mean, sd, n, mean - half, mean + half, expected, level, ddof)


def _deviation(values: FloatArray, ddof: int) -> float:
    if len(values) <= ddof or not np.isfinite(values).all():
        return np.nan
    return float(values.std(ddof=ddof))


def _half_width(values: FloatArray, level: float) -> float:
    n = len(values)
    if n < 2:
        return np.nan
    return float(stats.t.ppf((1 + level) / 2, n - 1) * _deviation(values, 1) / np.sqrt(n))
