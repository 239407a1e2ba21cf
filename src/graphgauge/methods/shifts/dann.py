"""Domain-adversarial training: hidden states from which the domain cannot be told.

References
----------
Ganin et al., Domain-Adversarial Training of Neural Networks, JMLR 2016, section 4 and equation 14.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from graphgauge.graph import Graph
from graphgauge.methods.layers import Linear
from graphgauge.methods.losses import cross_entropy
from graphgauge.methods.shifts.robust import DomainAligned
from graphgauge.methods.training import Lesson, Step
from graphgauge.parts import Split

__all__ = ["Dann", "DomainConfusion", "reversal_strength", "reverse_gradient"]


@dataclass(frozen=True, kw_only=True)
class Dann(DomainAligned):
    """A linear classifier of domains learns beside that of classes; the encoder works against it.

    Minimises cross-entropy + λ · cross-entropy of domains on the nodes to train on, with the
    gradient of the second reversed where it enters the encoder. GOOD searches λ, here `weight`, in
    0.1, 0.01, 0.001. Both protocols are the same.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> made = planted(200, 3)
    >>> trained = Dann(shift="popularity", hidden=8, epochs=5).fit(made.graph, made.split, seed=0)
    >>> trained.predict(made.graph).n_classes
    3
    """

    weight: float = 0.1

    def lesson(self, graph: Graph, split: Split, generator: Generator) -> Lesson:
        """Confuse domains."""
        return DomainConfusion(self.codes(graph, split), self.hidden, self.weight, generator)


class DomainConfusion(Lesson):
    """Cross-entropy, and λ times that of domains behind a reversal of the gradient."""

    codes: Tensor

    def __init__(self, codes: Tensor, width: int, weight: float, generator: Generator) -> None:
        super().__init__()
        self.register_buffer("codes", codes)
        self.guess = Linear(width, int(codes.max()) + 1, generator)
        self.weight = weight

    def forward(self, step: Step) -> Tensor:
        """Compute the loss of a step."""
        hidden = step.hidden()
        reversed_ = reverse_gradient(hidden, reversal_strength(step.done))
        confusion = cross_entropy(self.guess(reversed_), self.codes)
        return cross_entropy(step.output(hidden), step.labels) + self.weight * confusion


def reversal_strength(done: float) -> float:
    """Grow from 0 to 1 as training proceeds: 2 / (1 + exp(−10 p)) − 1.

    Examples
    --------
    >>> reversal_strength(0.0), round(reversal_strength(0.5), 3)
    (0.0, 0.987)
    """
    return 2 / (1 + math.exp(-10 * done)) - 1


def reverse_gradient(x: Tensor, strength: float) -> Tensor:
    """Return x itself, whose gradient comes back times −`strength`.

    Examples
    --------
    >>> x = torch.ones(2, requires_grad=True)
    >>> reverse_gradient(x, 0.5).sum().backward()
    >>> x.grad
    tensor([-0.5000, -0.5000])
    """
    same: Tensor = _Reversal.apply(x, strength)  # type: ignore[no-untyped-call]
    return same


class _Reversal(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, strength: float) -> Tensor:
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return -ctx.strength * gradients[0], None
