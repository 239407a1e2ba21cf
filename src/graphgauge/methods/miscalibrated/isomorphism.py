"""GIN: neighbours are summed, and a perceptron tells sums apart."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn

from graphgauge.methods.dense import project
from graphgauge.methods.inputs import Inputs, View
from graphgauge.methods.layers import BatchNorm, Noise, dropout, uniform
from graphgauge.methods.network import Encoder
from graphgauge.methods.sparse import Constant

__all__ = ["IsomorphismEncoder", "IsomorphismLayer"]


class IsomorphismLayer(nn.Module):
    """``MLP((1 + ε) x + Σ neighbours' x)`` with ε learned, from zero.

    The perceptron has two layers, each with batch normalisation and ReLU. It has no biases: what
    follows a bias here would take it away again.

    References
    ----------
    Xu et al., How Powerful Are Graph Neural Networks?, ICLR 2019, equation 4.1.
    """

    def __init__(self, n_in: int, width: int, generator: Generator) -> None:
        super().__init__()
        self.epsilon = nn.Parameter(torch.zeros((), dtype=torch.float32))
        bounds = [(n, 1 / math.sqrt(n)) for n in (n_in, width)]
        self.weights = nn.ParameterList(
            uniform(n, width, bound=bound, generator=generator) for n, bound in bounds
        )
        self.norms = nn.ModuleList(BatchNorm(width) for _ in range(2))

    def gather(
        self, x: Tensor | Constant, adjacency: Constant, own: Tensor | None = None
    ) -> Tensor:
        """Project, and add up neighbours and the layer's nodes, which stand at `own` in x."""
        projected = project(x, self.weights[0])
        centres = projected if own is None else projected[own]
        return torch.addcmul(adjacency @ projected, centres, 1 + self.epsilon)

    def finish(self, gathered: Tensor, noise: Noise | None) -> Tensor:
        """Compute the rest of the perceptron."""
        hidden = self.norms[0](gathered, noise).relu()
        found: Tensor = self.norms[1](project(hidden, self.weights[1]), noise)
        return found.relu()


class IsomorphismEncoder(Encoder):
    """Some such layers, and dropout in front of the head.

    Parameters
    ----------
    n_features, width, n_layers
        Of the layers.
    generator
        Where weights come from.
    share
        Of dropout.
    """

    noisy = True

    def __init__(
        self, n_features: int, width: int, n_layers: int, generator: Generator, *, share: float
    ) -> None:
        super().__init__()
        self.width, self.share, self.hops = width, share, n_layers - 1
        widths = [n_features] + [width] * (n_layers - 1)
        self.layers = nn.ModuleList(IsomorphismLayer(n_in, width, generator) for n_in in widths)

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute the first layer as far as its first normalisation."""
        return self._layer(0).gather(inputs.features, inputs.adjacency)

    def body(self, hidden: Tensor, view: View, noise: Noise | None) -> Tensor:
        """Compute the rest."""
        hidden = self._layer(0).finish(hidden, noise)
        for number, (adjacency, own) in enumerate(zip(view.matrices, view.own, strict=True), 1):
            layer = self._layer(number)
            hidden = layer.finish(layer.gather(hidden, adjacency, own), noise)
        return dropout(hidden, self.share, noise)

    def _layer(self, number: int) -> IsomorphismLayer:
        layer = self.layers[number]
        assert isinstance(layer, IsomorphismLayer)
        return layer
