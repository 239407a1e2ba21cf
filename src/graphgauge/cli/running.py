"""Commands that run benchmarks, and those about the records they leave."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from graphgauge.engine import Place, Workers
    from graphgauge.forecast import Experience
    from graphgauge.records import RunSpec

__all__ = ["execute", "read_names", "read_numbers", "records", "run"]

_WHAT = "What to run (default: all of the benchmark)"
_WHERE = "Where to run it"
_INTERRUPTED = 130

_Benchmark = Annotated[
    str, typer.Argument(help="Such as shifts, or a .toml file of your own.", metavar="BENCHMARK")
]
_Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset", help="Such as cora-ml,citeseer.", metavar="NAMES", rich_help_panel=_WHAT
    ),
]
_Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        "--shift",
        help="Such as density-70, or density for all its ratios.",
        metavar="NAMES",
        rich_help_panel=_WHAT,
    ),
]
_Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        help="Such as erm,gpn. An ensemble brings its members along.",
        metavar="NAMES",
        rich_help_panel=_WHAT,
    ),
]
_Seeds = Annotated[
    str | None,
    typer.Option(
        help="Such as 0-4 or 0,2. Ensembles whose members are not all among them are left out, "
        "unless --method names them.",
        metavar="NUMBERS",
        rich_help_panel=_WHAT,
    ),
]
_Protocol = Annotated[
    str,
    typer.Option(
        help="corrected: what the paper means; published: what its printed numbers were made with.",
        rich_help_panel=_WHAT,
    ),
]
_Workers = Annotated[
    int,
    typer.Option(
        help="Runs side by side on this machine, a process of one thread each.",
        min=1,
        rich_help_panel=_WHERE,
    ),
]
_Cluster = Annotated[
    str | None,
    typer.Option(
        help="Run on the workers of this Dask scheduler instead: tcp://10.0.0.1:8786.",
        metavar="ADDRESS",
        rich_help_panel=_WHERE,
    ),
]
_Device = Annotated[str, typer.Option(help="Train on cpu, cuda, cuda:1 …", rich_help_panel=_WHERE)]
_Out = Annotated[
    Path,
    typer.Option(
        help="Folder of records and predictions; what is done there is not run again.",
        rich_help_panel=_WHERE,
    ),
]
_Dry = Annotated[bool, typer.Option("--dry-run", help="List the runs that are to go, and stop.")]


def run(
    benchmark: _Benchmark,
    dataset: _Datasets = None,
    setting: _Settings = None,
    method: _Methods = None,
    seeds: _Seeds = None,
    protocol: _Protocol = "corrected",
    workers: _Workers = 1,
    cluster: _Cluster = None,
    device: _Device = "cpu",
    out: _Out = Path("runs"),
    dry_run: _Dry = False,
) -> None:
    """Run a benchmark: train, predict, measure and record, as far as it is not done yet.

    It may be stopped at any moment, by Ctrl-C or worse: only the runs in flight are lost, and the
    same command goes on from there. A run that fails is recorded with its reason, and is tried
    again next time; the exit code is 1 then.

    `graphgauge run shifts --dataset cora-ml --shift popularity --method erm --workers 2`
    """
    from graphgauge.benchmark import read_benchmark
    from graphgauge.engine import Place, pending
    from graphgauge.forecast import Experience
    from graphgauge.grid import Choice, runs_of

    chosen = (read_names(dataset), read_names(setting), read_names(method), read_numbers(seeds))
    specs = runs_of(read_benchmark(benchmark), Choice(*chosen, protocol))
    place = Place(out)
    known = place.load()
    left = pending(specs, place, known)
    if dry_run:
        from graphgauge.cli.board import show_runs

        show_runs(left, Experience(known))
        return
    if cluster is None:
        from graphgauge.engine import local_workers

        where = local_workers(workers, device=device)
    else:
        from graphgauge.cluster import cluster_workers

        where = cluster_workers(cluster, device=device)
    execute(specs, left, place, where, Experience(known))


def execute(
    specs: list[RunSpec],
    left: list[RunSpec],
    place: Place,
    where: AbstractContextManager[Workers],
    experience: Experience,
) -> None:
    """Execute what is left, tell how it goes, and exit with 1 if something failed."""
    from graphgauge.cli.board import following, show_forecast, show_summary
    from graphgauge.engine import run_all

    began = time.monotonic()
    try:
        with where as workers:
            n = max(workers.n_workers(), 1)
            expected = experience.forecast(left, n_workers=n)
            told = f"{n} {'worker' if n == 1 else 'workers'}"
            show_forecast(expected, n_done=len(specs) - len(left), workers=told)
            with following(len(left), n) as tell:
                found = run_all(specs, place, workers, tell=tell)
    except KeyboardInterrupt:
        message = f"Stopped. What is done is recorded in {place.folder}; the same command goes on."
        typer.echo(message, err=True)
        raise typer.Exit(_INTERRUPTED) from None
    ran = {spec.id for spec in left}
    now = type(found)([record for record in found if record.spec.id in ran])
    show_summary(now, seconds=time.monotonic() - began)
    if any(record.status != "done" for record in found):
        raise typer.Exit(1)


records = typer.Typer(
    help="List and export the records of runs.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Path = Annotated[
    Path, typer.Argument(help="Folder that runs were recorded in, or an exported .jsonl file.")
]


@records.command("list")
def list_records(
    path: _Path,
    dataset: _Datasets = None,
    setting: _Settings = None,
    method: _Methods = None,
    status: Annotated[
        list[str] | None, typer.Option(help="done, failed or skipped.", metavar="NAMES")
    ] = None,
) -> None:
    """List records: what was run, how long it took, and what came of it.

    `graphgauge records list runs --status failed`
    """
    from graphgauge.cli.board import show_records
    from graphgauge.records import Records

    wanted = {"dataset": dataset, "setting": setting, "method": method, "status": status}
    chosen = {name: read_names(words) for name, words in wanted.items() if words}
    show_records(Records.load(path).select(**chosen))


@records.command()
def export(
    path: _Path,
    out: Annotated[Path, typer.Option(help="Write this .jsonl file, a record a line.")],
    benchmark: Annotated[
        list[str] | None, typer.Option(help="Only of these.", metavar="NAMES")
    ] = None,
) -> None:
    """Put all records into one file, which commands take in place of the folder.

    Equal records give equal bytes. Predictions are not part of it.

    `graphgauge records export runs --out shifts.jsonl --benchmark shifts`
    """
    from graphgauge.records import Records
    from graphgauge.report.terminal import show_written

    found = Records.load(path)
    if benchmark:
        found = found.select(benchmark=read_names(benchmark))
    found.export(out)
    show_written(out)


def read_names(words: list[str] | None) -> tuple[str, ...]:
    """Read names: any number of options, each of any number of words between commas.

    Examples
    --------
    >>> read_names(["cora-ml,citeseer", "pubmed"])
    ('cora-ml', 'citeseer', 'pubmed')
    """
    return tuple(part.strip() for word in words or () for part in word.split(",") if part.strip())


def read_numbers(text: str | None) -> tuple[int, ...]:
    """Read numbers and ranges.

    Examples
    --------
    >>> read_numbers("0-2,7")
    (0, 1, 2, 7)
    """
    from graphgauge.errors import InputError

    numbers: list[int] = []
    for word in read_names([text] if text else None):
        first, dash, last = word.partition("-")
        ends = (first, last if dash else first)
        if not all(end.isdecimal() and end.isascii() and len(end) < 6 for end in ends):
            raise InputError(f"--seeds: {word!r} is no number and no range such as 0-4")
        numbers += range(int(ends[0]), int(ends[1]) + 1)
        if int(ends[0]) > int(ends[1]):
            raise InputError(f"--seeds: {word!r} runs backwards")
    return tuple(numbers)
