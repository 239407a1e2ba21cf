"""One training loop for all networks: phases of Adam, the best state on validation data kept.

Which state is the best, and when a phase ends, is said by its `Stop`.

What a step computes is shared where it can be. The stem of the weights after a step serves the
validation of that step and the training of the next. A network without noise shares all of its
output in this way. In phases that train flows alone, what lies before them is computed once, as far
as it stands still.

What a step minimises is the loss of the output, unless a `Lesson` says more: of hidden states, of
mixed nodes, of edited graphs. Validation is always by the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.optim import Adam

from graphgauge.arrays import IntArray
from graphgauge.methods.inputs import Inputs, View
from graphgauge.methods.layers import Noise
from graphgauge.methods.memory import keep_freed_memory
from graphgauge.methods.network import Network
from graphgauge.methods.stopping import BEST, Stop, Watch

__all__ = [
    "Goal",
    "Lesson",
    "Objective",
    "Phase",
    "Progress",
    "Step",
    "adam_of",
    "alone",
    "train",
]

Objective = Callable[[Tensor, Tensor], Tensor]
"""From the output of some nodes and their labels to a loss."""


@dataclass(frozen=True)
class Step:
    """What a step of training starts from.

    Parameters
    ----------
    network, inputs
        With the weights before the step.
    stem
        The encoder's stem of all nodes, with a gradient.
    view
        All nodes, of which those to train on are asked for.
    noise
        Of dropout.
    train, labels
        Nodes to train on ``[t]`` and their classes ``[t]``.
    done
        Share of the phase's epochs that lie behind, from 0 to below 1.
    """

    network: Network
    inputs: Inputs
    stem: Tensor
    view: View
    noise: Noise
    train: Tensor
    labels: Tensor
    done: float

    def hidden(self) -> Tensor:
        """Compute hidden states of the nodes to train on, with noise."""
        return self.network.hidden(self.stem, self.view, self.noise)

    def output(self, hidden: Tensor) -> Tensor:
        """Go on from hidden states to the output."""
        return self.network.output(hidden, self.inputs, self.view)


class Lesson(nn.Module):
    """A loss of training beyond that of the output; its parameters are trained with the network."""

    def forward(self, step: Step) -> Tensor:
        """Compute the loss of a step."""
        raise NotImplementedError


@dataclass(frozen=True)
class Goal:
    """What is minimised.

    Parameters
    ----------
    objective
        The loss of the output, in training and in validation.
    lesson
        What takes its place in training.
    criteria
        By what the epoch is chosen in validation, smallest first; if empty, by the objective.
    """

    objective: Objective
    lesson: Lesson | None = None
    criteria: Sequence[Objective] = ()


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
    halving
        After how many epochs the rate is halved, again and again; never if 0.
    stop
        Which epoch is kept and when the phase ends. If None, it takes all of its epochs, keeps the
        last, and validates nothing.
    adam
        What to go on with, by its own rate and decay, in this and in later phases: it goes back to
        where it was at the kept epoch, as the weights do. By default a new one.
    """

    epochs: int
    rate: float
    decay: float = 0.0
    flows_only: bool = False
    stirred: bool = False
    passes: int = 1
    halving: int = 0
    stop: Stop | None = BEST
    adam: Adam | None = None


@dataclass
class Progress:
    """Losses of every epoch, before its step in training and after it in validation."""

    train: list[float] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)

    def add(self, more: Progress) -> None:
        """Append what came after."""
        self.train.extend(more.train)
        self.valid.extend(more.valid)


