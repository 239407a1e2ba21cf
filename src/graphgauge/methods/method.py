"""What a method is: something that is fitted to a part of a graph and then predicts all nodes."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.predictions import NodePredictions

__all__ = ["Method", "Predictor"]


@runtime_checkable
class Predictor(Protocol):
    """A fitted method."""

    def predict(self, graph: Graph) -> NodePredictions:
        """Predict every node: probabilities, the graph's labels, uncertainties.

        Parts are left to the caller.
        """
        ...


@runtime_checkable
class Method(Protocol):
    """Anything that yields probabilities for nodes; two classes of a few lines make one.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgauge.datasets import planted
    >>> class Shares:
    ...     def fit(self, graph, split, *, seed):
    ...         self.shares = np.bincount(graph.labels[split["train"]]) / len(split["train"])
    ...         return self
    ...
    ...     def predict(self, graph):
    ...         return NodePredictions(np.tile(self.shares, (graph.n_nodes, 1)), graph.labels)
    >>> made = planted(200, 3)
    >>> isinstance(Shares(), Method)
    True
    >>> Shares().fit(made.graph, made.split, seed=0).predict(made.graph).n_classes
    3
    """

    def fit(self, graph: Graph, split: Split, *, seed: int) -> Predictor:
        """Train on ``train``, choose on ``valid_in`` (or ``valid``); see no other label.

        The same seed gives the same predictor, bit by bit, on one machine.
        """
        ...
