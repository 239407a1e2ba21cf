"""`graphgauge calibrate` and `graphgauge conformal` as a person uses them."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest
from forecasts import sharpened

from graphgauge.calibration import Conformal, calibrator, effects
from graphgauge.cli import main
from graphgauge.predictions import LinkPredictions, NodePredictions


@pytest.fixture
def files(tmp_path):
    made = sharpened(2.5, n=600)
    made.save(tmp_path / "p.npz")
    dataclasses.replace(made, edges=None).save(tmp_path / "bare.npz")
    np.savez(tmp_path / "edges.npz", edge_index=made.edges.T)
    dataclasses.replace(made, parts={}).save(tmp_path / "whole.npz")
    LinkPredictions([0.9, 0.4], [0.1, 0.2]).save(tmp_path / "links.npz")
    return tmp_path


def test_calibrate_writes_what_it_shows(files, capsys):
    out = files / "c.npz"
    assert main(["calibrate", str(files / "p.npz"), "--out", str(out)]) == 0
    told = capsys.readouterr().out
    for word in ("temperature, fitted on valid_in: temperature 2.", "before", "test_out", "ece"):
        assert word in told
    assert max(map(len, told.splitlines())) <= 80 + len(str(out))
    given, made = NodePredictions.load(files / "p.npz"), NodePredictions.load(out)
    assert np.array_equal(made.probs, calibrator("temperature").fit(given, "valid_in")(given).probs)
    assert made.fingerprint == given.fingerprint


def test_calibrate_tells_everything_as_json(files, capsys):
    method = "ensemble(objective=brier)"
    arguments = ["calibrate", str(files / "p.npz"), "--method", method, "--on", "valid_out"]
    assert main([*arguments, "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "graphgauge.calibration/1"
    assert (told["method"], told["part"]) == (method, "valid_out")
    assert set(told["learned"]) == {"temperature", "tempered", "given", "uniform"}
    given = NodePredictions.load(files / "p.npz")
    made = calibrator(method).fit(given, "valid_out")(given)
    for row, expected in zip(told["effects"], effects(given, made, "valid_out"), strict=True):
        assert row["after"] == pytest.approx(expected.after)
        assert row["low"] == expected.low
        assert not row["infinite"]
    assert main([*arguments, "--json", str(files / "told.json")]) == 0
    assert "before" in capsys.readouterr().out
    assert json.loads((files / "told.json").read_text()) == told


def test_what_is_infinite_is_told(files, capsys):
    arguments = ["calibrate", str(files / "p.npz"), "--method", "histogram(bins=40)"]
    assert main(arguments) == 0
    assert "∞" in capsys.readouterr().out
    assert main([*arguments, "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)["effects"]
    infinite = [row for row in rows if row["infinite"]]
    assert infinite
    assert all(row["metric"] == "nll" and row["after"] is None for row in infinite)


def test_conformal_tells_coverage_size_and_remarks(files, capsys):
    arguments = ["conformal", str(files / "p.npz"), "--score", "adaptive", "--level", "0.8"]
    grouped = ["--group", "class", "--group", "degree", "--diffusion", "0.2", "--seed", "3"]
    assert main([*arguments, *grouped, "--out", str(files / "s.npz")]) == 0
    told = capsys.readouterr().out
    for word in (
        "80.0\N{NO-BREAK SPACE}% promised",
        "coverage",
        "degree",
        "class 3",
        "test_out differs in",
    ):
        assert word in told
    given = NodePredictions.load(files / "p.npz")
    rule = Conformal(level=0.8, score="adaptive", diffusion=0.2, seed=3)
    sets = rule.fit(given, "valid_in")(given)
    with np.load(files / "s.npz") as stored:
        assert np.array_equal(stored["sets"], sets.members)
    assert main([*arguments, *grouped, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "graphgauge.conformal/1"
    assert (document["part"], document["level"]) == ("valid_in", 0.8)
    assert document["threshold"] == pytest.approx(sets.fitted.threshold)
    assert document["remarks"] == list(sets.remarks())
    expected = [dataclasses.asdict(row) for row in sets.rows(["class", "degree"])]
    assert document["rows"] == expected


def test_edges_may_come_from_a_file(files, capsys):
    bare, edges = str(files / "bare.npz"), ["--edges", str(files / "edges.npz")]
    diffused = ["conformal", bare, "--diffusion", "0.5", "--group", "degree"]
    assert main(diffused) == 2
    assert "carry no edges" in capsys.readouterr().err
    assert main([*diffused, *edges]) == 0
    out = ["--out", str(files / "c.npz")]
    assert main(["calibrate", bare, *edges, *out]) == 0
    assert NodePredictions.load(files / "c.npz").edges is not None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["calibrate", "{f}/missing.npz"], "missing.npz"),
        (["calibrate", "{f}/p.npz", "--method", "temprature"], "did you mean 'temperature'"),
        (["calibrate", "{f}/p.npz", "--method", "histogram(bins=0)"], "bins 0 is below one"),
        (["calibrate", "{f}/p.npz", "--on", "valid"], "no part 'valid' to fit on"),
        (["calibrate", "{f}/whole.npz"], "name the part to fit on (parts: none)"),
        (["calibrate", "{f}/links.npz"], "holds scores of links"),
        (["calibrate", "{f}/p.npz", "--out", "{f}/no/c.npz"], "cannot be written"),
        (["conformal", "{f}/links.npz"], "holds scores of links"),
        (["conformal", "{f}/p.npz", "--level", "1.5"], "level 1.5 is not between 0 and 1"),
        (["conformal", "{f}/p.npz", "--score", "best"], "not one of: plain, adaptive"),
        (["conformal", "{f}/p.npz", "--seed", "1"], "the plain score draws nothing"),
        (["conformal", "{f}/p.npz", "--group", "fame"], "unknown grouping 'fame'"),
    ],
)
def test_bad_input_is_one_line_and_two(files, capsys, arguments, told):
    assert main([argument.format(f=files) for argument in arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert told in error
    assert len(error.splitlines()) == 1


def test_neither_command_loads_torch(files):
    code = (
        "import sys; from graphgauge.cli import main;"
        f"main(['calibrate', '{files}/p.npz']); main(['conformal', '{files}/p.npz']);"
        "assert not {'torch', 'torch_geometric', 'sklearn', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
