"""Losses, flows, propagation and shrunken networks against the authors' code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Generator, Tensor, nn

from graphgauge.graph import Graph
from graphgauge.methods.flows import RadialFlows
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.losses import dirichlet_entropy, dirichlet_loss, expected_cross_entropy
from graphgauge.methods.network import (
    Encoder,
    NaturalHead,
    Network,
    PosteriorHead,
    Propagation,
    SoftmaxHead,
)
from graphgauge.methods.shifts.encoders import DenseEncoder, GcnEncoder, ResidualEncoder
from graphgauge.uncertainty import Uncertainty

N_FEATURES, WIDTH, LATENT, N_FLOW_LAYERS, N_CLASSES = 12, 8, 4, 3, 4


@pytest.fixture(scope="module")
def stored(golden: Path) -> Mapping[str, Any]:
    file = golden / "shifts" / "math_and_models.npz"
    if not file.is_file():
        pytest.skip(f"{file} not found")
    with np.load(file) as arrays:
        return {key: arrays[key] for key in arrays.files}


@pytest.fixture(scope="module")
def graph(stored: Mapping[str, Any]) -> Graph:
    return Graph.from_edges(stored["edges"].T, 30, features=stored["x"], labels=stored["y"])


def test_dirichlet_losses(stored):
    alpha, labels = torch.tensor(stored["dir_alpha"]), torch.tensor(stored["dir_y"])
    assert np.allclose(expected_cross_entropy(alpha, labels), stored["dir_uce"])
    assert np.allclose(dirichlet_entropy(alpha), stored["dir_entropy"])
    loss = dirichlet_loss(alpha, labels, entropy=1e-3)
    assert np.isclose(float(loss), stored["dir_loss"])
    found = Uncertainty.from_dirichlet(stored["dir_alpha"])
    assert np.allclose(found.total, stored["dir_total"])
    assert np.allclose(found.data, stored["dir_data"])
    assert np.allclose(found.knowledge, stored["dir_know_mi"])


def test_flow(stored):
    flows = RadialFlows(1, 16, 8, Generator()).double()
    put(flows, stack_flows([sub(stored, "flow_")]))
    points = torch.tensor(stored["flow_z"])
    with torch.no_grad():
        norms, stretched = flows.transform(points)
        density = flows(points)
    assert np.allclose(norms[0], np.square(stored["flow_out"]).sum(axis=1), atol=1e-10)
    assert np.allclose(stretched[0], stored["flow_logdet"], atol=1e-5)
    assert np.allclose(density[:, 0], stored["flow_logprob"], atol=1e-5)
    assert np.isclose(0.5 * 16 * np.log(4 * np.pi), stored["log_budget_16"])


def test_flow_gradient():
    flows = RadialFlows(2, 3, 2, Generator().manual_seed(0)).double()
    points = torch.randn(4, 3, generator=Generator().manual_seed(1), dtype=torch.float64)
    assert torch.autograd.gradcheck(flows, points.requires_grad_())


def test_propagation(stored, graph):
    inputs = Inputs(graph, loops=True)
    spread = Propagation(5, 0.2)(torch.tensor(stored["ap_in"]), inputs.adjacency)
    assert np.allclose(spread, stored["ap_out"], atol=1e-5)


@pytest.mark.parametrize("model", ["mpn", "mlp", "gpn", "natpn"])
def test_standard_networks(stored, graph, model):
    state = sub(stored, f"{model}_standard/")
    network = Network(encoder(model), head(model, stored))
    put(network.encoder, encoder_state(state))
    put(network.head, head_state(model, state))
    check(network, Inputs(graph, loops=True), state["OUT"])


@pytest.mark.parametrize("model", ["mpn", "natpn"])
def test_modified_networks(stored, graph, model):
    state = sub(stored, f"{model}_improved/")
    residual = ResidualEncoder(N_FEATURES, WIDTH, Generator())
    network = Network(residual, head(model, stored))
    put(network.encoder, residual_state(state))
    put(network.head, head_state(model, state))
    check(network, Inputs(graph, norm="mean", loops=True), state["OUT"])


def check(network: Network, inputs: Inputs, expected: np.ndarray) -> None:
    """Compare the output of all nodes, and that of some nodes by what they depend on alone."""
    some = torch.tensor([3, 11, 4])
    view = network.view(inputs, some)
    with torch.no_grad():
        output = network(inputs)
        few = network.output(network.hidden(network.encoder.stem(inputs), view), inputs, view)
    assert np.allclose(output, expected, rtol=1e-5, atol=1e-5)
    assert np.allclose(few, expected[some], rtol=1e-5, atol=1e-5)


def encoder(model: str) -> Encoder:
    made = DenseEncoder if model in ("mlp", "gpn") else GcnEncoder
    return made(N_FEATURES, WIDTH, Generator())


def head(model: str, stored: Mapping[str, Any]) -> nn.Module:
    sizes: dict[str, Any] = {"latent": LATENT, "n_layers": N_FLOW_LAYERS}
    if model == "gpn":
        shares = np.bincount(stored["y"][stored["train"]], minlength=N_CLASSES)
        prior = torch.tensor(shares / shares.sum(), dtype=torch.float32)
        return PosteriorHead(WIDTH, prior, Generator(), spread=Propagation(), **sizes)
    if model == "natpn":
        return NaturalHead(WIDTH, N_CLASSES, Generator(), on_latent=False, **sizes)
    return SoftmaxHead(WIDTH, N_CLASSES, Generator())


def sub(stored: Mapping[str, Any], start: str) -> dict[str, Any]:
    return {key.removeprefix(start): v for key, v in stored.items() if key.startswith(start)}


def linear(state: Mapping[str, Any], theirs: str, ours: str) -> dict[str, np.ndarray]:
    """A layer of torch's own keeps its weight transposed."""
    return {f"{ours}.weight": state[f"{theirs}.weight"].T, f"{ours}.bias": state[f"{theirs}.bias"]}


