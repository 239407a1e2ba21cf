from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from graphgauge.errors import InputError
from graphgauge.stats import Plan, Verdict, compare, compare_metric, interval
from graphgauge.stats.swaps import bootstrap_p, swap_test, widest


def only(found):
    (one,) = found
    return one


def mean(rows, weights):
    return float(np.average(rows, weights=weights))


def ece(rows, weights):
    """Ten equal bins; confidence and correctness in two columns."""
    bins = np.minimum((rows[:, 0] * 10).astype(int), 9)
    gaps = np.bincount(bins, weights=weights * (rows[:, 1] - rows[:, 0]), minlength=10)
    return float(np.abs(gaps).sum() / weights.sum())


def outcomes(rng, n, sharpening):
    logit = np.abs(rng.normal(1.5, 1.5, size=n))
    right = rng.random(n) < 1 / (1 + np.exp(-logit))
    return [np.stack([1 / (1 + np.exp(-t * logit)), right], axis=1) for t in sharpening]


def test_a_mean_agrees_with_the_test_by_flips(rng):
    a, b = rng.normal(0.25, size=120), rng.normal(size=120)
    flips = only(compare({"a": a, "b": b}, direction="higher"))
    plan = Plan(n_resamples=4000)
    swaps = only(compare_metric({"a": a, "b": b}, mean, direction="higher", plan=plan))
    assert swaps.difference == pytest.approx(flips.difference)
    assert swaps.p == pytest.approx(flips.p, abs=0.025)
    assert swap_test(a, b, mean, plan=plan).p == pytest.approx(flips.p, abs=0.02)
    assert (swaps.low, swaps.high) == pytest.approx((flips.low, flips.high), abs=0.03)


def test_few_items_are_swapped_in_all_ways(rng):
    a, b = rng.random(7), rng.random(7)
    a[0] = b[0]

    def spread(x, w):
        centre = np.average(x, weights=w)
        return float(np.average((x - centre) ** 2, weights=w))

    found = swap_test(a, b, spread, plan=Plan())
    reached = abs(np.var(a) - np.var(b)) - 1e-12
    brute = [
        abs(np.var(np.where(mask, a, b)) - np.var(np.where(mask, b, a))) >= reached
        for mask in product([False, True], repeat=7)
    ]
    assert found.p == pytest.approx(np.mean(brute))
    assert (found.smallest, found.n_differ) == (2**-5, 6)


def test_blocks_are_swapped_as_wholes(rng):
    a, b, blocks = rng.random(40), rng.random(40), np.arange(40) // 5
    plan = Plan(blocks=blocks)
    flips = only(compare({"a": a, "b": b}, direction="higher", blocks=blocks))
    assert swap_test(a, b, mean, plan=plan).p == pytest.approx(flips.p)
    found = only(compare_metric({"a": a, "b": b}, mean, direction="higher", plan=plan))
    assert (found.n, found.n_differ) == (8, 8)
    assert found.p >= flips.p


def test_auroc_on_ranks_equals_scipys_sampled_test(rng):
    ood = rng.random(200) < 0.4
    n_ood = int(ood.sum())
    a = stats.rankdata(rng.normal(size=200) + 1.5 * ood)
    b = stats.rankdata(rng.normal(size=200) + 0.9 * ood)

    def auroc(score, weights=None):
        sum_of_ranks = stats.rankdata(score)[ood].sum()
        return float(sum_of_ranks - n_ood * (n_ood + 1) / 2) / (n_ood * (200 - n_ood))

    assert auroc(a) == pytest.approx(roc_auc_score(ood, a))
    theirs = stats.permutation_test(
        (a, b),
        lambda x, y: auroc(x) - auroc(y),
        permutation_type="samples",
        n_resamples=4000,
        vectorized=False,
        rng=0,
    )
    # Drawn 60,000 times, the two give 0.060 and 0.058.
    found = swap_test(a, b, auroc, plan=Plan(n_resamples=4000))
    assert found.p == pytest.approx(theirs.pvalue, abs=0.02)


def test_a_miscalibrated_model_is_found(rng):
    good, bad, twin = outcomes(rng, 1500, (1.0, 3.0, 1.05))
    predictions = {"good": good, "bad": bad, "twin": twin}
    found = compare_metric(predictions, ece, direction="lower", plan=Plan(n_resamples=300))
    verdicts = {(c.first, c.second): c.verdict for c in found}
    assert verdicts["good", "bad"] == Verdict.BETTER
    assert verdicts["bad", "twin"] == Verdict.WORSE
    assert verdicts["good", "twin"] == Verdict.TIED
    assert found[0].low < found[0].difference < found[0].high < 0


