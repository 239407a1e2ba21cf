"""Vector and matrix scaling and Dirichlet calibration against scikit-learn and other searches."""

from __future__ import annotations

import numpy as np
import pytest
from forecasts import drawn, samples, sharpened
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from sklearn.linear_model import LogisticRegression

from graphgauge.calibration import calibrator
from graphgauge.calibration.affine import Affine
from graphgauge.calibration.calibrator import Sample


def nll(probs, sample):
    truth = probs[np.arange(len(probs)), sample.labels]
    return float(-(sample.weights * np.log(truth)).sum())


def mapped(matrix, shift, probs):
    exponents = np.exp(np.log(probs) @ matrix.T + shift)
    return exponents / exponents.sum(axis=1, keepdims=True)


def searched(sample, unpack, penalty, n_entries):
    """Minimise over entries by BFGS with gradients from differences."""

    def loss(entries):
        matrix, shift = unpack(entries)
        return nll(mapped(matrix, shift, sample.probs), sample) + penalty(matrix, shift)

    k = sample.n_classes
    start = np.concatenate([np.ones(k) if n_entries == 2 * k else np.eye(k).ravel(), np.zeros(k)])
    return minimize(loss, start, method="BFGS", options={"gtol": 1e-7}), unpack


def pull(decay, k):
    return lambda matrix, shift: decay * (((matrix - np.eye(k)) ** 2).sum() + (shift**2).sum())


@pytest.mark.parametrize("decay", [1e-3, 0.1])
def test_vector_of_another_search(rng, decay):
    sample = drawn(rng, n=300)
    found, unpack = searched(sample, lambda e: (np.diag(e[:3]), e[3:]), pull(decay, 3), 6)
    made = calibrator("vector", decay=decay).learn(sample)
    matrix, shift = unpack(found.x)
    assert np.allclose(made.matrix, matrix, atol=1e-4)
    assert np.allclose(made.shift, shift, atol=1e-4)


def test_matrix_of_scikit_learn(rng):
    sample = drawn(rng, n=300)
    reference = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
    weights = sample.weights * len(sample.labels)
    reference.fit(np.log(sample.probs), sample.labels, sample_weight=weights)
    others = rng.dirichlet(np.ones(3), 200)
    made = calibrator("matrix", decay=0).learn(sample)
    assert np.allclose(made(others), reference.predict_proba(np.log(others)), atol=1e-5)
    # The default pull hardly moves it.
    near = calibrator("matrix").learn(sample)
    assert np.abs(near(others) - made(others)).max() < 0.05


def test_dirichlet_of_another_search(rng):
    sample = drawn(rng, n=200)

    def odir(matrix, shift):
        off = (matrix**2).sum() - (np.diag(matrix) ** 2).sum()
        return 0.3 * off / 6 + 0.2 * (shift**2).sum() / 3 + pull(1e-3, 3)(matrix, shift)

    found, unpack = searched(sample, lambda e: (e[:9].reshape(3, 3), e[9:]), odir, 12)
    made = calibrator("dirichlet", off_diagonal=0.3, shift=0.2).learn(sample)
    matrix, shift = unpack(found.x)
    assert np.allclose(made.matrix, matrix, atol=1e-4)
    assert np.allclose(made.shift, shift, atol=1e-4)


@pytest.mark.parametrize("name", ["vector", "matrix", "dirichlet"])
def test_no_step_from_the_minimum_helps(rng, name):
    sample = drawn(rng, n=120, sharpness=3.0)
    made = calibrator(name, decay=0.01).learn(sample)
    k = sample.n_classes
    weights = np.full((k, k + 1), 0.01)
    free = np.ones((k, k + 1), bool)
    if name == "dirichlet":
        weights[:, :k] += 0.01 / (k * (k - 1)) * (1 - np.eye(k))
        weights[:, k] += 0.01 / k
    if name == "vector":
        free[:, :k] = np.eye(k)
    entries = np.column_stack([made.matrix, made.shift])

    def loss(values):
        matrix = np.eye(k, k + 1)
        matrix[free] = values
        penalty = (weights * (matrix - np.eye(k, k + 1)) ** 2).sum()
        return nll(mapped(matrix[:, :k], matrix[:, k], sample.probs), sample) + penalty

    slope = approx_fprime(entries[free], loss, 1e-7)
    assert np.abs(slope).max() < 1e-5
    assert np.array_equal(entries[~free], np.eye(k, k + 1)[~free])


@pytest.mark.parametrize("name", ["vector", "matrix", "dirichlet"])
@given(sample=samples(), seed=st.integers(0, 2**16))
@settings(max_examples=30, deadline=None)
def test_any_sample_has_one_minimum_and_whole_weights_are_copies(name, sample, seed):
    counts = np.random.default_rng(seed).integers(1, 4, len(sample.labels))
    index = np.repeat(np.arange(len(counts)), counts)
    weighted = Sample.of(sample.probs, sample.labels, counts)
    copied = Sample.of(sample.probs[index], sample.labels[index])
    ours, theirs = (calibrator(name).learn(one)(sample.probs) for one in (weighted, copied))
    assert np.allclose(ours.sum(axis=1), 1)
    assert np.allclose(ours, theirs, atol=1e-5)


def test_a_strong_pull_leaves_predictions_as_they_are(rng):
    sample = drawn(rng)
    for name in ("vector", "matrix", "dirichlet"):
        made = calibrator(name, decay=1e6).learn(sample)
        assert np.allclose(made(sample.probs), sample.probs, atol=1e-5)
    assert np.allclose(Affine(np.eye(3), np.zeros(3))(sample.probs), sample.probs)


@pytest.mark.parametrize("name", ["vector", "matrix", "dirichlet"])
def test_sharpening_is_undone(name):
    truth, given_ = sharpened(1.0, n=20_000), sharpened(2.5, n=20_000)
    made = calibrator(name).fit(given_, "valid_in")(given_)
    assert np.abs(made.probs - truth.probs).mean() < 0.02
    assert np.abs(given_.probs - truth.probs).mean() > 0.05


def test_a_shift_of_class_frequencies_is_undone():
    truth = sharpened(1.0, n=20_000)
    probs = truth.probs * [4.0, 1.0, 1.0, 0.5]
    probs /= probs.sum(axis=1, keepdims=True)
    given_ = type(truth)(probs, truth.labels, truth.parts)
    for name in ("vector", "matrix"):
        made = calibrator(name).fit(given_, "valid_in")(given_)
        assert np.abs(made.probs - truth.probs).mean() < 0.02
    assert np.abs(probs - truth.probs).mean() > 0.05
