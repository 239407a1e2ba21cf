"""DANN and CORAL: what they add to the loss, and the domains they are told."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from planted_graphs import MADE, small

from graphgauge.errors import InputError
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.layers import Noise
from graphgauge.methods.shifts.coral import Alignment, Coral, misalignment
from graphgauge.methods.shifts.dann import Dann, DomainConfusion, reverse_gradient
from graphgauge.methods.shifts.robust import Robust, split_property
from graphgauge.methods.trained import Size
from graphgauge.methods.training import Step
from graphgauge.parts import Split
from graphgauge.splits import shift_split

GRAPH, SPLIT = MADE.graph, MADE.split


def step(done: float = 0.5) -> Step:
    """Start a step of a small network without dropout on the planted graph."""
    inputs = Inputs(GRAPH, loops=True)
    made = Robust(hidden=6, share=0.0)
    size = Size(inputs.n_features, 3, torch.ones(3) / 3)
    network = made.network(size, torch.Generator().manual_seed(0))
    train = inputs.index(SPLIT["train"])
    noise = Noise(torch.Generator().manual_seed(1))
    view = inputs.whole(network.encoder.hops, SPLIT["train"])
    labels = torch.tensor(GRAPH.labels)[train]
    stem = network.encoder.stem(inputs)
    return Step(network, inputs, stem, view, noise, train, labels, done)


def test_reversal_by_hand():
    # d/dx of 3 x² at x = 2 is 12; behind the reversal it is −0.25 · 12, and x itself is unchanged.
    x = torch.tensor([2.0], requires_grad=True)
    y = 3 * reverse_gradient(x, 0.25) ** 2
    y.backward()
    assert y.item() == 12
    assert x.grad.item() == -3


@pytest.mark.parametrize("done", [0.0, 0.3])
def test_encoder_climbs_where_the_domain_head_descends(done):
    codes = torch.arange(len(SPLIT["train"])) % 4
    lesson = DomainConfusion(codes, 6, 0.7, torch.Generator().manual_seed(2))
    ours, plain = step(done), step(done)
    lesson(ours).backward()
    head = [p.grad.clone() for p in lesson.parameters()]
    weight = plain.network.encoder.layers[1].weight

    hidden = plain.hidden()
    fit = torch.nn.functional.cross_entropy(plain.output(hidden), plain.labels)
    told = torch.nn.functional.cross_entropy(lesson.guess(hidden), codes)
    by_fit = torch.autograd.grad(fit, weight, retain_graph=True)[0]
    by_told = torch.autograd.grad(told, weight, retain_graph=True)[0]
    by_head = torch.autograd.grad(told, list(lesson.parameters()))
    strength = 2 / (1 + math.exp(-10 * done)) - 1
    expected = by_fit - 0.7 * strength * by_told
    assert torch.allclose(ours.network.encoder.layers[1].weight.grad, expected, atol=1e-6)
    for found, grad in zip(head, by_head, strict=True):
        assert torch.allclose(found, 0.7 * grad, atol=1e-6)


@pytest.mark.parametrize("centred", [True, False])
def test_misalignment_against_numpy(rng, centred):
    hidden = rng.normal(2, 3, (40, 5))
    codes = np.concatenate([rng.integers(0, 4, 39), [4]])  # the last domain has one node
    covariances = []
    for code in range(4):
        x = hidden[codes == code]
        n, mean = len(x), x.mean(axis=0)
        flawed = (x.T @ x - np.outer(mean, mean)) / (n - 1)
        covariances.append(np.cov(x, rowvar=False) if centred else flawed)
    pairs = [
        np.mean((a - b) ** 2) / 4
        for i, a in enumerate(covariances)
        for j, b in enumerate(covariances)
        if i != j
    ]
    found = misalignment(torch.tensor(hidden), torch.tensor(codes), centred=centred)
    assert np.isclose(float(found), np.mean(pairs), rtol=1e-10)


def test_covariance_ignores_where_a_domain_lies_and_the_flaw_does_not():
    hidden = torch.randn(20, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    codes = torch.arange(20) % 2
    moved = hidden + 5 * codes[:, None]
    assert torch.allclose(misalignment(hidden, codes), misalignment(moved, codes))
    assert misalignment(moved, codes, centred=False) > 10 * misalignment(moved, codes)


def test_one_domain_is_aligned_with_itself():
    hidden = torch.ones(4, 2, requires_grad=True)
    assert misalignment(hidden, torch.zeros(4, dtype=torch.int64)) == 0
    assert misalignment(hidden, torch.arange(4)) == 0


def test_penalty_is_weighed():
    codes = torch.arange(len(SPLIT["train"])) % 4
    losses = [Alignment(codes, weight)(step()).item() for weight in (0.0, 1.0, 2.0)]
    assert losses[1] > losses[0]
    assert np.isclose(losses[2] - losses[1], losses[1] - losses[0], rtol=1e-4)


def test_protocols_differ_for_coral_alone():
    runs = {
        (name, protocol): small(name, protocol, weight=1.0).fit(GRAPH, SPLIT, seed=0)
        for name in ("shifts/dann", "shifts/coral")
        for protocol in ("corrected", "published")
    }
    probs = {key: run.predict(GRAPH).probs for key, run in runs.items()}
    same = {
        name: np.array_equal(probs[name, "corrected"], probs[name, "published"])
        for name, _ in probs
    }
    assert same == {"shifts/dann": True, "shifts/coral": False}


def test_domains_follow_the_property_of_the_split():
    split = shift_split(GRAPH, "popularity", seed=1)
    codes = Dann().codes(GRAPH, split)
    assert len(np.bincount(codes)) == 10
    assert np.ptp(np.bincount(codes)) <= 1
    named = Dann(shift="popularity").codes(GRAPH, split)
    assert torch.equal(codes, named)
    few = Coral(n_domains=3, binning="width").codes(GRAPH, split)
    assert few.max() <= 2


def test_published_splits_name_their_property():
    def published(which: str) -> Split:
        return Split({"train": [0]}, 1, {"by": "published", "source": "x", "which": which})

    assert split_property(published("density")) == ("density", {})
    assert split_property(published("ppr")) == ("locality", {})
    for which in ("feature", "random", "split0_fold0"):
        with pytest.raises(InputError, match="name it as `shift`"):
            split_property(published(which))


def test_epoch_is_chosen_by_accuracy_or_loss():
    for select in ("accuracy", "loss"):
        trained = small("shifts/dann", select=select, epochs=15).fit(GRAPH, SPLIT, seed=0)
        assert len(trained.progress.valid) == 15
    with pytest.raises(InputError, match="select: 'auroc' is neither"):
        small("shifts/dann", select="auroc")
