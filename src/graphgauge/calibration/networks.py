"""The networks of graph calibrators, and how they are trained."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import leaky_relu, log_softmax, nll_loss, softplus

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.calibration.calibrator import logits
from graphgauge.calibration.graphwise import Cagcn, Gats, Graphwise
from graphgauge.graph import Graph
from graphgauge.methods.inputs import weighted, with_loops
from graphgauge.methods.layers import GcnLayer, uniform
from graphgauge.methods.sparse import Constant
from graphgauge.methods.training import alone
from graphgauge.predictions import NodePredictions
from graphgauge.roles import Role, items_of

__all__ = ["Neighbourhoods", "Sharpener", "sharpness", "trained"]

_COLDEST = 0.01


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """What networks see: logits of all nodes, who is whose neighbour, who was trained on.

    Parameters
    ----------
    logits
        Less their mean over the classes ``[n, C]``.
    adjacency
        Normalised symmetrically, with loops ``[n, n]``.
    target, source
        Ends of its entries ``[e]``: source sends to target.
    distance
        0 for training nodes, 1 for their neighbours, 2 for all others ``[n]``.
    """

    logits: Tensor
    adjacency: Constant
    target: Tensor
    source: Tensor
    distance: Tensor

    @classmethod
    def of(cls, predictions: NodePredictions) -> Neighbourhoods:
        """Build the tensors, once."""
        logs = logits(predictions.probs)
        logs -= logs.mean(axis=1, keepdims=True)
        near = Graph.from_edges(predictions.pairs, predictions.n_nodes).neighbours
        looped = with_loops(near)
        target = np.repeat(np.arange(looped.shape[0]), np.diff(looped.indptr))
        distance = np.full(predictions.n_nodes, 2)
        train = items_of(predictions.parts, Role.TRAIN)
        distance[near[train].indices] = 1
        distance[train] = 0
        return cls(
            torch.tensor(logs, dtype=torch.float32),
            Constant(weighted(looped, "symmetric")),
            torch.tensor(target),
            torch.tensor(looped.indices.astype(np.int64)),
            torch.tensor(distance),
        )


class Sharpener(nn.Module):
    """From neighbourhoods to one over the temperature of every node ``[n]``."""

    def forward(self, near: Neighbourhoods) -> Tensor:
        """Say by how much to multiply each node's logits."""
        raise NotImplementedError


class _Convolved(Sharpener):
    """Two graph convolutions (CaGCN)."""

    def __init__(self, rule: Cagcn, n_classes: int, generator: Generator) -> None:
        super().__init__()
        self.first = GcnLayer(n_classes, rule.hidden, generator)
        self.second = GcnLayer(rule.hidden, 1, generator)

    def forward(self, near: Neighbourhoods) -> Tensor:
        """Compute log(exp(t) + 1.1), which is never below 0.095."""
        hidden = torch.relu(self.first(near.logits, near.adjacency))
        t = self.second(hidden, near.adjacency)[:, 0]
        return torch.logaddexp(t, torch.tensor(math.log(1.1)))


class _Attentive(Sharpener):
    """Attention over neighbours (GATS)."""

    def __init__(self, rule: Gats, n_classes: int, generator: Generator) -> None:
        super().__init__()
        bound = math.sqrt(6 / (n_classes + rule.heads))
        self.weight = uniform(n_classes, rule.heads, bound=bound, generator=generator)
        self.factors = nn.Parameter(torch.ones(2))
        self.contrast = nn.Parameter(torch.zeros(()))
        self.shift = nn.Parameter(torch.ones(()))

    def forward(self, near: Neighbourhoods) -> Tensor:
        """Compute temperatures, and turn them over."""
        z, source, target = near.logits, near.source, near.target
        factor = torch.cat([self.factors, torch.ones(1)])[near.distance]
        scores = _sorted_scale(z) @ self.weight * factor[:, None]
        alike = (z[source] * z[target]).sum(dim=1) / (factor[source] * factor[target])
        attention = _softmax_by(leaky_relu(alike, 0.2), target, len(z))
        heard = _sum_by(attention[:, None] * scores[source], target, len(z))
        confidence = z.softmax(dim=1).amax(dim=1)
        gaps = _sum_by(confidence[target] - confidence[source], target, len(z))
        mean_gap = gaps / torch.bincount(target, minlength=len(z))
        heads = softplus(heard + self.contrast * mean_gap[:, None])
        return 1 / (heads.mean(dim=1) + self.shift).clamp(min=_COLDEST)


