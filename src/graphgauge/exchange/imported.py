"""What was understood of a file: the graph, and what became of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from graphgauge.exchange.contents import Contents
from graphgauge.exchange.links import Links
from graphgauge.graph import Graph

__all__ = ["Imported", "Source"]


@dataclass(frozen=True)
class Source:
    """Where a graph came from: the kind of file, and what to call the graph."""

    kind: str
    name: str = ""


@dataclass(frozen=True, eq=False)
class Imported:
    """A graph, and what was understood of its source.

    Parameters
    ----------
    graph
        The graph.
    source
        Where it came from.
    n_merged
        How many links were repetitions of others.
    columns
        What the columns of the features are called; empty where nobody says.
    """

    graph: Graph
    source: Source
    n_merged: int = 0
    columns: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, source: Source, links: Links, ids: npt.NDArray[Any] | None, contents: Contents
    ) -> Imported:
        """Put links and contents of nodes together."""
        adjacency = links.adjacency(contents.n_nodes)
        graph = Graph(
            adjacency,
            contents.features,
            contents.labels,
            source.name,
            ids=ids,
            class_names=contents.class_names,
        )
        n_loops = int(np.count_nonzero(adjacency.diagonal()))
        kept = adjacency.nnz if links.directed else (adjacency.nnz + n_loops) // 2
        return cls(graph, source, len(links.pairs) - kept, contents.columns)

    @cached_property
    def n_loops(self) -> int:
        """Number of nodes with a link to themselves."""
        return int(np.count_nonzero(self.graph.adjacency.diagonal()))

    @cached_property
    def n_isolated(self) -> int:
        """Number of nodes without a link to another."""
        return self.graph.n_nodes - len(np.unique(self.graph.edges))

    @cached_property
    def directed(self) -> bool:
        """Whether some link leads one way only, or weighs more one way."""
        return bool((self.graph.adjacency != self.graph.adjacency.T).nnz)
