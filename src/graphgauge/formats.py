"""Files of predictions and edges: ``.npz``, CSV and Parquet, told apart by name and header.

Tables hold one column a class, named ``prob_<class>``, and a column ``label`` with the class (or
-1, or nothing, where it is unknown); links hold ``pos`` beside ``neg_<i>``, or ``score`` beside
``positive`` (1 or 0). Columns with other names are not guessed at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from graphgauge.archive import check_file, open_npz
from graphgauge.arrays import BoolArray, IntArray, integers, refuse
from graphgauge.columns import Table, load_text, open_table
from graphgauge.errors import InputError, name_rows
from graphgauge.graph import Graph
from graphgauge.parts import parts_from_codes
from graphgauge.predictions import LinkPredictions, NodePredictions

__all__ = ["check_count", "count_nodes", "naming", "read_edges", "read_predictions"]

_UNCERTAINTIES = ("total", "data", "knowledge")
_UNKNOWN = ("", "-1", "nan", "none", "null")
# A graph needs memory for each node, and a node that no edge names costs a file nothing.
_MOST_NODES, _NODES_AN_EDGE = 2**23, 64


def read_predictions(path: str | os.PathLike[str]) -> NodePredictions | LinkPredictions:
    """Read a file of predictions: of nodes where it holds ``probs``, of links where ``pos``."""
    path = Path(path)
    with naming(path):
        return _read_predictions(path)


def read_edges(path: str | os.PathLike[str], n_nodes: int | None = None) -> Graph:
    """Read a graph: one that `Graph.save` wrote, an ``edge_index`` [2, e], or two columns.

    Parameters
    ----------
    path
        The file.
    n_nodes
        How many nodes there are; None takes the largest that an edge names.
    """
    path = Path(path)
    with naming(path):
        found = _read_graph(path)
        if isinstance(found, Graph):
            if n_nodes is not None and found.n_nodes != n_nodes:
                raise InputError(f"has {found.n_nodes} nodes, expected {n_nodes}")
            return found
        return Graph.from_edges(
            found, count_nodes(found) if n_nodes is None else n_nodes, directed=True
        )


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let errors name the file, wherever they arise."""
    try:
        yield
    except InputError as error:
        told = str(error)
        name = " ".join(str(path).split())
        raise InputError(told if told.startswith(name) else f"{name}: {told}") from None


def _read_predictions(path: Path) -> NodePredictions | LinkPredictions:
    if path.suffix.lower() in (".csv", ".tsv", ".txt", ".parquet", ".pq"):
        table = open_table(path)
        is_link = "pos" in table.columns or "score" in table.columns
        return _links(path, table) if is_link else _nodes(path, table)
    names = open_npz(path)
    if "probs" in names:
        return NodePredictions.load(path)
    if "pos" in names:
        return LinkPredictions.load(path)
    found = ", ".join(sorted(names)[:8]) or "nothing"
    raise InputError(f"holds neither probs (nodes) nor pos and neg (links); found: {found}")


def _read_graph(path: Path) -> Graph | IntArray:
    """Read a saved graph, or pairs ``[e, 2]``."""
    if path.suffix.lower() in (".parquet", ".pq"):
        table = open_table(path)
        return integers("edges", table.numbers(table.columns[:2]), ndim=2)
    if path.suffix.lower() in (".csv", ".tsv", ".txt", ".edges"):
        return _read_pairs(path)
    stored = open_npz(path)
    if "graph" in stored:
        return Graph.load(path)
    if "edge_index" not in stored:
        raise InputError("holds neither a graph nor edge_index")
    return integers("edge_index", stored["edge_index"].read(), ndim=2).T


def count_nodes(edges: IntArray) -> int:
    """Count nodes up to the largest that is named, unless most of them would have no edge."""
    n_nodes = int(edges.max()) + 1 if edges.size else 0
    if _mostly_alone(n_nodes, edges):
        raise InputError(
            f"names node {n_nodes - 1}, too many for {len(edges)} edges; "
            "number the nodes from 0 without gaps"
        )
    return n_nodes


def check_count(n_nodes: int, edges: IntArray) -> int:
    """Return a number of nodes that a file claims, unless most of them would have no edge."""
    if _mostly_alone(n_nodes, edges):
        raise InputError(f"{n_nodes} nodes are too many for {len(edges)} edges")
    return n_nodes


def _mostly_alone(n_nodes: int, edges: IntArray) -> bool:
    return n_nodes > max(_MOST_NODES, _NODES_AN_EDGE * len(edges))


