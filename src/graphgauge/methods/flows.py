"""Radial flows: densities of latent points, one flow for every class or one for all."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import softplus

from graphgauge.methods.layers import uniform

__all__ = ["RadialFlows"]

_TINY = 1e-12


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
        self.centre = uniform(n_layers, n_flows, width, bound=bound, generator=generator)
        self.a = uniform(n_layers, n_flows, 1, bound=bound, generator=generator)
        self.b = uniform(n_layers, n_flows, 1, bound=bound, generator=generator)

    def forward(self, points: Tensor) -> Tensor:
        """Log-density of points ``[n, width]`` under every flow ``[n, n_flows]``."""
        norms, stretched = self.transform(points)
        constant = points.shape[1] * math.log(2 * math.pi)
        return (stretched - 0.5 * (norms + constant)).T

    def transform(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Return squared norms of moved points and log-determinants, both ``[n_flows, n]``.

        A layer scales the offset from its centre, z′ = z₀ + s (z − z₀) with s = 1 + b h. So all
        that is ever asked of a point follows from its norm and its products with the centres to
        come, and those of the centres with each other: the coordinates are touched once.
        """
        n_layers, n_flows, width = self.centre.shape
        norms = points.square().sum(dim=1).expand(n_flows, -1)
        products = (self.centre.view(-1, width) @ points.T).view(n_layers, n_flows, -1)
        among = torch.einsum("kfd,jfd->kjf", self.centre, self.centre).unsqueeze(-1)
        stretched = torch.zeros_like(norms)
        a = softplus(self.a)
        b = softplus(self.b) - a
        for k in range(n_layers):
            own, product = among[k, k], products[0]
            # The root has no slope at zero, and rounding may fall below it.
            squared = (norms - 2 * product + own).clamp_min(_TINY)
            h = 1 / (a[k] + squared.sqrt())
            bh = b[k] * h
            scale = 1 + bh
            # 1 + b h − b h² r = 1 + b h (1 − h r) = 1 + a b h², which does not cancel.
            stretched = stretched + (width - 1) * bh.log1p() + (a[k] * bh * h).log1p()
            norms = own + scale * (2 * (product - own) + scale * squared)
            others = among[k, k + 1 :]
            products = torch.addcmul(others, scale, products[1:] - others)
        return norms, stretched
