"""A graph as it is judged: who is linked with whom, what the nodes carry, what was done to it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.archive import (
    StoredArray,
    from_json,
    open_npz,
    to_json,
    whole_number,
    write_npz,
)
from graphgauge.arrays import BoolArray, FloatArray, IntArray, check_pairs, floats, integers, refuse
from graphgauge.colours import Colours, refine
from graphgauge.errors import InputError, name_rows

__all__ = ["Graph", "first_rows", "sparse_rows", "undirected_edges"]

_ROWS = 2**18
# Whoever looks at columns needs memory for each, and an empty column costs a file nothing.
_MOST_COLUMNS, _COLUMNS_AN_ENTRY = 2**20, 64


def undirected_edges(edges: IntArray, n_nodes: int) -> IntArray:
    """Reduce edges ``[e, 2]`` to unique pairs ``u < v``, in ascending order.

    Self-loops are dropped, directions and repetitions merged.

    Examples
    --------
    >>> undirected_edges(np.array([[1, 0], [0, 1], [2, 2], [1, 2]]), 3)
    array([[0, 1],
           [1, 2]], dtype=int32)
    """
    keys = _keys(edges, n_nodes)
    keys.sort()
    kept = _first_of_each(keys)
    pairs = np.empty((int(kept.sum()), 2), _smallest(n_nodes))
    done = 0
    for rows in _row_blocks(len(keys)):
        u, v = np.divmod(keys[rows][kept[rows]], max(n_nodes, 1))
        pairs[done : done + len(u), 0], pairs[done : done + len(u), 1] = u, v
        done += len(u)
    return pairs


def first_rows(edges: IntArray, n_nodes: int) -> IntArray:
    """Return the row in which each pair of `undirected_edges` was first seen.

    Examples
    --------
    >>> first_rows(np.array([[1, 0], [0, 1], [2, 2], [1, 2]]), 3)
    array([0, 3], dtype=int32)
    """
    keys = _keys(edges, n_nodes)
    order = np.argsort(keys, kind="stable").astype(_smallest(len(keys)))
    return order[_first_of_each(keys[order])]


def _keys(edges: IntArray, n_nodes: int) -> IntArray:
    """One number an undirected pair, -1 for a loop; a few rows at a time to spare memory."""
    keys = np.empty(len(edges), np.int64)
    for rows in _row_blocks(len(edges)):
        u, v = edges[rows, 0], edges[rows, 1]
        keys[rows] = np.minimum(u, v)
        keys[rows] *= n_nodes
        keys[rows] += np.maximum(u, v)
        keys[rows][u == v] = -1
    return keys


def _first_of_each(ordered: IntArray) -> BoolArray:
    """Mark the first of each run of equal keys that are no loops."""
    fresh = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    fresh[: np.searchsorted(ordered, 0)] = False
    return fresh


def _both_ways(pairs: IntArray, n_nodes: int) -> sp.csr_array:
    """Make the pattern of the undirected graph from ordered unique pairs ``u < v``."""
    starts = np.searchsorted(pairs[:, 0], np.arange(n_nodes + 1, dtype=pairs.dtype))
    return _with_mirror(_pattern(np.ascontiguousarray(pairs[:, 1]), starts))


def _simple_pattern(adjacency: sp.csr_array) -> sp.csr_array:
    pattern = _pattern(adjacency.indices, adjacency.indptr)
    if pattern.diagonal().any():
        pattern = pattern.copy()
        pattern.data[pattern.indices == _rows(pattern)] = 0
        pattern.eliminate_zeros()
    return _with_mirror(pattern)


def _pattern(indices: IntArray, starts: IntArray) -> sp.csr_array:
    """Put a small one at every entry."""
    index = _smallest(len(indices))
    ones = np.ones(len(indices), np.int8)
    n = len(starts) - 1
    return sp.csr_array((ones, indices.astype(index, copy=False), starts.astype(index)), (n, n))


def _with_mirror(pattern: sp.csr_array) -> sp.csr_array:
    """Add the other direction of every entry; a symmetric pattern comes back as it is."""
    mirror = pattern.T.tocsr()
    if all(np.array_equal(getattr(pattern, k), getattr(mirror, k)) for k in ("indptr", "indices")):
        return pattern
    both = pattern + mirror
    both.data[:] = 1
    return both


def _upper_pairs(pattern: sp.csr_array) -> IntArray:
    """List the entries right of the diagonal, row by row."""
    rows = _rows(pattern)
    kept = pattern.indices > rows
    pairs = np.empty((int(kept.sum()), 2), rows.dtype)
    pairs[:, 0], pairs[:, 1] = rows[kept], pattern.indices[kept]
    return pairs


def _rows(pattern: sp.csr_array) -> IntArray:
    """Name the row of every entry."""
    n_rows = pattern.shape[0]
    rows: IntArray = np.arange(n_rows, dtype=_smallest(n_rows))
    return rows.repeat(np.diff(pattern.indptr))


def _smallest(n: int) -> type[np.signedinteger[Any]]:
    return np.int32 if n <= np.iinfo(np.int32).max else np.int64


def _row_blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + _ROWS) for start in range(0, n, _ROWS))


@dataclass(frozen=True, eq=False)
class Graph:
    """Frozen graph with checked parts.

    Parameters
    ----------
    adjacency
        Square matrix, sparse or dense; an entry ``[u, v]`` is the weight of the edge from u to v.
    features
        One row a node, dense or sparse, or None.
    labels
        Class of every node, -1 where unknown, or None.
    name
        What to call it.
    steps
        What was done to it, in order (``"undirected"``, ``"self-loops removed"`` ...).
    ids
        What every node is called where it came from ``[n]``, numbers or text, or None.
    class_names
        What every class is called; may be empty.

    Examples
    --------
    >>> graph = Graph.from_edges([[0, 1], [1, 2]], 3)
    >>> graph.n_nodes, graph.degrees.tolist()
    (3, [1, 2, 1])
    """

    adjacency: sp.csr_array
    features: FloatArray | sp.csr_array | None = None
    labels: IntArray | None = None
    name: str = ""
    steps: tuple[str, ...] = ()
    ids: npt.NDArray[Any] | None = None
    class_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        adjacency = _sparse("adjacency", self.adjacency)
        if adjacency.shape[0] != adjacency.shape[1]:
            raise InputError(f"adjacency: has shape {adjacency.shape}, expected a square")
        n_nodes = adjacency.shape[0]
        object.__setattr__(self, "adjacency", adjacency)
        if self.features is not None:
            features = self.features
            door = _sparse if sp.issparse(features) else _table
            object.__setattr__(self, "features", door("features", features))
            _check_rows("features", self.features.shape[0], n_nodes)
        if self.labels is not None:
            object.__setattr__(self, "labels", integers("labels", self.labels, ndim=1))
            _check_rows("labels", len(self.labels), n_nodes)
        object.__setattr__(self, "steps", tuple(self.steps))
        if self.ids is not None:
            object.__setattr__(self, "ids", _checked_ids(self.ids, n_nodes))
        object.__setattr__(self, "class_names", tuple(map(str, self.class_names)))
        if self.labels is not None and self.class_names:
            told = f"beyond the {len(self.class_names)} classes that have names"
            refuse("labels", self.labels >= len(self.class_names), f"is {told}", f"are {told}")

    @classmethod
    def from_edges(
        cls, edges: npt.ArrayLike, n_nodes: int, *, directed: bool = False, **content: Any
    ) -> Graph:
        """Build a graph from pairs ``[e, 2]``; undirected unless told otherwise."""
        pairs = np.asarray(edges)
        pairs = integers("edges", pairs.reshape(-1, 2) if not pairs.size else pairs, ndim=2)
        check_pairs("edges", pairs, n_nodes)
        if not directed:
            pattern = _both_ways(undirected_edges(pairs, n_nodes), n_nodes)
            ones = np.ones(pattern.nnz, np.float32)
            entries = (ones, pattern.indices, pattern.indptr)
            return cls(sp.csr_array(entries, pattern.shape), **content)
        ones = np.ones(len(pairs), np.float32)
        shape = (n_nodes, n_nodes)
        return cls(sp.coo_array((ones, (pairs[:, 0], pairs[:, 1])), shape).tocsr(), **content)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @cached_property
    def neighbours(self) -> sp.csr_array:
        """The undirected simple graph ``[n, n]``: a one for every pair of neighbours, both ways.

        Weights, directions and self-loops are left out. Shares memory with an adjacency that has
        neither directions nor self-loops.
        """
        return _simple_pattern(self.adjacency)

    @cached_property
    def edges(self) -> IntArray:
        """Unique undirected edges ``[e, 2]`` with ``u < v``, without self-loops."""
        return _upper_pairs(self.neighbours)

    @property
    def degrees(self) -> IntArray:
        """Number of entries in every row of the adjacency."""
        return np.asarray(np.diff(self.adjacency.indptr))

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content in canonical form, the same whatever file it came from.

        Order of nodes counts, format does not: dense and sparse, single and double precision,
        sorted and unsorted entries of the same numbers agree.
        """
        digest = hashlib.sha256(b"graphgauge graph 1")
        _feed_matrix(digest, self.adjacency)
        if self.features is not None:
            _feed_matrix(digest, self.features)
        if self.labels is not None:
            digest.update(b"labels" + self.labels.astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def colours(self) -> Colours:
        """Colours of nodes, feature columns and classes: their places, not their numbers."""
        return refine(self.adjacency, self.features, self.labels)

    @cached_property
    def unordered_fingerprint(self) -> str:
        """Hash of the content that ignores the order of nodes, of columns and of classes.

        Equal for two files of one graph in different orders. It tells graphs apart as far as
        `colours` do, which real ones with features always were.
        """
        digest = hashlib.sha256(b"graphgauge unordered 1")
        for colours in (self.colours.nodes, self.colours.columns, self.colours.classes):
            digest.update(np.array(len(colours), "<i8").tobytes())
            digest.update(np.sort(colours).astype("<u8").tobytes())
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to an ``.npz`` file."""
        names = {"name": self.name, "class_names": list(self.class_names)}
        about = to_json({**names, "steps": list(self.steps)})
        arrays = {"graph": about, "n_nodes": np.array(self.n_nodes)}
        arrays |= _pack("adjacency", self.adjacency)
        if self.features is not None:
            arrays |= _pack("features", self.features)
        if self.labels is not None:
            arrays["labels"] = self.labels
        if self.ids is not None:
            arrays["ids"] = self.ids
        write_npz(path, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Graph:
        """Read a graph that `save` wrote."""
        stored = open_npz(path)
        if "graph" not in stored or "n_nodes" not in stored:
            raise InputError(f"{path}: not a graph (it lacks graph or n_nodes)")
        about = from_json(stored["graph"])
        n_nodes = whole_number(stored["n_nodes"])
        adjacency = _unpack("adjacency", stored, n_nodes)
        if adjacency is None:
            raise InputError(f"{path}: not a graph (it lacks an adjacency)")
        return cls(
            adjacency,
            _unpack("features", stored, n_nodes),
            stored["labels"].read() if "labels" in stored else None,
            str(about.get("name", "")),
            _words(about.get("steps")),
            stored["ids"].read() if "ids" in stored else None,
            _words(about.get("class_names")),
        )


def _sparse(name: str, value: Any) -> sp.csr_array:
    if sp.issparse(value) and value.ndim != 2:
        raise InputError(f"{name}: has {value.ndim} axes (shape {value.shape}), expected 2")
    matrix = sp.csr_array(value if sp.issparse(value) else floats(name, value, ndim=2))
    if matrix.dtype.kind not in "fiub":
        raise InputError(f"{name}: holds {matrix.dtype} values, expected numbers")
    if not np.isfinite(matrix.data).all():
        raise InputError(f"{name}: holds values that are not finite")
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _words(values: object) -> tuple[str, ...]:
    return tuple(map(str, values)) if isinstance(values, Sequence) else ()


def _checked_ids(value: object, n_nodes: int) -> npt.NDArray[Any]:
    ids = np.asarray(value)
    if ids.ndim != 1 or ids.dtype.kind not in "iuU":
        raise InputError(f"ids: expected a number or a word a node, got {ids.dtype} {ids.shape}")
    _check_rows("ids", len(ids), n_nodes)
    if len(np.unique(ids)) < n_nodes:
        again = np.ones(n_nodes, bool)
        again[np.unique(ids, return_index=True)[1]] = False
        raise InputError(f"ids: {int(again.sum())} stand there before ({name_rows(again)})")
    return ids


def _table(name: str, value: object) -> FloatArray:
    return floats(name, value, ndim=2)


def _check_rows(name: str, rows: int, n_nodes: int) -> None:
    if rows != n_nodes:
        raise InputError(f"lengths differ: the graph has {n_nodes} nodes, {name} has {rows} rows")


def _feed_matrix(digest: Any, matrix: FloatArray | sp.csr_array) -> None:
    canonical = sp.csr_array(matrix, copy=True)
    canonical.sum_duplicates()
    canonical.eliminate_zeros()
    digest.update(np.array(canonical.shape, "<i8").tobytes())
    digest.update(canonical.indptr.astype("<i8").tobytes())
    digest.update(canonical.indices.astype("<i8").tobytes())
    digest.update(canonical.data.astype("<f8").tobytes())


def _pack(name: str, matrix: Any) -> dict[str, Any]:
    if not sp.issparse(matrix):
        return {name: matrix}
    csr = sp.csr_array(matrix)
    parts = {"indptr": csr.indptr, "indices": csr.indices, "data": csr.data}
    return {f"{name}_{k}": v for k, v in parts.items()} | {f"{name}_columns": csr.shape[1]}


def _unpack(name: str, stored: Mapping[str, StoredArray], n_rows: int) -> Any:
    """Read a matrix that `_pack` wrote, dense or sparse; None where there is none."""
    if name in stored:
        return stored[name].read()
    keys = [f"{name}_{k}" for k in ("data", "indices", "indptr", "columns")]
    if any(key not in stored for key in keys):
        return None
    data, indices, indptr = (stored[key].read() for key in keys[:3])
    return sparse_rows(name, (data, indices, indptr), (n_rows, whole_number(stored[keys[3]])))


def sparse_rows(name: str, parts: tuple[Any, Any, Any], shape: tuple[int, int]) -> sp.csr_array:
    """Make a matrix of ``(data, indices, indptr)`` from a file, which may be anything at all.

    Examples
    --------
    >>> sparse_rows("features", ([1.0], [7], [0, 1]), (1, 3))
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: features: not a valid sparse matrix of 1 rows
    """
    data = floats(f"{name}_data", parts[0], ndim=1)
    indices = integers(f"{name}_indices", parts[1], ndim=1)
    indptr = integers(f"{name}_indptr", parts[2], ndim=1)
    if not 0 <= shape[1] <= max(_MOST_COLUMNS, _COLUMNS_AN_ENTRY * len(data)):
        raise InputError(f"{name}: has {shape[1]} columns for {len(data)} entries")
    if not _is_csr(data, indices, indptr, shape):
        raise InputError(f"{name}: not a valid sparse matrix of {shape[0]} rows")
    return sp.csr_array((data, indices, indptr), shape=shape)


def _is_csr(data: FloatArray, indices: IntArray, indptr: IntArray, shape: tuple[int, int]) -> bool:
    """Tell whether the arrays make a matrix; SciPy's own check lets some pass that crash it."""
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or indptr[-1] != len(indices):
        return False
    if len(indices) != len(data) or (indptr[1:] < indptr[:-1]).any():
        return False
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < shape[1])
