"""Temperature and ensemble temperature scaling against other searches, and their laws."""

from __future__ import annotations

import numpy as np
import pytest
from forecasts import drawn, golden_section, samples, sharpened
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.calibration import calibrator
from graphgauge.calibration.calibrator import Sample
from graphgauge.calibration.temperature import Mixed, Tempered, best_temperature, best_weights

OBJECTIVES = ("nll", "brier")


def tempered(probs, temperature):
    powers = probs ** (1 / temperature)
    return powers / powers.sum(axis=1, keepdims=True)


def score(probs, sample, objective):
    rows = np.arange(len(probs))
    truth = probs[rows, sample.labels]
    if objective == "nll":
        return float(-(sample.weights * np.log(truth)).sum())
    happened = np.eye(probs.shape[1])[sample.labels]
    return float((sample.weights * ((probs - happened) ** 2).sum(axis=1)).sum())


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("sharpness", [0.4, 1.0, 3.0])
def test_temperature_of_a_golden_section(rng, objective, sharpness):
    sample = drawn(rng, sharpness=sharpness)

    def loss(log_t):
        return score(tempered(sample.probs, np.exp(log_t)), sample, objective)

    expected = np.exp(golden_section(loss, np.log(0.05), np.log(20)))
    assert best_temperature(sample, objective) == pytest.approx(expected, rel=1e-6)


def test_of_two_valleys_of_the_brier_score_the_lower_is_found():
    # Doubtful predictions that are mostly right, confident ones that are mostly wrong.
    probs = np.concatenate([np.tile([0.55, 0.45], (25, 1)), np.tile([0.9, 0.1], (30, 1))])
    labels = np.concatenate([np.repeat([0, 1], [21, 4]), np.repeat([0, 1], [16, 14])])
    sample = Sample.of(probs, labels)
    grid = np.exp(np.linspace(np.log(0.05), np.log(50), 1001))
    values = [score(tempered(probs, t), sample, "brier") for t in grid]
    valleys = sum(a > b < c for a, b, c in zip(values, values[1:], values[2:], strict=False))
    assert valleys == 2
    assert best_temperature(sample, "brier") == pytest.approx(grid[np.argmin(values)], rel=0.01)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weights_of_expectation_maximisation(rng, objective):
    sample = drawn(rng, sharpness=4.0)
    map_ = Tempered(best_temperature(sample, objective))
    members = np.stack([map_(sample.probs), sample.probs, np.full(sample.probs.shape, 1 / 3)])
    found = best_weights(sample, map_, objective)
    assert sum(found) == pytest.approx(1)
    assert min(found) >= 0
    reached = score(np.tensordot(found, members, 1), sample, objective)
    if objective == "nll":
        truth = members[:, np.arange(len(sample.labels)), sample.labels]
        w = np.full(3, 1 / 3)
        for _ in range(20_000):
            shares = w[:, None] * truth
            w = (sample.weights * shares / shares.sum(axis=0)).sum(axis=1)
        assert reached == pytest.approx(score(np.tensordot(w, members, 1), sample, "nll"), abs=1e-8)
    steps = np.linspace(0, 1, 51)
    simplex = [(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1]
    best = min(score(np.tensordot(w, members, 1), sample, objective) for w in simplex)
    assert reached <= best + 1e-9


def test_ensemble_is_never_worse_than_its_members_where_it_was_fitted(rng):
    for sharpness in (0.5, 1.0, 4.0):
        sample = drawn(rng, sharpness=sharpness)
        for objective in OBJECTIVES:
            made = calibrator("ensemble", objective=objective).learn(sample)
            mixed = score(made(sample.probs), sample, objective)
            others = (made.tempered(sample.probs), sample.probs, np.full(sample.probs.shape, 1 / 3))
            assert mixed <= min(score(p, sample, objective) for p in others) + 1e-9


@given(samples(), st.sampled_from(OBJECTIVES), st.sampled_from(["temperature", "ensemble"]))
@settings(max_examples=60, deadline=None)
def test_the_predicted_class_stays(sample, objective, name):
    made = calibrator(name, objective=objective).learn(sample)(sample.probs)
    rows, before = np.arange(len(made)), sample.probs.argmax(axis=1)
    assert np.allclose(made.sum(axis=1), 1)
    assert np.allclose(made[rows, before], made.max(axis=1), rtol=1e-12)


@given(samples(most=12), st.integers(0, 2**16), st.sampled_from(OBJECTIVES))
@settings(max_examples=40, deadline=None)
def test_whole_weights_are_copies(sample, seed, objective):
    counts = np.random.default_rng(seed).integers(1, 4, len(sample.labels))
    index = np.repeat(np.arange(len(counts)), counts)
    weighted = Sample.of(sample.probs, sample.labels, counts)
    copied = Sample.of(sample.probs[index], sample.labels[index])
    made = calibrator("temperature", objective=objective)
    ours, theirs = (made.learn(one)(sample.probs) for one in (weighted, copied))
    assert np.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("name", ["temperature", "ensemble"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_sharpening_is_undone(name, objective):
    truth, given_ = sharpened(1.0), sharpened(2.5)
    fitted = calibrator(name, objective=objective).fit(given_, "valid_in")
    assert np.abs(fitted(given_).probs - truth.probs).max() < 0.06
    if name == "temperature":
        assert fitted.rows.temperature == pytest.approx(2.5, rel=0.1)


def test_what_is_calibrated_stays():
    truth = sharpened(1.0, n=20_000)
    assert calibrator("temperature").fit(truth, "valid_in").rows.temperature == pytest.approx(
        1.0, abs=0.06
    )


def test_temperature_ends_at_its_bounds():
    right = Sample.of(np.array([[0.6, 0.4], [0.3, 0.7]]), np.array([0, 1]))
    wrong = Sample.of(np.array([[0.6, 0.4], [0.3, 0.7]]), np.array([1, 0]))
    # Near the bound, the score no longer changes by more than rounding.
    assert 0.01 <= best_temperature(right, "nll") < 0.02
    assert best_temperature(wrong, "nll") == pytest.approx(100, rel=1e-3)


def test_zeros_count_as_very_small():
    probs = np.array([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    made = Tempered(2.0)(probs)
    assert np.isfinite(np.log(made)).all()
    assert np.allclose(made, np.array([[1, 0], [1, 0], [0.5, 0.5]]), atol=1e-18)
    assert np.allclose(Mixed(Tempered(1.0), (0.5, 0.25, 0.25))(probs)[0], [0.875, 0.125])


def test_classes_count_alike_when_balanced(rng):
    sample = drawn(rng, n=400)
    balanced = sample.balanced()
    assert np.allclose(np.bincount(balanced.labels, balanced.weights), 1 / 3)
    counts = np.bincount(sample.labels)
    plain = Sample.of(sample.probs, sample.labels).balanced()
    published = (counts.max() / counts)[sample.labels]
    assert np.allclose(plain.weights, published / published.sum())
