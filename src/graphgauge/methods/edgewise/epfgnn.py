"""EPFGNN: a network makes the unaries of a Markov random field; both are trained by EM.

References
----------
Wang, Shen and Cremers, Explicit Pairwise Factorized Graph Neural Network for Semi-Supervised Node
Classification, UAI 2021; A Graph Is More Than Its Nodes, appendix C.2 and tables 1, 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import numpy as np
import torch
from scipy.special import softmax
from torch import Generator
from torch.optim import Adam

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.methods.convolution import ConvolutionEncoder
from graphgauge.methods.edgewise.classifiers import Edgewise
from graphgauge.methods.edgewise.field import Edges, FieldHead, Pieces
from graphgauge.methods.edgewise.known import Known
from graphgauge.methods.edgewise.propagate import propagate
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.losses import cross_entropy, error_rate
from graphgauge.methods.network import LogitsHead, Network
from graphgauge.methods.stopping import Stop, Watch
from graphgauge.methods.trained import Given, NetworkPredictor, Size, predictions
from graphgauge.methods.training import Goal, Phase, Progress, adam_of, train
from graphgauge.predictions import NodePredictions
from graphgauge.uncertainty import Uncertainty

__all__ = ["Epfgnn", "clamped", "clamped_as_published"]

_INFERENCES = ("propagation", "mean-field")

# What the authors' code takes for the energy of a class that cannot be, and where it cuts energies.
_NEVER, _HIGHEST = 1e5, 20.0


@dataclass(frozen=True, kw_only=True)
class Epfgnn(Edgewise):
    """Unaries by a GCN, one coupling of classes, and a strength for every edge.

    The GCN is trained first, by itself. Then rounds of EM train all of it: by the stars around
    nodes (see `Pieces`), given beliefs; then beliefs are renewed by a step of mean field. Nodes to
    train on are known throughout. It predicts no graph but the one that it was trained on.

    ``corrected`` predicts by belief propagation, summing, with the nodes to train on clamped; the
    predictions carry joint probabilities of edges. ``published`` keeps the flaws that the tables
    were made with: it maximises where it should sum; the clamp of the k-th node to train on is
    written to the k-th node of the graph; strengths are read in two different orders; and edges
    are judged by products of nodes.

    Parameters
    ----------
    epochs, patience
        Of the first training.
    rounds, idle_rounds
        Of EM at most, and after how many without gain in validation accuracy it ends.
    round_epochs, round_patience
        Of a round at most, and after how many without gain in validation accuracy it ends.
    inference
        ``propagation``; or ``mean-field``: a last step of it, as in table 4 of the paper.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> made = planted(200, 3)
    >>> trained = Epfgnn(hidden=8, epochs=5, rounds=1).fit(made.graph, made.split, seed=0)
    >>> trained.predict(made.graph).edge_probs.shape[1:]
    (3, 3)
    """

    epochs: int = 200
    patience: int = 50
    rounds: int = 100
    idle_rounds: int = 5
    round_epochs: int = 50
    round_patience: int = 10
    inference: str = "propagation"

    def __post_init__(self) -> None:
        if self.inference not in _INFERENCES:
            raise InputError(f"inference: {self.inference!r} is not one of {_INFERENCES}")

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network, whose output is a step of mean field."""
        widths = (size.n_features, self.hidden, size.n_classes)
        encoder = ConvolutionEncoder(widths, generator, share=self.share)
        head = FieldHead(size.n_classes, size.n_edges, generator, crossed=self.published)
        return Network(encoder, head)

    def teach(self, network: Network, given: Given, generator: Generator) -> Progress:
        """Train the GCN, then all of it in rounds of EM."""
        gcn, head = Network(network.encoder, LogitsHead()), _head(network)
        goal = Goal(cross_entropy, criteria=self.criteria())
        progress = train(gcn, given.inputs, phases=[self.main()], goal=goal, **given.data())
        head.edges = Edges(given.inputs)
        head.known = Known.of(given)
        head.believe(gcn(given.inputs))
        adam = adam_of(network.parameters(), self.rate, self.decay)
        valid, rounds, error = (
            given.inputs.index(given.parts[1]),
            Watch(Stop(self.idle_rounds)),
            inf,
        )
        for _ in range(self.rounds):
            progress.add(self._maximise(network, given, adam, error))
            with torch.no_grad():
                output = network(given.inputs)
            error = float(error_rate(output[valid], given.labels[valid]))
            head.believe(output)
            rounds.keeps([error])
            if rounds.over:
                break
        return progress

    def _maximise(self, network: Network, given: Given, adam: Adam, error: float) -> Progress:
        """Train all of it, given beliefs, to a lower error in validation than before."""
        stop = Stop(self.round_patience, start=error)
        phase = Phase(self.round_epochs, self.rate, self.decay, stop=stop, adam=adam)
        goal = Goal(cross_entropy, Pieces(), [error_rate])
        return train(network, given.inputs, phases=[phase], goal=goal, **given.data())

    def read(self, trained: NetworkPredictor, inputs: Inputs, labels: IntArray) -> NodePredictions:
        """Infer probabilities of nodes and, unless as published, of edges."""
        head = _head(trained.network)
        head.known.check(inputs)
        if self.inference == "mean-field":
            probs = softmax(trained.network(inputs).double().cpu().numpy(), axis=1)
            return predictions(probs, labels, Uncertainty.from_softmax(probs))
        unaries = Network(trained.network.encoder, LogitsHead())(inputs).cpu().numpy()
        if self.published:
            probs = softmax(_max_marginals(unaries, head).astype(np.float64), axis=1)
            return predictions(probs, labels, Uncertainty.from_softmax(probs))
        found = propagate(clamped(unaries.astype(np.float64), head.known), *_field(head))
        probs, joint = softmax(found.nodes, axis=1), softmax(found.edges, axis=(1, 2))
        made = predictions(probs, labels, Uncertainty.from_softmax(probs))
        return replace(made, edges=inputs.pairs, edge_probs=joint)


