"""Simulations: tests keep their level, and intervals cover the truth as often as they say.

Each figure in a comment was measured with the long version. Short versions use few repetitions and
limits of four standard errors.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from graphgauge.stats import (
    Plan,
    Verdict,
    bootstrap_mean,
    compare,
    compare_metric,
    interval,
    mean_replicates,
    ratio_replicates,
    replicates,
    resample_counts,
    resamples,
)

DECIDED = (Verdict.BETTER, Verdict.WORSE)

short_and_long = pytest.mark.parametrize("n_runs", [80, pytest.param(3000, marks=pytest.mark.long)])


def room(share, n_runs):
    """Four standard errors of a share found in `n_runs`."""
    return 4 * np.sqrt(share * (1 - share) / n_runs)


def decided(found):
    return any(c.verdict in DECIDED for c in found)


def clustered(rng, n_blocks, size, n_models=1):
    """Values whose blocks share half of the variance, and the blocks."""
    blocks = np.repeat(np.arange(n_blocks), size)
    shared = rng.normal(size=(n_models, n_blocks))[:, blocks]
    return shared + rng.normal(size=(n_models, len(blocks))), blocks


def ece(rows, weights):
    bins = np.minimum((rows[:, 0] * 10).astype(int), 9)
    gaps = np.bincount(bins, weights=weights * (rows[:, 1] - rows[:, 0]), minlength=10)
    return float(np.abs(gaps).sum() / weights.sum())


def outcomes(rng, n, sharpening):
    logit = np.abs(rng.normal(1.5, 1.5, size=n))
    right = rng.random(n) < 1 / (1 + np.exp(-logit))
    return [np.stack([1 / (1 + np.exp(-t * logit)), right], axis=1) for t in sharpening]


@short_and_long
@pytest.mark.parametrize("kind", ["normal", "correctness", "few"])
def test_one_pair_keeps_its_level(rng, n_runs, kind):
    rejected = 0
    for run in range(n_runs):
        n = 12 if kind == "few" else 200
        a, b = rng.normal(size=(2, n))
        if kind == "correctness":
            a, b = a > -1, b > -1
        rejected += decided(compare({"a": a, "b": b}, direction="higher", seed=run))
    assert rejected / n_runs <= 0.05 + room(0.05, n_runs)
    # And it does reject: McNemar's test on about 50 items has a level of its own below 0.05.
    assert rejected / n_runs >= (0.02 if kind == "correctness" else 0.05) - room(0.05, n_runs)


@short_and_long
def test_holm_keeps_the_level_over_all_pairs(rng, n_runs):
    alone = together = 0
    for run in range(n_runs):
        values = dict(zip("abcde", rng.normal(size=(5, 60)), strict=True))
        found = compare(values, direction="lower", seed=run)
        alone += any(c.p <= 0.05 for c in found)
        together += decided(found)
    assert together / n_runs <= 0.05 + room(0.05, n_runs)
    # Without it some of the ten pairs would differ far more often.
    assert alone / n_runs > 0.15


@short_and_long
def test_blocks_keep_the_level_where_items_do_not(rng, n_runs):
    by_item = by_block = 0
    for run in range(n_runs):
        # Items of a block are copies of one another.
        a, b = np.repeat(rng.normal(size=(2, 40)), 10, axis=1)
        values, blocks = {"a": a, "b": b}, np.repeat(np.arange(40), 10)
        by_item += decided(compare(values, direction="higher", seed=run))
        by_block += decided(compare(values, direction="higher", blocks=blocks, seed=run))
    assert by_block / n_runs <= 0.05 + room(0.05, n_runs)
    assert by_item / n_runs > 0.4


@short_and_long
def test_bundles_keep_the_level_of_many_items(rng, n_runs):
    n_runs //= 3
    rejected = 0
    for run in range(n_runs):
        a, b = rng.normal(size=(2, 10_000))
        rejected += decided(compare({"a": a, "b": b}, direction="higher", seed=run))
    assert rejected / n_runs <= 0.05 + room(0.05, n_runs)


@short_and_long
def test_interval_of_a_mean_covers(rng, n_runs):
    covered = 0
    for run in range(n_runs):
        found = bootstrap_mean(rng.normal(size=100), resamples(100, 500, seed=run))
        covered += found.low <= 0 <= found.high
    assert covered / n_runs == pytest.approx(0.945, abs=room(0.055, n_runs) + 0.01)


@short_and_long
def test_blocks_cover_where_items_do_not(rng, n_runs):
    by_item = by_block = 0
    for run in range(n_runs):
        (values,), blocks = clustered(rng, 60, 15)
        items = bootstrap_mean(values, resamples(900, 300, seed=run))
        whole = bootstrap_mean(values, resamples(900, 300, seed=run, blocks=blocks))
        by_item += items.low <= 0 <= items.high
        by_block += whole.low <= 0 <= whole.high
    assert by_block / n_runs == pytest.approx(0.94, abs=room(0.06, n_runs) + 0.015)
    # The variance of the mean is (1 + 14/2) times that of independent items: 2.8 too short.
    expected = 2 * stats.norm.cdf(1.96 / np.sqrt(8)) - 1
    assert by_item / n_runs == pytest.approx(expected, abs=room(0.5, n_runs) + 0.02)


@short_and_long
def test_interval_of_a_difference_covers_with_blocks(rng, n_runs):
    covered = 0
    for run in range(n_runs):
        (a, b), blocks = clustered(rng, 60, 15, n_models=2)
        (found,) = compare({"a": a, "b": b}, direction="higher", blocks=blocks, seed=run)
        covered += found.low <= 0 <= found.high
    assert covered / n_runs == pytest.approx(0.94, abs=room(0.06, n_runs) + 0.015)


@pytest.mark.parametrize("n_runs", [50, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize("sharpening", [1.0, 3.0])
def test_the_basic_interval_covers_an_ece_better(rng, n_runs, sharpening):
    (many,) = outcomes(rng, 1_000_000, [sharpening])
    truth = 0.0 if sharpening == 1 else ece(many, np.ones(len(many)))
    covered = {"basic": 0, "percentile": 0}
    for run in range(n_runs):
        (rows,) = outcomes(rng, 300, [sharpening])
        value = ece(rows, np.ones(300))
        drawn = replicates(lambda w, rows=rows: ece(rows, w), resamples(300, 300, seed=run))
        for kind in covered:
            found = interval(value, drawn, kind=kind, bounds=(0, 1))
            covered[kind] += found.low <= truth <= found.high
    if sharpening == 1:
        assert covered["percentile"] == 0
        assert covered["basic"] / n_runs > 0.4
    else:
        assert covered["basic"] / n_runs > 0.95 - 0.02 - room(0.05, n_runs)


@pytest.mark.parametrize("n_runs", [25, pytest.param(400, marks=pytest.mark.long)])
def test_equal_eces_of_unlike_models_keep_the_level(rng, n_runs):
    # Sharpening by 1.269 and by 0.8 gives the same ECE, 0.035.
    rejected = 0
    for run in range(n_runs):
        sharp, flat = outcomes(rng, 300, (1.269, 0.8))
        plan = Plan(seed=run, n_resamples=199)
        rejected += decided(
            compare_metric({"a": sharp, "b": flat}, ece, direction="lower", plan=plan)
        )
    assert rejected / n_runs <= 0.05 + room(0.05, n_runs)


def test_replicates_of_a_mean_have_its_standard_error(rng):
    values = rng.normal(size=400)
    drawn = mean_replicates(values, resample_counts(400, 20_000, seed=0))
    assert drawn.std() == pytest.approx(values.std() / 20, rel=0.03)
    assert drawn.mean() == pytest.approx(values.mean(), abs=5 * values.std() / 20 / np.sqrt(20_000))


def test_replicates_of_a_clustered_mean_have_the_clustered_standard_error(rng):
    (values,), blocks = clustered(rng, 200, 10)
    sums, sizes = np.bincount(blocks, weights=values), np.full(200, 10.0)
    drawn = ratio_replicates(sums, sizes, resample_counts(200, 20_000, seed=0))
    assert drawn.std() == pytest.approx((sums / 10).std() / np.sqrt(200), rel=0.03)
