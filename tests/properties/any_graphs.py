"""Graphs of every shape for tests of properties, each beside plain sets of neighbours."""

from __future__ import annotations

import networkx as nx
import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from graphgauge.graph import Graph


@st.composite
def graphs(draw, *, least=0, most=14):
    """Draw a graph with loops, repetitions, isolated nodes, directions and weights, or without."""
    n = draw(st.integers(least, most))
    node = st.integers(0, max(n - 1, 0))
    pairs = draw(st.lists(st.tuples(node, node), max_size=3 * n))
    kind = draw(st.sampled_from(["undirected", "directed", "weighted"]))
    if kind != "weighted":
        return Graph.from_edges(pairs, n, directed=kind == "directed")
    weights = draw(st.lists(st.sampled_from([0.25, 1.0, -3.0]), min_size=n * n, max_size=n * n))
    adjacency = np.zeros((n, n))
    for u, v in pairs:
        adjacency[u, v] = weights[u * n + v]
    return Graph(sp.csr_array(adjacency))


def neighbours(graph):
    """List the other nodes that an entry of the adjacency, either way, joins to every node."""
    sets = [set() for _ in range(graph.n_nodes)]
    for u, v in zip(*graph.adjacency.nonzero(), strict=True):
        if u != v:
            sets[u].add(int(v))
            sets[v].add(int(u))
    return sets


def in_networkx(graph):
    made = nx.Graph()
    made.add_nodes_from(range(graph.n_nodes))
    made.add_edges_from((u, v) for u, near in enumerate(neighbours(graph)) for v in near)
    return made


def path(n):
    return [(i, i + 1) for i in range(n - 1)]


def ring(n):
    return [*path(n), (n - 1, 0)]


def star(n):
    return [(0, i) for i in range(1, n)]


def complete(n):
    return [(i, j) for i in range(n) for j in range(i)]
