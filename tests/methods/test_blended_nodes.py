"""Mixup: its two branches against a graph whose nodes are renumbered, and its limits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from planted_graphs import MADE, small
from torch.nn.functional import batch_norm, cross_entropy

from graphgauge.methods.inputs import Inputs
from graphgauge.methods.layers import Noise
from graphgauge.methods.shifts.mixup import Blend, Blending, Mixup, MixupEncoder
from graphgauge.methods.trained import Size
from graphgauge.methods.training import Step

GRAPH, SPLIT = MADE.graph, MADE.split
INPUTS = Inputs(GRAPH, loops=True)


def step(protocol: str = "corrected") -> Step:
    size = Size(INPUTS.n_features, 3, torch.ones(3) / 3)
    made = Mixup(hidden=6, share=0.0, protocol=protocol)
    network = made.network(size, torch.Generator().manual_seed(0))
    train = INPUTS.index(SPLIT["train"])
    view = INPUTS.whole(network.encoder.hops, SPLIT["train"])
    labels = torch.tensor(GRAPH.labels)[train]
    stem = network.encoder.stem(INPUTS)
    return Step(network, INPUTS, stem, view, noise(), train, labels, 0.0)


def noise() -> Noise:
    return Noise(torch.Generator().manual_seed(1))


def partners() -> torch.Tensor:
    partner = torch.arange(GRAPH.n_nodes)
    train = torch.tensor(SPLIT["train"])
    partner[train] = train[torch.randperm(len(train), generator=torch.Generator().manual_seed(3))]
    return partner


class Fixed:
    """Random numbers of one's own choice."""

    def __init__(self, share: float) -> None:
        self.share = share

    def permutation(self, n: int) -> np.ndarray:
        return np.roll(np.arange(n), 1)

    def beta(self, a: float, b: float) -> float:
        return self.share


@pytest.mark.parametrize("protocol", ["corrected", "published"])
def test_nodes_that_keep_all_of_themselves_train_plainly(protocol):
    ours, plain = step(protocol), step(protocol)
    loss = Blending(1.0, Fixed(1.0))(ours)
    expected = cross_entropy(plain.output(plain.hidden()), plain.labels)
    assert torch.allclose(loss, expected, atol=1e-6)
    loss.backward()
    expected.backward()
    for one, other in zip(ours.network.parameters(), plain.network.parameters(), strict=True):
        assert torch.allclose(one.grad, other.grad, atol=1e-5)


def test_both_labels_count():
    halves, own, other = (step() for _ in range(3))
    loss = Blending(1.0, Fixed(0.5))(halves)
    order = torch.tensor(Fixed(0.5).permutation(len(own.train)))
    blend = Blend(torch.arange(GRAPH.n_nodes), 0.5)
    blend.partner[own.train] = own.train[order]
    hidden = own.network.encoder.blended(own.stem, own.view, blend, own.noise)
    output = own.output(own.view.leave(hidden))
    expected = 0.5 * (
        cross_entropy(output, own.labels) + cross_entropy(output, other.labels[order])
    )
    assert torch.allclose(loss, expected, atol=1e-6)


@pytest.mark.parametrize("late", [False, True])
def test_branches_against_a_second_graph(late):
    """Renumber edges as the papers' code does, and aggregate on both graphs."""
    encoder = MixupEncoder(
        INPUTS.n_features, 5, torch.Generator().manual_seed(0), share=0.0, late=late
    )
    partner, share = partners(), 0.3
    with torch.no_grad():
        found = encoder.blended(
            encoder.stem(INPUTS), INPUTS.whole(encoder.hops), Blend(partner, share), noise()
        )
        second = np.argsort(partner.numpy())
        edges = sp.coo_array(GRAPH.neighbours)
        edges = sp.coo_array((edges.data, (second[edges.row], second[edges.col])), edges.shape)
        other = Inputs(dataclasses.replace(GRAPH, adjacency=sp.csr_array(edges)), loops=True)
        expected = _two_branches(encoder, partner, share, INPUTS.adjacency, other.adjacency)
    assert torch.allclose(found, expected, atol=1e-5)


def _two_branches(encoder, partner, share, ours, theirs):
    def convolve(number, x, centre, adjacency):
        weight, n = encoder.layers[number].weight, encoder.width
        out = adjacency @ (x @ weight[:, :n]) + centre @ weight[:, n:]
        out = batch_norm(out, None, None, training=True)
        return out if number == 2 else out.relu()

    x = torch.tensor(GRAPH.features, dtype=torch.float32)
    states = [x]
    for number in range(3):
        states.append(convolve(number, states[-1], states[-1], ours))
    mixed = share * x + (1 - share) * x[partner]
    for number in range(3):
        source = states[3] if encoder.late and number else states[number]
        one = convolve(number, source, mixed, ours)
        two = convolve(number, source[partner], mixed, theirs)
        mixed = share * one + (1 - share) * two
    return mixed


def test_late_network_sees_few_nodes_as_it_sees_all():
    made = step("published")
    nodes = torch.tensor(SPLIT["valid_in"])
    with torch.no_grad():
        whole = made.network(INPUTS)[nodes]
        view = made.network.view(INPUTS, nodes)
        some = made.network.hidden(made.stem, view)
        assert torch.allclose(made.network.output(some, INPUTS, view), whole, atol=1e-5)
    assert len(view.matrices) == 3


def test_concentration_matters():
    runs = [small("shifts/mixup", concentration=a).fit(GRAPH, SPLIT, seed=0) for a in (0.4, 2.0)]
    assert runs[0].progress.train != runs[1].progress.train
