"""*miscalibrated*: GIN against PyG, views, MC dropout, hyper-parameters."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from planted_graphs import MADE, small
from torch import Generator, nn

from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.methods import method
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.layers import Noise
from graphgauge.methods.miscalibrated.isomorphism import IsomorphismLayer
from graphgauge.methods.trained import Size, noise_of
from graphgauge.parts import Split

GRAPH, SPLIT = MADE.graph, MADE.split
SUMS = Inputs(GRAPH, norm="sum")


def test_sums_are_those_of_neighbours(rng):
    x = torch.tensor(rng.normal(size=(GRAPH.n_nodes, 3)), dtype=torch.float32)
    expected = GRAPH.neighbours.astype(np.float32) @ x.numpy()
    assert np.allclose(SUMS.adjacency @ x, expected, atol=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_isomorphism_layer_is_that_of_pyg(training, rng):
    from torch_geometric.nn import GINConv

    ours = IsomorphismLayer(16, 6, Generator().manual_seed(0))
    parts = [(nn.Linear(n, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU()) for n in (16, 6)]
    theirs = GINConv(nn.Sequential(*parts[0], *parts[1]), train_eps=True)
    noise = Noise(Generator())
    with torch.no_grad():
        for shared in (ours.epsilon, theirs.eps):
            shared.fill_(0.3)
        for (linear, norm, _), weight, own in zip(parts, ours.weights, ours.norms, strict=True):
            linear.weight.copy_(weight.T)
            for pair in ((norm.weight, own.weight), (norm.bias, own.bias)):
                drawn = torch.tensor(rng.normal(size=6), dtype=torch.float32)
                pair[0].copy_(drawn), pair[1].copy_(drawn)
    both = np.concatenate([GRAPH.edges.T, GRAPH.edges.T[::-1]], axis=1)
    edge_index, x = torch.tensor(both, dtype=torch.int64), torch.tensor(GRAPH.features)
    # Twice: what the first pass leaves of batch statistics counts in the second.
    passes = [noise, noise if training else None]
    for turn in passes:
        theirs.train(turn is not None)
        found = ours.finish(ours.gather(x, SUMS.adjacency), turn)
        expected = theirs(x, edge_index)
        assert torch.allclose(found, expected, atol=1e-5)
    found.square().sum().backward()
    expected.square().sum().backward()
    assert torch.allclose(ours.epsilon.grad, theirs.eps.grad.squeeze(), rtol=1e-3, atol=1e-3)
    for (linear, *_), weight in zip(parts, ours.weights, strict=True):
        assert torch.allclose(weight.grad, linear.weight.grad.T, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("n_layers", [2, 4])
@pytest.mark.parametrize("name", ["gcn", "gat", "gin"])
def test_some_nodes_are_seen_by_what_they_depend_on_alone(name, n_layers):
    made = small(f"miscalibrated/{name}", n_layers=n_layers)
    # A path, so that not everything is near.
    pairs = np.stack([np.arange(29), np.arange(1, 30)], axis=1)
    graph = Graph.from_edges(pairs, 30, features=np.random.default_rng(0).random((30, 5)))
    inputs, some = made.inputs(graph), torch.tensor([3, 11])
    network = made.network(Size(5, 3, torch.ones(3) / 3), Generator().manual_seed(0))
    view = network.view(inputs, some)
    with torch.no_grad():
        few = network.output(network.hidden(network.encoder.stem(inputs), view), inputs, view)
        assert torch.allclose(few, network(inputs)[some], atol=1e-5)
    assert len(view.start) == 2 * (2 * n_layers - 1)  # a layer's reach, but the first's
    assert len(network.encoder.layers) == n_layers


@pytest.mark.parametrize("name", ["gcn", "gat", "gin"])
def test_passes_with_dropout_are_averaged(name):
    with_passes, without = (method(f"miscalibrated/{name}{end}") for end in ("-mcd", ""))
    assert dataclasses.asdict(with_passes) == {**dataclasses.asdict(without), "passes": 100}
    trained = small(f"miscalibrated/{name}-mcd", passes=5).fit(GRAPH, SPLIT, seed=4)
    plain = small(f"miscalibrated/{name}").fit(GRAPH, SPLIT, seed=4)
    for ours, theirs in zip(trained.network.parameters(), plain.network.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    network, inputs = trained.network, trained.method.inputs(GRAPH)
    noise = Noise(noise_of(4, torch.device("cpu"), use=1), batch=False)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    view, stem = inputs.whole(network.encoder.hops), network.encoder.stem(inputs)
    with torch.no_grad():
        outputs = [
            network.output(network.hidden(stem, view, noise), inputs, view) for _ in range(5)
        ]
    expected = torch.stack(outputs).softmax(dim=2).mean(dim=0)
    assert np.allclose(trained.predict(GRAPH).probs, expected, atol=1e-6)
    assert all(torch.equal(value, before[key]) for key, value in network.state_dict().items())
    # Many passes come near to their mean, which is not the prediction without dropout.
    many = dataclasses.replace(trained.method, passes=300)
    found = dataclasses.replace(trained, method=many).predict(GRAPH).probs
    assert np.abs(found - expected.numpy()).max() > 1e-3
    assert np.abs(found - plain.predict(GRAPH).probs).mean() < 0.1


def test_rare_classes_weigh_as_much_as_others():
    """Of one class few nodes are left to train on; balanced, it is not forgotten."""
    train = SPLIT["train"]
    rare = train[GRAPH.labels[train] == 0]
    kept = np.concatenate([rare[:2], train[GRAPH.labels[train] != 0]])
    parts = {"train": kept, "valid": SPLIT["valid_in"]}
    split = Split(parts, GRAPH.n_nodes)
    hyper = {"epochs": 60, "rate": 1e-2, "hidden": 16}
    found = {
        name: small(name, **hyper).fit(GRAPH, split, seed=0).predict(GRAPH).probs[:, 0].mean()
        for name in ("miscalibrated/gcn", "edgewise/gcn")
    }
    assert found["miscalibrated/gcn"] > found["edgewise/gcn"] + 0.02


def test_hyper_parameters_are_checked():
    with pytest.raises(InputError, match="n_layers: 1 is less than 2"):
        small("miscalibrated/gcn", n_layers=1)
    with pytest.raises(InputError, match="select: 'brier' is neither"):
        small("miscalibrated/gcn", select="brier")
    by_loss = small("miscalibrated/gcn", select="loss", epochs=40, rate=0.05, patience=5)
    progress = by_loss.fit(GRAPH, SPLIT, seed=0).progress
    assert len(progress.valid) == min(40, int(np.argmin(progress.valid)) + 6)
