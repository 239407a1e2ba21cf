"""Accuracy and proper scoring rules, for nodes and edges alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from graphgauge.arrays import BoolArray, FloatArray, IntArray
from graphgauge.metrics.metric import Direction, Metric, Needs
from graphgauge.metrics.outcomes import Outcomes

__all__ = ["CARDS", "accuracy", "balanced_accuracy", "brier", "nll"]


def accuracy(outcomes: Outcomes) -> float:
    """Share of right predictions: of edges, those with both ends right.

    Reference: *A Graph Is More Than Its Nodes* (Hsu et al. 2022), equations 16 and 17.

    Examples
    --------
    >>> accuracy(Outcomes.of_nodes(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0])))
    0.5
    """
    return _mean(outcomes.correct, outcomes.weights)


def nll(outcomes: Outcomes) -> float:
    """Negative log-likelihood: mean of -log p(y), infinite once something had probability zero.

    Reference: Hsu et al. 2022, equations 18 and 19.

    Examples
    --------
    >>> probs = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> round(nll(Outcomes.of_nodes(probs, np.array([0, 0]))), 4)
    0.3466
    >>> nll(Outcomes.of_nodes(probs, np.array([0, 1])))
    inf
    """
    with np.errstate(divide="ignore"):
        surprise = np.log(outcomes.truth)
    np.negative(surprise, out=surprise)
    surprise += 0.0  # minus zero, the surprise at a sure thing, reads badly
    return _mean(surprise, outcomes.weights)


def brier(outcomes: Outcomes) -> float:
    """Brier score: mean of Σ_c (p_c − 1[y = c])² = 1 + Σ p² − 2 p_y, from 0 to 2.

    Over an edge the classes are all pairs of classes. References: Brier 1950; Hsu et al. 2022,
    equations 20 and 21.

    Examples
    --------
    >>> probs = np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> brier(Outcomes.of_nodes(probs, np.array([0, 1])))
    1.25
    """
    distance = -2.0 * outcomes.truth
    distance += outcomes.squares
    distance += 1.0
    return _mean(np.maximum(distance, 0.0, out=distance), outcomes.weights)


def balanced_accuracy(
    probs: FloatArray, labels: IntArray, *, weights: FloatArray | None = None
) -> float:
    """Mean over the classes present of the share of their items predicted right.

    Reference: *Are Graph Neural Networks Miscalibrated?* (Teixeira et al. 2019), which weighs
    every node by one over the size of its class.

    Examples
    --------
    >>> probs = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    >>> balanced_accuracy(probs, np.array([0, 0, 1]))
    0.5
    """
    return accuracy(Outcomes.of_nodes(probs, labels, weights).balanced(labels))


def _mean(values: FloatArray | BoolArray, weights: FloatArray | None) -> float:
    if weights is None:
        return float(np.mean(values)) if len(values) else float("nan")
    # Items without weight do not count, not even infinite ones.
    used = weights > 0
    if not used.any():
        return float("nan")
    picked: npt.NDArray[np.float64] = weights[used].astype(np.float64)
    return float(np.sum(picked * values[used]) / np.sum(picked))


CARDS: tuple[Metric, ...] = (
    Metric(
        name="accuracy",
        compute=accuracy,
        definition="Share of items predicted right (an edge: both ends).",
        direction=Direction.HIGHER,
        low=0.0,
        high=1.0,
        chance="1/C for C equally frequent classes, 1/C² for edges",
        needs=Needs.OUTCOMES,
        reference="Hsu, Shen and Cremers 2022 (arXiv 2210.15575), equations 16 and 17",
    ),
    Metric(
        name="balanced_accuracy",
        compute=balanced_accuracy,
        definition="Mean over the classes of the share of their items predicted right.",
        direction=Direction.HIGHER,
        low=0.0,
        high=1.0,
        chance="1/C",
        needs=Needs.CLASSES,
        reference="Teixeira, Jalaian and Ribeiro 2019 (arXiv 1905.02296)",
    ),
    Metric(
        name="nll",
        compute=nll,
        definition="Mean of -log p(y), without a floor: infinite once p(y) = 0.",
        direction=Direction.LOWER,
        low=0.0,
        high=float("inf"),
        chance="log C, 2 log C for edges",
        needs=Needs.OUTCOMES,
        reference="Hsu, Shen and Cremers 2022 (arXiv 2210.15575), equations 18 and 19",
    ),
    Metric(
        name="brier",
        compute=brier,
        definition="Mean of the sum over classes of (p_c - 1[y=c])^2.",
        direction=Direction.LOWER,
        low=0.0,
        high=2.0,
        chance="1 - 1/C, 1 - 1/C² for edges",
        needs=Needs.OUTCOMES,
        reference="Brier 1950; Hsu, Shen and Cremers 2022 (arXiv 2210.15575), equations 20 and 21",
    ),
)
