"""The citation graphs of Planetoid: eight files each, pickles of Python 2.

Nodes come in the order of the published splits: first those of ``allx``, then the test nodes at
the places that ``test.index`` names. Places that it skips (15 in CiteSeer) are nodes of the graph
all the same; they get features of zeros and class 0, as everybody's reading of zeros as a one-hot
row has it.

References
----------
Yang, Cohen and Salakhutdinov, Revisiting Semi-Supervised Learning with Graph Embeddings, 2016.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.archive import answering, check_file
from graphgauge.arrays import IntArray, integers
from graphgauge.columns import load_text
from graphgauge.datasets.pickles import Unfinished, read_pickle
from graphgauge.errors import InputError
from graphgauge.graph import Graph, sparse_rows

__all__ = ["planetoid_files", "read_planetoid"]

_PARTS = ("allx", "tx", "ally", "ty", "graph", "test.index")
# A place that test.index skips costs memory and a file nothing.
_PLACES_A_ROW = 64


def planetoid_files(key: str) -> tuple[str, ...]:
    """Name the files of one graph that are read; ``x`` and ``y`` only repeat rows of ``allx``.

    Examples
    --------
    >>> planetoid_files("cora")[0]
    'ind.cora.allx'
    """
    return tuple(f"ind.{key}.{part}" for part in _PARTS)


def read_planetoid(folder: Path, key: str) -> Graph:
    """Read the graph as published: links in both directions, with loops and repetitions."""
    allx, tx, ally, ty, links, index = (folder / name for name in planetoid_files(key))
    features = [_features(allx), _features(tx)]
    labels = [_classes(ally), _classes(ty)]
    for rows, classes, path in zip(features, labels, (ally, ty), strict=True):
        if rows.shape[0] != len(classes):
            raise InputError(f"{path}: labels {len(classes)} nodes of {rows.shape[0]}")
    if features[0].shape[1] != features[1].shape[1]:
        raise InputError(f"{tx}: has {features[1].shape[1]} columns, allx {features[0].shape[1]}")
    places = _places(index, features[0].shape[0], features[1].shape[0])
    n_nodes = int(places.max(initial=-1)) + 1
    return Graph.from_edges(
        _links(links),
        n_nodes,
        directed=True,
        features=_moved(sp.vstack(features), places, n_nodes),
        labels=_put(np.concatenate(labels), places, n_nodes),
        name=key,
    )


def _places(path: Path, n_known: int, n_test: int) -> IntArray:
    """Return the node of every row: known ones in order, test ones as the index says."""
    check_file(path)
    with answering(path, kind="a list of nodes"):
        test = integers("test.index", load_text(path, dtype=np.int64, max_rows=n_test + 1), ndim=2)
    test = test.ravel()
    most = n_known + _PLACES_A_ROW * n_test
    if len(test) != n_test or len(np.unique(test)) != n_test:
        raise InputError(f"{path}: does not name {n_test} different nodes")
    if n_test and (test.min() < n_known or test.max() >= most):
        raise InputError(f"{path}: names nodes outside {n_known}..{most - 1}")
    return np.concatenate([np.arange(n_known), test])


def _moved(rows: Any, places: IntArray, n_nodes: int) -> sp.csr_array:
    entries = sp.coo_array(rows)
    at = (places[entries.coords[0]], entries.coords[1])
    return sp.coo_array((entries.data, at), (n_nodes, rows.shape[1])).tocsr()


def _put(labels: IntArray, places: IntArray, n_nodes: int) -> IntArray:
    placed = np.zeros(n_nodes, labels.dtype)
    placed[places] = labels
    return placed


def _features(path: Path) -> sp.csr_array:
    matrix = _read(path)
    if not sp.issparse(matrix):
        raise InputError(f"{path}: holds no sparse matrix")
    return sp.csr_array(matrix)


def _classes(path: Path) -> IntArray:
    table = _read(path)
    if not isinstance(table, np.ndarray) or table.ndim != 2 or not table.shape[1]:
        raise InputError(f"{path}: holds no table of classes")
    return np.asarray(table.argmax(axis=1))


def _links(path: Path) -> npt.NDArray[Any]:
    lists = _read(path)
    if not isinstance(lists, dict) or any(type(to) is not list for to in lists.values()):
        raise InputError(f"{path}: holds no lists of neighbours")
    lengths = [len(to) for to in lists.values()]
    with answering(path, kind="lists of neighbours"):
        sources = integers("nodes", list(lists), ndim=1)
        targets = integers("neighbours", list(itertools.chain(*lists.values())), ndim=1)
    return np.stack([np.repeat(sources, lengths), targets], axis=1)


def _read(path: Path) -> Any:
    check_file(path)
    try:
        with answering(path, kind="a file of Planetoid"), path.open("rb") as file:
            return read_pickle(file, _MAKERS)
    except InputError as error:
        raise InputError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None


def _announced_matrix() -> Unfinished:
    return Unfinished(_matrix)


def _matrix(state: Any) -> sp.csr_array:
    shape = tuple(map(int, state.get("_shape") or state["shape"]))
    rows, columns = shape
    parts = (state["data"], state["indices"], state["indptr"])
    return sparse_rows("its matrix", parts, (rows, columns))


def _announced_mapping(default: Any) -> dict[Any, Any]:
    return {}


_MAKERS = {
    "scipy.sparse.csr csr_matrix": _announced_matrix,
    "scipy.sparse._csr csr_matrix": _announced_matrix,
    "collections defaultdict": _announced_mapping,
    "__builtin__ list": None,
    "builtins list": None,
}
