"""Binned calibration errors of nodes and edges.

Each measure is a function on :class:`~graphgauge.metrics.bins.Bins` that serves any number of draws
at once (``ece_of``, ``mce_of``, ``debiased_of``), and a metric on outcomes that bins first.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.special import erf

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.metrics.bins import (
    Binning,
    Bins,
    Closed,
    Scheme,
    bin_events,
    bin_outcomes,
    quotient,
)
from graphgauge.metrics.metric import Direction, Metric, Needs
from graphgauge.metrics.outcomes import Outcomes

__all__ = [
    "BIN_ACCURACY",
    "CARDS",
    "Reliability",
    "bin_accuracy",
    "bin_accuracy_of",
    "classwise_ece",
    "debiased_ece",
    "debiased_of",
    "ece",
    "ece_above_half",
    "ece_of",
    "mce",
    "mce_of",
    "reliability",
]


@dataclass(frozen=True, eq=False)
class Reliability:
    """A reliability curve: what happened against what was said, bin by bin.

    Parameters
    ----------
    edges
        Confidences that bound the bins ``[B + 1]``.
    share
        Each bin's share of all weight ``[B]``.
    confidence, accuracy
        Mean confidence and accuracy in the bin ``[B]``, NaN where it is empty.
    """

    edges: FloatArray
    share: FloatArray
    confidence: FloatArray
    accuracy: FloatArray


def ece_of(bins: Bins, norm: float = 1) -> FloatArray:
    """Σ_b (n_b/n) gap_b^norm, without a root; NaN for a draw without items.

    Examples
    --------
    >>> bins = Bins(np.array([1.0, 3.0]), np.array([0.25, 2.5]), np.array([0.0, 3.0]))
    >>> float(ece_of(bins))
    0.1875
    """
    return _mean(bins, _gaps(bins) ** _power(norm))


def mce_of(bins: Bins) -> FloatArray:
    """Largest gap over the bins that hold something; NaN for a draw without items."""
    return np.where(bins.mass.sum(axis=0) > 0, _gaps(bins).max(axis=0), np.nan)


def debiased_of(bins: Bins, norm: int = 1) -> FloatArray:
    """Calibration error less the bias that noise in the bins' accuracies brings.

    See :func:`debiased_ece`.
    """
    if norm not in (1, 2):
        raise InputError(f"norm: {norm!r} is neither 1 nor 2")
    return _mean(bins, _debiased_gaps(bins) if norm == 1 else _debiased_squares(bins))


def bin_accuracy_of(bins: Bins, bin: int = 0) -> FloatArray:
    """Accuracy within one bin; NaN where it is empty."""
    return quotient(bins.hits[bin], bins.mass[bin], otherwise=np.nan)


def ece(
    outcomes: Outcomes,
    *,
    bins: int = 15,
    scheme: Scheme = "width",
    closed: Closed = "right",
    norm: float = 1,
) -> float:
    """Measure how far accuracy is from confidence: Σ_b (n_b/n) |gap_b|^norm, without a root.

    The gap of a bin is its accuracy less its mean confidence (expected calibration error).

    Parameters
    ----------
    outcomes
        Outcomes of nodes or edges.
    bins, scheme, closed
        The bins, see :func:`~graphgauge.metrics.bins.bin_outcomes`; ``closed="left"`` is what the
        authors of the edgewise errors ran, ``"right"`` what they wrote.
    norm
        Power of the gaps.

    References: Naeini et al. 2015; Guo et al. 2017; Hsu et al. 2022, equations 1 to 8.

    Examples
    --------
    >>> outcomes = Outcomes.of_nodes(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    >>> round(ece(outcomes), 2)
    0.35
    """
    return float(ece_of(bin_outcomes(outcomes, bins=bins, scheme=scheme, closed=closed), norm))


def ece_above_half(
    outcomes: Outcomes, *, bins: int = 15, closed: Closed = "right", norm: float = 1
) -> float:
    """ECE of the predictions made with more than 50 % confidence, normalised by their number.

    The bins are those of ECE on [0, 1]; the one across one half is cut there.
    Reference: Teixeira et al. 2019, section 3 (ECE≥50).

    Examples
    --------
    >>> outcomes = Outcomes.of_nodes(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([0, 1]))
    >>> round(ece_above_half(outcomes), 2)
    0.1
    """
    sure = outcomes.take(outcomes.confidence > 0.5)
    return ece(sure, bins=bins, closed=closed, norm=norm)


def mce(
    outcomes: Outcomes, *, bins: int = 15, scheme: Scheme = "width", closed: Closed = "right"
) -> float:
    """Maximum calibration error: the largest gap of a bin that holds something.

    Reference: Naeini et al. 2015.

    Examples
    --------
    >>> outcomes = Outcomes.of_nodes(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    >>> mce(outcomes)
    0.6
    """
    return float(mce_of(bin_outcomes(outcomes, bins=bins, scheme=scheme, closed=closed)))


def debiased_ece(
    outcomes: Outcomes,
    *,
    bins: int = 15,
    scheme: Scheme = "width",
    closed: Closed = "right",
    norm: int = 1,
) -> float:
    """Calibration error less the bias of its plug-in estimate (Kumar, Liang and Ma 2019).

    ``norm=2``: Σ (n_b/n) (gap² - a(1-a)/(n_b-1)) with a the bin's accuracy: unbiased for the
    squared error, and below zero about half the time when a model is calibrated. A bin of a
    single item holds no information on its own noise and adds nothing.

    ``norm=1``: the plug-in minus its bias were each gap Normal(gap, a(1-a)/n_b), in closed form
    (the mean of a folded normal) where Kumar et al. sample.

    With weights that are no counts, n_b is the bin's effective number (Σw)²/Σw².

    Examples
    --------
    >>> outcomes = Outcomes.of_nodes(np.array([[0.6, 0.4]] * 4), np.array([0, 0, 1, 1]))
    >>> round(ece(outcomes), 3), round(debiased_ece(outcomes), 3)
    (0.1, -0.015)
    """
    return float(debiased_of(bin_outcomes(outcomes, bins=bins, scheme=scheme, closed=closed), norm))


def classwise_ece(
    probs: FloatArray,
    labels: IntArray,
    *,
    bins: int = 15,
    scheme: Scheme = "width",
    closed: Closed = "right",
    norm: float = 1,
    weights: FloatArray | None = None,
) -> float:
    """Mean over the classes of the calibration error of p_c as a forecast of y = c.

    Reference: Kull et al. 2019, equation 3.

    Examples
    --------
    >>> round(classwise_ece(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0])), 2)
    0.35
    """
    binning = Binning(bins, scheme, closed)
    errors = [
        ece_of(bin_events(probs[:, c], labels == c, weights, binning=binning), norm)
        for c in range(probs.shape[1])
    ]
    return float(np.mean(errors))


def bin_accuracy(
    outcomes: Outcomes,
    *,
    bin: int = 0,
    bins: int = 15,
    scheme: Scheme = "width",
    closed: Closed = "right",
) -> float:
    """Measure the accuracy of the items whose confidence lies in one bin: a reliability point.

    Examples
    --------
    >>> outcomes = Outcomes.of_nodes(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    >>> bin_accuracy(outcomes, bin=2, bins=3)
    1.0
    """
    held = bin_outcomes(outcomes, bins=bins, scheme=scheme, closed=closed)
    return float(bin_accuracy_of(held, bin))


def reliability(
    outcomes: Outcomes, *, bins: int = 15, scheme: Scheme = "width", closed: Closed = "right"
) -> Reliability:
    """Return the reliability curve: accuracy against confidence, bin by bin.

    Examples
    --------
    >>> outcomes = Outcomes.of_nodes(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    >>> reliability(outcomes, bins=3).accuracy
    array([nan,  0.,  1.])
    """
    held = bin_outcomes(outcomes, bins=bins, scheme=scheme, closed=closed)
    return Reliability(
        held.edges,
        quotient(held.mass, held.mass.sum(), otherwise=np.nan),
        quotient(held.confidence, held.mass, otherwise=np.nan),
        quotient(held.hits, held.mass, otherwise=np.nan),
    )


def _debiased_gaps(bins: Bins) -> FloatArray:
    """|gap| less the bias of a folded normal's mean over |gap|."""
    gap = _gaps(bins)
    spread = np.sqrt(_noise(bins, np.maximum(bins.sizes, 1.0)))
    ratio = quotient(gap, spread, otherwise=np.inf)
    folded = spread * np.sqrt(2 / np.pi) * np.exp(-0.5 * ratio**2) + gap * erf(ratio / np.sqrt(2))
    return np.asarray(2 * gap - folded)


def _debiased_squares(bins: Bins) -> FloatArray:
    squares = _gaps(bins) ** 2 - _noise(bins, np.maximum(bins.sizes - 1.0, 1.0))
    return np.where(bins.sizes >= 2, squares, 0.0)


def _noise(bins: Bins, counts: FloatArray) -> FloatArray:
    """Variance of each bin's accuracy: a(1-a) over the counts."""
    accuracy = quotient(bins.hits, bins.mass)
    return np.asarray(np.clip(accuracy * (1 - accuracy), 0.0, None) / counts)


def _gaps(bins: Bins) -> FloatArray:
    return np.abs(quotient(bins.hits - bins.confidence, bins.mass))


def _mean(bins: Bins, gaps: FloatArray) -> FloatArray:
    """Mean over the bins by mass; NaN for a draw without items."""
    sums, total = (bins.mass * gaps).sum(axis=0), bins.mass.sum(axis=0)
    return quotient(sums, total, otherwise=np.nan)


def _power(norm: object) -> float:
    if isinstance(norm, bool) or not isinstance(norm, Real) or not float(norm) >= 1:
        raise InputError(f"norm: {norm!r} is not a number from one up")
    return float(norm)


BIN_ACCURACY = Metric(
    name="bin_accuracy",
    compute=bin_accuracy,
    definition="Accuracy of the items whose confidence lies in one bin.",
    direction=Direction.NEITHER,
    low=0.0,
    high=1.0,
    chance="1/C",
    needs=Needs.OUTCOMES,
    reference="DeGroot and Fienberg 1983, The Comparison and Evaluation of Forecasters",
    shown=("bin",),
)
"""A point of a reliability curve; not in `CARDS`, since a single bin is no measure of a model."""

CARDS: tuple[Metric, ...] = (
    Metric(
        name="ece",
        compute=ece,
        definition="Mean over bins, by mass, of |accuracy - mean confidence|^norm.",
        direction=Direction.LOWER,
        low=0.0,
        high=1.0,
        chance="0 for a uniform model over equally frequent classes; above zero on finite data "
        "even when calibrated (see its null band)",
        needs=Needs.OUTCOMES,
        reference="Guo et al. 2017; Hsu, Shen and Cremers 2022 (arXiv 2210.15575), equation 1",
        shown=("bins",),
    ),
    Metric(
        name="ece50",
        compute=ece_above_half,
        definition="ECE of the predictions with confidence above one half, over their number.",
        direction=Direction.LOWER,
        low=0.0,
        high=1.0,
        chance="none: a uniform model over three classes or more has no such prediction",
        needs=Needs.OUTCOMES,
        reference="Teixeira, Jalaian and Ribeiro 2019 (arXiv 1905.02296)",
        shown=("bins",),
    ),
    Metric(
        name="classwise_ece",
        compute=classwise_ece,
        definition="Mean over the classes c of the ECE of p_c as a forecast of y = c.",
        direction=Direction.LOWER,
        low=0.0,
        high=1.0,
        chance="0 for a uniform model over equally frequent classes",
        needs=Needs.CLASSES,
        reference="Kull et al. 2019 (arXiv 1910.12656)",
        shown=("bins",),
    ),
    Metric(
        name="debiased_ece",
        compute=debiased_ece,
        definition="ECE less the bias that noise in the accuracies of the bins brings.",
        direction=Direction.LOWER,
        low=-0.4,
        high=1.0,
        chance="0 for a uniform model over equally frequent classes",
        needs=Needs.OUTCOMES,
        reference="Kumar, Liang and Ma 2019 (arXiv 1909.10155)",
        shown=("bins",),
    ),
    Metric(
        name="mce",
        compute=mce,
        definition="Largest |accuracy - mean confidence| of a bin that is not empty.",
        direction=Direction.LOWER,
        low=0.0,
        high=1.0,
        chance="0 for a uniform model over equally frequent classes",
        needs=Needs.OUTCOMES,
        reference="Naeini et al. 2015",
        shown=("bins",),
    ),
)
