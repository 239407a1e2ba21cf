"""Killed at random moments and called again, a run ends with the records of an undisturbed one."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest
from stand_ins import written

from graphgauge.cli import main
from graphgauge.records import Records

METHODS = {
    "spread": "use = 'stand_ins:Spread'\nhyper = { seconds = 0.1 }",
    "deep": "use = 'stand_ins:Spread'\nhyper = { rounds = 6, seconds = 0.05 }",
    "bad": "use = 'stand_ins:Failing'",
    "de": "of = 'spread'\ncombine = 'mean-softmax'\nn = 3",
}


def _start(path, out):
    """Start the command as a person would, in a group of its own."""
    command = [sys.executable, "-m", "graphgauge.cli", "run", str(path), "--out", str(out)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        [*command, "--workers", "2"],
        env=env,
        stdout=quiet,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _members(process):
    """Name the processes of a run: itself, its workers and what they need."""
    try:
        return [process.pid, *(c.pid for c in psutil.Process(process.pid).children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


def _gone(pids, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(psutil.pid_exists(p) and not _is_zombie(p) for p in pids):
            return True
        time.sleep(0.05)
    return False


def _is_zombie(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _disturbed(path, out, *, kills, longest, draw):
    """Kill the run itself, or one of its workers, at random moments; then let it end."""
    killed = 0
    while killed < kills:
        process = _start(path, out)
        try:
            process.wait(timeout=draw.uniform(0.3, longest))
        except subprocess.TimeoutExpired:
            pids = _members(process)
            if draw.random() < 0.5 and len(pids) > 1 and kills - killed > 1:
                _kill(draw.choice(pids[1:]))
                killed += 1
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=draw.uniform(0, longest / 2))
                pids += _members(process)
            _kill(process.pid)
            killed += 1
            process.wait(timeout=20)
            process.stderr.close()
            assert _gone(pids), "workers have outlived their parent"
            continue
        # It ended by itself: nothing is left to disturb, unless what it did is forgotten.
        process.stderr.close()
        for file in draw.sample(sorted((out / "records").glob("*.json")), 3):
            file.unlink()
    process = _start(path, out)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 1, told.decode()


def _kill(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _compare(tmp_path, *, kills, longest, **content):
    path = written(tmp_path, methods=METHODS, **content)
    assert main(["run", str(path), "--out", str(tmp_path / "calm")]) == 1
    _disturbed(path, tmp_path / "out", kills=kills, longest=longest, draw=random.Random(kills))
    calm, found = Records.load(tmp_path / "calm"), Records.load(tmp_path / "out")
    assert [record.content for record in found] == [record.content for record in calm]
    for record in calm.select(status="done"):
        files = [tmp_path / o / "predictions" / f"{record.spec.id}.npz" for o in ("calm", "out")]
        assert files[0].read_bytes() == files[1].read_bytes()
    return calm


def test_a_few_kills(tmp_path):
    records = _compare(tmp_path, kills=5, longest=1.4, datasets=("planted-100",), seeds=5)
    assert len(records) == 16


@pytest.mark.long
def test_fifty_kills(tmp_path):
    places = {"datasets": ("planted-100", "planted-200"), "settings": ("density-50", "feature-70")}
    records = _compare(tmp_path, kills=50, longest=3.0, seeds=3, **places)
    assert len(records) == 40


def test_ctrl_c_stops_cleanly(tmp_path):
    methods = {"slow": "use = 'stand_ins:Spread'\nhyper = { seconds = 60.0 }"}
    quick = {"spread": "use = 'stand_ins:Spread'", **methods}
    out = tmp_path / "out"
    process = _start(written(tmp_path, methods=quick, seeds=1), out)
    end = time.monotonic() + 30
    while not list((out / "records").glob("*.json")) and time.monotonic() < end:
        time.sleep(0.05)
    pids = _members(process)
    # The terminal sends it to the whole group, workers included.
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "the same command goes on" in told.decode()
    assert "Traceback" not in told.decode()
    assert _gone(pids)
    assert [record.status for record in Records.load(out)] == ["done"]
