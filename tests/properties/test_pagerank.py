"""PageRank: every share, however small, against exact solutions; the published iterate."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import networkx as nx
import numpy as np
import pytest
from any_graphs import complete, graphs, in_networkx, neighbours, path, ring, star
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.datasets import planted
from graphgauge.datasets.powerlaw import powerlaw
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.properties import pagerank, personalised_pagerank

DAMPINGS = [0.0, 0.01, 0.5, 0.85, 0.99]


def _transitions(near, restart):
    """Where a walker who follows edges is next, by where he is: a column a node."""
    chances = np.zeros((len(near), len(near)))
    for u, others in enumerate(near):
        chances[:, u] = 0 if others else restart
        chances[sorted(others), u] = 1 / max(len(others), 1)
    return chances


def _restart(n, node):
    return np.full(n, 1 / n) if node is None else np.eye(n)[node]


def _solved(near, node, damping):
    """Solve for all shares at once with LAPACK: right up to the largest share's rounding."""
    restart = _restart(len(near), node)
    matrix = np.eye(len(near)) - damping * _transitions(near, restart)
    return np.linalg.solve(matrix, (1 - damping) * restart)


def _exact(near, node, damping, digits=400):
    """Solve by elimination in so many digits that every share is right to the last bit."""
    n = len(near)
    with localcontext(prec=digits):
        d = Decimal(damping)
        restart = {u: 1 / Decimal(n) for u in range(n)} if node is None else {node: Decimal(1)}
        rows = [{u: Decimal(1)} for u in range(n)]
        for u, others in enumerate(near):
            for v, share in ({v: 1 / Decimal(len(others)) for v in others} or restart).items():
                rows[v][u] = rows[v].get(u, 0) - d * share
        right = [(1 - d) * restart.get(u, 0) for u in range(n)]
        # Leaves before hubs, so that zeros stay zeros.
        left = sorted(range(n), key=lambda u: len(near[u]))
        shares = [Decimal(0)] * n
        gone = []
        while left:
            k = left.pop(0)
            gone.append(k)
            for i in (i for i in left if k in rows[i]):
                factor = rows[i].pop(k) / rows[k][k]
                right[i] -= factor * right[k]
                for j in rows[k].keys() - {k}:
                    rows[i][j] = rows[i].get(j, 0) - factor * rows[k][j]
        for k in reversed(gone):
            known = sum(rows[k][j] * shares[j] for j in rows[k].keys() - {k})
            shares[k] = (right[k] - known) / rows[k][k]
        return shares


def _off(found, exact):
    """Measure the largest error of a share, relative to this share; zeros must be zeros."""
    assert [share == 0 for share in found.tolist()] == [share == 0 for share in exact]
    pairs = zip(found.tolist(), exact, strict=True)
    return max(float(abs(Decimal(share) / wanted - 1)) for share, wanted in pairs if wanted)


def _shares(graph, node, damping=0.85, **arguments):
    if node is None:
        return pagerank(graph, damping=damping, **arguments)
    return personalised_pagerank(graph, restart=node, damping=damping, **arguments)


@settings(deadline=None, max_examples=60)
@given(graph=graphs(least=1), damping=st.sampled_from(DAMPINGS), data=st.data())
def test_every_share_is_exact(graph, damping, data):
    node = data.draw(st.none() | st.integers(0, graph.n_nodes - 1))
    near, found = neighbours(graph), _shares(graph, node, damping)
    # Rounding adds up over the steps of a walk, and there are so many between two restarts.
    assert _off(found, _exact(near, node, damping, 60)) < 3e-13 + 6e-14 / (1 - damping)
    np.testing.assert_allclose(found, _solved(near, node, damping), rtol=1e-11, atol=1e-15)


BLOB = complete(20) + [(19 + i, 20 + i) for i in range(150)]
TREE = [(i, 3 * i + j) for i in range(40) for j in (1, 2, 3)]
STAR = star(140) + [(139 + i, 140 + i) for i in range(100)]


@pytest.mark.parametrize(
    ("edges", "node", "damping", "limit"),
    [
        (path(150), 0, 0.85, 1e-13),
        (path(500), 0, 0.85, 4e-13),
        (path(500), 250, 0.85, 1e-13),
        (path(60), 0, 0.01, 1e-13),
        (path(300), 0, 0.99, 1e-12),
        (path(200), 0, 0.999, 2e-12),
        (path(150), None, 0.999, 1e-13),
        (ring(400), 3, 0.85, 1e-13),
        (BLOB, 0, 0.85, 2e-13),
        (BLOB, 169, 0.85, 1e-13),
        (BLOB, None, 0.85, 1e-13),
        (TREE, 120, 0.5, 1e-13),
        (STAR, 0, 0.85, 1e-13),
    ],
)
def test_small_shares_far_from_the_restart_are_exact(edges, node, damping, limit):
    """Rounding adds up from step to step; so it may with the length of a path, not with 1e-120."""
    graph = Graph.from_edges(edges, 1 + max(map(max, edges)))
    found = _shares(graph, node, damping)
    # Other machines and libraries add up in another order, which made no more than 1.1 of it.
    assert _off(found, _exact(neighbours(graph), node, damping)) < 3 * limit


