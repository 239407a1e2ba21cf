"""Findings about the edges of node predictions: how they are stored, what they join."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphgauge.arrays import BoolArray, IntArray
from graphgauge.audit.findings import Finding, found, portion
from graphgauge.audit.keys import among, distinct, pair_keys, repeated
from graphgauge.graph import Graph
from graphgauge.groups import undirected_pairs
from graphgauge.predictions import NodePredictions
from graphgauge.roles import Role, items_of

__all__ = ["edge_findings"]


def edge_findings(predictions: NodePredictions, graph: Graph | None) -> Iterator[Finding]:
    """Report how edges are stored and what they join; nothing where there are no edges."""
    pairs = undirected_pairs(predictions, graph)
    if pairs is None:
        return
    rows: IntArray = np.arange(len(pairs))
    if predictions.edges is not None:
        rows = predictions.undirected[1]
        yield from _storage(predictions.edges, predictions.n_nodes)
        if graph is not None:
            yield from _foreign(pairs, rows, graph)
    yield from _isolated(predictions, pairs)
    yield from _test_train(predictions, pairs, rows)


def _storage(edges: IntArray, n_nodes: int) -> Iterator[Finding]:
    """Both styles of storage are in order, one row an edge and two; a mixture is remarkable."""
    n = len(edges)
    loops = edges[:, 0] == edges[:, 1]
    if loops.any():
        message = f"{portion(int(loops.sum()), n, 'edge')} join a node to itself and are left out"
        yield found("edges-loops", message, items="edges", offenders=loops, of=n)
    keys = pair_keys(edges, n_nodes, directed=True)
    twice = repeated(keys)
    if len(twice):
        again = among(keys, twice)
        message = f"{portion(int(again.sum()), n, 'edge')} are given more than once and count once"
        yield found("edges-repeated", message, items="edges", offenders=again, of=n)
    single = _without_reverse(keys, loops)
    if single.any() and not (single | loops).all():
        message = (
            f"{portion(int(single.sum()), n, 'edge')} lack their reverse where others have it; "
        )
        message += "direction is ignored"
        yield found("edges-mixed-direction", message, items="edges", offenders=single, of=n)


def _without_reverse(keys: IntArray, loops: BoolArray) -> BoolArray:
    """Mark directed keys whose last bit, the direction, occurs one way only."""
    directed = distinct(keys[~loops])
    undirected = directed // 2
    both = undirected[1:][undirected[1:] == undirected[:-1]]
    if not len(both):
        return ~loops
    if 2 * len(both) == len(directed):
        return np.zeros(len(keys), bool)
    return ~loops & ~among(keys // 2, both)


def _foreign(pairs: IntArray, rows: IntArray, graph: Graph) -> Iterator[Finding]:
    n = graph.n_nodes
    foreign = ~among(pair_keys(pairs, n), np.sort(pair_keys(graph.edges, n)))
    if foreign.any():
        message = f"{portion(int(foreign.sum()), len(pairs), 'edge')} of the file are not in the "
        message += "graph: nodes may be numbered in another order"
        offenders = rows[foreign]
        yield found(
            "edges-not-in-graph", message, items="edges", offenders=offenders, of=len(pairs)
        )


def _isolated(predictions: NodePredictions, pairs: IntArray) -> Iterator[Finding]:
    n = predictions.n_nodes
    isolated = np.ones(n, bool)
    isolated[pairs] = False
    if isolated.any():
        n_test = int(isolated[items_of(predictions.parts, Role.TEST)].sum())
        message = f"{portion(int(isolated.sum()), n, 'node')} have no neighbours, {n_test} of them "
        message += "in test: the graph says nothing about them"
        yield found("isolated-nodes", message, items="nodes", offenders=isolated, of=n)


def _test_train(predictions: NodePredictions, pairs: IntArray, rows: IntArray) -> Iterator[Finding]:
    place = np.zeros(predictions.n_nodes, np.int8)
    place[items_of(predictions.parts, Role.TRAIN)] = 1
    place[items_of(predictions.parts, Role.TEST)] = 2
    u, v = place[pairs[:, 0]], place[pairs[:, 1]]
    of_test = (u == 2) | (v == 2)
    crossing = of_test & (u + v == 3)
    if crossing.any():
        n = int(of_test.sum())
        message = (
            f"{portion(int(crossing.sum()), n, 'edge')} of test nodes lead to training nodes: "
        )
        message += "scores hold for nodes whose neighbours' labels are known"
        yield found("edges-test-train", message, items="edges", offenders=rows[crossing], of=n)
