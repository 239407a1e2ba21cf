from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from graphgauge.errors import InputError
from graphgauge.stats import holm
from graphgauge.stats.flips import bundle_numbers, flip_p, sampled_flip_p, smallest_p


def brute_flips(differences):
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product([1, -1], repeat=len(differences))
    ]
    reached = abs(sum(differences)) - 1e-9
    return sum(value >= reached for value in sums) / len(sums)


def brute_holm(p_values):
    """The definition by tests: the smallest level at which each hypothesis falls."""
    m, corrected = len(p_values), [0.0] * len(p_values)
    order = sorted(range(m), key=lambda i: p_values[i])
    for place, i in enumerate(order):
        steps = [(m - k) * p_values[j] for k, j in enumerate(order[: place + 1])]
        corrected[i] = min(1.0, max(steps))
    return corrected


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_few_differences_are_flipped_in_all_ways(differences):
    values = np.array(differences, float) / 7
    assert flip_p(values) == pytest.approx(brute_flips(differences))


@given(st.lists(st.floats(-3, 3, width=16), min_size=1, max_size=8))
def test_any_size_of_difference(differences):
    assert flip_p(np.array(differences)) == pytest.approx(brute_flips(differences), abs=1e-12)


def test_the_exact_test_equals_scipys(rng):
    differences = rng.normal(0.4, size=12)
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert flip_p(differences) == pytest.approx(theirs.pvalue)


def test_the_largest_exact_test(rng):
    differences = rng.normal(0.3, size=20)
    theirs = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=50_000, rng=0
    )
    assert flip_p(differences) == pytest.approx(theirs.pvalue, abs=0.01)


@pytest.mark.parametrize(("n_plus", "n_minus"), [(1, 0), (5, 5), (40, 25), (600, 500)])
def test_differences_of_one_size_are_mcnemars_test(rng, n_plus, n_minus):
    values = np.repeat([0.1, -0.1, 0.0], [n_plus, n_minus, 30])
    more = max(n_plus, n_minus)
    expected = min(1.0, 2 * stats.binom.sf(more - 1, n_plus + n_minus, 0.5))
    assert flip_p(rng.permutation(values)) == pytest.approx(expected)


def test_many_unlike_differences_are_left_to_drawn_flips(rng):
    assert flip_p(rng.normal(size=21)) is None
    assert flip_p(np.zeros(1000)) == 1


def test_drawn_flips_approach_the_exact_test(rng):
    columns = rng.normal(0.3, size=(16, 4))
    drawn = sampled_flip_p(columns, n_flips=40_000, rng=rng)
    exact = [flip_p(column) for column in columns.T]
    assert drawn == pytest.approx(exact, abs=0.012)


def test_drawn_flips_approach_the_normal_test(rng):
    columns = rng.normal(0.02, size=(5000, 3))
    drawn = sampled_flip_p(columns, n_flips=20_000, rng=rng)
    z = columns.sum(axis=0) / np.sqrt((columns**2).sum(axis=0))
    assert drawn == pytest.approx(2 * stats.norm.sf(np.abs(z)), abs=0.015)


def test_a_drawn_p_value_is_never_zero(rng):
    assert sampled_flip_p(np.ones((64, 1)), n_flips=99, rng=rng).tolist() == [0.01]
    # Without any difference every flip reaches what was observed.
    assert sampled_flip_p(np.zeros((64, 1)), n_flips=99, rng=rng).tolist() == [1.0]


def test_bundles_lose_next_to_nothing(rng):
    differences = rng.normal(0.004, size=200_000)
    z = differences.sum() / np.sqrt((differences**2).sum())
    bundle = bundle_numbers(200_000, rng=rng)
    sizes = np.bincount(bundle)
    assert sizes.max() - sizes.min() <= 1
    sums = np.bincount(bundle, weights=differences)[:, None]
    drawn = sampled_flip_p(sums, n_flips=20_000, rng=rng)
    assert drawn == pytest.approx(2 * stats.norm.sf(abs(z)), rel=0.25, abs=0.01)


@pytest.mark.parametrize("k", range(1, 12))
def test_the_smallest_p_value_is_attained(k):
    assert flip_p(np.arange(1.0, k + 1)) == smallest_p(k)
    assert flip_p(np.ones(k)) == pytest.approx(smallest_p(k))


def test_smallest_p_of_very_many_is_no_overflow():
    assert smallest_p(10**9) < 1e-300


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_equals_its_definition(p_values):
    corrected = holm(p_values)
    assert corrected == pytest.approx(brute_holm(p_values))
    assert (corrected >= np.array(p_values)).all()


def test_holm_of_one_and_of_none():
    assert holm([0.04]).tolist() == [0.04]
    assert holm([]).tolist() == []


def test_holms_closed_testing_example():
    # Bonferroni would keep only the first (4 x 0.015 > 0.05).
    assert holm([0.01, 0.015, 0.02, 0.04]) == pytest.approx([0.04, 0.045, 0.045, 0.045])


@pytest.mark.parametrize("p_values", [[1.1], [-0.1], [np.nan], [[0.1]]])
def test_holm_refuses_what_is_no_p_value(p_values):
    with pytest.raises(InputError, match="between 0 and 1"):
        holm(p_values)
