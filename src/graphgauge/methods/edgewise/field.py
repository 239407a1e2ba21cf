"""The pairwise Markov random field of EPFGNN: its edges, one step of mean field, its pieces.

S(y) = Σ_i U_i(y_i) + Σ_{i<j} r_ij B(y_i, y_j) over nodes and edges, where U is what the encoder
puts out, B a symmetric coupling of classes, and r_ij the strength of an edge.

References
----------
Wang, Shen and Cremers, Explicit Pairwise Factorized Graph Neural Network for Semi-Supervised Node
Classification, UAI 2021; Sutton and McCallum, Piecewise Training for Undirected Models, UAI 2005.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch
from torch import Generator, Tensor, nn

from graphgauge.arrays import IntArray
from graphgauge.methods.edgewise.known import Known
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.network import Head
from graphgauge.methods.sparse import Constant
from graphgauge.methods.training import Lesson, Step

__all__ = ["Edges", "FieldHead", "Pieces", "log_partitions"]


class Edges:
    """Both directions of every edge, as the entries of the adjacency without loops, row by row.

    Examples
    --------
    >>> from graphgauge.graph import Graph
    >>> edges = Edges(Inputs(Graph.from_edges([[0, 1], [1, 2]], 3, features=np.eye(3))))
    >>> edges.of_entry.tolist(), edges.crossed.tolist()
    ([0, 0, 1, 1], [0, 1, 0, 1])
    """

    def __init__(self, inputs: Inputs) -> None:
        self.pairs: IntArray = inputs.pairs
        n_edges, shape = len(self.pairs), (inputs.n_nodes,) * 2
        numbers = sp.coo_array((np.arange(n_edges) + 1, self.pairs.T), shape).tocsr()
        both = sp.csr_array(numbers + numbers.T)
        both.sort_indices()
        self.pattern = Constant(both, inputs.device).pattern
        self.of_entry = inputs.index(both.data - 1)
        # The authors' code has strengths by edges where entries come by rows.
        self.crossed = torch.arange(n_edges, device=inputs.device).repeat(2)

    @cached_property
    def pieces(self) -> Tensor:
        """In how many pieces a node is: its own, and those of its neighbours ``[n, 1]``."""
        return (self.pattern.starts.diff() + 1)[:, None].to(torch.float32)


class FieldHead(Head):
    """One step of mean field from beliefs that are given: U_i + Σ_j r_ij B q_j.

    Parameters
    ----------
    n_classes, n_edges
        Of the graph; `edges`, `known` and `beliefs` are to be set before it is used.
    generator
        Where the coupling comes from.
    crossed
        Whether a step reads the strengths in the wrong order, as the authors' code does.
    """

    propagates = True

    edges: Edges
    known: Known
    beliefs: Tensor

    def __init__(
        self, n_classes: int, n_edges: int, generator: Generator, *, crossed: bool = False
    ) -> None:
        super().__init__()
        drawn = torch.randn(n_classes, n_classes, generator=generator, dtype=torch.float32)
        self.weight = nn.Parameter((drawn + torch.eye(n_classes)) / n_classes)
        self.strengths = nn.Parameter(torch.zeros(n_edges, dtype=torch.float32))
        self.crossed = crossed

    @property
    def coupling(self) -> Tensor:
        """B ``[C, C]``."""
        return (self.weight + self.weight.T) / 2

    def believe(self, logits: Tensor) -> None:
        """Renew beliefs; those of known nodes are certain."""
        self.beliefs = self.known.put(logits.softmax(dim=1))

    def forward(self, hidden: Tensor, inputs: Inputs) -> Tensor:
        """Take a step from the beliefs, which it does not change."""
        return hidden + self.pull()

    def pull(self) -> Tensor:
        """Compute what neighbours add: Σ_j r_ij B q_j ``[n, C]``."""
        order = self.edges.crossed if self.crossed else self.edges.of_entry
        strengths = self.strengths.index_select(0, order)
        return self.edges.pattern.multiply(strengths[None], self.beliefs[None])[0] @ self.coupling


class Pieces(Lesson):
    """Less the mean over nodes of E_q[score] − log Z of the star around each.

    The stars share out U and B so that their scores add up to S.
    """

    def forward(self, step: Step) -> Tensor:
        """Compute the loss of a step."""
        head, unaries = step.network.head, step.hidden()
        assert isinstance(head, FieldHead)
        expected = (head.beliefs * (unaries + head.pull() / 2)).sum()
        found = log_partitions(unaries, head.coupling, head.strengths, head.edges)
        return (found.sum() - expected) / len(unaries)


def log_partitions(unaries: Tensor, coupling: Tensor, strengths: Tensor, edges: Edges) -> Tensor:
    """Compute log Z of the star around every node ``[n]``.

    A star has its nodes' U over the number of stars that they are in, and half of its edges' r B.
    """
    shares = unaries / edges.pieces
    halves = strengths.index_select(0, edges.of_entry)[:, None, None] * (coupling / 2)
    leaves = shares.index_select(0, edges.pattern.columns)
    messages = (leaves[:, :, None] + halves).logsumexp(dim=1)
    return (shares + edges.pattern.sums @ messages).logsumexp(dim=1)
