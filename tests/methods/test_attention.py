"""Attention: against PyG's layer, a dense brute force, and numbers instead of gradients."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_graphs import MADE
from torch import Generator

from graphgauge.methods.attention import AttentionLayer, row_softmax
from graphgauge.methods.edgewise.attention import AttentionEncoder
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.layers import Noise
from graphgauge.methods.network import LogitsHead, Network
from graphgauge.methods.sparse import Constant

GRAPH = MADE.graph
INPUTS = Inputs(GRAPH, loops=True)


def edge_index() -> torch.Tensor:
    both = np.concatenate([GRAPH.edges.T, GRAPH.edges.T[::-1]], axis=1)
    return torch.tensor(both, dtype=torch.int64)


def drawn(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=Generator().manual_seed(seed))


@pytest.mark.parametrize(("n_heads", "joined"), [(8, True), (8, False), (1, True)])
def test_layer_is_that_of_pyg(n_heads, joined):
    from torch_geometric.nn import GATConv

    ours = AttentionLayer(16, 5, Generator().manual_seed(0), n_heads=n_heads, joined=joined)
    theirs = GATConv(16, 5, heads=n_heads, concat=joined)
    with torch.no_grad():
        ours.bias.copy_(drawn(1, len(ours.bias)))
        theirs.lin.weight.copy_(ours.weight.T)
        theirs.att_dst.copy_(ours.halves[None, :, :, 0])
        theirs.att_src.copy_(ours.halves[None, :, :, 1])
        theirs.bias.copy_(ours.bias)
    x = torch.tensor(GRAPH.features, dtype=torch.float32)
    given = drawn(2, GRAPH.n_nodes, len(ours.bias))
    mine = x.clone().requires_grad_()
    found = ours(ours.project(mine), INPUTS.adjacency)
    (found * given).sum().backward()
    other = x.clone().requires_grad_()
    expected = theirs(other, edge_index())
    (expected * given).sum().backward()
    assert torch.allclose(found, expected, atol=1e-5)
    assert torch.allclose(mine.grad, other.grad, atol=1e-4)
    assert torch.allclose(ours.weight.grad, theirs.lin.weight.grad.T, rtol=1e-4, atol=1e-3)
    assert torch.allclose(ours.halves.grad[:, :, 0], theirs.att_dst.grad[0], rtol=1e-4, atol=1e-3)
    assert torch.allclose(ours.halves.grad[:, :, 1], theirs.att_src.grad[0], rtol=1e-4, atol=1e-3)
    assert torch.allclose(ours.bias.grad, theirs.bias.grad, rtol=1e-4, atol=1e-4)


def dense_attention(layer: AttentionLayer, x: np.ndarray, linked: np.ndarray) -> np.ndarray:
    """Compute one node and one head at a time."""
    weight, halves = layer.weight.detach().numpy(), layer.halves.detach().numpy()
    n_heads, n_out = halves.shape[:2]
    outputs = []
    for k in range(n_heads):
        h = x @ weight[:, k * n_out : (k + 1) * n_out]
        rows = []
        for i in range(len(x)):
            of = np.flatnonzero(linked[i])
            score = h[i] @ halves[k, :, 0] + h[of] @ halves[k, :, 1]
            score = np.exp(np.where(score > 0, score, 0.2 * score))
            rows.append(score / score.sum() @ h[of])
        outputs.append(np.array(rows))
    joined = np.concatenate(outputs, axis=1) if layer.joined else np.mean(outputs, axis=0)
    return joined + layer.bias.detach().numpy()


@pytest.mark.parametrize("joined", [True, False])
def test_layer_is_the_dense_formula(joined, rng):
    linked = rng.random((12, 12)) < 0.3
    np.fill_diagonal(linked, True)
    layer = AttentionLayer(4, 3, Generator().manual_seed(0), n_heads=2, joined=joined)
    x = rng.normal(size=(12, 4)).astype(np.float32)
    found = layer(layer.project(torch.tensor(x)), Constant(sp.csr_array(linked)))
    assert np.allclose(found.detach(), dense_attention(layer, x, linked), atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 4))
def test_products_with_changing_entries(seed, n_matrices, width):
    """Block products and both gradients against dense ones, for matrices of any shape."""
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 9, 2))
    mask = rng.random(shape) < 0.4
    mask.flat[rng.integers(mask.size)] = True
    pattern = Constant(sp.csr_array(mask)).pattern
    entries = drawn(seed % 1000, n_matrices, int(mask.sum())).requires_grad_()
    dense = drawn(1, n_matrices, shape[1], width).requires_grad_()
    given = drawn(2, n_matrices, shape[0], width)
    found = pattern.multiply(entries, dense)
    (found * given).sum().backward()
    own = entries.detach().clone().requires_grad_()
    other = dense.detach().clone().requires_grad_()
    matrices = torch.zeros(n_matrices, *shape).masked_scatter(torch.tensor(mask), own)
    expected = matrices @ other
    (expected * given).sum().backward()
    assert torch.allclose(found, expected, atol=1e-5)
    assert torch.allclose(entries.grad, own.grad, atol=1e-5)
    assert torch.allclose(dense.grad, other.grad, atol=1e-5)
    row, column = np.nonzero(mask)
    assert np.array_equal(pattern.rows, row)
    x = drawn(3, shape[0], 2)
    assert torch.equal(pattern.at_rows @ x, x[row])
    assert torch.equal(pattern.at_columns @ drawn(3, shape[1], 2), drawn(3, shape[1], 2)[column])


def test_softmax_over_rows_and_its_gradient(rng):
    mask = rng.random((6, 5)) < 0.5
    mask[:, 0], mask[3] = True, False
    mask[3, 2] = True
    pattern = Constant(sp.csr_array(mask)).pattern
    scores = torch.tensor(rng.normal(0, 60, (int(mask.sum()), 2)), dtype=torch.float32)
    given = drawn(1, *scores.shape)
    ours, other = scores.clone().requires_grad_(), scores.clone().requires_grad_()
    found = row_softmax(ours, pattern)
    (found * given).sum().backward()
    spread = torch.full((6, 5, 2), -torch.inf)
    spread[torch.tensor(mask)] = other
    expected = spread.softmax(dim=1)[torch.tensor(mask)]
    (expected * given).sum().backward()
    assert torch.allclose(found, expected, atol=1e-6)
    assert torch.allclose(ours.grad, other.grad, atol=1e-6)


def test_some_nodes_are_seen_by_what_they_depend_on_alone():
    encoder = AttentionEncoder((16, 4, 3), Generator().manual_seed(0), n_heads=2, share=0.5)
    network, some = Network(encoder, LogitsHead()), torch.tensor([3, 11, 4])
    view = network.view(INPUTS, some)
    few = network.output(network.hidden(encoder.stem(INPUTS), view), INPUTS, view)
    assert torch.allclose(few, network(INPUTS)[some], atol=1e-5)
    assert len(view.start) < GRAPH.n_nodes


@pytest.mark.parametrize("sparse", [True, False])
def test_dropout_of_features_keeps_the_mean(sparse):
    features = sp.random_array((40, 30), density=0.05 if sparse else 0.5, rng=0, format="csr")
    inputs = Inputs(type(GRAPH)(np.eye(40), features=features))
    assert isinstance(inputs.features, Constant) == sparse
    layer = AttentionLayer(30, 2, Generator().manual_seed(0), n_heads=2)
    noise = Noise(Generator().manual_seed(1))
    with torch.no_grad():
        clean = layer.project(inputs.features)
        passes = [layer.project(inputs.features, 0.5, noise) for _ in range(2000)]
        assert torch.equal(layer.project(inputs.features, 0.5), clean)
    assert not torch.equal(passes[0], passes[1])
    assert torch.allclose(torch.stack(passes).mean(dim=0), clean, atol=0.05)
    layer.project(inputs.features, 0.5, noise).sum().backward()
    assert torch.isfinite(layer.weight.grad).all()
