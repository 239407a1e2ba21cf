"""The papers' tables, with ours beside them."""

from __future__ import annotations

from graphgauge.tables.blocks import Cell
from graphgauge.tables.figures import Figure, Place, method_titles, published_figures
from graphgauge.tables.layout import Panel, Shown, panels, remarks
from graphgauge.tables.spec import PAPERS, Block, Erratum, Paper, TableSpec, paper
from graphgauge.tables.table import Table, compare_with_print
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
    "to_csv",
    "to_latex",
    "to_markdown",
]
