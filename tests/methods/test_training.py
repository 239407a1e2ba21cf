"""The training loop, layers and products it stands on."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from planted_graphs import MADE, small
from torch import Generator

from graphgauge.methods.inputs import Inputs
from graphgauge.methods.layers import BatchNorm, GcnLayer, Noise, SageLayer, dropout
from graphgauge.methods.sparse import Constant
from graphgauge.methods.training import alone


@pytest.fixture
def noise() -> Noise:
    return Noise(Generator().manual_seed(3))


def test_product_and_its_gradient(rng):
    dense = rng.random((5, 7)) * (rng.random((5, 7)) < 0.5)
    matrix = Constant(sp.csr_array(dense))
    x = torch.tensor(rng.random((7, 3)), dtype=torch.float32, requires_grad=True)
    y = matrix @ x
    assert np.allclose(y.detach(), dense @ x.detach().numpy(), atol=1e-6)
    weights = torch.tensor(rng.random((5, 3)), dtype=torch.float32)
    (y * weights).sum().backward()
    assert np.allclose(x.grad, dense.T @ weights.numpy(), atol=1e-6)


@pytest.mark.parametrize("loops", [True, False])
def test_layers_are_those_of_pyg(rng, loops):
    from torch_geometric.nn import GCNConv, SAGEConv

    graph = MADE.graph
    x = torch.tensor(graph.features)
    both = np.concatenate([graph.edges.T, graph.edges.T[::-1]], axis=1)
    if loops:
        both = np.concatenate([both, np.tile(np.arange(graph.n_nodes), (2, 1))], axis=1)
    edge_index = torch.tensor(both, dtype=torch.int64)
    with torch.no_grad():
        for n_out in (4, 20):
            ours = GcnLayer(16, n_out, Generator().manual_seed(0))
            theirs = GCNConv(16, n_out, add_self_loops=False)
            theirs.lin.weight.copy_(ours.weight.T)
            adjacency = Inputs(graph, loops=loops).adjacency
            assert torch.allclose(ours(x, adjacency), theirs(x, edge_index), atol=1e-5)
        sage = SageLayer(16, 4, Generator().manual_seed(0))
        mean = SAGEConv(16, 4)
        mean.lin_r.weight.copy_(sage.weight[:, :4].T)
        mean.lin_l.weight.copy_(sage.weight[:, 4:].T)
        mean.lin_l.bias.copy_(sage.bias)
        adjacency = Inputs(graph, norm="mean", loops=loops).adjacency
        assert torch.allclose(sage(x, adjacency), mean(x, edge_index), atol=1e-5)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_dropout_keeps_the_mean(share, noise):
    x = dropout(torch.ones(999, 301), share, noise)
    assert abs(float((x == 0).float().mean()) - share) < 0.005
    assert abs(float(x.mean()) - 1) < 0.01
    assert torch.equal(dropout(x, share, None), x)


def test_batch_statistics_move_as_those_of_torch(noise, rng):
    ours, theirs = BatchNorm(3), torch.nn.BatchNorm1d(3)
    x = torch.tensor(rng.normal(2, 3, (50, 3)), dtype=torch.float32)
    ours(x, Noise(noise.generator, passes=4))
    ours(x + 1, Noise(noise.generator, batch=False))
    for _ in range(4):
        theirs(x)
    assert torch.allclose(ours.mean, theirs.running_mean)
    assert torch.allclose(ours.variance, theirs.running_var)
    assert torch.allclose(ours(x, None), theirs.eval()(x), atol=1e-6)


@pytest.mark.parametrize("name", ["shifts/erm", "shifts/gpn", "revisiting/natpn"])
def test_the_best_epoch_is_kept(name):
    trained = small(name, rate=0.05, epochs=40).fit(MADE.graph, MADE.split, seed=0)
    method, network = trained.method, trained.network
    nodes = MADE.split["valid_in"]
    labels = torch.tensor(MADE.graph.labels[nodes])
    with torch.no_grad():
        output = network(method.inputs(MADE.graph))[torch.tensor(nodes)]
    reached = float(method.objective()(output, labels))
    last = trained.progress.valid[-4:] if "pn" in name else trained.progress.valid
    assert np.isclose(reached, min(last), atol=1e-4)


@pytest.mark.parametrize(("protocol", "moves"), [("corrected", False), ("published", True)])
def test_what_stands_before_flows_stands_still(protocol, moves):
    """Phases that train flows alone leave weights alone; as published, statistics still move."""
    hyper = {"epochs": 0, "warmup": 6, "finetune": 0}
    made = small("shifts/natpn", protocol, **hyper)
    start = small("shifts/natpn", protocol, **{**hyper, "warmup": 0})
    ours, theirs = (
        m.fit(MADE.graph, MADE.split, seed=0).network.state_dict() for m in (made, start)
    )
    changed = {key for key in ours if not torch.equal(ours[key], theirs[key])}
    assert any("flows" in key for key in changed)
    rest = {key for key in changed if "flows" not in key}
    assert all(key.endswith(("mean", "variance")) for key in rest)
    assert bool(rest) == moves


def test_threads_and_gradients_are_left_as_found():
    threads = torch.get_num_threads()

    def fail() -> None:
        with alone():
            assert torch.get_num_threads() == 1
            assert torch.is_grad_enabled()
            raise KeyError

    with torch.no_grad():
        with pytest.raises(KeyError):
            fail()
        assert not torch.is_grad_enabled()
    assert torch.get_num_threads() == threads


def test_naming_methods_loads_no_torch():
    code = (
        "import sys, graphgauge.methods as m; m.NODE_METHODS; m.combine;"
        "print([x for x in ('torch', 'torch_geometric') if x in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
