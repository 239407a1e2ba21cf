"""Numbers of tables that follow from data sets and their splits alone, without a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from graphgauge.benchmark import Benchmark
from graphgauge.datasets import CARDS
from graphgauge.datasets.obtain import find
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.metrics.edgewise import agreeing, edges_within, homophily, k_index
from graphgauge.parts import Split
from graphgauge.setting import graph_of, split_of
from graphgauge.tables.figures import Place

__all__ = ["counts", "split_values"]


def counts(dataset: str) -> Mapping[str, float]:
    """Return the sizes on a data set's card, and what follows from them; nobody's are left out.

    Examples
    --------
    >>> found = counts("cora")
    >>> found["n_edges"], found["n_arcs"], round(found["edge_density"], 5)
    (5278.0, 10556.0, 0.00144)
    """
    known = vars(CARDS[dataset].counts)
    found = {f"n_{name}": float(n) for name, n in known.items() if n is not None}
    if "n_edges" in found:
        found["n_arcs"] = 2 * found["n_edges"]
        found["edge_density"] = found["n_arcs"] / (found["n_nodes"] * (found["n_nodes"] - 1))
    return found


def split_values(
    grid: Benchmark, place: Place, settings: Sequence[str], protocol: str
) -> tuple[tuple[float, ...], str]:
    """Return what a table prints of the splits of a data set, one value a setting.

    Nothing is downloaded for a table: where data are missing there are no values, and the reason.
    """
    if place.dataset not in grid.datasets:
        return (), ""
    if next(find(CARDS[place.dataset]), None) is None:
        return (), f"not here; get it by graphgauge data fetch {place.dataset}"
    try:
        found = [
            _facts(grid.name, place.dataset, grid.splits.get((place.dataset, s), s), protocol,
                   grid.datasets[place.dataset])
            for s in settings
        ]  # fmt: skip
    except InputError as error:
        return (), str(error)
    name = f"{place.metric}:{place.part}" if place.part else place.metric
    return tuple(facts[name] for facts in found), ""


@cache
def _facts(
    benchmark: str, dataset: str, setting: str, protocol: str, steps: tuple[str, ...]
) -> Mapping[str, float]:
    kept = tuple(step for step in steps if not step.startswith("features-"))
    split = split_of(benchmark, dataset, setting, protocol, steps)
    sizes = {f"n_split_nodes:{name}": float(len(part)) for name, part in split.parts.items()}
    return {**sizes, **_of_edges(graph_of(dataset, kept), split)}


def _of_edges(graph: Graph, split: Split) -> dict[str, float]:
    """Measure, in percent, how alike neighbours among the test nodes are, and how many have any."""
    test, labels = split["test"], graph.labels
    assert labels is not None
    is_test = np.zeros(graph.n_nodes, bool)
    is_test[test] = True
    edges = graph.edges[edges_within(graph.edges, is_test)]
    same = agreeing(edges, labels)
    found = {
        "homophily_pct": homophily(edges, labels),
        "k_index_all_edges_pct": k_index(edges, len(test)),
        "k_index_agree_edges_pct": k_index(edges[same], len(test)),
        "k_index_disagree_edges_pct": k_index(edges[~same], len(test)),
    }
    return {name: 100 * value for name, value in found.items()}
