"""Histogram binning and isotonic regression against loops and scikit-learn, and their laws."""

from __future__ import annotations

import numpy as np
import pytest
from forecasts import drawn, samples, sharpened
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from graphgauge.calibration import calibrator
from graphgauge.calibration.calibrator import Sample
from graphgauge.metrics import Outcomes, metric
from graphgauge.predictions import NodePredictions


@pytest.mark.parametrize("bins", [1, 7, 15])
def test_histogram_of_a_loop(rng, bins):
    sample, others = drawn(rng), rng.dirichlet(np.ones(3), 80)
    others[0] = [1.0, 0.0, 0.0]
    made = calibrator("histogram", bins=bins).learn(sample)
    expected = np.zeros(others.shape)
    for c in range(3):
        for i, p in enumerate(others[:, c]):
            b = next(b for b in range(bins) if p <= (b + 1) / bins)
            held = [
                j
                for j, q in enumerate(sample.probs[:, c])
                if (q > b / bins or b == 0) and q <= (b + 1) / bins
            ]
            mass = sum(sample.weights[j] for j in held)
            hits = sum(sample.weights[j] for j in held if sample.labels[j] == c)
            expected[i, c] = hits / mass if held else (b + 0.5) / bins
    assert np.allclose(made.scores(others), expected, atol=1e-12)
    assert np.allclose(made(others), expected / expected.sum(axis=1, keepdims=True), atol=1e-12)


def test_isotonic_of_scikit_learn(rng):
    sample, others = drawn(rng), rng.dirichlet(np.ones(3), 200)
    # Ties, within the sample and with it.
    probs = sample.probs.round(2)
    sample = Sample(probs, sample.labels, sample.weights)
    others[:50] = probs[:50]
    made = calibrator("isotonic").learn(sample)
    for c in range(3):
        reference = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1)
        reference.fit(probs[:, c], sample.labels == c, sample_weight=sample.weights)
        assert np.allclose(made.scores(others)[:, c], reference.predict(others[:, c]), atol=1e-12)


@given(samples(), st.sampled_from(["histogram", "isotonic"]))
@settings(max_examples=80, deadline=None)
def test_scores_are_shares_and_rows_sum_to_one(sample, name):
    made = calibrator(name).learn(sample)
    scores = made.scores(sample.probs)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert np.allclose(made(sample.probs).sum(axis=1), 1)
    # On what it was fitted to, every class is forecast as often as it occurred.
    happened = np.bincount(sample.labels, minlength=sample.n_classes) / len(sample.labels)
    assert np.allclose(scores.mean(axis=0), happened)


@given(samples())
@settings(max_examples=60, deadline=None)
def test_isotonic_never_falls_and_is_the_closest_so(sample):
    made = calibrator("isotonic").learn(sample)
    for points, values in made.curves:
        assert (np.diff(points) > 0).all()
        assert (np.diff(values) >= 0).all()
    scores = made.scores(sample.probs)
    happened = np.eye(sample.n_classes)[sample.labels]
    ours = ((scores - happened) ** 2).sum()
    assert ours <= ((sample.probs - happened) ** 2).sum() + 1e-9


@given(samples(most=15), st.integers(0, 2**16), st.sampled_from(["histogram", "isotonic"]))
@settings(max_examples=60, deadline=None)
def test_whole_weights_are_copies(sample, seed, name):
    counts = np.random.default_rng(seed).integers(1, 4, len(sample.labels))
    index = np.repeat(np.arange(len(counts)), counts)
    weighted = Sample.of(sample.probs, sample.labels, counts)
    copied = Sample.of(sample.probs[index], sample.labels[index])
    ours, theirs = (calibrator(name).learn(one)(sample.probs) for one in (weighted, copied))
    assert np.allclose(ours, theirs, atol=1e-9)


def test_an_empty_bin_keeps_its_middle():
    sample = Sample.of(np.array([[0.9, 0.1], [0.95, 0.05]]), np.array([1, 1]))
    made = calibrator("histogram", bins=2).learn(sample)
    assert made.values.tolist() == [[0.25, 0.0], [1.0, 0.75]]


def test_a_row_of_zeros_becomes_uniform():
    # Every class occurs where it is likely, and nowhere else.
    sample = Sample.of(np.full((3, 3), 0.2) + 0.4 * np.eye(3), np.arange(3))
    made = calibrator("histogram", bins=2).learn(sample)
    rows = np.array([[0.4, 0.3, 0.3], [0.6, 0.3, 0.1]])
    assert made.scores(rows).tolist() == [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    assert made(rows).tolist() == [[1 / 3, 1 / 3, 1 / 3], [1.0, 0.0, 0.0]]


def test_undivided_scores_reach_metrics_as_outcomes(rng):
    sample = drawn(rng, n=300)
    parts = {"valid": np.arange(150), "test": np.arange(150, 300)}
    predictions = NodePredictions(sample.probs, sample.labels, parts)
    fitted = calibrator("isotonic").fit(predictions, "valid")
    outcomes = fitted.outcomes(predictions, "test")
    scores = fitted.rows.scores(sample.probs[150:])
    assert np.abs(scores.sum(axis=1) - 1).max() > 0.05
    assert np.array_equal(outcomes.confidence, scores.max(axis=1))
    happened = np.eye(3)[sample.labels[150:]]
    assert metric("brier")(outcomes) == pytest.approx(((scores - happened) ** 2).sum(1).mean())
    divided = Outcomes.of_nodes(fitted(predictions).probs[150:], sample.labels[150:])
    assert np.array_equal(divided.correct, outcomes.correct)


@pytest.mark.parametrize("name", ["histogram", "isotonic"])
def test_sharpened_classes_are_forecast_as_often_as_they_occur(name):
    given_ = sharpened(3.0)
    made = calibrator(name).fit(given_, "valid_in")(given_)
    test = given_.parts["test_in"]
    before, after = (
        metric("classwise_ece")(p.probs[test], given_.labels[test]) for p in (given_, made)
    )
    assert after < 0.75 * before
