"""GMNN: one network reads features, another one the labels of neighbours; each teaches the other.

References
----------
Qu, Bengio and Tang, GMNN: Graph Markov Neural Networks, ICML 2019; A Graph Is More Than Its Nodes,
appendix C.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from torch import Generator, Tensor
from torch.nn.functional import one_hot

from graphgauge.arrays import IntArray
from graphgauge.methods.convolution import ConvolutionEncoder
from graphgauge.methods.edgewise.classifiers import Edgewise
from graphgauge.methods.edgewise.known import Known
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.losses import cross_entropy
from graphgauge.methods.network import LogitsHead, Network
from graphgauge.methods.trained import Given, NetworkPredictor, Size, noise_of, predictions
from graphgauge.methods.training import Goal, Phase, Progress, adam_of, train
from graphgauge.predictions import NodePredictions
from graphgauge.uncertainty import Uncertainty

__all__ = ["Gmnn", "TwoNetworks"]


@dataclass(frozen=True, kw_only=True)
class Gmnn(Edgewise):
    """Two GCNs and one round of EM: q from features to classes, p from classes to classes.

    q is trained by itself first. Then a label is drawn for every node from what q gives it, p
    learns all of them from each other, and q goes on with what p makes of them. Nodes to train on
    have their own label throughout. p predicts, from labels drawn some times; it predicts no graph
    but the one that it was trained on.

    ``corrected`` averages probabilities over draws; ``published`` averages logits.

    Parameters
    ----------
    epochs, patience
        Of the first training of q.
    round_epochs
        Epochs of p, and of q after it; the last ones are kept.
    draws
        How often labels are drawn to predict.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> made = planted(200, 3)
    >>> trained = Gmnn(hidden=8, epochs=5, round_epochs=5).fit(made.graph, made.split, seed=0)
    >>> trained.predict(made.graph).n_classes
    3
    """

    epochs: int = 200
    patience: int = 50
    round_epochs: int = 100
    draws: int = 32

    def network(self, size: Size, generator: Generator) -> Network:
        """Make both networks."""
        outer = (size.n_features, size.n_classes)
        widths = [(n_in, self.hidden, size.n_classes) for n_in in outer]
        q, p = (ConvolutionEncoder(of, generator, share=self.share) for of in widths)
        return TwoNetworks(Network(q, LogitsHead()), Network(p, LogitsHead()))

    def teach(self, network: Network, given: Given, generator: Generator) -> Progress:
        """Train q, then p, then q again."""
        assert isinstance(network, TwoNetworks)
        inputs, network.known = given.inputs, Known.of(given)
        adam = adam_of(network.q.parameters(), self.rate, self.decay)
        first = replace(self.main(), adam=adam)
        goal = Goal(cross_entropy, criteria=self.criteria())
        progress = train(network.q, inputs, phases=[first], goal=goal, **given.data())
        every = np.arange(inputs.n_nodes)
        rest: dict[str, Any] = {"parts": (every, given.parts[1]), "noise": given.noise}
        goal, last = Goal(cross_entropy), Phase(self.round_epochs, self.rate, self.decay, stop=None)
        drawn = network.draw(network.beliefs(inputs), given.noise)
        seen = inputs.seen_as(drawn)
        progress.add(train(network.p, seen, phases=[last], goal=goal, labels=drawn, **rest))
        with torch.no_grad():
            taught = network.known.put(network.p(seen).softmax(dim=1))
        again = replace(last, adam=adam)
        progress.add(train(network.q, inputs, phases=[again], goal=goal, labels=taught, **rest))
        return progress

    def read(self, trained: NetworkPredictor, inputs: Inputs, labels: IntArray) -> NodePredictions:
        """Average over draws."""
        network = trained.network
        assert isinstance(network, TwoNetworks)
        network.known.check(inputs)
        beliefs, noise = network.beliefs(inputs), noise_of(trained.seed, inputs.device, use=1)
        drawn = (network.draw(beliefs, noise) for _ in range(self.draws))
        logits = [network.p(inputs.seen_as(one)).double().cpu().numpy() for one in drawn]
        if self.published:
            probs = softmax(np.mean(logits, axis=0), axis=1)
            return predictions(probs, labels, Uncertainty.from_softmax(probs))
        members = softmax(logits, axis=2)
        return predictions(members.mean(axis=0), labels, Uncertainty.from_ensemble(members))


class TwoNetworks(Network):
    """q, whose output is that of both, and p.

    Attributes
    ----------
    known
        Nodes whose labels are not drawn; to be set before labels are.
    """

    known: Known

    def __init__(self, q: Network, p: Network) -> None:
        super().__init__(q.encoder, q.head)
        self.q, self.p = q, p

    def beliefs(self, inputs: Inputs) -> Tensor:
        """Return q's probabilities ``[n, C]``."""
        with torch.no_grad():
            return self.q(inputs).softmax(dim=1)  # type: ignore[no-any-return]

    def draw(self, probs: Tensor, generator: Generator) -> Tensor:
        """Draw a label for every node ``[n, C]``, one-hot."""
        drawn = torch.multinomial(probs, 1, generator=generator).squeeze(1)
        return self.known.put(one_hot(drawn, probs.shape[1]).to(probs.dtype))
