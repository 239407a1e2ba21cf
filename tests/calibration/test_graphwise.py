"""Calibrators that train a network: against PyG and a loop, and what they promise."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
import torch
from forecasts import sharpened
from scipy.special import log_softmax, softmax
from torch_geometric.nn import GCNConv

from graphgauge.calibration import calibrator
from graphgauge.calibration.networks import (
    Neighbourhoods,
    _Attentive,
    _Convolved,
    _margin,
    sharpness,
)
from graphgauge.errors import InputError
from graphgauge.metrics import Outcomes, metric
from graphgauge.predictions import NodePredictions

NAMES = ("cagcn", "gats")


@pytest.fixture
def small(rng):
    """Thirty nodes, some without neighbours, with edges given twice, and loops."""
    probs = rng.dirichlet(np.ones(4), 30)
    edges = np.concatenate([rng.integers(0, 25, (60, 2)), [[3, 3], [1, 2], [2, 1]]])
    parts = {"train": np.arange(4), "valid": np.arange(4, 16), "test": np.arange(16, 30)}
    return NodePredictions(probs, rng.integers(0, 4, 30), parts, edges)


def centred(predictions):
    logs = log_softmax(np.log(predictions.probs), axis=1)
    return logs - logs.mean(axis=1, keepdims=True)


def neighbours(predictions):
    near = [{i} for i in range(predictions.n_nodes)]
    for u, v in predictions.edges:
        near[u].add(v)
        near[v].add(u)
    return near


def nll(predictions, part):
    index = predictions.parts[part]
    return metric("nll")(Outcomes.of_nodes(predictions.probs[index], predictions.labels[index]))


def test_convolutions_of_pyg(small):
    network = _Convolved(calibrator("cagcn"), 4, torch.Generator().manual_seed(1))
    with torch.no_grad():
        network.first.bias.uniform_(-1, 1)
        network.second.bias.fill_(0.3)
    first, second = GCNConv(4, 16), GCNConv(16, 1)
    for theirs, ours in ((first, network.first), (second, network.second)):
        theirs.lin.weight.data = ours.weight.data.T.clone()
        theirs.bias.data = ours.bias.data.clone()
    both = np.concatenate([small.pairs, small.pairs[:, ::-1]]).T.astype(np.int64)
    x, index = torch.tensor(centred(small), dtype=torch.float32), torch.tensor(both)
    with torch.no_grad():
        t = second(first(x, index).relu(), index)[:, 0]
    expected = np.log(np.exp(t.numpy().astype(np.float64)) + 1.1)
    assert np.allclose(sharpness(network, small), expected, atol=1e-5)


def test_attention_of_a_loop(small):
    network = _Attentive(calibrator("gats", heads=3), 4, torch.Generator().manual_seed(2))
    with torch.no_grad():
        network.factors.copy_(torch.tensor([0.6, 1.7]))
        network.contrast.fill_(0.8)
        network.shift.fill_(0.4)
    theta = network.weight.detach().numpy().astype(np.float64)
    z, near = centred(small), neighbours(small)
    trained = set(small.parts["train"].tolist())
    gamma = np.ones(30)
    for i in range(30):
        if i in trained:
            gamma[i] = 0.6
        elif near[i] & trained:
            gamma[i] = 1.7
    confidence = softmax(z, axis=1).max(axis=1)
    expected = []
    for i in range(30):
        js = sorted(near[i])
        alike = [z[i] @ z[j] / (gamma[i] * gamma[j]) for j in js]
        attention = softmax([a if a > 0 else 0.2 * a for a in alike])
        heard = np.zeros(3)
        for j, a in zip(js, attention, strict=True):
            s = np.sort((z[j] - z[j].min()) / (z[j].max() - z[j].min()))
            heard += a * gamma[j] * (s @ theta)
        gap = np.mean([confidence[i] - confidence[j] for j in js])
        expected.append(np.log1p(np.exp(heard + 0.8 * gap)).mean() + 0.4)
    assert np.allclose(1 / sharpness(network, small), expected, atol=1e-4)
    with torch.no_grad():
        network.shift.fill_(-50.0)
    assert np.allclose(sharpness(network, small), 100)


def test_margin_of_a_loop(rng):
    probs, labels = rng.dirichlet(np.ones(3), 40), rng.integers(0, 3, 40)
    total = 0.0
    for row, label in zip(probs, labels, strict=True):
        second, first = np.sort(row)[-2:]
        total += 1 - first + second if row.argmax() == label else first - second
    found = _margin(torch.tensor(probs), torch.tensor(labels))
    assert float(found) == pytest.approx(total / 40)


def test_distance_to_training_nodes(small):
    near = Neighbourhoods.of(small)
    assert near.distance[:4].tolist() == [0] * 4
    bare = Neighbourhoods.of(dataclasses.replace(small, parts={"valid": [0]}))
    assert set(bare.distance.tolist()) == {2}


@pytest.mark.parametrize("name", NAMES)
def test_likelihood_improves_and_what_was_sharpened_comes_back(name):
    truth, given = sharpened(1.0, n=2000), sharpened(3.0, n=2000)
    made = calibrator(name, epochs=200).fit(given, "valid_in")(given)
    assert nll(made, "valid_in") < nll(given, "valid_in") - 0.05
    assert nll(made, "test_in") < nll(given, "test_in") - 0.05
    before, after = (np.abs(p.probs - truth.probs).mean() for p in (given, made))
    assert after < 0.6 * before
    assert np.array_equal(made.probs.argmax(axis=1), given.probs.argmax(axis=1))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bits_whatever_torch_was_doing(name, small):
    first = calibrator(name, epochs=20, seed=4).fit(small, "valid")(small)
    torch.manual_seed(9)
    _ = torch.randn(20, 20) @ torch.randn(20, 20)
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    second = calibrator(name, epochs=20, seed=4).fit(small, "valid")(small)
    assert np.array_equal(first.probs, second.probs)
    assert torch.equal(state, torch.random.get_rng_state())
    assert torch.get_num_threads() == threads
    other = calibrator(name, epochs=20, seed=5).fit(small, "valid")(small)
    assert not np.array_equal(first.probs, other.probs)


@pytest.mark.parametrize("name", NAMES)
def test_another_part_may_decide_when_to_stop(name):
    given = sharpened(2.0, n=400)
    alone = calibrator(name, patience=3).fit(given, "valid_in")
    led = calibrator(name, patience=3, stop="train").fit(given, "valid_in")
    assert not np.array_equal(alone(given).probs, led(given).probs)
    shuffled = given.labels.copy()
    shuffled[given.parts["test_out"]] = 0
    again = calibrator(name, patience=3, stop="train").fit(
        dataclasses.replace(given, labels=shuffled), "valid_in"
    )
    assert np.array_equal(led(given).probs, again(given).probs)
    with pytest.raises(InputError, match="no part 'valid' to fit on"):
        calibrator(name, stop="valid").fit(given, "valid_in")


def test_training_stops_when_patience_is_over(small):
    # A rate of zero never improves on the first epoch.
    made = calibrator("gats", rate=0.0, patience=1, epochs=10**9)
    assert np.isfinite(made.fit(small, "valid")(small).probs).all()


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_fitted_is_told(name, small):
    bare = dataclasses.replace(small, edges=None)
    with pytest.raises(InputError, match=f"{name} needs edges"):
        calibrator(name).fit(bare, "valid")
    fitted = calibrator(name, epochs=2).fit(small, "valid")
    with pytest.raises(InputError, match="carry no edges"):
        fitted(bare)
    with pytest.raises(InputError, match=f"has 2 classes, {name}.epochs=2. was fitted to 4"):
        fitted(NodePredictions(np.eye(2), [0, 1], edges=[[0, 1]]))
    with pytest.raises(InputError, match="patience 0 is below one"):
        calibrator(name, patience=0)
    assert set(fitted.told) == {"median temperature"}


def test_without_torch_there_is_one_line(tmp_path, small):
    small.save(tmp_path / "p.npz")
    code = f"""
import sys
class Gone:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Gone())
from graphgauge.cli import main
sys.exit(main(["calibrate", "{tmp_path}/p.npz", "--method", "cagcn"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip() == 'error: cagcn needs torch: pip install "graphgauge[train]"'
