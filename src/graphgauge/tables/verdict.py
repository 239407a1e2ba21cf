"""Whether a figure was reproduced: what the word means, in one place.

The rule. A figure is *reproduced* if ours lies within two combined standard deviations of it, plus
half a unit of its last printed decimal. Both sides are taken to spread alike from run to run, so
that the combined deviation is √2 times the pooled one, √(2 Σ(nᵢ − 1)sᵢ² / Σ(nᵢ − 1)): for five runs
on either side that is √(s₁² + s₂²). Where only one side has a deviation (a single run of ours, or
none printed) it stands for both. It is the deviation of runs, not that of their mean, so the rule
forgives what another machine or library changes. A deviation of two or three runs may be anything,
zero even; unless five runs of one side, or as many degrees of freedom on both, are behind it, there
are *too few* to say.

An ensemble has no deviation. Its members' stands in for it on either side: more than the ensemble's
own, for averaging over members takes away from it.

Ranks, counts and means over data sets follow from cells. Their deviations are what becomes of them
when every cell they follow from moves by its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["ENOUGH", "RULE", "Side", "Verdict", "combined_sd", "judge"]

RULE = (
    "reproduced: within 2 combined standard deviations and half a unit of the last printed "
    "decimal; combined is √2 times the pooled deviation of runs, √(s₁² + s₂²) for equally many on "
    "either side; if one side has none, the other's stands for both, and unless it is of five "
    "runs there are too few; an ensemble's is that of its members; that of ranks, counts and means "
    "over data sets is what becomes of them when the scores they follow from move by theirs."
)
ENOUGH = 5
"""Runs behind a deviation that can be relied on: as many as the papers have."""


class Verdict(StrEnum):
    """What can be said of ours beside a published figure.

    ``too few``: ours is known, but not how far runs spread. ``erratum``: the printed figure is
    void. ``n/a``: none was printed.
    """

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    NOT_RUN = "not run"
    TOO_FEW = "too few"
    ERRATUM = "erratum"
    NOT_PRINTED = "n/a"


@dataclass(frozen=True)
class Side:
    """A number, its standard deviation over runs (NaN if unknown), and how many runs."""

    mean: float
    sd: float = math.nan
    n: int = 0


def combined_sd(*sides: Side) -> float:
    """Return the standard deviation of the difference of two runs, from what both sides know.

    NaN if that is too little.

    Examples
    --------
    >>> combined_sd(Side(80.0, 0.3, 5), Side(80.5, 0.4, 5))
    0.5
    >>> one, none = Side(80.0, 0.3, 5), Side(80.5)
    >>> round(combined_sd(one, none), 3), combined_sd(none, none)
    (0.424, nan)
    """
    known = [side for side in sides if side.n > 1 and math.isfinite(side.sd)]
    free = sum(side.n - 1 for side in known)
    if free < ENOUGH - 1:
        return math.nan
    return math.sqrt(2 * sum((side.n - 1) * side.sd**2 for side in known) / free)


def judge(ours: Side, published: Side, *, rounding: float = 0.0, void: bool = False) -> Verdict:
    """Compare a number with a published one.

    Parameters
    ----------
    ours, published
        Both with the deviations that count for them.
    rounding
        How far the published number may be from the one that was rounded.
    void
        Whether it is known to be none of what it says.

    Examples
    --------
    >>> str(judge(Side(85.9, 0.5, 5), Side(85.4, 0.4, 5)))
    'reproduced'
    >>> str(judge(Side(85.9, 0.1, 5), Side(85.4, 0.1, 5)))
    'differs'
    >>> str(judge(Side(math.nan), Side(85.4, 0.1, 5))), str(judge(Side(85.9), Side(85.4)))
    ('not run', 'too few')
    """
    if math.isnan(published.mean):
        return Verdict.NOT_PRINTED
    if math.isnan(ours.mean):
        return Verdict.NOT_RUN
    if void:
        return Verdict.ERRATUM
    spread = combined_sd(ours, published)
    gap = abs(ours.mean - published.mean)
    # "Within" is meant for decimals, so a rounding of doubles leaves nothing outside.
    room = rounding + 1e-9 * max(1.0, abs(published.mean))
    if math.isnan(spread):
        return Verdict.REPRODUCED if gap <= room else Verdict.TOO_FEW
    return Verdict.REPRODUCED if gap <= 2 * spread + room else Verdict.DIFFERS
