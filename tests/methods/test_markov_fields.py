"""EPFGNN: pieces and propagation against enumeration, the flaws as described, training."""

from __future__ import annotations

import dataclasses
import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_graphs import MADE, small
from scipy.special import logsumexp, softmax
from torch import Generator

from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.methods.edgewise.epfgnn import clamped, clamped_as_published
from graphgauge.methods.edgewise.field import Edges, FieldHead, Pieces, log_partitions
from graphgauge.methods.edgewise.known import Known
from graphgauge.methods.edgewise.propagate import propagate
from graphgauge.methods.inputs import Inputs

PAIRS = np.array([[0, 1], [0, 2], [0, 3], [2, 3]])  # a triangle with a tail
N_NODES, N_CLASSES = 5, 3  # and a node by itself


def inputs_of(pairs, n_nodes: int) -> Inputs:
    return Inputs(Graph.from_edges(pairs, n_nodes, features=np.eye(n_nodes)))


def numbers(seed: int, n_nodes: int = N_NODES, n_edges: int = len(PAIRS)):
    """Draw unaries, a symmetric coupling and strengths."""
    rng = np.random.default_rng(seed)
    coupling = rng.normal(size=(N_CLASSES, N_CLASSES))
    return rng.normal(size=(n_nodes, N_CLASSES)), coupling + coupling.T, rng.normal(size=n_edges)


def tensors(*arrays: np.ndarray) -> list[torch.Tensor]:
    return [torch.tensor(array, dtype=torch.float32) for array in arrays]


def score(labels, unaries, coupling, strengths, pairs) -> float:
    ends = [strengths[k] * coupling[labels[u], labels[v]] for k, (u, v) in enumerate(pairs)]
    return sum(unaries[i, label] for i, label in enumerate(labels)) + sum(ends)


def labellings(n_nodes: int):
    return itertools.product(range(N_CLASSES), repeat=n_nodes)


def star_score(i: int, labels, unaries, coupling, strengths) -> float:
    """Score the star around a node: shares of unaries, halves of edges."""
    degrees = np.bincount(PAIRS.ravel(), minlength=N_NODES)
    total = unaries[i, labels[i]] / (degrees[i] + 1)
    for k, pair in enumerate(PAIRS):
        if i in pair:
            j = pair[0] + pair[1] - i
            total += unaries[j, labels[j]] / (degrees[j] + 1)
            total += strengths[k] * coupling[labels[i], labels[j]] / 2
    return total


