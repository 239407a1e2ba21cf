"""GCN and GAT: networks whose output is a logit a class, node by node.

References
----------
Hsu, Shen and Cremers, A Graph Is More Than Its Nodes, 2022, appendix C.2; where dropout is, and
when training stops, stand only in the authors' code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Generator

from graphgauge.methods.convolution import ConvolutionEncoder
from graphgauge.methods.edgewise.attention import AttentionEncoder
from graphgauge.methods.losses import cross_entropy, error_rate
from graphgauge.methods.network import LogitsHead, Network
from graphgauge.methods.stopping import Stop
from graphgauge.methods.trained import Categorical, Size
from graphgauge.methods.training import Objective, Phase

__all__ = ["Edgewise", "Gat", "Gcn"]


@dataclass(frozen=True, kw_only=True)
class Edgewise(Categorical):
    """What methods of the paper share: Adam until neither accuracy nor loss gains.

    An epoch is kept if on validation data both its accuracy and its loss are at least as good as
    the best so far, each by itself. Both protocols are the same but where a method says so.

    Parameters
    ----------
    share
        Of dropout.
    patience
        After how many epochs in a row without gain in either training stops.
    """

    epochs: int = 2000
    rate: float = 1e-2
    decay: float = 5e-4
    hidden: int = 64
    share: float = 0.5
    patience: int = 100

    loops: ClassVar[bool] = True

    def main(self) -> Phase:
        """Say how all of it is trained."""
        return replace(super().main(), stop=Stop(self.patience, ties=True))

    def criteria(self) -> Sequence[Objective]:
        """Watch accuracy and loss."""
        return error_rate, cross_entropy


@dataclass(frozen=True, kw_only=True)
class Gcn(Edgewise):
    """Two graph convolutions, with dropout between them.

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
        widths = (size.n_features, self.hidden, size.n_classes)
        return Network(ConvolutionEncoder(widths, generator, share=self.share), LogitsHead())


@dataclass(frozen=True, kw_only=True)
class Gat(Edgewise):
    """Two layers of attention; dropout is in front of both, and on all of their weights.

    Parameters
    ----------
    hidden
        Width of each head of the first layer; the second has one, as wide as there are classes.
    n_heads
        Heads of the first layer, side by side.
    """

    hidden: int = 8
    n_heads: int = 8

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        widths = (size.n_features, self.hidden, size.n_classes)
        encoder = AttentionEncoder(widths, generator, n_heads=self.n_heads, share=self.share)
        return Network(encoder, LogitsHead())
