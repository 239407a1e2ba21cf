"""``Data`` of PyG, known by what it holds: neither PyG nor torch is ever imported here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.arrays import BoolArray, IntArray, floats, integers
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


def from_pyg(data: Any, *, label: str = "y", name: str = "") -> Graph:
    """Make a `Graph` of PyG's ``Data``.

    Edges are taken as they stand, from ``edge_index`` with ``edge_weight`` if there is one, or
    from an ``adj_t`` that is a sparse tensor of torch; features from ``x``, dense or sparse,
    classes from ``y``. Repeated edges count once, or add up their weights. Nothing else is looked
    at.

    Parameters
    ----------
    data
        Of one kind of nodes; masks are for `split_from_pyg`.
    label
        What holds the class of every node, -1 or NaN where it is not known; ``""`` for none.
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
    features = _matrix("x", _of(data, "x"))
    labels = _labels(data, label)
    if _of(data, "edge_index") is not None:
        sizes = [rows.shape[0] for rows in (features, labels) if rows is not None]
        adjacency = _links(data).adjacency(sizes[0] if sizes else _count(data))
    elif _of(data, "adj_t") is not None:
        adjacency = sp.csr_array(_matrix("adj_t", data.adj_t)).T
    else:
        raise InputError("data: has no edges (neither edge_index nor adj_t)")
    return Graph(adjacency, features, labels, name)


def split_from_pyg(
    data: Any, *, masks: Sequence[str] | None = None, column: int | None = None
) -> Split | None:
    """Make a `Split` of the masks of PyG's ``Data``; None if it has none.

    Parameters
    ----------
    data
        Of one kind of nodes.
    masks
        Which masks: all whose names end on ``_mask``, unless some are named here.
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
    names = _mask_names(data) if masks is None else masks
    ours = {theirs: part for part, theirs in MASKS.items()}
    parts: dict[str, BoolArray] = {}
    for key in names:
        part = ours.get(key.removesuffix(_ENDING), key.removesuffix(_ENDING))
        if part in parts:
            raise InputError(f"several masks are of part {part}: say which (masks)")
        parts[part] = _mask(key, _of(data, key), column)
    if not parts:
        return None
    n_nodes = len(next(iter(parts.values())))
    filled: dict[str, Any] = {part: mask for part, mask in parts.items() if mask.any()}
    return Split(filled, n_nodes, {"from": "masks of PyG"})


def _of(data: Any, name: str) -> Any:
    return getattr(data, name, None)


def _mask_names(data: Any) -> list[str]:
    names = data.keys() if callable(data.keys) else data.keys
    # PyG keeps them in no order, so that parts would come in another one every time.
    return sorted(key for key in names if key.endswith(_ENDING))


def _array(name: str, value: Any) -> npt.NDArray[Any]:
    """Bring a tensor home, wherever it is and whatever hangs on it."""
    try:
        for way in ("detach", "cpu"):
            value = getattr(value, way)() if hasattr(value, way) else value
        if str(_of(value, "dtype")) == "torch.bfloat16":  # which NumPy does not have
            value = value.float()
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:
        raise InputError(f"{name}: cannot be read as an array ({_line(error)})") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _parts_of_coo(name: str, value: Any) -> tuple[Any, Any, Any]:
    """Return values, columns and starts of rows; torch warns of its own way to make these."""
    ordered = value.detach().coalesce()
    rows, columns = _array(name, ordered.indices())
    return _array(name, ordered.values()), columns, rows.searchsorted(np.arange(len(value) + 1))


def _parts_of_csr(name: str, value: Any) -> tuple[Any, Any, Any]:
    data, indices, indptr = value.values(), value.col_indices(), value.crow_indices()
    return _array(name, data), _array(name, indices), _array(name, indptr)


_PARTS: Mapping[str, Callable[[str, Any], tuple[Any, Any, Any]]] = MappingProxyType(
    {"torch.sparse_coo": _parts_of_coo, "torch.sparse_csr": _parts_of_csr}
)


def _matrix(name: str, value: Any) -> Any:
    """Make an array ``[n, k]``, or a sparse matrix, of a tensor of either kind."""
    if value is None or sp.issparse(value):
        return value
    layout = str(_of(value, "layout"))
    if layout in _PARTS and value.dim() == 2 and value.dense_dim() == 0:
        return sparse_rows(name, _PARTS[layout](name, value), tuple(value.shape))
    if "sparse" in layout or (not hasattr(value, "__array__") and hasattr(value, "storage")):
        raise InputError(f"{name}: is sparse in a way that is not read; make it torch.sparse_csr")
    return floats(name, _array(name, value), ndim=2)


def _labels(data: Any, name: str) -> IntArray | None:
    value = _of(data, name) if name else None
    if value is None:
        if name not in ("", "y"):
            raise InputError(f"data: has no {name}")
        return None
    labels = _array(name, value)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.dtype.kind == "f":
        labels = np.where(np.isnan(labels), -1, labels)
    return integers(name, labels, ndim=1)


def _links(data: Any) -> Links:
    pairs = integers("edge_index", _array("edge_index", data.edge_index), ndim=2).T
    weights = _of(data, "edge_weight")
    own = None if weights is None else _array("edge_weight", weights)
    return Links(pairs, own, directed=True)


def _count(data: Any) -> int:
    """Ask how many nodes there are; PyG warns where it can only guess."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return int(data.num_nodes)
        except (UserWarning, AttributeError, TypeError):
            raise InputError("data: does not say how many nodes it has; set num_nodes") from None


def _mask(name: str, value: Any, column: int | None) -> BoolArray:
    mask = _array(name, value)
    if mask.ndim == 2:
        if column is None or not 0 <= column < mask.shape[1]:
            raise InputError(f"{name}: has {mask.shape[1]} columns; say which (column)")
        mask = mask[:, column]
    if mask.ndim != 1 or mask.dtype != bool:
        raise InputError(f"{name}: expected true or false a node, got {mask.dtype}")
    return mask
