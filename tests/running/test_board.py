"""What a person sees of runs: forecasts that are honest, bars in a terminal, failures."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest
from stand_ins import written

from graphgauge.cli.board import duration, show_forecast, show_records
from graphgauge.forecast import Experience, Forecast
from graphgauge.records import Record, Records, RunSpec


def _record(seed=0, seconds=10.0, peak=500.0, **changes):
    given = {"setting": "density-50", "method": "erm", **changes}
    spec = RunSpec("shifts", "cora-ml", seed=seed, protocol="corrected", hyper={}, **given)
    timing = {"seconds": seconds, "peak_mb": peak}
    return Record(spec, "done", "", {"ID": {"accuracy": 0.5}}, {"timing": timing})


def test_forecasts_come_from_the_most_similar_runs():
    near = [_record(seed, 10.0 + seed, version="1") for seed in range(3)]
    far = _record(9, 100.0, 900.0, version="1", setting="feature-50")
    known = Experience([*near, far])
    assert known.seconds(_record(4, version="1").spec) == 11.0
    assert known.seconds(_record(4, version="1", setting="random-50").spec) == 33.25
    assert known.seconds(_record(4, version="1", method="gpn").spec) is None
    specs = [_record(seed, version="1").spec for seed in range(4)]
    unknown = _record(4, version="1", method="gpn").spec
    found = known.forecast([*specs, unknown], n_workers=2)
    assert found == Forecast(5, 1, 22.0, 1000.0)
    assert known.forecast(specs[:1], n_workers=8) == Forecast(1, 0, 11.0, 500.0)
    assert Experience().forecast(specs, n_workers=2) == Forecast(4, 4, None, None)
    assert known.time_left([*specs, unknown], n_workers=5) == 11.0
    assert Experience().time_left(specs, n_workers=1) is None
    assert Experience().time_left([], n_workers=1) == 0


def test_failures_teach_nothing():
    failed = Record(_record(version="1").spec, "failed", "why", {}, {"timing": {"seconds": 1.0}})
    assert Experience([failed]).seconds(failed.spec) is None


def test_forecasts_are_told(capsys):
    show_forecast(Forecast(5, 1, 4000.0, 1e9), n_done=3, workers="2 workers")
    told = capsys.readouterr().err
    assert "5 runs to go on 2 workers, 3 are recorded already" in told
    assert "about 1 h 7 min" in told
    assert "1 of unknown length besides" in told
    assert "fewer workers" in told
    show_forecast(Forecast(0, 0, None, None), n_done=3, workers="1 worker")
    assert capsys.readouterr().err == "0 runs to go on 1 worker, 3 are recorded already\n"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.04, "0.0 s"), (59.4, "59 s"), (61, "1 min 1 s"), (1800, "30 min"), (3600, "1 h 0 min")],
)
def test_durations(seconds, told):
    assert duration(seconds) == told


def test_records_are_listed_with_their_reasons(capsys):
    record = _record(version="1", method="odd")
    show_records(
        Records(
            [
                record,
                Record(
                    record.spec.__class__("b", "d", "s", "m", 0, "corrected", {}, "1"),
                    "failed",
                    "a reason",
                ),
            ]
        )
    )
    out = capsys.readouterr().out
    assert "a reason" in out
    assert "1 done, 1 failed" in out
    assert "\x1b" not in out


def test_bars_in_a_terminal(tmp_path):
    path = written(
        tmp_path,
        methods={
            "spread": "use = 'stand_ins:Spread'\nhyper = { seconds = 0.3 }",
            "bad": "use = 'stand_ins:Failing'",
        },
    )
    near, far = pty.openpty()
    command = [sys.executable, "-m", "graphgauge.cli", "run", str(path), "--out"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm", "COLUMNS": "90"}
    process = subprocess.Popen([*command, str(tmp_path / "o")], env=env, stdout=far, stderr=far)
    os.close(far)
    seen = b""
    while True:
        try:
            seen += (chunk := os.read(near, 4096))
        except OSError:
            break
        if not chunk:
            break
    os.close(near)
    assert process.wait(timeout=20) == 1
    told = seen.decode()
    assert "/6" in told
    assert "left" in told
    assert "━" in told
    assert "3 done, 3 failed" in told
