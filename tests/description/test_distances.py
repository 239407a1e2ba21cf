"""Distances within a part: exact against a loop, sampled against exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from graphgauge.datasets import planted
from graphgauge.description import distances
from graphgauge.errors import InputError
from graphgauge.graph import Graph


@pytest.fixture(scope="module")
def graph():
    edges = planted(600, 3, mean_degree=2.5, seed=5).graph.edges
    return Graph.from_edges(edges, 610)


def _loop(graph, members):
    """Every ordered pair of different members, one after the other."""
    lengths = shortest_path(graph.neighbours.astype(float), unweighted=True)
    found = [lengths[u, v] for u in members for v in members if u != v]
    joined = [int(length) for length in found if np.isfinite(length)]
    shares = np.bincount(joined)[1:] / len(joined)
    return shares, np.mean(joined), 1 - len(joined) / len(found)


def test_exact_equals_a_loop(graph, rng):
    members = rng.choice(graph.n_nodes, 150, replace=False)
    found = distances(graph, members, n_sources=None)
    shares, mean, apart = _loop(graph, members)
    assert found.exact
    assert found.error == 0
    assert found.n_sources == 150
    assert np.allclose(found.shares, shares, atol=1e-15)
    assert found.mean == pytest.approx(mean)
    assert found.apart == pytest.approx(apart)


def test_as_many_sources_as_members_are_exact(graph):
    members = np.arange(100)
    one, other = (distances(graph, members, n_sources=n) for n in (None, 100))
    assert other.exact
    assert (one.shares == other.shares).all()


def test_sample_finds_the_mean_as_often_as_its_error_says(graph):
    members = np.arange(graph.n_nodes)
    mean = distances(graph, members, n_sources=None).mean
    drawn = [distances(graph, members, n_sources=40, seed=seed) for seed in range(200)]
    off = np.array([(one.mean - mean) / one.error for one in drawn])
    assert 0.9 < np.mean(np.abs(off) < 1.96) <= 1.0
    assert abs(off.mean()) < 0.3
    assert len({one.mean for one in drawn}) > 190


def test_moves_with_the_nodes(graph, rng):
    order = rng.permutation(graph.n_nodes)
    moved = Graph(graph.adjacency[order][:, order])
    members = np.arange(0, graph.n_nodes, 2)
    # Nodes that colours do not tell apart may be drawn in one another's place.
    one = distances(graph, members, n_sources=None)
    other = distances(moved, np.flatnonzero(np.isin(order, members)), n_sources=None)
    assert np.array_equal(one.shares, other.shares)


@pytest.mark.parametrize("members", [[0], [0, 1]])
def test_nothing_joined(members):
    found = distances(Graph.from_edges([], 3), np.array(members))
    assert np.isnan(found.mean)
    assert found.shares.sum() == 0
    assert np.isnan(found.apart) if len(members) == 1 else found.apart == 1


def test_needs_a_source(graph):
    with pytest.raises(InputError, match="0 is too few to search from"):
        distances(graph, np.arange(5), n_sources=0)
