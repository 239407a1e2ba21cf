"""Many data sets: win, tie and loss by the papers' rule, ranks, and what a diagram needs.

Two rules for ranks live here. The papers give tied methods the better rank; Friedman's test and
the diagrams built on it share the mean of the ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from graphgauge.arrays import FloatArray, IntArray, floats
from graphgauge.errors import InputError

__all__ = [
    "CriticalDifference",
    "WinTieLoss",
    "competition_ranks",
    "critical_difference",
    "mean_ranks",
    "win_tie_loss",
]


@dataclass(frozen=True, eq=False)
class WinTieLoss:
    """How often the method of a row won, tied and lost against that of a column ``[m, m]``."""

    win: IntArray
    tie: IntArray
    loss: IntArray


@dataclass(frozen=True, eq=False)
class CriticalDifference:
    """What a critical-difference diagram draws.

    Parameters
    ----------
    mean_ranks
        Mean rank of every method ``[m]``, 1 is best, ties share the mean of their ranks.
    distance
        Mean ranks further apart than this differ (Nemenyi).
    cliques
        Groups of two or more methods that do not differ, as column numbers from the best rank to
        the worst; only groups that no larger group holds.
    p
        Of Friedman's test that all methods do equally well, corrected for ties.
    n_datasets
        Data sets the ranks rest on.
    """

    mean_ranks: FloatArray
    distance: float
    cliques: tuple[tuple[int, ...], ...]
    p: float
    n_datasets: int


def win_tie_loss(means: FloatArray, sds: FloatArray, *, direction: str) -> WinTieLoss:
    """Count wins, ties and losses of every method against every other.

    A win is a mean better by strictly more than the sum of the two standard deviations, the rule
    of "Revisiting Uncertainty Estimation for Node Classification" and of "Evaluating Robustness
    and Uncertainty of Graph Models Under Structural Distributional Shifts".

    Parameters
    ----------
    means
        Mean score of every method on every data set ``[n_datasets, m]``; NaN where it was not
        measured, which counts for neither side.
    sds
        Their standard deviations ``[n_datasets, m]``; NaN for an ensemble, which has none and
        counts as 0.
    direction
        ``higher`` or ``lower``, whichever is better.

    Examples
    --------
    >>> means = np.array([[90.0, 80.0], [70.0, 69.5], [60.0, 65.0]])
    >>> sds = np.array([[1.0, 2.0], [0.5, 0.5], [0.1, np.nan]])
    >>> found = win_tie_loss(means, sds, direction="higher")
    >>> found.win[0, 1], found.tie[0, 1], found.loss[0, 1]
    (np.int64(1), np.int64(1), np.int64(1))
    """
    scores = _ascending(means, direction)
    spreads = np.nan_to_num(floats("sds", sds, ndim=2, finite=False))
    if spreads.shape != scores.shape:
        raise InputError(f"shapes differ: means {scores.shape}, sds {spreads.shape}")
    gap = scores[:, :, None] - scores[:, None, :]
    # "Strictly larger" is meant for decimals, so a rounding of doubles is no win.
    slack = 1e-12 * np.abs(scores).max(initial=0.0, where=np.isfinite(scores))
    spread = spreads[:, :, None] + spreads[:, None, :] + slack
    win = (gap > spread).sum(axis=0)
    return WinTieLoss(win, (np.abs(gap) <= spread).sum(axis=0), win.T)


def competition_ranks(scores: FloatArray, *, direction: str) -> FloatArray:
    """Rank methods on every data set: 1 + the number of strictly better ones ``[n_datasets, m]``.

    A score that is missing (NaN) has no rank and makes nobody else's worse.

    Examples
    --------
    >>> competition_ranks(np.array([[0.9, 0.8, 0.9, 0.7]]), direction="higher")
    array([[1., 3., 1., 4.]])
    """
    return _ranks(scores, direction, "min")


def mean_ranks(
    scores: FloatArray, *, direction: str, ties: Literal["best", "mean"] = "best"
) -> FloatArray:
    """Average the ranks of every method over data sets ``[m]``.

    Parameters
    ----------
    scores
        Score of every method on every data set ``[n_datasets, m]``. A method without a score
        somewhere has no mean rank (NaN).
    direction
        ``higher`` or ``lower``, whichever is better.
    ties
        ``best`` gives tied methods the better rank as the papers do, ``mean`` the mean of theirs.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.8, 0.9], [0.5, 0.6, 0.7]])
    >>> mean_ranks(scores, direction="higher"), mean_ranks(scores, direction="higher", ties="mean")
    (array([2. , 2.5, 1. ]), array([2.25, 2.5 , 1.25]))
    """
    ranks = _ranks(scores, direction, "min" if ties == "best" else "average")
    if len(ranks) == 0:
        return np.full(ranks.shape[1], np.nan)
    return np.asarray(ranks.mean(axis=0))


def critical_difference(
    scores: FloatArray, *, direction: str, level: float = 0.05
) -> CriticalDifference:
    """Compare many methods over many data sets by ranks (Demšar, JMLR 2006).

    Friedman's test asks whether any method differs; Nemenyi's distance *CD = q √(m(m+1)/6n)*, with
    *q* the studentized range over √2, tells how far apart two mean ranks must be.

    Parameters
    ----------
    scores
        Score of every method on every data set ``[n_datasets, m]``, none missing.
    direction
        ``higher`` or ``lower``, whichever is better.
    level
        Chance of a false difference anywhere.

    Examples
    --------
    >>> scores = np.tile([0.9, 0.8, 0.1], (12, 1))
    >>> found = critical_difference(scores, direction="higher")
    >>> found.mean_ranks, round(found.distance, 3), found.cliques
    (array([1., 2., 3.]), 0.957, ())
    """
    ordered = floats("scores", scores, ndim=2)
    n, m = ordered.shape
    if n < 1 or m < 2:
        raise InputError(f"scores: {n} data sets and {m} methods, needs at least 1 and 2")
    if not 0 < level < 1:
        raise InputError(f"level: {level} is not between 0 and 1")
    ranks = _ranks(ordered, direction, "average")
    q = stats.studentized_range.ppf(1 - level, m, np.inf) / np.sqrt(2)
    distance = float(q * np.sqrt(m * (m + 1) / (6 * n)))
    mean = np.asarray(ranks.mean(axis=0))
    return CriticalDifference(mean, distance, _cliques(mean, distance), _friedman(ranks), n)


def _ascending(scores: FloatArray, direction: str) -> FloatArray:
    """Turn scores so that higher is better."""
    array = floats("scores", scores, ndim=2, finite=False)
    if direction not in ("higher", "lower"):
        raise InputError(f"direction: {direction!r} is neither higher nor lower")
    return array if direction == "higher" else -array


def _ranks(scores: FloatArray, direction: str, method: Literal["min", "average"]) -> FloatArray:
    ordered = -_ascending(scores, direction)
    if ordered.size == 0:
        return np.zeros(ordered.shape)
    return np.asarray(stats.rankdata(ordered, method=method, axis=1, nan_policy="omit"), float)


def _friedman(ranks: FloatArray) -> float:
    """Test that all mean ranks are equal; the variance of the ranks found allows for ties."""
    n, m = ranks.shape
    between = n * ((ranks.mean(axis=0) - (m + 1) / 2) ** 2).sum()
    within = ((ranks - (m + 1) / 2) ** 2).sum() / (n * (m - 1))
    if within == 0:
        return 1.0
    return float(stats.chi2.sf(between / within, m - 1))


def _cliques(ranks: FloatArray, distance: float) -> tuple[tuple[int, ...], ...]:
    order = np.argsort(ranks, kind="stable")
    ends = np.searchsorted(ranks[order], ranks[order] + distance, side="right")
    found, reached = [], 0
    for start, end in enumerate(ends):
        if end > reached and end - start > 1:
            found.append(tuple(int(method) for method in order[start:end]))
            reached = end
    return tuple(found)
