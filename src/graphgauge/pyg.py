"""Graphs and splits for PyG, which is imported here and nowhere else; nothing imports this module.

>>> from graphgauge.datasets import planted
>>> to_pyg(planted(200, 3).graph)
Data(x=[200, 16], edge_index=[2, 1600], y=[200], num_nodes=200)
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from graphgauge.errors import InputError
from graphgauge.exchange.pyg import MASKS, from_pyg, split_from_pyg
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.splits import Shift, shift_split
from graphgauge.splits.shift import Property

__all__ = ["ShiftSplit", "from_pyg", "split_from_pyg", "to_pyg"]

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
        _check_names(names)
        content |= _masks(split, names)
    return Data(**content)


class ShiftSplit(BaseTransform):  # type: ignore[misc]
    """Split the nodes of a ``Data`` by a shift, as ``graphgauge split --shift`` does.

    A drop-in replacement for PyG's ``NodePropertySplit``: it adds masks and leaves all else as it
    is. Equal arguments give the parts that `graphgauge.splits.shift_split` and the command line
    give for the same graph, with what `from_pyg` reads of it: lots that divide tied nodes, and
    those in distribution, follow edges, features and classes. So save the graph with
    ``from_pyg(data).save(...)`` to have the same parts on the command line, and split before
    features are scaled, say. A ``y`` that is not one class a node, but several or a measure, is
    left out.

    Parameters
    ----------
    shift
        A name in `graphgauge.splits.SHIFTS`, a `Shift`, or σ itself as an array or as a function
        of the `Graph`.
    ratio, inner, rounding, seed, arguments
        As for `graphgauge.splits.shift_split`.
    names
        ``pyg``: masks ``id_train_mask``, ``id_val_mask``, ``id_test_mask``, ``ood_val_mask`` and
        ``ood_test_mask``, as ``NodePropertySplit`` calls them; ``ours``: ``train_mask``,
        ``valid_in_mask`` …

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> data = ShiftSplit("popularity", ratio=50, seed=0)(to_pyg(planted(200, 3).graph))
    >>> int(data.id_train_mask.sum()), int(data.ood_test_mask.sum())
    (60, 80)
    """

    def __init__(
        self,
        shift: str | Shift | Property,
        *,
        ratio: float = 50,
        inner: Sequence[float] | None = None,
        rounding: str = "nearest",
        seed: int = 0,
        names: Names = "pyg",
        **arguments: Any,
    ) -> None:
        _check_names(names)
        self.shift, self.names = shift, names
        told = {"ratio": ratio, "inner": inner, "rounding": rounding, "seed": seed}
        self.arguments: Mapping[str, Any] = {**told, **arguments}

    def split(self, data: Data) -> Split:
        """Make the parts; their recipe tells what ties have left to chance."""
        graph = from_pyg(data, label="y" if _holds_classes(data) else "")
        return shift_split(graph, self.shift, **self.arguments)

    def forward(self, data: Data) -> Data:
        """Add a mask for each part; called with a shallow copy, so the input stays as it is."""
        for name, mask in _masks(self.split(data), self.names).items():
            data[name] = mask
        return data

    def __repr__(self) -> str:
        """Tell the shift and its ratio."""
        shift = self.shift if isinstance(self.shift, str) else type(self.shift).__name__
        return f"{type(self).__name__}({shift}, ratio={self.arguments['ratio']:g})"


def _holds_classes(data: Data) -> bool:
    """Tell whether ``y`` is a number a node, whole or not known."""
    labels = getattr(data, "y", None)
    labels = torch.from_numpy(labels) if isinstance(labels, np.ndarray) else labels
    if not isinstance(labels, torch.Tensor) or labels.dim() != 1 + (labels.shape[1:] == (1,)):
        return False
    if labels.is_floating_point():
        return bool((labels.isnan() | (labels == labels.round())).all())
    return not labels.is_complex()


def _check_names(names: str) -> None:
    if names not in get_args(Names):
        raise InputError(f"names: {names!r} is neither 'ours' nor 'pyg'")


def _tensor(array: Any, dtype: npt.DTypeLike | None = None) -> torch.Tensor:
    """Copy an array, since a graph is frozen and a tensor is not."""
    return torch.from_numpy(np.array(array, dtype))


def _sparse_tensor(matrix: Any) -> torch.Tensor:
    starts, columns = (_tensor(part, np.int64) for part in (matrix.indptr, matrix.indices))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(
            starts, columns, _tensor(matrix.data), matrix.shape, check_invariants=True
        )


def _masks(split: Split, names: Names) -> dict[str, torch.Tensor]:
    masks = {}
    for part, members in split.parts.items():
        mask = torch.zeros(split.n_items, dtype=torch.bool)
        mask[_tensor(members, np.int64)] = True
        masks[f"{MASKS.get(part, part) if names == 'pyg' else part}_mask"] = mask
    return masks
