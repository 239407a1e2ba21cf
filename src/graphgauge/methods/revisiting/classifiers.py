"""MLP, GNN and EN: networks without flows, trained in one phase.

References
----------
Revisiting Uncertainty Estimation for Node Classification, sections 4.1 and 4.2, appendix G; the
activation and the depth of the head stand only in the authors' code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Generator

from graphgauge.methods.inputs import Norm
from graphgauge.methods.network import EvidenceHead, Network, SoftmaxHead
from graphgauge.methods.revisiting.encoders import DenseEncoder, SageEncoder
from graphgauge.methods.trained import Categorical, Dirichlet, Knowledge, Size

__all__ = ["EvidentialNetwork", "Gnn", "Mlp"]


@dataclass(frozen=True, kw_only=True)
class Mlp(Categorical):
    """Two linear layers and a linear head: a lower bound that does not see the graph."""

    norm: ClassVar[Norm] = "mean"

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = DenseEncoder(size.n_features, self.hidden, generator)
        return Network(encoder, SoftmaxHead(self.hidden, size.n_classes, generator))


@dataclass(frozen=True, kw_only=True)
class Gnn(Categorical):
    """Two SAGE layers and a head of two linear ones."""

    norm: ClassVar[Norm] = "mean"

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = SageEncoder(size.n_features, self.hidden, generator)
        return Network(encoder, SoftmaxHead(self.hidden, size.n_classes, generator, deep=True))


@dataclass(frozen=True, kw_only=True)
class EvidentialNetwork(Dirichlet):
    """The GNN, trained to predict a Dirichlet; knowledge is −α0, as the paper defines it."""

    norm: ClassVar[Norm] = "mean"
    knowledge: ClassVar[Knowledge] = "evidence"

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = SageEncoder(size.n_features, self.hidden, generator)
        return Network(encoder, EvidenceHead(self.hidden, size.n_classes, generator, deep=True))
