"""Scoring of link predictions: ranks once, everything else from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.metrics import METRICS, Metric, Needs, Ranks, metric
from graphgauge.predictions import LinkPredictions
from graphgauge.scoring.card import WHOLE, Measured, Options
from graphgauge.scoring.gates import gated, is_asked
from graphgauge.stats import endpoint_blocks, interval, replicates, resample_counts

__all__ = ["link_figures", "link_metrics", "link_parts"]

_HITS = (1, 3, 10, 20, 50, 100)
_SPREADS = ("mrr_spread", "hits_spread")
_RANK_BINS = (1, 2, 3, 6, 11, 21, 51, 101, 501, 1001, 5001, 10_001)


def link_parts(predictions: LinkPredictions) -> Mapping[str, IntArray]:
    """Return the parts of the positives; without any, all of them."""
    return predictions.parts or {WHOLE: np.arange(len(predictions.pos))}


def link_metrics(
    predictions: LinkPredictions, ranks: Ranks, options: Options
) -> Iterator[tuple[Measured, Metric]]:
    """Yield every number of every part, with its definition."""
    chosen = [metric(label) for label in options.metrics] or _defaults(ranks, options.protocol)
    for label in gated(options.gates):
        card = metric(label)
        if not is_asked(label, card, chosen):
            chosen.append(card)
    for card in chosen:
        if card.needs is not Needs.RANKS:
            raise InputError(f"{card.label} is not a metric of link predictions")
    for part, index in link_parts(predictions).items():
        here = ranks.take(index)
        draws = _resamples(predictions, index, options)
        for card in chosen:
            yield _measure(card, part, here, draws), card


def link_figures(predictions: LinkPredictions, ranks: Ranks) -> dict[str, list[dict[str, Any]]]:
    """Return the share of positives by mean rank, in bins that widen."""
    edges = [e for e in _RANK_BINS if e <= ranks.n_negatives] + [ranks.n_negatives + 2]
    shares = []
    for part, index in link_parts(predictions).items():
        counts, _ = np.histogram(ranks.take(index).positions("mean"), edges)
        shares.append({"part": part, "edges": edges, "share": (counts / counts.sum()).tolist()})
    return {"ranks": shares}


def _defaults(ranks: Ranks, protocol: str) -> list[Metric]:
    ties = "mean" if protocol == "corrected" else "ogb"
    names = ("mrr", "mean_rank", "adjusted_mrr", "adjusted_mean_rank")
    cards = [METRICS[name] for name in names]
    fixed = [
        card.bind(ties=ties) if ties == "ogb" and card.name == "mrr" else card for card in cards
    ]
    hits = [METRICS["hits"].bind(k=k, ties=ties) for k in _HITS if k <= ranks.n_negatives]
    spreads = [METRICS["mrr_spread"]]
    if ranks.n_negatives >= 10:
        spreads.append(METRICS["hits_spread"])
    return [fixed[0], *hits, METRICS["auc"], *fixed[1:], *spreads]


def _resamples(
    predictions: LinkPredictions, index: IntArray, options: Options
) -> dict[str, IntArray]:
    """Draw resamples of positives, i.i.d. and, where the pairs are known, by endpoint."""
    if not options.n_resamples or len(index) < 2:
        return {}
    n, seed = len(index), options.seed
    draws = {"": resample_counts(n, options.n_resamples, seed=seed)}
    if predictions.pos_edges is not None:
        blocks = endpoint_blocks(predictions.pos_edges[index])
        draws["block_"] = resample_counts(n, options.n_resamples, seed=seed, blocks=blocks)
    return draws


def _measure(card: Metric, part: str, ranks: Ranks, draws: Mapping[str, IntArray]) -> Measured:
    value = card(ranks)
    ends: dict[str, float] = {}
    for kind, counts in draws.items():

        def statistic(weights: FloatArray) -> float:
            return card(ranks, weights=weights)

        found = interval(value, replicates(statistic, counts), bounds=(card.low, card.high))
        ends |= {f"{kind}low": found.low, f"{kind}high": found.high}
    return Measured(card.label, part, value, len(ranks), str(card.direction), **ends)
