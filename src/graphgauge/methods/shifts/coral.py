"""Correlation alignment: hidden states whose covariance is the same in every domain.

References
----------
Sun and Saenko, Deep CORAL: Correlation Alignment for Deep Domain Adaptation, ECCV Workshops 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from graphgauge.graph import Graph
from graphgauge.methods.losses import cross_entropy
from graphgauge.methods.shifts.robust import DomainAligned
from graphgauge.methods.training import Lesson, Step
from graphgauge.parts import Split

__all__ = ["Alignment", "Coral", "misalignment"]


@dataclass(frozen=True, kw_only=True)
class Coral(DomainAligned):
    """Adds to the cross-entropy λ times how far covariances of domains are from each other.

    GOOD searches λ, here `weight`, in 0.01, 0.1, 1. ``corrected`` compares covariances;
    ``published`` keeps GOOD's flaw, which subtracts m mᵀ where n m mᵀ is meant and so compares
    what are nearly second moments.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> made = planted(200, 3)
    >>> trained = Coral(shift="popularity", hidden=8, epochs=5).fit(made.graph, made.split, seed=0)
    >>> trained.predict(made.graph).n_classes
    3
    """

    weight: float = 0.1

    def lesson(self, graph: Graph, split: Split, generator: Generator) -> Lesson:
        """Align domains."""
        return Alignment(self.codes(graph, split), self.weight, centred=not self.published)


class Alignment(Lesson):
    """Cross-entropy, and λ times the misalignment of domains."""

    codes: Tensor

    def __init__(self, codes: Tensor, weight: float, *, centred: bool = True) -> None:
        super().__init__()
        self.register_buffer("codes", codes)
        self.weight, self.centred = weight, centred

    def forward(self, step: Step) -> Tensor:
        """Compute the loss of a step."""
        hidden = step.hidden()
        penalty = misalignment(hidden, self.codes, centred=self.centred)
        return cross_entropy(step.output(hidden), step.labels) + self.weight * penalty


def misalignment(hidden: Tensor, codes: Tensor, *, centred: bool = True) -> Tensor:
    """Return a quarter of the mean squared difference of covariances over pairs of domains.

    Over all pairs, that is half the variance of their entries between domains. A domain of one
    node has no covariance and is left out.

    Parameters
    ----------
    hidden
        Hidden states ``[t, width]``.
    codes
        Domain of each ``[t]``.
    centred
        Whether n m mᵀ is subtracted, as a covariance has it, or m mᵀ.

    Examples
    --------
    >>> hidden = torch.tensor([[0.0], [2.0], [0.0], [4.0]])
    >>> misalignment(hidden, torch.tensor([0, 0, 1, 1]))  # variances 2 and 8
    tensor(9.)
    """
    n_nodes = torch.bincount(codes)
    found = [
        _covariance(hidden[codes == code], centred=centred)
        for code in torch.nonzero(n_nodes > 1).flatten()
    ]
    if len(found) < 2:
        return hidden.new_zeros(())
    return torch.stack(found).var(dim=0).mean() / 2


def _covariance(x: Tensor, *, centred: bool) -> Tensor:
    n, mean = len(x), x.mean(dim=0)
    if centred:
        x = x - mean
        return x.T @ x / (n - 1)
    return (x.T @ x - torch.outer(mean, mean)) / (n - 1)
