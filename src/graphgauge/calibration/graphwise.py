"""Calibration by a temperature of every node, which a small network learns from its neighbourhood.

These train with torch, which is loaded when the first is fitted and not before. Networks see logits
as logarithms of probabilities less their mean over the classes: the logits of the model but for a
number a row, which probabilities do not tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import softmax

from graphgauge.arrays import FloatArray
from graphgauge.calibration.calibrator import check_hyper, label_of, labelled, logits, with_probs
from graphgauge.errors import InputError
from graphgauge.predictions import NodePredictions

if TYPE_CHECKING:
    from graphgauge.calibration.networks import Sharpener

__all__ = ["Cagcn", "FittedNetwork", "Gats", "Graphwise"]


@dataclass(frozen=True, eq=False)
class FittedNetwork:
    """A trained network that says by how much to sharpen every node.

    Parameters
    ----------
    label
        The calibrator, for the name of what comes out.
    n_classes
        Classes it was fitted to.
    network
        From the neighbourhood to one over the temperature.
    told
        What was learned, in words and numbers.
    """

    label: str
    n_classes: int
    network: Sharpener
    told: dict[str, float]

    def __call__(self, predictions: NodePredictions) -> NodePredictions:
        """Temper every node; see `with_probs` for what stays."""
        if predictions.n_classes != self.n_classes:
            raise InputError(
                f"probs: has {predictions.n_classes} classes, {self.label} was fitted to "
                f"{self.n_classes}"
            )
        sharpness = self.sharpness(predictions)[:, None]
        probs = softmax(logits(predictions.probs) * sharpness, axis=1)
        return with_probs(predictions, probs, self.label)

    def sharpness(self, predictions: NodePredictions) -> FloatArray:
        """Return one over the temperature of every node ``[n]``."""
        from graphgauge.calibration.networks import sharpness

        return sharpness(self.network, predictions)


@dataclass(frozen=True, kw_only=True)
class Graphwise:
    """A calibrator that gives every node its own temperature; subclasses say by which network.

    Parameters
    ----------
    epochs, rate, decay
        Of Adam; decay is added to the gradient.
    patience
        After how many epochs without a lower NLL to stop.
    stop
        Part whose NLL decides when to stop and which epoch is kept; by default the part fitted on.
    seed
        Of the weights.
    """

    epochs: int = 2000
    rate: float = 0.01
    decay: float = 0.005
    patience: int = 100
    stop: str = ""
    seed: int = 0

    name: ClassVar[str]
    reference: ClassVar[str]

    def __post_init__(self) -> None:
        check_hyper(self)
        for key in ("epochs", "patience"):
            if getattr(self, key) < 1:
                raise InputError(f"{self.name}: {key} {getattr(self, key)} is below one")

    @property
    def label(self) -> str:
        """The name with what differs from the defaults."""
        return label_of(self)

    def fit(self, predictions: NodePredictions, part: str) -> FittedNetwork:
        """Train on the labelled nodes of a part."""
        parts = labelled(predictions, part), labelled(predictions, self.stop or part)
        if predictions.edges is None:
            raise InputError(f"{self.name} needs edges: add edge_index or give --edges")
        try:
            from graphgauge.calibration.networks import sharpness, trained
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            told = f'{self.name} needs torch: pip install "graphgauge[train]"'
            raise InputError(told) from None
        network = trained(self, predictions, parts)
        middle = float(np.median(1 / sharpness(network, predictions)))
        return FittedNetwork(
            self.label, predictions.n_classes, network, {"median temperature": middle}
        )


@dataclass(frozen=True, kw_only=True)
class Cagcn(Graphwise):
    """Find every node's temperature by a GCN of two layers on logits.

    Logits are multiplied by log(exp(t) + 1.1), where t is what the GCN gives. To the NLL a margin
    is added: one less the gap between the two largest probabilities where the prediction is right,
    the gap where it is wrong. There is no dropout, so that the order of nodes does not matter.

    Parameters
    ----------
    margin
        Weight of the margin.
    hidden
        Width of the hidden layer.
    """

    margin: float = 0.5
    hidden: int = 16

    name: ClassVar[str] = "cagcn"
    reference: ClassVar[str] = "Wang et al., Be Confident!, NeurIPS 2021 (arXiv 2109.14285)"


@dataclass(frozen=True, kw_only=True)
class Gats(Graphwise):
    """Find every node's temperature by attention to its neighbours and itself (GATS).

    ``T_i = mean over heads of softplus(Σ_j α_ij γ_j θ·s_j + c δ_i) + T₀``, where s_j are logits
    scaled to [0, 1] and sorted, δ_i is the mean difference of the node's confidence to those of
    the neighbours and its own, and α_ij the softmax over j of LeakyReLU(z_i·z_j / (γ_i γ_j)).
    Training nodes have a factor γ that is learned, their neighbours another, all others one. A
    temperature is at least 0.01.

    As published, the NLL on training nodes decides when to stop: ``gats(stop=train)``. By default
    no labels are read but those of the part fitted on.

    Parameters
    ----------
    heads
        Of the attention.
    """

    heads: int = 8

    name: ClassVar[str] = "gats"
    reference: ClassVar[str] = (
        "Hsu et al., What Makes Graph Neural Networks Miscalibrated?, NeurIPS 2022 "
        "(arXiv 2210.06391)"
    )