@pytest.mark.parametrize("seed", range(3))
def test_partitions_of_stars_are_sums_over_all_labellings(seed):
    drawn = numbers(seed)
    found = log_partitions(*tensors(*drawn), Edges(inputs_of(PAIRS, N_NODES)))
    for i in range(N_NODES):
        star = sorted({i} | {int(node) for pair in PAIRS if i in pair for node in pair})
        # Each labelling of the star is met as often as the rest can be labelled.
        scores = [star_score(i, labels, *drawn) for labels in labellings(N_NODES)]
        expected = logsumexp(scores) - (N_NODES - len(star)) * np.log(N_CLASSES)
        assert np.isclose(found[i], expected, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_pieces_add_up_to_the_whole(seed):
    drawn, rng = numbers(seed), np.random.default_rng(seed)
    labels = rng.integers(N_CLASSES, size=N_NODES)
    stars = [star_score(i, labels, *drawn) for i in range(N_NODES)]
    assert np.isclose(sum(stars), score(labels, *drawn, PAIRS))


def head_of(seed: int, *, crossed: bool = False) -> FieldHead:
    """Make a head with drawn strengths and beliefs."""
    head = FieldHead(N_CLASSES, len(PAIRS), Generator().manual_seed(seed), crossed=crossed)
    head.edges = Edges(inputs_of(PAIRS, N_NODES))
    unaries, _, strengths = numbers(seed)
    head.strengths.data.copy_(torch.tensor(strengths))
    head.beliefs = torch.tensor(softmax(unaries[::-1], axis=1), dtype=torch.float32)
    return head


@pytest.mark.parametrize("crossed", [False, True])
def test_loss_is_the_mean_over_nodes_of_what_their_stars_lack(crossed):
    """E_q[score] − log Z, star by star, with the strengths of the wrong edges if as published."""
    head, unaries = head_of(1, crossed=crossed), numbers(5)[0]
    coupling, strengths = head.coupling.detach().numpy(), head.strengths.detach().numpy()
    q, degrees = head.beliefs.numpy(), np.bincount(PAIRS.ravel(), minlength=N_NODES)
    log_z = log_partitions(*tensors(unaries, coupling, strengths), head.edges).numpy()
    entries = sorted((int(u), int(v)) for pair in PAIRS for u, v in (pair, pair[::-1]))
    numbered = {(int(u), int(v)): k for k, (u, v) in enumerate(PAIRS)}
    total = 0.0
    for i in range(N_NODES):
        total += q[i] @ unaries[i] / (degrees[i] + 1) - log_z[i]
        for place, (u, v) in enumerate(entries):
            if u == i:
                k = place % len(PAIRS) if crossed else numbered[min(u, v), max(u, v)]
                total += q[v] @ unaries[v] / (degrees[v] + 1)
                total += strengths[k] * q[u] @ coupling @ q[v] / 2
    given = torch.tensor(unaries, dtype=torch.float32)
    step: Any = SimpleNamespace(network=SimpleNamespace(head=head), hidden=lambda: given)
    assert np.isclose(float(Pieces()(step).detach()), -total / N_NODES, atol=1e-5)


def test_a_step_of_mean_field_is_its_formula():
    head, unaries = head_of(2), torch.tensor(numbers(3)[0], dtype=torch.float32)
    expected = unaries.clone()
    for k, (u, v) in enumerate(PAIRS):
        expected[u] += head.strengths[k] * head.coupling @ head.beliefs[v]
        expected[v] += head.strengths[k] * head.coupling @ head.beliefs[u]
    inputs = inputs_of(PAIRS, N_NODES)
    assert torch.allclose(head(unaries, inputs), expected, atol=1e-5)


TREE = np.array([[0, 2], [1, 2], [2, 3], [3, 4]])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_propagation_is_exact_on_trees(seed, largest):
    """Marginals, or max-marginals, against all labellings; one node may be clamped."""
    unaries, coupling, strengths = numbers(seed)
    if seed % 2:
        unaries[seed % N_NODES, 1:] = -np.inf
    found = propagate(unaries, coupling, strengths, TREE, largest=largest)
    merge = np.maximum if largest else np.logaddexp
    nodes = np.full((N_NODES, N_CLASSES), -np.inf)
    edges = np.full((len(TREE), N_CLASSES, N_CLASSES), -np.inf)
    for labels in labellings(N_NODES):
        total = score(labels, unaries, coupling, strengths, TREE)
        for i, label in enumerate(labels):
            nodes[i, label] = merge(nodes[i, label], total)
        for k, (u, v) in enumerate(TREE):
            place = k, labels[u], labels[v]
            edges[place] = merge(edges[place], total)
    assert np.allclose(softmax(found.nodes, axis=1), softmax(nodes, axis=1), atol=1e-10)
    joint, expected = (softmax(e, axis=(1, 2)) for e in (found.edges, edges))
    assert np.allclose(joint, expected, atol=1e-10)


@pytest.mark.parametrize("kind", ["sum", "max"])
@pytest.mark.parametrize("name", ["tree", "loopy"])
def test_propagation_is_that_of_the_authors(golden, name, kind):
    """100 steps of their code, in double precision; on the tree both are exact."""
    with np.load(golden / "calib" / "lbp_small.npz") as file:
        stored = {key.removeprefix(f"{name}_"): file[key] for key in file.files if name in key}
    field = (stored[key] for key in ("unary", "B", "scale", "edges"))
    found = propagate(*field, largest=kind == "max")
    nodes, joint = softmax(found.nodes, axis=1), softmax(found.edges, axis=(1, 2))
    assert np.allclose(nodes, stored[f"{kind}_node"], atol=1e-10)
    assert np.allclose(joint, stored[f"{kind}_edge"], atol=1e-10)
    if (name, kind) == ("tree", "sum"):
        assert np.allclose(nodes, stored["exact_node"], atol=1e-10)
        assert np.allclose(joint, stored["exact_edge"], atol=1e-10)


def known_of(nodes, classes, n_nodes: int) -> Known:
    return Known(torch.tensor(nodes), torch.tensor(classes), PAIRS, n_nodes)


def test_clamps_rule_out_what_is_known_to_be_wrong():
    unaries = np.arange(15.0).reshape(5, 3)
    scores = clamped(unaries, known_of([1, 3], [2, 0], 5))
    assert np.array_equal(scores[[0, 2, 4]], unaries[[0, 2, 4]])
    assert np.array_equal(np.isfinite(scores[[1, 3]]), [[False, False, True], [True, False, False]])


def test_published_clamps_hit_the_first_nodes():
    """Two known nodes, 2 and 4: their energies land on nodes 0 and 1, and they become uniform."""
    unaries = np.array([[0.0, 1, 2], [5, 5, 4], [1, 2, 0], [3, 1, 2], [0, 7, 0]])
    scores = clamped_as_published(unaries, known_of([2, 4], [1, 0], 5))
    # Node 0 has energies (0, −1, −2); for class 1 it gets node 2's −2, and counts from the lowest.
    assert np.allclose(scores[0], [-2, 0, 0])
    # Node 1 has (−5, −5, −4); for class 0 it gets node 4's 0.
    assert np.allclose(scores[1], [-5, 0, -1])
    assert np.allclose(scores[[2, 4]], 0)
    assert np.allclose(scores[3], [0, -2, -1])
    # A known node among the first is clamped, to the class of another one.
    scores = clamped_as_published(unaries, known_of([1, 3], [2, 0], 5))
    assert np.allclose(scores[1], [0, -20, -20])
    assert np.allclose(scores[3], 0)
    assert np.allclose(scores[0], [-4, -3, 0])


FIT = {"epochs": 60, "rate": 1e-2, "hidden": 16}


@pytest.fixture(scope="module")
def fitted():
    return small("edgewise/epfgnn", rounds=3, **FIT).fit(MADE.graph, MADE.split, seed=0)


def test_edges_are_judged_jointly_where_that_is_corrected(fitted):
    graph, split = MADE.graph, MADE.split
    found = fitted.predict(graph)
    assert np.array_equal(found.edges, graph.edges)
    assert np.allclose(found.edge_probs.sum(axis=2), found.probs[graph.edges[:, 0]], atol=1e-6)
    assert np.allclose(found.edge_probs.sum(axis=1), found.probs[graph.edges[:, 1]], atol=1e-6)
    known = found.probs[split["train"]]
    assert np.array_equal(known, np.eye(3)[graph.labels[split["train"]]])
    published = dataclasses.replace(
        fitted, method=dataclasses.replace(fitted.method, protocol="published")
    ).predict(graph)
    assert published.edge_probs is None
    assert not np.array_equal(published.probs[split["train"]], known)


def test_mean_field_is_the_networks_output(fitted):
    method = dataclasses.replace(fitted.method, inference="mean-field")
    found = dataclasses.replace(fitted, method=method).predict(MADE.graph)
    with torch.no_grad():
        output = fitted.network(method.inputs(MADE.graph)).softmax(dim=1)
    assert np.allclose(found.probs, output, atol=1e-6)
    assert found.edge_probs is None
    with pytest.raises(InputError, match="inference: 'guess' is not one of"):
        small("edgewise/epfgnn", inference="guess")


def test_rounds_keep_what_validates_best_and_end(fitted):
    """No round ends worse than the one before, and idle rounds end the training."""
    graph, split = MADE.graph, MADE.split
    nodes, labels = split["valid_in"], graph.labels
    inputs = fitted.method.inputs(graph)
    errors = []
    for rounds in (1, 2, 3):
        trained = small("edgewise/epfgnn", rounds=rounds, **FIT).fit(graph, split, seed=0)
        with torch.no_grad():
            output = trained.network(inputs)
        errors.append(float((output.argmax(1).numpy() != labels)[nodes].mean()))
    assert errors == sorted(errors, reverse=True)
    short = small("edgewise/epfgnn", rounds=50, idle_rounds=1, round_patience=1, **FIT)
    assert len(short.fit(graph, split, seed=0).progress.train) < 60 + 50 * 2


def test_coupling_is_learned_where_neighbours_agree():
    """With steps enough, edges come to favour equal classes, by what neighbours are known to be."""
    trained = small(
        "edgewise/epfgnn", rounds=4, round_epochs=60, round_patience=100, share=0.0, **FIT
    ).fit(MADE.graph, MADE.split, seed=0)
    head = trained.network.head
    with torch.no_grad():
        tables = head.strengths.mean() * head.coupling
    equal = float(tables.diagonal().mean())
    assert equal > float(tables.mean())


def test_edges_by_rows_of_the_adjacency():
    edges = Edges(inputs_of(PAIRS, N_NODES))
    rows, columns = edges.pattern.rows.numpy(), edges.pattern.columns.numpy()
    for entry, (u, v) in enumerate(zip(rows, columns, strict=True)):
        assert tuple(PAIRS[edges.of_entry[entry]]) == (min(u, v), max(u, v))
    assert np.array_equal(edges.pieces.flatten(), np.bincount(PAIRS.ravel(), minlength=5) + 1)
    assert sp.csr_array((np.ones(8), (rows, columns)), (5, 5)).sum() == 8
