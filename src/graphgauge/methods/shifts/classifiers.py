"""ERM, its modified architecture, and MC dropout.

References
----------
Evaluating Robustness and Uncertainty of Graph Models Under Structural Distributional Shifts,
section 5 and appendix F; the order of layers stands only in the authors' code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Generator

from graphgauge.arrays import IntArray
from graphgauge.methods.inputs import Inputs, Norm
from graphgauge.methods.network import Network, SoftmaxHead
from graphgauge.methods.passes import average_passes
from graphgauge.methods.shifts.encoders import GcnEncoder, ResidualEncoder
from graphgauge.methods.trained import Categorical, NetworkPredictor, Size
from graphgauge.predictions import NodePredictions

__all__ = ["Erm", "ErmMcd", "ErmMod"]


@dataclass(frozen=True, kw_only=True)
class Erm(Categorical):
    """Empirical risk minimisation: three graph convolutions and a linear head.

    Also the paper's SE, which is its softmax entropy, and what DE is made of.

    Parameters
    ----------
    share
        Of dropout.
    """

    hidden: int = 256
    share: float = 0.2

    loops: ClassVar[bool] = True
    passes_published: ClassVar[int] = 4

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = GcnEncoder(size.n_features, self.hidden, generator, share=self.share)
        return Network(encoder, SoftmaxHead(self.hidden, size.n_classes, generator))


@dataclass(frozen=True, kw_only=True)
class ErmMod(Categorical):
    """The same with the modified architecture: linear, then two residual SAGE layers."""

    hidden: int = 256
    share: float = 0.2

    norm: ClassVar[Norm] = "mean"
    loops: ClassVar[bool] = True

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = ResidualEncoder(size.n_features, self.hidden, generator, share=self.share)
        return Network(encoder, SoftmaxHead(self.hidden, size.n_classes, generator))


@dataclass(frozen=True, kw_only=True)
class ErmMcd(Erm):
    """Monte Carlo dropout: ERM whose dropout stays on when it predicts.

    Parameters
    ----------
    passes
        Predictions that are averaged.
    """

    passes: int = 50

    def read(self, trained: NetworkPredictor, inputs: Inputs, labels: IntArray) -> NodePredictions:
        """Average passes with dropout."""
        return average_passes(trained, inputs, labels, self.passes)
