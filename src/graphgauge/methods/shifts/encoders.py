"""Encoders of *shifts*: layers of GELU, normalisation and dropout, in this order."""

from __future__ import annotations

from torch import Generator, Tensor, nn
from torch.nn.functional import gelu

from graphgauge.methods.inputs import Inputs, View
from graphgauge.methods.layers import (
    BatchNorm,
    GcnLayer,
    LayerNorm,
    Linear,
    Noise,
    SageLayer,
    dropout,
)
from graphgauge.methods.network import Encoder
from graphgauge.methods.sparse import Constant

__all__ = ["DenseEncoder", "GcnEncoder", "ResidualEncoder"]

_N_LAYERS = 3


class GcnEncoder(Encoder):
    """Three graph convolutions, each followed by GELU, batch normalisation and dropout."""

    hops = _N_LAYERS - 1
    noisy = True

    def __init__(
        self, n_features: int, width: int, generator: Generator, *, share: float = 0.2
    ) -> None:
        super().__init__()
        self.width, self.share = width, share
        widths = [n_features] + [width] * (_N_LAYERS - 1)
        self.layers = nn.ModuleList(GcnLayer(n_in, width, generator) for n_in in widths)
        self.norms = nn.ModuleList(BatchNorm(width) for _ in widths)

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute the first convolution."""
        return gelu(self.layers[0](inputs.features, inputs.adjacency))

    def body(self, hidden: Tensor, view: View, noise: Noise | None) -> Tensor:
        """Compute the rest."""
        hidden = _drop(self.norms[0](hidden, noise), self.share, noise)
        later = zip(self.layers[1:], self.norms[1:], view.matrices, strict=True)
        for layer, norm, adjacency in later:
            hidden = _drop(norm(gelu(layer(hidden, adjacency)), noise), self.share, noise)
        return hidden


class DenseEncoder(Encoder):
    """The same with linear layers: what GPN propagates from."""

    noisy = True

    def __init__(
        self, n_features: int, width: int, generator: Generator, *, share: float = 0.2
    ) -> None:
        super().__init__()
        self.width, self.share = width, share
        widths = [n_features] + [width] * (_N_LAYERS - 1)
        self.layers = nn.ModuleList(Linear(n_in, width, generator) for n_in in widths)
        self.norms = nn.ModuleList(BatchNorm(width) for _ in widths)

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute the first layer."""
        return gelu(self.layers[0](inputs.features))

    def body(self, hidden: Tensor, view: View, noise: Noise | None) -> Tensor:
        """Compute the rest."""
        hidden = _drop(self.norms[0](hidden, noise), self.share, noise)
        for layer, norm in zip(self.layers[1:], self.norms[1:], strict=True):
            hidden = _drop(norm(gelu(layer(hidden)), noise), self.share, noise)
        return hidden


class ResidualEncoder(Encoder):
    """The modified architecture: a linear layer, then two SAGE layers that are added to it.

    Layers are normalised by rows; dropout follows the SAGE layers alone. On the paper's graphs
    with self-loops a node is among its own neighbours.
    """

    hops = 1
    noisy = True

    def __init__(
        self, n_features: int, width: int, generator: Generator, *, share: float = 0.2
    ) -> None:
        super().__init__()
        self.width, self.share = width, share
        self.first, self.first_norm = Linear(n_features, width, generator), LayerNorm(width)
        later = range(_N_LAYERS - 1)
        self.layers = nn.ModuleList(SageLayer(width, width, generator) for _ in later)
        self.norms = nn.ModuleList(LayerNorm(width) for _ in later)

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute the linear layer and the first SAGE layer."""
        return self._add(0, self.first_norm(self.first(inputs.features)), inputs.adjacency)

    def body(self, hidden: Tensor, view: View, noise: Noise | None) -> Tensor:
        """Compute the second SAGE layer."""
        hidden = dropout(hidden, self.share, noise)
        return _drop(self._add(1, hidden, view.matrices[0], view.own[0]), self.share, noise)

    def _add(self, k: int, x: Tensor, adjacency: Constant, own: Tensor | None = None) -> Tensor:
        """Add a SAGE layer to its own input, and normalise."""
        added = gelu(self.layers[k](x, adjacency, own)) + (x if own is None else x[own])
        normalised: Tensor = self.norms[k](added)
        return normalised


def _drop(normalised: Tensor, share: float, noise: Noise | None) -> Tensor:
    """Drop in place: the gradient of a normalisation asks for its input alone."""
    return dropout(normalised, share, noise, in_place=True)
