"""A graph in a few numbers: how large, how dense, in how many pieces, how alike its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from graphgauge.graph import Graph

__all__ = ["Portrait", "portrait"]


@dataclass(frozen=True)
class Portrait:
    """What a graph looks like, its edges taken as undirected and without loops.

    Parameters
    ----------
    mean_degree
        Twice the number of edges over the number of nodes.
    isolated
        Nodes without an edge.
    components
        Sets of nodes that paths join, isolated nodes among them.
    largest
        Nodes of the largest component.
    unlabelled
        Nodes whose class is not known.
    homophily
        Share of the edges between labelled nodes whose ends have one class; None without such.
    shares
        Share of each class among the labelled nodes.
    """

    mean_degree: float
    isolated: int
    components: int
    largest: int
    unlabelled: int
    homophily: float | None
    shares: tuple[float, ...]


def portrait(graph: Graph) -> Portrait:
    """Measure a graph.

    Examples
    --------
    >>> path = Graph.from_edges([[0, 1], [1, 2]], 4, labels=[0, 0, 1, -1])
    >>> portrait(path)  # doctest: +NORMALIZE_WHITESPACE
    Portrait(mean_degree=1.0, isolated=1, components=2, largest=3, unlabelled=1, homophily=0.5,
             shares=(0.6666666666666666, 0.3333333333333333))
    """
    edges, n = graph.edges, graph.n_nodes
    n_components, component = connected_components(graph.adjacency, directed=False)
    labels = np.full(n, -1) if graph.labels is None else graph.labels
    known = labels >= 0
    both = edges[known[edges].all(axis=1)]
    alike = labels[both[:, 0]] == labels[both[:, 1]]
    classes = np.bincount(labels[known])
    return Portrait(
        2 * len(edges) / n if n else 0.0,
        int((np.bincount(edges.ravel(), minlength=n) == 0).sum()),
        int(n_components),
        int(np.bincount(component, minlength=1).max()),
        int((~known).sum()),
        float(alike.mean()) if len(alike) else None,
        tuple((classes / max(known.sum(), 1)).tolist()),
    )
