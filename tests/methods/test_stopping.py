"""Rules of stopping: which epoch is kept, and which is the last."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from planted_graphs import MADE, small
from torch import Generator

from graphgauge.methods import training
from graphgauge.methods.losses import balanced_cross_entropy, balanced_error_rate, cross_entropy
from graphgauge.methods.stopping import Stop, Watch
from graphgauge.methods.training import Goal, Phase, adam_of, train

# Validation errors and losses of ten epochs, and what *edgewise* makes of them by hand.
ERRORS = [0.5, 0.4, 0.4, 0.6, 0.3, 0.3, 0.5, 0.5, 0.2, 0.5]
LOSSES = [1.0, 0.9, 1.1, 0.8, 0.8, 0.9, 0.7, 0.9, 0.9, 0.9]
#         both both acc  loss both acc  loss  –  acc   –
KEPT = [0, 1, 4]


def followed(stop: Stop, *traces: list[float]) -> tuple[list[int], int]:
    """Return which epochs are kept, and how many there are."""
    watch, kept = Watch(stop), []
    for epoch, reached in enumerate(zip(*traces, strict=True)):
        if watch.keeps(reached):
            kept.append(epoch)
        if watch.over:
            return kept, epoch + 1
    return kept, len(traces[0])


def test_either_goes_on_and_both_are_kept():
    assert followed(Stop(patience=1, ties=True), ERRORS, LOSSES) == (KEPT, 8)
    assert followed(Stop(patience=2, ties=True), ERRORS, LOSSES) == (KEPT, 10)
    assert followed(Stop(ties=True), ERRORS, LOSSES) == (KEPT, 10)


def test_the_first_best_is_kept_without_ties():
    assert followed(Stop(patience=4), ERRORS) == ([0, 1, 4, 8], 10)
    assert followed(Stop(patience=3), ERRORS) == ([0, 1, 4], 8)
    assert followed(Stop(patience=2), ERRORS) == ([0, 1], 4)
    assert followed(Stop(), LOSSES) == ([0, 1, 3, 6], 10)
    assert followed(Stop(start=0.4), ERRORS) == ([4, 8], 10)
    assert followed(Stop(ties=True, start=0.4), ERRORS) == ([1, 2, 4, 5, 8], 10)


def test_what_is_no_number_is_no_gain():
    assert followed(Stop(patience=2), [math.nan, 0.5, math.nan, math.nan, 0.1]) == ([1], 4)
    assert followed(Stop(patience=2, ties=True), [0.5, math.nan, 0.5], [1.0, 1.0, 1.0]) == (
        [0, 2],
        3,
    )


@given(
    st.lists(st.tuples(*[st.integers(0, 5)] * 2), min_size=1, max_size=40),
    st.integers(1, 6),
    st.booleans(),
)
def test_rule_is_what_a_loop_over_all_the_past_says(trace, patience, ties):
    """Every epoch is compared with the minimum of those before it, each number by itself."""
    expected, idle = [], 0
    for epoch, reached in enumerate(trace):
        best = [min((past[k] for past in trace[:epoch]), default=math.inf) for k in range(2)]
        gains = [new <= old if ties else new < old for new, old in zip(reached, best, strict=True)]
        if all(gains):
            expected.append(epoch)
        idle = 0 if any(gains) else idle + 1
        if idle == patience:
            break
    errors, losses = map(list, zip(*trace, strict=True))
    assert followed(Stop(patience, ties), errors, losses) == (expected, epoch + 1)


def network_and_data(name: str = "edgewise/gcn"):
    method = small(name)
    inputs = method.inputs(MADE.graph)
    size = training_size(inputs)
    network = method.network(size, Generator().manual_seed(0))
    data = {
        "parts": (MADE.split["train"], MADE.split["valid_in"]),
        "labels": torch.tensor(MADE.graph.labels).long(),
        "noise": Generator().manual_seed(1),
    }
    return network, inputs, data


def training_size(inputs):
    from graphgauge.methods.trained import Size

    return Size(inputs.n_features, 3, torch.ones(3) / 3)


def test_training_ends_where_patience_does():
    network, inputs, data = network_and_data()
    phase = Phase(500, 0.05, stop=Stop(patience=7))
    progress = train(network, inputs, phases=[phase], goal=Goal(cross_entropy), **data)
    assert len(progress.train) == len(progress.valid) < 500
    assert int(np.argmin(progress.valid)) == len(progress.valid) - 8
    with torch.no_grad():
        nodes = torch.tensor(data["parts"][1])
        reached = cross_entropy(network(inputs)[nodes], data["labels"][nodes])
    assert np.isclose(float(reached), min(progress.valid), atol=1e-5)


def test_without_a_rule_the_last_epoch_is_kept_and_nothing_validated():
    network, inputs, data = network_and_data()
    start = {key: value.clone() for key, value in network.state_dict().items()}
    phase = Phase(3, 0.05, stop=None)
    goal = Goal(cross_entropy)
    progress = train(network, inputs, phases=[phase], goal=goal, **data)
    assert (len(progress.train), progress.valid) == (3, [])
    other, _, data = network_and_data()
    other.load_state_dict(start)
    adam = adam_of(other.parameters(), 0.05, 0.0)
    for _ in range(3):  # one at a time, with an Adam that goes on
        train(other, inputs, phases=[Phase(1, 0.05, stop=None, adam=adam)], goal=goal, **data)
    for ours, theirs in zip(network.parameters(), other.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_adam_goes_back_with_the_weights():
    network, inputs, data = network_and_data()
    goal, rule = Goal(cross_entropy), Stop(patience=1, start=-1.0)  # nothing is below
    adam = adam_of(network.parameters(), 0.05, 0.0)
    train(network, inputs, phases=[Phase(2, 0.05, stop=None, adam=adam)], goal=goal, **data)
    weights = [p.detach().clone() for p in network.parameters()]
    steps = [float(state["step"]) for state in adam.state.values()]
    train(network, inputs, phases=[Phase(9, 0.05, stop=rule, adam=adam)], goal=goal, **data)
    assert [float(state["step"]) for state in adam.state.values()] == steps == [2.0] * len(steps)
    assert all(torch.equal(a, b) for a, b in zip(weights, network.parameters(), strict=True))


def test_the_rate_is_halved_again_and_again(monkeypatch):
    network, inputs, data = network_and_data()
    rates: list[float] = []

    class Told(torch.optim.Adam):
        def step(self, closure=None):
            rates.append(self.param_groups[0]["lr"])
            return super().step(closure)

    monkeypatch.setattr(training, "Adam", Told)
    phase = Phase(8, 0.08, halving=3)
    train(network, inputs, phases=[phase], goal=Goal(cross_entropy), **data)
    assert rates == [0.08] * 3 + [0.04] * 3 + [0.02] * 2


def test_balanced_losses_are_means_over_classes(rng):
    labels = torch.tensor([0] * 7 + [2] * 2 + [3] * 5)
    output = torch.tensor(rng.normal(size=(14, 4)), dtype=torch.float32)
    by_class = [labels == k for k in (0, 2, 3)]
    losses = [float(cross_entropy(output[of], labels[of])) for of in by_class]
    errors = [float((output[of].argmax(1) != labels[of]).float().mean()) for of in by_class]
    assert np.isclose(float(balanced_cross_entropy(output, labels)), np.mean(losses))
    assert np.isclose(float(balanced_error_rate(output, labels)), np.mean(errors))
    counts = labels.bincount(minlength=4)
    weights = counts.max() / counts.clamp(min=1)
    weighted = cross_entropy(output, labels, weight=weights)
    assert torch.isclose(balanced_cross_entropy(output, labels), weighted)
    even = torch.arange(12) % 4
    plain = cross_entropy(output[:12], even)
    assert torch.isclose(balanced_cross_entropy(output[:12], even), plain)


@pytest.mark.parametrize("name", ["edgewise/gcn", "edgewise/gat"])
def test_what_is_kept_was_best_in_both(name):
    trained = small(name, rate=0.05, epochs=60, patience=20).fit(MADE.graph, MADE.split, seed=0)
    progress, nodes = trained.progress, torch.tensor(MADE.split["valid_in"])
    with torch.no_grad():
        output = trained.network(trained.method.inputs(MADE.graph))[nodes]
    reached = float(cross_entropy(output, torch.tensor(MADE.graph.labels[nodes]).long()))
    epoch = int(np.argmin(np.abs(np.array(progress.valid) - reached)))
    assert np.isclose(progress.valid[epoch], reached, atol=1e-5)
    assert reached <= min(progress.valid[: epoch + 1]) + 1e-6
