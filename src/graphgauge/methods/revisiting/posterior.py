"""PN, NatPN, GPN and NatGPN: densities of flows as evidence, trained in three phases.

References
----------
Revisiting Uncertainty Estimation for Node Classification, appendices E and G.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Generator

from graphgauge.methods.inputs import Norm
from graphgauge.methods.network import Network, Propagation
from graphgauge.methods.posterior import Posterior
from graphgauge.methods.revisiting.encoders import DenseEncoder, SageEncoder
from graphgauge.methods.trained import Knowledge, Size

__all__ = [
    "GraphPosteriorNetwork",
    "NaturalGraphPosteriorNetwork",
    "NaturalPosteriorNetwork",
    "PosteriorNetwork",
]


@dataclass(frozen=True, kw_only=True)
class _Encoding(Posterior):
    """The graph is used to encode nodes; knowledge is −α0, as the paper defines it."""

    norm: ClassVar[Norm] = "mean"
    knowledge: ClassVar[Knowledge] = "evidence"

    def encoder(self, size: Size, generator: Generator) -> SageEncoder:
        return SageEncoder(size.n_features, self.hidden, generator)


@dataclass(frozen=True, kw_only=True)
class _Propagating(Posterior):
    """Evidence is propagated over the graph, without self-loops."""

    knowledge: ClassVar[Knowledge] = "evidence"

    def encoder(self, size: Size, generator: Generator) -> DenseEncoder:
        return DenseEncoder(size.n_features, self.hidden, generator)


@dataclass(frozen=True, kw_only=True)
class PosteriorNetwork(_Encoding):
    """PN: a flow for every class behind SAGE layers."""

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        return self.standard(self.encoder(size, generator), size, generator)


@dataclass(frozen=True, kw_only=True)
class NaturalPosteriorNetwork(_Encoding):
    """NatPN: one flow behind SAGE layers, shared out by a softmax."""

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        return self.natural(self.encoder(size, generator), size, generator)


@dataclass(frozen=True, kw_only=True)
class GraphPosteriorNetwork(_Propagating):
    """GPN: a flow for every class behind linear layers, and propagation."""

    propagation_steps: int = 5
    teleport: float = 0.2

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        spread = Propagation(self.propagation_steps, self.teleport)
        return self.standard(self.encoder(size, generator), size, generator, spread)


@dataclass(frozen=True, kw_only=True)
class NaturalGraphPosteriorNetwork(_Propagating):
    """NatGPN: one flow behind linear layers, shared out by a softmax, and propagation."""

    propagation_steps: int = 5
    teleport: float = 0.2

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        spread = Propagation(self.propagation_steps, self.teleport)
        return self.natural(self.encoder(size, generator), size, generator, spread)
