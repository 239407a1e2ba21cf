"""From a graph and a split to a predictor: what all trained networks of the papers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import softmax

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.methods.inputs import Inputs, Norm
from graphgauge.methods.losses import cross_entropy, dirichlet_loss
from graphgauge.methods.network import Network
from graphgauge.methods.training import Goal, Lesson, Objective, Phase, Progress, alone, train
from graphgauge.parts import Split
from graphgauge.predictions import NodePredictions
from graphgauge.uncertainty import Uncertainty

__all__ = [
    "Categorical",
    "Dirichlet",
    "Given",
    "NetworkPredictor",
    "Size",
    "Trained",
    "noise_of",
    "predictions",
]

Knowledge = Literal["mutual_information", "evidence"]


@dataclass(frozen=True)
class Size:
    """What a network must know of a graph: its shape, and how frequent classes are in training."""

    n_features: int
    n_classes: int
    prior: Tensor
    n_edges: int = 0


@dataclass(frozen=True, eq=False)
class Given:
    """What a network is trained on.

    Parameters
    ----------
    graph, split, inputs
        As data and as tensors.
    parts
        Nodes to train on, and nodes to choose the epoch on.
    labels
        Class of every node; none but those of `parts` is to be looked at.
    noise
        Of dropout.
    """

    graph: Graph
    split: Split
    inputs: Inputs
    parts: tuple[IntArray, IntArray]
    labels: Tensor
    noise: Generator

    def data(self) -> dict[str, Any]:
        """Return what `train` needs to know of it by name."""
        return {"parts": self.parts, "labels": self.labels, "noise": self.noise}


@dataclass(frozen=True, eq=False)
class NetworkPredictor:
    """A trained network; predicts any graph with the same features."""

    method: Trained
    network: Network
    size: Size
    progress: Progress
    seed: int

    def predict(self, graph: Graph) -> NodePredictions:
        """Predict every node of a graph."""
        inputs = self.method.inputs(graph)
        if inputs.n_features != self.size.n_features:
            told = f"{inputs.n_features} columns, trained on {self.size.n_features}"
            raise InputError(f"features: has {told}")
        with alone(), torch.no_grad():
            return self.method.read(self, inputs, _labels(graph))


@dataclass(frozen=True, kw_only=True)
class Trained:
    """A network with its hyper-parameters; subclasses say which network and how it is trained.

    Parameters
    ----------
    protocol
        ``corrected``: what the paper means; ``published``: what its numbers were made with.
    device
        Where to train.
    epochs, rate, decay
        Of the main phase of Adam.
    hidden
        Width of hidden states.
    """

    protocol: str = "corrected"
    device: str = "cpu"
    epochs: int = 200
    rate: float = 3e-4
    decay: float = 1e-5
    hidden: int = 64

    version: ClassVar[str] = "1"
    norm: ClassVar[Norm] = "symmetric"
    loops: ClassVar[bool] = False
    passes_published: ClassVar[int] = 1

    @property
    def published(self) -> bool:
        """Whether the printed numbers are to be met, flaws included."""
        return self.protocol == "published"

    def network(self, size: Size, generator: Generator) -> Network:
        """Make the network, drawing all its weights from the generator."""
        raise NotImplementedError

    def phases(self) -> Sequence[Phase]:
        """Say how it is trained."""
        return [self.main()]

    def main(self) -> Phase:
        """Say how all of it is trained at once; unread passes are made as published."""
        passes = self.passes_published if self.published else 1
        return Phase(self.epochs, self.rate, self.decay, passes=passes)

    def objective(self) -> Objective:
        """Say what is minimised."""
        raise NotImplementedError

    def criteria(self) -> Sequence[Objective]:
        """Say by what the epoch is chosen, if not by what is minimised."""
        return ()

    def lesson(self, graph: Graph, split: Split, generator: Generator) -> Lesson | None:
        """Say what is minimised in training, if that is more than the loss of the output.

        Parameters
        ----------
        graph, split
            Of which no label is to be looked at: a step gives those it trains on.
        generator
            From which the lesson draws its parameters, on the CPU.
        """
        return None

    def read(self, trained: NetworkPredictor, inputs: Inputs, labels: IntArray) -> NodePredictions:
        """Turn a network's output into predictions."""
        raise NotImplementedError

    def inputs(self, graph: Graph) -> Inputs:
        """Make the tensors that the network sees."""
        return Inputs(graph, norm=self.norm, loops=self.loops, device=_device(self.device))

    def fit(self, graph: Graph, split: Split, *, seed: int) -> NetworkPredictor:
        """Train on ``train`` and keep the epoch of the lowest loss on ``valid_in`` or ``valid``."""
        parts = (split["train"], _validation(split))
        labels = _known_labels(graph, parts)
        inputs = self.inputs(graph)
        with alone():
            size = _size(graph, inputs, labels[parts[0]])
            weights = Generator().manual_seed(seed)
            network = self.network(size, weights).to(inputs.device)
            known = torch.tensor(labels, device=inputs.device)
            given = Given(graph, split, inputs, parts, known, noise_of(seed, inputs.device))
            progress = self.teach(network, given, weights)
        return NetworkPredictor(self, network.requires_grad_(False), size, progress, seed)

    def teach(self, network: Network, given: Given, generator: Generator) -> Progress:
        """Train a network whose weights the generator has drawn."""
        lesson = self.lesson(given.graph, given.split, generator)
        if lesson is not None:
            lesson.to(given.inputs.device)
        goal = Goal(self.objective(), lesson, self.criteria())
        return train(network, given.inputs, phases=self.phases(), goal=goal, **given.data())


