"""Graphs of NetworkX, known by what they can do: the library itself is never imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import FloatArray, floats, refuse
from graphgauge.errors import InputError
from graphgauge.exchange.attributes import Attributes
from graphgauge.exchange.choices import Choices
from graphgauge.exchange.contents import choose_contents
from graphgauge.exchange.imported import Imported, Source
from graphgauge.exchange.links import Links
from graphgauge.exchange.numbering import Numbering, ids_of
from graphgauge.graph import Graph

__all__ = ["from_networkx", "to_networkx"]


def from_networkx(
    graph: Any,
    *,
    label: str | None = None,
    features: str | Sequence[str] | None = None,
    weight: str | None = None,
) -> Graph:
    """Make a `Graph` of a NetworkX graph of any kind.

    Nodes keep their order. What they are called, whatever it is, becomes the graph's `ids` as a
    number or as text. Parallel edges count once, or add up their weights.

    Parameters
    ----------
    graph
        ``nx.Graph``, ``DiGraph``, ``MultiGraph`` or ``MultiDiGraph``.
    label
        The attribute of the nodes that holds their classes; ``""`` for none.
    features
        Attributes of the nodes that hold numbers or lists of them; ``""`` for none.
    weight
        The attribute of the edges that holds their weights; without it every edge weighs 1.

    Examples
    --------
    >>> import networkx as nx
    >>> club = from_networkx(nx.karate_club_graph(), label="club", features="")
    >>> club.n_nodes, len(club.edges), club.class_names
    (34, 78, ('Mr. Hi', 'Officer'))
    """
    numbering = Numbering()
    values: dict[str, dict[int, Any]] = {}
    for node, about in graph.nodes(data=True):
        number = numbering[node]
        for name, value in about.items():
            values.setdefault(str(name), {})[number] = value
    choices = Choices(label=label, features=features, weight=weight)
    contents = choose_contents(Attributes(len(numbering), values), len(numbering), choices)
    links = _links(graph, numbering, weight)
    source = Source("NetworkX", str(graph.graph.get("name", "")))
    return Imported.of(source, links, ids_of(numbering.names), contents).graph


def _links(graph: Any, numbering: Numbering, weight: str | None) -> Links:
    ends = numbering.find(list(chain.from_iterable((u, v) for u, v in graph.edges())))
    return Links(ends.reshape(-1, 2), _weights(graph, weight), graph.is_directed())


def _weights(graph: Any, name: str | None) -> FloatArray | None:
    if name is None:
        return None
    weights = [about.get(name) for _, _, about in graph.edges(data=True)]
    without = np.array([weight is None for weight in weights], bool)
    refuse("edges", without, f"has no {name}", f"have no {name}")
    return floats(name, weights, ndim=1)


def to_networkx(graph: Graph, into: Any, *, features: str | None = None) -> Any:
    """Fill an empty NetworkX graph, such as ``nx.Graph()``, and return it.

    Nodes are called by their `ids`, have their class as ``label`` where it is known, and edges
    have a ``weight`` unless all weigh 1.

    Parameters
    ----------
    graph
        What to fill in. Unless it is symmetric, only a ``DiGraph`` can take it.
    into
        An empty graph of NetworkX.
    features
        What to call the attribute that holds each node's features as a list; None leaves them out.

    Examples
    --------
    >>> import networkx as nx
    >>> filled = to_networkx(Graph.from_edges([[0, 1]], 2, labels=[1, -1]), nx.Graph())
    >>> filled.nodes(data=True), filled.edges
    (NodeDataView({0: {'label': 1}, 1: {}}), EdgeView([(0, 1)]))
    """
    if len(into):
        raise InputError(f"into: has {len(into)} nodes already, expected an empty graph")
    adjacency = graph.adjacency
    if not into.is_directed():
        if (adjacency != adjacency.T).nnz:
            raise InputError("the graph has edges that lead one way only: fill a DiGraph")
        adjacency = sp.triu(adjacency, format="csr")
    names = graph.ids.tolist() if graph.ids is not None else list(range(graph.n_nodes))
    into.add_nodes_from(zip(names, _told(graph, features), strict=True))
    into.graph["name"] = graph.name
    entries = adjacency.tocoo()
    ends = zip(*(map(names.__getitem__, part.tolist()) for part in entries.coords), strict=True)
    if (entries.data == 1).all():
        into.add_edges_from(ends)
    else:
        edges = zip(ends, entries.data.tolist(), strict=True)
        into.add_weighted_edges_from((u, v, weight) for (u, v), weight in edges)
    return into


def _told(graph: Graph, features: str | None) -> Iterator[dict[str, Any]]:
    """Yield what each node says of itself."""
    for node in range(graph.n_nodes):
        about: dict[str, Any] = {}
        label = -1 if graph.labels is None else int(graph.labels[node])
        if label >= 0:
            about["label"] = graph.class_names[label] if graph.class_names else label
        if features is not None and graph.features is not None:
            row: Any = graph.features[[node]]
            about[features] = (row.toarray() if sp.issparse(row) else row).ravel().tolist()
        yield about
