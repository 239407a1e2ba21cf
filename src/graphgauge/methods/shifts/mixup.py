"""Mixup on nodes: training on nodes that are each a blend of two.

References
----------
Wang et al., Mixup for Node and Graph Classification, WWW 2021, section 3.1 (two-branch graph
convolution).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor, nn

from graphgauge.graph import Graph
from graphgauge.methods.dense import project
from graphgauge.methods.inputs import Inputs, View
from graphgauge.methods.layers import BatchNorm, Noise, dropout, uniform
from graphgauge.methods.losses import cross_entropy
from graphgauge.methods.network import Encoder, Network, SoftmaxHead
from graphgauge.methods.shifts.robust import Robust
from graphgauge.methods.sparse import Constant
from graphgauge.methods.trained import Size
from graphgauge.methods.training import Lesson, Step
from graphgauge.parts import Split

__all__ = ["Blend", "Blending", "Mixup", "MixupEncoder"]

_N_LAYERS = 3


@dataclass(frozen=True, kw_only=True)
class Mixup(Robust):
    """Every node to train on is blended with another one, and has the labels of both.

    A step draws λ ~ Beta(a, a) and a permutation of the nodes to train on. GOOD searches a, here
    `concentration`, in 0.4, 1, 2.

    ``corrected`` aggregates, in every layer, what the layer before made of unblended neighbours.
    ``published`` keeps what GOOD has there: from the second layer on, it aggregates what the last
    layer made of them, in training and in prediction, so that the network reaches further.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> made = planted(200, 3)
    >>> trained = Mixup(hidden=8, epochs=5).fit(made.graph, made.split, seed=0)
    >>> trained.predict(made.graph).n_classes
    3
    """

    concentration: float = 1.0

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network."""
        encoder = MixupEncoder(
            size.n_features, self.hidden, generator, share=self.share, late=self.published
        )
        return Network(encoder, SoftmaxHead(self.hidden, size.n_classes, generator))

    def lesson(self, graph: Graph, split: Split, generator: Generator) -> Lesson:
        """Blend nodes."""
        seed = int(torch.randint(2**62, (1,), generator=generator))
        return Blending(self.concentration, np.random.default_rng(seed))


@dataclass(frozen=True)
class Blend:
    """Which node each is blended with ``[n]``, and the share λ that it keeps of itself."""

    partner: Tensor
    share: float

    def __call__(self, own: Tensor, other: Tensor) -> Tensor:
        """Blend what a node has with what its partner has."""
        return self.share * own + (1 - self.share) * other


class Blending(Lesson):
    """λ times the cross-entropy with a node's label, and 1 − λ times that with its partner's."""

    def __init__(self, concentration: float, rng: np.random.Generator) -> None:
        super().__init__()
        self.concentration, self.rng = concentration, rng

    def forward(self, step: Step) -> Tensor:
        """Compute the loss of a step."""
        encoder, train = step.network.encoder, step.train
        assert isinstance(encoder, MixupEncoder)
        order = torch.tensor(self.rng.permutation(len(train)), device=train.device)
        partner = torch.arange(len(step.stem), device=train.device)
        partner[train] = train[order]
        blend = Blend(partner, self.rng.beta(self.concentration, self.concentration))
        hidden = encoder.blended(step.stem, step.view, blend, step.noise)
        output = step.output(step.view.leave(hidden))
        own, other = (cross_entropy(output, labels) for labels in (step.labels, step.labels[order]))
        return blend(own, other)


class TwinLayer(nn.Module):
    """Weights ``[W, V]`` for a layer ``Â x W + c V`` of neighbours x and centres c."""

    def __init__(self, n_in: int, n_out: int, generator: Generator) -> None:
        super().__init__()
        bound = (6 / (n_in + n_out)) ** 0.5
        self.weight = uniform(n_in, 2 * n_out, bound=bound, generator=generator)
        self.n_out = n_out

    def messages(self, x: Tensor, adjacency: Constant) -> Tensor:
        """Aggregate neighbours."""
        return adjacency @ project(x, self.weight[:, : self.n_out])

    def centre(self, x: Tensor) -> Tensor:
        """Project the nodes themselves."""
        return project(x, self.weight[:, self.n_out :])

    def both(self, x: Tensor | Constant, adjacency: Constant) -> Tensor:
        """Compute messages and centres side by side, reading x once."""
        projected = project(x, self.weight)
        messages = adjacency @ projected[:, : self.n_out].contiguous()
        return torch.cat([messages, projected[:, self.n_out :]], dim=1)


