"""Degree, triangles, clustering: against loops and NetworkX, to the bit; sums over neighbours."""

from __future__ import annotations

import itertools
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from any_graphs import complete, graphs, in_networkx, neighbours, path, ring, star
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.datasets.powerlaw import powerlaw
from graphgauge.graph import Graph
from graphgauge.properties import clustering, degree, edge_triangles, links, node_triangles
from graphgauge.properties import triangles as counting


def _triples(near):
    """Try all triples of nodes."""
    return [
        three
        for three in itertools.combinations(range(len(near)), 3)
        if all(v in near[u] for u, v in itertools.combinations(three, 2))
    ]


@settings(deadline=None)
@given(graph=graphs())
def test_every_count_equals_a_loop_over_triples(graph):
    near, n = neighbours(graph), graph.n_nodes
    found = _triples(near)
    by_node = [sum(u in three for three in found) for u in range(n)]
    by_edge = [sum({u, v} <= {*three} for three in found) for u, v in graph.edges.tolist()]
    assert sorted(map(tuple, graph.edges.tolist())) == sorted(
        (u, v) for u in range(n) for v in near[u] if u < v
    )
    assert node_triangles(graph.edges, n).tolist() == by_node
    assert edge_triangles(graph.edges, n).tolist() == by_edge
    assert degree(graph).tolist() == [len(others) for others in near]
    pairs = [max(len(others) * (len(others) - 1) // 2, 1) for others in near]
    assert clustering(graph).tolist() == [t / p for t, p in zip(by_node, pairs, strict=True)]


@pytest.mark.parametrize(
    ("n_nodes", "n_edges", "exponent"), [(300, 12_000, 3), (3000, 20_000, 2.1), (4000, 5000, 5)]
)
def test_networkx_to_the_bit(n_nodes, n_edges, exponent):
    graph = powerlaw(n_nodes, n_edges, exponent=exponent)
    made = in_networkx(graph)
    assert clustering(graph).tolist() == [*nx.clustering(made).values()]
    assert node_triangles(graph.edges, n_nodes).tolist() == [*nx.triangles(made).values()]
    assert degree(graph).tolist() == [d for _, d in made.degree()]
    shared = [len(set(made[u]) & set(made[v])) for u, v in graph.edges.tolist()]
    assert edge_triangles(graph.edges, n_nodes).tolist() == shared


@pytest.mark.parametrize(("edges", "pairs", "sieve"), [(5, 3, 8), (1, 1, 1), (7, 1000, 2)])
def test_blocks_and_a_sieve_that_lets_much_through_change_nothing(rng, edges, pairs, sieve):
    graph = powerlaw(120, 900, seed=3)
    order = rng.permutation(900)
    wanted = edge_triangles(graph.edges, 120)
    small = {"_EDGES": edges, "_PAIRS": pairs, "_SIEVE": sieve, "_MASK": sieve - 1}
    with mock.patch.multiple(counting, **small):
        np.testing.assert_array_equal(edge_triangles(graph.edges, 120), wanted)
    turned = graph.edges[order][:, ::-1]
    np.testing.assert_array_equal(edge_triangles(turned, 120), wanted[order])
    assert wanted.sum() == 3 * len(_triples(neighbours(graph))) > 0


@pytest.mark.parametrize("n", [3, 4, 10, 60])
def test_closed_forms(n):
    def values(edges):
        return clustering(Graph.from_edges(edges, n)).tolist()

    assert values(complete(n)) == [1.0] * n
    assert values(star(n)) == values(path(n)) == [0.0] * n
    assert values(ring(n)) == [float(n == 3)] * n
    hub = n - 2 if n > 3 else 1
    assert values(star(n) + path(n)[1:])[0] == hub / ((n - 1) * (n - 2) // 2)


def test_many_triangles_on_one_edge_are_counted_exactly():
    n = 70_000
    rest = np.arange(2, n)
    edges = np.concatenate([[[0, 1]], *(np.stack([0 * rest + u, rest], 1) for u in (0, 1))])
    counts = node_triangles(edges, n)
    assert counts[:2].tolist() == [n - 2, n - 2]
    assert set(counts[2:].tolist()) == {1}
    assert clustering(Graph.from_edges(edges, n))[0] == (n - 2) / ((n - 1) * (n - 2) // 2)


@settings(deadline=None)
@given(
    graph=graphs(),
    piece=st.integers(1, 5),
    entries=st.integers(1, 9),
    precision=st.sampled_from([np.float32, np.float64]),
)
def test_sums_over_neighbours_in_pieces_and_blocks(graph, piece, entries, precision):
    values = (np.arange(graph.n_nodes, dtype=precision) + 1) ** 2
    with mock.patch.multiple(links, _PIECE=piece, _ENTRIES=entries):
        arranged = links.Links.of(graph.neighbours)
    sums = np.empty_like(values)
    sums[arranged.order] = arranged.sums(values[arranged.order])
    assert sums.dtype == precision
    assert sums.tolist() == [sum(values[v] for v in near) for near in neighbours(graph)]
    assert (np.diff(arranged.degrees) <= 0).all()
