"""Comparison of files: the same items only, and verdicts that follow the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphgauge.datasets.demo import demo_predictions
from graphgauge.errors import InputError
from graphgauge.metrics import METRICS, Outcomes
from graphgauge.predictions import LinkPredictions, NodePredictions
from graphgauge.scoring.comparison import compare_predictions


@pytest.fixture(scope="module")
def models():
    return demo_predictions(seed=0)


def test_demo_models_are_told_apart(models):
    rows = {(r.metric, r.found.first, r.found.second): r.found for r in compare_predictions(models)}
    assert len(rows) == 4 * 3
    assert rows["accuracy", "calibrated", "over-confident"].verdict == "tied"
    for metric in ("nll", "brier", "ece(bins=15)"):
        assert rows[metric, "calibrated", "over-confident"].verdict == "better"
        assert rows[metric, "over-confident", "shifted"].verdict == "better"
    index = np.sort(np.concatenate([models["shifted"].parts[p] for p in ("test_in", "test_out")]))
    values = {}
    for name, one in models.items():
        values[name] = METRICS["nll"](Outcomes.of_nodes(one.probs[index], one.labels[index]))
    found = rows["nll", "calibrated", "shifted"]
    assert found.difference == pytest.approx(values["calibrated"] - values["shifted"])
    assert found.low < found.difference < found.high
    assert found.n == len(index)


def test_a_floor_under_probabilities_is_named(models):
    sure = models["calibrated"]
    probs = sure.probs.copy()
    wrong = sure.parts["test_in"][0]
    probs[wrong] = np.eye(sure.n_classes)[(sure.labels[wrong] + 1) % sure.n_classes]
    files = {"sure": sure, "wrong": replace(sure, probs=probs)}
    found = {row.metric: row.found for row in compare_predictions(files, part="test_in")}
    assert list(found)[:2] == ["accuracy", "nll(floor=2.2e-308)"]
    assert found["nll(floor=2.2e-308)"].difference < -2
    assert "nll" in [row.metric for row in compare_predictions(files, part="test_out")]


def test_communities_can_be_swapped_as_wholes(models):
    rows = compare_predictions(models, part="test_in", by_block=True)
    assert all(row.part == "test_in" for row in rows)
    assert rows[0].found.n < 300
    bare = {name: replace(one, edges=None) for name, one in models.items()}
    with pytest.raises(InputError, match="needs edges"):
        compare_predictions(bare, by_block=True)


def test_links_are_compared_by_rank(rng):
    neg = rng.normal(0, 1, (400, 30))
    pairs = rng.integers(0, 60, (400, 2))
    good = LinkPredictions(rng.normal(2, 1, 400), neg, pos_edges=pairs)
    poor = LinkPredictions(rng.normal(1, 1, 400), neg, pos_edges=pairs)
    for by_block in (False, True):
        rows = compare_predictions({"good": good, "poor": poor}, by_block=by_block)
        assert {row.metric for row in rows} == {"mrr(ties=mean)", "hits(k=10,ties=mean)"}
        assert all(row.found.verdict == "better" for row in rows)
    with pytest.raises(InputError, match="needs pos_edges"):
        compare_predictions(
            {"a": replace(good, pos_edges=None), "b": replace(poor, pos_edges=None)}, by_block=True
        )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"labels": [0, 1, 1]}, r"1 labels differ \(first at row 1\)"),
        ({"parts": {"test": [0]}}, "parts or edges differ"),
        ({"probs": np.full((2, 2), 0.5), "labels": [0, 0]}, "3 and 2 nodes"),
    ],
)
def test_other_items_are_not_compared(change, told):
    one = NodePredictions(np.full((3, 2), 0.5), [0, 0, 1])
    with pytest.raises(InputError, match=told):
        compare_predictions({"a": one, "b": replace(one, **change)})


def test_questions_without_an_answer_are_refused():
    nodes = NodePredictions(np.full((3, 2), 0.5), [0, 0, 1])
    links = LinkPredictions([0.5], [0.1])
    with pytest.raises(InputError, match="at least two"):
        compare_predictions({"a": nodes})
    with pytest.raises(InputError, match="one is of nodes, the other of links"):
        compare_predictions({"a": nodes, "b": links})
    with pytest.raises(InputError, match="numbers of links, pairs or parts differ"):
        compare_predictions({"a": links, "b": LinkPredictions([0.5, 0.6], [0.1])})
    with pytest.raises(InputError, match="no part 'x'"):
        compare_predictions({"a": nodes, "b": nodes}, part="x")
