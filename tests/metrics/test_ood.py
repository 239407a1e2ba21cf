"""OOD detection against scikit-learn, torchmetrics and counted pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_curve
from sklearn.metrics import roc_auc_score as sklearn_auroc
from torchmetrics.functional.classification import binary_auroc, binary_average_precision

from graphgauge.errors import InputError
from graphgauge.metrics.ood import CARDS, aupr, auroc, fpr_at_tpr, separability

Array = npt.NDArray[np.float64]
Rows = list[tuple[int, bool, int]]
Score = Callable[..., float]

METRICS = [auroc, aupr, fpr_at_tpr]
rows = st.lists(
    st.tuples(st.integers(-3, 3), st.booleans(), st.integers(1, 4)), min_size=2, max_size=40
).filter(lambda r: len({ood for _, ood, _ in r}) == 2)


def unpack(table: Rows) -> tuple[Array, npt.NDArray[np.bool_], Array]:
    score, ood, weights = (np.array(column) for column in zip(*table, strict=True))
    return score.astype(float), ood.astype(bool), weights.astype(float)


def flipped(score: Array, ood: npt.NDArray[np.bool_], positive: str) -> tuple[Array, Array]:
    """Targets and scores as a library wants them: larger for the positive side."""
    return (ood, score) if positive == "ood" else (~ood, -score)


@given(rows, st.sampled_from(["ood", "id"]))
@settings(deadline=None)
def test_areas_equal_scikit_learn(table: Rows, positive: str) -> None:
    score, ood, weights = unpack(table)
    target, ranked = flipped(score, ood, positive)
    for w in (None, weights):
        ours = auroc(score, ood, positive=positive, weights=w)
        assert ours == pytest.approx(sklearn_auroc(target, ranked, sample_weight=w), abs=1e-13)
        ours = aupr(score, ood, positive=positive, weights=w)
        theirs = average_precision_score(target, ranked, sample_weight=w)
        assert ours == pytest.approx(theirs, abs=1e-13)


@given(rows, st.sampled_from(["ood", "id"]), st.sampled_from([0.05, 0.5, 0.8, 0.95, 1.0]))
@settings(deadline=None)
def test_fpr_equals_the_full_roc_curve(table: Rows, positive: str, tpr: float) -> None:
    score, ood, weights = unpack(table)
    for w in (None, weights):
        fprs, tprs, _ = roc_curve(
            *flipped(score, ood, positive), sample_weight=w, drop_intermediate=False
        )
        expected = min(f for f, t in zip(fprs, tprs, strict=True) if t >= tpr - 1e-12)
        ours = fpr_at_tpr(score, ood, tpr=tpr, positive=positive, weights=w)
        assert ours == pytest.approx(expected, abs=1e-13)


@given(rows)
@settings(deadline=None)
def test_auroc_counts_pairs(table: Rows) -> None:
    score, ood, weights = unpack(table)
    won = total = 0.0
    for s, w in zip(score[ood], weights[ood], strict=True):
        for t, v in zip(score[~ood], weights[~ood], strict=True):
            won += w * v * (1.0 if s > t else 0.5 if s == t else 0.0)
            total += w * v
    assert auroc(score, ood, weights=weights) == pytest.approx(won / total, abs=1e-13)


@pytest.mark.parametrize("positive", ["ood", "id"])
@pytest.mark.parametrize("levels", [5, 10**6])
def test_areas_equal_torchmetrics(positive: str, levels: int, rng: np.random.Generator) -> None:
    score = rng.integers(0, levels, 500) / levels
    ood = rng.random(500) < score
    target, ranked = flipped(score, ood, positive)
    # Back into [0, 1], or torchmetrics would take the scores for logits.
    preds, labels = torch.tensor(ranked + (positive == "id")), torch.tensor(target).int()
    assert auroc(score, ood) == pytest.approx(float(binary_auroc(preds, labels)), abs=1e-6)
    theirs = float(binary_average_precision(preds, labels))
    assert aupr(score, ood, positive=positive) == pytest.approx(theirs, abs=1e-6)


# Where others go wrong.


def test_torchmetrics_loses_an_evidence_in_a_sigmoid() -> None:
    """Scores outside [0, 1] are taken for logits there: minus an evidence ties at zero."""
    evidence = np.array([900.0, 700.0, 500.0, 300.0])
    ood = np.array([False, False, True, True])
    theirs = binary_auroc(torch.tensor(-evidence, dtype=torch.float32), torch.tensor(ood).int())
    assert float(theirs) == 0.5
    assert auroc(-evidence, ood) == 1.0


def test_roc_curve_as_usually_read_overstates_fpr_with_ties() -> None:
    """By default `roc_curve` drops collinear points, and ties make points collinear."""
    score = np.repeat([3.0, 2.0, 1.0], 2)
    ood = np.tile([True, False], 3)
    fprs, tprs, _ = roc_curve(ood, score)
    assert fprs[np.argmax(tprs >= 0.5)] == 1.0
    assert fpr_at_tpr(score, ood, tpr=0.5) == pytest.approx(2 / 3)


def test_trapezoid_under_precision_recall_promises_too_much() -> None:
    """One tie of all scores knows nothing; the trapezoid makes 0.75 of prevalence 0.5."""
    score, ood = np.zeros(10), np.arange(10) < 5
    precision, recall, _ = precision_recall_curve(ood, score)
    assert auc(recall, precision) == pytest.approx(0.75)
    assert aupr(score, ood) == aupr(score, ood, positive="id") == 0.5


def test_step_by_step_areas_depend_on_row_order() -> None:
    """A loop over sorted rows splits ties by row number; thresholds cannot."""
    ood = np.arange(10) < 5

    def stepwise(target: npt.NDArray[np.bool_]) -> float:
        ranked = target[np.argsort(np.zeros(10), kind="stable")]
        return float(np.trapezoid(np.cumsum(ranked) / 5, np.cumsum(~ranked) / 5))

    assert (stepwise(ood), stepwise(~ood)) == (1.0, 0.0)
    assert auroc(np.zeros(10), ood) == auroc(np.zeros(10), ~ood) == 0.5


# The ceiling of a shift.


@pytest.mark.parametrize(
    ("name", "ceiling"), [("cora-ml", 100.0), ("citeseer", 78.8), ("pubmed", 74.6)]
)
def test_separability_of_the_published_density_shifts(
    data_dir: Path, name: str, ceiling: float
) -> None:
    """Test-in against test-out; all ID against all OOD gives 99.98, 80.4 and 74.4."""
    with np.load(data_dir / "splits" / "structural-shifts" / f"{name}.npz") as stored:
        sigma, part = stored["density_sigma"], stored["density_part"]
    tested = (part == 2) | (part == 4)
    value = separability(sigma[tested], part[tested] == 4)
    assert round(100 * value, 1) == ceiling
    tied = sigma[tested] == sigma[part == 4].min()
    if value < 1:
        # All OOD nodes tie at clustering zero: what is lost is half of the ID nodes in that tie.
        assert (sigma[part == 4] == 0).all()
        lost = (tied & (part[tested] == 2)).sum() / (part == 2).sum() / 2
        assert value == pytest.approx(1 - lost)


def test_separability_loses_half_of_the_pairs_that_tie(rng: np.random.Generator) -> None:
    sigma = np.sort(rng.integers(0, 8, 60)) / 4
    for cut in (10, 31, 55):
        pairs = [(inside, outside) for inside in sigma[:cut] for outside in sigma[cut:]]
        won = sum((a < b) + (a == b) / 2 for a, b in pairs)
        assert separability(sigma, np.arange(60) >= cut) == pytest.approx(won / len(pairs))


@given(st.lists(st.integers(0, 5), min_size=4, max_size=12), st.integers(0, 99))
@settings(deadline=None)
def test_no_score_of_the_property_passes_its_separability(sigma: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.array(sigma, float)
    ood = np.zeros(len(values), bool)
    ood[np.lexsort((rng.random(len(values)), values))[len(values) // 2 :]] = True
    score = rng.random(6)[np.array(sigma)]
    assert auroc(score, ood) <= separability(values, ood) + 1e-12


# Laws.


@pytest.mark.parametrize("positive", ["ood", "id"])
def test_best_worst_and_chance(positive: str, rng: np.random.Generator) -> None:
    ood = np.arange(4000) < 1000
    share = 0.25 if positive == "ood" else 0.75
    for score, expected in ((ood * 1.0, (1, 1, 0)), (-1.0 * ood, (0, share, 1))):
        values = [metric(score, ood, positive=positive) for metric in METRICS]
        assert values == pytest.approx(expected)
    noise = rng.random(4000)
    values = [metric(noise, ood, positive=positive) for metric in METRICS]
    assert values == pytest.approx([0.5, share, 0.95], abs=0.04)


@pytest.mark.parametrize("metric", METRICS)
@given(table=rows, seed=st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_only_the_order_of_scores_counts(metric: Score, table: Rows, seed: int) -> None:
    score, ood, _ = unpack(table)
    turn = np.random.default_rng(seed).permutation(len(score))
    value = metric(score, ood)
    assert metric(score[turn], ood[turn]) == value
    assert metric(np.exp(score), ood.astype(int)) == value
    assert metric(np.where(score == score.max(), np.inf, score), ood.tolist()) == value


@pytest.mark.parametrize("positive", ["ood", "id"])
@given(table=rows)
@settings(max_examples=30, deadline=None)
def test_swapping_sides_turns_the_score(positive: str, table: Rows) -> None:
    score, ood, _ = unpack(table)
    other = {"ood": "id", "id": "ood"}[positive]
    for metric in METRICS:
        turned = metric(-score, ~ood, positive=other)
        assert metric(score, ood, positive=positive) == pytest.approx(turned, abs=1e-14)
    assert auroc(score, ood, positive=positive) == pytest.approx(auroc(score, ood), abs=1e-14)


@pytest.mark.parametrize("metric", METRICS)
@given(table=rows)
@settings(max_examples=30, deadline=None)
def test_whole_weights_are_copies(metric: Score, table: Rows) -> None:
    score, ood, weights = unpack(table)
    times = weights.astype(int)
    copies = metric(np.repeat(score, times), np.repeat(ood, times))
    assert metric(score, ood, weights=weights) == pytest.approx(copies, abs=1e-13)
    assert metric(score, ood, weights=weights / 7) == pytest.approx(copies, abs=1e-13)


@pytest.mark.parametrize("metric", METRICS)
def test_one_side_or_none_gives_nan(metric: Score) -> None:
    assert np.isnan(metric(np.empty(0), np.empty(0, bool)))
    assert np.isnan(metric([0.1, 0.2], [True, True]))
    assert np.isnan(metric([0.1, 0.2], [False, False]))
    assert np.isnan(metric([0.1, 0.2], [False, True], weights=[1, 0]))
    assert np.isnan(metric([0.1, 0.2], [False, True], weights=[0, 0]))


@pytest.mark.parametrize("metric", METRICS)
def test_bad_input_is_named(metric: Score) -> None:
    with pytest.raises(InputError, match=r"^positive: 'in' is neither 'ood' nor 'id'$"):
        metric([0.1, 0.2], [0, 1], positive="in")
    with pytest.raises(InputError, match=r"^score: NaN has no place in an order \(row 1\)$"):
        metric([0.1, np.nan], [0, 1])


@pytest.mark.parametrize("tpr", [0.0, 1.1, float("nan")])
def test_bad_tpr_is_named(tpr: float) -> None:
    with pytest.raises(InputError, match=r"^tpr: "):
        fpr_at_tpr([0.1, 0.2], [0, 1], tpr=tpr)


def test_cards_show_their_orientation() -> None:
    labels = ["auroc(positive=ood)", "aupr(positive=ood)", "fpr_at_tpr(tpr=0.95,positive=ood)"]
    assert [card.label for card in CARDS] == [*labels, "separability"]
    assert CARDS[1].bind(positive="id").label == "aupr(positive=id)"
