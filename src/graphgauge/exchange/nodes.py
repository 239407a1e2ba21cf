"""Tables of nodes: a row a node, with an id, features and a class."""

from __future__ import annotations

from pathlib import Path

from graphgauge.columns import Table, open_table
from graphgauge.errors import InputError
from graphgauge.exchange.choices import Choices, listed, the_one, the_usual
from graphgauge.exchange.contents import Contents, choose_contents
from graphgauge.exchange.numbering import Numbering

__all__ = ["IDS", "read_nodes"]

IDS = ("id", "ids", "node", "node_id", "nodeid", "name")
"""What a column of ids is usually called."""


def read_nodes(path: Path, choices: Choices) -> tuple[Numbering, Contents]:
    """Read a table of nodes: the numbers of their ids, and what they carry."""
    table = open_table(path)
    column = _id_column(table, choices)
    words = table.words(column)
    numbering = Numbering()
    numbers = numbering.add(words)
    numbering.check(numbers)
    numbering.check_single(numbers)
    return numbering, choose_contents(table, len(words), choices, ids=column)


def _id_column(table: Table, choices: Choices) -> str:
    found = the_one("ids", choices.ids or "", table.columns)
    found = found or the_usual("ids", IDS, table.columns)
    if found is None:
        there = listed(table.columns)
        raise InputError(f"no column is called id: say --ids NAME, one of {there}")
    return found
