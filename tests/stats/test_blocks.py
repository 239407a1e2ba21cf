from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.stats import communities, edge_counts, endpoint_blocks, resample_counts


def groups_of(labels):
    return [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]


def planted(n_groups, size, seed=0):
    graph = nx.planted_partition_graph(n_groups, size, 0.3, 0.005, seed=seed)
    return graph, nx.to_scipy_sparse_array(graph, format="csr")


@st.composite
def small_graphs(draw):
    n = draw(st.integers(1, 30))
    ends = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(ends, ends), max_size=60))
    u, v = np.array(edges, dtype=int).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(u)), (u, v)), shape=(n, n))


def test_planted_communities_are_found():
    graph, adjacency = planted(20, 40)
    labels = communities(adjacency, most=60)
    reference = nx.community.louvain_communities(graph, seed=0)
    ours = nx.community.modularity(graph, groups_of(labels))
    assert ours >= 0.97 * nx.community.modularity(graph, reference)
    truth = np.arange(800) // 40
    # The default limit, 29, cuts communities of 40 but does not mix them.
    for found in (labels, communities(adjacency)):
        pure = sum(np.bincount(truth[list(group)]).max() for group in groups_of(found))
        assert pure >= 0.9 * 800


def test_without_a_limit_modularity_is_that_of_louvain():
    graph = nx.karate_club_graph()
    adjacency = nx.to_scipy_sparse_array(graph)
    ours = groups_of(communities(adjacency, most=34))
    assert nx.community.modularity(graph, ours, weight=None) > 0.39


@given(small_graphs(), st.integers(1, 10), st.integers(0, 3))
def test_laws(adjacency, most, seed):
    labels = communities(adjacency, most=most, seed=seed)
    n = adjacency.shape[0]
    assert labels.shape == (n,)
    assert np.bincount(labels).max() <= most
    # Numbered by first appearance.
    firsts = [int(np.flatnonzero(labels == c)[0]) for c in range(labels.max() + 1)]
    assert firsts == sorted(firsts)
    # A community never reaches beyond a connected component, so isolated nodes are alone.
    _, component = sp.csgraph.connected_components(adjacency, directed=False)
    assert all(len({component[i] for i in group}) == 1 for group in groups_of(labels))
    # Direction, values and the diagonal do not matter; same seed, same answer.
    other = (5 * adjacency.T + sp.eye_array(n)).tocsr()
    assert np.array_equal(labels, communities(other, most=most, seed=seed))


def test_a_hub_does_not_swallow_the_graph():
    star = nx.to_scipy_sparse_array(nx.star_graph(999), format="csr")
    labels = communities(star)
    assert np.bincount(labels).max() <= 32
    scale_free = nx.to_scipy_sparse_array(nx.barabasi_albert_graph(3000, 4, seed=0))
    sizes = np.bincount(communities(scale_free))
    assert sizes.max() <= 60
    # Not a heap of single nodes either.
    assert np.sort(sizes)[::-1][:60].sum() > 2000


def test_stored_zeros_are_no_edges():
    zeros = sp.csr_array((np.zeros(2), ([0, 1], [1, 0])), shape=(2, 2))
    assert communities(zeros, most=2).tolist() == [0, 1]


def test_the_smallest_graphs():
    assert communities(sp.csr_array((0, 0))).tolist() == []
    assert communities(sp.csr_array((3, 3))).tolist() == [0, 1, 2]
    pair = sp.csr_array(np.array([[0, 1], [0, 0]]))
    assert communities(pair).tolist() == [0, 0]
    assert communities(pair, most=1).tolist() == [0, 1]


def test_the_graph_stays_as_it_is():
    _, adjacency = planted(3, 10)
    before = adjacency.copy()
    communities(adjacency)
    assert (adjacency != before).nnz == 0


@pytest.mark.parametrize("adjacency", [np.eye(3), sp.csr_array((2, 3))])
def test_only_square_sparse_matrices(adjacency):
    with pytest.raises(InputError, match="square sparse"):
        communities(adjacency)


def test_a_limit_below_one_is_refused():
    with pytest.raises(InputError, match="most"):
        communities(sp.csr_array((3, 3)), most=0)


def test_blocks_of_edges_do_not_depend_on_how_they_are_written(rng):
    edges = rng.integers(50, size=(200, 2))
    blocks = endpoint_blocks(edges)
    assert np.array_equal(blocks, endpoint_blocks(edges[:, ::-1]))
    assert all(block == min(edge) for block, edge in zip(blocks, edges, strict=True))


def test_edges_occur_as_often_as_pairs_of_copies(rng):
    edges = np.array([[0, 1], [1, 2], [0, 3], [2, 3]])
    counts = resample_counts(4, 6, seed=0)
    together = edge_counts(counts, edges)
    for column, drawn in zip(together.T, counts.T, strict=True):
        copies = np.repeat(np.arange(4), drawn)
        brute = [sum(1 for a in copies for b in copies if (a, b) == (u, v)) for u, v in edges]
        assert column.tolist() == brute
    assert np.array_equal(edge_counts(counts[:, 0].astype(float), edges), together[:, 0])


def test_a_product_of_bytes_does_not_overflow():
    assert edge_counts(np.array([200, 200], np.uint8), np.array([[0, 1]])).tolist() == [40_000]


def test_edges_have_two_ends():
    with pytest.raises(InputError, match="3 columns"):
        endpoint_blocks(np.zeros((4, 3), int))
