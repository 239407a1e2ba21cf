"""The demonstration: networks trained under a shift and judged, or models of known faults."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphgauge.cli.judging import judge
from graphgauge.cli.running import execute

if TYPE_CHECKING:
    from graphgauge.graph import Graph
    from graphgauge.records import Records, RunSpec

__all__ = ["demo"]

_DATASET, _STAND_IN = "cora", "planted-3000"
# Of each method what is judged: the first seed of a network, or the ensemble.
_JUDGED = ("erm", "de", "gpn")


def demo(
    out: Annotated[Path, typer.Option(help="Folder for records, predictions and report.")] = Path(
        "graphgauge-demo"
    ),
    seed: Annotated[int, typer.Option(help="Of redraws and resamples.", min=0)] = 0,
    workers: Annotated[
        int | None, typer.Option(help="Runs side by side; two by default.", min=1)
    ] = None,
    planted: Annotated[
        bool,
        typer.Option(
            "--planted",
            help="Train nothing: judge three models of known faults on a planted graph. That is "
            "what happens without torch, too.",
        ),
    ] = False,
) -> None:
    """Train on Cora under a shift, and judge what comes of it: about a minute on two cores.

    ERM, a deep ensemble and GPN are trained on popular nodes and tested on unpopular ones, with
    three seeds. Where Cora cannot be had, a planted graph stands in for it. What is trained is
    recorded in the folder, and is not trained again.
    """
    _prepare(out)
    if not planted and find_spec("torch") is None:
        typer.echo('Training needs torch (pip install "graphgauge[train]"); judging does not:\n')
        planted = True
    if planted:
        _judge_planted(out, seed)
    else:
        _train_and_judge(out, seed, workers or min(2, os.cpu_count() or 1))


def _prepare(out: Path) -> None:
    from graphgauge.errors import InputError

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out}: cannot be made ({error.strerror})") from None


def _judge_planted(out: Path, seed: int) -> None:
    from graphgauge.datasets.demo import demo_predictions
    from graphgauge.scoring import Options

    files = {}
    for name, predictions in demo_predictions(seed=seed).items():
        files[name] = out / f"{name}.npz"
        predictions.save(files[name])
    judge(files, None, Options(seed=seed), (None, out / "report.html"))


def _train_and_judge(out: Path, seed: int, workers: int) -> None:
    from graphgauge.benchmark import read_benchmark
    from graphgauge.engine import Place, local_workers, pending
    from graphgauge.forecast import Experience
    from graphgauge.grid import Choice, runs_of
    from graphgauge.scoring import Options

    dataset, graph = _graph()
    graph.save(out / "graph.npz")
    specs = runs_of(read_benchmark("demo"), Choice([dataset]))
    place = Place(out)
    known = place.load()
    left = pending(specs, place, known)
    execute(specs, left, place, local_workers(workers), Experience(known))
    _show_seeds(specs, place.load())
    judged = {spec.method: spec for spec in specs if spec.seed == 0}
    files = {name: place.predictions(judged[name].id) for name in _JUDGED}
    judge(files, out / "graph.npz", Options(seed=seed), (None, out / "report.html"))


def _graph() -> tuple[str, Graph]:
    """Get Cora, or the planted graph that stands in for it, and say which."""
    from graphgauge.cli.output import progress
    from graphgauge.datasets.load import load
    from graphgauge.errors import InputError
    from graphgauge.setting import graph_of

    try:
        with progress() as tell:
            tell("looking for Cora")
            graph = load(_DATASET)
        typer.echo(f"Cora: {graph.n_nodes:,} papers, {len(graph.edges):,} citations, 7 topics.")
        name = _DATASET
    except InputError as error:
        typer.echo(f"Cora cannot be had here ({error}).\nA planted graph stands in for it.")
        name, graph = _STAND_IN, graph_of(_STAND_IN)
    typer.echo("Trained on popular nodes, tested on unpopular ones too (PageRank, 50 : 50).\n")
    return name, graph


def _show_seeds(specs: list[RunSpec], records: Records) -> None:
    """Print means over seeds: what was trained once more would look like."""
    from graphgauge.cli.board import show_means

    asked = {spec.id for spec in specs}
    show_means([record for record in records if record.spec.id in asked])
