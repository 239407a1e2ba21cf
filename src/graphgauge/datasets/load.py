"""From a name to a graph."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from graphgauge.arrays import IntArray
from graphgauge.datasets.card import CARDS, card
from graphgauge.datasets.families import FAMILIES
from graphgauge.datasets.obtain import find, obtain
from graphgauge.errors import InputError
from graphgauge.exchange import read_graph
from graphgauge.graph import Graph
from graphgauge.steps import prepare

__all__ = ["load", "open_graph", "published_parts"]


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


def published_parts(name: str) -> dict[str, IntArray]:
    """Read the parts that the authors of a data set published with it, fetching it if need be.

    Nodes: numbers by the names ``train``, ``valid`` and ``test``. Links: pairs ``[e, 2]`` by the
    same names, with their negatives under ``valid_neg`` and ``test_neg`` (see `ogb`). Link splits
    of *heart* are read by `heart.heart_links`.
    """
    known = card(name)
    found = next(find(known), None) or obtain(known)[1]
    parts = FAMILIES[found.source.family].parts
    if parts is None:
        raise InputError(f"{name}: its files hold no parts")
    return parts(found.folder, found.source.key)


def open_graph(where: str | os.PathLike[str]) -> Graph:
    """Open a graph by the slug of a data set, or by the path of a file of any kind.

    What a file holds is taken as it stands (see `exchange.read_graph`). A slug comes before a file
    of the same name, which ``./cora`` still opens.
    """
    name = os.fspath(where)
    is_path = os.sep in name or Path(name).suffix or Path(name).exists()
    return load(name) if name in CARDS or not is_path else read_graph(name)
