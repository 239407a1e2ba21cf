"""From a name to a graph."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from graphgauge.datasets.card import CARDS, Card, Source, card
from graphgauge.datasets.families import FAMILIES
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.steps import prepare

__all__ = ["load", "open_graph"]

_WHOLE = ("undirected", "loops-removed")


def load(name: str, *, steps: Iterable[str] = ()) -> Graph:
    """Load a data set by its slug: the whole graph, undirected, each edge once, without loops.

    Features are as published, labels -1 where unknown, and nodes in the order that the papers'
    splits speak of, whatever source they came from. Further steps are taken in their order.
    """
    known = card(name)
    folder, source = _located(known)
    graph = FAMILIES[source.family].read(folder, source.key)
    graph = prepare(replace(graph, name=known.slug), *_WHOLE)
    return prepare(graph, *steps)


def _located(known: Card) -> tuple[Path, Source]:
    named = os.environ.get("GRAPHGAUGE_DATA")
    for source in known.sources:
        found = named and FAMILIES[source.family].find(Path(named), source.key)
        if found:
            return found, source
    raise InputError(f"{known.slug}: not found; set GRAPHGAUGE_DATA to the folder that holds it")


def open_graph(where: str | os.PathLike[str]) -> Graph:
    """Open a graph by the slug of a data set, or by the path of a file."""
    return load(where) if isinstance(where, str) and where in CARDS else Graph.load(where)
