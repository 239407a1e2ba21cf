"""Probabilities whose truth is known, and searches that share no code with the calibrators."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from graphgauge.calibration.calibrator import Sample
from graphgauge.datasets import planted
from graphgauge.predictions import NodePredictions


def sharpened(power: float, n: int = 6000, seed: int = 3) -> NodePredictions:
    """True posteriors raised to a power: right in order, wrong in size unless it is one."""
    made = planted(n, 4, certainty=0.75, homophily=0.55, seed=seed)
    probs = made.posteriors**power
    probs /= probs.sum(axis=1, keepdims=True)
    return NodePredictions(probs, made.graph.labels, made.split.parts, made.graph.edges)


def drawn(rng: np.random.Generator, n: int = 150, k: int = 3, sharpness: float = 1.5) -> Sample:
    """Overlapping classes, with weights."""
    posteriors = rng.dirichlet(np.full(k, 1.2), n)
    labels = (posteriors.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, k - 1)
    probs = posteriors**sharpness
    return Sample.of(probs / probs.sum(axis=1, keepdims=True), labels, rng.uniform(0.5, 2, n))


@st.composite
def samples(draw, most: int = 30):
    """Any small sample, with ties, zeros and classes that never occur."""
    n, k = draw(st.integers(1, most)), draw(st.integers(1, 4))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 6, (n, k))
    counts[counts.sum(axis=1) == 0, 0] = 1
    labels = rng.integers(0, draw(st.integers(1, k)), n)
    return Sample.of(counts / counts.sum(axis=1, keepdims=True), labels)


def golden_section(loss, low: float, high: float, steps: int = 90) -> float:
    """The minimum of a function with one valley."""
    ratio = (np.sqrt(5) - 1) / 2
    for _ in range(steps):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if loss(left) < loss(right):
            high = right
        else:
            low = left
    return (low + high) / 2
