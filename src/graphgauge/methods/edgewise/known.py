"""Nodes whose classes a model keeps in mind, and so the graph that it is of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from graphgauge.arrays import IntArray
from graphgauge.errors import InputError
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.trained import Given

__all__ = ["Known"]


@dataclass(frozen=True, eq=False)
class Known:
    """Classes of the nodes to train on.

    Parameters
    ----------
    nodes, classes
        In the order of the graph ``[t]``.
    pairs, n_nodes
        Edges and size of the graph.
    """

    nodes: Tensor
    classes: Tensor
    pairs: IntArray
    n_nodes: int

    @classmethod
    def of(cls, given: Given) -> Known:
        """Take what is given for training."""
        inputs = given.inputs
        nodes = inputs.index(np.sort(given.parts[0]))
        return cls(nodes, given.labels[nodes], inputs.pairs, inputs.n_nodes)

    def put(self, probs: Tensor) -> Tensor:
        """Make the known nodes of ``[n, C]`` certain."""
        certain = probs.detach().clone()
        certain[self.nodes] = 0
        certain[self.nodes, self.classes] = 1
        return certain

    def check(self, inputs: Inputs) -> None:
        """Refuse any other graph."""
        same = inputs.n_nodes == self.n_nodes and np.array_equal(inputs.pairs, self.pairs)
        if not same:
            raise InputError(
                "edges: not those of the graph it was trained on, whose nodes it knows"
            )
