"""Graphs kept as ``.npz`` files of sparse matrices, as gnn-benchmark and graph2gauss publish them.

The published files hold pickled names of nodes and classes beside the arrays; only the arrays are
read, so that nothing is unpickled.

References
----------
Shchur et al., Pitfalls of Graph Neural Network Evaluation, 2018; Bojchevski and Günnemann, Deep
Gaussian Embedding of Graphs, ICLR 2018.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import scipy.sparse as sp

from graphgauge.archive import StoredArray, open_npz
from graphgauge.arrays import integers
from graphgauge.errors import InputError
from graphgauge.graph import Graph, sparse_rows

__all__ = ["read_benchmark", "stored_arrays", "stored_matrix"]

_PIECES = ("data", "indices", "indptr", "shape")


def read_benchmark(folder: Path, key: str) -> Graph:
    """Read a graph (``key`` is the file's name without ``.npz``) as published."""
    names = [f"{what}_{piece}" for what in ("adj", "attr") for piece in _PIECES]
    stored = stored_arrays(folder / f"{key}.npz", [*names, "labels"])
    links, words = stored_matrix("adj", stored), stored_matrix("attr", stored)
    return Graph(links, words, stored["labels"].read(), name=key)


def stored_arrays(path: Path, names: Sequence[str]) -> Mapping[str, StoredArray]:
    """Open the named arrays of a file, all of which must be there."""
    stored = open_npz(path, names)
    missing = [name for name in names if name not in stored]
    if missing:
        raise InputError(f"{path}: it lacks {', '.join(missing)}")
    return stored


def stored_matrix(what: str, stored: Mapping[str, StoredArray]) -> sp.csr_array:
    """Put a sparse matrix together from its pieces."""
    data, indices, indptr, shape = (stored[f"{what}_{piece}"] for piece in _PIECES)
    sizes = integers(f"{what}_shape", shape.read(), ndim=1)
    if sizes.shape != (2,):
        raise InputError(f"{shape.path}: {what}_shape is not two numbers")
    pieces = (data.read(), indices.read(), indptr.read())
    return sparse_rows(f"{data.path}: {what}", pieces, (int(sizes[0]), int(sizes[1])))
