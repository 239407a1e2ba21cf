"""Calibration error without bins: residuals smoothed by a Gaussian that reflects at 0 and 1."""

from __future__ import annotations

from collections.abc import Callable

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

_STEPS, _CLOSE = 60, 1e-10


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

    def excess(width: FloatArray) -> FloatArray:
        return _smoothed(waves, step, width) - width

    # smECE_σ falls as σ grows, so that its excess over σ crosses zero once, between 0 and 1.
    return _crossing(excess, np.zeros(waves.shape[1:]), np.ones(waves.shape[1:]))


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
    """Cosine coefficients of the residuals' density, and each one's frequency.

    Frequencies are those of the grid, 2G sin(πk/2G) rather than πk: diffusion from cell to cell
    keeps the kernel positive at widths below a cell, where a sampled Gaussian would ring.
    """
    residual = cells.hits - cells.confidence
    total = np.broadcast_to(cells.mass.sum(axis=0), residual.shape[1:])
    # Without any item the share of the residual is NaN, and so is all that follows.
    total = np.where(total > 0, total, np.nan)
    n_cells = len(residual)
    frequency = 2 * n_cells * np.sin(np.pi * np.arange(n_cells) / (2 * n_cells))
    waves = np.asarray(fft.dct(residual / total, axis=0))
    return waves, frequency.reshape(-1, *[1] * (residual.ndim - 1))


def _smoothed(waves: FloatArray, frequency: FloatArray, width: FloatArray) -> FloatArray:
    # Reflection makes cosines the kernel's own waves: each is damped, none is mixed.
    damping = np.exp(-0.5 * (frequency * width) ** 2)
    return np.asarray(np.abs(fft.idct(waves * damping, axis=0)).sum(axis=0))


def _crossing(
    excess: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """Where a falling function crosses zero, by false position as in the Illinois method.

    It needs a third of the evaluations that halving the interval does.
    """
    above, below = excess(low), excess(high)
    side = np.zeros(low.shape)
    guess, here = low, above
    for _ in range(_STEPS):
        # Where both ends have met, the higher one stays while others still move.
        share = np.divide(below, below - above, out=np.zeros_like(low), where=below < above)
        guess = high - share * (high - low)
        here = excess(guess)
        if not (np.abs(here) > _CLOSE).any():
            break
        right = np.where(here > 0, 1.0, -1.0)
        # An end that is kept twice counts half, so that it too moves before long.
        below = np.where(here > 0, np.where(side == right, below / 2, below), here)
        above = np.where(here > 0, here, np.where(side == right, above / 2, above))
        low, high = np.where(here > 0, guess, low), np.where(here > 0, high, guess)
        side = right
    return np.asarray(guess + here)


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
