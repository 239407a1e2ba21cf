"""A graph in numbers: those NetworkX finds, and sense at the edges."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.datasets.portrait import portrait
from graphgauge.graph import Graph


@given(
    n=st.integers(1, 9),
    edges=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=12),
    labels=st.lists(st.integers(-1, 2), min_size=9, max_size=9),
    directed=st.booleans(),
)
def test_numbers_are_those_of_networkx(n, edges, labels, directed):
    pairs = np.array([(u % n, v % n) for u, v in edges], int).reshape(-1, 2)
    classes = np.array(labels[:n])
    seen = portrait(Graph.from_edges(pairs, n, directed=directed, labels=classes))
    graph = nx.Graph(pairs.tolist())
    graph.add_nodes_from(range(n))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    pieces = list(nx.connected_components(graph))
    assert seen.mean_degree == pytest.approx(2 * graph.number_of_edges() / n)
    assert seen.isolated == nx.number_of_isolates(graph)
    assert (seen.components, seen.largest) == (len(pieces), max(map(len, pieces)))
    assert seen.unlabelled == (classes < 0).sum()
    known = [(u, v) for u, v in graph.edges if classes[u] >= 0 and classes[v] >= 0]
    alike = [classes[u] == classes[v] for u, v in known]
    assert seen.homophily == (pytest.approx(np.mean(alike)) if alike else None)
    shares = [(classes == c).sum() / (classes >= 0).sum() for c in range(classes.max() + 1)]
    assert seen.shares == pytest.approx(shares)


def test_nothing_has_a_portrait_too():
    seen = portrait(Graph.from_edges(np.empty((0, 2), int), 0))
    assert (seen.mean_degree, seen.components, seen.largest, seen.homophily) == (0, 0, 0, None)
    assert seen.shares == ()
