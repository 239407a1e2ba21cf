"""A graph as networks see it: features and adjacency, and what of them a few nodes depend on."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from graphgauge.arrays import IntArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.methods.sparse import Constant, constant

__all__ = ["Inputs", "Norm", "View", "weighted", "with_loops"]

Norm: TypeAlias = Literal["symmetric", "mean", "sum"]
"""How neighbours are added up: D^-½ A D^-½, D^-1 A, or A."""


@dataclass(frozen=True, eq=False)
class View:
    """The nodes that an output depends on, layer by layer.

    Parameters
    ----------
    start
        Nodes whose first hidden state is needed, or None for all.
    matrices
        For every further aggregation, from the nodes of one layer to those of the next.
    own
        For every further aggregation, where the next layer's nodes stand in this one's, or None
        if they are the same.
    stop
        Which of the last layer's nodes are asked for, or None for all.
    features
        Those of all nodes, for encoders whose noise begins there.
    """

    start: Tensor | None
    matrices: tuple[Constant, ...]
    own: tuple[Tensor | None, ...]
    stop: Tensor | None
    features: Constant | Tensor | None = None

    def enter(self, hidden: Tensor) -> Tensor:
        """Choose the nodes to begin with."""
        return hidden if self.start is None else hidden[self.start]

    def leave(self, hidden: Tensor) -> Tensor:
        """Choose the nodes that were asked for."""
        return hidden if self.stop is None else hidden[self.stop]


class Inputs:
    """Tensors of a graph, built once and then only multiplied with.

    Edges are taken without direction, weight or self-loops.

    Parameters
    ----------
    graph
        With features.
    norm
        How neighbours are added up.
    loops
        Whether every node is a neighbour of its own.
    device
        Where to keep them.

    Attributes
    ----------
    pairs
        The edges ``[e, 2]``, ``u < v``, row by row.

    Examples
    --------
    >>> graph = Graph.from_edges([[0, 1], [1, 2]], 3, features=np.eye(3))
    >>> inputs = Inputs(graph, norm="mean")
    >>> (inputs.adjacency @ torch.tensor([[1.0], [2.0], [4.0]])).flatten().tolist()
    [2.0, 2.5, 2.0]
    """

    def __init__(
        self,
        graph: Graph,
        *,
        norm: Norm = "symmetric",
        loops: bool = False,
        device: torch.device | str = "cpu",
    ) -> None:
        if graph.features is None:
            raise InputError("the graph has no features to train on")
        self.device = torch.device(device)
        self.n_nodes, self.n_features = graph.n_nodes, int(graph.features.shape[1])
        self.features: Constant | Tensor = constant(graph.features, self.device)
        self.pairs = graph.edges
        self._pattern = with_loops(graph.neighbours) if loops else graph.neighbours
        self._weighted = weighted(self._pattern, norm)

    @cached_property
    def adjacency(self) -> Constant:
        """The whole adjacency ``[n, n]``."""
        return Constant(self._weighted, self.device)

    def seen_as(self, features: Tensor) -> Inputs:
        """Take the same graph with other features ``[n, d]``."""
        other = copy(self)
        other.features, other.n_features = features, features.shape[1]
        return other

    def index(self, nodes: IntArray) -> Tensor:
        """Move numbers of nodes to the device."""
        return torch.tensor(np.asarray(nodes, np.int64), device=self.device)

    def whole(self, hops: int, nodes: IntArray | None = None) -> View:
        """Look at all nodes in every layer; the output may be asked for some of them."""
        stop = None if nodes is None else self.index(nodes)
        return View(None, (self.adjacency,) * hops, (None,) * hops, stop, self.features)

    def around(self, nodes: IntArray, hops: int) -> View:
        """Look only at what the output of some nodes depends on, after `hops` aggregations."""
        layers = [np.asarray(nodes)]
        for _ in range(hops):
            reached = self._pattern[layers[0]].indices
            layers.insert(0, np.unique(np.concatenate([layers[0], reached])))
        steps = list(pairwise(layers))
        matrices = tuple(Constant(self._weighted[to][:, of], self.device) for of, to in steps)
        own = tuple(self.index(np.searchsorted(of, to)) for of, to in steps)
        return View(self.index(layers[0]), matrices, own, None, self.features)


def with_loops(pattern: Any) -> Any:
    """Make every node of a pattern without loops a neighbour of its own."""
    return sp.csr_array(pattern + sp.eye_array(pattern.shape[0], dtype=pattern.dtype))


def weighted(pattern: Any, norm: Norm) -> Any:
    """Weigh the neighbours ``[i, j]`` that each node i aggregates; degrees are those of rows."""
    if norm == "sum":
        return pattern
    degrees = np.diff(pattern.indptr)
    inverse = 1 / np.maximum(degrees, 1)
    if norm == "mean":
        return sp.csr_array(sp.diags_array(inverse) @ pattern)
    half = sp.diags_array(np.sqrt(inverse))
    return sp.csr_array(half @ pattern @ half)