def test_shares_that_no_number_can_hold_are_next_to_nothing():
    found = personalised_pagerank(Graph.from_edges(path(2000), 2000), restart=0)
    r = (1 - math.sqrt(1 - 0.85**2)) / 0.85
    np.testing.assert_allclose(found[1:1100], found[1] * r ** np.arange(1099), rtol=1e-11)
    assert (np.diff(found[1:]) <= 0).all()
    assert found[1300:].max() < 1e-299


@pytest.mark.parametrize("node", [None, 7])
@pytest.mark.parametrize("damping", [0.5, 0.85, 0.99])
@pytest.mark.parametrize("seed", [0, 1])
def test_networkx(node, damping, seed):
    """Hubs of many pieces, isolated nodes and several components among them."""
    some = powerlaw(2000, 2000, exponent=2.1, seed=seed).edges
    graph = Graph.from_edges(np.concatenate([some, star(300)]), 2000)
    assert graph.degrees.max() >= 299
    assert graph.degrees.min() == 0
    wanted = nx.pagerank(
        in_networkx(graph),
        damping,
        personalization=None if node is None else {node: 1.0},
        tol=1e-16,
        max_iter=10_000,
    )
    found = _shares(graph, node, damping)
    np.testing.assert_allclose(found, list(wanted.values()), rtol=1e-9, atol=1e-12)


def test_hubs_are_as_exact_as_the_others():
    n = 200_001
    graph = Graph.from_edges(np.stack([np.zeros(n - 1, int), np.arange(1, n)], axis=1), n)
    centre = (0.15 / n + 0.85) / 1.85
    assert pagerank(graph)[0] == pytest.approx(centre, rel=1e-14)
    assert personalised_pagerank(graph)[0] == pytest.approx(1 / 1.85, rel=1e-14)


@pytest.mark.parametrize("n", [2, 3, 10, 200])
@pytest.mark.parametrize("d", DAMPINGS)
def test_closed_forms(n, d):
    def shares(edges, node):
        return _shares(Graph.from_edges(edges, n), node, d)

    def near(*wanted):
        return pytest.approx(np.concatenate([np.atleast_1d(w) for w in wanted]), rel=2e-13, abs=0)

    leaves = np.ones(n - 1) / (n - 1)
    centre = ((1 - d) / n + d) / (1 + d)
    assert shares(star(n), None) == near(centre, (1 - centre) * leaves)
    assert shares(star(n), 0) == near(1 / (1 + d), d / (1 + d) * leaves)
    assert shares(complete(n), None) == near(np.full(n, 1 / n))
    own = (1 - d + d / (n - 1)) / (1 + d / (n - 1))
    rest = d * own / (1 - d * (n - 2) / (n - 1))
    assert shares(complete(n), 0) == near(own, rest * leaves)
    if n > 2:
        assert shares(ring(n), None) == near(np.full(n, 1 / n))
        r = d / (1 + math.sqrt(1 - d**2))
        both = r ** np.arange(n, dtype=float) + r ** np.arange(n, 0, -1, dtype=float)
        if both.min() > 1e-290:
            assert shares(ring(n), 0) == near(both / math.fsum(both))


@settings(deadline=None)
@given(graph=graphs(), damping=st.sampled_from(DAMPINGS))
@pytest.mark.parametrize("protocol", ["corrected", "published"])
def test_shares_sum_to_one_and_stay_in_the_restarts_component(protocol, graph, damping):
    popular = pagerank(graph, damping=damping, protocol=protocol)
    local = personalised_pagerank(graph, damping=damping, protocol=protocol)
    assert popular.shape == local.shape == (graph.n_nodes,)
    if not graph.n_nodes:
        return
    assert [popular.sum(), local.sum()] == pytest.approx([1, 1], abs=1e-13)
    assert popular.min() > 0
    node = int(local.argmax()) if damping == 0 else int(np.flatnonzero(local)[0])
    reached = nx.node_connected_component(in_networkx(graph), node)
    assert set(np.flatnonzero(local).tolist()) <= reached
    if protocol == "corrected" and damping:
        assert set(np.flatnonzero(local).tolist()) == reached


