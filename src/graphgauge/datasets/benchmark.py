"""Graphs kept as ``.npz`` files of sparse matrices: those of gnn-benchmark, and Friendster.

The published files hold pickled names of nodes and classes beside the arrays; only the arrays are
read, so that nothing is unpickled.

References
----------
Shchur et al., Pitfalls of Graph Neural Network Evaluation, 2018; Bojchevski and Günnemann, Deep
Gaussian Embedding of Graphs, ICLR 2018; Teixeira et al., Are Graph Neural Networks Miscalibrated?,
2019.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.archive import StoredArray, open_npz
from graphgauge.arrays import IntArray, integers
from graphgauge.errors import InputError
from graphgauge.graph import Graph, sparse_rows

__all__ = ["read_benchmark", "read_friendster", "read_friendster_parts"]

_MATRIX = ("data", "indices", "indptr", "shape")
_UNKNOWN = "NA"


def read_benchmark(folder: Path, key: str) -> Graph:
    """Read a graph of gnn-benchmark (``key`` is the file's name without ``.npz``) as published."""
    path = folder / f"{key}.npz"
    names = [f"{what}_{part}" for what in ("adj", "attr") for part in _MATRIX]
    stored = _opened(path, [*names, "labels"])
    return Graph(_matrix("adj", stored), _matrix("attr", stored), stored["labels"].read(), name=key)


def read_friendster(folder: Path, key: str) -> Graph:
    """Read the sample of Friendster; who did not say has no label (-1), as in the paper's parts."""
    path = folder / f"{key}.npz"
    names = ("adj_indptr", "adj_indices", "attr_data", "attr_indices", "attr_indptr")
    stored = _opened(path, [*names, "attr_shape", "labels", "label_names"])
    classes = [str(name) for name in stored["label_names"].read()]
    labels = integers("labels", stored["labels"].read(), ndim=1)
    if _UNKNOWN in classes:
        labels = np.where(labels == classes.index(_UNKNOWN), -1, labels)
    if _UNKNOWN not in classes[-1:]:
        raise InputError(f"{path}: its last class is not {_UNKNOWN}")
    targets, starts = stored["adj_indices"].read(), stored["adj_indptr"].read()
    ones = np.ones(len(targets), np.float32)
    return Graph(
        sparse_rows(f"{path}: adj", (ones, targets, starts), (len(labels), len(labels))),
        _matrix("attr", stored),
        labels,
        name=key,
        class_names=tuple(classes[:-1]),
    )


def read_friendster_parts(folder: Path, key: str) -> dict[str, IntArray]:
    """Read the published parts ``train``, ``valid`` and ``test`` of Friendster."""
    stored = _opened(folder / f"{key}.npz", ["train", "valid", "test"])
    return {name: integers(name, array.read(), ndim=1) for name, array in stored.items()}


def _opened(path: Path, names: list[str]) -> Mapping[str, StoredArray]:
    stored = open_npz(path, names)
    missing = [name for name in names if name not in stored]
    if missing:
        raise InputError(f"{path}: it lacks {', '.join(missing)}")
    return stored


def _matrix(what: str, stored: Mapping[str, StoredArray]) -> sp.csr_array:
    data, indices, indptr, shape = (stored[f"{what}_{part}"] for part in _MATRIX)
    sizes = integers(f"{what}_shape", shape.read(), ndim=1)
    if sizes.shape != (2,):
        raise InputError(f"{shape.path}: {what}_shape is not two numbers")
    parts = (_single(data.read()), indices.read(), indptr.read())
    return sparse_rows(f"{data.path}: {what}", parts, (int(sizes[0]), int(sizes[1])))


def _single(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Halve the memory of numbers that single precision holds exactly."""
    if values.dtype.kind not in "fiub" or values.dtype == np.float32:
        return values
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    return single if np.array_equal(single, values) else values
