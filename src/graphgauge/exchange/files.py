"""Files of graphs, told apart by name and content."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from graphgauge.archive import check_file
from graphgauge.errors import InputError
from graphgauge.exchange.choices import Choices
from graphgauge.exchange.graphml import read_graphml
from graphgauge.exchange.imported import Imported, Source
from graphgauge.exchange.matlab import read_matrices
from graphgauge.exchange.matrices import graph_of_matrices
from graphgauge.exchange.npz import read_npz
from graphgauge.exchange.tables import read_tables
from graphgauge.formats import naming
from graphgauge.graph import Graph

__all__ = ["import_files", "read_graph"]

_NAMES = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".edges", ".edgelist", ".parquet", ".pq"), "table"),
    ".graphml": "GraphML",
    ".mat": "MATLAB",
    ".npz": "npz",
}
# How files begin that are never read, and what to do instead.
_REFUSED = {
    b"\x1f\x8b": "is compressed by gzip; unpack it first",
    b"BZh": "is compressed by bzip2; unpack it first",
    b"\xfd7zXZ": "is compressed by xz; unpack it first",
    b"\x80": "looks like a pickle, which is never read; convert it with what wrote it",
}
_KINDS = {
    b"PK": "npz",
    b"MATLAB": "MATLAB",
    b"\x89HDF": "MATLAB",
    b"<": "GraphML",
    b"PAR1": "table",
}
_HEAD = 512


def read_graph(path: str | os.PathLike[str], **choices: Any) -> Graph:
    r"""Read a graph from a file of any kind.

    Lists of edges (``.csv``, ``.tsv``, ``.txt``, ``.edges``, ``.parquet``), alone or beside a
    table of nodes; GraphML; ``.mat`` of MATLAB 5; ``.npz`` with a saved graph or with arrays. What
    of them is what is told by names that everybody uses, or by `choices`; nothing is guessed.

    Parameters
    ----------
    path
        The file.
    choices
        ``nodes``, ``ids``, ``label``, ``features``, ``edges``, ``weight`` and ``directed``, as in
        `Choices`.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("source,target\ntom,rex\nrex,ann\n")
    >>> graph = read_graph(folder / "edges.csv")
    >>> graph.ids.tolist(), graph.edges.tolist()
    (['ann', 'rex', 'tom'], [[0, 1], [1, 2]])
    """
    return import_files([path], Choices(**choices)).graph


def import_files(paths: Sequence[str | os.PathLike[str]], choices: Choices) -> Imported:
    """Read a graph, and tell what was understood; several files are lists of its edges."""
    files = [Path(path) for path in paths]
    kinds = []
    for file in files:
        with naming(file):
            kinds.append(_kind(file))
    if set(kinds) == {"table"}:
        return read_tables(files, choices)
    if len(files) != 1:
        raise InputError(f"{files[0]}: of several files, all must be lists of edges")
    with naming(files[0]):
        return _READERS[kinds[0]](files[0], choices)


def _kind(path: Path) -> str:
    """Tell the kind of a file by its name; where that says nothing, by how it begins."""
    check_file(path)
    with path.open("rb") as file:
        head = file.read(_HEAD)
    for mark, told in _REFUSED.items():
        if head.startswith(mark):
            raise InputError(told)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    held = next((kind for mark, kind in _KINDS.items() if text.startswith(mark)), None)
    kind = _NAMES.get(path.suffix.lower(), held)
    if kind is None or (kind == held == "table" and path.suffix.lower() not in _NAMES):
        raise InputError(f"is of no kind that is known; expected {', '.join(_NAMES)}")
    if held not in (kind, None):
        raise InputError(f"is called {path.suffix} but looks like {held}")
    return kind


def _read_mat(path: Path, choices: Choices) -> Imported:
    choices.apply_to("MATLAB files", "edges", "features", "label")
    return graph_of_matrices(Source("MATLAB", path.stem), read_matrices(path), choices)


_READERS: Mapping[str, Callable[[Path, Choices], Imported]] = {
    "GraphML": read_graphml,
    "MATLAB": _read_mat,
    "npz": read_npz,
}
