"""Power-law graphs: as many edges as asked for, simple, and as heavy in the tail as said."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from graphgauge.datasets import powerlaw as module
from graphgauge.datasets.powerlaw import powerlaw
from graphgauge.errors import InputError


@settings(deadline=None)
@given(
    n=st.integers(0, 30),
    part=st.floats(0, 1),
    exponent=st.floats(2.1, 100),
    seed=st.integers(0, 99),
)
def test_edges_are_simple_and_as_many_as_asked_for(n, part, exponent, seed):
    n_edges = round(part * n * (n - 1) / 2)
    graph = powerlaw(n, n_edges, exponent=exponent, seed=seed)
    _is_simple(graph, n, n_edges)


@pytest.mark.parametrize(
    ("n", "n_edges"), [(100_000, 300_000), (2000, 300_000), (1100, 200_000), (500_000, 100)]
)
def test_sizes_hold_for_sparse_and_dense_graphs(n, n_edges):
    _is_simple(powerlaw(n, n_edges), n, n_edges)


def _is_simple(graph, n, n_edges):
    u, v = graph.adjacency.nonzero()
    assert graph.n_nodes == n
    assert len(u) == 2 * n_edges
    assert set(graph.adjacency.data.tolist()) <= {1.0}
    assert (u != v).all()
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    assert len({*zip(u.tolist(), v.tolist(), strict=True)}) == 2 * n_edges


@pytest.mark.parametrize(("n", "n_edges"), [(1000, 5000), (100, 3000)])
def test_everything_follows_from_the_seed(n, n_edges):
    first, again, other = (powerlaw(n, n_edges, seed=seed) for seed in (3, 3, 4))
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert first.unordered_fingerprint != other.unordered_fingerprint
    assert "seed=3" in first.name


@pytest.mark.parametrize("exponent", [2.2, 2.5, 3.0, 4.0])
def test_degrees_follow_the_law(exponent):
    """By the estimate of Clauset and others, 2009, of the exponent of the degrees from 20 on."""
    graph = powerlaw(200_000, 1_000_000, exponent=exponent)
    degrees = graph.degrees
    # Cuts keep the fit away from the bulk, where drawing blurs the law, and from the heaviest.
    low, high = 20, np.sqrt(2e6) / 4
    tail = degrees[(degrees >= low) & (degrees < high)]
    tries = np.linspace(1.5, 7, 1000)
    masses = special.zeta(tries, low) - special.zeta(tries, np.ceil(high))
    likelihood = -tries * np.log(tail).mean() - np.log(masses)
    assert tries[likelihood.argmax()] == pytest.approx(exponent, abs=0.25)


def test_the_heaviest_node_is_a_hub_and_no_more():
    counts = {e: powerlaw(50_000, 500_000, exponent=e).degrees.max() for e in (2.1, 2.5, 4.0, 50)}
    assert 850 < counts[2.1] < 1150
    assert 850 < counts[2.5] < 1150
    assert 100 < counts[4.0] < 850
    assert counts[50] < 60


def test_places_of_heavy_nodes_are_random():
    degrees = powerlaw(20_000, 100_000).degrees
    numbers = np.arange(20_000)
    assert abs(np.corrcoef(numbers, degrees)[0, 1]) < 4.5 / np.sqrt(20_000)


def test_hubs_meet_no_less_than_others():
    """The cut leaves the degrees of neighbours nearly independent."""
    graph = powerlaw(20_000, 100_000)
    made = nx.Graph(graph.edges.tolist())
    assert abs(nx.degree_assortativity_coefficient(made)) < 0.08


def test_weighing_all_pairs_and_drawing_give_one_law(monkeypatch):
    """The mean degree by rank, over many graphs of a size that both can make."""

    def ranked(dense):
        monkeypatch.setattr(module, "_DENSE", dense)
        return np.sort([powerlaw(40, 200, seed=seed).degrees for seed in range(400)], axis=1)

    drawn, weighed = ranked(dense=1), ranked(dense=9)
    assert not np.array_equal(drawn, weighed)
    deviation = np.hypot(drawn.std(axis=0), weighed.std(axis=0)) / np.sqrt(400)
    assert (np.abs(drawn.mean(axis=0) - weighed.mean(axis=0)) < 4.5 * deviation).all()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((-1, 0), "n_nodes: -1 is not between 0 and"),
        ((2**31 + 1, 0), "n_nodes: 2147483649 is not between"),
        ((3, 4), "3 nodes have room for 0 to 3 edges, not 4"),
        ((3, -1), "not -1"),
        ((0, 1), "0 nodes have room for 0 to 0 edges"),
        ((3, 1, 2.0), "exponent: 2.0 is not between 2.1 and 100"),
        ((3, 1, np.nan), "exponent: nan is not between"),
    ],
)
def test_what_cannot_be_made_is_refused(arguments, told):
    n_nodes, n_edges, *exponent = arguments
    with pytest.raises(InputError, match=told):
        powerlaw(n_nodes, n_edges, **dict(zip(["exponent"], exponent, strict=False)))
