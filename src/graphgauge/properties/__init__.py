"""Properties of nodes: one number a node, of the undirected simple graph or of the features.

They are natural quantities, large where a node has much of it; which end of a property is out of
distribution is for a shift to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from graphgauge.arrays import FloatArray, floats
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.properties.chance import chance
from graphgauge.properties.clustering import clustering, degree
from graphgauge.properties.pagerank import pagerank, personalised_pagerank
from graphgauge.properties.projection import feature_distance
from graphgauge.properties.property import Property
from graphgauge.properties.triangles import edge_triangles, node_triangles

__all__ = [
    "PROPERTIES",
    "Property",
    "chance",
    "clustering",
    "degree",
    "edge_triangles",
    "feature_distance",
    "node_property",
    "node_triangles",
    "pagerank",
    "personalised_pagerank",
]

_SHIFTS = (
    "Bazhenov et al., Evaluating Robustness and Uncertainty of Graph Models Under Structural "
    "Distributional Shifts, NeurIPS 2023, section 3.2"
)
_REVISITING = (
    "Revisiting Uncertainty Estimation for Node Classification: New Benchmark and Insights, "
    "2022, section 3.3"
)

_CARDS = (
    Property("degree", degree, "number of neighbours", _SHIFTS),
    Property(
        "pagerank",
        pagerank,
        "share of its time that a random walk which restarts anywhere spends at the node",
        _SHIFTS,
    ),
    Property(
        "personalised-pagerank",
        personalised_pagerank,
        "share of its time that a random walk which restarts at one node, by default that of the "
        "largest PageRank, spends at the node",
        _SHIFTS,
    ),
    Property(
        "clustering",
        clustering,
        "share of the pairs of its neighbours that are neighbours themselves",
        _SHIFTS,
    ),
    Property(
        "feature-distance",
        feature_distance,
        "distance of its features to their mean, both projected onto two random directions",
        _REVISITING,
    ),
    Property("random", chance, "a number between 0 and 1, drawn evenly", _REVISITING),
)

PROPERTIES: Mapping[str, Property] = MappingProxyType({card.name: card for card in _CARDS})


def node_property(
    graph: Graph,
    what: object,
    *,
    seed: int = 0,
    **arguments: Any,
) -> FloatArray:
    """Compute one number a node ``[n]``.

    Parameters
    ----------
    graph
        Whose nodes are measured.
    what
        A name in `PROPERTIES`, a function of the graph, or the numbers themselves.
    seed
        For the properties that draw numbers; the others do not need it.
    **arguments
        Passed on to the property or to the function.

    Examples
    --------
    >>> path = Graph.from_edges([[0, 1], [1, 2]], 3)
    >>> node_property(path, "degree"), node_property(path, [3, 1, 2])
    (array([1., 2., 1.]), array([3., 1., 2.]))
    >>> node_property(path, lambda graph, power: graph.degrees**power, power=3)
    array([1., 8., 1.])
    >>> node_property(path, "fame")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: unknown property 'fame' (expected one of: degree, pagerank, ...)
    """
    values = floats("property", _computed(graph, what, seed, arguments), ndim=1)
    if len(values) != graph.n_nodes:
        raise InputError(
            f"property: has {len(values)} numbers for the {graph.n_nodes} nodes of the graph"
        )
    return values.astype(np.float64, copy=False)


def _computed(graph: Graph, what: object, seed: int, arguments: dict[str, Any]) -> object:
    if isinstance(what, str):
        if what not in PROPERTIES:
            names = ", ".join(PROPERTIES)
            raise InputError(f"unknown property {what!r} (expected one of: {names})")
        card = PROPERTIES[what]
        return card(graph, **({"seed": seed} if "seed" in card.arguments else {}), **arguments)
    if callable(what):
        return what(graph, **arguments)
    if arguments:
        raise InputError(f"property: numbers take no argument, such as {next(iter(arguments))!r}")
    return what
