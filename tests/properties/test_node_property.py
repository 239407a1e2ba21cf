"""One number a node, by name, function or array; projected features and chance."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from any_graphs import graphs, path
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from graphgauge.checks import renumbered
from graphgauge.datasets.powerlaw import powerlaw
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.properties import (
    PROPERTIES,
    Property,
    chance,
    clustering,
    feature_distance,
    node_property,
    pagerank,
    personalised_pagerank,
    projection,
)


def _carrying(graph, features):
    return Graph(graph.adjacency, features)


@settings(deadline=None)
@given(graph=graphs(), shuffle=st.randoms(use_true_random=False))
def test_properties_move_with_the_nodes(graph, shuffle):
    n = graph.n_nodes
    order = np.array(shuffle.sample(range(n), n), np.int64)
    graph = _carrying(graph, np.arange(2.0 * n).reshape(n, 2) ** 2 % 7)
    moved = renumbered(graph, order)
    restart = shuffle.randrange(n) if n else None
    for name in PROPERTIES:
        node = {"restart": restart} if name == "personalised-pagerank" else {}
        there = {"restart": int(np.argsort(order)[restart])} if node and n else node
        before = node_property(graph, name, seed=5, **node)[order]
        after = node_property(moved, name, seed=5, **there)
        assert before.shape == after.shape == (n,)
        if name in ("degree", "clustering"):
            np.testing.assert_array_equal(after, before)
        elif name == "random":
            _same_within_colours(moved, after, before)
        else:
            np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-13 * ("fea" in name))


def _same_within_colours(graph, after, before):
    """Nodes that nothing but their numbers tells apart may swap what they have drawn."""
    colours = graph.colours.nodes
    for colour in set(colours.tolist()):
        here = colours == colour
        assert sorted(after[here].tolist()) == sorted(before[here].tolist())


@settings(deadline=None)
@given(graph=graphs(least=1), shuffle=st.randoms(use_true_random=False))
def test_the_default_restart_moves_with_the_nodes(graph, shuffle):
    best = np.flatnonzero(pagerank(graph) >= pagerank(graph).max() * (1 - 1e-11))
    least = graph.colours.nodes[best].min()
    if (graph.colours.nodes[best] == least).sum() > 1:
        return  # Nothing tells these apart, and each is as good a restart as the other.
    order = np.array(shuffle.sample(range(graph.n_nodes), graph.n_nodes))
    before = personalised_pagerank(graph)[order]
    np.testing.assert_allclose(personalised_pagerank(renumbered(graph, order)), before, rtol=1e-12)


def test_large_graphs_move_with_their_nodes(rng):
    graph = powerlaw(3000, 9000, seed=2)
    order = rng.permutation(3000)
    moved = renumbered(graph, order)
    np.testing.assert_allclose(pagerank(moved), pagerank(graph)[order], rtol=1e-12)
    after, before = personalised_pagerank(moved), personalised_pagerank(graph)[order]
    np.testing.assert_allclose(after, before, rtol=1e-12)
    np.testing.assert_array_equal(clustering(moved), clustering(graph)[order])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("entries", [2**22, 100])
def test_feature_distance_by_hand(rng, monkeypatch, make, dtype, entries):
    monkeypatch.setattr(projection, "_ENTRIES", entries)
    features = (rng.poisson(0.5, (70, 9)) * rng.normal(size=(70, 9))).astype(dtype)
    found = feature_distance(Graph.from_edges([], 70, features=make(features)), seed=3)
    directions = np.random.default_rng(3).standard_normal((9, 2))
    points = np.array(
        [sum(x * d for x, d in zip(row, directions, strict=True)) for row in features]
    )
    wanted = [np.linalg.norm(point - points.mean(axis=0)) for point in points]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@settings(deadline=None)
@given(
    features=st.integers(0, 4).flatmap(
        lambda d: st.lists(
            st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=1, max_size=9
        )
    ),
    seed=st.integers(0, 9),
)
def test_feature_distance_knows_no_origin_and_scales(features, seed):
    table = np.array(features, float).reshape(len(features), -1)

    def far(values):
        return feature_distance(Graph.from_edges([], values.shape[0], features=values), seed=seed)

    np.testing.assert_allclose(far(table), far(sp.csr_array(table)), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(far(3 * table + 5), 3 * far(table), rtol=1e-11, atol=1e-12)
    assert far(table).shape == (len(table),)
    if not table.size:
        assert not far(table).any()


def test_directions_follow_the_seed(rng):
    graph = Graph.from_edges([], 50, features=rng.normal(size=(50, 4)))
    first = node_property(graph, "feature-distance", seed=1)
    np.testing.assert_array_equal(first, feature_distance(graph, seed=1))
    assert not np.allclose(first, feature_distance(graph, seed=2))


def test_chance_is_uniform_and_seeds_are_independent():
    """With one structure for all nodes, and with another for each."""
    n = 20_000
    for graph in (Graph.from_edges([], n), powerlaw(n, 3 * n)):
        drawn = [chance(graph, seed=seed) for seed in range(5)]
        for values in drawn:
            assert ((values >= 0) & (values < 1)).all()
            assert stats.kstest(values, "uniform").pvalue > 1e-4
        assert np.abs(np.corrcoef(drawn) - np.eye(5)).max() < 4.5 / np.sqrt(n)
        # What a node has drawn has nothing to do with what its edges say, nor with its number.
        beside = np.array([graph.degrees, np.arange(n), np.roll(drawn[0], 1)])
        others = [stats.spearmanr(drawn[0], other).statistic for other in beside if np.ptp(other)]
        assert np.abs(others).max() < 4.5 / np.sqrt(n)
        np.testing.assert_array_equal(drawn[3], chance(graph, seed=3))


def test_cards_say_what_they_take():
    assert [*PROPERTIES] == [card.name for card in PROPERTIES.values()]
    takes = {name: [*card.arguments] for name, card in PROPERTIES.items()}
    assert takes == {
        "degree": [],
        "pagerank": ["damping", "protocol"],
        "personalised-pagerank": ["restart", "damping", "protocol"],
        "clustering": [],
        "feature-distance": ["seed"],
        "random": ["seed"],
    }
    assert all(card.description and card.reference for card in PROPERTIES.values())
    with pytest.raises(TypeError):
        PROPERTIES["own"] = PROPERTIES["degree"]


def test_names_functions_and_numbers():
    graph = Graph.from_edges(path(4), 4)
    np.testing.assert_array_equal(
        node_property(graph, "pagerank", damping=0.5), pagerank(graph, damping=0.5)
    )
    np.testing.assert_array_equal(node_property(graph, "random", seed=4), chance(graph, seed=4))
    assert node_property(graph, lambda g, *, plus: g.degrees + plus, plus=2).tolist() == [
        3,
        4,
        4,
        3,
    ]
    own = Property("own", lambda g, *, seed=0: np.full(g.n_nodes, seed), "the seed", "")
    assert node_property(graph, own).tolist() == [0] * 4
    for numbers in ([1, 0, 1, 1], np.array([1, 0, 1, 1], np.float32), np.array([1, 0, 1, 1]) > 0):
        found = node_property(graph, numbers)
        assert found.dtype == np.float64
        assert found.tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("what", "arguments", "told"),
    [
        ("fame", {}, "unknown property 'fame' .expected one of: degree, pagerank, personal"),
        ("degree", {"damping": 1}, r"degree has no argument 'damping' .it has: none"),
        ("pagerank", {"restart": 1}, r"no argument 'restart' .it has: damping, protocol"),
        ("pagerank", {"damping": 2}, "damping: 2 is not between"),
        ("feature-distance", {}, "feature-distance: the graph has no features"),
        ([1, 2], {}, "property: has 2 numbers for the 3 nodes"),
        ([1, 2, np.nan], {}, r"property: 1 row is not finite .row 2"),
        (["a", "b", "c"], {}, "property: holds <U1 values"),
        (np.zeros((3, 1)), {}, "property: has 2 axes"),
        (None, {}, "property: holds object values"),
        ([1, 2, 3], {"power": 2}, "numbers take no argument, such as 'power'"),
        (lambda graph: graph.degrees[1:], {}, "property: has 2 numbers"),
        (lambda graph: None, {}, "property: holds object values"),
    ],
)
def test_what_is_no_property_is_refused_in_one_line(what, arguments, told):
    with pytest.raises(InputError, match=told) as caught:
        node_property(Graph.from_edges(path(3), 3), what, **arguments)
    assert "\n" not in str(caught.value)


def test_projections_that_overflow_are_refused():
    graph = Graph.from_edges([], 2, features=[[1.7e308] * 9, [-1.7e308] * 9])
    assert not np.isfinite(feature_distance(graph)).any()
    with pytest.raises(InputError, match=r"property: 2 rows are not finite"):
        node_property(graph, "feature-distance")
