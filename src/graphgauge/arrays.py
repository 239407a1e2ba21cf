"""The door: whatever a user has becomes a checked NumPy array here, or an error in one line.

Lists, NumPy arrays, torch tensors (through ``__array__``, so torch is never imported) and SciPy
sparse matrices are let in. Nothing is guessed: an array that could mean two things is refused.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.errors import InputError, name_rows

__all__ = [
    "MOST_NODES",
    "BoolArray",
    "FloatArray",
    "IntArray",
    "check_pairs",
    "floats",
    "integers",
    "refuse",
    "same_length",
]

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# So many that a directed pair of nodes still makes one 64-bit number.
MOST_NODES = 2**31


def floats(name: str, value: object, *, ndim: int, finite: bool = True) -> FloatArray:
    """Return `value` as a floating array with `ndim` axes; single and double precision are kept.

    Examples
    --------
    >>> floats("total", [1, 2], ndim=1)
    array([1., 2.])
    >>> floats("total", [1.0, float("nan")], ndim=1)
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: total: 1 row is not finite (row 1)
    """
    array = _numeric(name, value)
    if array.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore", under="ignore"):
            array = array.astype(np.float32 if array.dtype == np.float16 else np.float64)
    _check_axes(name, array, ndim)
    if finite:
        _check_finite(name, array)
    return array


def integers(name: str, value: object, *, ndim: int) -> IntArray:
    """Return `value` as a signed integer array with `ndim` axes; whole floats are let in.

    Examples
    --------
    >>> integers("labels", [0.0, 2.0], ndim=1)
    array([0, 2])
    >>> integers("labels", [0.5, 2.0], ndim=1)
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: labels: 1 row is not a whole number (row 0)
    """
    array = _numeric(name, value)
    _check_axes(name, array, ndim)
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):
            bad = ~np.isfinite(array) | (array != np.rint(array)) | (np.abs(array) > 2.0**53)
        refuse(name, bad, "is not a whole number", "are not whole numbers")
        return array.astype(np.int64)
    if array.dtype == np.uint64:
        refuse(name, array > np.iinfo(np.int64).max, "is too large", "are too large")
    if array.dtype in (np.int32, np.int64):
        return array
    return array.astype(np.int64)


def same_length(**arrays: npt.NDArray[Any] | None) -> int:
    """Check that all given arrays have the same number of rows, and return it.

    Examples
    --------
    >>> same_length(probs=np.zeros((3, 2)), labels=np.zeros(2), total=None)
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: lengths differ: probs has 3 rows, labels has 2
    """
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    first, n = next(iter(lengths.items()))
    for name, length in lengths.items():
        if length != n:
            raise InputError(f"lengths differ: {first} has {n} rows, {name} has {length}")
    return n


def check_pairs(name: str, pairs: IntArray, n_nodes: int) -> None:
    """Check that rows of pairs ``[..., 2]`` name nodes that exist.

    Examples
    --------
    >>> check_pairs("edges", np.array([[0, 1], [1, 7]]), 3)
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: edges: 1 row points outside nodes 0..2 (row 1)
    """
    if pairs.shape[-1] != 2:
        raise InputError(f"{name}: has shape {pairs.shape}, expected pairs of nodes")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n_nodes):
        nodes = f"outside nodes 0..{n_nodes - 1}"
        bad = (pairs < 0) | (pairs >= n_nodes)
        refuse(name, bad, f"points {nodes}", f"point {nodes}")


def refuse(name: str, bad: BoolArray, one: str, many: str) -> None:
    """Raise an error that names the rows where `bad` holds; nothing where it never does."""
    rows = np.asarray(np.atleast_1d(bad).any(axis=tuple(range(1, bad.ndim))))
    n = int(rows.sum())
    if n:
        plural = f"1 row {one}" if n == 1 else f"{n} rows {many}"
        raise InputError(f"{name}: {plural} ({name_rows(rows)})")


def _numeric(name: str, value: object) -> npt.NDArray[Any]:
    if sp.issparse(value):
        value = value.toarray()  # type: ignore[attr-defined]
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"{name}: not an array of numbers ({error})") from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: holds {array.dtype} values, expected numbers")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _check_axes(name: str, array: npt.NDArray[Any], ndim: int) -> None:
    if array.ndim != ndim:
        raise InputError(f"{name}: has {array.ndim} axes (shape {array.shape}), expected {ndim}")


def _check_finite(name: str, array: FloatArray) -> None:
    # A sum is finite unless an entry is not (or it overflows): the cheap test first.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(array.sum()):
            return
    refuse(name, ~np.isfinite(array), "is not finite", "are not finite")
