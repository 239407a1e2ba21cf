"""Rounds in which all messages are replaced at once, each by what was known a round before.

What arrives at nodes is kept. What leaves a node along an edge is all that the node holds less
what came along this edge. Sums over labels are products of matrices as long as exponentials of the
couplings can be told from zero, at one logarithm a message and one exponential a node; beyond, and
for maxima, everything is done with logarithms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import FloatArray, IntArray, refuse
from graphgauge.beliefs.couplings import Couplings
from graphgauge.beliefs.messages import Logarithms, Maxima, Messages, Weights
from graphgauge.beliefs.model import PairwiseModel

__all__ = ["Flooding"]

# With κ the spread of a coupling, a label whose weight is flushed to zero at ε has at most a share
# of ε·exp(2κ) in any message; up to these κ this is far below rounding.
_MOST_SPREAD = {np.dtype(np.float32): 30.0, np.dtype(np.float64): 300.0}
# Sums of so many numbers are told to SciPy at once; with more, telling it takes no time.
_AT_ONCE = 2**19

_Tables: TypeAlias = Callable[[], Iterator[tuple[slice, FloatArray]]]


class Flooding:
    """The messages of a model on their way.

    Nodes stand in falling order of degree: rows of like length follow one another, so that a
    processor guesses right where sums over neighbours end. ``values`` ``[C, 2, e]`` is what
    arrives: of an edge (u, v) first at v, then at u.
    """

    def __init__(self, model: PairwiseModel, scores: FloatArray, *, maximal: bool) -> None:
        self.model, self.maximal = model, maximal
        degrees = np.bincount(model.edges.ravel(), minlength=model.n_nodes)
        self.nodes = np.argsort(-degrees, kind="stable")
        place = np.empty_like(self.nodes)
        place[self.nodes] = np.arange(len(place))
        self.couplings = Couplings.of(model, place)
        self.scores = np.ascontiguousarray(scores[self.nodes].T)
        self.hard = bool(np.isinf(self.couplings.spread))
        self.kind: Messages = Maxima() if maximal else Logarithms()
        if not maximal and self.couplings.spread <= _MOST_SPREAD[scores.dtype]:
            self.kind = Weights()
        # The messages of an edge (u, v) leave u, then v.
        self.sources = np.ascontiguousarray(place[model.edges[self.couplings.order].T])
        self.incoming = _sums_at(self.sources[::-1].ravel(), scores.shape, scores.dtype)
        self.values = np.empty((model.n_classes, *self.sources.shape), scores.dtype)
        self.beliefs, self.tops = self.scores, np.zeros_like(scores, shape=model.n_nodes)

    def settle(self, damping: float, tolerance: float, most: int) -> tuple[int, float, float]:
        """Take rounds until nothing changes.

        Returns how many were taken, the largest change of a message in the last one, and the
        logarithm of the partition function (for maxima, the best score).
        """
        with np.errstate(divide="ignore", under="ignore"):
            tables = self.couplings.tables(self.kind.of_logs)
            for rows, table in tables():
                arriving = self.values[:, :, rows]
                self._send(table, np.full_like(arriving, self.kind.even), arriving)
                self.kind.scale(arriving)
            taken, change = 0, np.inf
            while taken < most and not (tolerance and change <= tolerance):
                taken += 1
                watched, scaled = bool(tolerance) or taken == most, not taken % self.kind.lasting
                change = self._round(tables, damping, watched=watched, scaled=scaled)
            self._gather()
            return taken, change, self._log_z(tables)

    def marginals(self) -> FloatArray:
        """Return the marginals of nodes ``[n, C]``."""
        weights = np.exp(self.beliefs)
        weights /= weights.sum(axis=0)
        marginals = np.empty_like(weights.T, order="C")
        marginals[self.nodes] = weights.T
        return marginals

    def joint(self, rows: IntArray) -> FloatArray:
        """Return the joint marginals of edges ``[k, C, C]``."""
        places = self._edge_places[rows]
        leaving = np.take(self.beliefs, self.sources[:, places], axis=1)
        with np.errstate(invalid="ignore", under="ignore"):
            # What is barred stays so (see `_leaving`).
            leaving -= self.kind.logs(self.values[:, ::-1, places])
            np.fmax(leaving, -np.inf, out=leaving)
            joint = self.model.pair_scores(rows)
            joint += leaving[:, 0].T[:, :, None]
            joint += leaving[:, 1].T[:, None, :]
            joint -= joint.max(axis=(1, 2), keepdims=True)
            np.exp(joint, out=joint)
            joint /= joint.sum(axis=(1, 2), keepdims=True)
        return joint

    @cached_property
    def _edge_places(self) -> IntArray:
        places = np.empty_like(self.couplings.order)
        places[self.couplings.order] = np.arange(len(places))
        return places

    def _round(self, tables: _Tables, damping: float, *, watched: bool, scaled: bool) -> float:
        self._gather()
        held = self.kind.of_logs(self.beliefs)
        change = 0.0
        for rows, table in tables():
            leaving, arriving = self._leaving(held, rows), self.values[:, :, rows]
            fresh = np.empty_like(leaving) if watched or damping else arriving
            self._send(table, leaving, fresh)
            if scaled:
                self.kind.scale(fresh)
            if watched:
                change = max(change, self.kind.change(fresh, arriving))
            if damping:
                self.kind.damp(fresh, arriving, damping)
            if fresh is not arriving:
                arriving[...] = fresh
        return change

    def _gather(self) -> None:
        """Sum up what arrived at every node: logarithms of beliefs, the best label's at zero."""
        n_classes, n_nodes = self.scores.shape
        at_a_time = max(self.incoming.shape[0] // max(n_nodes, 1), 1)
        self.beliefs = np.empty_like(self.scores)
        for labels in (slice(k, k + at_a_time) for k in range(0, n_classes, at_a_time)):
            sums = self.incoming @ self.kind.logs(self.values[labels]).ravel()
            alone = self.scores[labels]
            np.add(alone, sums.reshape(alone.shape), out=self.beliefs[labels])
        self.tops = self.beliefs.max(axis=0)
        if self.hard:
            lost = np.zeros(n_nodes, bool)
            lost[self.nodes] = np.isneginf(self.tops)
            told = "left no label by what is next to"
            refuse("scores", lost, f"is {told} it", f"are {told} them")
        self.beliefs -= self.tops

    def _leaving(self, held: FloatArray, rows: slice) -> FloatArray:
        """Take out of what nodes hold what came along the edge it leaves on ``[C, 2, k]``."""
        leaving = np.take(held, self.sources[:, rows], axis=1)
        if not self.hard:
            self.kind.less(leaving, self.values[:, ::-1, rows])
            return leaving
        # Where an edge has barred a label, minus infinity cannot be taken out. Nor need it be: at
        # the other end, this label goes only with those that are barred there too.
        with np.errstate(invalid="ignore"):
            self.kind.less(leaving, self.values[:, ::-1, rows])
        return np.asarray(np.fmax(leaving, -np.inf, out=leaving))

    def _send(self, table: FloatArray, leaving: FloatArray, out: FloatArray) -> None:
        if self.couplings.symmetric:
            self.kind.send(table[:, :, None], leaving, out)
        else:
            self.kind.send(table, leaving[:, 0], out[:, 0])
            self.kind.send(table.swapaxes(0, 1), leaving[:, 1], out[:, 1])

    def _log_z(self, tables: _Tables) -> float:
        """Sum the logarithms of what nodes and edges add up to (see `Beliefs.log_z`).

        Messages need not be of one scale for that, nor have settled: the sum does not depend on
        the former, and is stationary where they have.
        """
        sums = np.zeros_like(self.tops)
        if not self.maximal:
            sums = np.log(np.exp(self.beliefs).sum(axis=0))
        log_z = self.tops.sum(dtype=np.float64) + sums.sum(dtype=np.float64)
        log_z += self.couplings.tops.sum(dtype=np.float64)
        held = self.kind.of_logs(self.beliefs)
        for rows, table in tables():
            leaving = self._leaving(held, rows)
            arriving = np.empty_like(leaving[:, 0])
            self.kind.send(table, leaving[:, 0], arriving)
            log_z += self.kind.total(arriving, leaving[:, 1]).sum(dtype=np.float64)
            log_z -= sums[self.sources[:, rows]].sum(dtype=np.float64)
        return float(log_z)


def _sums_at(targets: IntArray, shape: tuple[int, int], precision: Any) -> sp.csr_array:
    """Make the matrix that sums up at every node what arrives, of one label or of all at once."""
    n_entries, (n_nodes, n_classes) = len(targets), shape
    short = np.int32 if n_entries <= np.iinfo(np.int32).max else np.int64
    places = targets.astype(short), np.arange(n_entries, dtype=short)
    of_one = sp.coo_array((np.ones(n_entries, precision), places), (n_nodes, n_entries)).tocsr()
    if n_entries * n_classes > _AT_ONCE:
        return of_one
    shifts = n_entries * np.arange(n_classes, dtype=short)[:, None]
    starts = np.append((of_one.indptr[:-1] + shifts).ravel(), n_classes * n_entries)
    entries = (
        np.ones(n_classes * n_entries, precision),
        (of_one.indices + shifts).ravel(),
        starts.astype(short),
    )
    return sp.csr_array(entries, (n_classes * n_nodes, n_classes * n_entries))
