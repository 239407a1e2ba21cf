"""How many of a node's neighbours are neighbours of one another."""

from __future__ import annotations

import numpy as np

from graphgauge.arrays import FloatArray
from graphgauge.graph import Graph
from graphgauge.properties.triangles import node_triangles

__all__ = ["clustering", "degree"]


def degree(graph: Graph) -> FloatArray:
    """Count the neighbours of every node.

    Examples
    --------
    >>> degree(Graph.from_edges([[0, 1], [1, 2], [1, 1]], 3, directed=True))
    array([1., 2., 1.])
    """
    return np.asarray(np.diff(graph.neighbours.indptr), np.float64)


def clustering(graph: Graph) -> FloatArray:
    """Compute the share of the pairs of a node's neighbours that are joined; 0 without a pair.

    Triangles and pairs are counted in whole numbers, so that equal shares are equal to the bit.

    Examples
    --------
    >>> clustering(Graph.from_edges([[0, 1], [1, 2], [2, 0], [2, 3]], 4)).round(4)
    array([1.    , 1.    , 0.3333, 0.    ])
    """
    degrees = np.diff(graph.neighbours.indptr).astype(np.int64)
    pairs = degrees * (degrees - 1) // 2
    return np.asarray(node_triangles(graph.edges, graph.n_nodes) / np.maximum(pairs, 1))
