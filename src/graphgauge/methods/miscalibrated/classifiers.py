"""GCN, GAT and GIN, trained on balanced classes, each with and without dropout as it predicts.

References
----------
Teixeira, Jalaian and Ribeiro, Are Graph Neural Networks Miscalibrated?, 2019, supplement A.2 and B.
The paper searches all hyper-parameters, and no code that trained its models is public: what it does
not say is chosen here, and both protocols are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Generator

from graphgauge.arrays import IntArray
from graphgauge.errors import InputError
from graphgauge.methods.convolution import ConvolutionEncoder
from graphgauge.methods.inputs import Inputs, Norm
from graphgauge.methods.losses import balanced_cross_entropy, balanced_error_rate
from graphgauge.methods.miscalibrated.attention import AttentionEncoder
from graphgauge.methods.miscalibrated.isomorphism import IsomorphismEncoder
from graphgauge.methods.network import LogitsHead, Network, SoftmaxHead
from graphgauge.methods.passes import average_passes
from graphgauge.methods.stopping import Stop
from graphgauge.methods.trained import Categorical, NetworkPredictor, Size
from graphgauge.methods.training import Objective, Phase
from graphgauge.predictions import NodePredictions

__all__ = ["Balanced", "Gat", "GatMcd", "Gcn", "GcnMcd", "Gin", "GinMcd", "WithPasses"]


@dataclass(frozen=True, kw_only=True)
class Balanced(Categorical):
    """What methods of the paper share: classes weigh the same, and training ends by patience.

    Parameters
    ----------
    n_layers
        How many; the paper tries 2, 3 and 4.
    share
        Of dropout, of hidden states: in front of every layer but the first, for GIN in front of
        the linear one at the end. The paper tries 0.1, 0.5 and 0.8.
    patience
        After how many epochs in a row without gain in validation training stops.
    halving
        After how many epochs the rate is halved.
    select
        By what the epoch is chosen in validation: ``accuracy`` or ``loss``, both balanced.
    """

    epochs: int = 200
    rate: float = 1e-2
    decay: float = 5e-4
    hidden: int = 64
    n_layers: int = 2
    share: float = 0.5
    patience: int = 50
    halving: int = 75
    select: str = "accuracy"

    loops: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.select not in ("accuracy", "loss"):
            raise InputError(f"select: {self.select!r} is neither 'accuracy' nor 'loss'")
        if self.n_layers < 2:
            raise InputError(f"n_layers: {self.n_layers} is less than 2")

    def main(self) -> Phase:
        """Say how all of it is trained."""
        return replace(super().main(), halving=self.halving, stop=Stop(self.patience))

    def objective(self) -> Objective:
        """Take the cross-entropy, averaged over classes."""
        return balanced_cross_entropy

    def criteria(self) -> Sequence[Objective]:
        """Choose by accuracy, if that is asked for."""
        return [balanced_error_rate] if self.select == "accuracy" else []

    def widths(self, size: Size) -> list[int]:
        """List the widths of layers, from features to classes."""
        return [size.n_features, *[self.hidden] * (self.n_layers - 1), size.n_classes]


@dataclass(frozen=True, kw_only=True)
class Gcn(Balanced):
    """Graph convolutions.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> made = planted(200, 3)
    >>> trained = Gcn(hidden=8, epochs=5).fit(made.graph, made.split, seed=0)
    >>> trained.predict(made.graph).n_classes
    3
    """

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = ConvolutionEncoder(self.widths(size), generator, share=self.share)
        return Network(encoder, LogitsHead())


@dataclass(frozen=True, kw_only=True)
class Gat(Balanced):
    """Layers of attention.

    Parameters
    ----------
    hidden
        Width of a head; the paper tries 16, 32 and 50.
    n_heads
        Side by side, and averaged in the last layer.
    """

    hidden: int = 16
    n_heads: int = 8

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        widths = self.widths(size)
        encoder = AttentionEncoder(widths, generator, n_heads=self.n_heads, share=self.share)
        return Network(encoder, LogitsHead())


@dataclass(frozen=True, kw_only=True)
class Gin(Balanced):
    """Sums of neighbours with perceptrons, and a linear layer at the end."""

    norm: ClassVar[Norm] = "sum"
    loops: ClassVar[bool] = False

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = IsomorphismEncoder(
            size.n_features, self.hidden, self.n_layers, generator, share=self.share
        )
        return Network(encoder, SoftmaxHead(self.hidden, size.n_classes, generator))


@dataclass(frozen=True, kw_only=True)
class WithPasses:
    """Predicts by the mean of passes with dropout; training is the same.

    It has no field but its own: any other would take the place of the network's.

    Parameters
    ----------
    passes
        Predictions that are averaged.
    """

    passes: int = 100

    def read(self, trained: NetworkPredictor, inputs: Inputs, labels: IntArray) -> NodePredictions:
        """Average passes with dropout."""
        return average_passes(trained, inputs, labels, self.passes)


@dataclass(frozen=True, kw_only=True)
class GcnMcd(WithPasses, Gcn):
    """GCN with MC dropout."""


@dataclass(frozen=True, kw_only=True)
class GatMcd(WithPasses, Gat):
    """GAT with MC dropout."""


@dataclass(frozen=True, kw_only=True)
class GinMcd(WithPasses, Gin):
    """GIN with MC dropout."""
