"""A pairwise model of discrete labels on a graph, checked."""

from __future__ import annotations

from collections.abc import Sized
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphgauge.arrays import FloatArray, IntArray, check_pairs, floats, integers, refuse
from graphgauge.errors import InputError, name_rows
from graphgauge.graph import first_rows, undirected_edges

__all__ = ["PairwiseModel"]


@dataclass(frozen=True, eq=False)
class PairwiseModel:
    """Scores of labels: S(y) = Σ_i U_i(y_i) + Σ_(i,j) K_ij(y_i, y_j), so that p(y) ∝ exp S(y).

    Parameters
    ----------
    scores
        U, the score of every label at every node ``[n, C]``, such as logits; -inf where a label
        is impossible. Beliefs are computed in the precision of these scores.
    edges
        Unique undirected pairs of nodes ``[e, 2]``, in any order and either direction.
    coupling
        K, either one matrix for all edges ``[C, C]`` or one an edge ``[e, C, C]``. Rows belong to
        the first end of an edge, columns to the second; -inf where a pair of labels is impossible.
    strengths
        What the one matrix is multiplied by at every edge ``[e]``, or None for 1.
    clamped
        Label of every node that is known ``[n]``, -1 where it is not; or None.

    Examples
    --------
    >>> model = PairwiseModel([[2.0, 0.0], [0.0, 0.0]], [[0, 1]], np.eye(2))
    >>> model.n_nodes, model.n_classes, model.pair_scores([0]).tolist()
    (2, 2, [[[1.0, 0.0], [0.0, 1.0]]])
    >>> PairwiseModel([[2.0, 0.0], [0.0, 0.0]], [[0, 1], [1, 0]], np.eye(2))
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: edges: 1 joins a node with itself or was there before (row 1)
    """

    scores: FloatArray
    edges: IntArray
    coupling: FloatArray
    strengths: FloatArray | None = None
    clamped: IntArray | None = None

    def __post_init__(self) -> None:
        scores = _scores("scores", self.scores, ndim=2)
        n, n_classes = scores.shape
        if not n_classes:
            raise InputError(f"scores: has shape {scores.shape}, no classes to choose from")
        if n and scores.min() == -np.inf:
            refuse("scores", scores.max(axis=1) == -np.inf, "allows no label", "allow no label")
        edges = _edges(self.edges, n)
        coupling = _coupling(self.coupling, len(edges), n_classes, scores.dtype)
        for name, value in (("scores", scores), ("edges", edges), ("coupling", coupling)):
            object.__setattr__(self, name, value)
        if self.strengths is not None:
            strengths = _strengths(self.strengths, coupling, len(edges))
            object.__setattr__(self, "strengths", strengths)
        if self.clamped is not None:
            object.__setattr__(self, "clamped", _clamped(self.clamped, scores))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.scores.shape[0])

    @property
    def n_classes(self) -> int:
        """Number of labels a node may have."""
        return int(self.scores.shape[1])

    def pair_scores(self, rows: IntArray) -> FloatArray:
        """Return the scores of all pairs of labels at some of the edges ``[k, C, C]``."""
        if self.coupling.ndim == 3:
            return self.coupling[rows]
        if self.strengths is None:
            return np.repeat(self.coupling[None], len(self.edges[rows]), axis=0)
        return np.asarray(self.strengths[rows][:, None, None] * self.coupling)


def _scores(
    name: str, value: object, *, ndim: int, precision: np.dtype[Any] | None = None
) -> FloatArray:
    """Let -inf in beside numbers of which a graph's worth can be added up."""
    array = floats(name, value, ndim=ndim, finite=False)
    with np.errstate(over="ignore", under="ignore"):
        array = array.astype(precision or array.dtype, copy=False)
    most = float(np.finfo(array.dtype).max) ** 0.25
    if array.size and not (array.max() <= most and array.min() >= -most):
        # What is not a number is not within the bounds either.
        within = (np.abs(array) <= most) | (array == -np.inf)
        refuse(name, ~within, "is no score or too large", "are no scores or too large")
    return array


def _edges(value: object, n_nodes: int) -> IntArray:
    if isinstance(value, Sized) and not len(value):
        value = np.empty((0, 2), np.int32)
    edges = integers("edges", value, ndim=2)
    check_pairs("edges", edges, n_nodes)
    if len(undirected_edges(edges, n_nodes)) < len(edges):
        again = np.ones(len(edges), bool)
        again[first_rows(edges, n_nodes)] = False
        n = int(again.sum())
        joins = "joins a node with itself or was" if n == 1 else "join a node with itself or were"
        raise InputError(f"edges: {n} {joins} there before ({name_rows(again)})")
    return edges


def _coupling(value: Any, n_edges: int, n_classes: int, precision: np.dtype[Any]) -> FloatArray:
    ndim = 2
    with suppress(ValueError):  # What makes no array is refused below.
        ndim = 3 if np.ndim(value) == 3 else 2
    coupling = _scores("coupling", value, ndim=ndim, precision=precision)
    square = (n_classes, n_classes)
    if coupling.shape not in (square, (n_edges, *square)):
        raise InputError(
            f"coupling: has shape {coupling.shape}, expected {square} or {(n_edges, *square)}"
        )
    return coupling


def _strengths(value: object, coupling: FloatArray, n_edges: int) -> FloatArray:
    strengths = floats("strengths", value, ndim=1)
    strengths = _scores("strengths", strengths, ndim=1, precision=coupling.dtype)
    if len(strengths) != n_edges:
        raise InputError(f"lengths differ: edges has {n_edges} rows, strengths {len(strengths)}")
    if coupling.ndim == 3:
        raise InputError("strengths: scale one coupling for all edges, not one an edge")
    if np.isneginf(coupling).any():
        raise InputError("strengths: an impossible pair (-inf) has no multiple; give K an edge")
    return strengths


def _clamped(value: object, scores: FloatArray) -> IntArray:
    clamped = integers("clamped", value, ndim=1)
    n, n_classes = scores.shape
    if len(clamped) != n:
        raise InputError(f"lengths differ: scores has {n} rows, clamped {len(clamped)}")
    labels = f"no label 0..{n_classes - 1}, nor -1"
    unknown = (clamped < -1) | (clamped >= n_classes)
    refuse("clamped", unknown, f"is {labels}", f"are {labels}")
    nodes = np.flatnonzero(clamped >= 0)
    lost = np.zeros(n, bool)
    lost[nodes] = scores[nodes, clamped[nodes]] == -np.inf
    told = "at a label that scores call impossible"
    refuse("clamped", lost, f"is {told}", f"are {told}")
    return clamped
