"""Tables of edges: a row an edge, under a header line or without one."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from graphgauge.archive import check_file
from graphgauge.arrays import FloatArray, IntArray, refuse
from graphgauge.columns import Table, TextTable, open_table
from graphgauge.errors import InputError
from graphgauge.exchange.choices import Choices, listed, named_like, the_one
from graphgauge.exchange.links import Links
from graphgauge.exchange.numbering import Numbering
from graphgauge.words import numbers_of

__all__ = ["ENDS", "read_links"]

ENDS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("head", "tail"),
    ("u", "v"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("id1", "id2"),
    ("id_1", "id_2"),
)
"""What two columns of ends are usually called."""

_PLAIN = (".txt", ".edges", ".edgelist")
_LONGEST_LINE = 1_000_000


def read_links(path: Path, choices: Choices, numbering: Numbering, *, known: bool = False) -> Links:
    """Read a table of edges, numbering their ends.

    Parameters
    ----------
    path
        The file.
    choices
        Which columns hold ends and weights, and whether edges lead one way.
    numbering
        Numbers of the nodes; those not met before are added.
    known
        Whether all nodes must have been met before.
    """
    table = _open(path, choices)
    weight = the_one("weight", choices.weight or "", table.columns)
    wanted = [*_ends(table.columns, choices), *([] if weight is None else [weight])]
    number = numbering.find if known else numbering.add
    pairs: list[IntArray] = [np.empty((0, 2), np.int32)]
    weights: list[FloatArray] = [np.empty(0)]
    stranger, done = "", 0
    for source, target, *rest in table.blocks(wanted):
        block = np.stack([number(source), number(target)], axis=1)
        if known and not stranger and (block < 0).any():
            row, end = divmod(int((block < 0).argmax()), 2)
            stranger = (source, target)[end][row][:80]
        weights += [numbers_of(str(weight), words, done=done) for words in rest]
        pairs.append(block)
        done += len(block)
    links = np.concatenate(pairs)
    if known:
        told = f"that the table of nodes lacks, {stranger!r} first"
        refuse("edges", links < 0, f"names a node {told}", f"name nodes {told}")
    else:
        numbering.check(links)
    return Links(links, None if weight is None else np.concatenate(weights), choices.directed)


def _open(path: Path, choices: Choices) -> Table:
    if path.suffix.lower() in (".parquet", ".pq"):
        return open_table(path)
    table = TextTable(path, _layout(path, choices))
    if len(set(table.columns)) < len(table.columns):
        raise InputError("two columns have the same name")
    return table


def _layout(path: Path, choices: Choices) -> tuple[str, Sequence[str], int]:
    """Find delimiter, names of the columns, and the lines before the first edge."""
    try:
        before, lines = _first_lines(path)
        delimiter = next((mark for mark in "\t,;" if mark in lines[0]), " ")
        rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    except (csv.Error, UnicodeError) as error:
        raise InputError(f"cannot be read as a list of edges ({error})") from None
    first, second = ([cell.strip() for cell in row] for row in (*rows, [], [])[:2])
    if _has_header(first, second, path, choices):
        return delimiter, first, before + 1
    return delimiter, list(map(str, range(len(first)))), before


def _first_lines(path: Path) -> tuple[int, list[str]]:
    """Count comments and blank lines at the head, and read two lines behind them."""
    check_file(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = iter(lambda: file.readline(_LONGEST_LINE), "")
        before = 0
        for line in lines:
            if line.strip() and not line.startswith(("#", "%")):
                return before, [line, *itertools.islice(lines, 1)]
            before += 1
    return before, ["source,target"]


def _has_header(first: Sequence[str], second: Sequence[str], path: Path, choices: Choices) -> bool:
    if len(first) < 2:
        raise InputError(f"not a list of edges: its first line has one column ({first[0][:80]})")
    if _whole(first):
        return False
    if choices.edges or _usual_ends(first) or (_whole(second) and len(first) == 2):
        return True
    if path.suffix.lower() in _PLAIN:
        return False
    raise InputError(
        f"nobody says which columns are ends: say --edges SOURCE,TARGET, of {listed(first)}"
    )


def _whole(cells: Sequence[str]) -> bool:
    return len(cells) > 1 and all(cell.lstrip("+-").isdecimal() for cell in cells[:2])


def _usual_ends(columns: Sequence[str]) -> list[str]:
    """Find the columns that are called what ends usually are."""
    place = {name.lower(): name for name in columns}
    found = [pair for pair in ENDS if place.keys() >= set(pair)]
    if len(found) > 1:
        told = " or ".join(map(",".join, found))
        raise InputError(f"several could be ends: say --edges {told}")
    return [place[name] for pair in found for name in pair]


def _ends(columns: Sequence[str], choices: Choices) -> list[str]:
    if choices.edges:
        found = named_like("edges", choices.edges, columns)
        if len(found) != 2:
            raise InputError(f"--edges: expected two columns, got {listed(found)}")
        return found
    found = _usual_ends(columns)
    if not found and (len(columns) == 2 or list(columns[:2]) == ["0", "1"]):
        return list(columns[:2])
    if not found:
        raise InputError(f"say which columns are ends: --edges SOURCE,TARGET, of {listed(columns)}")
    return found
