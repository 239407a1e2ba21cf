"""Out-of-distribution detection: how well a score tells shifted items from the others.

The score is an uncertainty: the larger, the more out-of-distribution. Which side counts as
positive changes AUPR and FPR at a TPR, papers differ in it, and so it is part of every name here.
With ``positive=id`` items are taken from the lowest score up, as a confidence would take them.
"""

from __future__ import annotations

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.metrics.metric import Direction, Metric, Needs
from graphgauge.metrics.thresholds import SLACK, sweep

__all__ = ["CARDS", "aupr", "auroc", "fpr_at_tpr", "separability"]


def auroc(score: object, ood: object, *, positive: str = "ood", weights: object = None) -> float:
    """Compute the area under the ROC curve: P(score of OOD > score of ID), ties counting half.

    The area is the same whichever side is positive. NaN if either side is empty.

    Parameters
    ----------
    score
        Uncertainty of every item ``[n]``.
    ood
        Which items are out-of-distribution ``[n]``.
    positive
        ``ood`` or ``id``.
    weights
        Weight of every item ``[n]``.

    References
    ----------
    Hanley and McNeil, The meaning and use of the area under a ROC curve, 1982; Bazhenov et al.,
    Evaluating Robustness and Uncertainty of Graph Models Under Structural Distributional Shifts,
    NeurIPS 2023, report it as OOD AUROC.

    Examples
    --------
    >>> auroc([0.1, 0.4, 0.4, 0.9], [False, False, True, True])
    0.875
    """
    tp, fp = _positives(score, ood, positive, weights)
    if _one_sided(tp, fp):
        return float("nan")
    # A tie crosses its cell of the ROC plane on the diagonal: the trapezoid counts it half.
    heights = 2 * tp - np.diff(tp, prepend=0)
    return float(np.dot(np.diff(fp, prepend=0), heights) / (2 * float(tp[-1]) * float(fp[-1])))


def aupr(score: object, ood: object, *, positive: str = "ood", weights: object = None) -> float:
    """Compute the average precision: precision at each distinct score, weighed by recall gained.

    One threshold a distinct score and no interpolation between them; a trapezoid under the
    precision-recall curve would promise what no threshold reaches. NaN if either side is empty.

    Parameters
    ----------
    score
        Uncertainty of every item ``[n]``.
    ood
        Which items are out-of-distribution ``[n]``.
    positive
        ``ood`` (AUPR-Out of the literature) or ``id`` (AUPR-In).
    weights
        Weight of every item ``[n]``.

    References
    ----------
    Davis and Goadrich, The relationship between Precision-Recall and ROC curves, ICML 2006;
    Hendrycks and Gimpel, A Baseline for Detecting Misclassified and Out-of-Distribution
    Examples, ICLR 2017 (both orientations).

    Examples
    --------
    >>> aupr([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1]), aupr([0.1, 0.4, 0.4, 0.9], [0, 0, 1, 1],
    ...                                                positive="id")
    (0.8333333333333333, 0.8333333333333333)
    """
    tp, fp = _positives(score, ood, positive, weights)
    if _one_sided(tp, fp):
        return float("nan")
    return float(np.dot(np.diff(tp, prepend=0), tp / (tp + fp)) / tp[-1])


