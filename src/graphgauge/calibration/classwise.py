"""Calibration of every class by itself: histogram binning and isotonic regression.

Each class is a forecast of its own, one against the rest. What comes out need not sum to one, and
the most probable class may change. Predictions do sum to one, so rows are divided by their sums
(Guo et al. 2017). What *Are Graph Neural Networks Miscalibrated?* measured are the values before
that, with the largest as confidence; `FittedClasses.outcomes` gives them to any metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import isotonic_regression

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.calibration.calibrator import FittedRows, Rowwise, Sample, labelled
from graphgauge.errors import InputError
from graphgauge.metrics import Outcomes
from graphgauge.metrics.bins import Binning
from graphgauge.predictions import NodePredictions

__all__ = ["Classes", "FittedClasses", "Histogram", "Isotonic", "Stairs", "Steps"]


class Classes:
    """A map for every class; rows are divided by their sums."""

    def scores(self, probs: FloatArray) -> FloatArray:
        """Map every class by itself ``[n, C]``; rows need not sum to one."""
        raise NotImplementedError

    def __call__(self, probs: FloatArray) -> FloatArray:
        """Divide scores by the sum of their row; a row of nothing but zeros becomes uniform."""
        scores = self.scores(probs)
        sums = scores.sum(axis=1, keepdims=True)
        uniform = np.full(scores.shape, 1 / scores.shape[1])
        divided: FloatArray = np.divide(scores, sums, out=uniform, where=sums > 0)
        return divided


@dataclass(frozen=True, eq=False)
class Steps(Classes):
    """What replaces a probability, by class and bin.

    Parameters
    ----------
    values
        By class and bin ``[C, B]``.
    cuts
        Upper ends of all bins but the last ``[B - 1]``.
    """

    values: FloatArray
    cuts: FloatArray

    def scores(self, probs: FloatArray) -> FloatArray:
        """Look every probability up in its bin."""
        return self.values[np.arange(len(self.values)), np.searchsorted(self.cuts, probs)]


@dataclass(frozen=True, eq=False)
class Stairs(Classes):
    """A rising curve for every class: straight between its points, level beyond the outer ones.

    Parameters
    ----------
    curves
        For every class, probabilities in ascending order and what they become.
    """

    curves: tuple[tuple[FloatArray, FloatArray], ...]

    def scores(self, probs: FloatArray) -> FloatArray:
        """Read every probability off the curve of its class."""
        columns = [np.interp(p, *curve) for p, curve in zip(probs.T, self.curves, strict=True)]
        return np.stack(columns, axis=1)


@dataclass(frozen=True, eq=False)
class FittedClasses(FittedRows):
    """A fitted calibrator of classes, with what it says before rows are made to sum to one."""

    rows: Classes

    def outcomes(self, predictions: NodePredictions, part: str) -> Outcomes:
        """Meet the undivided scores of a part with its labels, as the paper did.

        Confidence is the largest entry of a row, the first of equal ones.
        """
        index = labelled(predictions, part)
        scores = self.rows.scores(self._probs(predictions)[index])
        return Outcomes.of_nodes(scores, predictions.labels[index])


@dataclass(frozen=True, kw_only=True)
class _Classwise(Rowwise):
    """A calibrator of every class by itself."""

    def learn(self, sample: Sample) -> Classes:
        """Learn a map for every class."""
        raise NotImplementedError

    def fit(self, predictions: NodePredictions, part: str) -> FittedClasses:
        """Learn from the labelled nodes of a part."""
        fitted = super().fit(predictions, part)
        assert isinstance(fitted.rows, Classes)
        return FittedClasses(fitted.label, fitted.n_classes, fitted.rows)


@dataclass(frozen=True, kw_only=True)
class Histogram(_Classwise):
    """Replace every probability by how often its class occurred in its bin.

    Bins have equal width and are closed on the right. An empty bin keeps its middle. By their
    figures, the authors of *miscalibrated* balanced classes in all calibrators but this one.

    Parameters
    ----------
    bins
        Number of bins.

    Examples
    --------
    >>> probs = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]
    >>> predictions = NodePredictions(probs, [0, 1, 0, 1], {"valid": [0, 1, 2, 3]})
    >>> Histogram(bins=2).fit(predictions, "valid")(predictions).probs[0].round(3)
    array([0.667, 0.333])
    """

    bins: int = 15

    name: ClassVar[str] = "histogram"
    reference: ClassVar[str] = (
        "Zadrozny and Elkan, ICML 2001; Teixeira et al. 2019 (arXiv 1905.02296), appendix A.3"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bins < 1:
            raise InputError(f"{self.name}: bins {self.bins} is below one")

    def learn(self, sample: Sample) -> Steps:
        """Learn the frequency of every class in every bin."""
        cuts = Binning(self.bins).cuts(np.empty(0))
        middles = (np.arange(self.bins) + 0.5) / self.bins
        columns = enumerate(np.searchsorted(cuts, sample.probs).T)
        values = [self._frequencies(sample, c, places, middles) for c, places in columns]
        return Steps(np.stack(values), cuts)

    def _frequencies(
        self, sample: Sample, c: int, places: IntArray, otherwise: FloatArray
    ) -> FloatArray:
        mass = np.bincount(places, sample.weights, self.bins)
        hits = np.bincount(places, sample.weights * (sample.labels == c), self.bins)
        return np.divide(hits, mass, out=otherwise.copy(), where=mass > 0)


class Isotonic(_Classwise):
    """Replace every probability by a rising curve, the closest there is to what happened.

    Equal probabilities are one point of the curve; it is straight between points.

    Examples
    --------
    >>> probs = [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]
    >>> predictions = NodePredictions(probs, [0, 1, 0, 1], {"valid": [0, 1, 2, 3]})
    >>> Isotonic().fit(predictions, "valid")(predictions).probs
    array([[1. , 0. ],
           [0.5, 0.5],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    name: ClassVar[str] = "isotonic"
    reference: ClassVar[str] = (
        "Zadrozny and Elkan, KDD 2002; Teixeira et al. 2019 (arXiv 1905.02296), appendix A.3"
    )

    def learn(self, sample: Sample) -> Stairs:
        """Learn the curve of every class."""
        return Stairs(tuple(_curve(sample, c) for c in range(sample.n_classes)))


def _curve(sample: Sample, c: int) -> tuple[FloatArray, FloatArray]:
    points, place = np.unique(sample.probs[:, c], return_inverse=True)
    mass = np.bincount(place, sample.weights)
    shares = np.bincount(place, sample.weights * (sample.labels == c)) / mass
    rising: FloatArray = isotonic_regression(shares, weights=mass).x
    return points, np.clip(rising, 0.0, 1.0)
