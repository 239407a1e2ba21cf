"""Graphs made of matrices: an adjacency, and features and classes beside it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.arrays import IntArray, floats, integers, refuse
from graphgauge.errors import InputError
from graphgauge.exchange.choices import Choices, listed, the_one, the_usual
from graphgauge.exchange.classes import class_numbers
from graphgauge.exchange.imported import Imported, Source
from graphgauge.exchange.matlab import Matrix
from graphgauge.exchange.numbering import ids_of
from graphgauge.graph import Graph

__all__ = ["USUAL", "chosen_matrix", "from_scipy", "graph_of_matrices", "n_rows"]

USUAL: Mapping[str, Sequence[str]] = {
    "edges": ("a", "adj", "adjacency", "network", "net", "edge_index"),
    "features": ("x", "attr", "attrb", "attributes", "features"),
    "label": ("y", "label", "labels", "group", "class"),
}
"""What the matrices of a graph are usually called, by the option that names another."""


def from_scipy(
    adjacency: object,
    *,
    features: object = None,
    labels: Sequence[object] | npt.NDArray[Any] | None = None,
    ids: Sequence[Hashable] | None = None,
    name: str = "",
) -> Graph:
    """Make a graph of a SciPy matrix, sparse or dense.

    Parameters
    ----------
    adjacency
        Square; an entry ``[u, v]`` that is not zero is an edge from u to v of that weight.
    features
        A row a node, sparse or dense, or None.
    labels
        A class a node, numbers or words; -1, NaN or ``""`` where it is not known.
    ids
        What every node is called: anything that can be told apart as text.
    name
        What to call the graph.

    Examples
    --------
    >>> graph = from_scipy([[0, 1], [1, 0]], labels=["dog", "cat"], ids=["rex", "tom"])
    >>> graph.labels.tolist(), graph.class_names, graph.ids.tolist()
    ([1, 0], ('cat', 'dog'), ['rex', 'tom'])
    """
    matrix = _entries("adjacency", adjacency)
    numbers, class_names = (None, ()) if labels is None else _classes(labels)
    called = None if ids is None else ids_of(list(ids))
    return Graph(matrix, features, numbers, name, ids=called, class_names=class_names)


def graph_of_matrices(source: Source, matrices: Mapping[str, Matrix], choices: Choices) -> Imported:
    """Make a graph of the matrices of a file, chosen by name."""
    found = {option: chosen_matrix(option, matrices, choices) for option in USUAL}
    if found["edges"] is None:
        raise InputError(f"say which matrix holds the edges: --edges NAME, of {_shapes(matrices)}")
    adjacency, features, labels = (matrices.get(name or "") for name in found.values())
    graph = from_scipy(
        adjacency,
        features=features,
        labels=None if labels is None else _of_rows(str(found["label"]), labels),
        name=source.name,
    )
    return Imported(graph, source)


def chosen_matrix(option: str, matrices: Mapping[str, Matrix], choices: Choices) -> str | None:
    """Choose the matrix for one thing by its name, or None."""
    names, wanted = list(matrices), getattr(choices, option)
    if wanted is None:
        return the_usual(option, USUAL[option], names)
    return the_one(option, wanted, names)


def _entries(name: str, matrix: object) -> sp.csr_array:
    """Drop stored zeros, which are no edges."""
    sparse = sp.csr_array(matrix if sp.issparse(matrix) else floats(name, matrix, ndim=2))
    if not sparse.data.all():
        sparse = sparse.copy()
        sparse.eliminate_zeros()
    return sparse


def _classes(labels: Sequence[object] | npt.NDArray[Any]) -> tuple[IntArray, tuple[str, ...]]:
    try:
        array = np.asarray(labels)
    except ValueError:
        raise InputError("labels: not a class a node, but lists of several lengths") from None
    if array.ndim != 1:
        raise InputError(f"labels: has {array.ndim} axes (shape {array.shape}), expected one")
    if array.dtype.kind not in "fiub":
        return class_numbers("" if label is None else str(label) for label in labels)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1, array)
    return class_numbers(map(str, integers("labels", array, ndim=1).tolist()))


def _of_rows(name: str, matrix: Matrix) -> npt.NDArray[Any]:
    """Read a class a node from a row or a column of classes, or from a column a class."""
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "U":
        return matrix.ravel()
    if _is_line(matrix):
        return np.asarray(floats(name, matrix, ndim=matrix.ndim, finite=False)).ravel()
    rows = _entries(name, matrix)
    counts = np.diff(rows.indptr)
    refuse(name, counts > 1, "has several classes", "have several classes")
    labels = np.full(rows.shape[0], -1)
    labels[counts == 1] = rows.indices
    return labels


def n_rows(labels: Matrix) -> int:
    """Count the nodes that a matrix gives classes to."""
    return math.prod(labels.shape) if _is_line(labels) else int(labels.shape[0])


def _is_line(matrix: Matrix) -> bool:
    return matrix.ndim == 1 or 1 in matrix.shape


def _shapes(matrices: Mapping[str, Matrix]) -> str:
    return listed([f"{name} {matrix.shape}" for name, matrix in matrices.items()])
