"""What all commands share: JSON to a file or to standard output, and progress for a person."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO, cast

import typer

__all__ = ["printed", "progress", "unheard", "write_json"]


def write_json(json: Path | None, document: dict[str, Any]) -> None:
    """Write a document to a file, to standard output for ``-``, or nowhere for None."""
    if json is None:
        return
    from graphgauge.archive import write_atomically
    from graphgauge.report.summarize import to_json

    text = to_json(document)
    if printed(json):
        typer.echo(text, nl=False)
    else:
        write_atomically(json, lambda file: file.write(text.encode()))


def printed(json: Path | None) -> bool:
    """Tell whether JSON goes to standard output, which must then hold nothing else."""
    return json is not None and str(json) == "-"


def unheard(stream: TextIO) -> TextIO:
    """Return a stream that goes on when whoever reads it has closed it.

    What a command writes, and the exit code it returns, must not depend on how much of what it
    prints is read: Click and Rich would both exit with 1, which says that a gate failed.
    """
    return cast(TextIO, _Unheard(stream))


class _Unheard:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            return self._to_nowhere(len(text))

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._to_nowhere(0)

    def _to_nowhere(self, n: int) -> int:
        # What is still in the buffer is flushed at exit, and must find an open file there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
        return n


@contextlib.contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show the stage and the time it takes, on standard error and only where a person looks."""
    if not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(20),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda stage: bar.update(task, description=stage)
