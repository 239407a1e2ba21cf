"""Steps: each against another library or a loop, and the laws they keep."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import StandardScaler

from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.steps import STEPS, prepare


@st.composite
def graphs(draw, *, features=True):
    """Draw graphs with loops, repeated links, isolated nodes, several components, or nothing."""
    n = draw(st.integers(0, 9))
    node = st.integers(0, max(n - 1, 0))
    edges = draw(st.lists(st.tuples(node, node), max_size=14)) if n else []
    words = np.array(
        draw(st.lists(st.lists(st.integers(-1, 3), min_size=3, max_size=3), min_size=n, max_size=n))
    ).reshape(n, 3)
    table = sp.csr_array(words.astype(np.float32)) if draw(st.booleans()) else words / 2
    return Graph.from_edges(
        np.array(edges, int).reshape(-1, 2),
        n,
        directed=draw(st.booleans()),
        features=table if features else None,
        labels=np.arange(n) % 3,
        ids=np.arange(n) * 10,
        class_names=("a", "b", "c"),
    )


def _dense(matrix) -> np.ndarray:
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


@pytest.mark.parametrize("name", STEPS)
@given(graph=graphs())
def test_steps_leave_their_input_and_say_what_they_did(name, graph):
    before = graph.fingerprint
    after = prepare(graph, name)
    assert Graph(graph.adjacency, graph.features, graph.labels).fingerprint == before
    assert after.steps == (name,)
    assert after.class_names == graph.class_names
    assert after.features.dtype == graph.features.dtype


@pytest.mark.parametrize("name", [name for name in STEPS if "standardised" not in name])
@given(graph=graphs())
def test_doing_it_again_changes_nothing(name, graph):
    once = prepare(graph, name)
    twice = prepare(once, name)
    assert _dense(twice.adjacency).tolist() == _dense(once.adjacency).tolist()
    np.testing.assert_allclose(_dense(twice.features), _dense(once.features), rtol=1e-6)
    assert twice.labels.tolist() == once.labels.tolist()


@given(graph=graphs())
def test_undirected_links_are_those_of_a_loop(graph):
    wanted = np.zeros((graph.n_nodes, graph.n_nodes))
    entries = graph.adjacency.tocoo()
    for u, v in zip(*entries.coords, strict=True):
        wanted[u, v] = wanted[v, u] = 1
    after = prepare(graph, "undirected")
    np.testing.assert_array_equal(after.adjacency.toarray(), wanted)
    np.testing.assert_array_equal(after.edges, graph.edges)


def test_links_that_cancel_out_are_links_all_the_same():
    weighted = Graph(sp.csr_array(([2.0, -2.0, 0.0], ([0, 1, 2], [1, 0, 1])), shape=(3, 3)))
    after = prepare(weighted, "undirected")
    assert after.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@given(graph=graphs())
def test_loops_are_removed_and_added(graph):
    before = graph.adjacency.toarray()
    off = before - np.diag(np.diag(before))
    removed, added = prepare(graph, "loops-removed"), prepare(graph, "loops-added")
    np.testing.assert_array_equal(removed.adjacency.toarray(), off)
    np.testing.assert_array_equal(added.adjacency.toarray(), off + np.eye(graph.n_nodes))
    assert removed.adjacency.nnz == np.count_nonzero(off)


@given(graph=graphs())
def test_the_largest_component_is_networkx_largest(graph):
    after = prepare(graph, "largest-component")
    pieces = nx.Graph(graph.edges.tolist())
    pieces.add_nodes_from(range(graph.n_nodes))
    sizes = sorted(map(len, nx.connected_components(pieces)))
    assert after.n_nodes == (sizes[-1] if sizes else 0)
    if not graph.n_nodes:
        return
    kept = (after.ids // 10).tolist()
    assert kept == sorted(kept)
    assert set(kept) in [set(piece) for piece in nx.connected_components(pieces)]
    np.testing.assert_array_equal(
        after.adjacency.toarray(), graph.adjacency.toarray()[np.ix_(kept, kept)]
    )
    np.testing.assert_array_equal(_dense(after.features), _dense(graph.features)[kept])
    assert after.labels.tolist() == graph.labels[kept].tolist()


@settings(max_examples=60)
@given(graph=graphs(), data=st.data())
def test_the_largest_component_does_not_hang_on_numbers(graph, data):
    order = np.array(data.draw(st.permutations(range(graph.n_nodes))), int)
    turned = Graph(
        graph.adjacency[order][:, order],
        graph.features[order],
        graph.labels[order],
        ids=graph.ids[order],
    )
    first, second = (prepare(g, "largest-component") for g in (graph, turned))
    assert first.unordered_fingerprint == second.unordered_fingerprint


@given(graph=graphs())
def test_rows_are_normalised_as_a_loop_does_it(graph):
    after = prepare(graph, "features-row-l1")
    assert sp.issparse(after.features) == sp.issparse(graph.features)
    for row, scaled in zip(_dense(graph.features), _dense(after.features), strict=True):
        np.testing.assert_allclose(scaled, row / max(np.abs(row).sum(), 1), rtol=1e-6)


def test_rows_are_normalised_as_torch_geometric_does_it(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from torch_geometric.data import Data
        from torch_geometric.transforms import NormalizeFeatures

    counts = rng.integers(0, 3, (40, 6)).astype(np.float32)
    counts[7] = 0
    graph = Graph.from_edges([[0, 1]], 40, features=sp.csr_array(counts))
    theirs = NormalizeFeatures()(Data(x=torch.tensor(counts))).x.numpy()
    ours = prepare(graph, "features-row-l1").features.toarray()
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@given(graph=graphs())
def test_columns_are_standardised_as_scikit_learn_does_it(graph):
    after = prepare(graph, "features-standardised").features
    assert isinstance(after, np.ndarray)
    if graph.n_nodes:
        wanted = StandardScaler().fit_transform(_dense(graph.features).astype(np.float64))
        np.testing.assert_allclose(after, wanted, atol=1e-5)
    if graph.n_nodes > 1:
        unbiased = prepare(graph, "features-standardised-unbiased").features
        factor = np.sqrt((graph.n_nodes - 1) / graph.n_nodes)
        np.testing.assert_allclose(unbiased, after * factor, atol=1e-5)


def test_columns_of_one_value_become_zero_whatever_the_value():
    column = np.full((10, 2), 0.1, np.float32)
    column[:, 1] = 1e30
    for name in ("features-standardised", "features-standardised-unbiased"):
        after = prepare(Graph(np.zeros((10, 10)), features=column), name).features
        assert not after.any()


def test_whole_numbers_become_fractions_where_they_must():
    counts = sp.csr_array([[1, 0], [3, 0]])
    graph = Graph(np.zeros((2, 2)), features=counts)
    after = prepare(graph, "features-standardised").features
    assert after.tolist() == [[-1, 0], [1, 0]]
    assert prepare(graph, "features-row-l1").features.toarray().tolist() == [[1, 0], [1, 0]]


def test_large_values_keep_their_spread():
    column = 1e8 + np.arange(10.0)[:, None]
    after = prepare(Graph(np.zeros((10, 10)), features=column), "features-standardised").features
    np.testing.assert_allclose(after[:, 0], StandardScaler().fit_transform(column)[:, 0])


@given(graph=graphs())
def test_words_occur_or_not(graph):
    after = prepare(graph, "features-binary").features
    np.testing.assert_array_equal(_dense(after), _dense(graph.features) > 0)
    assert sp.issparse(after) == sp.issparse(graph.features)


@pytest.mark.parametrize("name", [name for name in STEPS if name.startswith("features")])
def test_without_features_there_is_nothing_to_prepare(name):
    with pytest.raises(InputError, match=f"{name}: the graph has no features"):
        prepare(Graph.from_edges([[0, 1]], 2), name)


def test_unknown_steps_are_named():
    with pytest.raises(InputError, match=r"no step 'loops'.*loops-removed"):
        prepare(Graph.from_edges([[0, 1]], 2), "loops")


def test_the_published_standardisation_of_friendster(data_dir):
    from graphgauge.datasets import load

    graph = load("friendster")
    features = prepare(graph, "features-standardised-unbiased").features
    constant = (features == 0).all(axis=0)
    assert constant.sum() == 44  # as the paper's example has it
    np.testing.assert_allclose(features[:, ~constant].std(axis=0, ddof=1), 1, rtol=1e-4)
