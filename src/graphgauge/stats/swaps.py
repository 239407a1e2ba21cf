"""Paired comparison of metrics that are no means over items: ECE, AUROC and their kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from graphgauge.arrays import BoolArray, FloatArray, IntArray, same_length
from graphgauge.stats.flips import smallest_p
from graphgauge.stats.intervals import Interval, interval
from graphgauge.stats.resampling import replicates, resamples
from graphgauge.stats.units import units
from graphgauge.stats.verdict import Comparison, Draft, PairTest, check_question, judge

__all__ = ["Measure", "Plan", "bootstrap_p", "compare_metric", "swap_test", "widest"]

Rows: TypeAlias = npt.NDArray[Any]
Measure: TypeAlias = Callable[[Rows, FloatArray], float]

# Up to so many units that differ, predictions are swapped in all ways; half of them, by symmetry.
_N_EXACT = 10


@dataclass(frozen=True, eq=False)
class Plan:
    """How metrics are compared.

    Parameters
    ----------
    level
        Chance of a false *better* or *worse* in any of the pairs.
    blocks
        Label of every item's block ``[n]``; blocks are swapped and drawn as wholes.
    seed
        Same seed, same figures.
    n_resamples
        Swaps and resamples drawn; more are drawn when there are many pairs.
    """

    level: float = 0.05
    blocks: IntArray | None = None
    seed: int = 0
    n_resamples: int = 999


def compare_metric(
    predictions: Mapping[str, Rows],
    measure: Measure,
    *,
    direction: str,
    plan: Plan | None = None,
) -> list[Comparison]:
    """Compare a metric of whole sets of predictions, every pair once.

    Parameters
    ----------
    predictions
        By name, what the metric needs of every item ``[n, ...]``, the same items in the same
        order. Best kept narrow, since it is copied for every swap: confidence and correctness
        rather than all probabilities.
    measure
        Takes predictions ``[n, ...]`` and weights ``[n]`` and gives the metric; it knows labels
        and the like by itself. A whole weight must equal as many copies of the item.
    direction
        ``higher`` or ``lower``, whichever is better.
    plan
        Level, blocks, seed and number of resamples.

    Notes
    -----
    The p-value is the larger one of two tests. `swap_test` asks whether it matters at all which
    model is which, and is exact; but two models with equal metrics may still differ item by item,
    and it then finds too much (of calibration errors that are equal, up to four in ten). Hence
    `bootstrap_p` must agree that the metrics differ. The interval is the `widest`.

    Scores of which only the order counts must be on one scale to be swapped: give AUROC each
    model's ranks, not its scores.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(400)
    >>> def rmse(x, w): return np.average((x - truth) ** 2, weights=w) ** 0.5
    >>> near, far = truth + 0.1 * rng.normal(size=400), truth + 0.3 * rng.normal(size=400)
    >>> found, = compare_metric({"near": near, "far": far}, rmse, direction="lower")
    >>> print(found.verdict, found.p)
    better 0.002
    """
    plan = Plan() if plan is None else plan
    check_question(list(predictions), direction, plan.level)
    arrays = {name: np.asarray(rows) for name, rows in predictions.items()}
    n = same_length(**arrays)
    pairs = list(combinations(arrays, 2))
    n_least = int(np.ceil(4 * len(pairs) / plan.level))
    plan = replace(plan, n_resamples=max(plan.n_resamples, n_least))
    whole = {name: float(measure(rows, np.ones(n))) for name, rows in arrays.items()}
    drawn = {name: _replicates(rows, measure, plan) for name, rows in arrays.items()}
    drafts = []
    for a, b in pairs:
        difference, found = whole[a] - whole[b], drawn[a] - drawn[b]
        bound = widest(difference, found, level=1 - plan.level)
        swap = swap_test(arrays[a], arrays[b], measure, plan=plan)
        test = _both(swap, bootstrap_p(difference, found), 2 / (plan.n_resamples + 1))
        drafts.append(Draft(a, b, bound, test, _n_units(plan, n)))
    return judge(drafts, direction=direction, level=plan.level)


def widest(difference: float, replicates: FloatArray, *, level: float) -> Interval:
    """Put a difference between the outer bounds of its basic and its percentile interval.

    Resampling shifts an ECE, more so that of a model near calibration, and the difference of two
    with it. Neither kind of interval is right then: where the basic one covers 72 to 95 % and the
    percentiles 35 to 100 %, both together cover 84 to 100 % at a level of 95 %.

    Examples
    --------
    >>> found = widest(2.0, np.arange(101.0), level=0.5)
    >>> found.low, found.high
    (-71.0, 75.0)
    """
    basic = interval(difference, replicates, level=level, kind="basic")
    percentile = interval(difference, replicates, level=level, kind="percentile")
    low, high = min(basic.low, percentile.low), max(basic.high, percentile.high)
    return replace(basic, low=low, high=high)


def bootstrap_p(difference: float, replicates: FloatArray) -> float:
    """Give the p-value of a difference: one minus the level at which its `widest` reaches zero.

    Examples
    --------
    >>> float(bootstrap_p(1.0, np.linspace(0.5, 1.5, 999)))
    0.002
    >>> float(bootstrap_p(0.2, np.linspace(-0.3, 0.7, 999)))
    0.602
    """
    beyond = [replicates <= 0, replicates >= 0]
    beyond += [replicates >= 2 * difference, replicates <= 2 * difference]
    missing = np.isnan(replicates)
    percentile_left, percentile_right, basic_left, basic_right = (
        1 + int((side | missing).sum()) for side in beyond
    )
    fewer = max(min(percentile_left, percentile_right), min(basic_left, basic_right))
    return min(1.0, 2 * fewer / (len(replicates) + 1))


def swap_test(first: Rows, second: Rows, measure: Measure, *, plan: Plan) -> PairTest:
    """Test whether it matters which model is which, by swapping their predictions at some units.

    Predictions are swapped in all ways where few units differ, else at a random half of them,
    ``plan.n_resamples`` times. For a mean this is the test by sign flips.

    Examples
    --------
    >>> def median(x, w): return float(np.median(np.repeat(x, w.astype(int))))
    >>> swap_test(np.arange(5.0) + 10, np.arange(5.0), median, plan=Plan())
    PairTest(p=0.0625, smallest=0.0625, n_differ=5)
    """
    pair = _Pair.of(first, second, measure, plan)
    k = len(pair.differ)
    exact = k <= _N_EXACT
    choices = _all_choices(pair.differ) if exact else _some_choices(pair.differ, plan)
    observed, scale = pair.difference(pair.differ[:0])
    if np.isnan(observed):
        return PairTest(1.0, 1.0, k)
    # An undefined metric counts as far, which can only make the test more cautious.
    least = abs(observed) - 1e-12 * scale
    far = [not abs(pair.difference(chosen)[0]) < least for chosen in choices]
    if exact:
        return PairTest(sum(far) / len(far), smallest_p(k), k)
    return PairTest((1 + sum(far)) / (len(far) + 1), smallest_p(k, len(far)), k)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Predictions of two models, and the units at which they differ."""

    first: Rows
    second: Rows
    measure: Measure
    unit: IntArray
    n_units: int
    differ: IntArray

    @classmethod
    def of(cls, first: Rows, second: Rows, measure: Measure, plan: Plan) -> _Pair:
        n = len(first)
        unit, n_units = units(np.arange(n) if plan.blocks is None else plan.blocks, n_items=n)
        unlike: BoolArray = (first != second).reshape(n, -1).any(axis=1)
        return cls(first, second, measure, unit, n_units, np.unique(unit[unlike]))

    def difference(self, chosen: IntArray) -> tuple[float, float]:
        """Give the difference once the chosen units are swapped, and the size of the metrics."""
        swapped = np.zeros(self.n_units, bool)
        swapped[chosen] = True
        rows = swapped[self.unit].reshape(-1, *[1] * (self.first.ndim - 1))
        weights = np.ones(len(self.unit))
        one = float(self.measure(np.where(rows, self.second, self.first), weights))
        two = float(self.measure(np.where(rows, self.first, self.second), weights))
        return one - two, max(abs(one), abs(two))


def _all_choices(differ: IntArray) -> Iterator[IntArray]:
    """Give all subsets, one of each complementary pair."""
    for kept in product([False, True], repeat=max(len(differ) - 1, 0)):
        yield differ[: len(kept)][list(kept)]


def _some_choices(differ: IntArray, plan: Plan) -> Iterator[IntArray]:
    rng = np.random.default_rng([plan.seed, 1])
    for _ in range(plan.n_resamples):
        yield differ[rng.random(len(differ)) < 0.5]


def _replicates(rows: Rows, measure: Measure, plan: Plan) -> FloatArray:
    """Compute the metric on resamples, the same ones for every model ``[n_resamples]``."""
    counts = resamples(len(rows), plan.n_resamples, seed=plan.seed, blocks=plan.blocks)
    return replicates(partial(measure, rows), counts)


def _both(swap: PairTest, p: float, smallest: float) -> PairTest:
    return PairTest(max(swap.p, p), max(swap.smallest, smallest), swap.n_differ)


def _n_units(plan: Plan, n: int) -> int:
    return n if plan.blocks is None else len(np.unique(plan.blocks))
