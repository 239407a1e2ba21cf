"""A network: an encoder of nodes and a head that turns what they became into an output.

An encoder works in two steps. Its ``stem`` is what no noise touches: the same in training and in
validation, so a step computes it once for both. Its ``body`` is the rest: with dropout and batch
statistics where it has them, and for those nodes alone that a `View` asks for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import softmax

from graphgauge.methods.flows import RadialFlows
from graphgauge.methods.inputs import Inputs, View
from graphgauge.methods.layers import Linear, Noise
from graphgauge.methods.sparse import Constant

__all__ = [
    "Encoder",
    "EvidenceHead",
    "Head",
    "LogitsHead",
    "NaturalHead",
    "Network",
    "PosteriorHead",
    "Propagation",
    "SoftmaxHead",
]

# Bounds of a log-evidence; the exponential of either is far from where single precision ends.
_CLAMP = 30.0


@dataclass(frozen=True)
class Propagation:
    """Personalised propagation: B ← (1 − t) Â B + t B₀, some times.

    References
    ----------
    Klicpera, Bojchevski and Günnemann, Predict then Propagate, ICLR 2019, equation 4.
    """

    n_steps: int = 5
    teleport: float = 0.2

    def __call__(self, start: Tensor, adjacency: Constant) -> Tensor:
        """Propagate ``[n, C]``."""
        returned, state = self.teleport * start, start
        for _ in range(self.n_steps):
            state = torch.add(returned, adjacency @ state, alpha=1 - self.teleport)
        return state


class Encoder(nn.Module):
    """Turns nodes into hidden states.

    Attributes
    ----------
    width
        Length of a hidden state.
    hops
        How many aggregations the body makes.
    noisy
        Whether training differs from prediction.
    local
        Whether noise matters only where it falls, as dropout does and batch statistics do not.
        Training then visits the nodes that its output depends on, as validation does.
    """

    width: int
    hops: int = 0
    noisy: bool = False
    local: bool = False

    def stem(self, inputs: Inputs) -> Tensor:
        """Compute what no noise touches, for all nodes."""
        raise NotImplementedError

    def body(self, hidden: Tensor, view: View, noise: Noise | None) -> Tensor:
        """Go on from the stem's output at the view's first nodes to its last."""
        return hidden


class Head(nn.Module):
    """Turns hidden states into an output: logits, or parameters of a Dirichlet.

    Attributes
    ----------
    propagates
        Whether the output of a node depends on the hidden states of all.
    """

    propagates: bool = False

    def apart(self) -> list[nn.Parameter]:
        """List what is trained alone before and after the rest: the flows' parameters."""
        return [
            p
            for part in self.children()
            if isinstance(part, RadialFlows)
            for p in part.parameters()
        ]


class Network(nn.Module):
    """An encoder with a head."""

    def __init__(self, encoder: Encoder, head: Head) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def view(self, inputs: Inputs, nodes: Tensor) -> View:
        """Make the smallest view that gives these nodes' output when nothing is noisy."""
        chosen = nodes.cpu().numpy()
        if self.head.propagates or not self.encoder.hops:
            return inputs.whole(self.encoder.hops, chosen)
        return inputs.around(chosen, self.encoder.hops)

    def hidden(self, stem: Tensor, view: View, noise: Noise | None = None) -> Tensor:
        """Compute hidden states: of the nodes asked for, or of all if the head needs them."""
        hidden = self.encoder.body(view.enter(stem), view, noise)
        return hidden if self.head.propagates else view.leave(hidden)

    def output(self, hidden: Tensor, inputs: Inputs, view: View) -> Tensor:
        """Compute the output of the nodes that were asked for."""
        output: Tensor = self.head(hidden, inputs)
        return view.leave(output) if self.head.propagates else output

    def forward(self, inputs: Inputs) -> Tensor:
        """Compute the output of all nodes without noise."""
        view = inputs.whole(self.encoder.hops)
        return self.output(self.hidden(self.encoder.stem(inputs), view), inputs, view)


