"""What a split does to the graph: how the nodes on its two sides differ, in numbers and pictures.

References
----------
Bazhenov et al., Evaluating Robustness and Uncertainty of Graph Models Under Structural
Distributional Shifts, NeurIPS 2023, appendices A, C and E.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.description.distances import Distances, distances
from graphgauge.description.features import embedded
from graphgauge.description.layout import layout
from graphgauge.description.sides import Sides, sides_of
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.histogram import bin_edges, bin_shares, count_edges, log_edges
from graphgauge.metrics.edgewise import homophily
from graphgauge.parts import Split
from graphgauge.properties import node_property
from graphgauge.splits.lots import Draw, draw_order

__all__ = ["Cloud", "Contrast", "Description", "Group", "Options", "describe", "largest_gap"]

Telling = Callable[[str], object]

_MOST_LINES = 2500
_STRUCTURE = ("degree", "pagerank", "personalised-pagerank", "clustering")
_EDGES: Mapping[str, Callable[[FloatArray], FloatArray]] = MappingProxyType(
    {"degree": count_edges, "pagerank": log_edges, "personalised-pagerank": log_edges}
)


@dataclass(frozen=True)
class Options:
    """How a split is described.

    Parameters
    ----------
    properties
        Names of `PROPERTIES` that are compared; by default those of structure.
    n_sources
        Nodes of a part to measure distances from; None for all, which is exact.
    embedding
        How features are brought into the plane: ``pca``, ``tsne``, or ``none``.
    drawn
        Whether the graph is drawn.
    n_points
        How many nodes a picture shows at most.
    seed
        Of all lots.
    """

    properties: tuple[str, ...] = _STRUCTURE
    n_sources: int | None = 256
    embedding: str = "pca"
    drawn: bool = True
    n_points: int = 3000
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Group:
    """What the nodes of a part, of a side, or of the whole graph are like.

    Parameters
    ----------
    name
        Of the part or side.
    side
        The side that a part is on; empty for parts on none, for sides, and for the whole.
    n
        Number of nodes.
    classes
        Share of each class among the labelled nodes ``[C]``; empty without any.
    degree
        Mean number of neighbours.
    n_edges, homophily
        Edges between labelled nodes of the group, and the share of them that join one class.
    distances
        Between its nodes.
    """

    name: str
    side: str
    n: int
    classes: FloatArray
    degree: float
    n_edges: int
    homophily: float
    distances: Distances


@dataclass(frozen=True, eq=False)
class Contrast:
    """A property on both sides.

    Parameters
    ----------
    name
        Of the property.
    edges
        Of the bins of the histograms.
    shares
        Share of each side's nodes in every bin.
    means
        Mean on each side.
    gap
        Largest difference of the two cumulative distributions (Kolmogorov and Smirnov), 0 … 1.
    """

    name: str
    edges: FloatArray
    shares: Mapping[str, list[float]]
    means: Mapping[str, float]
    gap: float


@dataclass(frozen=True, eq=False)
class Cloud:
    """Nodes as points in the plane.

    Parameters
    ----------
    by
        What placed them.
    points
        Places ``[m, 2]``.
    sides
        0 for nodes of the first side, 1 for the second, -1 for neither ``[m]``.
    lines
        Pairs of points that are linked ``[e, 2]``; may be none.
    n_nodes
        How many nodes there were to show.
    """

    by: str
    points: FloatArray
    sides: IntArray
    lines: IntArray
    n_nodes: int


@dataclass(frozen=True, eq=False)
class Description:
    """What a split does.

    Parameters
    ----------
    graph
        Its name.
    n_nodes, n_edges
        Its size.
    class_names
        What the classes are called; numbers where nobody says.
    recipe
        How the split was made.
    sides
        What is set against what.
    whole, halves, parts
        The groups: all nodes, the two sides, and every part.
    class_gap
        Total variation distance of the classes on the two sides, 0 … 1; not a number without.
    contrasts
        Properties on both sides.
    clouds
        The drawing of the graph, and of its features, where there are any.
    """

    graph: str
    n_nodes: int
    n_edges: int
    class_names: tuple[str, ...]
    recipe: Mapping[str, Any]
    sides: Sides
    whole: Group
    halves: tuple[Group, Group]
    parts: tuple[Group, ...]
    class_gap: float
    contrasts: tuple[Contrast, ...]
    clouds: tuple[Cloud, ...]


def describe(
    graph: Graph, split: Split, options: Options | None = None, *, tell: Telling = lambda _: None
) -> Description:
    """Describe what a split does to the nodes of a graph.

    Parameters
    ----------
    graph
        Which was split.
    split
        Of its nodes: by a shift, or any other with parts for training and for test.
    options
        What to look at, and how closely.
    tell
        Is told the stage.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> from graphgauge.splits import shift_split
    >>> graph = planted(200, 3).graph
    >>> found = describe(graph, shift_split(graph, "popularity"))
    >>> inside, outside = found.halves
    >>> inside.degree > outside.degree, found.contrasts[1].name, found.contrasts[1].gap
    (True, 'pagerank', 1.0)
    """
    options = options or Options()
    if split.n_items != graph.n_nodes:
        raise InputError(f"the split is of {split.n_items} items, the graph has {graph.n_nodes}")
    sides = sides_of(split)

    def group(name: str, nodes: IntArray, side: str = "") -> Group:
        tell(f"measuring {name}")
        return _group(graph, (name, side), nodes, options)

    def contrast(name: str) -> Contrast:
        tell(f"comparing {name}")
        return _contrast(graph, name, sides, options.seed)

    first, second = (group(side, sides.nodes[side]) for side in sides.names)
    parts = [group(k, nodes, sides.of_part.get(k, "")) for k, nodes in split.parts.items()]
    whole = group("all nodes", np.arange(graph.n_nodes))
    contrasts = [contrast(name) for name in options.properties]
    tell("drawing")
    return Description(
        graph=graph.name,
        n_nodes=graph.n_nodes,
        n_edges=len(graph.edges),
        class_names=_class_names(graph),
        recipe=split.recipe,
        sides=sides,
        whole=whole,
        halves=(first, second),
        parts=tuple(parts),
        class_gap=_class_gap(first.classes, second.classes),
        contrasts=tuple(contrasts),
        clouds=tuple(_clouds(graph, sides, options)),
    )


def largest_gap(first: FloatArray, second: FloatArray) -> float:
    """Return the largest difference of two cumulative distributions, 0 … 1.

    References
    ----------
    Smirnov, Table for estimating the goodness of fit of empirical distributions, 1948.

    Examples
    --------
    >>> largest_gap(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    1.0
    >>> largest_gap(np.array([1.0, 1.0, 3.0, 3.0]), np.array([1.0, 3.0, 3.0, 3.0]))
    0.25
    """
    steps = np.concatenate([first, second])
    below = [np.searchsorted(np.sort(v), steps, "right") / len(v) for v in (first, second)]
    return float(np.abs(below[0] - below[1]).max())


def _group(graph: Graph, named: tuple[str, str], nodes: IntArray, options: Options) -> Group:
    edges, classes = _labelled_edges(graph, nodes), np.empty(0)
    if graph.labels is not None:
        known = graph.labels[nodes]
        counts = np.bincount(known[known >= 0], minlength=int(graph.labels.max(initial=-1)) + 1)
        classes = counts / max(counts.sum(), 1)
    return Group(
        *named,
        n=len(nodes),
        classes=classes,
        degree=float(np.diff(graph.neighbours.indptr)[nodes].mean()),
        n_edges=len(edges),
        homophily=float("nan") if graph.labels is None else homophily(edges, graph.labels),
        distances=distances(graph, nodes, n_sources=options.n_sources, seed=options.seed),
    )


def _labelled_edges(graph: Graph, nodes: IntArray) -> IntArray:
    """Return the edges between nodes of a set whose classes are known."""
    member = np.zeros(graph.n_nodes, bool)
    member[nodes] = True
    if graph.labels is not None:
        member &= graph.labels >= 0
    return graph.edges[member[graph.edges].all(axis=1)]


def _contrast(graph: Graph, name: str, sides: Sides, seed: int) -> Contrast:
    values = node_property(graph, name, seed=seed)
    on_side = {side: values[nodes] for side, nodes in sides.nodes.items()}
    edges = _EDGES.get(name, bin_edges)(np.concatenate(list(on_side.values())))
    return Contrast(
        name,
        edges,
        {side: bin_shares(own, edges) for side, own in on_side.items()},
        {side: float(own.mean()) for side, own in on_side.items()},
        largest_gap(*on_side.values()),
    )


def _class_gap(first: FloatArray, second: FloatArray) -> float:
    known = first.sum() > 0 and second.sum() > 0
    return float(np.abs(first - second).sum() / 2) if known else float("nan")


def _class_names(graph: Graph) -> tuple[str, ...]:
    n_classes = 0 if graph.labels is None else int(graph.labels.max(initial=-1)) + 1
    named = len(graph.class_names) == n_classes
    return graph.class_names if named else tuple(map(str, range(n_classes)))


def _clouds(graph: Graph, sides: Sides, options: Options) -> Iterator[Cloud]:
    side = np.full(graph.n_nodes, -1)
    for code, name in enumerate(sides.names):
        side[sides.nodes[name]] = code
    if options.drawn and graph.n_nodes:
        nodes, places = layout(graph, seed=options.seed)
        shown = _sample(graph, nodes, options)
        lines = _lines(graph, nodes[shown])
        yield Cloud("edges", places[shown], side[nodes[shown]], lines, len(nodes))
    if options.embedding != "none" and graph.features is not None:
        nodes = np.flatnonzero(side >= 0)
        shown = nodes[_sample(graph, nodes, options)]
        points = embedded(graph, shown, options.embedding, seed=options.seed)
        none: IntArray = np.empty((0, 2), np.int64)
        yield Cloud(options.embedding, points, side[shown], none, len(nodes))


def _sample(graph: Graph, nodes: IntArray, options: Options) -> IntArray:
    """Draw which of the nodes are shown, in ascending order."""
    order = draw_order(graph.colours.nodes[nodes], options.seed, Draw.SOURCES)
    return np.sort(order[: options.n_points])


def _lines(graph: Graph, nodes: IntArray) -> IntArray:
    """Return the edges among nodes by their positions, evenly thinned to a few thousand."""
    place = np.full(graph.n_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    pairs = place[graph.edges]
    pairs = pairs[(pairs >= 0).all(axis=1)]
    return np.asarray(pairs[:: -(-len(pairs) // _MOST_LINES) or 1])
