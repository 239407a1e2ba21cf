"""Selective prediction against loops, enumeration, scikit-learn and the reference outputs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from graphgauge.errors import InputError
from graphgauge.metrics.metric import Direction
from graphgauge.metrics.selective import (
    CARDS,
    augrc,
    auprc,
    aurc,
    coverage_at_risk,
    prr,
    rejection_area,
    rejection_curve,
)

Array = npt.NDArray[np.float64]
Items = list[tuple[int, bool]]
Score = Callable[..., float]

METRICS = [rejection_area, prr, auprc, aurc, augrc, coverage_at_risk]
LINEAR = [rejection_area, prr, auprc, aurc, augrc]

items = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=30)
few = st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6)


def split(pairs: Items) -> tuple[Array, npt.NDArray[np.bool_]]:
    return np.array([u for u, _ in pairs], float), np.array([e for _, e in pairs], bool)


def both(error: npt.NDArray[np.bool_]) -> bool:
    return 0 < error.sum() < len(error)


# The definitions written out for items that already stand in their order.


def walk_area(errors: list[bool]) -> float:
    n, area, seen, last = len(errors), 0.0, 0, None
    for wrong in errors:
        seen += wrong
        if last is not None:
            area += (last + seen) / n / 2 * (1 / n)
        last = seen
    return area


def walk_prr(errors: list[bool]) -> float:
    n, k = len(errors), sum(errors)
    line = [k / n * i / n for i in range(1, n + 1)]
    random = sum((a + b) / 2 / n for a, b in pairwise(line))
    oracle = walk_area([False] * (n - k) + [True] * k)
    return (random - walk_area(errors)) / (random - oracle)


def walk_aurc(errors: list[bool]) -> float:
    return float(np.mean([sum(errors[:i]) / i for i in range(1, len(errors) + 1)]))


def walk_augrc(errors: list[bool]) -> float:
    heights = [sum(errors[:i]) / len(errors) for i in range(len(errors) + 1)]
    return sum((a + b) / 2 for a, b in pairwise(heights)) / len(errors)


WALKS: list[tuple[Score, Callable[[list[bool]], float]]] = [
    (rejection_area, walk_area),
    (prr, walk_prr),
    (auprc, lambda errors: 100 - 200 * walk_area(errors)),
    (aurc, walk_aurc),
    (augrc, walk_augrc),
]


def in_order(u: Array, error: npt.NDArray[np.bool_], shuffle: Array | None = None) -> list[bool]:
    """Sort by uncertainty; ties fall as the keys of `shuffle` do."""
    keys = shuffle if shuffle is not None else np.arange(len(u))
    return [bool(error[i]) for i in np.lexsort((keys, u))]


@pytest.mark.parametrize(("metric", "walk"), WALKS)
@pytest.mark.parametrize("n", [2, 3, 10, 257])
def test_equals_a_loop_without_ties(
    metric: Score, walk: Callable[[list[bool]], float], n: int, rng: np.random.Generator
) -> None:
    u, error = rng.permutation(n) / 7.0, rng.random(n) < 0.4
    error[:2] = False, True
    assert metric(u, error) == pytest.approx(walk(in_order(u, error)), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(("metric", "walk"), WALKS)
@given(pairs=few)
@settings(max_examples=30, deadline=None)
def test_ties_are_the_mean_over_all_orders(
    metric: Score, walk: Callable[[list[bool]], float], pairs: Items
) -> None:
    u, error = split(pairs)
    if metric is prr and not both(error):
        return
    orders = [in_order(u, error, np.array(p)) for p in permutations(range(len(u)))]
    expected = np.mean([walk(order) for order in orders])
    assert metric(u, error) == pytest.approx(expected, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(("metric", "walk"), WALKS)
def test_ties_are_the_mean_over_random_orders(
    metric: Score, walk: Callable[[list[bool]], float], rng: np.random.Generator
) -> None:
    u, error = rng.integers(0, 5, 120) * 1.0, rng.random(120) < 0.3
    draws = [walk(in_order(u, error, rng.random(120))) for _ in range(400)]
    assert np.std(draws) > 0, "sort order alone decides, unless ties are averaged"
    assert abs(metric(u, error) - np.mean(draws)) < 5 * np.std(draws) / np.sqrt(len(draws))


def test_sort_order_alone_can_turn_the_verdict() -> None:
    """One uncertainty for all: a stable sort reads perfect or worst off the row numbers."""
    u, error = np.zeros(10), np.arange(10) >= 5
    assert walk_prr(in_order(u, error)) == pytest.approx(1)
    assert walk_prr(in_order(u, error[::-1])) < -0.9
    assert prr(u, error) == prr(u, error[::-1]) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("model", [0, 1, 2])
def test_reference_outputs(golden: Path, model: int) -> None:
    """The reference works in single precision, and these uncertainties hold no ties."""
    with np.load(golden / "shifts" / "math_and_models.npz") as stored:
        u, error, area, ratio = (stored[f"m{model}_{k}"] for k in ("u", "err", "area", "prr"))
    assert len(np.unique(u)) == len(u)
    assert rejection_area(u, error) == pytest.approx(float(area), abs=1e-8)
    assert prr(u, error) == pytest.approx(float(ratio), abs=1e-7)


# Identities that bind the metrics to each other and to another library's AUROC.


@given(items)
@settings(deadline=None)
def test_augrc_is_a_function_of_accuracy_and_auroc(pairs: Items) -> None:
    u, error = split(pairs)
    if both(error):
        acc = 1 - error.mean()
        expected = (1 - roc_auc_score(error, u)) * acc * (1 - acc) + (1 - acc) ** 2 / 2
        assert augrc(u, error) == pytest.approx(expected, abs=1e-13)


@given(items)
@settings(deadline=None)
def test_prr_is_auroc_rescaled_to_second_order(pairs: Items) -> None:
    u, error = split(pairs)
    if both(error):
        e, n = error.mean(), len(u)
        gap = prr(u, error) - (2 * roc_auc_score(error, u) - 1)
        assert abs(gap) <= 2 * max(e, 1 - e) / (e * (1 - e) * n**2 - e) + 1e-12


@given(items)
@settings(deadline=None)
def test_auprc_follows_from_accuracy_and_prr(pairs: Items) -> None:
    """The check on the published tables, with its rest: e·(1 − PRR)/N² on the scale of shares."""
    u, error = split(pairs)
    if both(error):
        e, ratio = error.mean(), prr(u, error)
        short = 100 * ((1 - e) + ratio * e * (1 - e))
        rest = 100 * e * (1 - ratio) / len(u) ** 2
        assert auprc(u, error) == pytest.approx(short + rest, abs=1e-9)


@pytest.mark.parametrize(("n", "most"), [(100, 0.02), (1498, 1e-4), (13752, 1e-6)])
def test_auprc_identity_is_close_at_the_sizes_of_the_tables(
    n: int, most: float, rng: np.random.Generator
) -> None:
    u = rng.random(n)
    error = rng.random(n) < u / 2
    acc = 100 * (1 - error.mean())
    identity = acc + prr(u, error) * acc * (100 - acc) / 100
    assert 0 < abs(auprc(u, error) - identity) < most


# The curve and the coverage.


@given(items)
@settings(deadline=None)
def test_curve_ends_at_everything(pairs: Items) -> None:
    u, error = split(pairs)
    curve = rejection_curve(u, error)
    assert (curve.accepted[0], curve.errors[0], curve.accepted[-1]) == (0, 0, 1)
    assert curve.errors[-1] == error.mean()
    assert len(curve.accepted) == len(np.unique(u)) + 1
    np.testing.assert_array_equal(curve.rejected, 1 - curve.accepted)
    risks = [error[u <= level].mean() for level in np.unique(u)]
    np.testing.assert_allclose(curve.risk, risks, rtol=1e-14)
    np.testing.assert_array_equal(curve.errors_at(curve.accepted), curve.errors)


@given(items, st.sampled_from([0.0, 0.05, 0.25, 1 / 3, 0.5, 1.0]))
@settings(deadline=None)
def test_coverage_at_risk_tries_every_threshold(pairs: Items, risk: float) -> None:
    u, error = split(pairs)
    covered = [(u <= level).mean() for level in u if error[u <= level].mean() <= risk]
    assert coverage_at_risk(u, error, risk=risk) == max(covered, default=0.0)


def test_coverage_at_risk_meets_its_target_exactly() -> None:
    """A share of exactly 0.05 is accepted, whatever the weights' rounding makes of it."""
    u, error = np.arange(21.0), np.arange(21) >= 19
    assert coverage_at_risk(u, error) == 20 / 21
    assert coverage_at_risk(np.zeros(199), np.arange(199) < 10) == 0  # 0.0503 is too much
    for weight in (0.1, 0.3, 1 / 7, 1e-9):
        assert coverage_at_risk(u, error, weights=np.full(21, weight)) == pytest.approx(20 / 21)


