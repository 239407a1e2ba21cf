"""Cora as LINQS published it, as text or Parquet, brought into Planetoid's order of nodes.

LINQS lists papers in an order of its own and calls classes by name. It is the same graph: with
order left aside (`Graph.unordered_fingerprint`) both agree, and the words even come in one order.
So the papers' numbers in Planetoid's order, a small table beside the cards, make either file the
graph that the published splits speak of. The table was found by matching colours (`colours`);
25 papers in ten groups are alike in words, class and links, and within a group their numbers are
assigned by order of appearance, which no result can depend on.

References
----------
Sen et al., Collective Classification in Network Data, AI Magazine 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.archive import answering, check_file
from graphgauge.arrays import IntArray, integers
from graphgauge.columns import load_text
from graphgauge.datasets.card import card
from graphgauge.errors import InputError
from graphgauge.graph import Graph

__all__ = ["linqs_parquet_files", "linqs_text_files", "read_linqs_parquet", "read_linqs_text"]

# What the wheel's Parquet files call the classes 0 to 6.
_CODES = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)
_MOST_BYTES = 2**28


@dataclass(frozen=True, eq=False)
class _Papers:
    """Papers in the order of the file: numbers ``[n]``, words ``[n, f]``, class names ``[n]``."""

    numbers: IntArray
    words: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    links: IntArray


def linqs_text_files(key: str) -> tuple[str, ...]:
    """Name the files of the text form."""
    return (f"{key}.content", f"{key}.cites")


def linqs_parquet_files(key: str) -> tuple[str, ...]:
    """Name the files of the Parquet form."""
    return (f"{key}_nodes.parquet.gzip", f"{key}_rels.parquet.gzip")


def read_linqs_text(folder: Path, key: str) -> Graph:
    """Read ``.content`` (number, words, class a line) and ``.cites`` (two numbers a line)."""
    content, cites = (folder / name for name in linqs_text_files(key))
    check_file(content)
    check_file(cites)
    with answering(content, kind="a table of papers"):
        lines = [line.split(b"\t", 1) for line in content.read_bytes().splitlines()]
        numbers = integers("papers", [int(number) for number, _ in lines], ndim=1)
        words, classes = zip(*(rest.rsplit(b"\t", 1) for _, rest in lines), strict=True)
        table = np.stack([_flags(row) for row in words])
    with answering(cites, kind="a table of links"):
        links = load_text(cites, dtype=np.int64)
    names = np.array([name.decode() for name in classes])
    return _in_order(content, key, _Papers(numbers, table, names, links))


def read_linqs_parquet(folder: Path, key: str) -> Graph:
    """Read the tables of nodes and links, which needs pyarrow."""
    nodes, rels = (folder / name for name in linqs_parquet_files(key))
    table = _parquet(nodes, ("nodeId", "subject", "features"))
    links = _parquet(rels, ("sourceNodeId", "targetNodeId"))
    with answering(nodes, kind="a table of papers"):
        numbers = integers("papers", table["nodeId"], ndim=1)
        names = np.array(_CODES)[integers("classes", table["subject"], ndim=1)]
        words = integers("words", table["features"], ndim=1).reshape(len(numbers), -1)
        pairs = np.stack([integers("links", links[end], ndim=1) for end in links], axis=1)
    return _in_order(nodes, key, _Papers(numbers, words, names, pairs))


def _flags(row: bytes) -> npt.NDArray[np.uint8]:
    """Take ``0<tab>1<tab>0`` apart."""
    signs = np.frombuffer(row, np.uint8)
    flags = signs[::2] - np.uint8(ord("0"))
    if len(signs) % 2 == 0 or (signs[1::2] != ord("\t")).any() or (flags > 1).any():
        raise ValueError("a line holds words that are neither 0 nor 1")
    return flags


def _parquet(path: Path, columns: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise InputError(f"{path}: reading Parquet needs pyarrow (pip install pyarrow)") from None
    check_file(path)
    with answering(path, kind="Parquet"):
        try:
            file = parquet.ParquetFile(path)
            if 8 * _values(file.metadata) > _MOST_BYTES:
                raise ValueError("it would expand too far")
            table = file.read(columns=list(columns), use_threads=False)
            return {name: _flat(table.column(name)) for name in columns}
        except ArrowException as error:
            raise ValueError(str(error)) from None


def _values(about: Any) -> int:
    """Count the values of all columns, those within lists too."""
    groups = map(about.row_group, range(about.num_row_groups))
    return sum(g.column(i).num_values for g in groups for i in range(g.num_columns))


def _flat(column: Any) -> npt.NDArray[Any]:
    whole = column.combine_chunks()
    return np.asarray(whole.flatten() if hasattr(whole, "flatten") else whole)


def _in_order(path: Path, key: str, papers: _Papers) -> Graph:
    """Put the papers in the order of the table."""
    known = card(key)
    ids, names = known.ids, np.array(known.class_names)
    order = np.argsort(papers.numbers)
    numbers = papers.numbers[order]
    if ids is None or not np.array_equal(np.sort(ids), numbers):
        raise InputError(f"{path}: does not list the papers of {known.title}")
    if not (np.isin(papers.classes, names).all() and np.isin(papers.links, numbers).all()):
        raise InputError(f"{path}: names classes, or links papers, that {known.title} has not")
    rows = order[np.searchsorted(numbers, ids)]
    place = np.empty(len(ids), np.int64)
    place[rows] = np.arange(len(ids))
    by_name = np.argsort(names)
    labels = by_name[np.searchsorted(names[by_name], papers.classes[rows])]
    return Graph.from_edges(
        place[order[np.searchsorted(numbers, papers.links)]],
        len(ids),
        directed=True,
        features=sp.csr_array(papers.words[rows].astype(np.float32)),
        labels=labels,
    )
