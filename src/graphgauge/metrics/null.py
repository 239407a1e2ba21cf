"""What a perfectly calibrated model with the same confidences would show.

No calibration error is zero on finite data. Labels are redrawn from the model's own probabilities,
independently for each node, and every metric is computed again: the band of the values is what to
hold an observed one against. Both ends of an edge use the node's one redrawn label, so that edges
which meet in a node depend on each other as they do in the data.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from graphgauge.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    check_pairs,
    floats,
    integers,
    refuse,
    same_length,
)
from graphgauge.errors import InputError
from graphgauge.metrics import calibration, smooth
from graphgauge.metrics.bins import Binning
from graphgauge.metrics.metric import Metric, Needs
from graphgauge.metrics.redraw import Codes, column_widths, draw_codes, draw_labels, row_blocks
from graphgauge.metrics.tallies import (
    ClassTally,
    EdgeTally,
    JointEdges,
    NodeTally,
    ProductEdges,
    Reading,
    Readings,
)
from graphgauge.parts import check_parts

__all__ = ["NULL_METRICS", "SCOPES", "Band", "draw_labels", "has_null", "null_bands", "reading"]

SCOPES = ("node", "balanced", "edge", "agree", "disagree")
NULL_METRICS: tuple[Metric, ...] = (*calibration.CARDS, *smooth.CARDS)

Key: TypeAlias = tuple[str, str]
_Asked: TypeAlias = Mapping[str, Readings]

# How each metric's function on outcomes is computed from bins, and above which confidence.
_ON_BINS: dict[Callable[..., float], tuple[Callable[..., FloatArray], float]] = {
    calibration.ece: (calibration.ece_of, -np.inf),
    calibration.bin_accuracy: (calibration.bin_accuracy_of, -np.inf),
    calibration.ece_above_half: (calibration.ece_of, 0.5),
    calibration.classwise_ece: (calibration.ece_of, -np.inf),
    calibration.debiased_ece: (calibration.debiased_of, -np.inf),
    calibration.mce: (calibration.mce_of, -np.inf),
    smooth.smooth_ece: (smooth.smooth_of, -np.inf),
}


@dataclass(frozen=True, eq=False)
class Band:
    """Values of a metric under redrawn labels ``[D]`` and the middle of them.

    `low` and `high` leave out the same share of (D + 1) ranks on either side, so that the value of
    one more calibrated model falls between them with just the band's probability.
    """

    low: float
    high: float
    draws: FloatArray

    @classmethod
    def of(cls, draws: FloatArray, level: float = 0.9) -> Band:
        """Take the middle `level` of the draws; those without a value (NaN) do not count.

        Examples
        --------
        >>> band = Band.of(np.arange(1.0, 20.0))
        >>> band.low, band.high
        (1.0, 19.0)
        """
        held = draws[~np.isnan(draws)]
        if not len(held):
            return cls(float("nan"), float("nan"), draws)
        # Weibull's quantiles; rounded, since a rank meant to be whole must be met exactly.
        ranks = np.round((len(held) + 1) * np.array([1 - level, 1 + level]) / 2, 9)
        low, high = np.interp(ranks, np.arange(1, len(held) + 1), np.sort(held))
        return cls(float(low), float(high), draws)

    def p_value(self, observed: float) -> float:
        """Share of calibrated models that would show a value at least as large.

        Examples
        --------
        >>> Band.of(np.arange(1.0, 20.0)).p_value(18.5)
        0.1
        """
        held = self.draws[~np.isnan(self.draws)]
        if not len(held) or np.isnan(observed):
            return float("nan")
        # The same value summed in another order differs in its last digits.
        n_larger = np.count_nonzero(held >= observed - 1e-12)
        return float((1 + n_larger) / (1 + len(held)))


def null_bands(
    probs: FloatArray,
    edges: IntArray | None = None,
    *,
    edge_probs: FloatArray | None = None,
    part: IntArray | BoolArray | None = None,
    metrics: Sequence[Metric] | Mapping[str, Sequence[Metric]] = NULL_METRICS,
    n_draws: int = 200,
    seed: int = 0,
) -> dict[Key, Band]:
    """Band of each metric for a perfectly calibrated model with these probabilities.

    Parameters
    ----------
    probs
        Probabilities ``[n, C]`` of all nodes; labels are drawn relative to each row's sum.
    edges
        Unique undirected pairs of nodes ``[e, 2]``, or None for nodes alone.
    edge_probs
        Joint marginals ``[e, C, C]``: every edge then redraws its own pair of labels instead of
        taking those of its ends.
    part
        The nodes to judge, by number or mask; edges count with both ends among them.
    metrics
        Cards (with any parameters bound), for every scope they make sense in; or cards for each
        scope of ``node``, ``balanced`` (classes weighed alike by their redrawn size), ``edge``,
        ``agree`` and ``disagree`` (edges by the agreement of their redrawn labels).
        Bins of equal mass in a scope that changes with the draw are laid over at most 4096 cells;
        all else is exact.
    n_draws, seed
        How many label sets are drawn, and from which seed.

    Returns
    -------
    Bands by scope and the label of the metric.

    Examples
    --------
    >>> from graphgauge.metrics.calibration import CARDS
    >>> probs = np.tile([0.7, 0.2, 0.1], (300, 1))
    >>> bands = null_bands(probs, metrics=CARDS[:1])
    >>> band = bands["node", "ece(bins=15)"]
    >>> round(band.low, 3), round(band.high, 3)
    (0.003, 0.05)
    """
    if n_draws < 1:
        raise InputError(f"n_draws: {n_draws} is below one")
    asked = _asked(metrics, with_edges=edges is not None)
    node_seed, edge_seed = np.random.SeedSequence(seed).spawn(2)
    nodes = _Nodes.of(probs, part)
    tallies = nodes.tallies(asked)
    if edges is not None:
        held = _ranked_edges(nodes, edges, edge_probs, np.random.default_rng(edge_seed))
        tallies.append(EdgeTally(held, {scope: asked[scope] for scope in SCOPES[2:]}))
    draws: defaultdict[Key, list[FloatArray]] = defaultdict(list)
    for codes in nodes.draw(n_draws, np.random.default_rng(node_seed)):
        for tally in tallies:
            for key, values in tally.read(codes).items():
                draws[key].append(values)
    return {key: Band.of(np.concatenate(blocks)) for key, blocks in draws.items()}


@dataclass(frozen=True, eq=False)
class _Nodes:
    """The nodes that count: all rows of `probs`, or those at `index`."""

    probs: FloatArray
    index: IntArray | None
    confidence: FloatArray
    predicted: IntArray

    @classmethod
    def of(cls, probs: FloatArray, part: IntArray | BoolArray | None) -> _Nodes:
        probs = floats("probs", probs, ndim=2)
        if probs.size and probs.min() < 0:
            refuse("probs", probs < 0, "is negative", "are negative")
        index = None if part is None else check_parts({"part": part}, len(probs))["part"]
        n = len(probs) if index is None else len(index)
        confidence, predicted = np.empty(n, probs.dtype), np.empty(n, np.int32)
        for rows in row_blocks(n, probs.shape[1]):
            block = probs[rows] if index is None else probs[index[rows]]
            confidence[rows], predicted[rows] = block.max(axis=1), block.argmax(axis=1)
        return cls(probs, index, confidence, predicted)

    def tallies(self, asked: _Asked) -> list[NodeTally | ClassTally | EdgeTally]:
        """Tallies of the nodes themselves."""
        by_class = {k: r for k, r in asked["node"].items() if r.by_class}
        plain = {k: r for k, r in asked["node"].items() if not r.by_class}
        tallies: list[NodeTally | ClassTally | EdgeTally] = []
        if plain or asked["balanced"]:
            n_classes = self.probs.shape[1]
            tallies.append(NodeTally(self.confidence, n_classes, plain, asked["balanced"]))
        if by_class:
            tallies.append(ClassTally(self.probs, self.index, by_class))
        return tallies

    def draw(self, n_draws: int, rng: np.random.Generator) -> Iterator[Codes]:
        """Draw labels, a block of columns at a time."""
        for width in column_widths(len(self.predicted), n_draws, self.probs.shape[1]):
            yield draw_codes(self.probs, self.index, self.predicted, width, rng)

    def place(self, edges: IntArray) -> tuple[IntArray, BoolArray | None]:
        """Edges among the nodes that count, by their places; and which edges those are."""
        edges = integers("edges", edges, ndim=2)
        check_pairs("edges", edges, len(self.probs))
        if self.index is None:
            return edges, None
        place = np.full(len(self.probs), -1)
        place[self.index] = np.arange(len(self.index))
        placed: IntArray = place[edges]
        within = np.asarray((placed >= 0).all(axis=1))
        return placed[within], within


def _ranked_edges(
    nodes: _Nodes,
    edges: IntArray,
    edge_probs: FloatArray | None,
    rng: np.random.Generator,
) -> ProductEdges | JointEdges:
    placed, within = nodes.place(edges)
    if edge_probs is None:
        return ProductEdges(nodes.confidence, placed)
    joint = floats("edge_probs", edge_probs, ndim=3)
    same_length(edges=edges, edge_probs=joint)
    return JointEdges(joint if within is None else joint[within], rng)


def _asked(
    metrics: Sequence[Metric] | Mapping[str, Sequence[Metric]], *, with_edges: bool
) -> _Asked:
    """Return readings by scope and label; every scope has its (maybe empty) table."""
    asked: dict[str, dict[str, Reading]] = {scope: {} for scope in SCOPES}
    if not isinstance(metrics, Mapping):
        edge_scopes = SCOPES[2:] if with_edges else ()
        on_edges = [m for m in metrics if m.needs is not Needs.CLASSES]
        metrics = {"node": metrics, **dict.fromkeys(edge_scopes, on_edges)}
    for scope, cards in metrics.items():
        if scope not in asked:
            raise InputError(f"unknown scope {scope!r} (there are: {', '.join(SCOPES)})")
        if scope in SCOPES[2:] and not with_edges:
            raise InputError(f"scope {scope!r} needs edges")
        for card in cards:
            if card.needs is Needs.CLASSES and scope != "node":
                raise InputError(f"{card.label}: has no null band in scope {scope!r}, only 'node'")
            asked[scope][card.label] = reading(card)
    return asked


def has_null(card: Metric) -> bool:
    """Whether redrawn labels give the metric a null band.

    Examples
    --------
    >>> [has_null(card) for card in NULL_METRICS[:2]]
    [True, True]
    """
    return card.compute in _ON_BINS


def reading(card: Metric) -> Reading:
    """How a metric is read off cells of confidence, its parameters bound.

    Examples
    --------
    >>> reading(NULL_METRICS[0].bind(bins=20)).binning.bins
    20
    """
    if not has_null(card):
        known = ", ".join(metric.name for metric in NULL_METRICS)
        raise InputError(f"{card.label}: has no null band (there are: {known})")
    on_bins, above = _ON_BINS[card.compute]
    params: dict[str, Any] = {**card.defaults, **card.params}
    laid = {key: params[key] for key in ("bins", "scheme", "closed") if key in params}
    binning = Binning(**laid) if laid else Binning(bins=smooth.GRID)
    value = partial(on_bins, **{key: params[key] for key in ("norm", "bin") if key in params})
    return Reading(binning, value, above, card.needs is Needs.CLASSES)
