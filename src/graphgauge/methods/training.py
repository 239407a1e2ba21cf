"""One training loop for all networks: phases of Adam, the best state on validation data kept.

What a step computes is shared where it can be. The stem of the weights after a step serves the
validation of that step and the training of the next. A network without noise shares all of its
output in this way. In phases that train flows alone, what lies before them is computed once, as far
as it stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Generator, Tensor

from graphgauge.arrays import IntArray
from graphgauge.methods.inputs import Inputs, View
from graphgauge.methods.layers import Noise
from graphgauge.methods.memory import keep_freed_memory
from graphgauge.methods.network import Network

__all__ = ["Objective", "Phase", "Progress", "alone", "train"]

Objective = Callable[[Tensor, Tensor], Tensor]
"""From the output of some nodes and their labels to a loss."""


@dataclass(frozen=True)
class Phase:
    """Some epochs of Adam with a rate and weight decay.

    Parameters
    ----------
    epochs, rate, decay
        Of Adam; decay is added to the gradient.
    flows_only
        Train the flows and nothing else.
    stirred
        In such a phase, let dropout and batch statistics of the untrained rest go on, as the
        authors' code does; else the rest stands still.
    passes
        How many passes in training mode a step stands for.
    """

    epochs: int
    rate: float
    decay: float = 0.0
    flows_only: bool = False
    stirred: bool = False
    passes: int = 1


@dataclass
class Progress:
    """Losses of every epoch, before its step in training and after it in validation."""

    train: list[float] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class _Task:
    """What is trained on what, with everything that stays the same for a run."""

    network: Network
    inputs: Inputs
    objective: Objective
    train: Tensor
    valid: Tensor
    labels: Tensor
    generator: Generator

    def loss(self, output: Tensor, nodes: Tensor) -> Tensor:
        return self.objective(output, self.labels[nodes])


class _Quiet:
    """Outputs where training and validation do not differ: one serves both."""

    def __init__(self, task: _Task, phase: Phase) -> None:
        self.task, self.n_train = task, len(task.train)
        self.view = task.network.view(task.inputs, torch.cat([task.train, task.valid]))
        self.hidden: Tensor | None = None
        if phase.flows_only:
            with torch.no_grad():
                self.hidden = self._hidden()
        self.output = self._output()

    def train(self) -> Tensor:
        return self.output[: self.n_train]

    def valid(self) -> Tensor:
        self.output = self._output()
        return self.output.detach()[self.n_train :]

    def _hidden(self) -> Tensor:
        network = self.task.network
        return network.hidden(network.encoder.stem(self.task.inputs), self.view)

    def _output(self) -> Tensor:
        hidden = self._hidden() if self.hidden is None else self.hidden
        return self.task.network.output(hidden, self.task.inputs, self.view)


class _Noisy:
    """Outputs where training has noise: the stem serves both, the rest is computed for each."""

    def __init__(self, task: _Task, phase: Phase) -> None:
        self.task, self.still = task, phase.flows_only
        self.noise = Noise(task.generator, passes=phase.passes)
        hops = task.network.encoder.hops
        self.all = task.inputs.whole(hops, task.train.cpu().numpy())
        self.some = task.network.view(task.inputs, task.valid)
        with torch.set_grad_enabled(not self.still):
            self.stem = task.network.encoder.stem(task.inputs)

    def train(self) -> Tensor:
        return self._output(self.stem, self.all, self.noise)

    def valid(self) -> Tensor:
        if not self.still:
            self.stem = self.task.network.encoder.stem(self.task.inputs)
        with torch.no_grad():
            return self._output(self.stem, self.some, None)

    def _output(self, stem: Tensor, view: View, noise: Noise | None) -> Tensor:
        network = self.task.network
        return network.output(network.hidden(stem, view, noise), self.task.inputs, view)


def train(
    network: Network,
    inputs: Inputs,
    *,
    phases: Sequence[Phase],
    objective: Objective,
    parts: tuple[IntArray, IntArray],
    labels: Tensor,
    noise: Generator,
) -> Progress:
    """Train in phases; each ends with the weights of its lowest validation loss.

    Parameters
    ----------
    network, inputs
        On one device.
    phases
        One after the other.
    objective
        The loss, of training and validation.
    parts
        Nodes to train on, and nodes to choose the epoch on.
    labels
        Class of every node; only those of `parts` are looked at.
    noise
        Where dropout comes from.
    """
    on, by = map(inputs.index, parts)
    task = _Task(network, inputs, objective, on, by, labels, noise)
    progress = Progress()
    for phase in phases:
        if phase.epochs:
            _run(task, phase, progress)
    return progress


def _run(task: _Task, phase: Phase, progress: Progress) -> None:
    network = task.network
    trained = _choose(network, flows_only=phase.flows_only)
    adam = torch.optim.Adam(trained, lr=phase.rate, weight_decay=phase.decay, fused=True)
    quiet = not network.encoder.noisy or (phase.flows_only and not phase.stirred)
    outputs = _Quiet(task, phase) if quiet else _Noisy(task, phase)
    best, kept = float("inf"), _copies(network)
    for _ in range(phase.epochs):
        loss = task.loss(outputs.train(), task.train)
        adam.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        reached = float(task.loss(outputs.valid(), task.valid).detach())
        progress.train.append(float(loss.detach()))
        progress.valid.append(reached)
        if reached < best:
            best = reached
            _copy(network, kept)
    if best < float("inf"):
        network.load_state_dict(kept)


def _choose(network: Network, *, flows_only: bool) -> list[Tensor]:
    """Let gradients flow where something is trained, and nowhere else."""
    chosen: list[Tensor] = [*(network.head.apart() if flows_only else network.parameters())]
    network.requires_grad_(False)
    for parameter in chosen:
        parameter.requires_grad_()
    return chosen


def _copies(network: Network) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}


def _copy(network: Network, kept: dict[str, Tensor]) -> None:
    for name, value in network.state_dict().items():
        kept[name].copy_(value)


@contextmanager
def alone() -> Iterator[None]:
    """Compute on one thread, with gradients, and leave torch's settings as they were.

    Sums are made in another order by more threads, so one is part of being the same bit by bit.
    """
    keep_freed_memory()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(threads)
