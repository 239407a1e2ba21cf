"""What a paired comparison says once all pairs are on the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from graphgauge.errors import InputError
from graphgauge.stats.flips import holm, smallest_p
from graphgauge.stats.intervals import Interval

__all__ = ["Comparison", "Draft", "PairTest", "Verdict", "check_question", "judge"]


class Verdict(StrEnum):
    """What can be said of the first against the second.

    ``too few``: even if all items that differ spoke for one side, the level could not be reached,
    so that nothing follows from the silence. ``tied``: a difference could have shown but did not,
    which is no proof of equality; the interval tells what remains possible. Where no item differs
    at all, their number decides between the two.
    """

    BETTER = "better"
    WORSE = "worse"
    TIED = "tied"
    TOO_FEW = "too few"


@dataclass(frozen=True)
class Comparison:
    """Two sets of predictions on the same items.

    Parameters
    ----------
    first, second
        Their names.
    difference
        Value of the first minus that of the second.
    low, high
        Bootstrap interval of the difference, at one minus the level, for this pair on its own.
    p
        Of the permutation test that it makes no difference which is which, two-sided.
    p_holm
        The same, corrected for the number of pairs compared.
    verdict
        On the first, by `p_holm`.
    n, n_differ
        Items (or blocks, where these are given), and those at which the two differ.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    verdict: Verdict
    n: int
    n_differ: int


@dataclass(frozen=True)
class PairTest:
    """A p-value, the smallest there could have been, and how many units differ."""

    p: float
    smallest: float
    n_differ: int


@dataclass(frozen=True)
class Draft:
    """A comparison of `n` units that does not know of the others yet."""

    first: str
    second: str
    bound: Interval
    test: PairTest
    n: int


def check_question(names: Sequence[str], direction: str, level: float) -> None:
    """Refuse a comparison that has no answer."""
    if len(names) < 2:
        raise InputError(f"a comparison needs at least two sets of predictions, got {len(names)}")
    if direction not in ("higher", "lower"):
        raise InputError(f"direction: {direction!r} is neither higher nor lower")
    if not 0 < level < 1:
        raise InputError(f"level: {level} is not between 0 and 1")


def judge(drafts: Sequence[Draft], *, direction: str, level: float) -> list[Comparison]:
    """Correct the p-values of all pairs and give each its verdict.

    A pair is too small to tell if it fails even with the smallest p-value it could have had, all
    others being what they are.
    """
    p = np.array([draft.test.p for draft in drafts])
    corrected = holm(p)
    found = []
    for row, draft in enumerate(drafts):
        best = p.copy()
        # Nowhere different over many items is an answer; over few it is not.
        best[row] = draft.test.smallest if draft.test.n_differ else smallest_p(draft.n)
        if holm(best)[row] > level:
            verdict = Verdict.TOO_FEW
        elif corrected[row] > level:
            verdict = Verdict.TIED
        else:
            verdict = _side(draft.bound.value, direction)
        found.append(_settle(draft, float(corrected[row]), verdict))
    return found


def _side(difference: float, direction: str) -> Verdict:
    return Verdict.BETTER if (difference > 0) == (direction == "higher") else Verdict.WORSE


def _settle(draft: Draft, p_holm: float, verdict: Verdict) -> Comparison:
    return Comparison(
        draft.first,
        draft.second,
        difference=draft.bound.value,
        low=draft.bound.low,
        high=draft.bound.high,
        p=draft.test.p,
        p_holm=p_holm,
        verdict=verdict,
        n=draft.n,
        n_differ=draft.test.n_differ,
    )
