"""``Data`` of PyG, known by what it holds: neither PyG nor torch is ever imported here."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.arrays import BoolArray, IntArray, integers
from graphgauge.errors import InputError
from graphgauge.exchange.links import Links
from graphgauge.graph import Graph, sparse_rows
from graphgauge.parts import Split

__all__ = ["MASKS", "from_pyg", "split_from_pyg"]

MASKS: Mapping[str, str] = MappingProxyType(
    {
        "train": "id_train",
        "valid_in": "id_val",
        "test_in": "id_test",
        "valid_out": "ood_val",
        "test_out": "ood_test",
        "valid": "val",
    }
)
"""Parts that have other names in PyG; those of shifts are what ``NodePropertySplit`` calls them."""

_ENDING = "_mask"


def from_pyg(data: Any, *, name: str = "") -> Graph:
    """Make a `Graph` of PyG's ``Data``.

    Edges are taken as they stand, from ``edge_index`` with ``edge_weight`` if there is one, or
    from an ``adj_t`` that is a sparse tensor of torch; features from ``x``, dense or sparse,
    classes from ``y``. Repeated edges count once, or add up their weights.

    Parameters
    ----------
    data
        Of one kind of nodes; masks are for `split_from_pyg`.
    name
        What to call the graph.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(edge_index=[[0, 1], [1, 0]], y=[1, 0, 0])
    >>> graph = from_pyg(data)
    >>> graph.n_nodes, graph.edges.tolist(), graph.labels.tolist()
    (3, [[0, 1]], [1, 0, 0])
    """
    features, labels = _matrix("x", _of(data, "x")), _labels(_of(data, "y"))
    if _of(data, "edge_index") is not None:
        sizes = [rows.shape[0] for rows in (features, labels) if rows is not None]
        adjacency = _links(data).adjacency(sizes[0] if sizes else _count(data))
    elif _of(data, "adj_t") is not None:
        adjacency = sp.csr_array(_matrix("adj_t", data.adj_t)).T
    else:
        raise InputError("data: has no edges (neither edge_index nor adj_t)")
    return Graph(adjacency, features, labels, name)


def split_from_pyg(data: Any, *, column: int | None = None) -> Split | None:
    """Make a `Split` of the masks of PyG's ``Data``; None if it has none.

    Parameters
    ----------
    data
        Masks are what it holds under names that end on ``_mask``.
    column
        Which column, where masks have one for each of several splits.

    Examples
    --------
    >>> class Data(dict):
    ...     __getattr__ = dict.get
    >>> data = Data(train_mask=np.array([True, False]), val_mask=np.array([False, True]))
    >>> dict(split_from_pyg(data).parts)
    {'train': array([0]), 'valid': array([1])}
    """
    names = data.keys() if callable(data.keys) else data.keys
    masks = {key.removesuffix(_ENDING): _of(data, key) for key in names if key.endswith(_ENDING)}
    ours = {theirs: part for part, theirs in MASKS.items()}
    parts = {ours.get(key, key): _mask(key, mask, column) for key, mask in masks.items()}
    if not parts:
        return None
    n_nodes = len(next(iter(parts.values())))
    filled: dict[str, Any] = {part: mask for part, mask in parts.items() if mask.any()}
    return Split(filled, n_nodes, {"from": "masks of PyG"})


def _of(data: Any, name: str) -> Any:
    return getattr(data, name, None)


def _array(value: Any) -> npt.NDArray[Any]:
    """Bring a tensor home, wherever it is and whatever hangs on it."""
    for way in ("detach", "cpu"):
        value = getattr(value, way)() if hasattr(value, way) else value
    return np.asarray(value)


def _matrix(name: str, value: Any) -> Any:
    """Make an array, or a sparse matrix, of a tensor of either kind."""
    layout = str(_of(value, "layout"))
    if layout == "torch.sparse_coo":
        value, layout = value.to_sparse_csr(), "torch.sparse_csr"
    if layout == "torch.sparse_csr":
        parts = (value.values(), value.col_indices(), value.crow_indices())
        data, indices, indptr = map(_array, parts)
        return sparse_rows(name, (data, indices, indptr), tuple(value.shape))
    if value is None or sp.issparse(value):
        return value
    if "sparse" in layout or (not hasattr(value, "__array__") and hasattr(value, "storage")):
        raise InputError(f"{name}: is sparse in a way that is not read; make it torch.sparse_csr")
    return _array(value)


def _labels(value: Any) -> IntArray | None:
    if value is None:
        return None
    labels = _array(value)
    column = labels.ndim == 2 and labels.shape[1] == 1
    return integers("y", labels[:, 0] if column else labels, ndim=1)


def _links(data: Any) -> Links:
    pairs = integers("edge_index", _array(data.edge_index), ndim=2).T
    weights = _of(data, "edge_weight")
    return Links(pairs, None if weights is None else _array(weights), directed=True)


def _count(data: Any) -> int:
    """Ask how many nodes there are; PyG warns where it can only guess."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return int(data.num_nodes)
        except (UserWarning, AttributeError, TypeError):
            raise InputError("data: does not say how many nodes it has; set num_nodes") from None


def _mask(name: str, value: Any, column: int | None) -> BoolArray:
    mask = _array(value)
    if mask.ndim == 2:
        if column is None or not 0 <= column < mask.shape[1]:
            raise InputError(f"{name}{_ENDING}: has {mask.shape[1]} columns; say which (column)")
        mask = mask[:, column]
    if mask.ndim != 1 or mask.dtype != bool:
        raise InputError(f"{name}{_ENDING}: expected true or false a node, got {mask.dtype}")
    return mask
