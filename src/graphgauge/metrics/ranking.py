"""Ranking: how close to the top true links come among pairs that are no links.

Every metric is a function of `Ranks`. Its ``ties`` names one of the tie rules told of in
`graphgauge.metrics.ranks`; its ``weights`` are one number a positive, such as how often a
bootstrap drew it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.special import digamma

from graphgauge.arrays import BoolArray, FloatArray, floats, same_length
from graphgauge.errors import InputError, name_rows
from graphgauge.metrics.metric import Direction, Metric, Needs
from graphgauge.metrics.ranks import Blocks, Ranks

__all__ = [
    "CARDS",
    "Blocks",
    "Ranks",
    "adjusted_hits",
    "adjusted_mean_rank",
    "adjusted_mrr",
    "auc",
    "hits",
    "hits_spread",
    "mean_rank",
    "mrr",
    "mrr_spread",
    "spread",
]


def mrr(ranks: Ranks, *, ties: str = "mean", weights: FloatArray | None = None) -> float:
    """Mean reciprocal rank.

    With ``ties="random"`` a positive that shares places a to b gets the mean of 1/a, …, 1/b
    (McSherry and Najork 2008).

    Examples
    --------
    >>> mrr(Ranks.of([0.5, 0.9], [0.7, 0.6, 0.1]))
    0.6666666666666666
    """
    return _mean(_reciprocals(ranks, ties), weights)


def hits(
    ranks: Ranks, *, k: int = 10, ties: str = "mean", weights: FloatArray | None = None
) -> float:
    """Share of positives with rank at most `k` (Hits@K).

    Fewer than `k` negatives would make every positive a hit, so that is an error.

    Examples
    --------
    >>> hits(Ranks.of([0.5, 0.9], [0.7, 0.6, 0.1]), k=1)
    0.5
    """
    return _mean(_hit(ranks, _checked(k, ranks), ties), weights)


def mean_rank(ranks: Ranks, *, ties: str = "mean", weights: FloatArray | None = None) -> float:
    """Mean rank of the positives.

    Examples
    --------
    >>> mean_rank(Ranks.of([0.5, 0.9], [0.7, 0.6, 0.1]))
    2.0
    """
    return _mean(ranks.positions(ties), weights)


def auc(ranks: Ranks, *, weights: FloatArray | None = None) -> float:
    """Share of negatives below a positive, ties half, in the mean over positives.

    For a shared list of negatives this is the area under the ROC curve (Hanley and McNeil 1982).

    Examples
    --------
    >>> auc(Ranks.of([0.5, 0.9], [0.7, 0.5, 0.1]))
    0.75
    """
    return _mean(1.0 - (ranks.positions() - 1.0) / ranks.n_negatives, weights)


def adjusted_mrr(ranks: Ranks, *, ties: str = "random", weights: FloatArray | None = None) -> float:
    """MRR above chance: 0 for an uninformed model, 1 for the best (Hoyt et al. 2022).

    A model that knows nothing puts a positive anywhere among its n negatives with equal chance,
    and the expected reciprocal rank is H(n + 1) / (n + 1). With ties that is exact for the rule
    ``random`` alone, hence the default; a constant score has its mean rank in the middle, whose
    reciprocal is below the expected one, and would look worse than chance.

    Examples
    --------
    >>> constant = Ranks.of([0.0, 0.0], np.zeros(10))
    >>> round(adjusted_mrr(constant), 12), round(adjusted_mrr(constant, ties="mean"), 4)
    (0.0, -0.1487)
    """
    n = ranks.n_negatives
    return _above_chance(
        mrr(ranks, ties=ties, weights=weights), (digamma(n + 2) + np.euler_gamma) / (n + 1)
    )


def adjusted_hits(
    ranks: Ranks, *, k: int = 10, ties: str = "random", weights: FloatArray | None = None
) -> float:
    """Hits@K above chance: 0 for an uninformed model, 1 for the best (Hoyt et al. 2022).

    Chance is k / (n + 1); as with `adjusted_mrr`, ties keep to it only under ``random``.

    Examples
    --------
    >>> adjusted_hits(Ranks.of([0.5, 0.9], [0.7, 0.6, 0.1]), k=1)
    0.3333333333333333
    """
    return _above_chance(hits(ranks, k=k, ties=ties, weights=weights), k / (ranks.n_negatives + 1))


def adjusted_mean_rank(
    ranks: Ranks, *, ties: str = "mean", weights: FloatArray | None = None
) -> float:
    """Mean rank above chance: 0 for an uninformed model, 1 for the best, -1 for the worst.

    The adjusted mean rank index, one minus (mean rank - 1) over its value under chance, n / 2
    (Berrendorf et al. 2020).

    Examples
    --------
    >>> adjusted_mean_rank(Ranks.of([0.5, 0.9], [0.7, 0.5, 0.1]))
    0.5
    """
    chance = ranks.n_negatives / 2
    return 1.0 - (mean_rank(ranks, ties=ties, weights=weights) - 1.0) / chance if chance else np.nan


def spread(
    ranks: Ranks, metric: Callable[..., float], *, weights: FloatArray | None = None
) -> float:
    """How much of a metric is up to ties: its optimistic minus its pessimistic value.

    Two models that differ by less are told apart by their tie rule. `metric` is a function of
    ranks, or a card, that takes ``ties``.

    Examples
    --------
    >>> spread(Ranks.of([0.5, 0.9], [0.5, 0.5, 0.1]), mrr)
    0.33333333333333337
    """
    best = metric(ranks, ties="optimistic", weights=weights)
    return best - metric(ranks, ties="pessimistic", weights=weights)


def mrr_spread(ranks: Ranks, *, weights: FloatArray | None = None) -> float:
    """How much of the MRR is up to ties.

    Examples
    --------
    >>> mrr_spread(Ranks.of([0.5], [0.5, 0.1]))
    0.5
    """
    return spread(ranks, mrr, weights=weights)


def hits_spread(ranks: Ranks, *, k: int = 10, weights: FloatArray | None = None) -> float:
    """How much of Hits@K is up to ties.

    Examples
    --------
    >>> hits_spread(Ranks.of([0.5], [0.5, 0.1]), k=1)
    1.0
    """
    return spread(ranks, partial(hits, k=k), weights=weights)


def _checked(k: int, ranks: Ranks) -> int:
    try:
        k = operator.index(k)
    except TypeError:
        raise InputError(f"hits: k={k!r} is not a whole number") from None
    if k < 1:
        raise InputError(f"hits: k={k} is below 1")
    if len(ranks) and k > ranks.n_negatives:
        raise InputError(f"hits: k={k}, but there are only {ranks.n_negatives} negatives")
    return k


def _reciprocals(ranks: Ranks, ties: str) -> FloatArray:
    if ties != "random":
        return 1.0 / ranks.positions(ties)
    first, last = ranks.positions("optimistic"), ranks.positions("pessimistic")
    harmonic = (digamma(last + 1.0) - digamma(first)) / (last - first + 1.0)
    return np.where(first == last, 1.0 / first, harmonic)


def _hit(ranks: Ranks, k: int, ties: str) -> FloatArray | BoolArray:
    if ties == "random":
        return np.clip((float(k) - ranks.greater) / (ranks.equal + 1.0), 0.0, 1.0)
    if ties == "ogb" and ranks.shared:
        return ranks.positions("pessimistic") <= k
    return ranks.positions(ties) <= k


def _above_chance(value: float, chance: float) -> float:
    return float((value - chance) / (1.0 - chance)) if chance < 1.0 else np.nan


def _mean(values: FloatArray | BoolArray, weights: FloatArray | None) -> float:
    if weights is None:
        return float(values.mean()) if len(values) else np.nan
    weight = floats("weights", weights, ndim=1).astype(np.float64)
    same_length(ranks=values, weights=weight)
    if (weight < 0).any():
        raise InputError(f"weights: negative in {name_rows(weight < 0)}")
    total = weight.sum()
    return float(weight @ values / total) if total > 0 else np.nan


_HOYT = (
    "Hoyt et al. 2022, A Unified Framework for Rank-based Evaluation Metrics for Link Prediction"
)
_TIES = "Berrendorf et al. 2020, On the Ambiguity of Rank-Based Evaluation"

CARDS = (
    Metric(
        "mrr",
        mrr,
        "Mean over positives of one over the rank among the negatives.",
        Direction.HIGHER,
        0.0,
        1.0,
        "H(n+1)/(n+1) among n negatives",
        Needs.RANKS,
        "Voorhees 1999, The TREC-8 Question Answering Track Report",
        shown=("ties",),
    ),
    Metric(
        "hits",
        hits,
        "Share of positives with rank at most k among the negatives.",
        Direction.HIGHER,
        0.0,
        1.0,
        "k/(n+1) among n negatives",
        Needs.RANKS,
        "Bordes et al. 2013, Translating Embeddings for Modeling Multi-relational Data",
        shown=("k", "ties"),
    ),
    Metric(
        "mean_rank",
        mean_rank,
        "Mean over positives of the rank among the negatives.",
        Direction.LOWER,
        1.0,
        np.inf,
        "1 + n/2 among n negatives",
        Needs.RANKS,
        "Bordes et al. 2013, Translating Embeddings for Modeling Multi-relational Data",
        shown=("ties",),
    ),
    Metric(
        "auc",
        auc,
        "Mean over positives of the share of negatives that score lower, ties half.",
        Direction.HIGHER,
        0.0,
        1.0,
        "1/2",
        Needs.RANKS,
        "Hanley and McNeil 1982, The Meaning and Use of the Area under a ROC Curve",
    ),
    Metric(
        "adjusted_mrr",
        adjusted_mrr,
        "(MRR - E)/(1 - E), where E = H(n+1)/(n+1) is the MRR under chance.",
        Direction.HIGHER,
        -1.0,
        1.0,
        "0",
        Needs.RANKS,
        _HOYT,
        shown=("ties",),
    ),
    Metric(
        "adjusted_hits",
        adjusted_hits,
        "(Hits@k - E)/(1 - E), where E = k/(n+1) is Hits@k under chance.",
        Direction.HIGHER,
        -np.inf,
        1.0,
        "0",
        Needs.RANKS,
        _HOYT,
        shown=("k", "ties"),
    ),
    Metric(
        "adjusted_mean_rank",
        adjusted_mean_rank,
        "1 - (mean rank - 1)/(n/2), the mean rank against its value under chance.",
        Direction.HIGHER,
        -1.0,
        1.0,
        "0",
        Needs.RANKS,
        _TIES,
        shown=("ties",),
    ),
    Metric(
        "mrr_spread",
        mrr_spread,
        "MRR with ties broken for the positives minus MRR with ties broken against them.",
        Direction.LOWER,
        0.0,
        1.0,
        "0 without ties",
        Needs.RANKS,
        _TIES,
    ),
    Metric(
        "hits_spread",
        hits_spread,
        "Hits@k with ties broken for the positives minus Hits@k with ties broken against them.",
        Direction.LOWER,
        0.0,
        1.0,
        "0 without ties",
        Needs.RANKS,
        _TIES,
        shown=("k",),
    ),
)