class Categorical(Trained):
    """Trained by cross-entropy; all uncertainties are the entropy of the softmax."""

    def objective(self) -> Objective:
        """Take the cross-entropy."""
        return cross_entropy

    def read(self, trained: NetworkPredictor, inputs: Inputs, labels: IntArray) -> NodePredictions:
        """Take the softmax."""
        probs = _numpy(softmax(trained.network(inputs).double(), dim=1))
        return predictions(probs, labels, Uncertainty.from_softmax(probs))


@dataclass(frozen=True, kw_only=True)
class Dirichlet(Trained):
    """Trained by the expected cross-entropy under a Dirichlet.

    Parameters
    ----------
    entropy
        Weight of the Dirichlet's entropy in the loss.
    """

    entropy: float = 1e-3

    knowledge: ClassVar[Knowledge] = "mutual_information"

    def objective(self) -> Objective:
        """Take the expected cross-entropy less entropy; in double precision unless as published.

        Parameters of a Dirichlet reach 10¹³, where terms of its entropy cancel.
        """

        def loss(alpha: Tensor, labels: Tensor) -> Tensor:
            exact = alpha if self.published else alpha.double()
            return dirichlet_loss(exact, labels, entropy=self.entropy)

        return loss

    def read(self, trained: NetworkPredictor, inputs: Inputs, labels: IntArray) -> NodePredictions:
        """Take the mean of the Dirichlet."""
        output = trained.network(inputs)
        alpha = _numpy(output.double())
        if self.published and self.knowledge == "mutual_information":
            found = _rounded_information(output)
        else:
            found = Uncertainty.from_dirichlet(alpha, knowledge=self.knowledge)
        return predictions(alpha / alpha.sum(axis=1, keepdims=True), labels, found, alpha)


def _rounded_information(alpha: Tensor) -> Uncertainty:
    """Take the mutual information as the difference of two rounded numbers.

    That is how the printed numbers were made. Where evidence is large, nothing but rounding errors
    is left of the difference, and nodes come in any order.
    """
    total_evidence = alpha.sum(dim=1, keepdim=True)
    mean = alpha / total_evidence
    total = torch.special.entr(mean).sum(dim=1)
    data = (mean * ((total_evidence + 1).digamma() - (alpha + 1).digamma())).sum(dim=1)
    return Uncertainty(_numpy(total), _numpy(data), _numpy(total - data))


def predictions(
    probs: FloatArray, labels: IntArray, found: Uncertainty, alpha: FloatArray | None = None
) -> NodePredictions:
    """Put probabilities and uncertainties together."""
    named = {"total": found.total, "data": found.data, "knowledge": found.knowledge}
    return NodePredictions(probs, labels, uncertainties=named, alpha=alpha)


def noise_of(seed: int, device: torch.device, *, use: int = 0) -> Generator:
    """Make a generator of noise for a use of a seed.

    Weights are drawn on the CPU wherever the training is, so that they are the same there; noise
    is drawn where it is needed, from a seed of its own.
    """
    drawn = torch.randint(2**62, (use + 1,), generator=Generator().manual_seed(seed))
    return Generator(device).manual_seed(int(drawn[use]))


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"device {name!r} cannot be used: {str(error).splitlines()[0]}") from None
    return device


def _validation(split: Split) -> IntArray:
    return split["valid_in" if "valid_in" in split.parts else "valid"]


def _labels(graph: Graph) -> IntArray:
    return np.full(graph.n_nodes, -1) if graph.labels is None else graph.labels


def _known_labels(graph: Graph, parts: tuple[IntArray, IntArray]) -> IntArray:
    labels = _labels(graph).astype(np.int64)
    if sum(map(len, parts)) and max(int(part.max()) for part in parts) >= graph.n_nodes:
        raise InputError(f"the split is of more nodes than the graph has ({graph.n_nodes})")
    unknown = sum(int((labels[part] < 0).sum()) for part in parts)
    if unknown:
        raise InputError(f"labels: {unknown} of the nodes to train or validate on have none")
    return labels


def _size(graph: Graph, inputs: Inputs, train: IntArray) -> Size:
    n_classes = max(len(graph.class_names), int(_labels(graph).max()) + 1)
    shares = np.bincount(train, minlength=n_classes) / len(train)
    prior = torch.tensor(shares, dtype=torch.float32)
    return Size(inputs.n_features, n_classes, prior, len(inputs.pairs))


def _numpy(tensor: Tensor) -> FloatArray:
    array: FloatArray = tensor.cpu().numpy()
    return array
