"""Radial flows: densities of latent points, one flow for every class or one for all."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import softplus

from graphgauge.methods.layers import uniform

__all__ = ["RadialFlows"]


class RadialFlows(nn.Module):
    """Some flows of radial layers side by side, from data to a standard normal.

    A layer moves a point from or to its centre z₀: z + b h (z − z₀) with h = 1 / (a + ‖z − z₀‖),
    a = softplus(a′) and b = softplus(b′) − a. Only densities are needed, so nothing is inverted.

    Parameters
    ----------
    n_flows
        How many flows, each with parameters of its own.
    width
        Coordinates of a point.
    n_layers
        Layers of each flow.
    generator
        Draws parameters from U(−1/√width, 1/√width).

    References
    ----------
    Rezende and Mohamed, Variational Inference with Normalizing Flows, ICML 2015, section 4.1.

    Examples
    --------
    >>> flows = RadialFlows(3, 16, 8, torch.Generator().manual_seed(0))
    >>> flows(torch.zeros(5, 16)).shape
    torch.Size([5, 3])
    """

    def __init__(self, n_flows: int, width: int, n_layers: int, generator: Generator) -> None:
        super().__init__()
        bound = 1 / math.sqrt(width)
        # Coordinates come before points: sums over coordinates then add whole rows.
        self.centre = uniform(n_layers, n_flows, width, 1, bound=bound, generator=generator)
        self.a = uniform(n_layers, n_flows, 1, 1, bound=bound, generator=generator)
        self.b = uniform(n_layers, n_flows, 1, 1, bound=bound, generator=generator)

    def forward(self, points: Tensor) -> Tensor:
        """Log-density of points ``[n, width]`` under every flow ``[n, n_flows]``."""
        moved, stretched = self.transform(points)
        width = points.shape[1]
        log_normal = -0.5 * (moved.square().sum(dim=1) + width * math.log(2 * math.pi))
        return (log_normal + stretched).T

    def transform(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Return moved points ``[flows, width, n]`` and log-determinants ``[flows, n]``."""
        width = points.shape[1]
        moved = points.T.contiguous().unsqueeze(0)
        stretched = torch.zeros((), dtype=points.dtype, device=points.device)
        a = softplus(self.a)
        b = softplus(self.b) - a
        for centre, near, pull in zip(self.centre, a, b, strict=True):
            offset = moved - centre
            # The square root has no slope at zero, so a point on a centre stands beside it.
            distance = (offset.square().sum(dim=1, keepdim=True) + 1e-30).sqrt()
            h = 1 / (near + distance)
            bh = pull * h
            moved = moved + bh * offset
            # 1 + b h − b h² r = 1 + b h (1 − h r) = 1 + b h² a, which does not cancel.
            stretched = stretched + (width - 1) * bh.log1p() + (bh * h * near).log1p()
        return moved, stretched.squeeze(1)