def norm(state: Mapping[str, Any], theirs: str, ours: str) -> dict[str, np.ndarray]:
    names = {"weight": "weight", "bias": "bias", "running_mean": "mean", "running_var": "variance"}
    names = {old: new for old, new in names.items() if f"{theirs}.{old}" in state}
    return {f"{ours}.{new}": state[f"{theirs}.{old}"] for old, new in names.items()}


def encoder_state(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for number in range(3):
        layer = f"encoder.layers.{number}"
        found |= linear(state, f"{layer}.layer", f"layers.{number}")
        if state["encoder.layers.0.layer.weight"].shape == (N_FEATURES, WIDTH):  # convolutions
            found[f"layers.{number}.weight"] = state[f"{layer}.layer.weight"]
        found |= norm(state, f"{layer}.normalisation", f"norms.{number}")
    return found


def residual_state(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    found = linear(state, "preprocessing.layers.0.layer", "first")
    found |= norm(state, "preprocessing.layers.0.normalisation", "first_norm")
    for number in range(2):
        layer = f"encoder.layers.{number}"
        halves = [state[f"{layer}.layer.{half}.weight"].T for half in ("fc_self", "fc_neigh")]
        found[f"layers.{number}.weight"] = np.concatenate(halves, axis=1)
        found[f"layers.{number}.bias"] = state[f"{layer}.layer.fc_self.bias"]
        found |= norm(state, f"{layer}.normalisation", f"norms.{number}")
    return found


def head_state(model: str, state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if model in ("mpn", "mlp"):
        return linear(state, "classifier.layers.0.layer", "last")
    found = linear(state, "projector.layers.0.layer", "projection")
    if model == "natpn":
        found |= linear(state, "predictor.layers.0.layer", "shares")
        flows = [sub(state, "flow.")]
    else:
        flows = [sub(state, f"flows.{number}.") for number in range(N_CLASSES)]
    return found | {f"flows.{key}": value for key, value in stack_flows(flows).items()}


def stack_flows(flows: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    n_layers = sum(key.endswith(".reference") for key in flows[0])
    layers = [[sub(flow, f"transforms.{i}.") for flow in flows] for i in range(n_layers)]
    names = {"centre": "reference", "a": "alpha_prime", "b": "beta_prime"}
    return {
        ours: np.array([[layer[theirs].reshape(-1) for layer in row] for row in layers])
        for ours, theirs in names.items()
    }


def put(module: nn.Module, state: Mapping[str, np.ndarray]) -> None:
    own: dict[str, Tensor] = module.state_dict()
    missing = set(own) - set(state) - {"log_prior"}
    assert not missing
    tensors = {key: torch.tensor(np.ascontiguousarray(value)) for key, value in state.items()}
    module.load_state_dict(own | {key: value.to(own[key].dtype) for key, value in tensors.items()})
