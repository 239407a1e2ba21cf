"""Selective prediction: errors that remain as uncertain predictions are rejected.

All metrics read one curve: the share of items that are accepted errors against the share of items
accepted, from the least uncertain on. Where items tie in uncertainty, the curve is the expectation
over a random order within the tie (errors spread evenly over it), so the order in which items come
never matters. A curve drawn in sort order instead moves with the row numbers.

The areas `prr`, `auprc` and `aurc` step item by item as the papers print them, and so take no
weights; `augrc` and `coverage_at_risk` are defined by shares of weight and do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphgauge.arrays import FloatArray
from graphgauge.errors import InputError
from graphgauge.metrics.metric import Direction, Metric, Needs
from graphgauge.metrics.thresholds import SLACK, sweep

__all__ = [
    "CARDS",
    "RejectionCurve",
    "augrc",
    "auprc",
    "aurc",
    "coverage_at_risk",
    "prr",
    "rejection_area",
    "rejection_curve",
]


@dataclass(frozen=True, eq=False)
class RejectionCurve:
    """Accepted errors against accepted items, from nothing accepted to everything accepted.

    Points lie where a threshold can cut, between ties; the curve runs straight between them.

    Parameters
    ----------
    accepted
        Share of the items accepted, from 0 to 1 ``[g + 1]`` (for no items: 0 alone).
    errors
        Share of all items that are accepted and wrong ``[g + 1]``.
    n_items
        How many items there are (with weight).

    Examples
    --------
    >>> curve = rejection_curve([0.1, 0.2, 0.2, 0.9], [0, 1, 0, 1])
    >>> curve.accepted, curve.errors
    (array([0.  , 0.25, 0.75, 1.  ]), array([0.  , 0.  , 0.25, 0.5 ]))
    >>> float(curve.errors_at(np.array(0.5)))
    0.125
    """

    accepted: FloatArray
    errors: FloatArray
    n_items: int

    @property
    def rejected(self) -> FloatArray:
        """Share of the items rejected ``[g + 1]``."""
        return 1.0 - self.accepted

    @property
    def risk(self) -> FloatArray:
        """Share of errors among the accepted, the selective risk, once any are ``[g]``."""
        return self.errors[1:] / self.accepted[1:]

    @property
    def area(self) -> float:
        """Area under the curve, from nothing accepted on."""
        return float(np.trapezoid(self.errors, self.accepted))

    def errors_at(self, accepted: FloatArray) -> FloatArray:
        """Return the expected share of accepted errors where a share `accepted` is accepted."""
        return np.interp(accepted, self.accepted, self.errors)


def rejection_curve(
    uncertainty: object, error: object, *, weights: object = None
) -> RejectionCurve:
    """Accept items from the least uncertain on and count the errors let in.

    Items of equal uncertainty are accepted in random order: the curve is the expectation over
    these orders, a straight line across the tie.

    Parameters
    ----------
    uncertainty
        Uncertainty of every item ``[n]``; only its order counts.
    error
        Which predictions are wrong ``[n]``: booleans, or zeros and ones.
    weights
        Weight of every item ``[n]``.

    References
    ----------
    Malinin et al., Shifts: A Dataset of Real Distributional Shift Across Multiple Large-Scale
    Tasks, NeurIPS 2021.

    Examples
    --------
    >>> rejection_curve([3.0, 1.0, 2.0], [True, False, False]).errors
    array([0.        , 0.        , 0.        , 0.33333333])
    """
    taken = sweep(uncertainty, error, weights, names=("uncertainty", "error"), falling=False)
    items = taken.taken
    total = items[-1] if len(items) else 1
    accepted, errors = (np.concatenate([[0.0], part / total]) for part in (items, taken.marked))
    return RejectionCurve(accepted, errors, taken.n_items)


def rejection_area(uncertainty: object, error: object) -> float:
    """Compute the area A under the rejection curve by trapezoids from x = 1/N to 1.

    The curve starts at the first item, as in the reference implementation; the piece before it
    is missing. NaN without items.

    Parameters
    ----------
    uncertainty
        Uncertainty of every item ``[n]``.
    error
        Which predictions are wrong ``[n]``.

    References
    ----------
    Revisiting Uncertainty Estimation for Node Classification: New Benchmark and Insights, ICLR
    2023 submission, section 3.4 (there the area is called AUPRC and lower is better).

    Examples
    --------
    >>> rejection_area([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    0.125
    """
    return _area_from_first(rejection_curve(uncertainty, error))


def prr(uncertainty: object, error: object) -> float:
    """Compute the prediction rejection ratio (A_random − A) / (A_random − A_oracle).

    With error rate e, the random curve is the line e·x and the oracle rejects errors first. One
    is perfect, zero is chance. It equals 2·AUROC − 1 of telling errors by uncertainty, up to
    O(1/N²). NaN if all predictions are right or all are wrong.

    Parameters
    ----------
    uncertainty
        Uncertainty of every item ``[n]``.
    error
        Which predictions are wrong ``[n]``.

    References
    ----------
    Malinin et al., Uncertainty in Gradient Boosting via Ensembles, ICLR 2021; Revisiting
    Uncertainty Estimation for Node Classification, section 3.4.

    Examples
    --------
    >>> prr([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1]), prr([0.5, 0.5, 0.5, 0.5], [0, 1, 0, 1])
    (1.0, 0.0)
    """
    curve = rejection_curve(uncertainty, error)
    e, n = curve.errors[-1], curve.n_items
    if not 0 < e < 1:
        return float("nan")
    # Trapezoids from 1/N to 1 under e·x, and under a ramp over the last e·N items.
    random, oracle = e * (1 - 1 / n**2) / 2, e**2 / 2
    return float((random - _area_from_first(curve)) / (random - oracle))


def auprc(uncertainty: object, error: object) -> float:
    """Compute the area of *Revisiting uncertainty* as its tables print it: 100·(1 − 2A).

    Higher is better: a model may gain by fewer errors or by knowing them. With accuracy acc as a
    share, AUPRC / 100 = acc + PRR·acc·(1 − acc) + (1 − acc)·(1 − PRR) / N². NaN without items.

    Parameters
    ----------
    uncertainty
        Uncertainty of every item ``[n]``.
    error
        Which predictions are wrong ``[n]``.

    References
    ----------
    Revisiting Uncertainty Estimation for Node Classification: New Benchmark and Insights, ICLR
    2023 submission, section 3.4 and tables 2 to 5; the scale is known from its tables only.

    Examples
    --------
    >>> auprc([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])
    75.0
    """
    return 100 * (1 - 2 * rejection_area(uncertainty, error))


def aurc(uncertainty: object, error: object) -> float:
    """Compute the mean selective risk: share of errors among the first i items, mean over i.

    NaN without items.

    Parameters
    ----------
    uncertainty
        Uncertainty of every item ``[n]``.
    error
        Which predictions are wrong ``[n]``.

    References
    ----------
    Geifman, Uziel and El-Yaniv, Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers,
    ICLR 2019.

    Examples
    --------
    >>> aurc([0.1, 0.2], [False, True])
    0.25
    """
    curve = rejection_curve(uncertainty, error)
    if not curve.n_items:
        return float("nan")
    shares = np.arange(1, curve.n_items + 1) / curve.n_items
    return float(np.mean(curve.errors_at(shares) / shares))


def augrc(uncertainty: object, error: object, *, weights: object = None) -> float:
    """Compute the mean over coverages of the share of accepted errors.

    The average risk of an error that goes unnoticed: (1 − AUROC)·acc·(1 − acc) + (1 − acc)² / 2
    with the AUROC of telling errors by uncertainty, exactly and with ties. NaN without items.

    Parameters
    ----------
    uncertainty
        Uncertainty of every item ``[n]``.
    error
        Which predictions are wrong ``[n]``.
    weights
        Weight of every item ``[n]``.

    References
    ----------
    Traub et al., Overcoming Common Flaws in the Evaluation of Selective Classification Systems,
    NeurIPS 2024.

    Examples
    --------
    >>> augrc([0.1, 0.2], [False, True])
    0.125
    """
    curve = rejection_curve(uncertainty, error, weights=weights)
    return curve.area if curve.n_items else float("nan")


def coverage_at_risk(
    uncertainty: object, error: object, *, risk: float = 0.05, weights: object = None
) -> float:
    """Find the largest share of items a threshold can accept with at most `risk` of them wrong.

    A threshold accepts all of a tie or none of it; zero if no threshold will do. The threshold is
    chosen on the items it is judged on, so this is a description and no guarantee. NaN without
    items.

    Parameters
    ----------
    uncertainty
        Uncertainty of every item ``[n]``.
    error
        Which predictions are wrong ``[n]``.
    risk
        Share of errors among the accepted that is put up with, in [0, 1].
    weights
        Weight of every item ``[n]``.

    References
    ----------
    Geifman and El-Yaniv, Selective Classification for Deep Neural Networks, NeurIPS 2017.

    Examples
    --------
    >>> coverage_at_risk([0.1, 0.2, 0.2, 0.9], [0, 0, 0, 1], risk=0.2)
    0.75
    """
    if not 0 <= risk <= 1:
        raise InputError(f"risk: {risk} is not in [0, 1]")
    curve = rejection_curve(uncertainty, error, weights=weights)
    if not curve.n_items:
        return float("nan")
    met = np.flatnonzero(curve.risk <= risk * (1 + SLACK))
    return float(curve.accepted[met[-1] + 1]) if len(met) else 0.0


def _area_from_first(curve: RejectionCurve) -> float:
    if not curve.n_items:
        return float("nan")
    first = 1 / curve.n_items
    return curve.area - float(curve.errors_at(np.array(first))) * first / 2


CARDS: tuple[Metric, ...] = (
    Metric(
        "prr",
        prr,
        "(A_random - A) / (A_random - A_oracle) with A the area under the rejection curve",
        Direction.HIGHER,
        -1.25,  # three items, two wrong, the right one rejected first; below -1 only for few items
        1,
        "0",
        Needs.REJECTION,
        "Malinin et al., ICLR 2021; Revisiting Uncertainty Estimation, section 3.4",
    ),
    Metric(
        "auprc",
        auprc,
        "100 (1 - 2A) with A the area under the rejection curve",
        Direction.HIGHER,
        0,
        100,
        "accuracy in percent",
        Needs.REJECTION,
        "Revisiting Uncertainty Estimation, section 3.4",
    ),
    Metric(
        "aurc",
        aurc,
        "share of errors among the i least uncertain, mean over i",
        Direction.LOWER,
        0,
        1,
        "error rate",
        Needs.REJECTION,
        "Geifman, Uziel and El-Yaniv, ICLR 2019",
    ),
    Metric(
        "augrc",
        augrc,
        "share of all items that are accepted errors, mean over coverages",
        Direction.LOWER,
        0,
        0.5,
        "half the error rate",
        Needs.REJECTION,
        "Traub et al., NeurIPS 2024",
    ),
    Metric(
        "coverage_at_risk",
        coverage_at_risk,
        "largest share of items a threshold accepts with at most the share risk of them wrong",
        Direction.HIGHER,
        0,
        1,
        "1 if the error rate is at most risk, or else near 0",
        Needs.REJECTION,
        "Geifman and El-Yaniv, NeurIPS 2017",
        shown=("risk",),
    ),
)
