"""The search for hyper-parameters: what is tried, what is chosen, and what it looks at."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from planted_graphs import MADE, SMALL

from graphgauge.errors import InputError
from graphgauge.methods.search import Found, grid, search
from graphgauge.parts import Split

GRAPH, SPLIT = MADE.graph, MADE.split
RANGES = {"weight": [0.01, 1.0], "rate": [1e-5, 1e-2]}


def find(graph=GRAPH, split=SPLIT, **changed) -> Found:
    given = {"ranges": RANGES, "seed": 4, "shift": "popularity", **SMALL, **changed}
    return search("shifts/coral", graph, split, **given)


@pytest.mark.parametrize("by", ["loss", "accuracy"])
def test_best_of_all_is_chosen(by):
    found = find(by=by)
    assert [dict(one.hyper) for one in found.tried] == grid(RANGES)
    best = {
        "loss": min(one.loss for one in found.tried),
        "accuracy": max(one.accuracy for one in found.tried),
    }
    assert getattr(found.chosen, by) == best[by]
    assert found.chosen.hyper["rate"] == 1e-2
    predictions = found.predictor.predict(GRAPH)
    nodes = SPLIT["valid_in"]
    right = predictions.probs[nodes].argmax(axis=1) == GRAPH.labels[nodes]
    assert right.mean() == found.chosen.accuracy
    likelihood = predictions.probs[nodes, GRAPH.labels[nodes]]
    assert np.isclose(-np.log(likelihood).mean(), found.chosen.loss)


def test_search_is_repeatable_and_blind_to_test_labels():
    hidden = np.concatenate([SPLIT[part] for part in ("test_in", "valid_out", "test_out")])
    labels = GRAPH.labels.copy()
    labels[hidden] = (labels[hidden] + 1) % 3
    ours, again, blind = find(), find(), find(dataclasses.replace(GRAPH, labels=labels))
    assert ours.tried == again.tried == blind.tried
    assert ours.chosen == blind.chosen
    assert np.array_equal(ours.predictor.predict(GRAPH).probs, blind.predictor.predict(GRAPH).probs)


def test_equal_trials_yield_the_first():
    found = find(ranges={"select": ["loss", "loss"]})
    assert found.chosen is found.tried[0]


def test_a_plain_split_will_do():
    split = Split({"train": SPLIT["train"], "valid": SPLIT["valid_in"]}, GRAPH.n_nodes)
    assert find(split=split).tried == find().tried


def test_what_cannot_be_searched_is_told():
    with pytest.raises(InputError, match=r"share needs a list of values to try, got 0\.5"):
        find(ranges={"share": 0.5})
    with pytest.raises(InputError, match="select needs a list"):
        find(ranges={"select": "loss"})
    with pytest.raises(InputError, match="rate needs a list"):
        find(ranges={"rate": []})
    with pytest.raises(InputError, match="shift cannot be fixed and searched"):
        find(ranges={"shift": ["density"]})
    with pytest.raises(InputError, match="no hyper-parameter 'wait'; did you mean weight"):
        find(ranges={"wait": [1]})
    with pytest.raises(InputError, match="by: 'auroc' is neither"):
        find(by="auroc")
