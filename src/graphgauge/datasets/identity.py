"""Whether a graph is the one that a card speaks of, and if not, what differs."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graphgauge.datasets.card import Card, Counts
from graphgauge.errors import InputError
from graphgauge.graph import Graph

__all__ = ["count", "mark", "verify"]

_MARK = 16


def count(graph: Graph) -> Counts:
    """Count nodes, undirected edges, columns of features, and classes that occur.

    Examples
    --------
    >>> count(Graph.from_edges([[0, 1], [1, 2]], 4, labels=[0, 1, -1, 1]))
    Counts(nodes=4, edges=2, features=None, classes=2)
    """
    labels = graph.labels
    return Counts(
        graph.n_nodes,
        graph.adjacency.nnz // 2 if _is_simple(graph) else len(graph.edges),
        None if graph.features is None else int(graph.features.shape[1]),
        None if labels is None else len(np.unique(labels[labels >= 0])),
    )


def mark(graph: Graph) -> dict[str, str]:
    """Take the fingerprint of edges, features and labels each alone, cut to 16 digits.

    Examples
    --------
    >>> list(mark(Graph.from_edges([[0, 1]], 2, labels=[0, 1])))
    ['edges', 'labels']
    """
    empty = sp.csr_array((graph.n_nodes, graph.n_nodes))
    alone = {"edges": Graph(graph.adjacency)}
    if graph.features is not None:
        alone["features"] = Graph(empty, graph.features)
    if graph.labels is not None:
        alone["labels"] = Graph(empty, labels=graph.labels)
    return {part: only.fingerprint[:_MARK] for part, only in alone.items()}


def verify(graph: Graph, card: Card, where: object) -> None:
    """Check that a graph has the counts and the content of its card, or say what differs."""
    told = f"{where}: not the {card.title} of the papers"
    counted = count(graph)
    wrong = [
        f"{getattr(counted, what) or 'no'} {what} for {expected}"
        for what, expected in vars(card.counts).items()
        if expected is not None and getattr(counted, what) != expected
    ]
    if wrong:
        raise InputError(f"{told}: it has {', '.join(wrong)}")
    if not card.fingerprint or graph.fingerprint == card.fingerprint:
        return
    if graph.unordered_fingerprint[:_MARK] == card.marks.get("unordered"):
        raise InputError(f"{told}: it is the same graph, but its nodes stand in another order")
    other = [part for part, digits in mark(graph).items() if digits != card.marks.get(part)]
    raise InputError(f"{told}: its counts agree, but its {' and '.join(other)} differ")


def _is_simple(graph: Graph) -> bool:
    """Tell whether each edge is there both ways and nothing else is, as the steps say."""
    return graph.steps[:2] == ("undirected", "loops-removed")
