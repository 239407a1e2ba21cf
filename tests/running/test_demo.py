"""The demonstration: trains where it can, says what it does, and trains nothing twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stand_ins import written

from graphgauge.benchmark import read_benchmark
from graphgauge.cli import main
from graphgauge.errors import InputError
from graphgauge.records import Records
from graphgauge.scoring import Options


def test_demo_offline_trains_on_a_planted_graph_and_once(tmp_path, capsys, monkeypatch):
    methods = dict.fromkeys(("erm", "gpn"), "use = 'stand_ins:Spread'")
    methods["de"] = "of = 'erm'\ncombine = 'mean-softmax'\nn = 3"
    settings, datasets = ["popularity-50"], ["cora", "planted-300"]
    tiny = read_benchmark(written(tmp_path, methods=methods, datasets=datasets, settings=settings))
    monkeypatch.setattr("graphgauge.benchmark.read_benchmark", lambda name: tiny)
    monkeypatch.setattr("graphgauge.cli.demo._STAND_IN", "planted-300")
    quick = Options(n_draws=20, n_resamples=10)
    monkeypatch.setattr("graphgauge.scoring.Options", lambda seed: replace(quick, seed=seed))
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path))
    monkeypatch.setattr("graphgauge.datasets.obtain.fetch", _no_network)
    monkeypatch.setenv("GRAPHGAUGE_CACHE", str(tmp_path / "cache"))
    for expected in ("7 runs to go", "7 are recorded already"):
        assert main(["demo", "--out", str(tmp_path / "demo"), "--workers", "1"]) == 0
        told = capsys.readouterr()
        assert "Cora cannot be had here" in told.out
        assert "no network" in told.out
        assert expected in told.err
        assert all(name in told.out for name in ("Overview", "1 of 3", "± "))
    assert (tmp_path / "demo" / "report.html").is_file()


def _no_network(*arguments):
    raise InputError("no network")


def test_without_torch_it_judges_planted_models_and_says_so(tmp_path, capsys, monkeypatch):
    judged = []
    monkeypatch.setattr("graphgauge.cli.demo.find_spec", lambda name: None)
    monkeypatch.setattr("graphgauge.cli.demo.judge", lambda files, *rest: judged.extend(files))
    assert main(["demo", "--out", str(tmp_path)]) == 0
    assert judged == ["calibrated", "over-confident", "shifted"]
    assert 'Training needs torch (pip install "graphgauge[train]")' in capsys.readouterr().out


@pytest.mark.long
def test_demo_trains_networks_on_cora(tmp_path, capsys, data_dir):
    assert main(["demo", "--out", str(tmp_path)]) == 0
    assert "Cora: 2,708 papers, 5,278 citations, 7 topics." in capsys.readouterr().out
    records = Records.load(tmp_path)
    assert len(records) == 7
    assert all(0.8 < record.values["OOD"]["accuracy"] < 0.9 for record in records)
    assert (tmp_path / "report.html").is_file()
