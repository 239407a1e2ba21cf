"""Splits of edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.datasets import planted
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.splits import link_split


@given(
    edges=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=60),
    seed=st.integers(0, 9),
)
def test_every_edge_is_in_one_part(edges, seed):
    """Loops, repetitions and directions included."""
    graph = Graph.from_edges(np.array(edges, np.int64).reshape(-1, 2), 8, directed=True)
    known = {(min(e), max(e)) for e in edges if e[0] != e[1]}
    n = len(known)
    if n // 10 < 1 or n // 5 < 1:
        with pytest.raises(InputError, match="too few"):
            link_split(graph, (70, 10, 20), seed=seed)
        return
    split = link_split(graph, (70, 10, 20), seed=seed)
    parts = {name: {*map(tuple, split.pairs[i].tolist())} for name, i in split.parts.items()}
    assert set.union(*parts.values()) == known
    assert sum(map(len, parts.values())) == n
    assert (len(parts["valid"]), len(parts["test"])) == (n // 10, n // 5)
    assert split.recipe["n_nodes"] == 8


@pytest.mark.parametrize(
    ("n", "sizes"),
    [(4552, (3870, 227, 455)), (44324, (37676, 2216, 4432)), (5278, (4488, 263, 527))],
)
def test_sizes_of_heart(n, sizes):
    """Published parts of CiteSeer and PubMed; Cora's follow from its hit rates."""
    rng = np.random.default_rng(n)
    graph = planted(max(3000, n // 4), 3, mean_degree=2 * n / max(3000, n // 4), seed=0).graph
    assert len(graph.edges) == n
    split = link_split(graph, seed=int(rng.integers(100)))
    assert tuple(map(len, split.parts.values())) == sizes


def test_other_shares():
    graph = planted(400, 3).graph
    split = link_split(graph, (70, 10, 20))
    assert [len(part) for part in split.parts.values()] == [1120, 160, 320]
    assert list(link_split(graph, (90, 0, 10)).parts) == ["train", "test"]


def test_edges_are_drawn_fairly():
    graph = planted(200, 3, mean_degree=6).graph
    times = np.zeros(len(graph.edges))
    for seed in range(200):
        times[link_split(graph, (70, 10, 20), seed=seed)["test"]] += 1
    # 600 binomial counts of 200 draws: mean 40, standard deviation 5.7.
    assert abs(times.mean() - 40) < 1e-9
    assert 5.1 < times.std() < 6.3


@pytest.mark.parametrize(
    ("shares", "told"),
    [((85, 15), "2 numbers, expected 3"), ((85, 5, 5), "sum to 95"), ((0, 50, 50), None)],
)
def test_shares_are_checked(shares, told):
    graph = planted(50, 2).graph
    if told is None:
        assert sum(map(len, link_split(graph, shares).parts.values())) == len(graph.edges)
        return
    with pytest.raises(InputError, match=told):
        link_split(graph, shares)
