from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from graphgauge.errors import InputError
from graphgauge.stats import (
    balanced_counts,
    bootstrap,
    bootstrap_mean,
    interval,
    replicates,
    resample_counts,
    resamples,
    ten_bootstraps,
)


@pytest.mark.parametrize("kind", ["percentile", "basic"])
def test_bounds_equal_scipys_on_its_own_distribution(rng, kind):
    values = rng.exponential(size=40)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=999, method=kind, confidence_level=0.9, rng=1
    )
    ours = interval(values.mean(), theirs.bootstrap_distribution, level=0.9, kind=kind)
    expected = theirs.confidence_interval
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high))


def test_replicates_are_spread_like_scipys(rng):
    values = rng.exponential(size=40)
    theirs = stats.bootstrap((values,), np.median, n_resamples=4000, method="percentile", rng=1)

    def median(weights):
        return float(np.median(np.repeat(values, weights.astype(int))))

    ours = replicates(median, resamples(40, 4000, seed=1))
    assert ours.std(ddof=1) == pytest.approx(theirs.standard_error, rel=0.06)
    assert stats.ks_2samp(ours, theirs.bootstrap_distribution).statistic < 0.04


def test_a_mean_by_both_roads(rng):
    values, weights = rng.normal(size=30), rng.random(30)
    fast = bootstrap_mean(values, resamples(30, 500, seed=0), weights=weights, level=0.9)
    slow = bootstrap(
        lambda w: np.average(values, weights=w * weights),
        resample_counts(30, 500, seed=0),
        level=0.9,
        kind="percentile",
    )
    assert (fast.value, fast.low, fast.high) == pytest.approx((slow.value, slow.low, slow.high))
    assert (fast.level, fast.n, fast.n_undefined) == (0.9, 500, 0)


def test_the_order_of_chunks_and_matrix_agree(rng):
    values = rng.normal(size=30)

    def mean(weights):
        return float(np.average(values, weights=weights))

    whole = bootstrap(mean, resample_counts(30, 100, seed=0))
    assert whole == bootstrap(mean, resamples(30, 100, seed=0, chunk=7))


def test_bounds_are_clipped_to_the_range():
    found = interval(0.01, np.linspace(0, 0.5, 100), kind="basic", bounds=(0, 1))
    assert found.low == 0
    assert found.high == pytest.approx(0.02 - 0.0125, abs=0.005)


def test_a_constant_has_no_width():
    found = bootstrap_mean(np.full(20, 0.3), resamples(20, 50, seed=0))
    assert (found.value, found.low, found.high) == pytest.approx((0.3, 0.3, 0.3))


def test_undefined_resamples_are_counted():
    positive = np.array([1.0, 0.0, 0.0])

    def share_found(weights):
        drawn = weights @ positive
        return float("nan") if drawn == 0 else 1.0

    found = bootstrap(share_found, resamples(3, 3000, seed=0))
    assert found.n + found.n_undefined == 3000
    assert found.n_undefined / 3000 == pytest.approx((2 / 3) ** 3, abs=0.03)
    assert found.low == found.high == 1


def test_nothing_gives_nan():
    found = bootstrap_mean(np.zeros(0), resamples(0, 10, seed=0))
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.n_undefined == 10


def test_ten_bootstraps_are_ten(rng):
    values = rng.normal(size=1000)
    found = ten_bootstraps(lambda w: np.average(values, weights=w), 1000, seed=7)
    drawn = [
        values[np.repeat(np.arange(1000), c)].mean() for c in resample_counts(1000, 10, seed=7).T
    ]
    assert found.n == 10
    assert found.mean == pytest.approx(np.mean(drawn))
    assert found.sd == pytest.approx(np.std(drawn, ddof=1))
    assert 0.3 / np.sqrt(1000) < found.sd < 2 / np.sqrt(1000)
    population = ten_bootstraps(lambda w: np.average(values, weights=w), 1000, seed=7, ddof=0)
    assert population.sd == pytest.approx(np.std(drawn))


def test_balanced_counts_give_the_mean_recall_of_a_resample(rng):
    labels, right = rng.integers(3, size=50), rng.random(50) < 0.7
    for drawn in resample_counts(50, 5, seed=0).T.astype(float):
        copies = np.repeat(np.arange(50), drawn.astype(int))
        recalls = [right[copies][labels[copies] == c].mean() for c in range(3)]
        weights = balanced_counts(drawn, labels)
        assert np.average(right, weights=weights) == pytest.approx(np.mean(recalls))


def test_a_class_that_was_not_drawn_weighs_nothing():
    assert balanced_counts(np.array([2.0, 0.0]), np.array([0, 1])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("options", "match"), [({"level": 95}, "level"), ({"kind": "normal"}, "kind")]
)
def test_refusals(options, match):
    with pytest.raises(InputError, match=match):
        interval(0.5, np.array([0.5]), **options)


def test_no_resamples_are_refused():
    with pytest.raises(InputError, match="no resamples"):
        bootstrap(np.sum, resamples(3, 0, seed=0))
