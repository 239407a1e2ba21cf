"""Tables as text: CSV with a row a printed number, Markdown and LaTeX to be read."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator

from graphgauge.tables.blocks import Cell
from graphgauge.tables.layout import MARKS, SIGNS, Panel, Shown, panels, remarks
from graphgauge.tables.table import Table
from graphgauge.tables.verdict import Verdict

__all__ = ["COLUMNS", "FORMATS", "to_csv", "to_latex", "to_markdown"]

FORMATS = ("terminal", "md", "latex", "csv", "html")
"""How a table can be shown."""

COLUMNS = (
    "table",
    "dataset",
    "setting",
    "split_part",
    "method",
    "variant",
    "metric",
    "ours_mean",
    "ours_sd",
    "n_runs",
    "published_mean",
    "published_sd",
    "verdict",
    "note",
)
"""Of the CSV; the first seven are those of the published figures."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "✔": r"$\surd$",
    "✘": r"$\times$",
    "▲": r"$\triangle$",
    "±": r"$\pm$",
    "√": r"$\surd$",
    "≥": r"$\geq$",
    "²": r"$^2$",
    "₁": r"$_1$",
    "₂": r"$_2$",
}
_LATEX_MARKS = {
    Verdict.REPRODUCED: r" $\surd$",
    Verdict.DIFFERS: r" $\times$",
    Verdict.TOO_FEW: " ?",
    Verdict.ERRATUM: r" $\triangle$",
}


def to_csv(table: Table) -> str:
    """Write a row a printed number: percentages, unrounded where they are ours.

    Examples
    --------
    >>> from graphgauge.tables.table import compare_with_print
    >>> to_csv(compare_with_print("shifts", 9)).splitlines()[1]
    '9,cora-ml,popularity-50,ID,erm,,accuracy,,,0,85.80,1.10,not run,'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_row, table))
    return text.getvalue()


def _row(cell: Cell) -> tuple[object, ...]:
    numbers = (_digits(cell.ours), _digits(cell.sd), cell.n_runs)
    printed = (cell.figure.printed, cell.figure.printed_sd)
    return (*cell.place, *numbers, *printed, str(cell.verdict), cell.note)


def _digits(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.12g}"


def to_markdown(table: Table) -> str:
    """Write a heading, a table a setting, and how to read it.

    Examples
    --------
    >>> from graphgauge.tables.table import compare_with_print
    >>> print(to_markdown(compare_with_print("shifts", 16)).splitlines()[6])
    | SE | – (75.67 ± 0.85) |
    """
    return "\n".join(_markdown(table)) + "\n"


def _markdown(table: Table) -> Iterator[str]:
    yield f"## {table.paper.name} Table {table.spec.number}: {table.spec.title}"
    for panel in panels(table):
        yield ""
        if panel.title:
            yield from (f"### {panel.title}", "")
        yield f"| {' | '.join((panel.corner, *panel.columns))} |"
        yield f"|---{'|---:' * len(panel.columns)}|"
        for name, cells in panel.rows:
            yield f"| {' | '.join((name, *map(_plain, cells)))} |"
    yield from ("", f"Ours (published): {table.tally}.", "")
    for line in (SIGNS, *remarks(table), *table.legend):
        yield f"- {line.replace('|', chr(92) + '|').replace('<', '&lt;')}"


def _plain(cell: Shown | None) -> str:
    if cell is None:
        return ""
    told = f", {cell.told}" if cell.told else ""
    return f"{cell.ours or '–'} ({cell.printed}{told}) {MARKS[cell.verdict]}".rstrip()


def to_latex(table: Table) -> str:
    """Write a ``table`` with a ``tabular`` a setting; needs ``booktabs``."""
    return "\n".join(_latex(table)) + "\n"


def _latex(table: Table) -> Iterator[str]:
    yield from (r"\begin{table}", r"\centering", r"\small")
    name = f"{table.paper.name} Table {table.spec.number}: {table.spec.title}."
    told = f"Ours (published): {table.tally}."
    yield rf"\caption{{{_tex(name)} {_tex(told)}}}"
    for panel in panels(table):
        yield from _tabular(panel)
    for line in (SIGNS, *remarks(table), *table.legend):
        yield rf"\par {_tex(line)}"
    yield r"\end{table}"


def _tabular(panel: Panel) -> Iterator[str]:
    columns = len(panel.columns)
    yield rf"\begin{{tabular}}{{l{'r' * columns}}}"
    yield r"\toprule"
    if panel.title:
        yield rf"\multicolumn{{{columns + 1}}}{{l}}{{{_tex(panel.title)}}} \\"
    yield rf"{' & '.join(map(_tex, (panel.corner, *panel.columns)))} \\"
    yield r"\midrule"
    for name, cells in panel.rows:
        yield rf"{' & '.join((_tex(name), *map(_entry, cells)))} \\"
    yield from (r"\bottomrule", r"\end{tabular}", "")


def _entry(cell: Shown | None) -> str:
    if cell is None:
        return ""
    told = f", {cell.told}" if cell.told else ""
    mark = _LATEX_MARKS.get(cell.verdict, "")
    return f"{_tex(cell.ours) or '--'} ({_tex(cell.printed + told)}){mark}"


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)
