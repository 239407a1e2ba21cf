"""Calibration error without bins: residuals smoothed by a Gaussian that reflects at 0 and 1."""

from __future__ import annotations

import numpy as np
from scipy import fft

from graphgauge.arrays import FloatArray
from graphgauge.metrics.bins import Bins, bin_outcomes
from graphgauge.metrics.metric import Direction, Metric, Needs
from graphgauge.metrics.outcomes import Outcomes

__all__ = ["CARDS", "GRID", "smooth_at", "smooth_ece", "smooth_of"]

# Confidences are rounded to the centres of this many cells, far narrower than any bandwidth that
# fewer than 100 million items can ask for.
GRID = 2048

_HALVINGS = 24


def smooth_ece(outcomes: Outcomes) -> float:
    r"""Smooth calibration error of Błasiok and Nakkiran (2023), free of bins and parameters.

    Residuals (correct - confidence) are smoothed by a Gaussian of width σ reflected at 0 and 1,

        smECE_σ = ∫₀¹ \|(1/n) Σ_i (correct_i - confidence_i) K_σ(t, confidence_i)\| dt,

    and σ is chosen where smECE_σ = σ. Takes O(n + G log G) for a grid of G = 2048 cells.

    Examples
    --------
    >>> probs = np.array([[0.75, 0.25]] * 4)
    >>> round(smooth_ece(Outcomes.of_nodes(probs, np.array([0, 0, 0, 0]))), 6)
    0.25
    >>> round(smooth_ece(Outcomes.of_nodes(probs, np.array([0, 0, 0, 1]))), 6)
    0.0
    """
    return float(smooth_of(bin_outcomes(outcomes, bins=GRID)))


def smooth_of(cells: Bins) -> FloatArray:
    """Smooth calibration error from sums over equal cells of [0, 1], for every draw at once."""
    waves, step = _waves(cells)
    low, high = np.zeros(waves.shape[1:]), np.ones(waves.shape[1:])
    # smECE_σ falls as σ grows, so there is one crossing and halving the interval finds it.
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = _smoothed(waves, step, middle) > middle
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return _smoothed(waves, step, (low + high) / 2)


def smooth_at(cells: Bins, width: float) -> FloatArray:
    """smECE_σ at a given width σ of the kernel.

    Examples
    --------
    >>> outcomes = Outcomes.of_nodes(np.array([[0.75, 0.25]] * 2), np.array([0, 1]))
    >>> float(smooth_at(bin_outcomes(outcomes, bins=GRID), 0.1).round(6))
    0.25
    """
    waves, step = _waves(cells)
    return _smoothed(waves, step, np.full(waves.shape[1:], float(width)))


def _waves(cells: Bins) -> tuple[FloatArray, FloatArray]:
    """Cosine coefficients of the residuals' density, and each one's frequency."""
    residual = cells.hits - cells.confidence
    total = np.broadcast_to(cells.mass.sum(axis=0), residual.shape[1:])
    # Without any item the share of the residual is NaN, and so is all that follows.
    total = np.where(total > 0, total, np.nan)
    frequency = np.pi * np.arange(len(residual)).reshape(-1, *[1] * (residual.ndim - 1))
    return np.asarray(fft.dct(residual / total, axis=0)), frequency


def _smoothed(waves: FloatArray, frequency: FloatArray, width: FloatArray) -> FloatArray:
    # Reflection makes cosines the kernel's own waves: each is damped, none is mixed.
    damping = np.exp(-0.5 * (frequency * width) ** 2)
    return np.asarray(np.abs(fft.idct(waves * damping, axis=0)).sum(axis=0))


CARDS: tuple[Metric, ...] = (
    Metric(
        name="smooth_ece",
        compute=smooth_ece,
        definition="Mean absolute residual after smoothing by a reflected Gaussian of the width "
        "that equals the result.",
        direction=Direction.LOWER,
        low=0.0,
        high=1.0,
        chance="|accuracy - confidence| for one confidence; above zero on finite data",
        needs=Needs.OUTCOMES,
        reference="Błasiok and Nakkiran 2023 (arXiv 2309.12236)",
    ),
)
