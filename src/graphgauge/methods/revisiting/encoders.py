"""Encoders of *revisiting*: two layers with tanh, neither dropout nor normalisation."""

from __future__ import annotations

from torch import Generator, Tensor

from graphgauge.methods.inputs import Inputs
from graphgauge.methods.layers import Linear, SageLayer
from graphgauge.methods.network import Encoder

__all__ = ["DenseEncoder", "SageEncoder"]


class DenseEncoder(Encoder):
    """Two linear layers, blind to the graph."""

    def __init__(self, n_features: int, width: int, generator: Generator) -> None:
        super().__init__()
        self.width = width
        self.first = Linear(n_features, width, generator)
        self.second = Linear(width, width, generator)

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute both layers: there is no noise."""
        hidden: Tensor = self.second(self.first(inputs.features).tanh()).tanh()
        return hidden


class SageEncoder(Encoder):
    """Two SAGE layers with the mean of neighbours, themselves left out."""

    def __init__(self, n_features: int, width: int, generator: Generator) -> None:
        super().__init__()
        self.width = width
        self.first = SageLayer(n_features, width, generator)
        self.second = SageLayer(width, width, generator)

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute both layers: there is no noise."""
        hidden = self.first(inputs.features, inputs.adjacency).tanh()
        hidden = self.second(hidden, inputs.adjacency).tanh()
        return hidden  # type: ignore[no-any-return]
