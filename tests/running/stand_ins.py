"""Methods that take milliseconds, and benchmarks of them: everything a runner needs but torch."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from graphgauge.metrics import Outcomes
from graphgauge.predictions import NodePredictions
from graphgauge.uncertainty import Uncertainty

HERE = "stand_ins"


class Spread:
    """Spread training labels along edges, with a little noise from the seed."""

    version = "1"

    def __init__(self, *, rounds: int = 3, noise: float = 0.1, seconds: float = 0.0) -> None:
        self.rounds, self.noise, self.seconds = rounds, noise, seconds

    def fit(self, graph, split, *, seed):
        rng = np.random.default_rng(seed)
        n_classes = graph.labels.max() + 1
        votes = np.full((graph.n_nodes, n_classes), 0.1)
        votes += self.noise * rng.random(votes.shape)
        train = split["train"]
        votes[train, graph.labels[train]] += 1
        for _ in range(self.rounds):
            votes = votes + graph.neighbours @ votes
        time.sleep(self.seconds)
        self.probs = votes / votes.sum(axis=1, keepdims=True)
        return self

    def predict(self, graph):
        found = Uncertainty.from_softmax(self.probs)
        named = {"total": found.total, "data": found.data, "knowledge": found.knowledge}
        return NodePredictions(self.probs, graph.labels, uncertainties=named)


class Global(Spread):
    """Draws from the global generators, as it should not."""

    def fit(self, graph, split, *, seed):
        return super().fit(graph, split, seed=int(np.random.randint(1000)))  # noqa: NPY002


class Failing(Spread):
    """Fails in the way it is told to."""

    def __init__(self, *, how: str = "error") -> None:
        super().__init__()
        self.how = how

    def fit(self, graph, split, *, seed):
        if self.how == "memory":
            raise MemoryError
        if self.how == "odd":
            raise RuntimeError("two\nlines and \x1b[2J a screen")
        if self.how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how.startswith("once:"):
            flag = Path(self.how.removeprefix("once:"))
            if not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().fit(graph, split, seed=seed)
        raise ValueError("it does not work")


class Halfway:
    """Calibrate towards the shares of classes among the labels it is fitted to."""

    version = "3"

    def __init__(self, *, way: float = 0.5) -> None:
        self.way = way

    def fit(self, predictions, part):
        labels = predictions.labels[predictions.parts[part]]
        shares = np.bincount(labels, minlength=predictions.n_classes) / len(labels)

        def calibrated(given):
            return replace(given, probs=(1 - self.way) * given.probs + self.way * shares)

        return calibrated


class Undivided(Halfway):
    """A calibrator that says more than probabilities that sum to one."""

    def fit(self, predictions, part):
        found = super().fit(predictions, part)

        class Fitted:
            def __call__(self, given):
                return found(given)

            def outcomes(self, given, part):
                index = np.sort(given.parts[part])
                sure = np.ones((len(index), given.n_classes))
                return Outcomes.of_nodes(sure, given.labels[index])

        return Fitted()


def written(folder, *, methods=None, datasets=("planted-200",), settings=("density-50",), seeds=3):
    """Write a benchmark of stand-ins and return its path."""
    methods = methods or {"spread": f'use = "{HERE}:Spread"'}
    lines = [
        "[benchmark]",
        'name = "tiny"',
        f"seeds = {list(range(seeds))}",
        f"datasets = {list(datasets)}",
        f"settings = {list(settings)}",
    ]
    for slug, content in methods.items():
        lines += [f"[methods.{slug}]", content]
    path = folder / "tiny.toml"
    path.write_text("\n".join(lines).replace("'", '"') + "\n", encoding="utf-8")
    return path
