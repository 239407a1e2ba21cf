"""The papers' tables, with ours beside them."""

from __future__ import annotations

from graphgauge.tables.blocks import Cell
from graphgauge.tables.figures import Figure, Place, method_titles, published_figures
from graphgauge.tables.layout import Panel, Shown, panels, remarks
from graphgauge.tables.reading import PAPERS, paper
from graphgauge.tables.spec import Block, Erratum, Paper, TableSpec
from graphgauge.tables.table import Table, TableRuns, compare_with_print, table_runs
from graphgauge.tables.texts import COLUMNS, FORMATS, to_csv, to_latex, to_markdown
from graphgauge.tables.verdict import RULE, Side, Verdict, combined_sd, judge

__all__ = [
    "COLUMNS",
    "FORMATS",
    "PAPERS",
    "RULE",
    "Block",
    "Cell",
    "Erratum",
    "Figure",
    "Panel",
    "Paper",
    "Place",
    "Shown",
    "Side",
    "Table",
    "TableRuns",
    "TableSpec",
    "Verdict",
    "combined_sd",
    "compare_with_print",
    "judge",
    "method_titles",
    "panels",
    "paper",
    "published_figures",
    "remarks",
    "table_runs",
    "to_csv",
    "to_latex",
    "to_markdown",
]
