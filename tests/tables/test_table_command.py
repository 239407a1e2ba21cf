"""The commands as a person uses them."""

from __future__ import annotations

import csv
import subprocess
import sys

import pytest
import typer
from printed_runs import printed_runs

from graphgauge.cli import main, tables


@pytest.fixture
def exported(tmp_path):
    path = tmp_path / "shifts.jsonl"
    printed_runs("shifts", datasets=("cora-ml",)).export(path)
    return path


def test_tables_are_listed(capsys):
    assert main(["table", "revisiting"]) == 0
    out = capsys.readouterr().out
    assert "All methods on CoraML" in out
    assert " 23 " in out


def test_a_table_without_records_is_what_was_published(capsys):
    assert main(["table", "shifts", "9"]) == 0
    out = capsys.readouterr().out
    assert "85.80 ± 1.10" in out
    assert "42 not run" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("folder", [False, True])
def test_a_table_from_records(exported, tmp_path, folder, capsys):
    path = exported
    if folder:
        path = tmp_path / "runs"
        (path / "records").mkdir(parents=True)
        for record in printed_runs("shifts", datasets=("cora-ml",)):
            record.save(path / "records")
    out = tmp_path / "9.csv"
    arguments = ["table", "shifts", "9", "--records", str(path), "--format", "csv"]
    assert main([*arguments, "--out", str(out)]) == 0
    with out.open(newline="") as file:
        assert {row["verdict"] for row in csv.DictReader(file)} == {"reproduced"}
    assert main(arguments) == 0
    assert capsys.readouterr().out == out.read_text()


@pytest.mark.parametrize(("form", "start"), [("md", "## shifts"), ("latex", r"\begin{table}"),
                                             ("html", "\n<!doctype html>")])  # fmt: skip
def test_formats(exported, form, start, capsys):
    arguments = ["table", "shifts", "2", "--records", str(exported), "--format", form]
    assert main(arguments) == 0
    assert capsys.readouterr().out.lstrip().startswith(start.lstrip())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["table", "heat", "1"], "no benchmark 'heat'"),
        (["table", "shifts", "23"], "has no table 23"),
        (["table", "shifts", "9", "--format", "pdf"], "none of terminal, md"),
        (["table", "shifts", "9", "--records", "missing.jsonl"], "missing.jsonl: cannot be read"),
        (["table", "shifts", "9", "--protocol", "mine"], "protocol: 'mine'"),
        (["table", "shifts", "9", "--dataset", "pubmed"], "is of cora-ml, not of pubmed"),
        (["table", "shifts", "9", "--out", "x.md"], "--out: say --format"),
        (["reproduce", "--table", "9"], "of which paper?"),
        (["reproduce", "shifts", "--table", "9", "--seeds", "x"], "--seeds: 'x'"),
    ],
)
def test_what_is_wrong_is_one_line(arguments, told, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_shares_are_told_without_running(exported, capsys, monkeypatch):
    monkeypatch.setattr("graphgauge.cli.running.run", None)
    assert main(["reproduce", "shifts", "--out", str(exported)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["shifts", "9", "100", "%", "42", "42"] in lines
    assert ["shifts", "10", "–", "0", "42"] in lines


def test_reproduce_runs_what_the_table_needs_and_shows_it(tmp_path, capsys, monkeypatch):
    asked = {}

    def run(benchmark, *, out, **choice):
        asked.update(choice, benchmark=benchmark)
        (out / "records").mkdir(parents=True)
        for record in printed_runs("shifts", datasets=("cora-ml",), seeds=2):
            record.save(out / "records")
        raise typer.Exit(1)

    monkeypatch.setattr("graphgauge.cli.running.run", run)
    monkeypatch.setattr(tables, "_can_train", lambda out: True)
    arguments = ["reproduce", "shifts", "--table", "16", "--seeds", "0,1", "--workers", "2"]
    assert main([*arguments, "--out", str(tmp_path / "runs")]) == 1
    assert asked["dataset"] == ["cora-ml"]
    assert asked["setting"] == ["popularity-50", "locality-50", "density-50"]
    assert asked["method"] == ["erm", "natpn", "gpn", "erm-mod"]
    assert (asked["protocol"], asked["seeds"], asked["workers"]) == ("published", "0,1", 2)
    assert "2 of 5 seeds" in capsys.readouterr().out


def test_nothing_is_trained_into_an_exported_file(exported, capsys, monkeypatch):
    monkeypatch.setattr("graphgauge.cli.running.run", None)
    assert main(["reproduce", "shifts", "--table", "9", "--out", str(exported)]) == 0
    assert "42 of 42 reproduced" in capsys.readouterr().out


def test_tables_load_no_training_library():
    code = (
        "import sys; from graphgauge.cli import main; main(['table', 'shifts', '2']);"
        "sys.exit(bool({'torch', 'torch_geometric'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
