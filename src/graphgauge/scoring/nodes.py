"""Scoring of node predictions: nodes and edges of every part, with intervals and null bands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from graphgauge.arrays import BoolArray, FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.metrics import METRICS, Metric, Needs, Outcomes, metric
from graphgauge.metrics.edgewise import agreeing, edges_within, joint_along, joint_outcomes
from graphgauge.predictions import NodePredictions
from graphgauge.roles import Role, parts_of
from graphgauge.scoring.card import WHOLE, Options
from graphgauge.scoring.gates import gated, is_asked
from graphgauge.stats import communities
from graphgauge.uncertainty import Uncertainty

__all__ = ["EDGE_SCOPES", "NodeItems", "Plan", "Selection", "plan"]

EDGE_SCOPES = ("edge", "agree", "disagree")
_NODE = (
    "accuracy", "balanced_accuracy", "nll", "brier", "ece", "ece50", "classwise_ece",
    "debiased_ece", "smooth_ece", "mce",
)  # fmt: skip
_EDGE = ("accuracy", "nll", "brier", "ece", "debiased_ece", "smooth_ece", "mce")
_SUBSET = ("accuracy", "nll", "brier", "ece")
_REJECTION = ("prr", "auprc", "aurc", "augrc", "coverage_at_risk")
_DETECTION = ("auroc", "aupr", "aupr(positive=id)", "fpr_at_tpr")
_STRUCTURE = ("homophily", "k_index")
_IN_OUT = (("_in", "_out"), ("_id", "_ood"))


@dataclass(frozen=True)
class Plan:
    """Which metric is computed on what: pairs of a scope (or uncertainty) and a metric."""

    outcomes: tuple[tuple[str, Metric], ...]
    classes: tuple[Metric, ...]
    rejection: tuple[tuple[str, Metric], ...]
    detection: tuple[tuple[str, Metric], ...]
    structure: tuple[tuple[str, Metric], ...]


@dataclass(frozen=True, eq=False)
class Selection:
    """The items of one part: its labelled nodes, and the edges with both ends among them."""

    name: str
    index: IntArray
    edges: IntArray | None
    joint: FloatArray | None


class NodeItems:
    """All items of a file of node predictions, computed once and shared by every part."""

    def __init__(self, predictions: NodePredictions, protocol: str = "corrected") -> None:
        self.predictions = predictions
        self.closed = "left" if protocol == "published" else "right"

    @cached_property
    def outcomes(self) -> Outcomes:
        """Outcomes of all nodes; those of unlabelled ones are never looked at."""
        return Outcomes.of_nodes(self.predictions.probs, np.maximum(self.predictions.labels, 0))

    @cached_property
    def edges(self) -> IntArray | None:
        """Unique undirected edges ``[e, 2]``, if there are any edges."""
        return None if self.predictions.edges is None else self.predictions.pairs

    @cached_property
    def joint(self) -> FloatArray | None:
        """Joint marginals of `edges` ``[e, C, C]``, if given."""
        made = self.predictions
        if made.edge_probs is None or made.edges is None:
            return None
        return joint_along(made.edge_probs, made.edges, made.pairs, made.pair_rows)

    @cached_property
    def communities(self) -> IntArray | None:
        """Community of every node ``[n]``: the blocks of the block bootstrap."""
        if self.edges is None or not len(self.edges):
            return None
        import scipy.sparse as sp

        n, (u, v) = self.predictions.n_nodes, self.edges.T
        ones = np.ones(2 * len(u), np.float32)
        links = (np.concatenate([u, v]), np.concatenate([v, u]))
        return communities(sp.csr_array((ones, links), shape=(n, n)))

    @cached_property
    def uncertainties(self) -> dict[str, FloatArray]:
        """Uncertainties ``[n]`` by name; those not given follow from alpha, or from entropy."""
        given, alpha = dict(self.predictions.uncertainties), self.predictions.alpha
        if alpha is not None and len(given) < len(fields(Uncertainty)):
            return {**vars(Uncertainty.from_dirichlet(alpha)), **given}
        if "total" not in given:
            given["entropy"] = Uncertainty.from_softmax(self.predictions.probs).total
        return given

    @property
    def main_total(self) -> str:
        """The uncertainty that selective prediction goes by."""
        return "total" if "total" in self.uncertainties else "entropy"

    @property
    def main_knowledge(self) -> str:
        """The uncertainty that detection goes by."""
        return "knowledge" if "knowledge" in self.uncertainties else self.main_total

    @cached_property
    def parts(self) -> dict[str, IntArray]:
        """Labelled nodes of every part; of all nodes where there are no parts.

        Test parts that differ in distribution are also joined to one ``test``, as the papers do.
        """
        known, given = self.predictions.known, self.predictions.parts
        parts = {name: index[known[index]] for name, index in given.items()}
        tests = parts_of(parts, Role.TEST)
        if len(tests) > 1 and "test" not in parts:
            parts["test"] = np.sort(np.concatenate(list(tests.values())))
        found = {name: index for name, index in parts.items() if len(index)}
        if not found and known.any():
            return {WHOLE: np.flatnonzero(known)}
        if not found:
            raise InputError("labels: no label is known, nothing to hold predictions against")
        return found

    @cached_property
    def shifted(self) -> tuple[str, str] | None:
        """The in-distribution and the shifted test part, if there are two."""
        for inside, outside in _IN_OUT:
            names = f"test{inside}", f"test{outside}"
            if all(name in self.parts for name in names):
                return names
        return None

    def select(self, part: str) -> Selection:
        """Return the items of a part."""
        index = self.parts[part]
        if self.edges is None:
            return Selection(part, index, None, None)
        within = edges_within(self.edges, self.mask(index))
        edges = self.edges if within.all() else self.edges[within]
        return Selection(part, index, edges, None if self.joint is None else self.joint[within])

    def mask(self, index: IntArray) -> BoolArray:
        """Mark the nodes at `index`."""
        mask = np.zeros(self.predictions.n_nodes, bool)
        mask[index] = True
        return mask

    def of_scope(self, scope: str, chosen: Selection) -> tuple[Outcomes, IntArray]:
        """Return the outcomes of a scope on a part, and a node of each item: itself, or an end."""
        if scope == "":
            whole = len(chosen.index) == self.predictions.n_nodes
            return self.outcomes if whole else self.outcomes.take(chosen.index), chosen.index
        edges, joint = chosen.edges, chosen.joint
        if edges is None:
            raise InputError(f"{scope}_ metrics need edges: add edge_index or give --edges")
        if scope != "edge":
            same = agreeing(edges, self.predictions.labels)
            kept = same if scope == "agree" else ~same
            edges, joint = edges[kept], None if joint is None else joint[kept]
        if joint is None:
            return self.outcomes.ends(edges), edges[:, 0]
        return joint_outcomes(joint, edges, self.predictions.labels), edges[:, 0]


def plan(items: NodeItems, options: Options) -> Plan:
    """Resolve the metrics asked for, or all that the file allows, and those that gates name."""
    asked = [_asked(label, items) for label in options.metrics] or list(_defaults(items))
    for label in gated(options.gates):
        scope, card = _asked(label, items)
        if not is_asked(label, card, [other for place, other in asked if place == scope]):
            asked.append((scope, card))
    by_need: dict[Needs, list[tuple[str, Metric]]] = {need: [] for need in Needs}
    for scope, card in asked:
        bound = card.bind(closed=items.closed) if _left(card, items) else card
        by_need[card.needs].append((scope, bound))
    return Plan(
        tuple(by_need[Needs.OUTCOMES]),
        tuple(card for _, card in by_need[Needs.CLASSES]),
        tuple(by_need[Needs.REJECTION]),
        tuple(by_need[Needs.DETECTION]),
        tuple(by_need[Needs.STRUCTURE]),
    )


def _left(card: Metric, items: NodeItems) -> bool:
    return "closed" in card.defaults and "closed" not in card.params and items.closed == "left"


def _defaults(items: NodeItems) -> Iterator[tuple[str, Metric]]:
    yield from (("", METRICS[name]) for name in _NODE)
    if items.edges is not None:
        yield from (("edge", METRICS[name]) for name in _EDGE)
        yield from ((scope, METRICS[name]) for scope in EDGE_SCOPES[1:] for name in _SUBSET)
        yield from (("", METRICS[name]) for name in _STRUCTURE)
        yield from ((scope, METRICS["k_index"]) for scope in EDGE_SCOPES[1:])
    yield from (("", METRICS[name]) for name in _REJECTION)
    others = [name for name in items.uncertainties if name != items.main_total]
    yield from ((name, METRICS["prr"]) for name in others)
    if items.shifted:
        yield from (("", metric(label)) for label in _DETECTION)
        others = [name for name in items.uncertainties if name != items.main_knowledge]
        yield from ((name, METRICS["auroc"]) for name in others)


def _asked(label: str, items: NodeItems) -> tuple[str, Metric]:
    """Tell the scope or uncertainty in front of a label from the metric behind it."""
    bare = label.partition("(")[0].strip()
    scopes: Mapping[str, tuple[Needs, ...]] = {
        **dict.fromkeys(EDGE_SCOPES, (Needs.OUTCOMES, Needs.STRUCTURE)),
        **dict.fromkeys(items.uncertainties, (Needs.REJECTION, Needs.DETECTION)),
    }
    for scope, needs in scopes.items():
        rest = label.strip().removeprefix(f"{scope}_")
        if bare not in METRICS and rest != label.strip():
            card = metric(rest)
            if card.needs not in needs:
                raise InputError(f"{card.label} cannot be computed as {label}")
            if scope in EDGE_SCOPES and items.edges is None:
                raise InputError(f"{label} needs edges: add edge_index or give --edges")
            return scope, card
    for name in (field.name for field in fields(Uncertainty)):
        if bare not in METRICS and bare.startswith(f"{name}_"):
            raise InputError(f"{label} needs the {name} uncertainty: add {name}, or alpha")
    card = metric(label)
    if card.needs is Needs.RANKS:
        raise InputError(f"{card.label} is a metric of link predictions, these are of nodes")
    if card.needs is Needs.SHIFT:
        raise InputError(f"{card.label} is a metric of a shift; `graphgauge split` tells it")
    if card.needs is Needs.STRUCTURE and items.edges is None:
        raise InputError(f"{card.label} needs edges: add edge_index or give --edges")
    if card.needs is Needs.DETECTION and items.shifted is None:
        raise InputError(f"{card.label} needs the parts test_in and test_out")
    return "", card
