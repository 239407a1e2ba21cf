"""What is recorded of predictions: a benchmark names the measures it needs.

``nodes``
    Accuracy, NLL, Brier score and ECE on ID and OOD test nodes and on all (``ID``, ``OOD``,
    ``all``); on all, how well uncertainty rejects errors and detects what is out of distribution.
``edges``
    The four scores on edges with both ends among the test nodes (``edge``), and on those whose ends
    truly agree or do not (``agree``, ``disagree``).
``bootstraps``
    Accuracy, ECE and ECE over 50 % on ten resamples of the test nodes, as they are and with classes
    that count alike (``not-balanced``, ``balanced``): means, and deviations under ``…_sd``. The
    same are drawn for all models of as many test nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.metrics import Outcomes, metric
from graphgauge.predictions import NodePredictions
from graphgauge.records import Values
from graphgauge.runspec import USUAL_MEASURES
from graphgauge.scoring.nodes import EDGE_SCOPES, NodeItems
from graphgauge.stats import resample_counts, summarize
from graphgauge.uncertainty import Uncertainty

__all__ = ["MEASURES", "findings_of", "measure"]

_Found: TypeAlias = dict[str, dict[str, float]]

_PARTS = {"ID": ("test_in",), "OOD": ("test_out",), "all": ("test_in", "test_out", "test")}
_OUTCOMES = ("accuracy", "nll", "brier", "ece")
_DRAWN = ("accuracy", "ece", "ece50")
_DRAWS = 10
_IDENTITY_HOLDS = 1e-3


@dataclass(frozen=True)
class _Measured:
    """Predictions, and by which definitions they are measured."""

    predictions: NodePredictions
    published: bool
    closed: str
    tested: Outcomes | None

    @cached_property
    def test(self) -> IntArray:
        """The labelled test nodes, in ascending order."""
        index = np.sort(self.index(_PARTS["all"]))
        if not len(index):
            raise InputError("there are no labelled test nodes to measure on")
        return index

    def index(self, names: Sequence[str]) -> IntArray:
        """Collect the labelled nodes of some parts."""
        known, parts = self.predictions.known, self.predictions.parts
        pieces = [parts[name][known[parts[name]]] for name in names if name in parts]
        return np.concatenate(pieces) if pieces else np.empty(0, np.int64)

    def scores(self, outcomes: Outcomes) -> dict[str, float]:
        """Compute what is told of nodes and edges alike."""
        bound = {"ece": metric("ece").bind(closed=self.closed)}
        return {name: bound.get(name, metric(name))(outcomes) for name in _OUTCOMES}


def measure(
    predictions: NodePredictions,
    measures: Sequence[str] = USUAL_MEASURES,
    *,
    protocol: str = "corrected",
    tested: Outcomes | None = None,
) -> Values:
    """Compute what is recorded, as fractions: part to metric to number.

    Nodes without a label are left out. ``auroc`` goes by the uncertainty about the model where
    there is one, as the papers do.

    Parameters
    ----------
    predictions
        With parts; for ``edges`` with edges.
    measures
        Names in `MEASURES`.
    protocol
        ``corrected`` or ``published``. Beside ``edges``, ``published`` closes the bins of ECE on
        the left, on nodes too, and takes products for edges even where there are joint marginals:
        so does the code of *edgewise*.
    tested
        Outcomes of the labelled test nodes, in ascending order, for ``bootstraps`` of a calibrator
        whose values do not sum to one; by default they follow from the probabilities.

    Examples
    --------
    >>> made = NodePredictions([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]], [0, 1, 1],
    ...                        parts={"test_in": [0, 1], "test_out": [2]}, edges=[[0, 1], [1, 2]])
    >>> values = measure(made)
    >>> values["ID"]["accuracy"], values["OOD"]["accuracy"], values["all"]["auroc"]
    (1.0, 0.0, 1.0)
    >>> values = measure(made, ["edges"])
    >>> values["edge"]["accuracy"], values["disagree"]["accuracy"]
    (0.5, 1.0)
    """
    published = protocol == "published"
    closed = "left" if published and "edges" in measures else "right"
    given = _Measured(predictions, published, closed, tested)
    values: _Found = {}
    for name in measures:
        for part, found in MEASURES[name](given).items():
            values.setdefault(part, {}).update(found)
    return values


def _on_nodes(given: _Measured) -> _Found:
    made, values = given.predictions, _Found()
    for part, names in _PARTS.items():
        index = given.index(names)
        if len(index):
            outcomes = Outcomes.of_nodes(made.probs[index], made.labels[index])
            values[part] = given.scores(outcomes)
            if part == "all":
                values[part] |= _uncertain(made, index, ~outcomes.correct)
    if not values:
        raise InputError("there are no labelled test nodes to measure on")
    return values


def _uncertain(
    predictions: NodePredictions, index: IntArray, error: FloatArray | Any
) -> dict[str, float]:
    """Measure rejection and detection by the uncertainties there are."""
    given = predictions.uncertainties
    total = given["total"] if "total" in given else _entropy(predictions)
    knowledge = given.get("knowledge", total)
    found = {"prr_tu": metric("prr")(total[index], error)}
    found["auprc_tu"] = metric("auprc")(total[index], error) / 100
    if "test_out" in predictions.parts and "test_in" in predictions.parts:
        out = np.isin(index, predictions.parts["test_out"])
        card = metric("auroc")
        found["auroc_tu"], found["auroc_ku"] = card(total[index], out), card(knowledge[index], out)
        found["auroc"] = found["auroc_ku"]
    return found


def _entropy(predictions: NodePredictions) -> FloatArray:
    return Uncertainty.from_softmax(predictions.probs).total


def _on_edges(given: _Measured) -> _Found:
    judged = replace(given.predictions, parts={"test": given.test})
    items = NodeItems(replace(judged, edge_probs=None) if given.published else judged)
    chosen = items.select("test")
    return {scope: given.scores(items.of_scope(scope, chosen)[0]) for scope in EDGE_SCOPES}


def _on_resamples(given: _Measured) -> _Found:
    made, labels = given.predictions, given.predictions.labels[given.test]
    outcomes = given.tested
    if outcomes is None:
        outcomes = Outcomes.of_nodes(made.probs[given.test], labels)
    if len(outcomes) != len(labels):
        raise InputError(f"{len(outcomes)} outcomes of {len(labels)} test nodes are given")
    found: dict[str, list[dict[str, float]]] = {"not-balanced": [], "balanced": []}
    for weights in resample_counts(len(labels), _DRAWS, seed=0).T:
        drawn = outcomes.weighted(weights.astype(np.float64))
        for view, seen in (("not-balanced", drawn), ("balanced", drawn.balanced(labels))):
            found[view].append({name: metric(name)(seen) for name in _DRAWN})
    return {view: {"n_draws": _DRAWS, **_over_draws(draws)} for view, draws in found.items()}


def _over_draws(draws: Sequence[Mapping[str, float]]) -> dict[str, float]:
    found = {name: summarize([draw[name] for draw in draws]) for name in _DRAWN}
    means = {name: summary.mean for name, summary in found.items()}
    return means | {f"{name}_sd": summary.sd for name, summary in found.items()}


MEASURES: Mapping[str, Callable[[_Measured], _Found]] = MappingProxyType(
    {"nodes": _on_nodes, "edges": _on_edges, "bootstraps": _on_resamples}
)
"""What a benchmark may record, by name."""


def findings_of(values: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Hold numbers against each other: AUPRC = accuracy + PRR·accuracy·(1 − accuracy).

    Examples
    --------
    >>> findings_of({"all": {"accuracy": 0.8, "prr_tu": 0.5, "auprc_tu": 0.88}})
    []
    >>> findings_of({"all": {"accuracy": 0.8, "prr_tu": 0.5, "auprc_tu": 0.9}})
    ['auprc_tu is 0.90000, accuracy and prr_tu make 0.88000']
    """
    found = values.get("all", {})
    if "prr_tu" not in found or np.isnan(found["prr_tu"]):
        return []
    accuracy = found["accuracy"]
    expected = accuracy + found["prr_tu"] * accuracy * (1 - accuracy)
    if abs(found["auprc_tu"] - expected) <= _IDENTITY_HOLDS:
        return []
    told = f"auprc_tu is {found['auprc_tu']:.5f}, accuracy and prr_tu make {expected:.5f}"
    return [told]
