"""Lots: random orders that follow the items themselves and not their rows in a file.

Every item draws a number from its colour, the seed and what is being drawn for. Renumbering the
nodes of a graph moves the numbers along with them, so that whoever was drawn stays drawn. Items
of one colour are told apart by a count of copies alone: which of them is drawn may change with
the numbering, how many of them may not.

Colours hang on all that a graph holds. So the same seed draws other items once features have been
scaled, say, or labels left out: split first, prepare afterwards.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from graphgauge.arrays import IntArray
from graphgauge.colours import UintArray, copies_before, mixed
from graphgauge.graph import Graph

__all__ = ["Draw", "draw_order", "edge_colours", "node_colours"]


class Draw(IntEnum):
    """What lots are drawn for; orders drawn for different purposes are independent."""

    TIES = 0
    PARTS = 1
    TESTS = 2
    SOURCES = 3


_PURPOSES = 16


def draw_order(colours: UintArray, seed: int, purpose: Draw = Draw.PARTS) -> IntArray:
    """Return the items ``[n]`` in the order in which they are drawn.

    Examples
    --------
    >>> colours = np.array([7, 1, 9, 4], np.uint64)
    >>> order = draw_order(colours, seed=0)
    >>> moved = draw_order(colours[[3, 1, 0, 2]], seed=0)
    >>> colours[order].tolist() == colours[[3, 1, 0, 2]][moved].tolist()
    True
    """
    own = mixed(colours, int(seed) * _PURPOSES + purpose)
    return np.argsort(mixed(own + copies_before(colours).astype(np.uint64)), kind="stable")


def node_colours(graph: Graph, apart: IntArray | None = None) -> UintArray:
    """Return the colours of the nodes, told apart further by whole numbers `apart` ``[n]``.

    A property can see what colours cannot, such as triangles: a hexagon and two triangles have
    the same colours and differ in clustering.
    """
    nodes = graph.colours.nodes
    return nodes if apart is None else mixed(nodes + mixed(apart, 1))


def edge_colours(graph: Graph, pairs: IntArray) -> UintArray:
    """Return a colour for every pair ``[e, 2]``, the same in both directions."""
    ends = mixed(graph.colours.nodes, 2)
    return mixed(ends[pairs[:, 0]] + ends[pairs[:, 1]])