def fpr_at_tpr(
    score: object,
    ood: object,
    *,
    tpr: float = 0.95,
    positive: str = "ood",
    weights: object = None,
) -> float:
    """Compute the share of negatives taken by the first threshold that takes `tpr` of positives.

    A threshold cannot split a tie, and nothing is interpolated. NaN if either side is empty.

    Parameters
    ----------
    score
        Uncertainty of every item ``[n]``.
    ood
        Which items are out-of-distribution ``[n]``.
    tpr
        Share of the positives to be found, in (0, 1].
    positive
        ``ood``: OOD items are to be found and ID items are false alarms; ``id``: ID items are to
        be kept and OOD items slip through (the FPR95 of Liang et al.).
    weights
        Weight of every item ``[n]``.

    References
    ----------
    Liang, Li and Srikant, Enhancing the Reliability of Out-of-distribution Image Detection in
    Neural Networks, ICLR 2018.

    Examples
    --------
    >>> fpr_at_tpr([0.1, 0.4, 0.4, 0.9], [False, False, True, True])
    0.5
    """
    if not 0 < tpr <= 1:
        raise InputError(f"tpr: {tpr} is not in (0, 1]")
    tp, fp = _positives(score, ood, positive, weights)
    if _one_sided(tp, fp):
        return float("nan")
    first = np.argmax(tp / tp[-1] >= tpr * (1 - SLACK))
    return float(fp[first] / fp[-1])


def separability(sigma: object, ood: object) -> float:
    """Compute the AUROC that the property behind a shift reaches itself: the shift's ceiling.

    A shift that cuts items ranked by a property `sigma` (small is in-distribution) puts ID below
    OOD, so `sigma` tells them apart perfectly unless the cut falls inside a tie. Then a part of
    the shift is a lottery, and no score that depends on the property alone can pass this figure.
    The published density shifts, on test-in against test-out, reach 1 on CoraML, 0.788 on
    CiteSeer and 0.746 on PubMed, where most nodes have clustering zero.

    Parameters
    ----------
    sigma
        Property of every item ``[n]``.
    ood
        Which items are out-of-distribution ``[n]``.

    References
    ----------
    Bazhenov et al., Evaluating Robustness and Uncertainty of Graph Models Under Structural
    Distributional Shifts, NeurIPS 2023, section 3 (the properties and the cut).

    Examples
    --------
    >>> separability([0.1, 0.5, 0.5, 0.5], [False, False, True, True])
    0.75
    """
    return auroc(sigma, ood)


def _positives(
    score: object, ood: object, positive: str, weights: object
) -> tuple[FloatArray | IntArray, FloatArray | IntArray]:
    """Positives and negatives taken at each threshold, from the most positive score on."""
    if positive not in ("ood", "id"):
        raise InputError(f"positive: {positive!r} is neither 'ood' nor 'id'")
    taken = sweep(score, ood, weights, names=("score", "ood"), falling=positive == "ood")
    return (taken.marked, taken.others) if positive == "ood" else (taken.others, taken.marked)


def _one_sided(tp: FloatArray | IntArray, fp: FloatArray | IntArray) -> bool:
    return not (len(tp) and tp[-1] > 0 and fp[-1] > 0)


CARDS: tuple[Metric, ...] = (
    Metric(
        "auroc",
        auroc,
        "probability that an OOD item scores above an ID item, ties counting half",
        Direction.HIGHER,
        0,
        1,
        "0.5",
        Needs.DETECTION,
        "Hanley and McNeil 1982",
        shown=("positive",),
    ),
    Metric(
        "aupr",
        aupr,
        "average precision: sum over distinct scores of precision times recall gained",
        Direction.HIGHER,
        0,
        1,
        "share of the positives",
        Needs.DETECTION,
        "Davis and Goadrich, ICML 2006; Hendrycks and Gimpel, ICLR 2017",
        shown=("positive",),
    ),
    Metric(
        "fpr_at_tpr",
        fpr_at_tpr,
        "share of negatives taken by the first threshold that takes the share tpr of positives",
        Direction.LOWER,
        0,
        1,
        "tpr",
        Needs.DETECTION,
        "Liang, Li and Srikant, ICLR 2018",
        shown=("tpr", "positive"),
    ),
    Metric(
        "separability",
        separability,
        "AUROC that the property behind a shift reaches itself, ties at the cut counting half",
        Direction.NEITHER,
        0,
        1,
        "0.5, if the cut lies inside a tie of all items",
        Needs.SHIFT,
        "Hanley and McNeil 1982; Bazhenov et al., NeurIPS 2023, section 3",
    ),
)
