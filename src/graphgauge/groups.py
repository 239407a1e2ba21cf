"""Groups of nodes by what the graph says of them, so that a metric can be read group by group.

A mean over all nodes hides whom a model fails. Groups are disjoint, cover every node for which
the property exists, and depend on the graph, the labels and the parts, never on the predictions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphgauge.arrays import BoolArray, IntArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.predictions import NodePredictions
from graphgauge.roles import Role, items_of

__all__ = ["GROUPINGS", "GroupRule", "Grouping", "grouping", "undirected_pairs"]

_DEGREE_BINS = 5
_SHARE_BINS = 5


@dataclass(frozen=True, eq=False)
class Grouping:
    """Nodes put into named groups.

    Parameters
    ----------
    by
        The property, a name in `GROUPINGS`.
    names
        Names of the groups in their natural order.
    codes
        Position in `names` of every node's group ``[n]``; -1 for a node in no group.
    """

    by: str
    names: tuple[str, ...]
    codes: IntArray

    @property
    def sizes(self) -> IntArray:
        """How many nodes each group has."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))


@dataclass(frozen=True)
class GroupRule:
    """A way to group nodes: what it means, and the function that does it."""

    description: str
    group: Callable[[NodePredictions, Graph | None], tuple[tuple[str, ...], IntArray]]


def grouping(predictions: NodePredictions, by: str, *, graph: Graph | None = None) -> Grouping:
    """Group nodes by degree, class, homophily or distance to the training nodes.

    Parameters
    ----------
    predictions
        Whose labels, parts and edges are read.
    by
        A name in `GROUPINGS`.
    graph
        Where the edges come from if `predictions` carry none.

    Examples
    --------
    >>> predictions = NodePredictions(np.eye(3), [0, 1, 2], {"train": [0]}, [[0, 1], [1, 2]])
    >>> groups = grouping(predictions, "distance")
    >>> groups.names, groups.codes
    (('1', '2', '3+', 'unreachable'), array([-1,  0,  1]))
    """
    if by not in GROUPINGS:
        raise InputError(f"unknown grouping {by!r} (expected one of: {', '.join(GROUPINGS)})")
    names, codes = GROUPINGS[by].group(predictions, graph)
    return Grouping(by, names, codes)


def undirected_pairs(predictions: NodePredictions, graph: Graph | None) -> IntArray | None:
    """Return the unique edges ``u < v`` of the predictions, else of the graph, else None."""
    if graph is not None and graph.n_nodes != predictions.n_nodes:
        raise InputError(
            f"lengths differ: the graph has {graph.n_nodes} nodes, "
            f"the predictions have {predictions.n_nodes}"
        )
    if predictions.edges is not None:
        return predictions.pairs
    return None if graph is None else graph.edges


def _edges_for(by: str, predictions: NodePredictions, graph: Graph | None) -> IntArray:
    pairs = undirected_pairs(predictions, graph)
    if pairs is None:
        raise InputError(f"grouping by {by} needs edges: add edge_index, or give the graph")
    return pairs


def _by_degree(
    predictions: NodePredictions, graph: Graph | None
) -> tuple[tuple[str, ...], IntArray]:
    """Cut where a fifth of the linked nodes is full, never between nodes of one degree."""
    pairs = _edges_for("degree", predictions, graph)
    degrees = np.bincount(pairs.ravel(), minlength=predictions.n_nodes)
    linked = np.sort(degrees[degrees > 0])
    at = np.arange(_DEGREE_BINS) * len(linked) // _DEGREE_BINS
    starts = np.unique(linked[at]) if len(linked) else np.empty(0, np.int64)
    if len(linked) < len(degrees):
        starts[:1] = 1
        starts = np.concatenate([[0], starts])
    codes = np.searchsorted(starts, degrees, side="right") - 1
    return _range_names(starts), codes


def _range_names(starts: IntArray) -> tuple[str, ...]:
    """Name the ranges that begin at `starts`; the last one is open.

    Examples
    --------
    >>> _range_names(np.array([0, 1, 2, 5]))
    ('0', '1', '2-4', '5+')
    """
    names = [
        str(first) if after == first + 1 else f"{first}-{after - 1}"
        for first, after in itertools.pairwise(starts)
    ]
    return (*names, "0" if starts[-1] == 0 else f"{starts[-1]}+")


def _by_class(
    predictions: NodePredictions, graph: Graph | None
) -> tuple[tuple[str, ...], IntArray]:
    return tuple(map(str, range(predictions.n_classes))), predictions.labels


def _by_homophily(
    predictions: NodePredictions, graph: Graph | None
) -> tuple[tuple[str, ...], IntArray]:
    """Bin the share of labelled neighbours with a node's own label, counted in whole numbers."""
    pairs = _edges_for("homophily", predictions, graph)
    labels, known, n = predictions.labels, predictions.known, predictions.n_nodes
    both = pairs[known[pairs[:, 0]] & known[pairs[:, 1]]]
    alike = both[labels[both[:, 0]] == labels[both[:, 1]]]
    total = np.bincount(both.ravel(), minlength=n)
    same = np.bincount(alike.ravel(), minlength=n)
    bins = np.minimum(same * _SHARE_BINS // np.maximum(total, 1), _SHARE_BINS - 1)
    codes = np.where(total > 0, bins, _SHARE_BINS)
    names = [f"{b / _SHARE_BINS:g}-{(b + 1) / _SHARE_BINS:g}" for b in range(_SHARE_BINS)]
    return (*names, "no labelled neighbour"), np.where(known, codes, -1)


def _by_distance(
    predictions: NodePredictions, graph: Graph | None
) -> tuple[tuple[str, ...], IntArray]:
    """Tell one hop, two, more, or no path; training nodes themselves are in no group."""
    pairs = _edges_for("distance", predictions, graph)
    train = items_of(predictions.parts, Role.TRAIN)
    if not len(train):
        raise InputError("grouping by distance needs a part whose name starts with train")
    reached = np.zeros(predictions.n_nodes, bool)
    reached[train] = True
    codes = np.where(_linked(pairs, reached), 2, 3)
    codes[train] = -1
    for hop in range(2):
        u, v = reached[pairs[:, 0]], reached[pairs[:, 1]]
        fresh = np.zeros(len(reached), bool)
        fresh[pairs[u & ~v, 1]] = fresh[pairs[v & ~u, 0]] = True
        codes[fresh] = hop
        reached |= fresh
    return ("1", "2", "3+", "unreachable"), codes


def _linked(pairs: IntArray, sources: BoolArray) -> BoolArray:
    """Mark the nodes that some path joins to a source."""
    n = len(sources)
    links = sp.coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), (n, n))
    n_components, component = connected_components(links, directed=False)
    with_source = np.zeros(n_components, bool)
    with_source[component[sources]] = True
    return np.asarray(with_source[component])


GROUPINGS: Mapping[str, GroupRule] = MappingProxyType(
    {
        "degree": GroupRule(
            "number of neighbours, in ranges that hold about a fifth of the nodes each", _by_degree
        ),
        "class": GroupRule("true label", _by_class),
        "homophily": GroupRule(
            "share of the labelled neighbours that have the node's own label", _by_homophily
        ),
        "distance": GroupRule("hops to the nearest training node", _by_distance),
    }
)