def clamped(unaries: FloatArray, known: Known) -> FloatArray:
    """Rule out all classes of known nodes but their own."""
    scores = unaries.copy()
    nodes, classes = known.nodes.cpu().numpy(), known.classes.cpu().numpy()
    scores[nodes] = -np.inf
    scores[nodes, classes] = 0
    return scores


def clamped_as_published(unaries: FloatArray, known: Known) -> FloatArray:
    """Clamp as the authors' code does: right classes are written to the graph's first nodes.

    Known nodes have all classes ruled out, which makes them uniform. The k-th node of the graph
    then gets, for the class of the k-th known node, that node's energy, whoever it is. Energies
    count from a node's lowest, and are cut at 20.
    """
    energies = -unaries
    nodes, classes = known.nodes.cpu().numpy(), known.classes.cpu().numpy()
    right = energies[nodes, classes]
    energies[nodes] = _NEVER
    energies[np.arange(len(nodes)), classes] = right
    energies -= energies.min(axis=1, keepdims=True)
    return -np.minimum(energies, _HIGHEST)


def _max_marginals(unaries: FloatArray, head: FieldHead) -> FloatArray:
    """Maximise over everything else, as the authors' code does."""
    coupling, strengths, pairs = _field(head)
    scores = clamped_as_published(unaries, head.known)
    return propagate(scores, coupling - coupling.max(), strengths, pairs, largest=True).nodes


def _field(head: FieldHead) -> tuple[FloatArray, FloatArray, IntArray]:
    return head.coupling.cpu().numpy(), head.strengths.cpu().numpy(), head.edges.pairs


def _head(network: Network) -> FieldHead:
    head = network.head
    assert isinstance(head, FieldHead)
    return head
