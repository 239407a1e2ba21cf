"""The encoder of GAT, with noise from the features on."""

from __future__ import annotations

from typing import Any

from torch import Generator, Tensor
from torch.nn.functional import elu

from graphgauge.methods.attention import AttentionLayer
from graphgauge.methods.inputs import Inputs, View
from graphgauge.methods.layers import Noise, dropout
from graphgauge.methods.network import Encoder

__all__ = ["AttentionEncoder"]


class AttentionEncoder(Encoder):
    """Two layers of attention with ELU between; dropout of what enters each, and of its weights.

    Parameters
    ----------
    widths
        Of the features, of each head of the first layer, and of the output.
    generator
        Where weights come from.
    n_heads
        Of the first layer; the second has one.
    share
        Of dropout.
    """

    hops = 2
    noisy = True
    local = True

    def __init__(
        self, widths: tuple[int, int, int], generator: Generator, *, n_heads: int, share: float
    ) -> None:
        super().__init__()
        n_features, hidden, self.width = widths
        self.share = share
        self.first = AttentionLayer(n_features, hidden, generator, n_heads=n_heads)
        self.second = AttentionLayer(n_heads * hidden, self.width, generator, n_heads=1)

    def stem(self, inputs: Inputs) -> Tensor:
        """Project the features; where there is noise, the body does so itself."""
        return self.first.project(inputs.features)

    def body(self, hidden: Tensor, view: View, noise: Noise | None) -> Tensor:
        """Compute both layers."""
        dropped: dict[str, Any] = {"share": self.share, "noise": noise}
        if noise is not None:
            assert view.features is not None
            hidden = view.enter(self.first.project(view.features, **dropped))
        hidden = elu(self.first(hidden, view.matrices[0], view.own[0], **dropped))
        projected = self.second.project(dropout(hidden, self.share, noise))
        output: Tensor = self.second(projected, view.matrices[1], view.own[1], **dropped)
        return output
