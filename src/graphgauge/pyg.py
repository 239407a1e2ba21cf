"""Graphs and splits for PyG. The one module that imports torch; nothing here is imported by others.

>>> from graphgauge.datasets import planted
>>> to_pyg(planted(200, 3).graph)
Data(x=[200, 16], edge_index=[2, 1600], y=[200], num_nodes=200)
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from graphgauge.errors import InputError
from graphgauge.exchange.pyg import MASKS, from_pyg, split_from_pyg
from graphgauge.graph import Graph
from graphgauge.parts import Split

__all__ = ["from_pyg", "split_from_pyg", "to_pyg"]

Names: TypeAlias = Literal["ours", "pyg"]
"""Whether masks are called as parts are here, or as PyG calls them (`MASKS`)."""


def to_pyg(graph: Graph, split: Split | None = None, *, names: Names = "ours") -> Data:
    """Make a ``Data`` of a graph, with a mask for each part of a split.

    Nothing is rounded: values keep their precision, sparse features become a sparse CSR tensor.
    Edges have an ``edge_weight`` unless all weigh 1. `from_pyg` gives the graph back, except for
    its ids and what its classes are called.

    Parameters
    ----------
    graph
        The graph.
    split
        Parts of its nodes.
    names
        ``ours``: masks are called after parts, ``train_mask``, ``valid_in_mask`` …; ``pyg``: as
        PyG's ``NodePropertySplit`` does, ``id_train_mask``, ``id_val_mask`` …

    Examples
    --------
    >>> graph = Graph.from_edges([[0, 1]], 3, labels=[0, 1, 1])
    >>> data = to_pyg(graph, Split({"train": [0, 2], "test": [1]}, 3))
    >>> data.edge_index.tolist(), data.train_mask.tolist()
    ([[0, 1], [1, 0]], [True, False, True])
    """
    entries = graph.adjacency.tocoo()
    content: dict[str, Any] = {"num_nodes": graph.n_nodes}
    content["edge_index"] = _tensor(np.stack(entries.coords), np.int64)
    if not (entries.data == 1).all():
        content["edge_weight"] = _tensor(entries.data)
    if graph.features is not None:
        sparse = sp.issparse(graph.features)
        content["x"] = _sparse_tensor(graph.features) if sparse else _tensor(graph.features)
    if graph.labels is not None:
        content["y"] = _tensor(graph.labels, np.int64)
    if split is not None:
        if split.n_items != graph.n_nodes:
            raise InputError(f"the split is of {split.n_items} items, not {graph.n_nodes} nodes")
        content |= _masks(split, names)
    return Data(**content)


def _tensor(array: Any, dtype: npt.DTypeLike | None = None) -> torch.Tensor:
    """Copy an array, since a graph is frozen and a tensor is not."""
    return torch.from_numpy(np.array(array, dtype))


def _sparse_tensor(matrix: Any) -> torch.Tensor:
    starts, columns = (_tensor(part, np.int64) for part in (matrix.indptr, matrix.indices))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(starts, columns, _tensor(matrix.data), matrix.shape)


def _masks(split: Split, names: Names) -> dict[str, torch.Tensor]:
    masks = {}
    for part, members in split.parts.items():
        mask = torch.zeros(split.n_items, dtype=torch.bool)
        mask[_tensor(members, np.int64)] = True
        masks[f"{MASKS.get(part, part) if names == 'pyg' else part}_mask"] = mask
    return masks
