"""Calibration by one temperature, and by a mix of tempered, given and uniform probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from graphgauge.arrays import FloatArray
from graphgauge.calibration.calibrator import Rowwise, Sample, logits
from graphgauge.errors import InputError

__all__ = [
    "OBJECTIVES",
    "EnsembleTemperature",
    "Mixed",
    "Temperature",
    "Tempered",
    "best_temperature",
    "best_weights",
]

OBJECTIVES = ("nll", "brier")

# Beyond these a row is as good as certain, or uniform.
_COLDEST, _HOTTEST = 0.01, 100.0
_GRID = 41
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Tempered:
    """The map ``softmax(log p / T)``: sharper for T below one, flatter above.

    Examples
    --------
    >>> Tempered(0.5)(np.array([[0.25, 0.75]]))
    array([[0.1, 0.9]])
    """

    temperature: float

    @property
    def told(self) -> dict[str, float]:
        """What was learned, in words and numbers."""
        return {"temperature": self.temperature}

    def __call__(self, probs: FloatArray) -> FloatArray:
        """Temper every row ``[n, C]``."""
        tempered: FloatArray = np.exp(log_softmax(logits(probs) / self.temperature, axis=1))
        return tempered


@dataclass(frozen=True)
class Mixed:
    """The map ``w₁ softmax(log p / T) + w₂ p + w₃ / C``.

    Parameters
    ----------
    tempered
        With its temperature T.
    weights
        Of the tempered, the given and the uniform probabilities; not negative, in sum one.
    """

    tempered: Tempered
    weights: tuple[float, float, float]

    @property
    def told(self) -> dict[str, float]:
        """What was learned, in words and numbers."""
        shares = zip(("tempered", "given", "uniform"), self.weights, strict=True)
        return {**self.tempered.told, **dict(shares)}

    def __call__(self, probs: FloatArray) -> FloatArray:
        """Mix every row ``[n, C]``."""
        mixed: FloatArray = np.tensordot(self.weights, _members(probs, self.tempered), 1)
        return mixed


@dataclass(frozen=True, kw_only=True)
class _Scored(Rowwise):
    """A calibrator that minimises a proper score.

    Parameters
    ----------
    objective
        ``nll`` or ``brier``.
    """

    objective: str = "nll"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.objective not in OBJECTIVES:
            known = ", ".join(OBJECTIVES)
            raise InputError(f"{self.name}: objective {self.objective!r} is not one of: {known}")


class Temperature(_Scored):
    """Divide logits by one temperature, found on a grid and then by Brent's bounded search.

    The predicted class stays. The temperature lies between 0.01 and 100, which is where it ends
    when all predictions are right, or no better than chance.

    Examples
    --------
    >>> from graphgauge.predictions import NodePredictions
    >>> probs = [[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]
    >>> predictions = NodePredictions(probs, [0, 0, 1, 1], {"valid": [0, 1, 2, 3]})
    >>> fitted = Temperature().fit(predictions, "valid")
    >>> fitted(predictions).probs[0].round(4), round(fitted.rows.temperature, 4)
    (array([0.75, 0.25]), 2.0)
    """

    name: ClassVar[str] = "temperature"
    reference: ClassVar[str] = (
        "Guo et al., On Calibration of Modern Neural Networks, ICML 2017; with the Brier score: "
        "Teixeira et al. 2019 (arXiv 1905.02296)"
    )

    def learn(self, sample: Sample) -> Tempered:
        """Learn the temperature."""
        return Tempered(best_temperature(sample, self.objective))


class EnsembleTemperature(_Scored):
    """Mix tempered, given and uniform probabilities; the temperature is learned first.

    The weights minimise the same score among all that are not negative and sum to one. The
    predicted class stays.
    """

    name: ClassVar[str] = "ensemble"
    reference: ClassVar[str] = "Zhang, Kailkhura and Han, Mix-n-Match, ICML 2020 (arXiv 2003.07329)"

    def learn(self, sample: Sample) -> Mixed:
        """Learn the temperature, then the weights."""
        tempered = Tempered(best_temperature(sample, self.objective))
        return Mixed(tempered, best_weights(sample, tempered, self.objective))


def best_temperature(sample: Sample, objective: str) -> float:
    """Find the temperature of the lowest score.

    The log-likelihood has one minimum; the Brier score may have several, hence the grid.
    """
    logs = logits(sample.probs)

    def loss(cold: float) -> float:
        return _LOSSES[objective](log_softmax(logs * np.exp(-cold), axis=1), sample)

    grid = np.linspace(np.log(_COLDEST), np.log(_HOTTEST), _GRID)
    lowest = int(np.argmin([loss(place) for place in grid]))
    around = grid[[max(lowest - 1, 0), min(lowest + 1, _GRID - 1)]]
    found = minimize_scalar(loss, bounds=tuple(around), method="bounded", options={"xatol": 1e-9})
    return float(np.exp(found.x))


def best_weights(sample: Sample, tempered: Tempered, objective: str) -> tuple[float, float, float]:
    """Find the weights of the lowest score on the simplex: a convex problem for either score."""
    members = _members(sample.probs, tempered)
    truth = members[:, np.arange(len(sample.labels)), sample.labels]
    loss = _mixed_nll(truth, sample) if objective == "nll" else _mixed_brier(members, truth, sample)
    found = minimize(
        loss,
        np.full(3, 1 / 3),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * 3,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    kept = np.clip(found.x, 0.0, 1.0)
    first, second, third = (kept / kept.sum()).tolist()
    return first, second, third


def _members(probs: FloatArray, tempered: Tempered) -> FloatArray:
    """Stack tempered, given and uniform probabilities ``[3, n, C]``; rows sum to one exactly."""
    given = probs / probs.sum(axis=1, keepdims=True)
    return np.stack([tempered(probs), given, np.full(probs.shape, 1 / probs.shape[1])])


def _nll(logs: FloatArray, sample: Sample) -> float:
    return float(-sample.weights @ logs[np.arange(len(logs)), sample.labels])


def _brier(logs: FloatArray, sample: Sample) -> float:
    probs = np.exp(logs)
    squares = np.einsum("ij,ij->i", probs, probs)
    return float(sample.weights @ (1 + squares - 2 * probs[np.arange(len(probs)), sample.labels]))


_LOSSES: dict[str, Callable[[FloatArray, Sample], float]] = {"nll": _nll, "brier": _brier}

_Loss = Callable[[FloatArray], tuple[float, FloatArray]]


def _mixed_nll(truth: FloatArray, sample: Sample) -> _Loss:
    """Return the NLL of a mix, and its gradient, from what each member says of the truth."""

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        mixed = np.maximum(w @ truth, _TINY)
        return float(-sample.weights @ np.log(mixed)), -(truth @ (sample.weights / mixed))

    return loss


def _mixed_brier(members: FloatArray, truth: FloatArray, sample: Sample) -> _Loss:
    """Return the Brier score of a mix, a quadratic form of its weights, and its gradient."""
    squares = np.einsum("kij,lij,i->kl", members, members, sample.weights)
    hits = truth @ sample.weights

    def loss(w: FloatArray) -> tuple[float, FloatArray]:
        return float(1 + w @ squares @ w - 2 * w @ hits), 2 * (squares @ w - hits)

    return loss
