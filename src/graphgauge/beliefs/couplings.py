"""Couplings as messages need them: labels first and edges last, a block of edges at a time.

One matrix often serves many edges. Where strengths are few, edges of the same strength stand
together and share theirs; otherwise every edge of a block has its own, and these are kept between
iterations only while all of them together are small. So memory does not grow with edges × classes
× classes, unless the model came with that much.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.beliefs.model import PairwiseModel

__all__ = ["Couplings"]

# Up to so many strengths, edges of the same one share a matrix.
_FEW = 16
# Numbers in a block of messages, in one of couplings, and in all couplings that are kept.
_MESSAGES, _TABLE, _KEPT = 2**18, 2**18, 2**22


@dataclass(frozen=True, eq=False)
class Couplings:
    """Matrices of a model's edges, each less its largest entry, so that none is above zero.

    Parameters
    ----------
    model
        Whose edges.
    order
        The edge in every place ``[e]``: neighbours in the graph are neighbours here.
    tops
        The largest entry of the edge in every place ``[e]``; zero where all are -inf.
    spread
        The largest difference within a matrix; inf where some pair is impossible.
    cuts
        Where blocks begin, and where the last ends.
    shared
        Whether the edges of a block share one matrix.
    symmetric
        Whether the matrices are known to be the same seen from either end.

    Examples
    --------
    >>> model = PairwiseModel(np.zeros((3, 2)), [[0, 1], [1, 2]], np.eye(2), strengths=[3, -2])
    >>> couplings = Couplings.of(model, np.arange(3))
    >>> couplings.order, couplings.cuts, couplings.spread
    (array([1, 0]), array([0, 1, 2]), 3.0)
    >>> couplings.table(slice(0, 1))[:, :, 0]
    array([[-2.,  0.],
           [ 0., -2.]])
    """

    model: PairwiseModel
    order: IntArray
    tops: FloatArray
    spread: float
    cuts: IntArray
    shared: bool
    symmetric: bool

    @classmethod
    def of(cls, model: PairwiseModel, place: IntArray) -> Couplings:
        """Arrange the edges of a model whose nodes stand in these places ``[n]``."""
        u, v = place[model.edges.T].astype(np.int64)
        order = np.argsort(u * model.n_nodes + v)
        groups, starts = _groups(model), np.zeros(1, np.intp)
        if groups is not None:
            order = order[np.argsort(groups[order], kind="stable")]
            starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
        n_pairs = model.n_classes**2
        longest = _MESSAGES // (2 * model.n_classes)
        if groups is None and not _are_kept(model):
            longest = min(longest, _TABLE // n_pairs)
        tops, bottoms = _extremes(model)
        tops[np.isneginf(tops)] = 0
        spread = float((tops - bottoms).max(initial=0))
        cuts = _cuts(starts, len(order), max(longest, 1))
        alike = model.coupling.ndim == 2 and np.array_equal(model.coupling, model.coupling.T)
        return cls(model, order, tops[order], spread, cuts, groups is not None, alike)

    @property
    def blocks(self) -> list[slice]:
        """The blocks of edges."""
        return [slice(first, last) for first, last in itertools.pairwise(self.cuts.tolist())]

    def table(self, rows: slice) -> FloatArray:
        """Return the matrices of a block ``[C, C, k]``, or the one they share ``[C, C, 1]``."""
        model = self.model
        if self.shared:
            rows = slice(rows.start, rows.start + 1)
        if model.strengths is None:
            matrices = model.pair_scores(self.order[rows])
            table = np.array(matrices.transpose(1, 2, 0), order="C")
        else:
            table = model.coupling[:, :, None] * model.strengths[self.order[rows]]
        table -= self.tops[rows]
        return table

    def tables(
        self, change: Callable[[FloatArray], FloatArray]
    ) -> Callable[[], Iterator[tuple[slice, FloatArray]]]:
        """Let all blocks be gone through again and again, with what `change` makes of tables."""
        if not (self.shared or _are_kept(self.model)):
            return lambda: ((rows, change(self.table(rows))) for rows in self.blocks)
        kept = [(rows, change(self.table(rows))) for rows in self.blocks]
        return lambda: iter(kept)


def _are_kept(model: PairwiseModel) -> bool:
    """Tell whether an own matrix for every edge is little, or no more than there is already."""
    return model.coupling.ndim == 3 or len(model.edges) * model.coupling.size <= _KEPT


def _groups(model: PairwiseModel) -> IntArray | None:
    """Group the edges by their strength ``[e]``; None where they differ too much for that."""
    if model.coupling.ndim == 3:
        return None
    if model.strengths is None:
        return np.zeros(len(model.edges), np.int8)
    values = np.unique(model.strengths)
    if len(values) > _FEW:
        return None
    return np.searchsorted(values, model.strengths).astype(np.int8)


def _extremes(model: PairwiseModel) -> tuple[FloatArray, FloatArray]:
    """Return the largest and the smallest score of a pair at every edge ``[e]``."""
    if model.coupling.ndim == 3:
        flat = model.coupling.reshape(len(model.edges), model.n_classes**2)
        return flat.max(axis=1), flat.min(axis=1)
    high, low = model.coupling.max(), model.coupling.min()
    if model.strengths is None:
        return np.full(len(model.edges), high), np.full(len(model.edges), low)
    ends = model.strengths * high, model.strengths * low
    return np.maximum(*ends), np.minimum(*ends)


def _cuts(starts: IntArray, n_edges: int, longest: int) -> IntArray:
    """Cut wherever a group starts, and groups into even blocks."""
    cuts = [
        np.linspace(first, last, -(-(last - first) // longest), endpoint=False).astype(np.intp)
        for first, last in itertools.pairwise([*starts.tolist(), n_edges])
        if last > first
    ]
    return np.concatenate([*cuts, [n_edges]])