@dataclass(frozen=True)
class _Task:
    """What is trained on what, with everything that stays the same for a run."""

    network: Network
    inputs: Inputs
    goal: Goal
    train: Tensor
    valid: Tensor
    labels: Tensor
    generator: Generator

    def loss(self, output: Tensor, nodes: Tensor) -> Tensor:
        return self.goal.objective(output, self.labels[nodes])

    def reached(self, output: Tensor, loss: float) -> list[float]:
        """Say how well an output does in validation, given its loss."""
        objective, labels = self.goal.objective, self.labels[self.valid]
        return [
            loss if measure is objective else float(measure(output, labels))
            for measure in self.goal.criteria or (objective,)
        ]


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

    def loss(self, done: float) -> Tensor:
        return self.task.loss(self.output[: self.n_train], self.task.train)

    def renew(self) -> None:
        self.output = self._output()

    def valid(self) -> Tensor:
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
        encoder, train = task.network.encoder, task.train
        # Batch statistics are those of all nodes; other noise matters where it falls.
        if encoder.local:
            self.all = task.network.view(task.inputs, train)
        else:
            self.all = task.inputs.whole(encoder.hops, train.cpu().numpy())
        self.some = task.network.view(task.inputs, task.valid)
        with torch.set_grad_enabled(not self.still):
            self.stem = task.network.encoder.stem(task.inputs)

    def loss(self, done: float) -> Tensor:
        task = self.task
        if task.goal.lesson is None:
            return task.loss(self._output(self.stem, self.all, self.noise), task.train)
        labels = task.labels[task.train]
        network, inputs, noise = task.network, task.inputs, self.noise
        step = Step(network, inputs, self.stem, self.all, noise, task.train, labels, done)
        loss: Tensor = task.goal.lesson(step)
        return loss

    def renew(self) -> None:
        if not self.still:
            self.stem = self.task.network.encoder.stem(self.task.inputs)

    def valid(self) -> Tensor:
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
    goal: Goal,
    parts: tuple[IntArray, IntArray],
    labels: Tensor,
    noise: Generator,
) -> Progress:
    """Train in phases; each ends with the weights that did best in validation.

    Parameters
    ----------
    network, inputs
        On one device.
    phases
        One after the other.
    goal
        What is minimised.
    parts
        Nodes to train on, and nodes to choose the epoch on.
    labels
        Class of every node, or a distribution of classes; only those of `parts` are looked at.
    noise
        Where dropout comes from.
    """
    on, by = map(inputs.index, parts)
    task = _Task(network, inputs, goal, on, by, labels, noise)
    progress = Progress()
    for phase in phases:
        if phase.epochs:
            _run(task, phase, progress)
    return progress


def adam_of(parameters: Iterable[Tensor], rate: float, decay: float) -> Adam:
    """Make an optimiser; decay is added to the gradient."""
    return Adam(parameters, lr=rate, weight_decay=decay, fused=True)


def _run(task: _Task, phase: Phase, progress: Progress) -> None:
    network = task.network
    trained = _choose(network, flows_only=phase.flows_only)
    lesson = task.goal.lesson
    if lesson is not None:
        trained.extend(lesson.parameters())
    adam = phase.adam or adam_of(trained, phase.rate, phase.decay)
    noisy = network.encoder.noisy and (phase.stirred or not phase.flows_only)
    quiet = lesson is None and not noisy
    outputs = _Quiet(task, phase) if quiet else _Noisy(task, phase)
    watch, kept = Watch(phase.stop or BEST), _Kept(network, phase.adam)
    for epoch in range(phase.epochs):
        if phase.halving and epoch and epoch % phase.halving == 0:
            _halve_rate(adam)
        loss = outputs.loss(epoch / phase.epochs)
        adam.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        outputs.renew()
        progress.train.append(float(loss.detach()))
        if phase.stop is None:
            continue
        output = outputs.valid()
        progress.valid.append(float(task.loss(output, task.valid).detach()))
        if watch.keeps(task.reached(output, progress.valid[-1])):
            kept.renew()
        if watch.over:
            break
    if watch.found:
        kept.restore()


def _choose(network: Network, *, flows_only: bool) -> list[Tensor]:
    """Let gradients flow where something is trained, and nowhere else."""
    chosen: list[Tensor] = [*(network.head.apart() if flows_only else network.parameters())]
    network.requires_grad_(False)
    for parameter in chosen:
        parameter.requires_grad_()
    return chosen


class _Kept:
    """The weights worth keeping, and Adam's state if it is gone on with."""

    def __init__(self, network: Network, adam: Adam | None) -> None:
        self.network, self.adam = network, adam
        self.weights = {name: value.clone() for name, value in network.state_dict().items()}
        self.moments = self._moments()

    def renew(self) -> None:
        for name, value in self.network.state_dict().items():
            self.weights[name].copy_(value)
        self.moments = self._moments()

    def restore(self) -> None:
        self.network.load_state_dict(self.weights)
        if self.adam is not None:
            self.adam.load_state_dict(self.moments)

    def _moments(self) -> dict[str, Any]:
        return {} if self.adam is None else deepcopy(self.adam.state_dict())


def _halve_rate(adam: Adam) -> None:
    for group in adam.param_groups:
        group["lr"] /= 2


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