class LogitsHead(Head):
    """Takes hidden states for logits, where the encoder's last layer is the network's."""

    def forward(self, hidden: Tensor, inputs: Inputs) -> Tensor:
        """Return them as they are."""
        return hidden


class SoftmaxHead(Head):
    """Logits by a linear layer, after a hidden one with tanh if that is asked for."""

    def __init__(
        self, width: int, n_classes: int, generator: Generator, *, deep: bool = False
    ) -> None:
        super().__init__()
        self.inner = Linear(width, width, generator) if deep else None
        self.last = Linear(width, n_classes, generator)

    def forward(self, hidden: Tensor, inputs: Inputs) -> Tensor:
        """Map hidden states to logits."""
        logits: Tensor = self.last(hidden if self.inner is None else self.inner(hidden).tanh())
        return logits


class EvidenceHead(SoftmaxHead):
    """Parameters of a Dirichlet, 1 + exp(logit).

    References
    ----------
    Sensoy, Kaplan and Kandemir, Evidential Deep Learning, NeurIPS 2018.
    """

    def forward(self, hidden: Tensor, inputs: Inputs) -> Tensor:
        """Map hidden states to parameters."""
        return 1 + super().forward(hidden, inputs).clamp(-_CLAMP, _CLAMP).exp()


class PosteriorHead(Head):
    """Evidence by the density of a class's flow at the latent point, and propagated if asked for.

    log β_k = log p(z | k) + log P(k) + ½ D log 4π, and α = 1 + β.

    References
    ----------
    Charpentier, Zügner and Günnemann, Posterior Network, NeurIPS 2020; Stadler et al., Graph
    Posterior Network, NeurIPS 2021, section 3.
    """

    log_prior: Tensor

    def __init__(
        self,
        width: int,
        prior: Tensor,
        generator: Generator,
        *,
        latent: int,
        n_layers: int,
        spread: Propagation | None = None,
    ) -> None:
        super().__init__()
        self.projection = Linear(width, latent, generator)
        self.flows = RadialFlows(len(prior), latent, n_layers, generator)
        self.register_buffer("log_prior", prior.log())
        self.spread, self.propagates = spread, spread is not None

    def forward(self, hidden: Tensor, inputs: Inputs) -> Tensor:
        """Map hidden states to parameters."""
        latent = self.projection(hidden)
        evidence = _evidence(self.flows(latent) + self.log_prior, latent.shape[1])
        return 1 + (evidence if self.spread is None else self.spread(evidence, inputs.adjacency))


class NaturalHead(Head):
    """Evidence by the density of one flow, shared out by a softmax.

    Parameters
    ----------
    on_latent
        Whether the softmax sees the latent point, as both papers have it, or the hidden state, as
        the authors' code has it.

    References
    ----------
    Charpentier et al., Natural Posterior Network, ICLR 2022; Revisiting Uncertainty Estimation,
    appendix E.1.
    """

    def __init__(
        self,
        width: int,
        n_classes: int,
        generator: Generator,
        *,
        latent: int,
        n_layers: int,
        on_latent: bool,
        spread: Propagation | None = None,
    ) -> None:
        super().__init__()
        self.projection = Linear(width, latent, generator)
        self.shares = Linear(latent if on_latent else width, n_classes, generator)
        self.flows = RadialFlows(1, latent, n_layers, generator)
        self.on_latent = on_latent
        self.spread, self.propagates = spread, spread is not None

    def forward(self, hidden: Tensor, inputs: Inputs) -> Tensor:
        """Map hidden states to parameters."""
        latent = self.projection(hidden)
        shares = softmax(self.shares(latent if self.on_latent else hidden), dim=1)
        evidence = _evidence(self.flows(latent), latent.shape[1]) * shares
        return 1 + (evidence if self.spread is None else self.spread(evidence, inputs.adjacency))


def _evidence(log_density: Tensor, latent: int) -> Tensor:
    budget = 0.5 * latent * math.log(4 * math.pi)
    return (log_density + budget).clamp(-_CLAMP, _CLAMP).exp()
