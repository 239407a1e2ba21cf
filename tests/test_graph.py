"""Graphs: canonical edges, fingerprints that ignore the format, files that come back."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.archive import open_npz, write_npz
from graphgauge.errors import InputError
from graphgauge.graph import Graph, first_rows, undirected_edges

_EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30)


@given(edges=_EDGES)
def test_undirected_edges_agree_with_networkx(edges):
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    found, first = undirected_edges(pairs, 8), first_rows(pairs, 8)
    expected = nx.Graph()
    expected.add_edges_from((u, v) for u, v in edges if u != v)
    assert {tuple(e) for e in found.tolist()} == {tuple(sorted(e)) for e in expected.edges}
    assert (found[:, 0] < found[:, 1]).all()
    for row, pair in zip(first, found.tolist(), strict=True):
        assert sorted(edges[row]) == pair
        assert all(sorted(edge) != pair for edge in edges[:row])


@given(edges=_EDGES, seed=st.integers(0, 100))
def test_the_fingerprint_ignores_format_but_not_content(edges, seed):
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 3, (8, 4))
    labels = rng.integers(0, 3, 8)
    graph = Graph.from_edges(edges, 8, features=features, labels=labels)
    shuffled = [edges[i][::-1] for i in rng.permutation(len(edges))] + edges[:3]
    other = Graph.from_edges(
        shuffled, 8, features=sp.coo_array(features.astype(np.float32)), labels=labels.tolist()
    )
    assert graph.fingerprint == other.fingerprint
    changed = Graph(graph.adjacency, features + np.eye(8, 4), labels)
    assert graph.fingerprint != changed.fingerprint


@pytest.mark.parametrize("dense", [True, False])
def test_a_saved_graph_comes_back(tmp_path, dense, rng):
    features = rng.random((5, 3)) if dense else sp.random_array((5, 3), density=0.4, rng=1)
    graph = Graph.from_edges(
        [[0, 1], [3, 2]], 5, features=features, labels=[0, 1, -1, 0, 1], name="five", steps=("a",)
    )
    graph.save(tmp_path / "g.npz")
    back = Graph.load(tmp_path / "g.npz")
    assert back.fingerprint == graph.fingerprint
    assert (back.name, back.steps) == ("five", ("a",))
    assert sp.issparse(back.features) is not dense


def test_what_is_no_graph_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected a square"):
        Graph(sp.csr_array((2, 3)))
    with pytest.raises(InputError, match="not finite"):
        Graph(sp.csr_array([[0, np.nan], [1, 0]]))
    with pytest.raises(InputError, match="outside nodes"):
        Graph.from_edges([[0, 9]], 3)
    with pytest.raises(InputError, match="the graph has 3 nodes, labels has 2 rows"):
        Graph.from_edges([[0, 1]], 3, labels=[0, 1])
    write_npz(tmp_path / "x.npz", {"probs": np.ones(3)})
    with pytest.raises(InputError, match="not a graph"):
        Graph.load(tmp_path / "x.npz")
    Graph.from_edges([[0, 1]], 2).save(tmp_path / "g.npz")
    arrays = {k: v.read() for k, v in open_npz(tmp_path / "g.npz").items()}
    write_npz(tmp_path / "bad.npz", arrays | {"adjacency_indices": np.array([7, 0])})
    with pytest.raises(InputError, match="not a valid sparse matrix"):
        Graph.load(tmp_path / "bad.npz")


def test_repeated_entries_are_summed_without_touching_the_input():
    matrix = sp.csr_array((np.ones(2), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    graph = Graph(matrix)
    assert graph.adjacency.nnz == 1
    assert matrix.nnz == 2
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.degrees.tolist() == [1, 0]