class MixupEncoder(Encoder):
    """Three layers with weights of their own for neighbours and centres.

    A node and its partner differ in their neighbours, of which both keep their own, unblended;
    their centres are blended. As the partner's place in the graph is that of a node which is there
    already, its messages are that node's: no second graph is made.

    Parameters
    ----------
    late
        Whether layers after the first aggregate what the last one made of neighbours.
    """

    noisy = True

    def __init__(
        self,
        n_features: int,
        width: int,
        generator: Generator,
        *,
        share: float = 0.5,
        late: bool = False,
    ) -> None:
        super().__init__()
        self.width, self.share, self.late = width, share, late
        self.hops = _N_LAYERS if late else _N_LAYERS - 1
        widths = [n_features] + [width] * (_N_LAYERS - 1)
        self.layers = nn.ModuleList(TwinLayer(n_in, width, generator) for n_in in widths)
        self.norms = nn.ModuleList(BatchNorm(width) for _ in widths)

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute the first layer's messages and centres, side by side."""
        return self._layer(0).both(inputs.features, inputs.adjacency)

    def body(self, hidden: Tensor, view: View, noise: Noise | None) -> Tensor:
        """Compute the rest, blending nothing."""
        states = self._states(hidden, view, noise)
        if not self.late:
            return states[-1]
        first = states[0]
        for own in view.own:
            first = _at(first, own)
        return self._again(first, [states[-1]] * (_N_LAYERS - 1), view, None, noise)

    def blended(self, stem: Tensor, view: View, blend: Blend, noise: Noise | None) -> Tensor:
        """Compute all nodes, each blended with its partner.

        The last of the unblended states may serve nothing but the batch statistics, with which
        unblended nodes are predicted later.
        """
        states = self._states(stem, view, noise)
        messages, centres = stem[:, : self.width], stem[:, self.width :]
        mixed = blend(centres, centres[blend.partner])
        first = self._finish(0, messages, mixed, blend, noise)
        neighbours = [states[-1]] * (_N_LAYERS - 1) if self.late else states[:-1]
        return self._again(first, neighbours, view, blend, noise)

    def _states(self, stem: Tensor, view: View, noise: Noise | None) -> list[Tensor]:
        """Compute hidden states layer by layer, unblended."""
        messages, centre = stem[:, : self.width], stem[:, self.width :]
        states = [self._finish(0, messages, centre, None, noise)]
        for number in range(1, _N_LAYERS):
            layer, adjacency = self._layer(number), view.matrices[number - 1]
            messages = layer.messages(states[-1], adjacency)
            centre = layer.centre(_at(states[-1], view.own[number - 1]))
            states.append(self._finish(number, messages, centre, None, noise))
        return states

    def _again(
        self,
        first: Tensor,
        neighbours: list[Tensor],
        view: View,
        blend: Blend | None,
        noise: Noise | None,
    ) -> Tensor:
        """Go on from the first layer's output, with given hidden states of neighbours."""
        hidden = first
        for number, state in enumerate(neighbours, 1):
            layer = self._layer(number)
            messages = layer.messages(state, view.matrices[-1])
            hidden = self._finish(number, messages, layer.centre(hidden), blend, noise)
        return hidden

    def _finish(
        self,
        number: int,
        messages: Tensor,
        centre: Tensor,
        blend: Blend | None,
        noise: Noise | None,
    ) -> Tensor:
        """Add messages and centres, normalise, activate; blend that with the partner's; drop."""
        hidden = self._activate(number, messages + centre, noise)
        if blend is not None:
            other = self._activate(number, messages[blend.partner] + centre, noise)
            hidden = blend(hidden, other)
        return dropout(hidden, self.share, noise)

    def _layer(self, number: int) -> TwinLayer:
        layer = self.layers[number]
        assert isinstance(layer, TwinLayer)
        return layer

    def _activate(self, number: int, x: Tensor, noise: Noise | None) -> Tensor:
        normed: Tensor = self.norms[number](x, noise)
        return normed if number == _N_LAYERS - 1 else normed.relu()


def _at(x: Tensor, own: Tensor | None) -> Tensor:
    return x if own is None else x[own]
