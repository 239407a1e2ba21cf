"""The same by other means: every labelling in turn, and messages one at a time."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st
from scipy.special import logsumexp

from graphgauge.beliefs import PairwiseModel


def coupling(model, row):
    """Return the matrix of one edge."""
    if model.coupling.ndim == 3:
        return model.coupling[row].astype(float)
    strength = 1.0 if model.strengths is None else float(model.strengths[row])
    return strength * model.coupling.astype(float)


def clamped_scores(model):
    scores = model.scores.astype(float)
    for node, label in enumerate([] if model.clamped is None else model.clamped):
        if label >= 0:
            kept = scores[node, label]
            scores[node] = -np.inf
            scores[node, label] = kept
    return scores


def labellings(model):
    """Score every labelling: an axis a node, in extended precision."""
    n, n_classes = model.scores.shape
    total = np.zeros((n_classes,) * n, np.longdouble)
    along = np.eye(n, dtype=int) * (n_classes - 1) + 1
    for node, scores in enumerate(clamped_scores(model)):
        total = total + scores.reshape(along[node])
    for row, (u, v) in enumerate(model.edges):
        matrix = coupling(model, row)
        matrix = matrix if u < v else matrix.T
        total = total + matrix.reshape(along[u] * along[v])
    return total


def enumerated(model, product):
    """Return marginals of nodes and edges, and log Z or the best score; None if there is none."""
    total = labellings(model)
    best = total.max()
    if best == -np.inf:
        return None
    weights = np.exp(total - best)
    fold = np.sum if product == "sum" else np.max

    def marginal(*kept):
        folded = fold(weights, axis=tuple(set(range(weights.ndim)) - set(kept)))
        folded = folded if kept == tuple(sorted(kept)) else folded.T
        return (folded / folded.sum()).astype(float)

    nodes = np.array([marginal(i) for i in range(weights.ndim)])
    edges = np.array([marginal(int(u), int(v)) for u, v in model.edges])
    log_z = best + np.log(weights.sum()) if product == "sum" else best
    return nodes, edges.reshape(-1, *[model.n_classes] * 2), float(log_z)


def one_by_one(model, product, rounds, *, damping=0.0, scores=None):
    """Send messages around in a dictionary, never dividing; return marginals of nodes and edges."""
    fold = logsumexp if product == "sum" else np.max
    scores = clamped_scores(model) if scores is None else scores
    matrices = {}
    for row, (u, v) in enumerate(model.edges.tolist()):
        matrices[u, v] = coupling(model, row)
        matrices[v, u] = coupling(model, row).T
    near = {i: [v for u, v in matrices if u == i] for i in range(model.n_nodes)}

    def scaled(message):
        return message - message.max()

    def leaving(node, other, messages):
        come = [messages[k, node] for k in near[node] if k != other]
        return scores[node] + np.sum(come, axis=0)

    messages = {pair: scaled(fold(matrix, axis=0)) for pair, matrix in matrices.items()}
    for _ in range(rounds):
        fresh = {
            (u, v): scaled(fold(matrix + leaving(u, v, messages)[:, None], axis=0))
            for (u, v), matrix in matrices.items()
        }
        if damping:
            fresh = {k: (1 - damping) * fresh[k] + damping * messages[k] for k in fresh}
        messages = fresh
    nodes = [scores[i] + np.sum([messages[k, i] for k in near[i]], axis=0) for i in near]
    edges = [
        matrices[u, v] + leaving(u, v, messages)[:, None] + leaving(v, u, messages)
        for u, v in model.edges.tolist()
    ]
    return np.array([shares(x) for x in nodes]), np.array([shares(x) for x in edges])


def shares(logs):
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()


def bethe(model, nodes, edges):
    """Return Bethe's estimate of log Z from consistent marginals of nodes and edges."""

    def mean(probs, scores):
        return (probs * np.where(probs > 0, scores, 0)).sum()

    def entropy(probs):
        return -mean(probs, np.log(np.where(probs > 0, probs, 1)))

    degrees = np.bincount(model.edges.ravel(), minlength=model.n_nodes)
    estimate = mean(nodes, clamped_scores(model))
    estimate += sum((1 - d) * entropy(p) for d, p in zip(degrees, nodes, strict=True))
    for row, joint in enumerate(edges):
        estimate += mean(joint, coupling(model, row)) + entropy(joint)
    return estimate


def random_model(rng, n, n_classes, pairs, *, kind="own", scale=1.0, spread=1.0, precision=float):
    """Make a model with edges in any order and direction."""
    pairs = np.array(pairs, int).reshape(-1, 2)
    pairs = rng.permuted(rng.permutation(pairs), axis=1)
    shape = (len(pairs), n_classes, n_classes) if kind == "each" else (n_classes, n_classes)
    matrix = spread * rng.normal(size=shape)
    if kind == "mirrored":
        matrix = matrix + matrix.T
    strengths = None
    if kind in ("own", "mirrored"):
        strengths = rng.normal(size=len(pairs))
    elif kind == "few":
        strengths = rng.choice([0.0, 1.0, -0.5], len(pairs))
    scores = (scale * rng.normal(size=(n, n_classes))).astype(precision)
    return PairwiseModel(scores, pairs, matrix, strengths)


KINDS = ["shared", "own", "few", "mirrored", "each"]


@st.composite
def models(draw, *, tree=False, scales=(0.0, 1.0, 30.0), spreads=(0.0, 1.0, 3.0), most=6):
    """Draw a model on a tree, or forest, or on any graph, perhaps with known and barred labels."""
    n = draw(st.integers(1, most))
    pairs = list(itertools.combinations(range(n), 2))
    if tree:
        parents = [draw(st.integers(-1, i - 1)) for i in range(1, n)]
        pairs = [(p, i) for i, p in enumerate(parents, 1) if p >= 0]
    elif pairs:
        pairs = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_classes = draw(st.integers(1, 4))
    model = random_model(
        rng,
        n,
        n_classes,
        pairs,
        kind=draw(st.sampled_from(KINDS)),
        scale=draw(st.sampled_from(scales)),
        spread=draw(st.sampled_from(spreads)),
    )
    scores = model.scores.copy()
    if draw(st.booleans()):
        barred = rng.random(scores.shape) < 0.3
        barred[np.arange(n), rng.integers(0, n_classes, n)] = False
        scores[barred] = -np.inf
    clamped = None
    if draw(st.booleans()):
        clamped = np.where(rng.random(n) < 0.4, scores.argmax(axis=1), -1)
    return PairwiseModel(scores, model.edges, model.coupling, model.strengths, clamped)