def test_the_interval_covers_the_mean_like_the_bootstrap(rng):
    a, b = rng.normal(size=80), rng.normal(size=80)
    plan = Plan(n_resamples=3000, level=0.1, seed=2)
    found = only(compare_metric({"a": a, "b": b}, mean, direction="higher", plan=plan))
    theirs = stats.bootstrap(
        (a - b,), np.mean, n_resamples=3000, method="basic", confidence_level=0.9, rng=0
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_models_that_differ_item_by_item_need_not_differ_in_the_metric(rng):
    # A little too sure and a little too unsure: equal ECE, yet no item is exchangeable.
    sharp, flat = outcomes(rng, 1500, (1.053, 0.95))
    assert swap_test(sharp, flat, ece, plan=Plan(n_resamples=199)).p < 0.05
    found = only(compare_metric({"sharp": sharp, "flat": flat}, ece, direction="lower"))
    assert found.verdict == Verdict.TIED


@pytest.mark.parametrize("shift", [0.0, 0.4, 0.9, 1.5, 3.0])
def test_the_p_value_of_the_bootstrap_inverts_the_widest_interval(rng, shift):
    drawn = rng.gamma(3, size=4000) - 2.5 + shift
    p = bootstrap_p(shift, drawn)
    for level in (0.5, 0.8, 0.9, 0.95):
        found = widest(shift, drawn, level=level)
        kinds = [interval(shift, drawn, level=level, kind=kind) for kind in ("basic", "percentile")]
        assert found.low == min(each.low for each in kinds)
        assert found.high == max(each.high for each in kinds)
        if abs(p - (1 - level)) > 0.002:
            assert (p < 1 - level) == (not found.low <= 0 <= found.high)


def test_undefined_replicates_speak_for_no_difference():
    drawn = np.linspace(0.5, 1.5, 199)
    assert bootstrap_p(1.0, drawn) == pytest.approx(0.01)
    drawn[:9] = np.nan
    assert bootstrap_p(1.0, drawn) == pytest.approx(0.1)


@pytest.mark.parametrize(("n", "verdict"), [(50, Verdict.TIED), (5, Verdict.TOO_FEW)])
def test_equal_predictions_are_tied_if_long_enough(rng, n, verdict):
    rows = rng.random((n, 2))
    found = only(compare_metric({"a": rows, "b": rows.copy()}, ece, direction="lower"))
    assert (found.p, found.n_differ, found.verdict) == (1.0, 0, verdict)


def test_five_items_are_too_few():
    a, b = np.arange(5.0) + 10, np.arange(5.0)
    found = only(compare_metric({"a": a, "b": b}, mean, direction="higher"))
    assert (found.p, found.verdict) == (0.0625, Verdict.TOO_FEW)


def test_an_undefined_metric_gives_no_verdict(rng):
    rows = {"a": rng.random(30), "b": rng.random(30)}
    found = only(compare_metric(rows, lambda x, w: float("nan"), direction="higher"))
    assert np.isnan([found.difference, found.low, found.high]).all()
    assert (found.p, found.verdict) == (1.0, Verdict.TOO_FEW)


def test_same_seed_same_figures_and_input_untouched(rng):
    rows = {"a": rng.random(40), "b": rng.random(40)}
    before = {name: array.copy() for name, array in rows.items()}
    once = compare_metric(rows, mean, direction="higher", plan=Plan(n_resamples=50, seed=5))
    again = compare_metric(rows, mean, direction="higher", plan=Plan(n_resamples=50, seed=5))
    assert once == again
    assert all(np.array_equal(rows[name], before[name]) for name in rows)


@pytest.mark.parametrize(
    ("predictions", "direction", "match"),
    [
        ({"a": np.ones(3)}, "higher", "at least two"),
        ({"a": np.ones(3), "b": np.ones(2)}, "higher", "lengths differ"),
        ({"a": np.ones(3), "b": np.ones(3)}, "neither", "neither higher nor lower"),
    ],
)
def test_refusals(predictions, direction, match):
    with pytest.raises(InputError, match=match):
        compare_metric(predictions, mean, direction=direction)
