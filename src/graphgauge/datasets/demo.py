"""Predictions to try things on: one planted graph, three models of known faults."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from graphgauge.arrays import FloatArray
from graphgauge.datasets.planted import Planted, planted
from graphgauge.predictions import NodePredictions

__all__ = ["demo_predictions"]


def demo_predictions(seed: int = 0) -> dict[str, NodePredictions]:
    """Make predictions of three models on one planted graph, each right or wrong in its own way.

    ``calibrated`` gives the true probabilities, and its knowledge uncertainty sees the shift.
    ``over-confident`` ranks classes as the first does but is too sure of all of them, and sees the
    shift less well. ``shifted`` is the first in distribution; out of it, it mistakes the community
    of every third node, stays sure of itself, and its knowledge uncertainty is blind.

    Examples
    --------
    >>> models = demo_predictions()
    >>> list(models)
    ['calibrated', 'over-confident', 'shifted']
    """
    made = planted(seed=seed)
    # Numbered so that the models' draws are not those the graph was made with.
    rng = np.random.default_rng([seed, 1])
    truth, degrees = made.posteriors, made.graph.degrees
    noise = rng.normal(size=(3, len(truth)))
    lonely = -np.log1p(degrees)
    return {
        "calibrated": _demo_model(made, "calibrated", truth, lonely + noise[0] / 2),
        "over-confident": _demo_model(made, "over-confident", _sharpen(truth), lonely + noise[1]),
        "shifted": _demo_model(made, "shifted", _mistaken(made, rng), noise[2]),
    }


def _demo_model(
    made: Planted, name: str, probs: FloatArray, knowledge: FloatArray
) -> NodePredictions:
    return NodePredictions(
        probs,
        made.graph.labels,  # type: ignore[arg-type]
        made.split.parts,
        made.graph.edges,
        {"total": entr(probs).sum(axis=1), "knowledge": knowledge},
        name=name,
    )


def _sharpen(probs: FloatArray, temperature: float = 0.4) -> FloatArray:
    powers = probs ** (1 / temperature)
    sharp: FloatArray = powers / powers.sum(axis=1, keepdims=True)
    return sharp


def _mistaken(made: Planted, rng: np.random.Generator) -> FloatArray:
    """Shift the classes of a third of the nodes out of distribution by one, and sharpen all."""
    probs = made.posteriors.copy()
    outside = np.concatenate([made.split["valid_out"], made.split["test_out"]])
    wrong = outside[rng.random(len(outside)) < 1 / 3]
    probs[wrong] = np.roll(probs[wrong], 1, axis=1)
    probs[outside] = _sharpen(probs[outside])
    return probs
