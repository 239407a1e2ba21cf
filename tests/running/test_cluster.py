"""A Dask cluster: a real scheduler and two worker processes, one of which is killed mid-run."""

from __future__ import annotations

import pytest
from stand_ins import written

from graphgauge.benchmark import read_benchmark
from graphgauge.cli import main
from graphgauge.cluster import cluster_workers
from graphgauge.engine import Place, local_workers, run_all
from graphgauge.errors import InputError
from graphgauge.grid import runs_of
from graphgauge.records import Records

distributed = pytest.importorskip("distributed")


def test_without_a_scheduler_it_is_one_line(monkeypatch):
    monkeypatch.setattr("graphgauge.cluster._PATIENCE", 0.5)
    for address in ("tcp://127.0.0.1:9", "nonsense://x", "127.0.0.1:99999"):
        with (
            pytest.raises(InputError, match="no scheduler can be reached"),
            cluster_workers(address),
        ):
            pytest.fail("there is no cluster")


def test_a_cluster_gives_the_same_records_though_a_worker_is_killed(tmp_path, capfd):
    flag = tmp_path / "flag"
    methods = {
        "spread": "use = 'stand_ins:Spread'",
        "once": f"use = 'stand_ins:Failing'\nhyper = {{ how = 'once:{flag}' }}",
        "bad": "use = 'stand_ins:Failing'",
        "de": "of = 'spread'\ncombine = 'mean-softmax'\nn = 3",
    }
    path = written(tmp_path, methods=methods)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        cluster.wait_for_workers(2)
        address = cluster.scheduler_address
        out = tmp_path / "cluster"
        assert main(["run", str(path), "--cluster", address, "--out", str(out)]) == 1
    told = capfd.readouterr().err
    assert flag.exists()
    assert "10 runs to go on 2 workers" in told
    assert "7 done, 3 failed" in told
    with local_workers(1) as workers:
        here = run_all(runs_of(read_benchmark(path)), Place(tmp_path / "here"), workers)
    there = Records.load(out)
    assert [record.content for record in there] == [record.content for record in here]
