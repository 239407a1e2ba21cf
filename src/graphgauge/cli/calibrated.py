"""Calibration and sets as a person reads them in the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphgauge.report.terminal import plain
from graphgauge.report.wording import number, percent

if TYPE_CHECKING:
    from graphgauge.calibration import Effect
    from graphgauge.calibration.conformal import SetRow

__all__ = ["show_effects", "show_saved", "show_sets"]


def show_effects(document: Mapping[str, Any], rows: Sequence[Effect]) -> None:
    """Print what was learned, and every metric before and after, part by part."""
    learned = ", ".join(f"{name} {number(value)}" for name, value in document["learned"].items())
    told = f"{plain(document['method'])}, fitted on {plain(document['part'])}"
    console = _console()
    console.print(f"{told}: {learned}" if learned else told, style="bold")
    table = _table("part", "", "before", "after", "a calibrated model", right=(2, 3, 4))
    part = ""
    for row in rows:
        if row.part != part:
            table.add_row(Text(f"{plain(row.part)} ({row.n:,})", "bold"))
            part = row.part
        write = percent if row.low is not None else number
        band = "" if row.low is None else f"{percent(row.low)} … {percent(row.high)}"
        name = row.metric.partition("(")[0]
        after = Text(_told(row.after, write), "yellow" if _above(row) else "")
        table.add_row("", name, _told(row.before, write), after, band)
    console.print(table)


def show_sets(document: Mapping[str, Any], rows: Sequence[SetRow]) -> None:
    """Print coverage and size part by part, and what does not hold."""
    console = _console()
    told = f"{plain(document['score'])} sets, {percent(document['level'])} promised"
    fitted = f"fitted on {plain(document['part'])} ({document['n']:,})"
    console.print(f"{told}, {fitted}", style="bold")
    table = _table("part", "nodes", "coverage", "expected", "mean size", "empty", right=range(1, 6))
    for row in rows:
        name = Text(f"  {row.by} {plain(row.group)}") if row.by else Text(plain(row.part), "bold")
        expected = "" if row.low is None else f"{percent(row.low)} … {percent(row.high)}"
        covered = Text(percent(row.coverage), "yellow" if _misses(row) else "")
        table.add_row(name, f"{row.n:,}", covered, expected, number(row.size), percent(row.empty))
    console.print(table)
    for remark in document["remarks"]:
        console.print(Text(f"▲ {plain(remark)}", "yellow"))


def show_saved(what: str, path: Path) -> None:
    """Tell where something is."""
    told = Text.assemble(f"{what}: ", (plain(str(path)), "bold underline"))
    _console().print(told, soft_wrap=True)


def _above(row: Effect) -> bool:
    return row.high is not None and row.after > row.high


def _misses(row: SetRow) -> bool:
    return row.low is not None and row.coverage < row.low


def _told(value: float, write: Any) -> str:
    return "∞" if math.isinf(value) else str(write(value))


def _table(*columns: str, right: Sequence[int]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i in right else "left", no_wrap=i > 0)
    return table


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)