def _nodes(path: Path, table: Table) -> NodePredictions:
    classes = [name for name in table.columns if name.startswith("prob_")]
    label = next((name for name in ("label", "labels") if name in table.columns), None)
    if not classes or label is None:
        raise InputError(
            f"{path}: expected one column prob_<class> for each class and a column label; "
            f"found: {', '.join(table.columns[:8])}"
        )
    return NodePredictions(
        table.numbers(classes),
        _class_numbers(table.words(label), [name.removeprefix("prob_") for name in classes]),
        _parts(table),
        uncertainties={u: table.numbers([u])[:, 0] for u in _UNCERTAINTIES if u in table.columns},
        name=str(path),
    )


def _links(path: Path, table: Table) -> LinkPredictions:
    negatives = [name for name in table.columns if name.startswith("neg_")]
    ends = None
    if {"source", "target"} <= set(table.columns):
        ends = integers("source and target", table.numbers(["source", "target"]), ndim=2)
    if "pos" in table.columns and negatives:
        pos = table.numbers(["pos"])[:, 0]
        return LinkPredictions(pos, table.numbers(negatives), _parts(table), ends, name=str(path))
    if not {"score", "positive"} <= set(table.columns):
        raise InputError(
            f"{path}: expected pos with neg_<i>, or score with positive; "
            f"found: {', '.join(table.columns[:8])}"
        )
    score, positive = table.numbers(["score", "positive"]).T
    refuse("positive", (positive != 0) & (positive != 1), "is not 0 or 1", "are not 0 or 1")
    is_positive = positive == 1
    parts = _part_of_pairs(table, is_positive)
    pos, neg = score[is_positive], score[~is_positive]
    if ends is None:
        return LinkPredictions(pos, neg, parts, name=str(path))
    pairs = ends[is_positive], ends[~is_positive]
    return LinkPredictions(pos, neg, parts, *pairs, str(path))


def _part_of_pairs(table: Table, is_positive: BoolArray) -> dict[str, IntArray]:
    """Give the positives their part: one at most, since all share the negatives of the table."""
    parts = _parts(table)
    if len(parts) > 1:
        raise InputError(
            f"part: names {', '.join(parts)}; all positives of a list of pairs share its "
            "negatives, so give each part a file of its own"
        )
    place = np.cumsum(is_positive) - 1
    return {name: place[index[is_positive[index]]] for name, index in parts.items()}


def _parts(table: Table) -> dict[str, IntArray]:
    if "part" not in table.columns:
        return {}
    words = table.words("part")
    number = {name: k for k, name in enumerate(sorted(set(words)))}
    return parts_from_codes(list(number), np.array([number[w] for w in words], np.int64))


def _class_numbers(words: Sequence[str], classes: Sequence[str]) -> IntArray:
    """Turn labels into column numbers: a label is the name behind ``prob_``."""
    number = {name: k for k, name in enumerate(classes)}
    number |= {name: -1 for name in _UNKNOWN if name not in number}
    codes = np.array([_class_number(word, number) for word in words], np.int64)
    strange = codes == -2
    if strange.any():
        raise InputError(
            f"label: {int(strange.sum())} labels are no class of the prob_ columns "
            f"({name_rows(strange)})"
        )
    return codes


def _class_number(word: str, number: Mapping[str, int]) -> int:
    """Look a label up as it is written, then as a whole number that was saved as a fraction."""
    plain = word.removesuffix(".0")
    return next((number[w] for w in (word, plain, plain.lower()) if w in number), -2)


def _read_pairs(path: Path) -> IntArray:
    """Read two columns of node numbers; a header line is skipped, further columns are not read."""
    check_file(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            lines = (line for line in file if line.strip() and not line.startswith("#"))
            first = next(lines, "")[:100_000]
        separator = next((s for s in "\t,;" if s in first), None)
        fields = [field.strip() for field in first.split(separator)]
        has_header = not all(f.lstrip("+-").isdecimal() for f in fields[:2])
        pairs = load_text(
            path,
            dtype=np.int64,
            delimiter=separator,
            usecols=(0, 1),
            skiprows=_lines_before(path, int(has_header)),
        )
    except (OSError, ValueError, IndexError) as error:
        raise InputError(f"{path}: not a list of edges ({str(error)[:200]})") from None
    return pairs.reshape(-1, 2)


def _lines_before(path: Path, n_headers: int) -> int:
    """Count the lines up to and including the header, comments and blank lines among them."""
    if not n_headers:
        return 0
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if line.strip() and not line.startswith("#"):
                return number
    return 0
