"""Items sorted into bins by their confidence, kept as three sums a bin.

An item's weight, weight times confidence and weight times correctness are summed over each bin;
every binned calibration measure is a function of those sums. A trailing axis holds draws, so that
one call measures hundreds of redrawn label sets.

Everything is counted in *cells* first: cell k holds the confidences in ``(cuts[k-1], cuts[k]]``.
Bins of equal width are cells; bins of equal mass share out the cells on their boundaries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from graphgauge.arrays import BoolArray, FloatArray
from graphgauge.errors import InputError
from graphgauge.metrics.outcomes import Outcomes

__all__ = ["Binning", "Bins", "Closed", "Scheme", "bin_events", "bin_outcomes", "quotient"]

Scheme: TypeAlias = Literal["width", "mass"]
Closed: TypeAlias = Literal["right", "left"]

_BLOCK = 1 << 17
# Cells that stand in for single confidences where the boundaries of equal mass move with the draw.
_MOST_CELLS = 4096


@dataclass(frozen=True, eq=False)
class Bins:
    """Sums over the items of each bin, ``[B]`` or ``[B, D]`` with a trailing axis of draws.

    Parameters
    ----------
    mass, confidence, hits
        Sums of the weights, of weight times confidence, of weight times correctness. Sums that are
        the same in all draws may be ``[B, 1]``.
    edges
        Confidences that bound the bins ``[B + 1]``; empty where nobody asked.
    squares
        Sums of the squared weights; None when weights are whole numbers, so that a bin's mass is
        its number of items.
    """

    mass: FloatArray
    confidence: FloatArray
    hits: FloatArray
    edges: FloatArray = field(default_factory=lambda: np.empty(0))
    squares: FloatArray | None = None

    def each(self, change: Callable[[FloatArray], FloatArray]) -> Bins:
        """Change every sum alike."""
        squares = None if self.squares is None else change(self.squares)
        return Bins(change(self.mass), change(self.confidence), change(self.hits), squares=squares)

    @property
    def sizes(self) -> FloatArray:
        """Items in each bin; of weighted items the number of equal ones that vary as much."""
        if self.squares is None:
            return self.mass
        return quotient(self.mass**2, self.squares)


@dataclass(frozen=True)
class Binning:
    """How bins are laid: their number, equal width or equal mass, and which side is closed.

    Examples
    --------
    >>> Binning(scheme="widths")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: scheme: 'widths' is neither 'width' nor 'mass'
    """

    bins: int = 15
    scheme: Scheme = "width"
    closed: Closed = "right"

    def __post_init__(self) -> None:
        if isinstance(self.bins, bool) or not isinstance(self.bins, int | np.integer):
            raise InputError(f"bins: {self.bins!r} is not a whole number")
        if self.bins < 1:
            raise InputError(f"bins: {self.bins} is below one")
        _one_of("scheme", self.scheme, "width", "mass")
        _one_of("closed", self.closed, "right", "left")

    def cuts(
        self,
        confidence: FloatArray,
        weights: FloatArray | None = None,
        *,
        moving: bool = False,
    ) -> FloatArray:
        """Return the ascending upper ends of the cells, all but the last.

        With `moving`, boundaries of equal mass depend on a draw yet to come, and cells are as fine
        as the confidences themselves, up to 4096 of them.
        """
        if self.scheme == "width":
            return self._width_cuts(confidence.dtype)
        if moving:
            return _fine_cuts(confidence)
        values = _mass_boundaries(confidence, weights, self.bins)
        below = np.nextafter(values, values.dtype.type(-np.inf))
        return np.unique(np.concatenate([below, values]))

    def collect(self, cells: Bins, tops: FloatArray, *, whole: bool = True) -> Bins:
        """Gather cells, whose upper ends are `tops`, into bins.

        `whole` says that all weights are whole numbers, so that boundaries of equal mass are too.
        """
        if self.scheme == "mass":
            return _split_by_mass(cells, self.bins, whole=whole)
        home = np.searchsorted(self._width_cuts(tops.dtype), tops)
        return cells.each(lambda sums: _sum_groups(sums, home, self.bins))

    def _width_cuts(self, dtype: npt.DTypeLike) -> FloatArray:
        # Ends are quotients in the confidences' own precision: single 0.2 lies on the edge 3/15.
        steps: FloatArray = np.arange(1, self.bins, dtype=dtype) / np.asarray(self.bins, dtype)
        below = np.nextafter(steps, np.asarray(-np.inf, dtype))
        return steps if self.closed == "right" else below


def bin_outcomes(
    outcomes: Outcomes, *, bins: int = 15, scheme: Scheme = "width", closed: Closed = "right"
) -> Bins:
    """Sort outcomes into bins by confidence.

    Parameters
    ----------
    outcomes
        Outcomes of nodes or edges, weighted or not.
    bins
        Number of bins.
    scheme
        ``width``: bins of equal width on [0, 1]. ``mass``: bins of equal weight, bounded at
        floor(k W / bins) of the total weight W (without the floor unless all weights are whole);
        equal confidences on both sides of a boundary share their hits evenly, so the order of the
        items never matters.
    closed
        ``right``: bins ((k-1)/m, k/m], with 0 in the first; ``left``: [k/m, (k+1)/m), with 1 in
        the last. Equal mass knows no such difference.

    Examples
    --------
    >>> outcomes = Outcomes.of_nodes(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    >>> bin_outcomes(outcomes, bins=2).mass
    array([0., 2.])
    """
    binning = Binning(bins, scheme, closed)
    return bin_events(outcomes.confidence, outcomes.correct, outcomes.weights, binning=binning)


def bin_events(
    confidence: FloatArray,
    happened: BoolArray,
    weights: FloatArray | None = None,
    *,
    binning: Binning,
) -> Bins:
    """Sort predicted probabilities ``[m]`` of events that happened or not into bins.

    Examples
    --------
    >>> bin_events(np.array([0.2, 0.8]), np.array([False, True]), binning=Binning(2)).hits
    array([0., 1.])
    """
    whole = weights is None or bool((weights == np.floor(weights)).all())
    cuts = binning.cuts(confidence, weights)
    tops = np.append(cuts, np.asarray(np.inf, dtype=cuts.dtype))
    cells = _sum_cells(confidence, happened, weights, cuts)
    if whole:
        cells = Bins(cells.mass, cells.confidence, cells.hits)
    bins = binning.collect(cells, tops, whole=whole)
    edges = _edges(binning, confidence, weights)
    return Bins(bins.mass, bins.confidence, bins.hits, edges, bins.squares)


def _sum_cells(
    confidence: FloatArray, happened: BoolArray, weights: FloatArray | None, cuts: FloatArray
) -> Bins:
    n_cells = len(cuts) + 1
    sums = np.zeros((4, n_cells))
    for start in range(0, len(confidence), _BLOCK):
        rows = slice(start, start + _BLOCK)
        cell = np.searchsorted(cuts, confidence[rows])
        weight = np.ones(len(cell)) if weights is None else weights[rows].astype(np.float64)
        for row, values in enumerate(
            (weight, weight * confidence[rows], weight * happened[rows], weight**2)
        ):
            sums[row] += np.bincount(cell, values, n_cells)
    return Bins(sums[0], sums[1], sums[2], squares=sums[3])


def _edges(binning: Binning, confidence: FloatArray, weights: FloatArray | None) -> FloatArray:
    if binning.scheme == "width":
        return np.arange(binning.bins + 1) / binning.bins
    if not len(confidence):
        return np.full(binning.bins + 1, np.nan)
    inner = _mass_boundaries(confidence, weights, binning.bins)
    return np.concatenate([[confidence.min()], inner, [confidence.max()]])


def _mass_boundaries(confidence: FloatArray, weights: FloatArray | None, bins: int) -> FloatArray:
    """Confidences at which the ranked mass passes k/bins of the total."""
    if not len(confidence):
        return confidence[:0]
    if weights is None:
        ranked = np.sort(confidence)
        place = _mass_bounds(np.asarray(len(ranked)), bins, whole=True)[1:-1].astype(np.intp) - 1
    else:
        order = np.argsort(confidence, kind="stable")
        ranked, below = confidence[order], np.cumsum(weights[order], dtype=np.float64)
        whole = bool((weights == np.floor(weights)).all())
        place = np.searchsorted(below, _mass_bounds(below[-1], bins, whole=whole)[1:-1])
    return ranked[np.clip(place, 0, len(ranked) - 1)]


def _mass_bounds(total: npt.ArrayLike, bins: int, *, whole: bool) -> FloatArray:
    """Masses at which bins end, ``[bins + 1]`` or ``[bins + 1, D]``."""
    multiples = np.multiply.outer(np.arange(bins + 1), np.asarray(total, dtype=np.float64))
    return np.floor_divide(multiples, bins) if whole else multiples / bins


def _split_by_mass(cells: Bins, bins: int, *, whole: bool) -> Bins:
    """Share cells in ascending order out to bins of equal mass; a cell is split in proportion."""
    top = np.cumsum(cells.mass, axis=0)
    bottom = top - cells.mass
    bounds = _mass_bounds(top[-1], bins, whole=whole)
    parts = []
    for low, high in pairwise(bounds):
        inside = np.minimum(top, high) - np.maximum(bottom, low)
        share = quotient(np.maximum(inside, 0.0), cells.mass)
        parts.append(cells.each(partial(_share_out, share)))
    return _stack(parts)


def _share_out(share: FloatArray, sums: FloatArray) -> FloatArray:
    return np.asarray((share * sums).sum(axis=0))


def _stack(parts: list[Bins]) -> Bins:
    squares = [part.squares for part in parts if part.squares is not None]
    return Bins(
        np.stack([part.mass for part in parts]),
        np.stack([part.confidence for part in parts]),
        np.stack([part.hits for part in parts]),
        squares=np.stack(squares) if squares else None,
    )


def _fine_cuts(confidence: FloatArray) -> FloatArray:
    values = np.unique(confidence)
    if len(values) > _MOST_CELLS:
        places = np.linspace(0, len(confidence) - 1, _MOST_CELLS).astype(np.intp)
        values = np.unique(np.sort(confidence)[places])
    return values[:-1]


def _sum_groups(sums: FloatArray, home: npt.NDArray[np.intp], n_groups: int) -> FloatArray:
    grouped = np.zeros((n_groups, *sums.shape[1:]))
    present, starts = np.unique(home, return_index=True)
    grouped[present] = np.add.reduceat(sums, starts, axis=0)
    return grouped


def quotient(part: FloatArray, whole: FloatArray, *, otherwise: float = 0.0) -> FloatArray:
    """Divide where there is something to divide by.

    Examples
    --------
    >>> quotient(np.array([1.0, 0.0]), np.array([4.0, 0.0]), otherwise=-1.0)
    array([ 0.25, -1.  ])
    """
    part, whole = np.broadcast_arrays(part, whole)
    result: FloatArray = np.full(part.shape, otherwise)
    return np.divide(part, whole, out=result, where=whole > 0)


def _one_of(name: str, value: object, *known: str) -> None:
    if value not in known:
        raise InputError(f"{name}: {value!r} is neither {known[0]!r} nor {known[1]!r}")
