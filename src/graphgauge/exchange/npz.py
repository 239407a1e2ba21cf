"""Archives of arrays: a saved graph, an ``edge_index``, or matrices, whole or in sparse parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import scipy.sparse as sp

from graphgauge.archive import StoredArray, open_npz, whole_number
from graphgauge.arrays import IntArray, integers
from graphgauge.errors import InputError
from graphgauge.exchange.choices import Choices
from graphgauge.exchange.imported import Imported, Source
from graphgauge.exchange.links import Links
from graphgauge.exchange.matlab import Matrix
from graphgauge.exchange.matrices import chosen_matrix, graph_of_matrices, n_rows
from graphgauge.formats import check_count, count_nodes
from graphgauge.graph import Graph, sparse_rows

__all__ = ["read_npz"]

_PAIRS, _COUNT = "edge_index", "num_nodes"
_PARTS = ("data", "indices", "indptr", "shape")


def read_npz(path: Path, choices: Choices) -> Imported:
    """Read a graph that `Graph.save` wrote, or make one of arrays.

    These are ``edge_index`` ``[2, e]`` or an adjacency, features and classes: arrays, or sparse
    matrices as ``scipy.sparse.save_npz`` writes one, or as several parts ``<name>_data``,
    ``<name>_indices``, ``<name>_indptr`` and ``<name>_shape``.
    """
    stored = open_npz(path)
    if "graph" in stored:
        choices.apply_to("a saved graph")
        return Imported(Graph.load(path), Source("a saved graph", path.stem))
    choices.apply_to("arrays", "edges", "features", "label")
    source, matrices = Source("arrays", path.stem), _matrices(stored)
    if _PAIRS not in stored:
        return graph_of_matrices(source, matrices, choices)
    pairs = integers(_PAIRS, stored[_PAIRS].read(), ndim=2).T
    n_nodes = _n_nodes(stored, matrices, choices, pairs)
    adjacency = Links(pairs, directed=True).adjacency(n_nodes)
    found = graph_of_matrices(source, {**matrices, _PAIRS: adjacency}, choices)
    return replace(found, n_merged=len(pairs) - adjacency.nnz)


def _n_nodes(
    stored: Mapping[str, StoredArray],
    matrices: Mapping[str, Matrix],
    choices: Choices,
    pairs: IntArray,
) -> int:
    if _COUNT in stored:
        return check_count(whole_number(stored[_COUNT]), pairs)
    features, label = (chosen_matrix(what, matrices, choices) for what in ("features", "label"))
    if features is not None:
        return int(matrices[features].shape[0])
    if label is not None:
        return n_rows(matrices[label])
    return count_nodes(pairs)


def _matrices(stored: Mapping[str, StoredArray]) -> dict[str, Matrix]:
    """Read what has an axis or two, and put sparse matrices together."""
    found: dict[str, Matrix] = {}
    parts: set[str] = set()
    for name in stored:
        stem = name.removesuffix("data")
        if stem != name and all(stem + part in stored for part in _PARTS):
            found[stem.rstrip("_") or "adjacency"] = _sparse(stem, stored)
            parts.update(stem + part for part in _PARTS)
    plain = {k: a for k, a in stored.items() if k not in parts and k != _PAIRS and 1 <= a.ndim <= 2}
    return found | {k: a.read() for k, a in plain.items()}


def _sparse(stem: str, stored: Mapping[str, StoredArray]) -> Matrix:
    data, indices, indptr, shape = (stored[stem + part].read() for part in _PARTS)
    sizes = integers(f"{stem}shape", shape, ndim=1).tolist()
    if len(sizes) != 2:
        raise InputError(f"{stem}shape: holds {len(sizes)} numbers, expected 2")
    layout = stored[f"{stem}format"].read().tolist() if f"{stem}format" in stored else b"csr"
    if layout in (b"csc", "csc"):
        return sp.csr_array(sparse_rows(stem, (data, indices, indptr), (sizes[1], sizes[0])).T)
    if layout not in (b"csr", "csr"):
        raise InputError(f"holds a matrix saved as {str(layout)[:80]}; save it as csr")
    return sparse_rows(stem, (data, indices, indptr), (sizes[0], sizes[1]))
