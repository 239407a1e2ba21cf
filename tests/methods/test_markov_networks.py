"""GMNN: what is drawn, what is averaged, and that p learns from neighbours."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from planted_graphs import MADE, small
from torch import Generator

from graphgauge.methods.trained import noise_of

GRAPH, SPLIT = MADE.graph, MADE.split
FIT = {"epochs": 80, "rate": 1e-2, "hidden": 16, "round_epochs": 60}


@pytest.fixture(scope="module")
def fitted():
    return small("edgewise/gmnn", **FIT).fit(GRAPH, SPLIT, seed=0)


def as_published(trained, protocol: str = "published", **hyper):
    method = dataclasses.replace(trained.method, protocol=protocol, **hyper)
    return dataclasses.replace(trained, method=method)


def test_labels_are_drawn_as_often_as_they_are_likely(fitted):
    network = fitted.network
    probs = torch.tensor([[0.7, 0.2, 0.1]]).repeat(GRAPH.n_nodes, 1)
    generator = Generator().manual_seed(0)
    drawn = torch.stack([network.draw(probs, generator) for _ in range(200)])
    assert torch.equal(drawn.sum(dim=2), torch.ones(200, GRAPH.n_nodes))
    known = np.sort(SPLIT["train"])
    rest = np.setdiff1d(np.arange(GRAPH.n_nodes), known)
    assert torch.allclose(drawn[:, rest].mean(dim=(0, 1)), probs[0], atol=0.01)
    truth = torch.eye(3)[torch.tensor(GRAPH.labels[known]).long()]
    assert torch.equal(drawn[:, known], truth.expand(200, -1, -1))


def test_logits_or_probabilities_are_averaged(fitted):
    network, inputs = fitted.network, fitted.method.inputs(GRAPH)
    noise = noise_of(fitted.seed, torch.device("cpu"), use=1)
    with torch.no_grad():
        beliefs = network.q(inputs).softmax(dim=1)
        logits = torch.stack(
            [network.p(inputs.seen_as(network.draw(beliefs, noise))) for _ in range(3)]
        )
    assert not torch.equal(logits[0], logits[1])
    corrected, published = fitted.predict(GRAPH), as_published(fitted).predict(GRAPH)
    assert np.allclose(corrected.probs, logits.softmax(dim=2).mean(dim=0), atol=1e-6)
    assert np.allclose(published.probs, logits.mean(dim=0).softmax(dim=1), atol=1e-6)
    assert not np.allclose(corrected.probs, published.probs, atol=1e-6)
    assert (corrected.uncertainties["knowledge"] > 0).any()
    other = as_published(fitted, "corrected", draws=40).predict(GRAPH)
    assert np.abs(other.probs - corrected.probs).max() > 1e-4


def test_one_network_for_features_and_one_for_labels(fitted):
    """p has never seen features, and finds classes from neighbours' labels alone."""
    progress = fitted.progress
    assert (len(progress.train), len(progress.valid)) == (80 + 60 + 60, 80)
    assert fitted.network.p.encoder.layers[0].weight.shape == (3, 16)
    assert progress.train[139] < progress.train[80]
    found = fitted.predict(GRAPH).probs.argmax(axis=1) == GRAPH.labels
    assert found[SPLIT["test_in"]].mean() > 0.6
    # q was taught by p, from where its first training ended.
    with torch.no_grad():
        taught = fitted.network(fitted.method.inputs(GRAPH)).argmax(dim=1).numpy()
    assert (taught == GRAPH.labels)[SPLIT["test_in"]].mean() > 0.6


def test_training_ends_with_the_last_epoch():
    """One epoch more of the last phase, and nothing else, is one step more of q."""
    short, long = (
        small("edgewise/gmnn", **{**FIT, "epochs": 10, "round_epochs": n}, share=0.0)
        .fit(GRAPH, SPLIT, seed=0)
        .progress.train
        for n in (5, 6)
    )
    assert len(short) == 10 + 5 + 5
    assert short[:15] == long[:15]
