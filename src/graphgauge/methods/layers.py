"""Layers that draw from a generator of their own, for sparse and dense input.

Noise is an argument: a layer that is given some trains, one that is given None predicts.
So no layer carries a mode that could be forgotten, and none touches torch's global generator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import batch_norm, layer_norm

from graphgauge.methods.dense import affine, project
from graphgauge.methods.sparse import Constant

__all__ = [
    "BatchNorm",
    "GcnLayer",
    "LayerNorm",
    "Linear",
    "Noise",
    "SageLayer",
    "dropout",
    "uniform",
]


@dataclass(frozen=True)
class Noise:
    """What makes training differ from prediction.

    Parameters
    ----------
    generator
        Where dropout comes from.
    batch
        Whether batch normalisation uses, and remembers, the statistics of the batch.
    passes
        How many passes in training mode a step stands for.
    """

    generator: Generator
    batch: bool = True
    passes: int = 1


def uniform(*shape: int, bound: float, generator: Generator) -> nn.Parameter:
    """Draw a parameter from U(−bound, bound)."""
    drawn = torch.empty(shape, dtype=torch.float32)
    return nn.Parameter(drawn.uniform_(-bound, bound, generator=generator))


class Linear(nn.Module):
    """``x W + b`` for dense or sparse x; both start uniform within 1/√n_in.

    Examples
    --------
    >>> layer = Linear(3, 2, torch.Generator().manual_seed(0))
    >>> layer(torch.ones(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, n_in: int, n_out: int, generator: Generator) -> None:
        super().__init__()
        bound = 1 / math.sqrt(n_in)
        self.weight = uniform(n_in, n_out, bound=bound, generator=generator)
        self.bias = uniform(n_out, bound=bound, generator=generator)

    def forward(self, x: Tensor | Constant) -> Tensor:
        """Map ``[n, n_in]`` to ``[n, n_out]``."""
        return affine(x, self.weight, self.bias)


class GcnLayer(nn.Module):
    """Graph convolution ``Â x W + b`` (Kipf and Welling, ICLR 2017); Xavier weight, zero bias.

    Where batch normalisation follows, a bias has no gradient but rounding, which Adam makes steps
    of; so it may be left at zero.
    """

    bias: Tensor

    def __init__(self, n_in: int, n_out: int, generator: Generator, *, bias: bool = True) -> None:
        super().__init__()
        bound = math.sqrt(6 / (n_in + n_out))
        self.weight = uniform(n_in, n_out, bound=bound, generator=generator)
        zeros = torch.zeros(n_out, dtype=torch.float32)
        if bias:
            self.bias = nn.Parameter(zeros)
        else:
            self.register_buffer("bias", zeros)

    def forward(self, x: Tensor | Constant, adjacency: Constant) -> Tensor:
        """Aggregate the narrower side: before the projection unless that makes rows shorter."""
        n_in, n_out = self.weight.shape
        if isinstance(x, Constant) or n_out < n_in:
            return adjacency @ project(x, self.weight) + self.bias
        return affine(adjacency @ x, self.weight, self.bias)


class SageLayer(nn.Module):
    """``x W₁ + mean of neighbours' x W₂ + b`` (Hamilton et al., NeurIPS 2017).

    Both weights are halves of one matrix, so that x is read once. Xavier with gain √2.
    """

    def __init__(self, n_in: int, n_out: int, generator: Generator) -> None:
        super().__init__()
        bound = math.sqrt(12 / (n_in + n_out))
        self.weight = uniform(n_in, 2 * n_out, bound=bound, generator=generator)
        self.bias = uniform(n_out, bound=1 / math.sqrt(n_in), generator=generator)

    def forward(
        self, x: Tensor | Constant, adjacency: Constant, own: Tensor | None = None
    ) -> Tensor:
        """Map a layer's nodes to the next layer's, which stand at `own` in x."""
        n_out = len(self.bias)
        if own is not None and isinstance(x, Tensor):
            both = torch.cat([x[own], adjacency @ x], dim=1)
            stacked = torch.cat([self.weight[:, :n_out], self.weight[:, n_out:]])
            return affine(both, stacked, self.bias)
        both = project(x, self.weight)
        return adjacency @ both[:, n_out:].contiguous() + (both[:, :n_out] + self.bias)


class BatchNorm(nn.Module):
    """Batch normalisation; what it remembers of the past decays by 0.9 a pass.

    The authors of *shifts* make passes in training mode for uncertainties that nobody reads. Their
    statistics are those of the pass that counts, but for dropout: one update with what all of them
    come to, 1 − 0.9ⁿ, stands for them.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, dtype=torch.float32))
        self.bias = nn.Parameter(torch.zeros(width, dtype=torch.float32))
        self.register_buffer("mean", torch.zeros(width, dtype=torch.float32))
        self.register_buffer("variance", torch.ones(width, dtype=torch.float32))

    def forward(self, x: Tensor, noise: Noise | None) -> Tensor:
        """Normalise by the batch if it trains, else by what was seen."""
        trains = noise is not None and noise.batch
        learned = (self.mean, self.variance, self.weight, self.bias)
        return batch_norm(x, *learned, trains, 1 - 0.9**noise.passes if noise else 0.0)


class LayerNorm(nn.Module):
    """Layer normalisation of every row."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, dtype=torch.float32))
        self.bias = nn.Parameter(torch.zeros(width, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise rows."""
        return layer_norm(x, self.weight.shape, self.weight, self.bias)


def dropout(x: Tensor, share: float, noise: Noise | None, *, in_place: bool = False) -> Tensor:
    """Set a share of entries to zero and scale the rest up; nothing without noise.

    Sixteen random bits decide on an entry: a quarter of the draws of torch's own dropout, and the
    share is met to within 2⁻¹⁷.

    Examples
    --------
    >>> x = dropout(torch.ones(100, 100), 0.2, Noise(torch.Generator().manual_seed(0)))
    >>> sorted(set(x.flatten().tolist())), round(float((x == 0).float().mean()), 2)
    ([0.0, 1.25], 0.2)
    """
    if noise is None or not share:
        return x
    bits = torch.empty((x.numel() + 3) // 4, dtype=torch.int64, device=x.device)
    lanes = bits.random_(-(2**63), None, generator=noise.generator).view(torch.int16)
    # Compared into numbers at once: a mask of truth values would take longer than the draws.
    kept = torch.empty_like(x, requires_grad=False)
    torch.ge(lanes[: x.numel()].view(x.shape), round(share * 2**16) - 2**15, out=kept)
    kept.mul_(1 / (1 - share))
    return x.mul_(kept) if in_place else x * kept