def trained(
    rule: Graphwise, predictions: NodePredictions, parts: tuple[IntArray, IntArray]
) -> Sharpener:
    """Train a network on the first part, and keep its epoch of the lowest NLL on the second."""
    with alone():
        near = Neighbourhoods.of(predictions)
        generator = Generator().manual_seed(rule.seed)
        network = _network(rule, predictions.n_classes, generator)
        adam = torch.optim.Adam(network.parameters(), lr=rule.rate, weight_decay=rule.decay)
        fit_on, stop_by = (_told(predictions, index) for index in parts)
        objective = _objective(rule)
        best, waited = math.inf, 0
        kept = {name: value.clone() for name, value in network.state_dict().items()}
        for _ in range(rule.epochs):
            adam.zero_grad(set_to_none=True)
            loss = objective(near.logits * network(near)[:, None], *fit_on)
            loss.backward()  # type: ignore[no-untyped-call]
            adam.step()
            with torch.no_grad():
                reached = float(_nll(near.logits * network(near)[:, None], *stop_by))
            waited = 0 if reached < best else waited + 1
            if reached < best:
                best = reached
                kept = {name: value.clone() for name, value in network.state_dict().items()}
            if waited == rule.patience:
                break
        network.load_state_dict(kept)
    return network.requires_grad_(False)


def sharpness(network: Sharpener, predictions: NodePredictions) -> FloatArray:
    """Return one over the temperature of every node ``[n]``."""
    with alone(), torch.no_grad():
        found: FloatArray = network(Neighbourhoods.of(predictions)).double().numpy()
    return found


_Objective = Callable[[Tensor, Tensor, Tensor], Tensor]


def _network(rule: Graphwise, n_classes: int, generator: Generator) -> Sharpener:
    if isinstance(rule, Cagcn):
        return _Convolved(rule, n_classes, generator)
    assert isinstance(rule, Gats)
    return _Attentive(rule, n_classes, generator)


def _objective(rule: Graphwise) -> _Objective:
    if not isinstance(rule, Cagcn):
        return _nll
    weight = rule.margin

    def loss(mapped: Tensor, index: Tensor, labels: Tensor) -> Tensor:
        return _nll(mapped, index, labels) + weight * _margin(mapped[index].softmax(dim=1), labels)

    return loss


def _told(predictions: NodePredictions, index: IntArray) -> tuple[Tensor, Tensor]:
    """Return nodes and their classes."""
    labels = predictions.labels[index]
    return torch.tensor(index.astype(np.int64)), torch.tensor(labels.astype(np.int64))


def _nll(mapped: Tensor, index: Tensor, labels: Tensor) -> Tensor:
    return nll_loss(log_softmax(mapped[index], dim=1), labels)


def _margin(probs: Tensor, labels: Tensor) -> Tensor:
    """Mean of one less the gap of the two largest where right, of the gap where wrong."""
    largest = probs.topk(min(2, probs.shape[1]), dim=1).values
    gap = largest[:, 0] - (largest[:, 1] if probs.shape[1] > 1 else 0)
    right = probs.argmax(dim=1) == labels
    return torch.where(right, 1 - gap, gap).mean()


def _sorted_scale(z: Tensor) -> Tensor:
    """Scale every row to [0, 1] and sort it in ascending order; equal entries become zero."""
    low, high = z.amin(dim=1, keepdim=True), z.amax(dim=1, keepdim=True)
    return ((z - low) / (high - low).clamp(min=1e-8)).sort(dim=1).values


def _softmax_by(scores: Tensor, group: Tensor, n_groups: int) -> Tensor:
    """Softmax of scores ``[e]`` within each group."""
    top = scores.new_full((n_groups,), -math.inf)
    top = top.scatter_reduce(0, group, scores.detach(), "amax")
    powers = (scores - top[group]).exp()
    return powers / _sum_by(powers, group, n_groups)[group]


def _sum_by(values: Tensor, group: Tensor, n_groups: int) -> Tensor:
    """Sum values ``[e]`` or ``[e, H]`` within each group."""
    return values.new_zeros((n_groups, *values.shape[1:])).index_add(0, group, values)
