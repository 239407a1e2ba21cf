"""The encoder of GAT, of any depth, with dropout of hidden states alone."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Generator, Tensor, nn
from torch.nn.functional import elu

from graphgauge.methods.attention import AttentionLayer
from graphgauge.methods.inputs import Inputs, View
from graphgauge.methods.layers import Noise, dropout
from graphgauge.methods.network import Encoder

__all__ = ["AttentionEncoder"]


class AttentionEncoder(Encoder):
    """Layers of attention; ELU and dropout follow all but the last, whose heads are averaged.

    Parameters
    ----------
    widths
        Of the features, of each head of hidden layers, and of the output.
    generator
        Where weights come from.
    n_heads
        Of every layer.
    share
        Of dropout.
    """

    noisy = True
    local = True

    def __init__(
        self, widths: Sequence[int], generator: Generator, *, n_heads: int, share: float
    ) -> None:
        super().__init__()
        n_features, *hidden, self.width = widths
        self.share, self.hops = share, len(hidden)
        entering = [n_features, *(n_heads * width for width in hidden)]
        self.layers = nn.ModuleList(
            AttentionLayer(n_in, n_out, generator, n_heads=n_heads, joined=depth < self.hops)
            for depth, (n_in, n_out) in enumerate(zip(entering, widths[1:], strict=True))
        )

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute the first layer."""
        first = self._layer(0)
        return elu(first(first.project(inputs.features), inputs.adjacency))

    def body(self, hidden: Tensor, view: View, noise: Noise | None) -> Tensor:
        """Compute the rest."""
        for number, (adjacency, own) in enumerate(zip(view.matrices, view.own, strict=True), 1):
            layer = self._layer(number)
            hidden = layer(layer.project(dropout(hidden, self.share, noise)), adjacency, own)
            hidden = hidden if number == self.hops else elu(hidden)
        return hidden

    def _layer(self, number: int) -> AttentionLayer:
        layer = self.layers[number]
        assert isinstance(layer, AttentionLayer)
        return layer
