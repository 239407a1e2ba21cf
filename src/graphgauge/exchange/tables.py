"""Lists of edges, alone or beside a table of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from graphgauge.exchange.choices import Choices
from graphgauge.exchange.contents import Contents
from graphgauge.exchange.edges import read_links
from graphgauge.exchange.imported import Imported, Source
from graphgauge.exchange.links import Links
from graphgauge.exchange.nodes import read_nodes
from graphgauge.exchange.numbering import Numbering, ids_of, sorted_ids
from graphgauge.formats import naming

__all__ = ["read_tables"]


def read_tables(paths: Sequence[Path], choices: Choices) -> Imported:
    """Read lists of edges one after another, and the table of their nodes if there is one.

    Without a table the nodes are those that edges name, in the order of their names.
    """
    if choices.nodes is None:
        return _edges_alone(paths, choices)
    nodes = Path(choices.nodes)
    with naming(nodes):
        numbering, contents = read_nodes(nodes, choices)
        ids = ids_of(numbering.names)
    links = _read_all(paths, choices, numbering, known=True)
    with naming(paths[0]):
        return Imported.of(Source("edges and nodes", paths[0].stem), links, ids, contents)


def _edges_alone(paths: Sequence[Path], choices: Choices) -> Imported:
    numbering = Numbering()
    links = _read_all(paths, choices, numbering, known=False)
    with naming(paths[0]):
        choices.apply_to("edges alone", "edges", "weight", "directed")
        ids, places = sorted_ids(numbering.names)
        links = Links(places[links.pairs], links.weights, links.directed)
        return Imported.of(Source("edges", paths[0].stem), links, ids, Contents(len(numbering)))


def _read_all(
    paths: Sequence[Path], choices: Choices, numbering: Numbering, *, known: bool
) -> Links:
    found = []
    for path in paths:
        with naming(path):
            found.append(read_links(path, choices, numbering, known=known))
    weights = [links.weights for links in found if links.weights is not None]
    return Links(
        np.concatenate([links.pairs for links in found]),
        np.concatenate(weights) if weights else None,
        choices.directed,
    )
