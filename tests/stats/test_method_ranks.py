from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from graphgauge.errors import InputError
from graphgauge.stats import competition_ranks, critical_difference, mean_ranks, win_tie_loss

# Demšar (JMLR 2006), Table 6: AUC of C4.5 with four settings on fourteen data sets. The paper ranks
# the two 0.975 of the last but one 2 and 3, so they differ beyond the decimals printed.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.975, 0.9749],
        [0.957, 0.978, 0.946, 0.970],
    ]
)

few_scores = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(2, 5)),
    elements=st.integers(0, 4).map(float),
)


def loop_counts(means, sds, i, j, sign):
    win = tie = loss = 0
    for mean, sd in zip(means, sds, strict=True):
        gap = sign * (mean[i] - mean[j])
        room = sum(0.0 if np.isnan(s) else s for s in (sd[i], sd[j]))
        if gap > room:
            win += 1
        elif -gap > room:
            loss += 1
        else:
            tie += 1
    return win, tie, loss


@pytest.mark.parametrize(("direction", "sign"), [("higher", 1), ("lower", -1)])
def test_counts_equal_a_loop(rng, direction, sign):
    means = rng.normal(size=(30, 4))
    sds = np.where(rng.random((30, 4)) < 0.2, np.nan, rng.random((30, 4)))
    found = win_tie_loss(means, sds, direction=direction)
    for i in range(4):
        for j in range(4):
            ours = found.win[i, j], found.tie[i, j], found.loss[i, j]
            assert ours == loop_counts(means, sds, i, j, sign)


def test_a_gap_equal_to_the_sum_is_a_tie_in_spite_of_doubles():
    # 85.8 - 84.7 is 1.0999999999999943 and 84.7 - 83.6 is 1.1000000000000085 in doubles.
    means = np.array([[85.8, 84.7], [84.7, 83.6]])
    found = win_tie_loss(means, np.full((2, 2), 0.55), direction="higher")
    assert found.tie[0, 1] == 2


def test_a_missing_score_counts_for_neither():
    means = np.array([[1.0, np.nan], [2.0, 1.0]])
    found = win_tie_loss(means, np.zeros((2, 2)), direction="higher")
    assert (found.win[0, 1], found.tie[0, 1], found.loss[0, 1]) == (1, 0, 0)


@given(few_scores)
def test_ranks_count_strictly_better_ones(scores):
    ranks = competition_ranks(scores, direction="higher")
    shared = mean_ranks(scores, direction="higher", ties="mean")
    for row, ranked in zip(scores, ranks, strict=True):
        for value, rank in zip(row, ranked, strict=True):
            assert rank == 1 + sum(other > value for other in row)
    assert shared.sum() == pytest.approx(scores.shape[1] * (scores.shape[1] + 1) / 2)
    assert np.array_equal(ranks, competition_ranks(-scores, direction="lower"))
    assert np.allclose(mean_ranks(scores, direction="higher"), np.mean(ranks, axis=0))


def test_a_method_that_is_missing_somewhere_has_no_mean_rank():
    scores = np.array([[0.9, np.nan, 0.8], [0.1, 0.2, 0.3]])
    ranks = competition_ranks(scores, direction="higher")
    assert np.array_equal(ranks, [[1, np.nan, 2], [3, 2, 1]], equal_nan=True)
    assert np.array_equal(mean_ranks(scores, direction="higher"), [2, np.nan, 1.5], equal_nan=True)


def test_no_data_sets_give_no_mean_rank():
    assert np.isnan(mean_ranks(np.zeros((0, 3)), direction="higher")).all()


def test_demsars_example():
    found = critical_difference(DEMSAR, direction="higher")
    assert np.round(found.mean_ranks, 3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert round(found.distance, 2) == 1.25
    assert round(critical_difference(DEMSAR, direction="higher", level=0.1).distance, 2) == 1.12
    # The paper's 9.28 is without the correction for ties, which the p-value has.
    n, m = DEMSAR.shape
    uncorrected = 12 * n / (m * (m + 1)) * (np.sum(found.mean_ranks**2) - m * (m + 1) ** 2 / 4)
    assert round(uncorrected, 2) == 9.28
    assert found.p == pytest.approx(stats.friedmanchisquare(*DEMSAR.T).pvalue)
    # At 0.05 the best and the worst are 1.18 apart: one clique, though Friedman's test rejects.
    assert found.cliques == ((3, 1, 2, 0),)
    assert critical_difference(DEMSAR, direction="higher", level=0.1).cliques == (
        (3, 1, 2),
        (2, 0),
    )


@pytest.mark.parametrize("n_values", [3, 1000])
def test_friedman_equals_scipy_with_and_without_ties(rng, n_values):
    scores = rng.integers(n_values, size=(20, 5)).astype(float)
    found = critical_difference(scores, direction="lower")
    assert found.p == pytest.approx(stats.friedmanchisquare(*scores.T).pvalue)
    ranks = stats.rankdata(scores, axis=1).mean(axis=0)
    assert found.mean_ranks == pytest.approx(ranks)


@pytest.mark.parametrize(("m", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_distance_uses_nemenyis_table(m, q):
    # Demšar's Table 5(a) at 0.05.
    found = critical_difference(np.zeros((10, m)), direction="higher")
    assert found.distance == pytest.approx(q * np.sqrt(m * (m + 1) / 60), rel=5e-4)
    assert found.p == 1
    assert found.cliques == (tuple(range(m)),)


@given(few_scores)
def test_cliques_are_the_largest_groups_within_the_distance(scores):
    found = critical_difference(scores, direction="higher")
    ranks, m = found.mean_ranks, scores.shape[1]
    together = {
        frozenset(j for j in range(m) if low <= ranks[j] <= low + found.distance) for low in ranks
    }
    largest = {g for g in together if len(g) > 1 and not any(g < other for other in together)}
    assert {frozenset(clique) for clique in found.cliques} == largest


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda s: competition_ranks(s, direction="neither"), "neither higher nor lower"),
        (lambda s: win_tie_loss(s, s[:, :1], direction="higher"), "shapes differ"),
        (lambda s: critical_difference(s[:, :1], direction="higher"), "needs at least"),
        (lambda s: critical_difference(s, direction="higher", level=0), "level"),
        (lambda s: critical_difference(s * np.nan, direction="higher"), "not finite"),
    ],
)
def test_refusals(call, match):
    with pytest.raises(InputError, match=match):
        call(np.ones((3, 2)))
