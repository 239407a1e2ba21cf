"""A search for hyper-parameters: try a grid, choose on validation data in distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.methods.method import Method, Predictor
from graphgauge.methods.registry import method
from graphgauge.parts import Split
from graphgauge.predictions import NodePredictions

__all__ = ["CRITERIA", "Found", "Searched", "Trial", "grid", "search"]

CRITERIA = ("loss", "accuracy")


@dataclass(frozen=True)
class Trial:
    """What was tried, and what it reached on validation data."""

    hyper: Mapping[str, Any]
    loss: float
    accuracy: float


@dataclass(frozen=True)
class Found:
    """The best of several trials, its predictor, and all that was tried, in the grid's order."""

    chosen: Trial
    predictor: Predictor
    tried: tuple[Trial, ...] = field(default=())

    def predict(self, graph: Graph) -> NodePredictions:
        """Predict by what was chosen."""
        return self.predictor.predict(graph)

    def told(self) -> dict[str, Any]:
        """Return plain values that say what was tried and chosen, for a record."""
        tried = [
            {"hyper": dict(one.hyper), "loss": one.loss, "accuracy": one.accuracy}
            for one in self.tried
        ]
        return {"chosen": dict(self.chosen.hyper), "tried": tried}


@dataclass(frozen=True)
class Searched:
    """A method some of whose hyper-parameters are chosen on validation data, in every fit anew.

    All are trained with one seed. Of equals the better in the other criterion is chosen, then the
    first. Labels of other parts than ``train`` and ``valid_in`` (or ``valid``) are not looked at.

    Parameters
    ----------
    make
        From hyper-parameters to a method.
    ranges
        Lists of values to try, by the name of the hyper-parameter.
    by
        ``accuracy`` or ``loss``, the mean negative log-likelihood.
    """

    make: Callable[..., Method]
    ranges: Mapping[str, Any]
    by: str = "accuracy"

    def __post_init__(self) -> None:
        if self.by not in CRITERIA:
            raise InputError(f"by: {self.by!r} is neither 'loss' nor 'accuracy'")
        # A misspelt name is told before anything is trained.
        for hyper in grid(self.ranges):
            self.make(**hyper)

    def fit(self, graph: Graph, split: Split, *, seed: int) -> Found:
        """Train with every combination of values, and keep what validates best."""
        tried: list[Trial] = []
        best: tuple[Trial, Predictor] | None = None
        for hyper in grid(self.ranges):
            predictor = self.make(**hyper).fit(graph, split, seed=seed)
            tried.append(_trial(hyper, predictor.predict(graph), split))
            if best is None or _rank(tried[-1], self.by) < _rank(best[0], self.by):
                best = tried[-1], predictor
        assert best is not None
        return Found(*best, tuple(tried))


def grid(ranges: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List all combinations of values; the last name changes first.

    Examples
    --------
    >>> grid({"weight": [0.1, 1], "share": [0.5]})
    [{'weight': 0.1, 'share': 0.5}, {'weight': 1, 'share': 0.5}]
    >>> grid({})
    [{}]
    """
    for name, values in ranges.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
            raise InputError(f"search: {name} needs a list of values to try, got {values!r}")
    return [dict(zip(ranges, values, strict=True)) for values in product(*ranges.values())]


def search(
    name: str,
    graph: Graph,
    split: Split,
    *,
    ranges: Mapping[str, Any],
    seed: int,
    by: str = "accuracy",
    **fixed: Any,
) -> Found:
    """Train a method of the registry with every combination of values, and keep the best.

    Parameters
    ----------
    name
        Of the method.
    graph, split
        What it is trained on.
    ranges, by
        As in `Searched`.
    seed
        Of training.
    fixed
        Protocol, device, and hyper-parameters that are the same in all.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> made = planted(200, 3)
    >>> ranges = {"rate": [1e-6, 1e-2]}
    >>> small = {"hidden": 8, "epochs": 20}
    >>> found = search("shifts/erm", made.graph, made.split, ranges=ranges, seed=0, **small)
    >>> dict(found.chosen.hyper), len(found.tried)
    ({'rate': 0.01}, 2)
    """
    both = sorted(set(ranges) & set(fixed))
    if both:
        raise InputError(f"search: {', '.join(both)} cannot be fixed and searched")
    return Searched(partial(method, name, **fixed), ranges, by).fit(graph, split, seed=seed)


def _trial(hyper: Mapping[str, Any], predictions: NodePredictions, split: Split) -> Trial:
    nodes = split["valid_in" if "valid_in" in split.parts else "valid"]
    probs, labels = predictions.probs[nodes], predictions.labels[nodes]
    # Certain and wrong is bad, yet no reason to rank nothing: the smallest normal number is kept.
    found = np.maximum(probs[np.arange(len(nodes)), labels], np.finfo(np.float64).tiny)
    accuracy = float((probs.argmax(axis=1) == labels).mean())
    return Trial(MappingProxyType(dict(hyper)), float(-np.log(found).mean()), accuracy)


def _rank(trial: Trial, by: str) -> tuple[float, float]:
    pair = (trial.loss, -trial.accuracy)
    return pair if by == "loss" else pair[::-1]
