"""EERM: training on graphs edited so that they differ as much as can be.

References
----------
Wu et al., Handling Distribution Shifts on Graphs: An Invariance Perspective, ICLR 2022.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.methods.dense import project
from graphgauge.methods.inputs import View, weighted, with_loops
from graphgauge.methods.layers import GcnLayer
from graphgauge.methods.losses import cross_entropy
from graphgauge.methods.network import Network, SoftmaxHead
from graphgauge.methods.shifts.editors import Editors
from graphgauge.methods.shifts.robust import Robust
from graphgauge.methods.sparse import Constant, constant
from graphgauge.methods.trained import Size
from graphgauge.methods.training import Lesson, Step
from graphgauge.parts import Split

__all__ = ["Eerm", "Exploration", "FixedHead"]


@dataclass(frozen=True, kw_only=True)
class Eerm(Robust):
    """Editors make environments of the nodes to train on; risks are to be low, and the same in all.

    Each of K editors flips a few edges of every node in the graph of the nodes to train on. The
    network minimises Var + β Mean of the K risks, where β = p (1 + 9 t / T) rises with the epochs t
    and p, here `weight`, is 1 or 3. Editors maximise Var by REINFORCE. An editor looks at some
    candidates of every node and not at all pairs: see `editors`.

    ``published`` keeps what GOOD's code amounts to. The linear classifier stays as it was drawn,
    because the optimiser is made for the encoder alone. And editors do not learn: draws are from
    rows of a matrix whose columns are what REINFORCE takes the probability from, so that it moves
    the logits of other pairs, and in 100 steps by less than they differ to begin with.

    Parameters
    ----------
    weight
        p.
    growth
        By how many times p the weight of the mean has risen in the end.
    n_editors, n_candidates, n_flips
        K, candidates of every node, and how many of them are flipped.
    editor_rate
        Of the editors' Adam.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> made = planted(200, 3)
    >>> trained = Eerm(hidden=8, epochs=5, n_editors=3).fit(made.graph, made.split, seed=0)
    >>> trained.predict(made.graph).n_classes
    3
    """

    rate: float = 5e-3
    weight: float = 1.0
    growth: float = 9.0
    n_editors: int = 10
    n_candidates: int = 64
    n_flips: int = 1
    editor_rate: float = 5e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_editors < 2:
            raise InputError(f"n_editors: the risk of {self.n_editors} does not vary")

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        network = super().network(size, generator)
        if self.published:
            network.head = FixedHead(self.hidden, size.n_classes, generator)
        return network

    def lesson(self, graph: Graph, split: Split, generator: Generator) -> Lesson:
        """Explore graphs."""
        train = split["train"]
        seed = int(torch.randint(2**62, (1,), generator=generator))
        editors = Editors(
            graph.neighbours[train][:, train],
            n_editors=self.n_editors,
            n_candidates=self.n_candidates,
            n_flips=self.n_flips,
            rate=0.0 if self.published else self.editor_rate,
            rng=np.random.default_rng(seed),
            device=self.device,
        )
        assert graph.features is not None
        features = constant(graph.features[train], self.device)
        return Exploration(editors, features, self.weight, self.growth)


class FixedHead(SoftmaxHead):
    """Logits by a linear layer that is not trained."""

    def __init__(self, width: int, n_classes: int, generator: Generator) -> None:
        super().__init__(width, n_classes, generator)
        for name, drawn in list(self.last.named_parameters()):
            delattr(self.last, name)
            self.last.register_buffer(name, drawn.detach())


class Exploration(Lesson):
    """Variance of the risks in edited graphs, and β times their mean."""

    def __init__(
        self, editors: Editors, features: Constant | Tensor, weight: float, growth: float
    ) -> None:
        super().__init__()
        self.editors, self.features = editors, features
        self.weight, self.growth = weight, growth

    def forward(self, step: Step) -> Tensor:
        """Compute the loss of a step, and let editors learn from it."""
        chosen = self.editors.draw(step.noise.generator)
        risks = self.risks(step, chosen)
        variance, mean = risks.var(), risks.mean()
        self.editors.learn(chosen, variance.item())
        return variance + self.weight * (1 + self.growth * step.done) * mean

    def risks(self, step: Step, chosen: Tensor) -> Tensor:
        """Compute the cross-entropy in every edited graph ``[K]``."""
        encoder, first = step.network.encoder, self._first(step)
        risks = []
        for pattern in self.editors.graphs(chosen):
            adjacency = Constant(weighted(with_loops(pattern), "symmetric"), first.device)
            hops = encoder.hops
            view = View(None, (adjacency,) * hops, (None,) * hops, None)
            hidden = encoder.body(adjacency @ first, view, step.noise)
            risks.append(cross_entropy(step.network.head(hidden, step.inputs), step.labels))
        return torch.stack(risks)

    def _first(self, step: Step) -> Tensor:
        """Project features, which is the same in all graphs."""
        layer = next(part for part in step.network.encoder.modules() if isinstance(part, GcnLayer))
        return project(self.features, layer.weight)
