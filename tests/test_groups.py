"""Groups of nodes against networkx and plain counting."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.groups import GROUPINGS, Grouping, grouping
from graphgauge.predictions import NodePredictions

SEEDS = st.integers(0, 2**32 - 1)


def _random(seed: int) -> NodePredictions:
    """Loops, repetitions and both directions among the edges; some labels unknown."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(1, 50)), 3
    probs = rng.dirichlet(np.ones(n_classes), n)
    edges = rng.integers(0, n, (rng.integers(0, 2 * n), 2))
    order = rng.permutation(n)
    parts = {"train_a": order[:1], "test": order[1:]} if n > 1 else {"train": order}
    return NodePredictions(probs, rng.integers(-1, n_classes, n), parts, edges)


def _network(predictions: NodePredictions) -> nx.Graph:
    network = nx.Graph()
    network.add_nodes_from(range(predictions.n_nodes))
    network.add_edges_from((u, v) for u, v in predictions.edges.tolist() if u != v)
    return network


def _named(groups: Grouping) -> list[str | None]:
    return [groups.names[code] if code >= 0 else None for code in groups.codes]


def _in_range(name: str, value: int) -> bool:
    if name.endswith("+"):
        return value >= int(name[:-1])
    first, _, last = name.partition("-")
    return int(first) <= value <= int(last or first)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_degree_groups_are_named_for_the_degrees_they_hold(seed: int) -> None:
    predictions = _random(seed)
    groups = grouping(predictions, "degree")
    degrees = dict(_network(predictions).degree)
    for node, name in enumerate(_named(groups)):
        assert [label for label in groups.names if _in_range(label, degrees[node])] == [name]
    assert (groups.sizes > 0).all()
    assert ("0" in groups.names) == (0 in degrees.values())


def test_degree_groups_hold_about_a_fifth_each(rng: np.random.Generator) -> None:
    edges = rng.integers(0, 2000, (40_000, 2))
    groups = grouping(NodePredictions(np.ones((2000, 1)), np.zeros(2000), edges=edges), "degree")
    assert len(groups.names) == 5
    assert groups.sizes.min() > 300
    assert groups.sizes.max() < 500


def test_nodes_alone_are_not_put_with_the_least_linked() -> None:
    """A triangle and a node alone: nobody has degree one, and still zero stands by itself."""
    predictions = NodePredictions(np.ones((4, 1)), np.zeros(4), edges=[[0, 1], [1, 2], [2, 0]])
    groups = grouping(predictions, "degree")
    assert groups.names == ("0", "1+")
    assert groups.codes.tolist() == [1, 1, 1, 0]


def test_degree_names_are_readable() -> None:
    """A star of five, a triangle, and a node alone."""
    edges = [[0, k] for k in range(1, 6)] + [[6, 7], [7, 8], [8, 6]]
    groups = grouping(NodePredictions(np.ones((10, 1)), np.zeros(10), edges=edges), "degree")
    assert groups.names == ("0", "1", "2+")
    assert _named(groups) == ["2+"] + ["1"] * 5 + ["2+"] * 3 + ["0"]
    alone = NodePredictions(np.ones((2, 1)), np.zeros(2), edges=[])
    assert grouping(alone, "degree").names == ("0",)
    assert grouping(alone, "degree").codes.tolist() == [0, 0]


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_homophily_is_the_share_of_labelled_neighbours_alike(seed: int) -> None:
    predictions = _random(seed)
    network, labels = _network(predictions), predictions.labels.tolist()
    groups = grouping(predictions, "homophily")
    for node, name in enumerate(_named(groups)):
        around = [labels[v] for v in network[node] if labels[v] >= 0]
        if labels[node] < 0:
            assert name is None
        elif not around:
            assert name == "no labelled neighbour"
        else:
            share = 100 * around.count(labels[node]) / len(around)
            low, high = (100 * float(end) for end in name.split("-"))
            assert low - 1e-9 <= share < high or share == high == 100


