"""Hits counted over redrawn labels, cell by cell of confidence.

Items are ranked by confidence once, so that a cell is a run of rows and a block of rows is summed
by one thin sparse product. Every tally reads its metrics off its cells for one block of draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import BoolArray, FloatArray, IntArray
from graphgauge.metrics.bins import Binning, Bins
from graphgauge.metrics.edgewise import JointArgmax, joint_argmax
from graphgauge.metrics.redraw import Codes, row_blocks

__all__ = ["ClassTally", "EdgeTally", "JointEdges", "NodeTally", "ProductEdges", "Reading"]

Key: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Reading:
    """How a metric is read off cells: its bins, its function on them, and what it leaves out.

    With `by_class` it is read off each class apart, and the mean is taken.
    """

    binning: Binning
    value: Callable[[Bins], FloatArray]
    above: float = -np.inf
    by_class: bool = False

    def cuts(self, confidence: FloatArray, *, moving: bool) -> FloatArray:
        """Cells this metric must be able to tell apart, see :meth:`Binning.cuts`."""
        cuts = self.binning.cuts(confidence, moving=moving)
        return np.append(cuts, np.asarray(self.above, cuts.dtype))

    def read(self, cells: Bins, tops: FloatArray, *, whole: bool = True) -> FloatArray:
        """Value for every draw ``[D]``."""
        kept = tops > self.above
        held = cells.each(lambda sums: sums[kept])
        return self.value(self.binning.collect(held, tops[kept], whole=whole))


Readings: TypeAlias = Mapping[str, Reading]


@dataclass(frozen=True, eq=False)
class _Run:
    """A block of ranked rows: the cells it touches, and the products that sum over them."""

    rows: slice
    cells: slice
    counts: sp.csr_array
    confidences: sp.csr_array


@dataclass(frozen=True, eq=False)
class _Cells:
    """Items ranked by confidence ``[m]`` and cut into cells ``[K]`` that end at `tops`."""

    confidence: FloatArray
    tops: FloatArray
    starts: IntArray

    @classmethod
    def cut(cls, confidence: FloatArray, readings: Sequence[tuple[Reading, bool]]) -> _Cells:
        """Cut ranked confidences finely enough for every reading, moving or not."""
        cuts = [reading.cuts(confidence, moving=moving) for reading, moving in readings]
        tops = np.append(np.unique(np.concatenate(cuts)), np.asarray(np.inf, confidence.dtype))
        ends = np.searchsorted(confidence, tops, side="right")
        held = np.diff(ends, prepend=0) > 0
        held[-1] = True
        return cls(confidence, tops[held], np.append(0, ends[held]))

    def fixed(self) -> tuple[FloatArray, FloatArray]:
        """Mass and confidence of every cell ``[K, 1]`` when all items count."""
        bounds = zip(self.starts[:-1], self.starts[1:], strict=True)
        sums = [self.confidence[a:b].sum(dtype=np.float64) for a, b in bounds]
        mass = np.diff(self.starts).astype(np.float64)
        return mass[:, None], np.asarray(sums, np.float64)[:, None]

    def zeros(self, n_draws: int) -> FloatArray:
        return np.zeros((len(self.tops), n_draws))

    def runs(self, n_draws: int) -> Iterator[_Run]:
        for rows in row_blocks(len(self.confidence), n_draws):
            first = int(np.searchsorted(self.starts, rows.start, side="right")) - 1
            last = int(np.searchsorted(self.starts, rows.stop))
            n_rows = rows.stop - rows.start
            ends = np.clip(self.starts[first : last + 1], rows.start, rows.stop) - rows.start
            columns, shape = np.arange(n_rows), (last - first, n_rows)
            confidence = self.confidence[rows].astype(np.float64)
            yield _Run(
                rows,
                slice(first, last),
                sp.csr_array((np.ones(n_rows), columns, ends), shape),
                sp.csr_array((confidence, columns, ends), shape),
            )


class NodeTally:
    """Nodes, plain and with classes weighed alike."""

    def __init__(
        self, confidence: FloatArray, n_classes: int, plain: Readings, balanced: Readings
    ) -> None:
        self._order = np.argsort(confidence)
        self._n_classes = n_classes
        self._plain, self._balanced = plain, balanced
        fixed = [(reading, False) for reading in plain.values()]
        moving = [(reading, True) for reading in balanced.values()]
        self._cells = _Cells.cut(confidence[self._order], fixed + moving)

    def read(self, codes: Codes) -> dict[Key, FloatArray]:
        """Read the metrics off one block of draws ``[n, D]``."""
        values: dict[Key, FloatArray] = {}
        if self._plain:
            plain = self._plain_cells(codes)
            values |= _read("node", self._plain, plain, self._cells.tops)
        if self._balanced:
            weighted = self._weighted_cells(codes)
            values |= _read("balanced", self._balanced, weighted, self._cells.tops, whole=False)
        return values

    def _plain_cells(self, codes: Codes) -> Bins:
        hits = self._cells.zeros(codes.shape[1])
        for run in self._cells.runs(codes.shape[1]):
            right = codes[self._order[run.rows]] & 1
            hits[run.cells] += run.counts @ right.astype(np.float64)
        return Bins(*self._cells.fixed(), hits)

    def _weighted_cells(self, codes: Codes) -> Bins:
        n_draws = codes.shape[1]
        weights = _class_weights(codes, self._n_classes)
        mass, confidence, hits, squares = (self._cells.zeros(n_draws) for _ in range(4))
        for run in self._cells.runs(n_draws):
            code = codes[self._order[run.rows]]
            weight = np.take_along_axis(weights, (code >> 1).astype(np.intp), axis=0)
            mass[run.cells] += run.counts @ weight
            confidence[run.cells] += run.confidences @ weight
            hits[run.cells] += run.counts @ (weight * (code & 1))
            squares[run.cells] += run.counts @ weight**2
        return Bins(mass, confidence, hits, squares=squares)


class ClassTally:
    """Every class of every node as a forecast of its own."""

    def __init__(self, probs: FloatArray, index: IntArray | None, readings: Readings) -> None:
        self._readings = readings
        n = len(probs) if index is None else len(index)
        cuts = [self._cuts(_column(probs, index, c)) for c in range(probs.shape[1])]
        n_cells = max(len(c) for c in cuts) + 1
        self._tops = [np.append(c, np.asarray(np.inf, c.dtype)) for c in cuts]
        self._home = np.empty((n, len(cuts)), np.min_scalar_type(n_cells - 1))
        self._mass, self._confidence = np.zeros((2, n_cells, len(cuts)))
        for c, cut in enumerate(cuts):
            column = _column(probs, index, c)
            home = np.searchsorted(cut, column)
            self._home[:, c] = home
            self._mass[:, c] = np.bincount(home, minlength=n_cells)
            self._confidence[:, c] = np.bincount(home, column, n_cells)

    def _cuts(self, column: FloatArray) -> FloatArray:
        cuts = [reading.cuts(column, moving=False) for reading in self._readings.values()]
        return np.unique(np.concatenate(cuts))

    def read(self, codes: Codes) -> dict[Key, FloatArray]:
        """Read the metrics off one block of draws ``[n, D]``: means over the classes."""
        hits = self._hits(codes)
        return {
            ("node", label): np.mean(
                [
                    reading.read(self._class_cells(hits, c), self._tops[c])
                    for c in range(len(self._tops))
                ],
                axis=0,
            )
            for label, reading in self._readings.items()
        }

    def _class_cells(self, hits: FloatArray, c: int) -> Bins:
        held = slice(len(self._tops[c]))
        return Bins(self._mass[held, c, None], self._confidence[held, c, None], hits[:, held, c].T)

    def _hits(self, codes: Codes) -> FloatArray:
        """How often class c was drawn for a node whose p_c lies in cell k: ``[D, K, C]``."""
        n_draws = codes.shape[1]
        n_cells, n_classes = self._mass.shape
        counts = np.zeros(n_draws * n_cells * n_classes)
        draw = np.arange(n_draws) * (n_cells * n_classes)
        for rows in row_blocks(len(codes), n_draws):
            label = (codes[rows] >> 1).astype(np.intp)
            home = self._home[rows]
            place = label + np.arange(len(home))[:, None] * n_classes
            key = home.ravel()[place] * np.intp(n_classes) + label + draw
            counts += np.bincount(key.ravel(), minlength=len(counts))
        return counts.reshape(n_draws, n_cells, n_classes)


class _Edges(Protocol):
    """Edges ranked by confidence, and what a block of draws makes of them."""

    @property
    def confidence(self) -> FloatArray: ...

    def draw(self, codes: Codes, rows: slice) -> tuple[BoolArray, BoolArray]:
        """Tell whether ranked edges are right and whether their ends agree ``[r, D]``."""
        ...


class ProductEdges:
    """Edges whose ends are redrawn as nodes: edges that meet in a node share its label."""

    def __init__(self, confidence: FloatArray, edges: IntArray) -> None:
        u, v = edges[:, 0], edges[:, 1]
        product = np.multiply(confidence[u], confidence[v], dtype=np.float64)
        order = np.argsort(product)
        self.confidence: FloatArray = product[order]
        del product
        small = np.min_scalar_type(max(len(confidence) - 1, 0))
        self._u, self._v = u[order].astype(small), v[order].astype(small)

    def draw(self, codes: Codes, rows: slice) -> tuple[BoolArray, BoolArray]:
        """See :class:`_Edges`."""
        a, b = codes.take(self._u[rows], axis=0), codes.take(self._v[rows], axis=0)
        return (a & b & 1).astype(bool), (a ^ b) < 2


class JointEdges:
    """Edges with joint marginals: each redraws its own pair, independent of all others."""

    def __init__(
        self, edge_probs: FloatArray, rng: np.random.Generator, argmax: JointArgmax = "joint"
    ) -> None:
        n_edges, n_classes = edge_probs.shape[:2]
        pair = joint_argmax(edge_probs, argmax)
        a, b = np.divmod(pair, n_classes)
        total = edge_probs.sum(axis=(1, 2), dtype=np.float64)
        confidence = edge_probs[np.arange(n_edges), a, b]
        order = np.argsort(confidence)
        right = (confidence / total)[order]
        agree = (np.trace(edge_probs, axis1=1, axis2=2, dtype=np.float64) / total)[order]
        # One number in [0, 1) an edge: first the predicted pair, then what else agrees.
        start = np.where((a == b)[order], 0.0, right)
        self.confidence: FloatArray = confidence[order]
        self._right, self._start, self._stop = right, start, start + agree
        self._rng = rng

    def draw(self, codes: Codes, rows: slice) -> tuple[BoolArray, BoolArray]:
        """See :class:`_Edges`."""
        uniform = self._rng.random((rows.stop - rows.start, codes.shape[1]))
        agree = (uniform >= self._start[rows, None]) & (uniform < self._stop[rows, None])
        return uniform < self._right[rows, None], agree


class EdgeTally:
    """Edges: all, agreeing and disagreeing, the latter two different in every draw."""

    def __init__(self, edges: _Edges, readings: Mapping[str, Readings]) -> None:
        self._edges, self._readings = edges, readings
        asked = [
            (reading, scope != "edge")
            for scope, of_scope in readings.items()
            for reading in of_scope.values()
        ]
        self._cells = _Cells.cut(edges.confidence, asked)

    def read(self, codes: Codes) -> dict[Key, FloatArray]:
        """Read the metrics off one block of draws of the nodes ``[n, D]``."""
        hits, agree = self._sums(codes)
        mass, confidence = self._cells.fixed()
        cells = {
            "edge": Bins(mass, confidence, hits),
            "agree": agree,
            "disagree": Bins(mass - agree.mass, confidence - agree.confidence, hits - agree.hits),
        }
        values: dict[Key, FloatArray] = {}
        for scope, readings in self._readings.items():
            values |= _read(scope, readings, cells[scope], self._cells.tops)
        return values

    def _sums(self, codes: Codes) -> tuple[FloatArray, Bins]:
        n_draws = codes.shape[1]
        hits, mass, confidence, both = (self._cells.zeros(n_draws) for _ in range(4))
        for run in self._cells.runs(n_draws):
            right, same = self._edges.draw(codes, run.rows)
            agree = same.astype(np.float64)
            hits[run.cells] += run.counts @ right.astype(np.float64)
            mass[run.cells] += run.counts @ agree
            confidence[run.cells] += run.confidences @ agree
            both[run.cells] += run.counts @ (right & same).astype(np.float64)
        return hits, Bins(mass, confidence, both)


def _read(
    scope: str, readings: Readings, cells: Bins, tops: FloatArray, *, whole: bool = True
) -> dict[Key, FloatArray]:
    return {
        (scope, label): reading.read(cells, tops, whole=whole)
        for label, reading in readings.items()
    }


def _column(probs: FloatArray, index: IntArray | None, c: int) -> FloatArray:
    return probs[:, c] if index is None else probs[index, c]


def _class_weights(codes: Codes, n_classes: int) -> FloatArray:
    """One over the number of nodes that drew class c: ``[C, D]``."""
    n_draws = codes.shape[1]
    counts = np.zeros(n_classes * n_draws)
    draw = np.arange(n_draws)
    for rows in row_blocks(len(codes), n_draws):
        key = (codes[rows] >> 1).astype(np.intp) * n_draws + draw
        counts += np.bincount(key.ravel(), minlength=len(counts))
    return np.divide(1.0, counts, out=np.zeros_like(counts), where=counts > 0).reshape(
        n_classes, n_draws
    )
