"""The sample of Friendster, as ``.npz`` or as published: HDF5, with the parts in a pickled array.

The published file also holds what look like users' own numbers, beside age, college and home town.
They are not read.

References
----------
Teixeira, Jalaian and Ribeiro, Are Graph Neural Networks Miscalibrated?, 2019.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.archive import answering, check_expansion, check_file
from graphgauge.arrays import IntArray, integers
from graphgauge.datasets.benchmark import stored_arrays, stored_matrix
from graphgauge.datasets.pickles import read_pickle
from graphgauge.errors import InputError
from graphgauge.graph import Graph, sparse_rows
from graphgauge.headers import read_header

__all__ = [
    "published_friendster_files",
    "read_friendster",
    "read_friendster_parts",
    "read_published_friendster",
    "read_published_friendster_parts",
]

_UNKNOWN = "NA"
_PARTS = ("train", "valid", "test")
_ROWS = 4096


def read_friendster(folder: Path, key: str) -> Graph:
    """Read the ``.npz`` form; who did not say has no label (-1), as in the paper's parts."""
    path = folder / f"{key}.npz"
    links = ("adj_indptr", "adj_indices")
    words = ("attr_data", "attr_indices", "attr_indptr", "attr_shape")
    stored = stored_arrays(path, (*links, *words, "labels", "label_names"))
    starts, targets = (stored[name].read() for name in links)
    n = len(stored["labels"])
    ones = np.ones(len(targets), np.float32)
    adjacency = sparse_rows(f"{path}: adj", (ones, targets, starts), (n, n))
    classes = tuple(map(str, stored["label_names"].read()))
    return _graph(path, adjacency, stored_matrix("attr", stored), stored["labels"].read(), classes)


def read_friendster_parts(folder: Path, key: str) -> dict[str, IntArray]:
    """Read the published parts from the ``.npz`` form."""
    stored = stored_arrays(folder / f"{key}.npz", _PARTS)
    return {name: integers(name, stored[name].read(), ndim=1) for name in _PARTS}


def published_friendster_files(key: str) -> tuple[str, ...]:
    """Name the files of the published form."""
    return (f"{key}.h5", f"{key}.split.npz")


def read_published_friendster(folder: Path, key: str) -> Graph:
    """Read the HDF5 form, which needs h5py."""
    path = folder / f"{key}.h5"
    try:
        import h5py
    except ImportError:
        raise InputError(f"{path}: reading HDF5 needs h5py (pip install h5py)") from None
    check_file(path)
    with answering(path, kind="HDF5"), h5py.File(path, "r") as file:
        names = ("adjacency", "features", "target", "target_names")
        neighbours, words, labels, classes = (file[name] for name in names)
        check_expansion(path, sum(file[name].nbytes for name in names))
        n = len(labels)
        lists = [np.asarray(row, np.int64) for row in neighbours]
        starts = np.cumsum([0, *map(len, lists)])
        targets = np.concatenate([np.empty(0, np.int64), *lists])
        ones = np.ones(len(targets), np.float32)
        return _graph(
            path,
            sparse_rows(f"{path}: adjacency", (ones, targets, starts), (n, n)),
            sp.vstack([sp.csr_array(words[i : i + _ROWS]) for i in range(0, n, _ROWS)]),
            labels[:],
            tuple(name.decode() for name in classes),
        )


def read_published_friendster_parts(folder: Path, key: str) -> dict[str, IntArray]:
    """Read the published parts: one array of three arrays, which NumPy pickled."""
    path = folder / published_friendster_files(key)[1]
    check_file(path)
    with answering(path, kind=".npz"), zipfile.ZipFile(path) as archive:
        check_expansion(path, archive.getinfo("arr_0.npy").file_size)
        content = io.BytesIO(archive.read("arr_0.npy"))
        read_header(content)
        parts = read_pickle(content)
        if len(parts) != len(_PARTS):
            raise ValueError("it does not hold three parts")
        return {n: integers(n, part, ndim=1) for n, part in zip(_PARTS, parts, strict=True)}


def _graph(
    path: Path,
    adjacency: sp.csr_array,
    words: sp.csr_array,
    labels: npt.NDArray[Any],
    classes: tuple[str, ...],
) -> Graph:
    if classes[-1:] != (_UNKNOWN,):
        raise InputError(f"{path}: its last class is not {_UNKNOWN}")
    numbers = integers("labels", labels, ndim=1)
    known = np.where(numbers == len(classes) - 1, -1, numbers)
    # Counts such as those of friends are whole and small: single precision holds them exactly.
    words = words.astype(np.float32)
    return Graph(adjacency, words, known, class_names=classes[:-1])
