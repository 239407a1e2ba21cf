"""Sets of classes: coverage on exchangeable draws, loops over nodes, laws, and warnings."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from forecasts import sharpened
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from graphgauge.calibration import Conformal
from graphgauge.calibration.conformal import SCORES
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.predictions import NodePredictions

RULES = {
    "plain": {},
    "adaptive": {"score": "adaptive"},
    "drawn": {"score": "adaptive", "seed": 1},
    "diffused": {"score": "adaptive", "diffusion": 0.5},
    "diffused plain": {"diffusion": 0.3},
}
every_rule = pytest.mark.parametrize("rule", RULES)


@pytest.fixture
def small(rng):
    n = 60
    probs = rng.dirichlet(np.ones(4), n)
    labels = rng.integers(0, 4, n)
    labels[:3] = -1
    edges = rng.integers(0, n - 5, (90, 2))  # the last nodes have no neighbour
    parts = {"valid": np.arange(25), "test": np.arange(25, 60)}
    return NodePredictions(probs, labels, parts, edges)


def scores_of_a_loop(predictions, *, score, diffusion=0.0, seed=None):
    n, k = predictions.probs.shape
    u = np.ones(n) if seed is None else np.random.default_rng(seed).random(n)
    plain = np.zeros((n, k))
    for i, row in enumerate(predictions.probs):
        for c, p in enumerate(row):
            more = sum(q for d, q in enumerate(row) if q > p or (q == p and d < c))
            plain[i, c] = 1 - p if score == "plain" else more + u[i] * p
    neighbours = [set() for _ in range(n)]
    for a, b in [] if predictions.edges is None else predictions.edges:
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    mixed = plain.copy()
    for i, near in enumerate(neighbours):
        if near and diffusion:
            mixed[i] = (1 - diffusion) * plain[i] + diffusion * np.mean([plain[j] for j in near], 0)
    return mixed


@every_rule
def test_scores_and_sets_of_a_loop(small, rule):
    hyper = {"score": "plain", **RULES[rule]}
    made = Conformal(level=0.8, **hyper)
    expected = scores_of_a_loop(small, **hyper)
    assert np.allclose(made.scores(small), expected, atol=1e-12)
    fitted = made.fit(small, "valid")
    of_truth = sorted(expected[i, small.labels[i]] for i in range(3, 25))
    assert fitted.n == 22
    assert fitted.threshold == pytest.approx(of_truth[math.ceil(23 * 0.8) - 1])
    sets = fitted(small)
    assert np.array_equal(sets.members, made.scores(small) <= fitted.threshold)


def test_tied_probabilities_are_taken_in_the_order_of_classes():
    tied = NodePredictions([[0.4, 0.4, 0.2]], [0])
    assert np.allclose(Conformal(score="adaptive").scores(tied), [[0.4, 0.8, 1.0]])


@every_rule
@pytest.mark.parametrize("level", [0.7, 0.9])
def test_coverage_on_exchangeable_draws(rule, level):
    # One graph, many random halves: the mean over them is at least the level, and near it where
    # scores are not tied. Predictions are far from calibrated, which must not matter.
    given_ = sharpened(3.0, n=800)
    n, rng = given_.n_nodes, np.random.default_rng(11)
    made, held = Conformal(level=level, **RULES[rule]), []
    scores = made.scores(given_)[np.arange(n), given_.labels]
    for _ in range(300):
        order = rng.permutation(n)
        fitted_on, others = np.sort(scores[order[:99]]), scores[order[99:]]
        held.append((others <= fitted_on[math.ceil(100 * level) - 1]).mean())
    spread = beta(100 * level, 100 - 100 * level).std()
    assert level - 4 * spread / np.sqrt(300) <= np.mean(held)
    assert np.mean(held) <= level + 4 * spread / np.sqrt(300) + 0.01
    parts = {"valid": order[:99], "test": order[99:]}
    moved = dataclasses.replace(given_, parts=parts)
    (row,) = made.fit(moved, "valid")(moved).rows()
    assert row.coverage == pytest.approx(held[-1])
    assert row.low <= level <= row.high


def test_expected_coverage_of_a_simulation():
    rule, rng = Conformal(level=0.9), np.random.default_rng(2)
    shares = []
    for _ in range(4000):
        scores = np.sort(rng.random(50))
        shares.append((rng.random(200) <= scores[45]).mean())
    low, high = rule.expected(50, 200)
    assert (np.array(shares) < low).mean() <= 0.065
    assert (np.array(shares) > high).mean() <= 0.065
    assert ((np.array(shares) >= low) & (np.array(shares) <= high)).mean() >= 0.88
    assert rule.expected(5, 200) == (1.0, 1.0)


@given(
    st.integers(1, 40),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)),
    st.sampled_from([*RULES]),
)
@settings(max_examples=80, deadline=None)
def test_sets_are_nested_in_the_level(n, k, seed, levels, rule):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 5, (2 * n, k)) + np.eye(k, dtype=int)[rng.integers(0, k, 2 * n)]
    probs = counts / counts.sum(axis=1, keepdims=True)
    parts = {"valid": np.arange(n), "test": np.arange(n, 2 * n)}
    labels, edges = rng.integers(0, k, 2 * n), rng.integers(0, 2 * n, (n, 2))
    predictions = NodePredictions(probs, labels, parts, edges)
    low, high = sorted(levels)
    small, large = (
        Conformal(level=level, **RULES[rule]).fit(predictions, "valid")(predictions)
        for level in (low, high)
    )
    assert (large.members | ~small.members).all()
    # On the part itself, at least the level is covered, whatever the ties.
    assert large.covered[:n].mean() >= high - 1e-9


def test_one_class_and_a_part_too_small():
    alone = NodePredictions(np.ones((30, 1)), np.zeros(30, int), {"valid": np.arange(20)})
    sets = Conformal().fit(alone, "valid")(alone)
    assert sets.members.all()
    given_ = sharpened(2.0, n=400)
    few = dataclasses.replace(given_, parts={"valid": np.arange(8), "test": np.arange(8, 400)})
    fitted = Conformal(level=0.9).fit(few, "valid")
    assert math.isinf(fitted.threshold)
    sets = fitted(few)
    assert sets.members.all()
    assert "valid has too few labelled nodes (8) for the level 0.9" in sets.remarks()[0]
    nine = dataclasses.replace(given_, parts={"valid": np.arange(9), "test": np.arange(9, 400)})
    assert math.isfinite(Conformal(level=0.9).fit(nine, "valid").threshold)


def test_rows_of_parts_and_groups(small):
    sets = Conformal(level=0.8).fit(small, "valid")(small)
    rows = sets.rows(["class", "degree"])
    assert [row.part for row in rows] == ["test"] * len(rows)
    whole, *groups = rows
    test = small.parts["test"]
    assert whole.n == 35
    assert whole.coverage == sets.members[test, small.labels[test]].mean()
    assert whole.size == sets.members[test].sum() / 35
    assert whole.empty == (sets.sizes[test] == 0).mean()
    assert sets.sizes.tolist() == sets.members.sum(axis=1).tolist()
    for by in ("class", "degree"):
        of_kind = [row for row in groups if row.by == by]
        assert sum(row.n for row in of_kind) == 35
        assert sum(row.n * row.coverage for row in of_kind) == pytest.approx(35 * whole.coverage)
        assert sum(row.n * row.size for row in of_kind) == pytest.approx(35 * whole.size)
        assert all(row.low is None for row in of_kind)
    zero = next(row for row in groups if (row.by, row.group) == ("class", "0"))
    members = test[small.labels[test] == 0]
    assert (zero.n, zero.coverage) == (len(members), sets.covered[members].mean())


def test_groups_may_take_edges_from_a_graph(small):
    bare = dataclasses.replace(small, edges=None)
    sets = Conformal().fit(bare, "valid")(bare)
    graph = Graph.from_edges(small.edges, small.n_nodes)
    assert any(row.by == "degree" for row in sets.rows(["degree"], graph=graph))
    with pytest.raises(InputError, match="grouping by degree needs edges"):
        sets.rows(["degree"])
    with pytest.raises(InputError, match="unknown grouping"):
        sets.rows(["fame"])


def test_warnings_say_where_nothing_is_promised():
    given_ = sharpened(1.0, n=800)

    def remarks(part, **parts):
        judged = dataclasses.replace(given_, parts=parts) if parts else given_
        return " | ".join(Conformal().fit(judged, part)(judged).remarks())

    told = remarks("valid_in")
    for part in ("valid_out", "test_out"):
        assert f"{part} differs in distribution from valid_in: its nodes are not exchange" in told
    assert "train is what the model was trained on: coverage there says nothing" in told
    assert "test_in" not in told
    back = remarks("valid_out")
    assert "test_in differs in distribution from valid_out" in back
    assert "test_out" not in back
    assert "its scores are smaller than elsewhere" in remarks("train")
    halves = {"valid": np.arange(400), "test": np.arange(400, 800)}
    assert remarks("valid", **halves) == ""
    shifted = {"val_id": np.arange(400), "test_ood": np.arange(400, 800)}
    assert "test_ood differs in distribution from val_id" in remarks("val_id", **shifted)


@pytest.mark.parametrize(
    ("hyper", "told"),
    [
        ({"level": 0}, "level 0 is not between"),
        ({"level": 1.0}, "level 1.0 is not between"),
        ({"level": float("nan")}, "level nan is not between"),
        ({"score": "margin"}, "score 'margin' is not one of: plain, adaptive"),
        ({"diffusion": 1.5}, "diffusion 1.5 is not between 0 and 1"),
        ({"diffusion": -0.1}, "diffusion -0.1 is not between 0 and 1"),
        ({"seed": 0}, "the plain score draws nothing"),
    ],
)
def test_bad_rules_are_told(hyper, told):
    with pytest.raises(InputError, match=told):
        Conformal(**hyper)


def test_what_cannot_be_fitted_is_told(small):
    with pytest.raises(InputError, match="no part 'valid_in' to fit on"):
        Conformal().fit(small, "valid_in")
    blind = dataclasses.replace(small, labels=np.full(60, -1))
    with pytest.raises(InputError, match="no label is known"):
        Conformal().fit(blind, "valid")
    with pytest.raises(InputError, match="carry no edges"):
        Conformal(diffusion=0.5).fit(dataclasses.replace(small, edges=None), "valid")
    with pytest.raises(InputError, match="has 2 classes, sets were fitted to 4"):
        Conformal().fit(small, "valid")(NodePredictions(np.eye(2), [0, 1]))


def test_a_seed_makes_the_same_sets(small):
    rule = Conformal(score="adaptive", seed=5)
    first, second = (rule.fit(small, "valid")(small).members for _ in range(2))
    assert np.array_equal(first, second)
    other = Conformal(score="adaptive", seed=6).scores(small)
    assert not np.allclose(other, rule.scores(small))
    assert set(SCORES) == {"plain", "adaptive"}
