"""Colours: blind to order, sharp on content."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.colours import copies_before, mixed, refine
from graphgauge.datasets.planted import planted
from graphgauge.errors import InputError
from graphgauge.graph import Graph

_EDGES = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20)


def _shuffled(graph: Graph, seed: int) -> tuple[Graph, np.ndarray]:
    """Renumber nodes, columns and classes; `order` names the old node of every new one."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(graph.n_nodes)
    adjacency = graph.adjacency[order][:, order]
    features = graph.features[order][:, rng.permutation(graph.features.shape[1])]
    classes = rng.permutation(int(graph.labels.max()) + 1)
    labels = graph.labels[order]
    return Graph(adjacency, features, np.where(labels < 0, -1, classes[labels])), order


@given(edges=_EDGES, seed=st.integers(0, 50))
def test_colours_follow_their_nodes(edges, seed):
    rng = np.random.default_rng(seed)
    features = rng.integers(0, 2, (9, 3)).astype(float)
    graph = Graph.from_edges(edges, 9, features=features, labels=np.r_[rng.integers(-1, 2, 8), 1])
    other, order = _shuffled(graph, seed + 1)
    assert np.array_equal(other.colours.nodes, graph.colours.nodes[order])
    assert other.unordered_fingerprint == graph.unordered_fingerprint


def test_content_changes_the_unordered_fingerprint():
    graph = planted(300, 3, seed=4).graph
    seen = {graph.unordered_fingerprint}
    labels = graph.labels.copy()
    labels[5] = (labels[5] + 1) % 3
    features = graph.features.copy()
    features[7, 2] += 1
    fewer = graph.edges[1:]
    for changed in (
        Graph(graph.adjacency, graph.features, labels),
        Graph(graph.adjacency, features, graph.labels),
        Graph.from_edges(fewer, 300, features=graph.features, labels=graph.labels),
        Graph(graph.adjacency, graph.features),
        Graph(graph.adjacency * 2, graph.features, graph.labels),
    ):
        seen.add(changed.unordered_fingerprint)
    assert len(seen) == 6


def test_direction_counts():
    one = Graph.from_edges([[0, 1], [0, 2]], 3, directed=True)
    two = Graph.from_edges([[1, 0], [2, 0]], 3, directed=True)
    assert one.unordered_fingerprint != two.unordered_fingerprint


def test_dense_and_sparse_features_have_the_same_colours(rng):
    features = rng.integers(0, 3, (40, 5)).astype(np.float32)
    graph = Graph.from_edges(rng.integers(0, 40, (60, 2)), 40, features=features)
    other = Graph(graph.adjacency, sp.csr_array(features.astype(np.float64)))
    assert graph.unordered_fingerprint == other.unordered_fingerprint


def test_a_path_is_told_apart_as_far_as_it_can_be():
    colours = refine(Graph.from_edges([[i, i + 1] for i in range(6)], 7).adjacency).nodes
    assert len(np.unique(colours)) == 4
    assert np.array_equal(colours, colours[::-1])


def test_colours_are_the_same_on_every_machine():
    assert [hex(x) for x in mixed(np.arange(2)).tolist()] == [
        "0xe220a8397b1dcdaf",
        "0x910a2dec89025cc1",
    ]


@given(values=st.lists(st.integers(0, 4), max_size=12))
def test_copies_are_counted(values):
    found = copies_before(np.array(values, np.uint64))
    assert found.tolist() == [values[:i].count(v) for i, v in enumerate(values)]


def test_ids_and_class_names_come_back(tmp_path):
    graph = Graph.from_edges([[0, 1]], 2, ids=["x", "ÿ"], class_names=("a", "b"))
    graph.save(tmp_path / "g.npz")
    back = Graph.load(tmp_path / "g.npz")
    assert back.ids.tolist() == ["x", "ÿ"]
    assert back.class_names == ("a", "b")
    with pytest.raises(InputError, match=r"ids: 1 stand there before \(row 1\)"):
        Graph.from_edges([[0, 1]], 2, ids=[7, 7])
