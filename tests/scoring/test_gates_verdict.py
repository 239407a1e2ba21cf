"""Gates and verdicts as rules on numbers."""

from __future__ import annotations

import numpy as np
import pytest

from graphgauge.audit import Finding, Severity
from graphgauge.errors import InputError
from graphgauge.scoring.card import Measured
from graphgauge.scoring.gates import check_gates
from graphgauge.scoring.verdict import verdict


def _row(name="ece(bins=15)", value=0.02, part="test", p=0.5, band=(0.01, 0.03)):
    return Measured(name, part, value, 900, "lower", null_low=band[0], null_high=band[1], null_p=p)


def _status(*rows, findings=(), judged=("test",), gates=()):
    return str(verdict(tuple(rows), findings, gates, judged).status)


@pytest.mark.parametrize(
    ("value", "null"), [(0.005, "below"), (0.01, "inside"), (0.03, "inside"), (0.031, "above")]
)
def test_a_value_is_told_against_its_band(value, null):
    assert _row(value=value).null == null


def test_no_band_no_statement():
    assert Measured("nll", "test", 0.3, 10, "lower").null is None
    assert _row(value=np.nan).null is None


@pytest.mark.parametrize(
    ("gate", "value", "passed"),
    [
        ("ece<=0.05", 0.05, True),
        ("ece<0.05", 0.05, False),
        ("ece >= 0.05", 0.05, True),
        ("ece>5e-2", 0.05, False),
        ("ece(bins=15)<=inf", 0.05, True),
        (" ece @ test <= 0.1 ", 0.05, True),
        ("ece inside", 0.03, True),
        ("ece inside", 0.005, True),
        ("ece inside", 0.031, False),
        ("ece<=1", np.nan, False),
        ("ece inside", np.nan, False),
    ],
)
def test_gate_signs(gate, value, passed):
    assert check_gates([gate], (_row(value=value),), "test")[0].passed is passed


@pytest.mark.parametrize(
    ("gate", "name"),
    [
        ("ece<=1", "ece(bins=15)"),
        ("ece(bins=15)<=1", "ece(bins=15)"),
        ("ece(norm=1, bins=15)<=1", "ece(bins=15)"),
        ("ece(norm=2)<=1", "ece(bins=15,norm=2)"),
        ("ece(closed=left)<=1", "ece(bins=20,closed=left)"),
        ("auroc<=1", "auroc(positive=ood)"),
    ],
)
def test_a_gate_finds_the_number_that_it_names(gate, name):
    rows = tuple(map(_row, ("ece(bins=15,norm=2)", "ece(bins=15)", "ece(bins=20,closed=left)")))
    there = _row("auroc(positive=ood)", part="test_in|test_out")
    assert check_gates([gate], (*rows, there), "test")[0].name == name


@pytest.mark.parametrize(
    ("gate", "told"),
    [
        ("ece=<1", "cannot read gate 'ece=<1'"),
        ("ece<=high", "'high' is not a number"),
        ("ece<=nan", "'nan' is not a number"),
        ("ece@else<=1", r"no part 'else' \(parts: test, valid\)"),
        ("ece(bins=3)<=1", r"no ece\(bins=3\) on part test \(it is on: none\)"),
        ("nll@test<=1", r"no nll on part test \(it is on: valid\)"),
    ],
)
def test_a_gate_that_asks_for_nothing_is_told(gate, told):
    with pytest.raises(InputError, match=told):
        check_gates([gate], (_row(), _row("nll", part="valid")), "test")


def test_a_gate_without_a_band_cannot_be_inside():
    row = Measured("accuracy", "test", 0.9, 10, "higher")
    assert not check_gates(["accuracy inside"], (row,), "test")[0].passed


def test_chance_alone_is_no_reason():
    assert _status(_row()) == "good"
    assert _status(_row(value=0.04, p=0.03)) == "caution"
    # Among four errors looked at, one p of 0.03 is what chance brings.
    scopes = [_row(f"{prefix}ece(bins=15)") for prefix in ("edge_", "agree_", "disagree_")]
    assert _status(_row(value=0.04, p=0.03), *scopes) == "good"
    assert _status(_row(value=0.04, p=0.005), *scopes) == "caution"


@pytest.mark.parametrize(
    ("value", "said"), [(0.005, "less than"), (0.02, "as a"), (0.031, "hardly more than")]
)
def test_errors_that_chance_explains_are_told_against_their_band(value, said):
    [(_, told)] = verdict((_row(value=value),), (), (), ("test",)).reasons
    assert said in told


def test_few_draws_are_no_excuse():
    # Above all of 20 draws is all that 20 draws can show.
    scopes = [_row(f"{prefix}ece(bins=15)") for prefix in ("edge_", "agree_", "disagree_")]
    rows = (_row(value=0.3, p=1 / 21), *scopes)
    assert str(verdict(rows, (), (), ("test",), n_draws=20).status) == "bad"
    assert str(verdict(rows, (), (), ("test",), n_draws=200).status) == "good"


def test_far_above_the_band_is_bad():
    assert _status(_row(value=0.081, p=0.005)) == "bad"
    assert _status(_row(value=0.079, p=0.005)) == "caution"
    assert _status(_row("edge_ece(bins=15)", value=0.5, p=0.005)) == "caution"


def test_only_judged_parts_count():
    elsewhere = _row(value=0.5, part="train", p=0.001)
    assert _status(_row(), elsewhere) == "good"
    assert _status(_row(), elsewhere, judged=("test", "train")) == "bad"


@pytest.mark.parametrize(
    ("severity", "status"), [("error", "bad"), ("warning", "caution"), ("note", "good")]
)
def test_findings_weigh_by_severity(severity, status):
    finding = Finding("x", Severity(severity), "told", "nodes", np.arange(2))
    assert _status(_row(), findings=[finding]) == status


def test_a_failed_gate_is_bad():
    gates = check_gates(["ece<=0.01"], (_row(),), "test")
    assert _status(_row(), gates=gates) == "bad"


def test_ties_and_shifts_are_reasons():
    spread = Measured("mrr_spread", "test", 0.02, 10, "lower")
    assert _status(spread) == "caution"
    parts = [
        Measured("accuracy", part, value, 100, "higher")
        for part, value in (("test_in", 0.9), ("test_out", 0.7))
    ]
    assert _status(*parts, judged=("test_in",)) == "caution"


def test_nothing_measured_is_nothing_against():
    found = verdict((), (), (), ("test",))
    assert found.headline == "Nothing speaks against these predictions."
