"""How a table is laid out for people: a panel a setting, a row a method or a data set."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphgauge.datasets import CARDS
from graphgauge.tables.blocks import Cell
from graphgauge.tables.figures import Place, method_titles
from graphgauge.tables.spec import OUTCOMES, Block
from graphgauge.tables.table import Table
from graphgauge.tables.verdict import Verdict

__all__ = ["MARKS", "SIGNS", "Panel", "Shown", "panels", "remarks"]

MARKS = {
    Verdict.REPRODUCED: "✔",
    Verdict.DIFFERS: "✘",
    Verdict.NOT_RUN: "",
    Verdict.TOO_FEW: "?",
    Verdict.ERRATUM: "▲",
    Verdict.NOT_PRINTED: "",
}
"""Signs of the verdicts."""
SIGNS = "✔ reproduced, ✘ differs, ▲ the printed figure is void, ? too few runs; no sign: not run."

# Pairs are laid out as a matrix when they are this many.
_MATRIX = 9
# From the worst: what three counts say together is what the worst of them says.
_WORST = (
    Verdict.DIFFERS,
    Verdict.ERRATUM,
    Verdict.TOO_FEW,
    Verdict.NOT_RUN,
    Verdict.NOT_PRINTED,
    Verdict.REPRODUCED,
)


@dataclass(frozen=True)
class Shown:
    """What a cell looks like: ours, theirs, the verdict, and what is missing."""

    ours: str
    printed: str
    verdict: Verdict
    told: str = ""


@dataclass(frozen=True)
class Panel:
    """Part of a table that is one rectangle; a row holds None where the paper has no number."""

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Shown | None, ...]], ...]


def panels(table: Table) -> tuple[Panel, ...]:
    """Lay out a table.

    Examples
    --------
    >>> from graphgauge.tables.table import compare_with_print
    >>> panel = panels(compare_with_print("shifts", 9))[0]
    >>> panel.title, panel.columns, panel.rows[0][0], panel.rows[0][1][0].printed
    ('Popularity', ('Accuracy ID', 'Accuracy OOD'), 'ERM', '85.80 ± 1.10')
    """
    groups: dict[tuple[object, ...], list[tuple[Block, Cell]]] = {}
    for block, cells in zip(table.spec.blocks, table.cells, strict=True):
        for cell in cells:
            key = (cell.place.setting, _shared(block), block.pairs)
            groups.setdefault(key, []).append((block, cell))
    return tuple(_panel(table, found) for found in groups.values())


def remarks(table: Table) -> tuple[str, ...]:
    """Say once what is to be said of cells, and of how many."""
    said = Counter(note for cell in table for note in cell.notes)
    bases = Counter(cell.known for cell in table if cell.known)
    for known, n in bases.items():
        # What print gives on the same stands in the cells; here it would be a line each.
        said[
            f"on {', '.join(known)} alone, and so is what stands in brackets where print allows it"
        ] = n
    return tuple(f"{note} ({n} cell{'s' * (n > 1)})" for note, n in said.items())


def _panel(table: Table, found: Sequence[tuple[Block, Cell]]) -> Panel:
    namer = _Namer(table, [block for block, _ in found])
    grid: dict[str, dict[str, list[Cell]]] = {}
    for block, cell in found:
        row, column = namer.row(cell.place, block), namer.column(cell.place, block)
        grid.setdefault(row, {}).setdefault(column, []).append(cell)
    columns = tuple(dict.fromkeys(column for row in grid.values() for column in row))
    title, common = namer.setting(found[0][1].place), _common([cell for _, cell in found])
    rows = tuple(
        (name, tuple(_shown(row[c], common) if c in row else None for c in columns))
        for name, row in grid.items()
    )
    return Panel(f"{title}: {common}" if common else title, namer.corner, columns, rows)


def _common(cells: Sequence[Cell]) -> str:
    """Return on how many data sets all cells rest, if that can be said once for all."""
    told = {cell.told for cell in cells}
    return told.pop() if len(told) == 1 and all(cell.known for cell in cells) else ""


def _shared(block: Block) -> tuple[str, ...]:
    """Return what blocks in one panel have in common: their rows, unless all rows are variants."""
    return () if all("." in row for row in block.methods) else block.methods


class _Namer:
    """Names of rows and columns: what all cells have in common is left out."""

    def __init__(self, table: Table, blocks: Sequence[Block]) -> None:
        name = table.paper.name
        self.titles = {**table.paper.titles, **method_titles(name)}
        self.variants = method_titles(name, "variant")
        whole = table.paper.table(table.spec.number)
        datasets = {dataset for block in whole.blocks for dataset in block.datasets}
        self.by_dataset = blocks[0].kind not in ("ranks", "win-tie-loss") and len(datasets) > 1
        rows = {row for block in blocks for row in block.methods}
        methods = {row.partition(".")[0] for row in rows}
        self.by_method = len(methods) > 1 or not self.by_dataset
        # Several variants of a method are columns.
        self.by_variant = len(rows) > len(methods)

    @property
    def corner(self) -> str:
        return "Data set" if self.by_dataset else "Method"

    def setting(self, place: Place) -> str:
        named, _, view = place.setting.partition("/")
        told = " + ".join(self.titles.get(s, s) for s in named.split("+"))
        return f"{told}, {view.replace('-', ' ')}" if view else told

    def row(self, place: Place, block: Block) -> str:
        words = []
        if self.by_dataset:
            words.append("Mean" if place.dataset == "all" else CARDS[place.dataset].title)
        if self.by_method and place.method:
            words.append(self.titles.get(place.method, place.method))
        if block.pairs and len(block.pairs) < _MATRIX:
            words.append(self._opponent(place))
        elif place.variant and not block.pairs and not self.by_variant:
            words.append(f"({self._variant(place)})")
        return " ".join(words)

    def column(self, place: Place, block: Block) -> str:
        if len(block.pairs) >= _MATRIX:
            return self._opponent(place)
        if block.kind in ("counts", "splits"):
            name = self.titles.get(place.metric, place.metric.removeprefix("n_"))
            return f"{name} {place.part}".rstrip()
        base, _, last = place.metric.rpartition("_")
        if block.kind == "drops":
            return f"{self.titles[block.metrics[0]]} change, %"
        name = base if last in (*OUTCOMES, "rank") else place.metric
        words = [self.titles[name]]
        if block.kind == "chance":
            words.append(self.titles[place.method])
        # Where the metric names its part, that is enough.
        if place.part not in ("all", *name.split("_")):
            words.append(place.part)
        if place.variant and not block.pairs and self.by_variant:
            words.append(self._variant(place))
        return " ".join(words)

    def _variant(self, place: Place) -> str:
        return self.variants[place.variant]

    def _opponent(self, place: Place) -> str:
        opponent = place.variant.removeprefix("vs-")
        return f"vs {self.titles.get(opponent, opponent)}"


def _shown(cells: Sequence[Cell], common: str) -> Shown:
    """Show a cell, or win, tie and loss as one."""
    verdict = next(v for v in _WORST if any(cell.verdict is v for cell in cells))
    ours = "" if any(math.isnan(cell.ours) for cell in cells) else "/".join(map(_ours, cells))
    told = cells[0].told if cells[0].told != common else ""
    return Shown(ours, "/".join(_printed(cells)), verdict, told)


def _ours(cell: Cell) -> str:
    decimals = cell.figure.decimals if cell.figure.printed else 2
    sd = "" if math.isnan(cell.sd) else f" ± {cell.sd:.{decimals}f}"
    return f"{cell.ours:.{decimals}f}{sd}"


def _printed(cells: Sequence[Cell]) -> Iterator[str]:
    for cell in cells:
        figure = cell.figure
        sd = f" ± {figure.printed_sd}" if figure.printed_sd else ""
        same = math.isnan(cell.beside) or cell.beside == figure.mean
        if same or not figure.printed:
            yield f"{figure.printed}{sd}" if figure.printed else "n/a"
        else:
            yield f"{cell.beside:.{figure.decimals}f}"
