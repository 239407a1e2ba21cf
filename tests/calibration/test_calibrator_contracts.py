"""Every calibrator keeps every contract, has an oracle, and broken ones are caught."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from graphgauge.calibration import CALIBRATORS, Calibrator, calibrator
from graphgauge.calibration.calibrator import labelled, with_probs
from graphgauge.checks import CALIBRATOR_CHECKS, check_calibrator
from graphgauge.errors import InputError
from graphgauge.predictions import NodePredictions

# Where each calibrator is held against code that shares none with it.
ORACLES = {
    "temperature": "test_scaling.py::test_temperature_of_a_golden_section",
    "ensemble": "test_scaling.py::test_weights_of_expectation_maximisation",
    "histogram": "test_classwise.py::test_histogram_of_a_loop",
    "isotonic": "test_classwise.py::test_isotonic_of_scikit_learn",
    "vector": "test_affine.py::test_vector_of_another_search",
    "matrix": "test_affine.py::test_matrix_of_scikit_learn",
    "dirichlet": "test_affine.py::test_dirichlet_of_another_search",
    "cagcn": "test_graphwise.py::test_convolutions_of_pyg",
    "gats": "test_graphwise.py::test_attention_of_a_loop",
}
# Few epochs, for those that train.
SMALL = {"cagcn": {"epochs": 40}, "gats": {"epochs": 40}}
BALANCED = [name for name, made in CALIBRATORS.items() if "balanced" in made().__dict__]


@pytest.mark.parametrize("name", CALIBRATORS)
@pytest.mark.parametrize("check", CALIBRATOR_CHECKS, ids=lambda check: check.__name__)
def test_contract(name, check):
    check(calibrator(name, **SMALL.get(name, {})))


@pytest.mark.parametrize("name", BALANCED)
def test_balanced_ones_keep_them_too(name):
    check_calibrator(calibrator(name, balanced=True))


class _Own:
    """A calibrator that can be broken."""

    def __init__(self, rows):
        self.rows = rows

    def fit(self, predictions, part):
        labelled(predictions, part)
        return lambda given: with_probs(given, self.rows(given, predictions), "own")


def _noise(given, fitted):
    return np.random.default_rng().dirichlet(np.ones(3), given.n_nodes)


def _by_row(given, fitted):
    rows = np.arange(1, 4) + np.arange(given.n_nodes)[:, None] % 5
    return rows / rows.sum(axis=1, keepdims=True)


def _leaking(given, fitted):
    shares = np.bincount(fitted.labels[fitted.known], minlength=3) / fitted.known.sum()
    return (given.probs + shares) / 2


def _scribbling(given, fitted):
    given.probs[:] = 1 / 3
    return given.probs


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (_noise, "from fit to fit"),
        (_by_row, "other numbers move"),
        (_leaking, "leak"),
        (lambda given, fitted: given.probs * (1 + 1e-5), "miss a sum of one"),
        (lambda given, fitted: given.probs[:, [0, 1, 2, 2]] / 2 + 0.125, "classes|shape|sum"),
    ],
)
def test_a_broken_calibrator_is_caught(rows, told):
    with pytest.raises((AssertionError, InputError), match=told):
        check_calibrator(_Own(rows))


def test_one_that_writes_into_its_input_is_caught():
    with pytest.raises(ValueError, match="read-only"):
        check_calibrator(_Own(_scribbling))


def test_one_that_does_something_else_is_caught():
    class Renaming:
        def fit(self, predictions, part):
            return lambda given: replace(given, name="new", uncertainties={})

    class Keeping:
        def fit(self, predictions, part):
            return lambda given: replace(
                given, name=f"{given.name} + same", probs=given.probs[::-1]
            )

    class Arrays:
        def fit(self, predictions, part):
            return lambda given: given.probs

    for made, told in ((Renaming, "no longer"), (Keeping, "that of before"), (Arrays, "ndarray")):
        assert isinstance(made(), Calibrator)
        with pytest.raises(AssertionError, match=told):
            check_calibrator(made())


@pytest.mark.parametrize("name", CALIBRATORS)
def test_every_calibrator_has_an_oracle_and_facts(name):
    file, _, test = ORACLES[name].partition("::")
    tree = ast.parse((Path(__file__).parent / file).read_text())
    assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    made = calibrator(name)
    assert made.label == made.name == name
    assert made.reference.strip()
    assert made.__doc__.strip()


def test_labels_are_read_back():
    label = "dirichlet(balanced=True,decay=0.5,shift=2)"
    made = calibrator(label)
    assert made.label == label
    assert calibrator(made.label) == made
    assert calibrator("temperature").label == calibrator("temperature(objective=nll)").label


@pytest.mark.parametrize(
    ("label", "told"),
    [
        ("temperatur", "unknown calibrator 'temperatur', did you mean 'temperature'"),
        ("zzz", "expected one of: temperature, ensemble"),
        ("temperature(", "cannot read calibrator"),
        ("temperature(brier)", "write key=value"),
        ("temperature(goal=nll)", "no hyper-parameter 'goal' .it has: balanced, objective"),
        ("temperature(objective=mse)", "objective 'mse' is not one of: nll, brier"),
        ("temperature(objective=1)", "objective 1 is not a word"),
        ("temperature(balanced=1)", "balanced 1 is not True or False"),
        ("histogram(bins=2.5)", "bins 2.5 is not a whole number"),
        ("histogram(bins=True)", "bins True is not a whole number"),
        ("histogram(bins=0)", "bins 0 is below one"),
        ("vector(decay=-1)", "decay -1 is below zero"),
        ("vector(decay=faint)", "decay 'faint' is not a number"),
        ("dirichlet(shift=1e999)", "shift inf is not finite"),
    ],
)
def test_bad_labels_are_told(label, told):
    with pytest.raises(InputError, match=told):
        calibrator(label)


def test_what_cannot_be_fitted_is_told():
    given = NodePredictions(np.eye(3), [0, 1, -1], {"valid": [0, 1], "test": [2]})
    with pytest.raises(InputError, match=r"no part 'val' to fit on .parts: valid, test"):
        calibrator("temperature").fit(given, "val")
    with pytest.raises(InputError, match="part test: no label is known"):
        calibrator("temperature").fit(given, "test")
    with pytest.raises(InputError, match="parts: none"):
        calibrator("temperature").fit(replace(given, parts={}), "valid")
    fitted = calibrator("histogram").fit(given, "valid")
    with pytest.raises(InputError, match="has 2 classes, histogram was fitted to 3"):
        fitted(NodePredictions(np.eye(2), [0, 1]))


@pytest.mark.parametrize("name", CALIBRATORS)
def test_one_class_and_one_node_and_one_class_present(name):
    made = calibrator(name, **SMALL.get(name, {}))
    edges = [[0, 1], [1, 2], [2, 3]]
    parts = {"valid": [0, 1], "test": [2, 3]}
    alone = NodePredictions(np.ones((4, 1)), [0, 0, 0, 0], parts, edges)
    assert np.allclose(made.fit(alone, "valid")(alone).probs, 1)
    probs = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6], [1.0, 0.0, 0.0]])
    for part in ([0], [0, 1]):
        given = NodePredictions(probs, [1, 1, 1, 1], {"valid": part, "test": [2, 3]}, edges)
        probs_made = made.fit(given, "valid")(given).probs
        assert np.isfinite(probs_made).all()
        assert np.log(probs_made[part, 1]).sum() > np.log(probs[part, 1]).sum()


def test_importing_and_calibrating_load_no_torch():
    code = (
        "import sys, numpy as np, graphgauge as gg;"
        "p = gg.NodePredictions(np.eye(2), [0, 1], {'valid': [0, 1]});"
        "[gg.calibrator(n).fit(p, 'valid')(p) for n in ('temperature', 'isotonic', 'matrix')];"
        "gg.Conformal().fit(p, 'valid')(p);"
        "assert not {'torch', 'torch_geometric', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
