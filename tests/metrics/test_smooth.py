"""Smooth calibration error against quadrature of its definition, and against relplot."""

from __future__ import annotations

import numpy as np
import pytest
import relplot
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from graphgauge.metrics.bins import Bins, bin_outcomes
from graphgauge.metrics.calibration import ece
from graphgauge.metrics.outcomes import Outcomes
from graphgauge.metrics.smooth import CARDS, GRID, smooth_at, smooth_ece, smooth_of


def events(confidence, correct, weights=None):
    confidence = np.asarray(confidence, float)
    return Outcomes(confidence, np.asarray(correct, bool), confidence, confidence, weights)


def by_quadrature(confidence, correct, width, n_points=8000):
    """∫ |mean residual times kernel| with the reflected Gaussian summed over its images."""
    t = (np.arange(n_points) + 0.5) / n_points
    smoothed = np.zeros(n_points)
    n_images = int(5 * width) + 2
    for c, ok in zip(confidence, correct, strict=True):
        for image in range(-n_images, n_images + 1):
            for sign in (1, -1):
                distance = t - sign * c - 2 * image
                smoothed += (ok - c) * np.exp(-0.5 * (distance / width) ** 2)
    density = smoothed / (width * np.sqrt(2 * np.pi))
    return np.abs(density).mean() / len(confidence)


def by_root(confidence, correct):
    return brentq(lambda s: by_quadrature(confidence, correct, s) - s, 2e-3, 1.0, xtol=1e-9)


class TestOracles:
    @pytest.mark.parametrize("width", [0.01, 0.05, 0.3, 1.0])
    def test_quadrature_at_a_width(self, rng, width):
        confidence = np.append(rng.random(20), [0.0, 1.0])
        correct = rng.random(22) < confidence
        cells = bin_outcomes(events(confidence, correct), bins=GRID)
        expected = by_quadrature(confidence, correct, width)
        assert smooth_at(cells, width) == pytest.approx(expected, rel=5e-3)

    @pytest.mark.parametrize("n", [2, 10, 40])
    def test_quadrature_at_the_crossing(self, rng, n):
        confidence = rng.random(n)
        correct = rng.random(n) < confidence**2
        expected = by_root(confidence, correct)
        assert smooth_ece(events(confidence, correct)) == pytest.approx(expected, abs=1e-4)

    @pytest.mark.parametrize("power", [0.7, 1.0, 2.0])
    def test_relplot(self, rng, power):
        confidence = rng.random(2000)
        correct = rng.random(2000) < confidence**power
        # relplot searches widths in steps of 1/1024.
        found = relplot.smECE(confidence, correct)
        assert smooth_ece(events(confidence, correct)) == pytest.approx(found, abs=2e-3)

    def test_relplot_cuts_wide_kernels_off(self):
        # Sure and always wrong, at both ends: the width is 0.43, and relplot's kernel ends at 0.5.
        confidence, correct = np.repeat([0.9, 0.1], 30), np.repeat([False, True], 30)
        expected = by_root(confidence, correct)
        assert smooth_ece(events(confidence, correct)) == pytest.approx(expected, abs=1e-4)
        assert relplot.smECE(confidence, correct) > expected + 0.2


class TestLaws:
    def test_one_confidence_shows_its_gap(self):
        # Nothing can cancel: a reflected kernel keeps all mass on [0, 1].
        # Gaps below the width of a cell are met as well.
        for c, n_right in ((0.7, 10), (0.7, 7), (0.01, 10), (1.0, 0), (2e-4, 0), (1e-9, 0)):
            value = smooth_ece(events([c] * 10, np.arange(10) < n_right))
            assert value == pytest.approx(abs(n_right / 10 - c), abs=1e-7)

    def test_perfect_and_worst(self):
        assert smooth_ece(events([1.0] * 9 + [0.0] * 9, [True] * 9 + [False] * 9)) == 0.0
        assert smooth_ece(events([1.0] * 9, [False] * 9)) == pytest.approx(1.0, abs=1e-6)

    def test_empty_is_nan(self):
        assert np.isnan(smooth_ece(events([], [])))
        assert np.isnan(smooth_ece(events([0.5], [True], np.zeros(1))))

    @settings(deadline=None)
    @given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
    def test_between_the_overall_gap_and_the_mean_residual(self, items):
        outcomes = events([c for c, _ in items], [ok for _, ok in items])
        residual = np.abs(outcomes.correct - outcomes.confidence).mean()
        value = smooth_ece(outcomes)
        assert ece(outcomes, bins=1) - 1e-6 <= value <= residual + 1e-6

    def test_falls_with_the_width_and_crosses_at_its_value(self, rng):
        confidence = rng.random(300)
        outcomes = events(confidence, rng.random(300) < confidence)
        cells = bin_outcomes(outcomes, bins=GRID)
        values = [float(smooth_at(cells, width)) for width in np.geomspace(1e-3, 1, 20)]
        assert (np.diff(values) <= 1e-12).all()
        value = smooth_ece(outcomes)
        assert smooth_at(cells, value) == pytest.approx(value, abs=1e-6)

    def test_mirrored_forecasts_are_as_good(self, rng):
        confidence = rng.random(200)
        correct = rng.random(200) < confidence
        assert smooth_ece(events(1 - confidence, ~correct)) == pytest.approx(
            smooth_ece(events(confidence, correct)), abs=1e-9
        )

    def test_whole_weights_are_repetitions_and_order_is_irrelevant(self, rng):
        confidence, correct = rng.random(60), rng.random(60) < 0.5
        counts = rng.integers(0, 4, 60)
        shuffled = rng.permutation(np.repeat(np.arange(60), counts))
        assert smooth_ece(events(confidence, correct, counts.astype(float))) == pytest.approx(
            smooth_ece(events(confidence[shuffled], correct[shuffled])), abs=1e-12
        )

    def test_vanishes_with_more_calibrated_data(self, rng):
        values = []
        for n in (100, 10_000, 1_000_000):
            confidence = rng.random(n)
            values.append(smooth_ece(events(confidence, rng.random(n) < confidence)))
        assert values[0] > 3 * values[1] > 9 * values[2]


def test_draws_are_measured_column_by_column(rng):
    mass = rng.integers(0, 3, (GRID, 5)).astype(float)
    mass[:, 2] = 0
    middle = (np.arange(GRID)[:, None] + 0.5) / GRID
    cells = Bins(mass, mass * middle, rng.binomial(mass.astype(int), 0.5).astype(float))
    alone = [smooth_of(cells.each(lambda sums, d=d: sums[:, d])) for d in range(5)]
    np.testing.assert_allclose(smooth_of(cells), alone)
    assert np.isnan(alone[2])
    assert not np.isnan(np.delete(alone, 2)).any()


def test_card():
    (card,) = CARDS
    assert card.label == "smooth_ece"
    assert card(events([0.7] * 2, [True, True])) == pytest.approx(0.3)
