"""Values of nodes from a user's file: one number a node, in the order of the graph."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from graphgauge.archive import answering, check_file, open_npz
from graphgauge.arrays import FloatArray, floats
from graphgauge.columns import open_table
from graphgauge.errors import InputError
from graphgauge.headers import read_header

__all__ = ["read_values"]

_NAMES = ("sigma", "value", "values")


def read_values(path: str | os.PathLike[str]) -> FloatArray:
    """Read one number a node ``[n]`` from ``.npy``, ``.npz``, CSV or Parquet.

    An archive or a table holds nothing else, or says which by the name ``sigma`` or ``value``.
    """
    path = Path(path)
    if path.suffix.lower() == ".npy":
        return floats(str(path), _read_npy(path), ndim=1)
    if path.suffix.lower() == ".npz":
        stored = open_npz(path)
        return floats(str(path), stored[_chosen(path, [*stored])].read(), ndim=1)
    table = open_table(path)
    return floats(str(path), table.numbers([_chosen(path, table.columns)])[:, 0], ndim=1)


def _chosen(path: Path, names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    known = [name for name in _NAMES if name in names]
    if len(known) != 1:
        found = ", ".join(names[:8]) or "nothing"
        raise InputError(f"{path}: expected one column or array sigma, found: {found}")
    return known[0]


def _read_npy(path: Path) -> npt.NDArray[Any]:
    """Read an array whose header promises no more than the file holds."""
    check_file(path)
    with answering(path, kind=".npy"), path.open("rb") as file:
        header = read_header(file)
        held = path.stat().st_size - header.length
        if header.dtype.hasobject or header.n_bytes != held:
            raise InputError(f"{path}: holds no plain array, or not all of it")
        file.seek(0)
        return np.asarray(np.load(file, allow_pickle=False))
