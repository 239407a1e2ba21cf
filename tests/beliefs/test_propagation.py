"""Beliefs against every labelling on trees, and against messages one by one on any graph."""

from __future__ import annotations

import itertools
import tracemalloc
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from direct import (
    KINDS,
    bethe,
    clamped_scores,
    enumerated,
    models,
    one_by_one,
    random_model,
    shares,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.beliefs import PairwiseModel, couplings, flooding
from graphgauge.beliefs import propagate_beliefs as propagate
from graphgauge.beliefs import published_beliefs as published
from graphgauge.errors import InputError

PATH = [[0, 1], [1, 2], [2, 3]]
RING = [[0, 1], [1, 2], [2, 3], [3, 0]]

# Ways of going about it that size alone decides: a block of few edges, tables for each edge, made
# again in every round, all labels of a sum one by one, logarithms throughout.
ways = st.fixed_dictionaries(
    {
        "_FEW": st.sampled_from([0, 16]),
        "_MESSAGES": st.sampled_from([1, 40, 2**18]),
        "_TABLE": st.sampled_from([1, 2**18]),
        "_KEPT": st.sampled_from([0, 2**22]),
    }
)


LOGARITHMS = dict.fromkeys(flooding._MOST_SPREAD, -1.0)


@contextmanager
def going(way=None, *, at_once=True, logs=False):
    most = LOGARITHMS if logs else flooding._MOST_SPREAD
    with (
        mock.patch.multiple(couplings, **{"_FEW": couplings._FEW} | (way or {})),
        mock.patch.multiple(flooding, _AT_ONCE=2**19 if at_once else 0, _MOST_SPREAD=most),
    ):
        yield


def agree(beliefs, expected, tolerance=1e-10):
    nodes, edges, *log_z = expected
    np.testing.assert_allclose(beliefs.nodes, nodes, rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        beliefs.edges(), edges.reshape(beliefs.edges().shape), atol=tolerance
    )
    for value in log_z:
        assert beliefs.log_z == pytest.approx(value, rel=tolerance, abs=tolerance)


# Trees, against every labelling.


@given(models(tree=True), st.sampled_from(["sum", "max"]), ways, st.booleans(), st.booleans())
@settings(deadline=None, max_examples=150)
def test_trees_are_exact(model, product, way, at_once, logs):
    with going(way, at_once=at_once, logs=logs):
        agree(propagate(model, product=product), enumerated(model, product))


@given(
    models(tree=True, scales=(1e3, 1e6), spreads=(1.0, 1e3, 1e5)), st.sampled_from(["sum", "max"])
)
@settings(deadline=None, max_examples=100)
def test_large_scores_do_not_overflow(model, product):
    """Scores of a million leave ten digits of sixteen after the point."""
    agree(propagate(model, product=product, tolerance=1e-9), enumerated(model, product), 3e-9)


@given(
    models(tree=True, scales=(1.0, 1e3)),
    st.sampled_from(["sum", "max"]),
    st.integers(0, 2**32),
    st.sampled_from([0.2, 0.6]),
)
@settings(deadline=None, max_examples=150)
def test_impossible_pairs_on_trees(model, product, seed, share):
    """What no labelling has gets nothing, and no labelling at all is an error."""
    rng = np.random.default_rng(seed)
    each = np.array([model.pair_scores(np.array([row]))[0] for row in range(len(model.edges))])
    each = each.reshape(-1, model.n_classes, model.n_classes)
    each[rng.random(each.shape) < share] = -np.inf
    model = PairwiseModel(model.scores, model.edges, each, clamped=model.clamped)
    expected = enumerated(model, product)
    if expected is None:
        with pytest.raises(InputError, match=r"^scores: \d+ rows? (is|are) left no label"):
            propagate(model, product=product)
    else:
        agree(propagate(model, product=product), expected)


def test_long_paths_are_exact():
    """A path of 40 nodes by products of matrices; its ends hear of each other after 39 rounds."""
    rng = np.random.default_rng(5)
    path = [[i, i + 1] for i in range(39)]
    model = PairwiseModel(rng.normal(size=(40, 3)), path, 4 * np.eye(3))
    reaching = np.ones(3)
    for weights in np.exp(model.scores[:-1]):
        reaching = (reaching * weights) @ np.exp(model.coupling)
    reaching *= np.exp(model.scores[-1])
    beliefs = propagate(model, iterations=39, tolerance=0)
    assert beliefs.log_z == pytest.approx(np.log(reaching.sum()), rel=1e-13)
    np.testing.assert_allclose(beliefs.nodes[-1], reaching / reaching.sum(), atol=1e-13)
    short = propagate(model, iterations=38, tolerance=0)
    assert abs(short.nodes[-1] - beliefs.nodes[-1]).max() > 1e-11


# Loops, against messages one by one.


@given(
    models(),
    st.sampled_from(["sum", "max"]),
    st.sampled_from([0.0, 0.3]),
    st.integers(1, 12),
    ways,
    st.booleans(),
)
@settings(deadline=None, max_examples=150)
def test_rounds_equal_messages_one_by_one(model, product, damping, rounds, way, logs):
    with going(way, logs=logs):
        beliefs = propagate(model, product=product, damping=damping, iterations=rounds, tolerance=0)
    assert beliefs.iterations == rounds
    agree(beliefs, one_by_one(model, product, rounds, damping=damping))


@given(models(spreads=(0.3, 1.0)), st.sampled_from([0.0, 0.5]))
@settings(deadline=None, max_examples=100)
def test_fixed_points_are_consistent(model, damping):
    """Joint marginals sum to those of nodes, and log Z is what they say."""
    beliefs = propagate(model, damping=damping, tolerance=1e-13, iterations=2000)
    if not beliefs.converged:
        return
    edges = beliefs.edges()
    for end, axis in ((0, 2), (1, 1)):
        ends = beliefs.nodes[model.edges[:, end]]
        np.testing.assert_allclose(edges.sum(axis=axis), ends, atol=1e-10)
    assert beliefs.log_z == pytest.approx(bethe(model, beliefs.nodes, edges), abs=1e-9, rel=1e-9)
    agree(beliefs, one_by_one(model, "sum", beliefs.iterations, damping=damping))


@given(models(most=5), st.integers(0, 2**32), st.sampled_from(["sum", "max"]))
@settings(deadline=None, max_examples=60)
def test_impossible_pairs_on_loops(model, seed, product):
    """One pair of labels is barred everywhere; all of them alike would leave none at times."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(model.n_classes,) * 2)
    if model.n_classes > 2:
        matrix[rng.integers(model.n_classes), rng.integers(model.n_classes)] = -np.inf
    scores = np.where(np.isfinite(model.scores), model.scores, -5.0)
    model = PairwiseModel(scores, model.edges, matrix)
    beliefs = propagate(model, product=product, iterations=9, tolerance=0)
    agree(beliefs, one_by_one(model, product, 9))


@given(models(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_numbers_and_directions_do_not_matter(model, seed):
    """Renumber nodes, shuffle edges and turn some of them round."""
    rng = np.random.default_rng(seed)
    n, rows = model.n_nodes, rng.permutation(len(model.edges))
    names, turned = rng.permutation(n), rng.random(len(rows)) < 0.5
    each = model.pair_scores(rows)
    each = np.where(turned[:, None, None], each.swapaxes(1, 2), each)
    edges = names[model.edges[rows]]
    edges = np.where(turned[:, None], edges[:, ::-1], edges)
    back = np.argsort(names)
    clamped = None if model.clamped is None else model.clamped[back]
    other = propagate(PairwiseModel(model.scores[back], edges, each, clamped=clamped))
    beliefs = propagate(model)
    np.testing.assert_allclose(other.nodes[names], beliefs.nodes, atol=1e-9)
    joint = other.edges()
    joint = np.where(turned[:, None, None], joint.swapaxes(1, 2), joint)
    np.testing.assert_allclose(joint, beliefs.edges(rows), atol=1e-9)
    assert other.log_z == pytest.approx(beliefs.log_z, rel=1e-9, abs=1e-9)


# Reference outputs.


@pytest.mark.parametrize("graph", ["tree", "loopy"])
@pytest.mark.parametrize("product", ["sum", "max"])
def test_reference_outputs(golden, graph, product):
    with np.load(golden / "calib" / "lbp_small.npz") as stored:
        kept = {k.removeprefix(f"{graph}_"): v for k, v in stored.items() if k.startswith(graph)}
    model = PairwiseModel(kept["unary"], kept["edges"], kept["B"], strengths=kept["scale"])
    beliefs = propagate(model, product=product, tolerance=0)
    agree(beliefs, (kept[f"{product}_node"], kept[f"{product}_edge"]), 1e-12)
    if product == "max":
        agree(published(model), (kept["max_node"], kept["max_edge"]), 1e-12)
    if graph == "tree":
        exact = kept["exact_node" if product == "sum" else "exact_maxnode"]
        np.testing.assert_allclose(beliefs.nodes, exact, atol=1e-12)
    if graph == "tree" and product == "sum":
        np.testing.assert_allclose(beliefs.edges(), kept["exact_edge"], atol=1e-12)
        assert beliefs.log_z == pytest.approx(float(kept["logZ"]), rel=1e-13)


# The published protocol.


@given(models(scales=(1.0, 15.0)))
@settings(deadline=None, max_examples=60)
def test_published_protocol_equals_messages_one_by_one(model):
    """Known labels land in the first rows, and nothing is worse than 20 below the best."""
    model = PairwiseModel(
        np.maximum(model.scores, -50), model.edges, model.coupling, model.strengths, model.clamped
    )
    scores = model.scores.copy()
    known = [] if model.clamped is None else [i for i, y in enumerate(model.clamped) if y >= 0]
    for node in known:
        scores[node] = -1e5
    for row, node in enumerate(known):
        scores[row, model.clamped[node]] = model.scores[node, model.clamped[node]]
    for row in scores:
        row[:] = np.maximum(row - row.max(), -20)
    expected = one_by_one(model, "max", 100, scores=scores)
    settled = one_by_one(model, "max", 99, scores=scores)
    beliefs = published(model)
    assert beliefs.iterations == 100
    # Where rounds go on and on from one state to another, rounding may turn them at a tie.
    if np.allclose(expected[0], settled[0], atol=1e-12):
        agree(beliefs, expected)


def test_published_protocol_without_couplings_is_a_softmax():
    scores = np.array([[0.0, 1.0], [3.0, 1.0], [2.0, 0.0], [50.0, 0.0]])
    model = PairwiseModel(scores, RING, np.eye(2), strengths=np.zeros(4), clamped=[-1, -1, 1, -1])
    expected = [shares(np.array(row)) for row in ([0.0, 0.0], [3, 1], [0, 0], [0, -20])]
    np.testing.assert_allclose(published(model).nodes, expected, atol=1e-15)
    corrected = propagate(model).nodes
    np.testing.assert_allclose(corrected[[0, 1]], [shares(row) for row in scores[:2]])
    np.testing.assert_array_equal(corrected[2], [0, 1])


# What is known, and what is not settled.


def test_clamped_nodes_are_certain():
    rng = np.random.default_rng(2)
    model = random_model(rng, 4, 3, RING, kind="each")
    clamped = PairwiseModel(model.scores, model.edges, model.coupling, clamped=[2, -1, -1, 0])
    beliefs = propagate(clamped)
    np.testing.assert_array_equal(beliefs.nodes[[0, 3]], [[0, 0, 1], [1, 0, 0]])
    # The rest of the ring is a path that they have no part in but by their labels.
    agree(beliefs, enumerated(clamped, "sum"))
    assert (clamped.scores == model.scores).all()


def test_damping_settles_what_swings():
    """Neighbours that repel each other strongly swing to and fro, all at once."""
    full = list(itertools.combinations(range(5), 2))
    model = PairwiseModel(0.1 * np.arange(10.0).reshape(5, 2), full, -3 * np.eye(2))
    swinging = propagate(model, iterations=500)
    assert not swinging.converged
    assert (swinging.iterations, swinging.residual > 0.1) == (500, True)
    settled = propagate(model, damping=0.8, iterations=500, tolerance=1e-12)
    assert settled.converged
    other = propagate(model, damping=0.9, iterations=500, tolerance=1e-12)
    np.testing.assert_allclose(settled.nodes, other.nodes, atol=1e-10)
    assert other.iterations > settled.iterations


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("product", ["sum", "max"])
@pytest.mark.parametrize("logs", [False, True])
def test_damping_reaches_the_same_fixed_point(kind, product, logs, rng):
    pairs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)]
    model = random_model(rng, 5, 3, pairs, kind=kind, spread=0.3)
    with going(logs=logs):
        plain, damped = (
            propagate(model, product=product, damping=d, tolerance=1e-13, iterations=500)
            for d in (0.0, 0.4)
        )
    assert plain.converged
    assert damped.converged
    assert damped.iterations > plain.iterations
    np.testing.assert_allclose(damped.nodes, plain.nodes, atol=1e-11)
    assert damped.log_z == pytest.approx(plain.log_z, abs=1e-11)


def test_the_residual_decides():
    rng = np.random.default_rng(1)
    model = random_model(rng, 4, 2, RING, spread=0.5)
    residuals = [propagate(model, tolerance=0, iterations=k).residual for k in range(1, 30)]
    tolerance = 1e-5
    first = next(k for k, residual in enumerate(residuals, 1) if residual <= tolerance)
    beliefs = propagate(model, tolerance=tolerance)
    assert beliefs.converged
    assert beliefs.iterations == first > 3
    assert beliefs.residual == pytest.approx(residuals[first - 1], rel=1e-6)
    short = propagate(model, tolerance=tolerance, iterations=first - 1)
    assert (short.converged, short.iterations) == (False, first - 1)


@pytest.mark.parametrize("rounds", [7, 8, 9])
def test_scales_that_are_left_alone_do_not_matter(rounds, rng):
    """Logarithms are scaled every eighth round only."""
    model = random_model(rng, 4, 3, RING, kind="each", spread=4.0)
    for product in ("sum", "max"):
        with going(logs=True):
            beliefs = propagate(model, product=product, iterations=rounds, tolerance=0)
        agree(beliefs, one_by_one(model, product, rounds))


@pytest.mark.parametrize("product", ["sum", "max"])
def test_single_precision_stays_single(product, rng):
    pairs = list(itertools.combinations(range(6), 2))[:9]
    for kind, scale in itertools.product(KINDS, [1.0, 300.0]):
        model = random_model(rng, 6, 4, pairs, kind=kind, scale=scale, precision=np.float32)
        beliefs = propagate(model, product=product, iterations=10, tolerance=0)
        assert beliefs.nodes.dtype == beliefs.edges().dtype == np.float32
        agree(beliefs, one_by_one(model, product, 10), 2e-6 * scale + 2e-6)


@pytest.mark.parametrize("product", ["sum", "max"])
def test_known_labels_far_apart_pull_from_both_sides(product):
    """Couplings too strong for weights: their exponentials could not be told from zero."""
    model = PairwiseModel(
        [[0.0, -2000.0], [0.0, 0.0], [-2000.0, 0.0]], PATH[:2], 1500.0 * np.eye(2)
    )
    agree(propagate(model, product=product), enumerated(model, product))


# Edge cases.


def test_isolated_nodes_keep_their_softmax(rng):
    scores = rng.normal(size=(5, 3))
    beliefs = propagate(PairwiseModel(scores, [[1, 3]], np.eye(3)))
    for node in (0, 2, 4):
        np.testing.assert_allclose(beliefs.nodes[node], shares(scores[node]), atol=1e-15)
    assert abs(beliefs.nodes[1] - shares(scores[1])).max() > 0.01


@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize("product", ["sum", "max"])
def test_no_edges(n, product):
    for matrix in (np.eye(2), np.empty((0, 2, 2))):
        model = PairwiseModel(np.ones((n, 2)), [], matrix)
        beliefs = propagate(model, product=product)
        np.testing.assert_array_equal(beliefs.nodes, np.full((n, 2), 0.5))
        assert beliefs.edges().shape == (0, 2, 2)
        assert list(beliefs.edge_blocks()) == []
        assert beliefs.converged
        assert beliefs.log_z == pytest.approx(n * (1 + np.log(2) * (product == "sum")))


@pytest.mark.parametrize("product", ["sum", "max"])
def test_one_class(product):
    model = PairwiseModel([[1.0], [2.0], [4.0]], [[0, 1], [2, 1]], [[3.0]], strengths=[1.0, -2.0])
    beliefs = propagate(model, product=product)
    np.testing.assert_array_equal(beliefs.nodes, np.ones((3, 1)))
    np.testing.assert_array_equal(beliefs.edges(), np.ones((2, 1, 1)))
    assert beliefs.log_z == pytest.approx(1 + 2 + 4 + 3 - 6)


def test_chosen_edges_are_those_of_all(rng):
    model = random_model(rng, 6, 3, list(itertools.combinations(range(6), 2)), kind="each")
    beliefs = propagate(model)
    every = beliefs.edges()
    np.testing.assert_array_equal(beliefs.edges([7, 0, 7]), every[[7, 0, 7]])
    with mock.patch("graphgauge.beliefs.propagate._PAIRS", 40):
        blocks = list(beliefs.edge_blocks())
        np.testing.assert_array_equal(beliefs.edges(), every)
    assert len(blocks) == 4
    for rows, joint in blocks:
        np.testing.assert_array_equal(joint, every[rows])
    with pytest.raises(InputError, match=r"^rows: 1 row is outside the edges 0\.\.14 \(row 1\)$"):
        beliefs.edges([3, 15])


def test_input_is_left_alone(rng):
    model = random_model(rng, 4, 3, RING)
    kept = [a.copy() for a in (model.scores, model.edges, model.coupling, model.strengths)]
    beliefs = propagate(model, damping=0.1)
    first = beliefs.edges()
    np.testing.assert_array_equal(beliefs.edges(), first)
    published(model)
    for array, copy in zip(
        (model.scores, model.edges, model.coupling, model.strengths), kept, strict=True
    ):
        np.testing.assert_array_equal(array, copy)


# Memory.


@pytest.mark.parametrize("strengths", ["none", "few", "own"])
@pytest.mark.parametrize("product", ["sum", "max"])
def test_a_shared_coupling_is_never_made_for_all_edges(strengths, product, rng):
    """Every edge's own matrix would take 128 MB in single precision."""
    n, n_edges, n_classes = 4000, 20_000, 40
    pairs = rng.choice(n * (n - 1) // 2, n_edges, replace=False)
    u, v = np.triu_indices(n, 1)
    edges = np.stack([u[pairs], v[pairs]], axis=1)
    scale = {"none": None, "few": rng.choice([0.5, 1.0], n_edges), "own": rng.random(n_edges)}
    scores = rng.normal(size=(n, n_classes)).astype(np.float32)
    matrix = rng.normal(size=(n_classes, n_classes))
    del u, v, pairs
    tracemalloc.start()
    try:
        model = PairwiseModel(scores, edges, matrix, scale[strengths])
        beliefs = propagate(model, product=product, iterations=2, tolerance=0)
        for _, joint in beliefs.edge_blocks():
            assert joint.shape[1:] == (n_classes, n_classes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    messages = 2 * n_edges * n_classes * 4
    assert peak < 6 * messages < n_edges * n_classes**2 * 4 / 3


def test_clamped_scores_of_the_oracle():
    """The oracle clamps on its own account."""
    model = PairwiseModel(np.zeros((2, 2)), [[0, 1]], np.eye(2), clamped=[1, -1])
    np.testing.assert_array_equal(clamped_scores(model), [[-np.inf, 0], [0, 0]])