@settings(deadline=None)
@given(graph=graphs(least=1), data=st.data())
def test_without_damping_a_walk_stays_at_its_restart(graph, data):
    node = data.draw(st.integers(0, graph.n_nodes - 1))
    assert pagerank(graph, damping=0).tolist() == pytest.approx([1 / graph.n_nodes] * graph.n_nodes)
    here = np.arange(graph.n_nodes) == node
    for protocol in ("corrected", "published"):
        found = personalised_pagerank(graph, restart=node, damping=0, protocol=protocol)
        assert found.tolist() == here.tolist()


@settings(deadline=None)
@given(graph=graphs(least=1))
def test_popularity_is_the_mean_locality_of_connected_graphs(graph):
    """Linear in the restart, as far as no walker is at a node without an edge."""
    if any(not near for near in neighbours(graph)):
        return
    each = [personalised_pagerank(graph, restart=node) for node in range(graph.n_nodes)]
    np.testing.assert_allclose(pagerank(graph), np.mean(each, axis=0), rtol=1e-12)


def _iterate(near, node, damping):
    """Step until the change is small; return the last iterate kept and the number of steps."""
    restart = _restart(len(near), node)
    iterates = [restart]
    while len(iterates) < 2 or np.abs(iterates[-1] - iterates[-2]).sum() >= 1e-6:
        after = np.zeros(len(near))
        for u, others in enumerate(near):
            for v in others:
                after[v] += iterates[-1][u] / len(others)
            if not others:
                after += iterates[-1][u] * restart
        iterates.append(damping * after + (1 - damping) * restart)
    steps = len(iterates) - 1
    return iterates[-2] if steps % 2 else iterates[-1], steps


def test_published_protocol_keeps_the_iterate_before_an_odd_last_one():
    parities, far = set(), 0.0
    for seed in range(6):
        graph = powerlaw(60, 90, seed=seed)
        near = neighbours(graph)
        assert not all(near)
        for node in (None, 0, 5):
            wanted, steps = _iterate(near, node, 0.85)
            found = _shares(graph, node, protocol="published")
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-15)
            parities.add((node is None, steps % 2))
            far = max(far, np.abs(found - _shares(graph, node)).sum())
    assert len(parities) == 4
    assert 1e-7 < far < 1e-5


def test_default_restart_is_the_most_popular_node():
    graph = planted(300, 3, seed=5).graph
    restart = int(pagerank(graph).argmax())
    np.testing.assert_array_equal(
        personalised_pagerank(graph), personalised_pagerank(graph, restart=restart)
    )


def test_equally_popular_nodes_are_told_apart_by_colour(rng):
    # Two stars of one shape; a feature makes them differ.
    edges = np.array([(0, i) for i in (2, 3, 4)] + [(1, i) for i in (5, 6, 7)])
    marks = np.arange(8) % 2
    chosen = set()
    for _ in range(20):
        order = rng.permutation(8)
        graph = Graph.from_edges(
            np.argsort(order)[edges], 8, features=marks[order, None].astype(float)
        )
        shares = personalised_pagerank(graph)
        chosen.add(int(order[shares.argmax()]))
    assert len(chosen) == 1


def test_results_are_the_callers_to_change():
    graph = Graph.from_edges(path(5), 5)
    before = graph.adjacency.copy()
    first = pagerank(graph)
    kept = first.copy()
    first[:] = 7
    np.testing.assert_array_equal(pagerank(graph), kept)
    assert not np.array_equal(pagerank(graph, damping=0.5), kept)
    assert (graph.adjacency != before).nnz == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"damping": 1}, "damping: 1 is not between 0 and 0.999"),
        ({"damping": -0.1}, "damping: -0.1 is not between"),
        ({"damping": math.nan}, "damping: nan is not between"),
        ({"damping": "high"}, "damping: 'high' is not a number"),
        ({"damping": [0.5]}, r"damping: \[0.5\] is not a number"),
        ({"protocol": "own"}, "unknown protocol 'own'"),
        ({"restart": 3}, r"restart: node 3 is outside nodes 0\.\.2"),
        ({"restart": -1}, "restart: node -1 is outside nodes"),
        ({"restart": 1.5}, "restart: 1.5 is not the number of a node"),
        ({"restart": "1"}, "restart: '1' is not the number of a node"),
    ],
)
def test_what_makes_no_walk_is_refused(arguments, told):
    graph = Graph.from_edges(path(3), 3)
    with pytest.raises(InputError, match=told):
        personalised_pagerank(graph, **arguments)
    if "restart" not in arguments:
        with pytest.raises(InputError, match=told):
            pagerank(graph, **arguments)
