"""Commands about the papers' tables: ours beside what was published."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphgauge.cli.running import read_names, read_numbers

if TYPE_CHECKING:
    from graphgauge.records import Record
    from graphgauge.tables import Table

__all__ = ["reproduce", "table"]

_Benchmark = Annotated[
    str,
    typer.Argument(
        help="A paper: revisiting, shifts, edgewise or miscalibrated.", metavar="BENCHMARK"
    ),
]
_Protocol = Annotated[
    str,
    typer.Option(
        help="Of our runs. published: what the printed numbers were made with; corrected: what the "
        "paper means."
    ),
]
_Format = Annotated[
    str, typer.Option("--format", help="terminal, md, latex, csv or html.", metavar="FORMAT")
]
_Out = Annotated[Path | None, typer.Option(help="Write to this file.")]
_Datasets = Annotated[
    list[str] | None,
    typer.Option("--dataset", help="Only these, such as cora-ml,citeseer.", metavar="NAMES"),
]


def table(
    benchmark: _Benchmark,
    number: Annotated[
        int | None, typer.Argument(help="Of the table in the paper; without it they are listed.")
    ] = None,
    records: Annotated[
        Path | None,
        typer.Option(help="Folder that runs were recorded in, or an exported .jsonl file."),
    ] = None,
    format_: _Format = "terminal",
    out: _Out = None,
    dataset: _Datasets = None,
    protocol: _Protocol = "published",
) -> None:
    """Show a table of a paper: ours, what was published, and a verdict a cell.

    Without records it shows what was published.

    `graphgauge table shifts 9 --records runs --format md`
    """
    from graphgauge.tables import compare_with_print, paper

    if number is None:
        from graphgauge.report.tables import show_tables

        show_tables(paper(benchmark))
        return
    found = compare_with_print(
        benchmark, number, _load(records), protocol=protocol, datasets=read_names(dataset)
    )
    _show(found, format_, out)


def reproduce(
    benchmark: Annotated[
        str | None,
        typer.Argument(
            help="A paper: revisiting, shifts, edgewise or miscalibrated.", metavar="BENCHMARK"
        ),
    ] = None,
    table: Annotated[
        int | None, typer.Option(help="Run what this table lacks, then show it.")
    ] = None,
    dataset: _Datasets = None,
    seeds: Annotated[
        str | None, typer.Option(help="Such as 0-4 or 0,2; all by default.", metavar="NUMBERS")
    ] = None,
    workers: Annotated[int, typer.Option(help="Runs side by side.", min=1)] = 1,
    device: Annotated[str, typer.Option(help="Train on cpu, cuda, cuda:1 …")] = "cpu",
    out: Annotated[
        Path, typer.Option(help="Folder of records, or an exported .jsonl file to only look at.")
    ] = Path("runs"),
    protocol: _Protocol = "published",
) -> None:
    """Reproduce a table: run what is missing, then set it beside the published one.

    Without a table it tells how much of every table is reproduced so far, and runs nothing.

    `graphgauge reproduce shifts --table 9 --dataset cora-ml --workers 2`
    """
    from graphgauge.cli.running import run
    from graphgauge.errors import InputError
    from graphgauge.report.tables import show_table
    from graphgauge.tables import PAPERS, compare_with_print, table_runs

    if table is None:
        _shares(benchmark, out, protocol)
        return
    if benchmark is None:
        raise InputError(f"--table: of which paper? {', '.join(PAPERS)}")
    names, code = read_names(dataset), 0
    needed = table_runs(benchmark, table, datasets=names, seeds=read_numbers(seeds))
    if needed.methods and _can_train(out):
        try:
            run(
                benchmark,
                dataset=list(needed.datasets),
                setting=list(needed.settings),
                method=list(needed.methods),
                seeds=seeds,
                protocol=protocol,
                workers=workers,
                device=device,
                out=out,
            )
        except typer.Exit as stop:
            # What failed is told by the table; an interruption is one.
            code = stop.exit_code
    if code <= 1:
        records = _load(out) if out.exists() else ()
        show_table(compare_with_print(benchmark, table, records, protocol=protocol, datasets=names))
    if code:
        raise typer.Exit(code)


def _can_train(out: Path) -> bool:
    from importlib.util import find_spec

    if out.is_file():
        return False
    if find_spec("torch") is None:
        told = 'nothing is run: training needs torch, pip install "graphgauge[train]"'
        typer.echo(told, err=True)
        return False
    return True


def _shares(benchmark: str | None, out: Path, protocol: str) -> None:
    from graphgauge.report.tables import show_shares
    from graphgauge.tables import PAPERS, compare_with_print, paper

    records = list(_load(out)) if out.exists() else []
    papers = [paper(name) for name in ([benchmark] if benchmark else PAPERS)]
    show_shares(
        compare_with_print(whose.name, number, records, protocol=protocol)
        for whose in papers
        for number in whose.tables
    )


def _load(path: Path | None) -> Iterable[Record]:
    from graphgauge.records import Records

    return () if path is None else Records.load(path)


def _show(found: Table, format_: str, out: Path | None) -> None:
    from graphgauge.errors import InputError
    from graphgauge.tables import FORMATS, to_csv, to_latex, to_markdown

    if format_ not in FORMATS:
        raise InputError(f"--format: {format_!r} is none of {', '.join(FORMATS)}")
    if format_ == "terminal":
        from graphgauge.report.tables import show_table

        if out is not None:
            raise InputError("--out: say --format md, latex, csv or html")
        show_table(found)
        return
    if format_ == "html":
        from graphgauge.report.tables import table_page

        text = table_page(found)
    else:
        text = {"md": to_markdown, "latex": to_latex, "csv": to_csv}[format_](found)
    if out is None:
        typer.echo(text, nl=False)
        return
    from graphgauge.archive import write_atomically

    write_atomically(out, lambda file: file.write(text.encode()))
