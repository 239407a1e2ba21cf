"""Monte Carlo dropout: a network whose dropout stays on when it predicts, some times over."""

from __future__ import annotations

import numpy as np
from torch.nn.functional import softmax

from graphgauge.arrays import IntArray
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.layers import Noise
from graphgauge.methods.trained import NetworkPredictor, noise_of, predictions
from graphgauge.predictions import NodePredictions
from graphgauge.uncertainty import Uncertainty

__all__ = ["average_passes"]


def average_passes(
    trained: NetworkPredictor, inputs: Inputs, labels: IntArray, passes: int
) -> NodePredictions:
    """Average the softmax of passes with dropout; batch statistics stand still.

    The passes are an ensemble, with the mutual information as knowledge.

    References
    ----------
    Gal and Ghahramani, Dropout as a Bayesian Approximation, ICML 2016.
    """
    network = trained.network
    view = inputs.whole(network.encoder.hops)
    stem = network.encoder.stem(inputs)
    noise = Noise(noise_of(trained.seed, inputs.device, use=1), batch=False)
    members = []
    for _ in range(passes):
        hidden = network.hidden(stem, view, noise)
        logits = network.output(hidden, inputs, view).double()
        members.append(softmax(logits, dim=1).cpu().numpy())
    return predictions(np.mean(members, axis=0), labels, Uncertainty.from_ensemble(members))
