"""Metrics on bootstrap resamples, all resamples of a chunk at once.

A resample is a column of counts. Means are then one matrix product; binned measures need three
sums a cell of confidence, one sparse product each; only what is left is computed one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import BoolArray, FloatArray, IntArray
from graphgauge.metrics import Metric, Outcomes
from graphgauge.metrics.bins import Bins
from graphgauge.metrics.null import has_null, reading
from graphgauge.scoring.card import Options
from graphgauge.stats import interval, resamples
from graphgauge.stats.intervals import Kind

__all__ = ["Question", "Replicator", "bounds", "class_replicator", "looped", "outcome_replicator"]

Replicator: TypeAlias = Callable[[IntArray], FloatArray]

# Of fewer items a resample says nothing.
_FEWEST = 2

_MEANS: Mapping[str, Callable[[Outcomes], FloatArray]] = {
    "accuracy": lambda o: o.correct.astype(np.float64),
    "nll": lambda o: -_log(o.truth),
    "brier": lambda o: 1.0 + o.squares - 2.0 * o.truth,
}


@dataclass(frozen=True, eq=False)
class Question:
    """A metric whose bounds are asked for: its card, its value, what computes it on counts."""

    card: Metric
    value: float
    prepare: Callable[[], Replicator]


def bounds(
    questions: Sequence[Question],
    blocks: Mapping[str, IntArray | None],
    *,
    n_items: int,
    options: Options,
) -> list[dict[str, float]]:
    """Return bootstrap bounds ``{"low": ..., "block_high": ...}`` for each question.

    Parameters
    ----------
    questions
        Metrics of the same items.
    blocks
        Prefix of the bounds to the block of every item, None for single items.
    n_items
        Number of the items.
    options
        Number of resamples, and their seed.
    """
    found: list[dict[str, float]] = [{} for _ in questions]
    if not options.n_resamples or n_items < _FEWEST:
        return found
    replicators = [question.prepare() for question in questions]
    for prefix, block in blocks.items():
        drawn: list[list[FloatArray]] = [[] for _ in questions]
        for counts in resamples(n_items, options.n_resamples, seed=options.seed, blocks=block):
            for replicate, parts in zip(replicators, drawn, strict=True):
                parts.append(replicate(counts))
        for row, (question, parts) in enumerate(zip(questions, drawn, strict=True)):
            found[row] |= _ends(question, np.concatenate(parts), prefix)
    return found


def _ends(question: Question, drawn: FloatArray, prefix: str) -> dict[str, float]:
    if not np.isfinite(question.value):
        return {}
    # Resampling shifts a calibration error upwards: its bounds are reflected back.
    kind: Kind = "basic" if has_null(question.card) else "percentile"
    limits = (question.card.low, question.card.high)
    ends = interval(question.value, drawn, kind=kind, bounds=limits)
    return {f"{prefix}low": ends.low, f"{prefix}high": ends.high}


def outcome_replicator(card: Metric, outcomes: Outcomes) -> Replicator:
    """Return what computes a metric on outcomes from counts ``[m, w]``."""
    if card.name in _MEANS:
        return _mean(_MEANS[card.name](outcomes))
    if has_null(card):
        return _binned(card, outcomes.confidence, outcomes.correct)
    return looped(lambda weights: card(outcomes.weighted(weights)))


def class_replicator(card: Metric, probs: FloatArray, labels: IntArray) -> Replicator:
    """Return what computes a metric on probabilities and labels from counts ``[m, w]``."""
    if not has_null(card):
        return looped(lambda weights: card(probs, labels, weights=weights))
    each = [_binned(card, probs[:, c], np.asarray(labels == c)) for c in range(probs.shape[1])]
    return lambda counts: np.mean([replicate(counts) for replicate in each], axis=0)


def looped(statistic: Callable[[FloatArray], float]) -> Replicator:
    """Compute a metric for one resample after the other."""

    def replicate(counts: IntArray) -> FloatArray:
        return np.array([statistic(column) for column in counts.T.astype(np.float64)])

    return replicate


def _mean(values: FloatArray) -> Replicator:
    infinite = ~np.isfinite(values)
    finite = np.where(infinite, 0.0, values)

    def replicate(counts: IntArray) -> FloatArray:
        means = (finite @ counts) / counts.sum(axis=0, dtype=np.float64)
        if infinite.any():
            means[(infinite @ counts) > 0] = np.inf
        return np.asarray(means)

    return replicate


def _binned(card: Metric, confidence: FloatArray, happened: BoolArray) -> Replicator:
    rule = reading(card)
    cuts = np.unique(rule.cuts(confidence, moving=True))
    tops = np.append(cuts, np.asarray(np.inf, cuts.dtype))
    home = np.searchsorted(cuts, confidence)
    shape = (len(tops), len(home))

    def summed(weights: Iterable[Any]) -> sp.csr_array:
        return sp.csr_array((weights, (home, np.arange(len(home)))), shape)

    ones = np.ones(len(home))
    count, sure, hit = (summed(w) for w in (ones, confidence.astype(np.float64), happened * 1.0))

    def replicate(counts: IntArray) -> FloatArray:
        drawn = counts.astype(np.float64)
        return rule.read(Bins(count @ drawn, sure @ drawn, hit @ drawn), tops)

    return replicate


def _log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))
