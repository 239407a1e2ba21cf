"""A property that means nothing: what is left of a shift when nothing shifts."""

from __future__ import annotations

import numpy as np

from graphgauge.arrays import FloatArray
from graphgauge.colours import copies_before, mixed
from graphgauge.graph import Graph

__all__ = ["chance"]


def chance(graph: Graph, *, seed: int = 0) -> FloatArray:
    """Give every node a number between 0 and 1 that depends on its place in the graph alone.

    Numbers are hashes of the nodes' colours, so that they move with the nodes when those are
    renumbered; nodes of one colour are told apart by their order.

    Parameters
    ----------
    graph
        Whose nodes are numbered.
    seed
        Another one gives independent numbers.

    Examples
    --------
    >>> drawn = chance(Graph.from_edges([[0, 1], [1, 2]], 3))
    >>> bool((drawn >= 0).all() and (drawn < 1).all()), len(np.unique(drawn))
    (True, 3)
    """
    colours = graph.colours.nodes
    lots = mixed(mixed(colours, seed) + mixed(copies_before(colours)), seed)
    return (lots >> np.uint64(11)) * 2.0**-53
