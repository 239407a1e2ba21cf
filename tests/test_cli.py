"""The command line as a person uses it: what is printed, what is written, what it returns."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest

from graphgauge.cli import main
from graphgauge.graph import Graph
from graphgauge.metrics import METRICS
from graphgauge.predictions import LinkPredictions, NodePredictions

FAST = ["--draws", "20", "--resamples", "10"]


@pytest.fixture
def nodes(tmp_path, rng):
    probs = rng.dirichlet(np.ones(3), 200)
    labels = (probs.cumsum(axis=1) < rng.random((200, 1))).sum(axis=1)
    parts = {"train": np.arange(80), "test": np.arange(80, 200)}
    NodePredictions(probs, labels, parts, rng.integers(0, 200, (400, 2))).save(tmp_path / "a.npz")
    sharp = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    made = NodePredictions(sharp, labels, parts)
    made.save(tmp_path / "b.npz")
    return tmp_path


@pytest.fixture
def links(tmp_path, rng):
    LinkPredictions(rng.normal(1, 1, 80), rng.normal(0, 1, (80, 20))).save(tmp_path / "l.npz")
    return tmp_path / "l.npz"


def test_score_prints_a_verdict_and_returns_zero(nodes, capsys):
    assert main(["score", str(nodes / "a.npz"), *FAST]) == 0
    out = capsys.readouterr().out
    for word in ("accuracy", "edge_ece", "nodes", "disagreeing", "inside", "worst by degree"):
        assert word in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_failed_gate_returns_one(nodes, links, capsys):
    assert main(["score", str(nodes / "a.npz"), *FAST, "--gate", "accuracy>0.999"]) == 1
    assert "✘ fails" in capsys.readouterr().out
    good = ["--gate", "accuracy>=0,ece(bins=15)<=1", "--gate", "nll>0"]
    assert main(["score", str(nodes / "a.npz"), *FAST, *good]) == 0
    assert main(["score", str(links), *FAST, "--gate", "mrr>=2"]) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "missing.npz"],
        ["score"],
        ["score", "{a}", "--metrics", "eec"],
        ["score", "{a}", "--gate", "nonsense"],
        ["score", "{a}", "--draws", "many"],
        ["score", "{a}", "--edges", "missing.csv"],
        ["score", "{a}", "--html", "{a}/x.html", "--draws", "5", "--resamples", "5"],
        ["compare", "{a}"],
        ["compare", "{a}", "{l}"],
        ["compare", "{a}", "{a}"],
        ["audit", "missing.npz"],
        ["metrics", "eec"],
        ["demo", "--out", "{a}"],
        ["nonsense"],
    ],
)
def test_bad_input_returns_two(nodes, links, capsys, arguments):
    filled = [a.format(a=nodes / "a.npz", l=links) for a in arguments]
    assert main(filled) == 2
    told = capsys.readouterr().err
    assert told.strip()
    assert "Traceback" not in told


def test_what_cannot_be_scored_names_its_file(nodes, capsys):
    np.savez(nodes / "x.npz", probs=np.full((3, 2), 0.5), labels=[-1, -1, -1])
    assert main(["score", str(nodes / "a.npz"), str(nodes / "x.npz"), *FAST]) == 2
    assert "x.npz: labels: no label is known" in capsys.readouterr().err


def test_an_error_is_one_line_that_names_file_and_rows(tmp_path, capsys):
    np.savez(tmp_path / "bad.npz", probs=[[0.5, 0.5], [0.5, 0.9]], labels=[0, 1])
    assert main(["score", str(tmp_path / "bad.npz")]) == 2
    told = capsys.readouterr().err
    expected = f"error: {tmp_path / 'bad.npz'}: probs: 1 row does not sum to one (row 1)\n"
    assert told == expected


def test_json_and_html_are_written(nodes, capsys):
    json_file, page = nodes / "out.json", nodes / "out.html"
    arguments = [
        "score",
        str(nodes / "a.npz"),
        *FAST,
        "--json",
        str(json_file),
        "--html",
        str(page),
    ]
    assert main(arguments) == 0
    document = json.loads(json_file.read_text())
    assert document["schema"] == "graphgauge.score/1"
    assert document["name"] == "a"
    assert page.read_text().startswith("<!DOCTYPE html>") or "<html" in page.read_text()[:200]
    assert str(page) in capsys.readouterr().out.replace("\n", "")


def test_json_to_standard_output_is_nothing_but_json(nodes, links, capsys):
    (nodes / "copy.npz").write_bytes((nodes / "b.npz").read_bytes())
    for command in (
        ["score", str(nodes / "a.npz"), *FAST],
        ["score", str(links), *FAST],
        ["audit", str(nodes / "a.npz")],
        ["metrics"],
        ["compare", str(nodes / "b.npz"), str(nodes / "copy.npz")],
    ):
        assert main([*command, "--json", "-"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["schema"].startswith("graphgauge.")


def test_edges_may_come_from_elsewhere(nodes, capsys):
    (nodes / "edges.csv").write_text("source,target\n81,82\n82,83\n")
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(rng.integers(0, 200, (300, 2)), 200, features=rng.random((200, 4)))
    graph.save(nodes / "graph.npz")
    for edges, n_edges in (("edges.csv", 2), ("graph.npz", len(graph.edges))):
        arguments = ["score", str(nodes / "b.npz"), *FAST, "--edges", str(nodes / edges)]
        assert main([*arguments, "--json", "-"]) == 0
        assert json.loads(capsys.readouterr().out)["counts"]["edges"] == n_edges


def test_several_files_are_scored_and_compared(nodes, capsys):
    arguments = ["score", str(nodes / "b.npz"), str(nodes / "c.npz"), *FAST]
    made = NodePredictions.load(nodes / "b.npz")
    NodePredictions(made.probs[:, ::-1], made.labels, made.parts).save(nodes / "c.npz")
    page = nodes / "many.html"
    assert main([*arguments, "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert "Overview" in out
    assert "b − c" in out
    assert main([*arguments, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "graphgauge.scores/1"
    assert [one["name"] for one in document["scores"]] == ["b", "c"]
    assert {row["metric"] for row in document["comparisons"]} >= {"accuracy", "nll"}


def test_files_of_other_items_are_scored_side_by_side(nodes, links, capsys):
    assert main(["score", str(nodes / "a.npz"), str(links), *FAST, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["comparisons"] == []
    assert main(["score", str(nodes / "a.npz"), str(links), *FAST]) == 0
    assert "not compared" in capsys.readouterr().out


def test_a_comparison_tells_the_level_of_its_intervals(nodes, capsys):
    shutil.copy(nodes / "b.npz", nodes / "c.npz")
    arguments = ["compare", str(nodes / "b.npz"), str(nodes / "c.npz"), "--level", "0.1"]
    assert main(arguments) == 0
    assert "90 % interval" in capsys.readouterr().out
    assert main([*arguments, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["level"] == 0.1


def test_calibration_errors_show_the_parameters_asked_for(nodes, capsys):
    asked = ["score", str(nodes / "a.npz"), *FAST, "--metrics", "ece(norm=2),edge_ece"]
    for protocol in ("corrected", "published"):
        assert main([*asked, "--protocol", protocol]) == 0
        told = capsys.readouterr().out
        assert "ece(bins=15,norm=2" in told or "ece(bins=15,closed=left,norm=2" in told
        assert "edge_ece  " in told


def test_numbers_and_their_unit_stay_on_a_line(nodes, capsys, monkeypatch):
    for width in range(50, 90, 4):
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(["score", str(nodes / "a.npz"), "--draws", "5", "--resamples", "0"]) == 0
        panel = capsys.readouterr().out.partition("╰")[0]
        assert not [line for line in panel.splitlines() if line.strip(" │").startswith("%")]


def test_audit_names_offenders(nodes, capsys):
    assert main(["audit", str(nodes / "a.npz")]) == 0
    assert "edges-test-train" in capsys.readouterr().out
    assert main(["audit", str(nodes / "a.npz"), "--json", "-"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert max(found["n"] for found in findings) > 20
    assert all(len(found["offenders"]) == found["n"] for found in findings)


def test_audit_fails_where_the_result_is_void(tmp_path, capsys):
    arrays = {"probs": np.full((4, 2), 0.5), "labels": [0, 1, 0, 1]}
    np.savez(tmp_path / "x.npz", **arrays, part_train=[0, 1], part_test=[1, 2])
    assert main(["audit", str(tmp_path / "x.npz")]) == 1
    out = capsys.readouterr().out
    assert "parts-overlap" in out
    assert "items 1" in out
    assert main(["audit", str(tmp_path / "x.npz"), "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"][0]["offenders"] == [1]
    assert main(["score", str(tmp_path / "x.npz")]) == 2
    assert "overlap in 1 item (row 1)" in capsys.readouterr().err


def test_metrics_lists_every_metric(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["metrics"]) == 0
    out = capsys.readouterr().out
    for card in METRICS.values():
        assert card.label in out
    assert main(["metrics", "ece(bins=20)"]) == 0
    assert "ece(bins=20)" in capsys.readouterr().out


def test_text_from_files_is_shown_as_it_is(tmp_path, capsys):
    probs = np.full((60, 2), 0.5)
    parts = {"[red]test[/]": np.arange(30), "\x1b[2Jrest": np.arange(30, 60)}
    NodePredictions(probs, np.zeros(60, int), parts).save(tmp_path / "[bold]x.npz")
    assert main(["score", str(tmp_path / "[bold]x.npz"), *FAST, "--part", "[red]test[/]"]) == 0
    out = capsys.readouterr().out
    assert "[red]test[/]" in out
    assert "[bold]x" in out
    assert "\x1b" not in out


def test_demo_without_training_judges_three_models(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path / "demo"), "--planted"]) == 0
    out = capsys.readouterr().out
    for line in (
        "calibrated        ✔ good",
        "over-confident     ✘ bad",
        "shifted            ✘ bad",
    ):
        assert line in out
    assert (tmp_path / "demo" / "report.html").stat().st_size < 2_000_000


def test_help_is_instant_and_loads_nothing_heavy():
    code = (
        "import sys; from graphgauge.cli import main; code = main(['--help']);"
        "heavy = {'numpy', 'scipy', 'matplotlib', 'jinja2', 'torch', 'pandas'} & set(sys.modules);"
        "sys.exit(code or len(heavy))"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0
    assert "Measure how far a graph model can be trusted" in done.stdout
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert seconds < 0.5


def test_the_installed_command_returns_its_exit_code(nodes):
    command = [sys.executable, "-m", "graphgauge.cli", "score", str(nodes / "a.npz"), *FAST]
    done = subprocess.run([*command, "--gate", "ece<0"], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("metrics", 0),
        ("metrics --json -", 0),
        ("score {a} --draws 5 --resamples 0 --json {j}", 0),
        ("score {a} --draws 5 --resamples 0 --json -", 0),
        ("score {a} --draws 5 --resamples 0 --gate ece<=0", 1),
    ],
)
def test_a_closed_pipe_changes_nothing(nodes, arguments, code):
    filled = arguments.format(a=nodes / "a.npz", j=nodes / "a.json").split()
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as unread:
        command = [sys.executable, "-m", "graphgauge.cli", *filled]
        done = subprocess.run(
            command, stdout=unread, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (code, "")
    assert (nodes / "a.json").exists() == ("{j}" in arguments)
