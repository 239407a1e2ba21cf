"""Tables of the papers as a person reads them: in the terminal and as a page of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from graphgauge.report.html import environment
from graphgauge.report.terminal import plain
from graphgauge.tables import Panel, Paper, Shown, Table, panels, remarks
from graphgauge.tables.layout import MARKS, SIGNS
from graphgauge.tables.verdict import Verdict

__all__ = ["show_shares", "show_table", "show_tables", "table_page"]

_COLOURS = {
    Verdict.REPRODUCED: "green",
    Verdict.DIFFERS: "red",
    Verdict.ERRATUM: "yellow",
    Verdict.TOO_FEW: "yellow",
}
# Classes of the page's style.
_TONES = {
    Verdict.REPRODUCED: "good",
    Verdict.DIFFERS: "bad",
    Verdict.ERRATUM: "caution",
    Verdict.TOO_FEW: "caution",
    Verdict.NOT_RUN: "note",
    Verdict.NOT_PRINTED: "note",
}


def show_table(table: Table) -> None:
    """Print a table, a panel a setting: ours above what was published."""
    console = _console()
    name = f"{table.paper.name} Table {table.spec.number}: {table.spec.title}"
    console.print(name, style="bold")
    console.print("ours above, published below", style="dim")
    for panel in panels(table):
        console.print(_grid(panel))
    console.print(f"  {table.tally}", style="bold")
    for line in (SIGNS, *remarks(table), *table.legend):
        console.print(f"  {plain(line)}", style="dim")


def show_tables(whose: Paper) -> None:
    """Print a row a table of a paper."""
    grid = _empty("", "table", "cells", right=(0, 2))
    for number, spec in whose.tables.items():
        grid.add_row(str(number), spec.title, str(len(spec.places)))
    console = _console()
    console.print(f"{whose.name}: {whose.title}", style="bold")
    console.print(grid)


def show_shares(tables: Iterable[Table]) -> None:
    """Print how much of every table was reproduced."""
    columns = ("", "", "reproduced", "of those run", "cells")
    grid = _empty(*columns, right=(1, 2, 3, 4))
    for table in tables:
        found = table.verdicts
        judged = found[Verdict.REPRODUCED] + found[Verdict.DIFFERS]
        share = f"{100 * found[Verdict.REPRODUCED] / judged:.0f} %" if judged else "–"
        cells = (share, f"{judged:,}", f"{sum(found.values()):,}")
        grid.add_row(table.paper.name, str(table.spec.number), *cells)
    _console().print(grid)


def table_page(table: Table) -> str:
    """Write a table as one page of HTML that stands on its own.

    Examples
    --------
    >>> from graphgauge.tables import compare_with_print
    >>> page = table_page(compare_with_print("shifts", 9))
    >>> "<h1>" in page, "<script" in page
    (True, False)
    """
    template = environment().get_template("table.html.j2")
    return template.render(
        table=table,
        panels=panels(table),
        remarks=remarks(table),
        signs=SIGNS,
        marks=MARKS,
        tones=_TONES,
    )


def _grid(panel: Panel) -> Grid:
    grid = _empty(panel.corner, *panel.columns, right=range(1, 1 + len(panel.columns)))
    grid.title = panel.title
    for name, cells in panel.rows:
        grid.add_row(name, *map(_two_lines, cells))
    return grid


def _two_lines(cell: Shown | None) -> Text:
    if cell is None:
        return Text("")
    mark = f" {MARKS[cell.verdict]}" if MARKS[cell.verdict] else ""
    ours = cell.ours or ("" if cell.told else "–")
    told = f" ({cell.told})" if cell.told else ""
    head = (f"{ours}{told}{mark}".strip(), _COLOURS.get(cell.verdict, "dim"))
    return Text.assemble(head, (f"\n{cell.printed}", "dim"))


def _empty(*columns: str, right: Sequence[int] = ()) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for i, column in enumerate(columns):
        grid.add_column(plain(column), justify="right" if i in right else "left", overflow="fold")
    return grid


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)
