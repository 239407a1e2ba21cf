"""The calibrators of *Are Graph Neural Networks Miscalibrated?* on a trained GCN.

The reference values come from SciPy's and scikit-learn's own searches on the same probabilities.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import softmax

from graphgauge.calibration import calibrator
from graphgauge.metrics import Outcomes, metric
from graphgauge.predictions import NodePredictions

# Their bins are closed on the left.
METRICS = {
    "acc": "accuracy",
    "ece": "ece(closed=left)",
    "ece50": "ece50(closed=left)",
    "nll": "nll",
    "brier": "brier",
}
FLOOR = 1e-300
CLASSWISE = {"histogram": "hb", "isotonic": "iso"}
weighing = pytest.mark.parametrize("balanced", [False, True], ids=["plain", "balanced"])


@pytest.fixture(scope="module")
def cora(golden):
    with np.load(golden / "calib" / "cora_gcn_s0f0.npz") as stored:
        probs = softmax(stored["logits"].astype(np.float64), axis=1)
        parts = {"valid": stored["val_mask"], "test": stored["test_mask"]}
        return NodePredictions(probs, stored["labels"], parts)


@pytest.fixture(scope="module")
def figures(golden):
    return json.loads((golden / "calib" / "calibrators_reference.json").read_text())


@pytest.fixture(scope="module")
def arrays(golden):
    with np.load(golden / "calib" / "calibrators_reference.npz") as stored:
        return dict(stored)


def check(outcomes, labels, expected, balanced):
    held = outcomes.balanced(labels) if balanced else outcomes
    for name, label in METRICS.items():
        assert metric(label)(held) == pytest.approx(expected[name], abs=1e-7), name
    assert int((outcomes.confidence > 0.5).sum()) == expected["n50"]


def on_test(predictions):
    index = predictions.parts["test"]
    return Outcomes.of_nodes(predictions.probs[index], predictions.labels[index])


def floored(scores, labels):
    """The outcomes of scores whose zeros have a floor, as the reference has."""
    return Outcomes.of_nodes(np.where(scores == 0, FLOOR, scores), labels)


@weighing
@pytest.mark.parametrize("objective", ["nll", "brier"])
def test_temperature(cora, figures, balanced, objective):
    expected = figures[f"{'bal' if balanced else 'plain'}/ts_{objective}"]
    fitted = calibrator("temperature", objective=objective, balanced=balanced).fit(cora, "valid")
    assert fitted.rows.temperature == pytest.approx(expected["T"], abs=1e-7)
    check(on_test(fitted(cora)), cora.labels[cora.parts["test"]], expected, balanced)


@weighing
@pytest.mark.parametrize("name", CLASSWISE)
def test_classes_before_division(cora, figures, arrays, balanced, name):
    key = f"{'bal' if balanced else 'plain'}/{CLASSWISE[name]}"
    fitted = calibrator(name, balanced=balanced).fit(cora, "valid")
    index = cora.parts["test"]
    labels, scores = cora.labels[index], fitted.rows.scores(cora.probs[index])
    assert np.abs(scores - arrays[key.replace("/", "_")]).max() < 1e-12
    if name == "histogram":
        assert np.abs(fitted.rows.values - arrays[f"{key}_values".replace("/", "_")]).max() < 1e-12
    check(floored(scores, labels), labels, figures[f"{key}_unnorm"], balanced)
    ours, same = fitted.outcomes(cora, "test"), floored(scores, labels)
    assert np.allclose(ours.confidence, same.confidence, atol=FLOOR)
    assert np.array_equal(ours.correct, same.correct)


@weighing
@pytest.mark.parametrize("name", CLASSWISE)
def test_classes_after_division(cora, figures, balanced, name):
    key = f"{'bal' if balanced else 'plain'}/{CLASSWISE[name]}_norm"
    fitted = calibrator(name, balanced=balanced).fit(cora, "valid")
    index = cora.parts["test"]
    labels, made = cora.labels[index], fitted(cora).probs[index].copy()
    # The reference leaves rows of zeros as they are; here they become uniform.
    nothing = fitted.rows.scores(cora.probs[index]).sum(axis=1) == 0
    assert nothing.sum() == (2 if name == "histogram" else 0)
    assert np.allclose(made[nothing], 1 / 7)
    made[nothing] = 0
    check(floored(made, labels), labels, figures[key], balanced)
