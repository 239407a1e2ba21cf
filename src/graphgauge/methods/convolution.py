"""Graph convolutions down to the logits: the GCN that both papers on calibration train."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import Generator, Tensor, nn

from graphgauge.methods.inputs import Inputs, View
from graphgauge.methods.layers import GcnLayer, Noise, dropout
from graphgauge.methods.network import Encoder

__all__ = ["ConvolutionEncoder"]


class ConvolutionEncoder(Encoder):
    """Graph convolutions; ReLU and dropout follow all but the last.

    Parameters
    ----------
    widths
        Of the features, of hidden states, and of the output.
    generator
        Where weights come from.
    share
        Of dropout.

    References
    ----------
    Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017.
    """

    noisy = True
    local = True

    def __init__(self, widths: Sequence[int], generator: Generator, *, share: float) -> None:
        super().__init__()
        self.width, self.share, self.hops = widths[-1], share, len(widths) - 2
        self.layers = nn.ModuleList(GcnLayer(*pair, generator) for pair in pairwise(widths))

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute the first convolution."""
        hidden: Tensor = self.layers[0](inputs.features, inputs.adjacency)
        return hidden.relu()

    def body(self, hidden: Tensor, view: View, noise: Noise | None) -> Tensor:
        """Compute the rest."""
        for layer, adjacency in zip(self.layers[1:], view.matrices, strict=True):
            last = layer is self.layers[-1]
            hidden = layer(dropout(hidden, self.share, noise), adjacency)
            hidden = hidden if last else hidden.relu()
        return hidden
