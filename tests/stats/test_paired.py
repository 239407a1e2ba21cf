from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from graphgauge.errors import InputError
from graphgauge.stats import Verdict, compare, holm
from graphgauge.stats import paired as module


def only(found):
    (one,) = found
    return one


def test_few_items_equal_scipys_exact_test(rng):
    a, b = rng.normal(0.5, size=10), rng.normal(size=10)
    found = only(compare({"a": a, "b": b}, direction="higher"))

    def gap(x, y):
        return np.mean(x) - np.mean(y)

    theirs = stats.permutation_test((a, b), gap, permutation_type="samples", n_resamples=np.inf)
    assert found.p == found.p_holm == pytest.approx(theirs.pvalue)
    assert found.difference == pytest.approx(gap(a, b))
    assert (found.n, found.n_differ) == (10, 10)


def test_many_items_equal_scipys_sampled_test_and_paired_bootstrap(rng):
    a = rng.normal(size=300)
    b = a + rng.normal(0.1, 1, size=300)
    found = only(compare({"a": a, "b": b}, direction="lower", seed=4))
    theirs = stats.permutation_test(
        (a - b,), np.mean, permutation_type="samples", n_resamples=20_000, rng=0
    )
    assert found.p == pytest.approx(theirs.pvalue, abs=0.015)
    bounds = stats.bootstrap((a - b,), np.mean, n_resamples=5000, method="percentile", rng=0)
    expected = bounds.confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.012)


def test_correctness_is_mcnemars_test(rng):
    first, second = rng.random(500) < 0.8, rng.random(500) < 0.75
    found = only(compare({"a": first, "b": second}, direction="higher"))
    plus, minus = int((first & ~second).sum()), int((~first & second).sum())
    assert found.p == pytest.approx(stats.binomtest(plus, plus + minus).pvalue)
    assert found.n_differ == plus + minus
    assert found.difference == pytest.approx((plus - minus) / 500)


def test_all_pairs_in_order_with_holm(rng):
    shifts = {"a": 0, "b": 0, "c": 1, "d": 1.2}
    values = {name: rng.normal(shift, size=200) for name, shift in shifts.items()}
    found = compare(values, direction="lower")
    assert [(c.first, c.second) for c in found] == list(combinations("abcd", 2))
    assert [c.p_holm for c in found] == pytest.approx(holm([c.p for c in found]))
    verdicts = {c.first + c.second: c.verdict for c in found}
    assert {verdicts[pair] for pair in ("ac", "ad", "bc", "bd")} == {Verdict.BETTER}
    assert verdicts["ab"] == Verdict.TIED
    # A pair's figures do not depend on who else is compared, but for the last digit: how a matrix
    # product rounds depends on its width, and on the processor.
    alone = only(compare({"a": values["a"], "b": values["b"]}, direction="lower"))
    assert (alone.difference, alone.low, alone.high) == pytest.approx(
        (found[0].difference, found[0].low, found[0].high), rel=1e-12
    )


def test_direction_and_order_mirror_the_verdict(rng):
    a, b = rng.normal(1, size=100), rng.normal(size=100)
    higher = only(compare({"a": a, "b": b}, direction="higher"))
    lower = only(compare({"a": a, "b": b}, direction="lower"))
    swapped = only(compare({"b": b, "a": a}, direction="higher"))
    assert (higher.verdict, lower.verdict, swapped.verdict) == ("better", "worse", "worse")
    assert higher.p == lower.p == swapped.p
    assert (swapped.difference, swapped.low, swapped.high) == pytest.approx(
        (-higher.difference, -higher.high, -higher.low)
    )


def test_silence_of_few_items_is_no_tie():
    # Five seeds that all agree: p = 2^-4 = 0.0625 at best.
    better, worse = np.arange(5) + 10.0, np.arange(5) * 1.1
    found = only(compare({"a": better, "b": worse}, direction="higher"))
    assert (found.p, found.verdict) == (0.0625, Verdict.TOO_FEW)
    six = only(compare({"a": np.arange(6) + 10.0, "b": np.arange(6) * 1.1}, direction="higher"))
    assert (six.p, six.verdict) == (0.03125, Verdict.BETTER)


def test_what_is_enough_depends_on_the_number_of_pairs():
    values = {name: np.arange(6) * 1.01**k + 0.1 * k**2 for k, name in enumerate("abc")}
    # Each pair alone reaches 2^-5, and three times that is too much.
    assert {c.verdict for c in compare(values, direction="lower")} == {Verdict.TOO_FEW}
    assert {c.verdict for c in compare(values, direction="lower", level=0.1)} == {Verdict.BETTER}


@pytest.mark.parametrize(("n", "verdict"), [(100, Verdict.TIED), (5, Verdict.TOO_FEW)])
def test_equal_files_are_tied_if_long_enough(rng, n, verdict):
    a = rng.random(n)
    found = only(compare({"a": a, "b": a.copy()}, direction="higher"))
    assert (found.p, found.n_differ, found.verdict) == (1.0, 0, verdict)
    assert (found.difference, found.low, found.high) == (0, 0, 0)