def test_homophily_at_the_edge_of_a_bin_belongs_above() -> None:
    """Node 0 has five neighbours, of which k share its label: shares 0, 0.2, ..., 1."""
    names = []
    for alike in range(6):
        labels = [0] + [0] * alike + [1] * (5 - alike)
        edges = [[0, k] for k in range(1, 6)]
        groups = grouping(NodePredictions(np.ones((6, 2)) / 2, labels, edges=edges), "homophily")
        names.append(groups.names[groups.codes[0]])
    assert names == ["0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1", "0.8-1"]


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_distance_is_that_of_the_shortest_path(seed: int) -> None:
    predictions = _random(seed)
    train = next(iter(predictions.parts.values()))
    hops = nx.multi_source_dijkstra_path_length(_network(predictions), set(train.tolist()))
    words = {0: None, 1: "1", 2: "2"}
    expected = [
        words.get(hops[node], "3+") if node in hops else "unreachable"
        for node in range(predictions.n_nodes)
    ]
    groups = grouping(predictions, "distance")
    assert _named(groups) == expected
    assert groups.names == ("1", "2", "3+", "unreachable")


def test_distance_counts_from_every_training_part() -> None:
    path = [[k, k + 1] for k in range(7)]
    parts = {"train": [0], "train_more": [7], "test": [3]}
    predictions = NodePredictions(np.ones((8, 1)), np.zeros(8), parts, path)
    assert grouping(predictions, "distance").codes.tolist() == [-1, 0, 1, 2, 2, 1, 0, -1]


def test_class_groups_are_the_labels() -> None:
    groups = grouping(NodePredictions(np.eye(3), [2, -1, 0]), "class")
    assert groups.names == ("0", "1", "2")
    assert groups.codes.tolist() == [2, -1, 0]
    assert groups.sizes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("by", GROUPINGS)
@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_renumbering_nodes_renumbers_codes(by: str, seed: int) -> None:
    old = _random(seed)
    order = np.random.default_rng(seed).permutation(old.n_nodes)
    place = np.argsort(order)
    parts = {name: place[index] for name, index in old.parts.items()}
    new = NodePredictions(old.probs[order], old.labels[order], parts, place[old.edges][::-1])
    before, after = grouping(old, by), grouping(new, by)
    assert before.names == after.names
    np.testing.assert_array_equal(before.codes[order], after.codes)


@pytest.mark.parametrize("by", GROUPINGS)
def test_edges_may_come_from_the_graph(by: str) -> None:
    predictions = _random(11)
    bare = NodePredictions(predictions.probs, predictions.labels, predictions.parts)
    graph = Graph.from_edges(predictions.edges, predictions.n_nodes)
    expected, found = grouping(predictions, by), grouping(bare, by, graph=graph)
    assert expected.names == found.names
    np.testing.assert_array_equal(expected.codes, found.codes)


def test_what_is_missing_is_said() -> None:
    bare = NodePredictions([[1.0]], [0])
    with pytest.raises(InputError, match=r"unknown grouping 'size' \(expected one of: degree, "):
        grouping(bare, "size")
    for by in ("degree", "homophily", "distance"):
        with pytest.raises(InputError, match=f"grouping by {by} needs edges"):
            grouping(bare, by)
    with pytest.raises(InputError, match="needs a part whose name starts with train"):
        grouping(NodePredictions([[1.0]], [0], {"test": [0]}, []), "distance")
    with pytest.raises(InputError, match="the graph has 2 nodes, the predictions have 1"):
        grouping(bare, "degree", graph=Graph.from_edges([[0, 1]], 2))


def test_every_grouping_is_described_in_one_line() -> None:
    assert list(GROUPINGS) == ["degree", "class", "homophily", "distance"]
    for rule in GROUPINGS.values():
        assert rule.description
        assert "\n" not in rule.description


def test_sizes_count_nodes() -> None:
    groups = grouping(_random(4), "homophily")
    counted = Counter(code for code in groups.codes.tolist() if code >= 0)
    assert groups.sizes.tolist() == [counted[code] for code in range(len(groups.names))]