def test_coverage_at_risk_is_not_cut_short_by_an_early_error() -> None:
    assert coverage_at_risk(np.arange(20), np.arange(20) == 0) == 1.0
    assert coverage_at_risk(np.arange(20), np.arange(20) < 2) == 0.0


# Laws.


@pytest.mark.parametrize("metric", METRICS)
@given(pairs=items, seed=st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_only_the_order_of_uncertainties_counts(metric: Score, pairs: Items, seed: int) -> None:
    u, error = split(pairs)
    turn = np.random.default_rng(seed).permutation(len(u))
    value = metric(u, error)
    np.testing.assert_equal(metric(u[turn], error[turn]), value)
    np.testing.assert_equal(metric(np.exp(5 * u), error.astype(int)), value)
    np.testing.assert_equal(metric(np.where(u == u.max(), np.inf, u), error.tolist()), value)


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
@given(pairs=items)
@settings(max_examples=50, deadline=None)
def test_best_and_worst_order_bound_every_other(card: Score, pairs: Items) -> None:
    u, error = split(pairs)
    if not both(error):
        return
    best, value, worst = card(error * 1.0, error), card(u, error), card(-1.0 * error, error)
    # Within a tie of all errors the order is fixed, so oracle and its reverse need no tie rule.
    if card.direction is Direction.LOWER:
        best, value, worst = -best, -value, -worst
    assert worst - 1e-12 <= value <= best + 1e-12
    assert card.low - 1e-12 <= card(u, error) <= card.high + 1e-12


def test_prr_of_oracle_and_chance(rng: np.random.Generator) -> None:
    error = rng.random(500) < 0.2
    assert prr(error, error) == pytest.approx(1, abs=1e-12)
    assert prr(np.ones(500), error) == pytest.approx(0, abs=1e-12)
    draws = [prr(rng.random(500), error) for _ in range(200)]
    assert abs(np.mean(draws)) < 5 * np.std(draws) / np.sqrt(200)


def test_prr_never_falls_below_its_card() -> None:
    lowest = min(
        prr(np.arange(n), np.array(error))
        for n in range(2, 9)
        for error in product([False, True], repeat=n)
        if 0 < sum(error) < n
    )
    assert lowest == pytest.approx(-1.25)
    assert {card.name: card.low for card in CARDS}["prr"] == -1.25


def test_chance_levels_of_the_cards(rng: np.random.Generator) -> None:
    error = rng.random(2000) < 0.3
    same = np.zeros(2000)
    e = error.mean()
    assert auprc(same, error) == pytest.approx(100 * (1 - e), abs=1e-3)
    assert aurc(same, error) == pytest.approx(e)
    assert augrc(same, error) == pytest.approx(e / 2)


@pytest.mark.parametrize("n", [1, 2, 50])
def test_all_right_and_all_wrong(n: int) -> None:
    u, right, wrong = np.arange(n), np.zeros(n, bool), np.ones(n, bool)
    assert np.isnan(prr(u, right))
    assert np.isnan(prr(u, wrong))
    assert (auprc(u, right), aurc(u, right), augrc(u, right)) == (100, 0, 0)
    assert auprc(u, wrong) == pytest.approx(100 / n**2)
    assert (aurc(u, wrong), augrc(u, wrong)) == (pytest.approx(1), pytest.approx(0.5))
    assert (coverage_at_risk(u, right), coverage_at_risk(u, wrong)) == (1, 0)


@pytest.mark.parametrize("metric", METRICS)
def test_no_items_give_nan(metric: Score) -> None:
    assert np.isnan(metric(np.empty(0), np.empty(0, bool)))


@pytest.mark.parametrize("metric", [augrc, coverage_at_risk])
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 3)), min_size=1, max_size=20
    )
)
@settings(max_examples=50, deadline=None)
def test_whole_weights_are_copies(metric: Score, rows: list[tuple[int, bool, int]]) -> None:
    u, error = split([(a, b) for a, b, _ in rows])
    weights = np.array([w for _, _, w in rows])
    copies = metric(np.repeat(u, weights), np.repeat(error, weights))
    weighed = metric(u, error, weights=weights)
    assert weighed == pytest.approx(copies, abs=1e-13, nan_ok=True)
    assert metric(u, error, weights=weights / 7) == pytest.approx(weighed, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("metric", METRICS)
def test_bad_input_is_named(metric: Score) -> None:
    with pytest.raises(InputError, match=r"^uncertainty: NaN has no place in an order \(row 0\)$"):
        metric([np.nan, 1], [0, 1])
    with pytest.raises(InputError, match=r"^error: expected booleans or zeros and ones \(row 0\)$"):
        metric([0, 1], [3, 1])


@pytest.mark.parametrize("risk", [-0.1, 1.5, float("nan")])
def test_bad_risk_is_named(risk: float) -> None:
    with pytest.raises(InputError, match=r"^risk: "):
        coverage_at_risk([0.0], [0], risk=risk)


def test_cards_are_labelled() -> None:
    labels = ["prr", "auprc", "aurc", "augrc", "coverage_at_risk(risk=0.05)"]
    assert [card.label for card in CARDS] == labels
    assert CARDS[-1].bind(risk=0.1).label == "coverage_at_risk(risk=0.1)"