def test_few_differing_items_among_many():
    a = np.zeros(10_000)
    b = a.copy()
    b[:4] = 1
    found = only(compare({"a": a, "b": b}, direction="higher"))
    assert (found.p, found.verdict) == (0.125, Verdict.TOO_FEW)
    b[:50] = 1
    assert only(compare({"a": a, "b": b}, direction="higher")).verdict == Verdict.WORSE


def test_blocks_equal_brute_force_over_blocks(rng):
    a, b, blocks = rng.normal(size=40), rng.normal(size=40), rng.integers(6, size=40)
    found = only(compare({"a": a, "b": b}, direction="higher", blocks=blocks))
    sums = [sum((a - b)[blocks == block]) for block in np.unique(blocks)]
    reached = abs(sum(sums)) - 1e-9
    flips = [abs(np.dot(signs, sums)) >= reached for signs in product([1, -1], repeat=len(sums))]
    assert found.p == pytest.approx(np.mean(flips))
    assert (found.n, found.n_differ) == (6, 6)
    assert found.verdict == Verdict.TIED


def test_blocks_whose_differences_cancel_do_not_differ():
    a = np.array([0.3, 0.1, 0.1, 0.7, 1.0])
    b = np.array([0.1, 0.1, 0.3, 0.2, 0.6])
    found = only(compare({"a": a, "b": b}, direction="higher", blocks=np.array([0, 0, 0, 1, 2])))
    assert found.n_differ == 2


def test_blocks_of_one_item_are_items(rng):
    values = {"a": rng.normal(size=50), "b": rng.normal(size=50)}
    plain = compare(values, direction="higher")
    assert compare(values, direction="higher", blocks=np.arange(50)) == plain


def test_whole_weights_equal_copies_in_a_block(rng):
    a, b, copies = rng.normal(size=12), rng.normal(size=12), rng.integers(1, 4, size=12)
    weighted = only(compare({"a": a, "b": b}, direction="higher", weights=copies.astype(float)))
    rows = np.repeat(np.arange(12), copies)
    copied = only(compare({"a": a[rows], "b": b[rows]}, direction="higher", blocks=rows))
    assert weighted.p == copied.p
    assert (weighted.difference, weighted.low, weighted.high) == pytest.approx(
        (copied.difference, copied.low, copied.high)
    )


def test_items_of_no_weight_do_not_count(rng):
    a, b = rng.normal(size=20), rng.normal(size=20)
    weights = (np.arange(20) < 8).astype(float)
    found = only(compare({"a": a, "b": b}, direction="higher", weights=weights))
    assert found.n_differ == 8
    assert found.difference == pytest.approx((a - b)[:8].mean())


def test_very_many_items(rng):
    n = 60_000
    a = rng.normal(size=n)
    found = only(compare({"a": a, "b": a + rng.normal(0.012, 1, size=n)}, direction="lower"))
    d = found.difference
    assert found.p == pytest.approx(2 * stats.norm.sf(abs(d) * np.sqrt(n)), rel=0.3, abs=0.002)
    assert found.high - found.low == pytest.approx(2 * 1.96 / np.sqrt(n), rel=0.08)
    assert found.low < d < found.high


def test_more_flips_when_pairs_are_many(rng, monkeypatch):
    # With 9 flips no p-value could fall below 0.1; the number of pairs asks for more.
    monkeypatch.setattr(module, "_N_FLIPS", 9)
    values = {str(k): rng.normal(k, size=30) for k in range(6)}
    found = compare(values, direction="higher")
    assert {c.verdict for c in found} == {Verdict.WORSE}


def test_same_seed_same_figures_and_input_untouched(rng):
    values = {"a": rng.normal(size=100), "b": rng.normal(size=100)}
    before = {name: array.copy() for name, array in values.items()}
    once = compare(values, direction="higher", seed=3)
    assert once == compare(values, direction="higher", seed=3)
    assert once != compare(values, direction="higher", seed=4)
    assert all(np.array_equal(values[name], before[name]) for name in values)


def test_nothing_to_compare_on():
    found = only(compare({"a": np.zeros(0), "b": np.zeros(0)}, direction="higher"))
    assert np.isnan([found.difference, found.low, found.high]).all()
    assert (found.n, found.verdict) == (0, Verdict.TOO_FEW)


@pytest.mark.parametrize(
    ("values", "options", "match"),
    [
        ({"a": [1.0]}, {}, "at least two"),
        ({"a": [1.0], "b": [1.0, 2.0]}, {}, "lengths differ"),
        ({"a": [1.0], "b": [np.inf]}, {}, "b: 1 row is not finite"),
        ({"a": [1.0], "b": [2.0]}, {"direction": "neither"}, "neither higher nor lower"),
        ({"a": [1.0], "b": [2.0]}, {"level": 5}, "level"),
        ({"a": [1.0], "b": [2.0]}, {"weights": [-1.0]}, "negative"),
        ({"a": [1.0], "b": [2.0]}, {"weights": [1.0, 1.0]}, "2 rows for 1 items"),
        ({"a": [1.0], "b": [2.0]}, {"blocks": [1, 2]}, "2 labels for 1 items"),
    ],
)
def test_refusals(values, options, match):
    with pytest.raises(InputError, match=match):
        compare(values, **{"direction": "higher", **options})
