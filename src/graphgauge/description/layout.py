"""A drawing of a graph: places in the plane, close for nodes that few edges lie between.

Distances to a few pivots give the large shape, and a relaxation in which edges pull and all pairs
of nodes push, the small one. A round costs what the edges cost, since the push is taken from a
grid; very large graphs get few rounds or none.

References
----------
Brandes and Pich, Eigensolver Methods for Progressive Multidimensional Scaling of Large Data, 2006;
Fruchterman and Reingold, Graph Drawing by Force-directed Placement, 1991.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.fft import irfft2, rfft2
from scipy.sparse.csgraph import connected_components

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.colours import UintArray, mixed
from graphgauge.description.hops import AT_ONCE, hops
from graphgauge.graph import Graph
from graphgauge.splits.lots import Draw, draw_order

__all__ = ["layout", "turned"]

# Entries times rounds that are afforded, some five seconds.
_WORK, _MOST_ROUNDS = 5 * 10**7, 200
_CELLS = 128
# The longest step of the first round, as a share of the width that nodes at distance one take up.
_STEP = 0.05


def layout(graph: Graph, *, seed: int = 0) -> tuple[IntArray, FloatArray]:
    """Place the nodes of the largest component: their numbers ``[m]`` and places ``[m, 2]``.

    Examples
    --------
    >>> ring = Graph.from_edges([[i, (i + 1) % 12] for i in range(12)], 15)
    >>> nodes, places = layout(ring)
    >>> nodes.tolist() == list(range(12)), places.shape
    (True, (12, 2))
    """
    pattern = graph.neighbours
    _, component = connected_components(pattern, directed=False)
    nodes = np.flatnonzero(component == np.bincount(component, minlength=1).argmax())
    pattern = sp.csr_array(pattern[nodes][:, nodes])
    colours = graph.colours.nodes[nodes]
    pivots = draw_order(colours, seed, Draw.SOURCES)[:AT_ONCE]
    places = _by_pivots(hops(pattern, pivots))
    rounds = min(_MOST_ROUNDS, _WORK // max(pattern.nnz, 1))
    return nodes, turned(_relaxed(pattern, places, colours, rounds))


def turned(points: FloatArray) -> FloatArray:
    """Turn points ``[n, 2]`` to their main axes, the longer tails to the right and up.

    Examples
    --------
    >>> turned(np.array([[0.0, -3.0], [0.0, 1.0], [0.0, 2.0]])).round(6).tolist()
    [[3.0, 0.0], [-1.0, 0.0], [-2.0, 0.0]]
    """
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    centred = centred @ axes[:, ::-1]
    tails = (centred**3).sum(axis=0)
    return np.asarray(centred * np.where(tails < 0, -1.0, 1.0) + 0.0)


def _by_pivots(lengths: IntArray) -> FloatArray:
    """Place nodes by their distances to pivots ``[n, m]``: classical scaling of the columns."""
    squares = lengths.astype(np.float64) ** 2
    squares -= squares.mean(axis=0)
    squares -= squares.mean(axis=1, keepdims=True)
    _, axes = np.linalg.eigh(squares.T @ squares)
    places = np.zeros((len(squares), 2))
    strongest = axes[:, ::-1][:, :2]
    places[:, : strongest.shape[1]] = squares @ strongest
    return np.asarray(places / max(places.std(), 1e-12))


def _relaxed(
    pattern: sp.csr_array, places: FloatArray, colours: UintArray, rounds: int
) -> FloatArray:
    """Let edges pull and all pairs push, in steps that shorten."""
    width = len(places) ** 0.5
    # Nodes at one place would stay there; their colours part them, whatever their numbers.
    apart = [mixed(colours, salt).astype(np.float64) / 2.0**64 - 0.5 for salt in (1, 2)]
    places = width * (0.5 * places + 0.05 * np.stack(apart, axis=1))
    rows = np.repeat(np.arange(len(places)), np.diff(pattern.indptr))
    grid = _Grid.of(_CELLS)
    for left in np.linspace(1.0, 0.0, rounds, endpoint=False):
        force = grid.push(places) - _pull(pattern, places, rows)
        size = np.maximum(np.hypot(*force.T), 1e-12)
        places = places + force * np.minimum(1.0, left * _STEP * width / size)[:, None]
    return places


def _pull(pattern: sp.csr_array, places: FloatArray, rows: IntArray) -> FloatArray:
    """Sum over a node's edges their directions, each times its length squared."""
    length = np.hypot(*(places[rows] - places[pattern.indices]).T)
    along = sp.csr_array((length, pattern.indices, pattern.indptr), pattern.shape)
    return np.asarray(along.sum(axis=1)[:, None] * places - along @ places)


@dataclass(frozen=True, eq=False)
class _Grid:
    """A square of cells on which every node pushes every place by one over their distance.

    The push is a convolution, and what goes round the edges meets empty cells: there are twice as
    many each way as nodes can stand in.
    """

    kernels: tuple[npt.NDArray[np.complex128], ...]
    wide: int

    @classmethod
    def of(cls, cells: int) -> _Grid:
        away = np.fft.fftfreq(2 * cells, 1 / (2 * cells))
        x, y = np.meshgrid(away, away, indexing="ij")
        square = np.maximum(x**2 + y**2, 1.0)
        return cls(tuple(rfft2(gap / square) for gap in (x, y)), 2 * cells)

    def push(self, places: FloatArray) -> FloatArray:
        """Return the push of all nodes on each ``[n, 2]``."""
        cell = max(float(np.ptp(places, axis=0).max()) / (self.wide // 2 - 1), 1e-12)
        corners = list(self._corners((places - places.min(axis=0)) / cell))
        mass = sum(np.bincount(spot, share, self.wide**2) for spot, share in corners)
        spectrum = rfft2(np.reshape(mass, (self.wide, self.wide)))
        fields = [irfft2(spectrum * k, s=(self.wide, self.wide)).ravel() for k in self.kernels]
        pushes = [sum(field[spot] * share for spot, share in corners) for field in fields]
        return np.stack([np.asarray(push) for push in pushes], axis=1) / cell

    def _corners(self, at: FloatArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield the four cells around every node, and how near it is to each."""
        corner = np.minimum(at.astype(np.int64), self.wide // 2 - 1)
        part = at - corner
        for i, j in itertools.product((0, 1), repeat=2):
            near = [part[:, k] if step else 1 - part[:, k] for k, step in enumerate((i, j))]
            yield (corner[:, 0] + i) * self.wide + corner[:, 1] + j, near[0] * near[1]
