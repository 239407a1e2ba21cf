"""Breadth-first search against SciPy's, and on shapes whose distances are known."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from graphgauge.description import hops as searching
from graphgauge.description.hops import AT_ONCE, hops
from graphgauge.graph import Graph


def _oracle(graph, sources):
    lengths = shortest_path(graph.neighbours.astype(float), unweighted=True, indices=sources)
    return np.where(np.isinf(lengths), -1, lengths).T


@st.composite
def _graphs(draw):
    n = draw(st.integers(1, 30))
    node = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=60))
    return Graph.from_edges(np.array(pairs, np.int64).reshape(-1, 2), n)


@given(_graphs(), st.data())
def test_equals_scipy(graph, data):
    node = st.integers(0, graph.n_nodes - 1)
    sources = np.array(data.draw(st.lists(node, min_size=1, max_size=AT_ONCE)))
    assert (hops(graph.neighbours, sources) == _oracle(graph, sources)).all()


@pytest.mark.parametrize("entries", [1, 7, 2**22])
@pytest.mark.parametrize("scatter", [0, 8, 10**9], ids=["scatter", "either", "gather"])
def test_equals_scipy_by_every_route(rng, monkeypatch, entries, scatter):
    monkeypatch.setattr(searching, "_ENTRIES", entries)
    monkeypatch.setattr(searching, "_SCATTER", scatter)
    graph = Graph.from_edges(rng.integers(0, 200, (230, 2)), 210)
    sources = rng.choice(210, AT_ONCE, replace=False)
    assert (hops(graph.neighbours, sources) == _oracle(graph, sources)).all()


def test_long_path_is_walked_to_its_end():
    n = 3000
    path = Graph.from_edges(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), n)
    assert (hops(path.neighbours, np.array([0]))[:, 0] == np.arange(n)).all()


def test_no_source_and_no_edge():
    empty = sp.csr_array((3, 3), dtype=np.int8)
    assert hops(empty, np.array([], np.int64)).shape == (3, 0)
    assert hops(empty, np.array([1])).ravel().tolist() == [-1, 0, -1]
