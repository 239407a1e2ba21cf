"""NatPN and GPN of *shifts*.

References
----------
Evaluating Robustness and Uncertainty of Graph Models Under Structural Distributional Shifts,
section 5.2 and appendix F.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Generator

from graphgauge.methods.network import Network, Propagation
from graphgauge.methods.posterior import Posterior
from graphgauge.methods.shifts.encoders import DenseEncoder, GcnEncoder
from graphgauge.methods.trained import Size

__all__ = ["GraphPosteriorNetwork", "NaturalPosteriorNetwork"]


@dataclass(frozen=True, kw_only=True)
class _Wide(Posterior):
    """Layers as wide as ERM's, with its normalisation and dropout."""

    hidden: int = 256
    share: float = 0.2

    loops: ClassVar[bool] = True
    stirred: ClassVar[bool] = True
    passes_published: ClassVar[int] = 5


@dataclass(frozen=True, kw_only=True)
class NaturalPosteriorNetwork(_Wide):
    """NatPN: one flow behind three graph convolutions, shared out by a softmax."""

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = GcnEncoder(size.n_features, self.hidden, generator, share=self.share)
        return self.natural(encoder, size, generator)


@dataclass(frozen=True, kw_only=True)
class GraphPosteriorNetwork(_Wide):
    """GPN: a flow for every class behind three linear layers, and propagation."""

    propagation_steps: int = 5
    teleport: float = 0.2

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = DenseEncoder(size.n_features, self.hidden, generator, share=self.share)
        spread = Propagation(self.propagation_steps, self.teleport)
        return self.standard(encoder, size, generator, spread)
