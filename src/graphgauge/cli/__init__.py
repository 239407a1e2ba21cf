"""The command line: arguments in, exit code out. 0 is good, 1 a failed gate, 2 bad input.

Nothing heavy is imported before a command runs, so that help and completion are instant.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from graphgauge.cli import (
    calibrating,
    data,
    demo,
    importing,
    judging,
    running,
    shifting,
    splitting,
    tables,
)
from graphgauge.cli.output import unheard

__all__ = ["app", "main"]

app = typer.Typer(
    name="graphgauge",
    help="Measure how far a graph model can be trusted, from nothing but its predictions.",
    invoke_without_command=True,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"graphgauge {installed('graphgauge')}")
        raise typer.Exit


for _command in (judging.score, judging.compare, judging.audit, demo.demo):
    app.command()(_command)
app.command(name="metrics")(judging.list_metrics)
app.command()(calibrating.calibrate)
app.command()(calibrating.conformal)
data.data.command(name="import")(importing.import_graph)
app.add_typer(data.data, name="data")
app.command()(splitting.split)
app.add_typer(shifting.shift, name="shift")
app.command()(running.run)
app.add_typer(running.records, name="records")
app.command()(tables.table)
app.command()(tables.reproduce)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        with contextlib.redirect_stdout(unheard(sys.stdout)):
            app(args=None if arguments is None else list(arguments), prog_name="graphgauge")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except ValueError as error:
        from graphgauge.errors import InputError

        if not isinstance(error, InputError):
            raise
        _tell_error(str(error))
    except MemoryError:
        _tell_error("not enough memory for this input")
    return 2


def _tell_error(message: str) -> None:
    from graphgauge.report.terminal import plain

    typer.secho("error: ", fg=typer.colors.RED, bold=True, nl=False, err=True)
    typer.echo(plain(message), err=True)
