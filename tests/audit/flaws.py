"""Clean predictions, and for every check the same predictions with exactly one flaw planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphgauge.graph import Graph
from graphgauge.predictions import LinkPredictions, NodePredictions

N = 300
UNPARTED = np.r_[90:100, 190:200, 290:300]


@dataclass
class Nodes:
    """What node predictions and their graph are made of, open to change."""

    probs: Any
    labels: Any
    features: Any
    edges: Any
    graph_edges: Any = None
    graph_labels: Any = None
    parts: dict[str, Any] = field(default_factory=dict)

    def made(self) -> tuple[NodePredictions, dict[str, Any]]:
        edges = self.edges if self.graph_edges is None else self.graph_edges
        labels = self.labels if self.graph_labels is None else self.graph_labels
        graph = Graph.from_edges(edges, N, features=self.features, labels=labels)
        return NodePredictions(self.probs, self.labels, self.parts, self.edges), {"graph": graph}


@dataclass
class Flaw:
    """What the audit must find in the flawed predictions, and which codes come along."""

    code: str
    offenders: Any
    made: tuple[Any, dict[str, Any]]
    items: str
    also: tuple[str, ...] = ()


def clean_nodes() -> Nodes:
    """A ring whose parts are arcs that do not touch: nothing to find, not even a note."""
    rng = np.random.default_rng(5)
    ring = np.stack([np.arange(N), (np.arange(N) + 1) % N], axis=1)
    parts = {"train": np.arange(90), "valid": np.arange(100, 190), "test": np.arange(200, 290)}
    return Nodes(
        rng.dirichlet(np.ones(3), N),
        rng.integers(0, 3, N),
        rng.normal(size=(N, 4)),
        ring,
        parts=parts,
    )


def _labels_differ() -> Flaw:
    nodes = clean_nodes()
    nodes.graph_labels = nodes.labels.copy()
    nodes.graph_labels[[50, 3]] = (nodes.labels[[50, 3]] + 1) % 3
    nodes.graph_labels[60] = -1  # unknown to the graph: no contradiction
    return Flaw("labels-differ", [3, 50], nodes.made(), "nodes")


def _labels_unknown() -> Flaw:
    nodes = clean_nodes()
    nodes.labels[[250, 210, 95]] = -1
    return Flaw("labels-unknown", [210, 250], nodes.made(), "nodes")


def _class_absent_train() -> Flaw:
    nodes = clean_nodes()
    nodes.labels[:90] %= 2
    return Flaw("class-absent-train", [2], nodes.made(), "classes")


def _class_absent() -> Flaw:
    nodes = clean_nodes()
    nodes.labels[200:290] = np.maximum(nodes.labels[200:290], 1)
    return Flaw("class-absent", [0], nodes.made(), "classes")


def _class_unused() -> Flaw:
    nodes = clean_nodes()
    nodes.probs = np.random.default_rng(5).dirichlet(np.ones(5), N)
    return Flaw("class-unused", [3, 4], nodes.made(), "classes")


def _duplicates() -> Flaw:
    """Nodes 50 and 250 hang on the same two nodes of no part; 60 and 70 are copies in one part."""
    nodes = clean_nodes()
    moved = (50, 60, 70, 250)
    kept = nodes.edges[~np.isin(nodes.edges, moved).any(axis=1)]
    hung = [(50, 95), (50, 195), (195, 250), (95, 250), (60, 5), (60, 7), (70, 5), (70, 7)]
    nodes.edges = np.concatenate([kept, hung])
    nodes.features[250] = nodes.features[50]
    nodes.features[70] = nodes.features[60]
    return Flaw("duplicate-nodes", [50, 250], nodes.made(), "nodes")


def _linked_duplicates() -> Flaw:
    nodes = clean_nodes()
    kept = nodes.edges[~np.isin(nodes.edges, (50, 250)).any(axis=1)]
    nodes.edges = np.concatenate([kept, [(250, 50), (50, 95), (250, 95)]])
    nodes.features[250] = nodes.features[50]
    also = ("edges-test-train",)
    return Flaw("duplicate-nodes", [50, 250], nodes.made(), "nodes", also)


def _column_tells_label() -> Flaw:
    nodes = clean_nodes()
    nodes.features[:, 2] = 0.5 * nodes.labels - 0.5
    return Flaw("column-tells-label", [2], nodes.made(), "columns")


def _columns_tell_one_class() -> Flaw:
    """One-hot labels with a hundredth of them wrong."""
    nodes = clean_nodes()
    nodes.features[:, :3] = np.eye(3)[nodes.labels]
    nodes.features[::100, :3] = nodes.features[::100, [1, 2, 0]]
    return Flaw("column-tells-label", [0, 1, 2], nodes.made(), "columns")


def _column_tells_labelled() -> Flaw:
    nodes = clean_nodes()
    nodes.labels[UNPARTED] = -1
    nodes.features[:, 1] = np.abs(nodes.features[:, 1])
    nodes.features[UNPARTED, 1] = -1.0
    return Flaw("column-tells-labelled", [1], nodes.made(), "columns")


def _words(nodes: Nodes) -> None:
    nodes.features = np.random.default_rng(6).integers(0, 2, (N, 12)).astype(float)


def _blank_tells_label() -> Flaw:
    nodes = clean_nodes()
    _words(nodes)
    nodes.features[nodes.labels == 1] = 0.0
    return Flaw("blank-tells-label", np.flatnonzero(nodes.labels == 1), nodes.made(), "nodes")


def _blank_tells_labelled() -> Flaw:
    nodes = clean_nodes()
    _words(nodes)
    nodes.labels[UNPARTED] = -1
    nodes.features[UNPARTED] = 0.0
    return Flaw("blank-tells-labelled", UNPARTED, nodes.made(), "nodes")


def _edges_not_in_graph() -> Flaw:
    nodes = clean_nodes()
    nodes.graph_edges = nodes.edges
    nodes.edges = np.insert(nodes.edges, 7, (150, 0), axis=0)
    return Flaw("edges-not-in-graph", [7], nodes.made(), "edges")


def _edges_test_train() -> Flaw:
    nodes = clean_nodes()
    nodes.edges = np.insert(nodes.edges, 9, [(250, 3), (4, 251)], axis=0)
    return Flaw("edges-test-train", [9, 10], nodes.made(), "edges")


def _edges_loops() -> Flaw:
    nodes = clean_nodes()
    nodes.edges = np.insert(nodes.edges, 11, (8, 8), axis=0)
    return Flaw("edges-loops", [11], nodes.made(), "edges")


def _edges_repeated() -> Flaw:
    nodes = clean_nodes()
    nodes.edges = np.append(nodes.edges, [(3, 4)], axis=0)
    return Flaw("edges-repeated", [3, N], nodes.made(), "edges")


def _edges_mixed() -> Flaw:
    nodes = clean_nodes()
    nodes.edges = np.concatenate([nodes.edges, nodes.edges[5:, ::-1]])
    return Flaw("edges-mixed-direction", np.arange(5), nodes.made(), "edges")


def _isolated() -> Flaw:
    nodes = clean_nodes()
    nodes.edges = np.delete(nodes.edges, [94, 95, 249, 250], axis=0)
    return Flaw("isolated-nodes", [95, 250], nodes.made(), "nodes")


def _constant() -> Flaw:
    nodes = clean_nodes()
    nodes.probs = np.tile([0.2, 0.3, 0.5], (N, 1))
    judged = np.setdiff1d(np.arange(N), UNPARTED)
    return Flaw("constant-predictions", judged, nodes.made(), "nodes", ("tied-uncertainties",))


def _one_class() -> Flaw:
    nodes = clean_nodes()
    nodes.probs = np.sort(nodes.probs, axis=1)
    judged = np.setdiff1d(np.arange(N), UNPARTED)
    return Flaw("one-class-predicted", judged, nodes.made(), "nodes")


def _saturated() -> Flaw:
    nodes = clean_nodes()
    for node, rest in ((10, 1e-9), (95, 1e-9), (20, 1e-5)):
        nodes.probs[node] = rest / 2
        nodes.probs[node, nodes.labels[node]] = 1 - rest
    return Flaw("saturated", [10], nodes.made(), "nodes")


def _impossible() -> Flaw:
    nodes = clean_nodes()
    for node in (20, 95, 220):
        nodes.probs[node] = [0.51, 0.49, 0.0] if node == 20 else [0.37, 0.63, 0.0]
        nodes.labels[node] = 2
    return Flaw("impossible-truth", [20, 220], nodes.made(), "nodes")


def _tied_uncertainties() -> Flaw:
    nodes = clean_nodes()
    nodes.probs[[7, 95, 110, 222]] = [
        [0.1, 0.3, 0.6],
        [0.6, 0.3, 0.1],
        [0.2, 0.6, 0.2],
        [0.6, 0.4, 0.0],
    ]
    nodes.labels[222] = 0
    return Flaw("tied-uncertainties", [7, 110, 222], nodes.made(), "nodes")


@dataclass
class Pairs:
    """What link predictions, the graph and validation edges are made of, open to change."""

    pos: Any
    neg: Any
    pos_edges: Any
    neg_edges: Any
    graph_edges: Any
    valid_edges: Any
    parts: dict[str, Any]

    def made(self) -> tuple[LinkPredictions, dict[str, Any]]:
        predictions = LinkPredictions(
            self.pos, self.neg, self.parts, self.pos_edges, self.neg_edges
        )
        graph = Graph.from_edges(self.graph_edges, 60)
        return predictions, {"graph": graph, "valid_edges": self.valid_edges}


def clean_links(*, shared: bool = False) -> Pairs:
    """All pairs differ, all scores differ, and the graph holds the training positives alone."""
    rng = np.random.default_rng(7)
    pairs = rng.permutation(np.stack(np.triu_indices(60, 1), axis=1))
    scores = rng.permutation(630) / 630
    shape = (600,) if shared else (30, 20)
    return Pairs(
        scores[:30],
        scores[30:].reshape(shape),
        pairs[:30],
        pairs[30:630].reshape(*shape, 2),
        np.concatenate([pairs[:10], pairs[700:740]]),
        pairs[740:750],
        {"train": np.arange(10), "val": np.arange(10, 20), "test": np.arange(20, 30)},
    )


def _positive_in_graph() -> Flaw:
    links = clean_links()
    links.graph_edges = np.append(links.graph_edges, [links.pos_edges[25][::-1]], axis=0)
    return Flaw("positive-in-graph", [25], links.made(), "positives")


def _valid_positive_in_graph() -> Flaw:
    links = clean_links()
    links.graph_edges = np.append(links.graph_edges, links.pos_edges[[17, 12]], axis=0)
    return Flaw("valid-in-graph", [12, 17], links.made(), "positives")


def _valid_edges_in_graph() -> Flaw:
    links = clean_links()
    links.graph_edges = np.append(links.graph_edges, links.valid_edges[[4, 2]], axis=0)
    return Flaw("valid-in-graph", [2, 4], links.made(), "valid edges")


def _negative_is_edge() -> Flaw:
    links = clean_links()
    links.neg_edges[3, 4] = links.graph_edges[30][::-1]
    links.neg_edges[29, 19] = links.valid_edges[0]
    return Flaw("negative-is-edge", [64, 599], links.made(), "negatives")


def _negative_is_positive() -> Flaw:
    links = clean_links()
    links.neg_edges[1, 2] = links.pos_edges[28]
    links.neg_edges[5, 0] = links.pos_edges[15][::-1]
    return Flaw("negative-is-positive", [22, 100], links.made(), "negatives")


def _shared_negative_is_positive() -> Flaw:
    links = clean_links(shared=True)
    links.neg_edges[7] = links.pos_edges[28]
    return Flaw("negative-is-positive", [7], links.made(), "negatives")


def _negative_loop() -> Flaw:
    links = clean_links()
    links.neg_edges[2, 1] = (9, 9)
    return Flaw("negative-loop", [41], links.made(), "negatives")


def _negative_repeated() -> Flaw:
    links = clean_links()
    links.neg_edges[0, [3, 9]] = links.neg_edges[0, 1], links.neg_edges[0, 1][::-1]
    links.neg_edges[1, 0] = links.neg_edges[2, 0]  # in another row: no flaw
    return Flaw("negative-repeated", [1, 3, 9], links.made(), "negatives")


def _shared_negative_repeated() -> Flaw:
    links = clean_links(shared=True)
    links.neg_edges[500] = links.neg_edges[20]
    return Flaw("negative-repeated", [20, 500], links.made(), "negatives")


def _positive_loop() -> Flaw:
    links = clean_links()
    links.pos_edges[22] = (5, 5)
    return Flaw("positive-loop", [22], links.made(), "positives")


def _positive_repeated() -> Flaw:
    links = clean_links()
    links.pos_edges[[25, 29]] = links.pos_edges[[24, 24]]
    return Flaw("positive-repeated", [24, 25, 29], links.made(), "positives")


def _positive_both() -> Flaw:
    links = clean_links()
    links.pos_edges[26] = links.pos_edges[23][::-1]
    return Flaw("positive-both-directions", [23, 26], links.made(), "positives")


def _tied_scores() -> Flaw:
    links = clean_links()
    links.pos[3] = links.neg[3, 5]
    links.pos[4] = links.neg[9, 5]  # another row's negative: no flaw
    return Flaw("tied-scores", [3], links.made(), "positives")


def _shared_tied_scores() -> Flaw:
    links = clean_links(shared=True)
    at = np.flatnonzero(links.neg > 0.9)[0]
    links.pos[3] = links.neg[at]
    return Flaw("tied-scores", [3], links.made(), "positives")


def _tied_negatives() -> Flaw:
    links = clean_links()
    links.neg[4, 2:8] = links.neg[4, 2]
    links.neg[11, [0, 19]] = links.neg[11, 3]
    links.neg[12, 0] = links.neg[13, 0]  # in another row: no flaw
    return Flaw("tied-negatives", [4, 11], links.made(), "positives")


def _shared_tied_negatives() -> Flaw:
    links = clean_links(shared=True)
    links.neg[[5, 6, 7, 100, 101, 599]] = links.neg[5]
    return Flaw("tied-negatives", [5, 6, 7, 100, 101, 599], links.made(), "negatives")


FLAWS: tuple[Callable[[], Flaw], ...] = (
    _labels_differ,
    _labels_unknown,
    _class_absent_train,
    _class_absent,
    _class_unused,
    _duplicates,
    _linked_duplicates,
    _column_tells_label,
    _columns_tell_one_class,
    _column_tells_labelled,
    _blank_tells_label,
    _blank_tells_labelled,
    _edges_not_in_graph,
    _edges_test_train,
    _edges_loops,
    _edges_repeated,
    _edges_mixed,
    _isolated,
    _constant,
    _one_class,
    _saturated,
    _impossible,
    _tied_uncertainties,
    _positive_in_graph,
    _valid_positive_in_graph,
    _valid_edges_in_graph,
    _negative_is_edge,
    _negative_is_positive,
    _shared_negative_is_positive,
    _negative_loop,
    _negative_repeated,
    _shared_negative_repeated,
    _positive_loop,
    _positive_repeated,
    _positive_both,
    _tied_scores,
    _shared_tied_scores,
    _tied_negatives,
    _shared_tied_negatives,
)
