"""What calibration changes: sharpened predictions of a planted graph come back into the band."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from forecasts import sharpened

from graphgauge.calibration import CALIBRATORS, calibrator, default_part, effects
from graphgauge.calibration.calibrator import with_probs
from graphgauge.errors import InputError
from graphgauge.metrics import Outcomes, metric
from graphgauge.metrics.null import null_bands
from graphgauge.predictions import NodePredictions

# Maps that hold the inverse of sharpening, so that nothing but noise is left.
EXACT = ["temperature", "ensemble", "vector", "matrix", "dirichlet"]


def bands(predictions, part):
    index = predictions.parts[part]
    band = null_bands(predictions.probs, part=index, metrics=[metric("ece")], n_draws=400, seed=1)
    outcomes = Outcomes.of_nodes(predictions.probs[index], predictions.labels[index])
    return metric("ece")(outcomes), band["node", "ece(bins=15)"]


def much_to_learn_from(power):
    """Two thirds of the nodes to fit on, so that little is left of the noise in what is learned."""
    given = sharpened(power, n=9000)
    order = np.random.default_rng(4).permutation(9000)
    return dataclasses.replace(given, parts={"valid": order[:6000], "test": order[6000:]})


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("power", [0.5, 2.5])
def test_what_was_sharpened_comes_back_into_the_null_band(name, power):
    given = much_to_learn_from(power)
    made = calibrator(name).fit(given, "valid")(given)
    before, band = bands(given, "test")
    assert before > 2 * band.high
    after, band = bands(made, "test")
    assert band.low < after < band.high


@pytest.mark.parametrize("name", EXACT)
def test_what_is_calibrated_stays_in_the_null_band(name):
    truth = much_to_learn_from(1.0)
    made = calibrator(name).fit(truth, "valid")(truth)
    for predictions in (truth, made):
        value, band = bands(predictions, "test")
        assert band.low < value < band.high
    assert np.abs(made.probs - truth.probs).mean() < 0.015


@pytest.mark.parametrize("name", CALIBRATORS)
def test_errors_shrink_on_a_part_that_was_not_fitted_on(name):
    given = much_to_learn_from(3.0)
    few = {"epochs": 60} if name in ("cagcn", "gats") else {}
    made = calibrator(name, **few).fit(given, "valid")(given)
    rows = {row.metric: row for row in effects(given, made, "valid", n_draws=20)}
    for label in ("brier", "ece(bins=15)"):
        assert rows[label].after < rows[label].before


def test_effects_are_measured_on_the_other_parts():
    given = sharpened(2.0, n=400)
    labels = given.labels.copy()
    labels[given.parts["test_in"][:10]] = -1
    labels[given.parts["test_out"]] = -1
    given = dataclasses.replace(given, labels=labels)
    made = calibrator("temperature").fit(given, "valid_in")(given)
    rows = effects(given, made, "valid_in")
    assert [*dict.fromkeys(row.part for row in rows)] == ["train", "test_in", "valid_out"]
    index = given.parts["test_in"][10:]
    for row in rows[4:8]:
        for predictions, value in ((given, row.before), (made, row.after)):
            outcomes = Outcomes.of_nodes(predictions.probs[index], labels[index])
            assert value == metric(row.metric)(outcomes)
        assert row.n == len(index)
        assert (row.low is None) == (row.metric != "ece(bins=15)")
    only = dataclasses.replace(given, parts={"valid_in": given.parts["valid_in"]})
    assert {row.part for row in effects(only, made, "valid_in")} == {"valid_in"}
    blind = {"valid_in": given.parts["valid_in"], "test": given.parts["test_out"]}
    with pytest.raises(InputError, match="no label outside the part"):
        effects(dataclasses.replace(given, parts=blind), made, "valid_in")


def test_what_no_longer_fits_is_dropped():
    probs = np.array([[0.9, 0.1], [0.4, 0.6]])
    joint = np.full((1, 2, 2), 0.25)
    kinds = {"total": [1.0, 2.0], "data": [0.5, 1.0], "knowledge": [0.5, 1.0]}
    given = NodePredictions(probs, [0, 1], {"a": [0, 1]}, [[0, 1]], kinds, probs, joint, "gcn")
    made = with_probs(given, probs[::-1], "swapped")
    assert set(made.uncertainties) == {"total"}
    expected = -(probs[::-1] * np.log(probs[::-1])).sum(axis=1)
    assert np.allclose(made.uncertainties["total"], expected)
    assert made.alpha is None
    assert made.edge_probs is None
    assert made.name == "gcn + swapped"
    assert np.array_equal(made.edges, given.edges)
    plain = dataclasses.replace(given, uncertainties={"knowledge": [1.0, 2.0]})
    assert not with_probs(plain, probs, "same").uncertainties


def test_the_part_to_fit_on_by_default():
    assert default_part({"train": 0, "validation": 0, "test": 0}) == "validation"
    for parts in ({}, {"train": 0}, {"valid_a": 0, "valid_b": 0}):
        with pytest.raises(InputError, match="name the part to fit on"):
            default_part(parts)
