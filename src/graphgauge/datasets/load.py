"""From a name to a graph."""

from __future__ import annotations

import os
from collections.abc import Iterable

from graphgauge.datasets.card import CARDS, card
from graphgauge.datasets.obtain import obtain
from graphgauge.graph import Graph
from graphgauge.steps import prepare

__all__ = ["load", "open_graph"]


def load(name: str, *, steps: Iterable[str] = ()) -> Graph:
    """Load a data set by its slug: the whole graph, each edge once, without loops.

    Features are as published and labels -1 where unknown. Nodes stand in the order that the
    papers' splits speak of, from whatever source: a source in another order is brought into it
    (see `linqs`), and content that differs from the card's fingerprint is refused. Further steps
    (see `steps.STEPS`) are taken in their order.

    Where the files come from is told in `obtain`: the folder that ``GRAPHGAUGE_DATA`` names, the
    cache, a public address, a wheel.
    """
    graph, _ = obtain(card(name))
    return prepare(graph, *steps)


def open_graph(where: str | os.PathLike[str]) -> Graph:
    """Open a graph by the slug of a data set, or by the path of a file."""
    return load(where) if isinstance(where, str) and where in CARDS else Graph.load(where)
