"""Edges as items against loops over explicit joint tables."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphgauge.errors import InputError
from graphgauge.graph import first_rows, undirected_edges
from graphgauge.metrics.calibration import ece
from graphgauge.metrics.edgewise import (
    CARDS,
    agreeing,
    edge_outcomes,
    edges_within,
    homophily,
    joint_along,
    joint_argmax,
    joint_outcomes,
    k_index,
)
from graphgauge.metrics.metric import Needs
from graphgauge.metrics.outcomes import Outcomes
from graphgauge.metrics.proper import accuracy, brier, nll

NO_EDGES = np.empty((0, 2), int)


@pytest.fixture
def graph(rng):
    """Forty nodes with probabilities, labels, a part and edges."""
    network = nx.gnm_random_graph(40, 120, seed=4)
    probs = rng.dirichlet(np.ones(3), 40)
    edges = np.array(network.edges)
    return network, probs, rng.integers(0, 3, 40), rng.random(40) < 0.6, edges


def outer(probs, edges):
    return np.einsum("ea,eb->eab", probs[edges[:, 0]], probs[edges[:, 1]])


class TestSubsets:
    def test_within_is_the_induced_subgraph(self, graph):
        network, _, _, part, edges = graph
        induced = network.subgraph(np.flatnonzero(part)).edges
        kept = edges[edges_within(edges, part)]
        assert {frozenset(e) for e in kept.tolist()} == {frozenset(e) for e in induced}

    def test_homophily_of_networkx(self, graph):
        network, _, labels, _, edges = graph
        nx.set_node_attributes(network, dict(enumerate(labels.tolist())), "label")
        mixing = nx.attribute_mixing_matrix(network, "label")
        assert homophily(edges, labels) == pytest.approx(np.trace(mixing))
        assert agreeing(edges, labels).mean() == homophily(edges, labels)

    def test_k_index_counts_nodes_with_a_neighbour(self, graph):
        network, _, labels, part, edges = graph
        within = edges[edges_within(edges, part)]
        induced = network.subgraph(np.flatnonzero(part))
        touched = sum(degree > 0 for _, degree in induced.degree)
        assert k_index(within, part.sum()) == touched / part.sum()
        for same in (True, False):
            chosen = within[agreeing(within, labels) == same]
            ends = {node for edge in chosen.tolist() for node in edge}
            assert k_index(chosen, part.sum()) == len(ends) / part.sum()

    def test_directions_and_repetitions_do_not_matter_after_reduction(self, graph):
        _, _, labels, _, edges = graph
        doubled = np.concatenate([edges, edges[:, ::-1], [[3, 3]]])
        reduced = undirected_edges(doubled, 40)
        assert homophily(reduced, labels) == homophily(edges, labels)
        assert k_index(reduced, 40) == k_index(edges, 40)

    def test_empty(self):
        assert np.isnan(homophily(NO_EDGES, np.array([0, 1])))
        assert k_index(NO_EDGES, 3) == 0.0
        assert np.isnan(k_index(NO_EDGES, 0))

    def test_unknown_labels_are_not_guessed(self):
        labels = np.array([0, -1, -1, 0])
        assert agreeing(np.array([[0, 3]]), labels).tolist() == [True]
        with pytest.raises(InputError, match=r"edges: 1 row has an unlabelled end \(row 1\)"):
            agreeing(np.array([[0, 3], [1, 2]]), labels)


class TestProducts:
    def test_edges_of_nodes_are_edges_of_outer_products(self, graph):
        _, probs, labels, _, edges = graph
        nodes = Outcomes.of_nodes(probs, labels)
        product, joint = (
            edge_outcomes(nodes, edges),
            joint_outcomes(outer(probs, edges), edges, labels),
        )
        np.testing.assert_allclose(product.confidence, joint.confidence)
        np.testing.assert_array_equal(product.correct, joint.correct)
        np.testing.assert_allclose(product.truth, joint.truth)
        np.testing.assert_allclose(product.squares, joint.squares)
        for metric in (accuracy, nll, brier, ece):
            assert metric(product) == pytest.approx(metric(joint))

    def test_empty_subset_is_nan(self, graph):
        _, probs, labels, _, _ = graph
        empty = edge_outcomes(Outcomes.of_nodes(probs, labels), NO_EDGES)
        assert all(np.isnan(metric(empty)) for metric in (accuracy, nll, brier, ece))


class TestJoint:
    def test_loop(self, rng, graph, monkeypatch):
        monkeypatch.setattr("graphgauge.metrics.edgewise._BLOCK", 7)
        _, _, labels, _, edges = graph
        joint = rng.dirichlet(np.ones(9), len(edges)).reshape(-1, 3, 3)
        for argmax in ("joint", "node"):
            outcomes = joint_outcomes(joint, edges, labels, argmax=argmax)
            for e, (u, v) in enumerate(edges):
                if argmax == "joint":
                    a, b = max(
                        ((a, b) for a in range(3) for b in range(3)), key=lambda p: joint[e][p]
                    )
                else:
                    a, b = joint[e].sum(axis=1).argmax(), joint[e].sum(axis=0).argmax()
                assert outcomes.confidence[e] == joint[e, a, b]
                assert outcomes.correct[e] == (a == labels[u] and b == labels[v])
                assert outcomes.truth[e] == joint[e, labels[u], labels[v]]
                assert outcomes.squares[e] == pytest.approx((joint[e] ** 2).sum())

    def test_joint_and_node_predictions_differ(self):
        # Each end alone is most likely 1 and 0; the likeliest pair is (0, 0).
        joint = np.array([[[0.4, 0.0], [0.3, 0.3]]])
        edges, labels = np.array([[0, 1]]), np.array([0, 0])
        assert joint_outcomes(joint, edges, labels).correct.tolist() == [True]
        assert joint_outcomes(joint, edges, labels, argmax="node").correct.tolist() == [False]

    def test_follows_edges_to_unique_pairs(self, rng, graph):
        *_, edges = graph
        turned = rng.random(len(edges)) < 0.5
        given = np.where(turned[:, None], edges[:, ::-1], edges)
        given = np.concatenate([given, given[:10, ::-1]])
        joint = rng.dirichlet(np.ones(9), len(given)).reshape(-1, 3, 3)
        joint[-10:] = joint[:10].swapaxes(1, 2)
        pairs, rows = undirected_edges(given, 40), first_rows(given, 40)
        carried = joint_along(joint, given, pairs, rows)
        for pair, table in zip(pairs.tolist(), carried, strict=True):
            matches = [
                joint[i] if edge == pair else joint[i].T
                for i, edge in enumerate(given.tolist())
                if sorted(edge) == pair
            ]
            np.testing.assert_array_equal(table, matches[0])

    def test_empty(self):
        outcomes = joint_outcomes(np.empty((0, 3, 3)), NO_EDGES, np.array([0, 1]))
        assert len(outcomes) == 0
        assert np.isnan(ece(outcomes))

    def test_refusals(self):
        joint = np.full((1, 2, 2), 0.25)
        with pytest.raises(InputError, match="argmax: 'max' is neither 'joint' nor 'node'"):
            joint_argmax(joint, "max")
        with pytest.raises(InputError, match="unlabelled end"):
            joint_outcomes(joint, np.array([[0, 1]]), np.array([0, -1]))

    def test_inputs_are_left_alone(self, rng):
        joint, edges = (
            rng.dirichlet(np.ones(4), 3).reshape(3, 2, 2),
            np.array([[1, 0], [0, 2], [2, 1]]),
        )
        kept = joint.copy()
        joint_along(joint, edges, undirected_edges(edges, 3), first_rows(edges, 3))
        joint_outcomes(joint, edges, np.array([0, 1, 1]))
        assert (joint == kept).all()


def test_cards():
    cards = {card.name: card for card in CARDS}
    edges, labels = np.array([[0, 1], [1, 2]]), np.array([1, 1, 0, 0])
    assert all(card.needs is Needs.STRUCTURE for card in CARDS)
    assert cards["homophily"](edges, labels) == 0.5
    assert cards["k_index"](edges, labels) == 0.75
