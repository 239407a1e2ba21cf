"""Random splits: shares, k-shot, folds."""

from __future__ import annotations

import numpy as np
import pytest

from graphgauge.datasets import planted
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.splits import fold_splits, k_shot_split, random_split


@pytest.fixture(scope="module")
def graph() -> Graph:
    made = planted(700, 4, seed=3).graph
    labels = made.labels.copy()
    labels[::9] = -1
    return Graph(made.adjacency, made.features, labels)


def test_shares_hold_among_labelled_nodes(graph):
    n = int((graph.labels >= 0).sum())
    split = random_split(graph)
    sizes = [len(part) for part in split.parts.values()]
    assert sum(sizes) == n
    assert all(abs(s - n * p / 100) < 1 for s, p in zip(sizes, (62.5, 12.5, 25), strict=True))
    assert all((graph.labels[part] >= 0).all() for part in split.parts.values())
    by_paper = random_split(graph, rounding="miscalibrated")
    assert len(by_paper["train"]) == -(-5 * n // 8)


def test_without_labels_all_nodes_are_split(graph):
    bare = Graph(graph.adjacency)
    split = random_split(bare, {"train": 50, "test": 50})
    assert sorted(np.concatenate([*split.parts.values()])) == list(range(700))
    with pytest.raises(InputError, match="no labels"):
        random_split(bare, stratified=True)


def test_shares_hold_in_every_class_when_stratified(graph):
    split = random_split(graph, {"train": 60, "valid": 20, "test": 20}, stratified=True)
    counts = np.bincount(graph.labels[graph.labels >= 0])
    for name, share in (("train", 0.6), ("valid", 0.2), ("test", 0.2)):
        assert (np.abs(np.bincount(graph.labels[split[name]]) - share * counts) < 1).all()


def test_a_draw_is_fair(graph):
    """Every node trains about as often as its share says, whatever its colour and row."""
    shares = {"train": 30, "test": 70}
    times = np.zeros(graph.n_nodes)
    for seed in range(200):
        times[random_split(graph, shares, seed=seed)["train"]] += 1
    known = times[graph.labels >= 0]
    # 622 binomial counts of 200 draws: mean 60, standard deviation 6.5.
    assert abs(known.mean() - 60) < 0.5
    assert 5.8 < known.std() < 7.2
    assert known.min() > 60 - 5 * 6.5
    assert known.max() < 60 + 5 * 6.5


def test_shares_below_all_leave_nodes_over(graph):
    split = random_split(graph, {"train": 10, "test": 20})
    assert sum(map(len, split.parts.values())) < 0.31 * graph.n_nodes


def test_k_shot_takes_k_of_every_class(graph):
    split = k_shot_split(graph, 20, n_valid=100, n_test=150)
    assert np.bincount(graph.labels[split["train"]]).tolist() == [20] * 4
    assert (len(split["valid"]), len(split["test"])) == (100, 150)
    rest = k_shot_split(graph, 20, n_valid=100, n_test=None)
    assert sum(map(len, rest.parts.values())) == (graph.labels >= 0).sum()
    np.testing.assert_array_equal(rest["train"], split["train"])


def test_folds_validate_each_observed_node_once(graph):
    known = np.flatnonzero(graph.labels >= 0)
    counts = np.bincount(graph.labels[known])
    splits = fold_splits(graph, seed=2)
    assert len(splits) == 3
    observed = np.sort(np.concatenate([split["valid"] for split in splits]))
    np.testing.assert_array_equal(np.bincount(graph.labels[observed]), counts * 15 // 100)
    for split in splits:
        both = np.sort(np.concatenate([split["train"], split["valid"]]))
        np.testing.assert_array_equal(both, observed)
        np.testing.assert_array_equal(split["test"], np.setdiff1d(known, observed))
        share = np.bincount(graph.labels[split["valid"]]) - counts * 15 // 100 / 3
        assert (np.abs(share) < 1).all()


def test_published_folds_leave_nodes_out(graph):
    counts = np.bincount(graph.labels[graph.labels >= 0])
    rest = counts - counts * 15 // 100
    split = fold_splits(graph, protocol="published")[0]
    np.testing.assert_array_equal(np.bincount(graph.labels[split["test"]]), rest * 85 // 100)
    whole = fold_splits(graph)[0]
    np.testing.assert_array_equal(whole["valid"], split["valid"])
    assert np.isin(split["test"], whole["test"]).all()


def test_the_floor_of_a_share_is_the_one_of_floating_point():
    """The published code writes ``int(0.15 * n)`` and ``int(0.85 * n)``."""
    for n in range(20_000):
        assert (int(0.15 * n), int(0.85 * n)) == (n * 15 // 100, n * 85 // 100)


@pytest.mark.parametrize(
    ("split", "told"),
    [
        (lambda g: random_split(g, {"train": 50, "test": 60}), "sum to 110"),
        (lambda g: random_split(g, {"train": 0, "test": 100}), "part train would be empty"),
        (lambda g: random_split(g, rounding="up"), "unknown rounding 'up'"),
        (lambda g: random_split(Graph.from_edges([], 1)), "part valid would be empty"),
        (lambda g: random_split(Graph.from_edges([], 0)), "part train would be empty"),
        (lambda g: random_split(Graph(g.adjacency, None, g.labels * 0 - 1)), "part train would"),
        (lambda g: k_shot_split(g, 0), "k: 0 nodes"),
        (lambda g: k_shot_split(g, 500), "fewer than 500 nodes of class 0, 1, 2, 3"),
        (lambda g: k_shot_split(g, 20), "542 labelled nodes are left for valid and test, 500 and"),
        (lambda g: k_shot_split(Graph(g.adjacency)), "no labels"),
        (lambda g: fold_splits(g, protocol="other"), "neither 'corrected' nor 'published'"),
        (lambda g: fold_splits(g, n_folds=1), "n_folds: 1 is too few"),
        (lambda g: fold_splits(g, observed=0.1), "part train would be empty"),
        (lambda g: fold_splits(Graph(g.adjacency, None, g.labels * 0 - 1)), "no node has one"),
    ],
)
def test_what_cannot_be_split_is_refused(graph, split, told):
    with pytest.raises(InputError, match=told):
        split(graph)
