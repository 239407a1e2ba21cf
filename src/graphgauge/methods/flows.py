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

        A layer moves a point on the line through its centre: z′ = z₀ + s (z − z₀), s = 1 + b h.
        Where that leaves it from any other place follows from distances alone (Stewart's theorem:
        d′² = s d² + (1 − s) (D² − s r²), with D from the place to z₀ and r from z to z₀). So a
        point is known by its distances from the centres to come, and from the origin.
        """
        n_flows, width = self.centre.shape[1:]
        origin = self.centre.new_zeros(1, n_flows, width)
        places = torch.cat([self.centre, origin])
        between = _squared_distances(places, self.centre)
        away = _squared_distances(places, points.unsqueeze(1))
        a = softplus(self.a)
        b = softplus(self.b) - a
        nearness = []
        for k, (near, pull) in enumerate(zip(a, b, strict=True)):
            # The root has no slope at zero, and rounding may fall below it.
            squared = away[0].clamp_min(_TINY)
            nearness.append(1 / (near + squared.sqrt()))
            move = pull * nearness[-1]
            scale = 1 + move
            apart = between[k + 1 :, :, k : k + 1]
            away = torch.addcmul(scale * away[1:], move, scale * squared - apart)
        h = torch.stack(nearness)
        bh = b * h
        # 1 + b h − b h² r = 1 + b h (1 − h r) = 1 + a b h², which does not cancel.
        stretched = (width - 1) * bh.log1p() + (a * bh * h).log1p()
        return away[0], stretched.sum(dim=0)


def _squared_distances(places: Tensor, points: Tensor) -> Tensor:
    """From every place ``[k, f, d]`` to points ``[n, 1 or f, d]`` of its flow: ``[k, f, n]``."""
    if points.shape[1] == 1:
        products = (places.flatten(0, 1) @ points.squeeze(1).T).view(*places.shape[:2], -1)
    else:
        products = torch.einsum("kfd,nfd->kfn", places, points)
    norms = places.square().sum(dim=2).unsqueeze(2)
    return torch.add(norms + points.square().sum(dim=2).T, products, alpha=-2)
