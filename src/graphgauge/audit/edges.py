"""Findings about the edges of node predictions: how they are stored, what they join."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphgauge.arrays import BoolArray, IntArray
from graphgauge.audit.findings import Finding, found, portion
from graphgauge.audit.keys import among, distinct, pair_keys
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
    if predictions.edges is not None:
        yield from _storage(predictions.edges, predictions.n_nodes)
        if graph is not None:
            yield from _foreign(predictions, graph)
    yield from _isolated(predictions, pairs)
    yield from _test_train(predictions, pairs)


def _storage(edges: IntArray, n_nodes: int) -> Iterator[Finding]:
    """Both styles of storage are in order, one row an edge and two; a mixture is remarkable."""
    n = len(edges)
    loops = edges[:, 0] == edges[:, 1]
    if loops.any():
        message = f"{portion(int(loops.sum()), n, 'edge')} join a node to itself and are left out"
        yield found("edges-loops", message, items="edges", offenders=loops, of=n)
    keys = pair_keys(edges, n_nodes, directed=True)
    ordered = np.sort(keys)
    twice = distinct(ordered[1:][ordered[1:] == ordered[:-1]])
    if len(twice):
        again = among(keys, twice)
        message = f"{portion(int(again.sum()), n, 'edge')} are given more than once and count once"
        yield found("edges-repeated", message, items="edges", offenders=again, of=n)
    single = _without_reverse(keys, ordered, loops)
    if single.any() and not (single | loops).all():
        message = (
            f"{portion(int(single.sum()), n, 'edge')} lack their reverse where others have it; "
        )
        message += "direction is ignored"
        yield found("edges-mixed-direction", message, items="edges", offenders=single, of=n)


def _without_reverse(keys: IntArray, ordered: IntArray, loops: BoolArray) -> BoolArray:
    """Mark directed keys whose last bit, the direction, occurs one way only.

    `ordered` are the keys in ascending order. A pair that is there both ways has an even key with
    the odd one after it right behind its copies; a loop is always even.
    """
    turn = (ordered[1:] == ordered[:-1] + 1) & (ordered[1:] & 1 == 1)
    both = ordered[1:][turn] // 2
    if not len(both):
        return ~loops
    return ~loops & ~among(keys // 2, both)


def _foreign(predictions: NodePredictions, graph: Graph) -> Iterator[Finding]:
    n, pairs = graph.n_nodes, predictions.pairs
    foreign = ~among(pair_keys(pairs, n), np.sort(pair_keys(graph.edges, n)))
    if foreign.any():
        message = f"{portion(int(foreign.sum()), len(pairs), 'edge')} of the file are not in the "
        message += "graph: nodes may be numbered in another order"
        offenders = predictions.pair_rows[foreign]
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


def _test_train(predictions: NodePredictions, pairs: IntArray) -> Iterator[Finding]:
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
        given = predictions.edges is not None
        offenders = predictions.pair_rows[crossing] if given else np.flatnonzero(crossing)
        yield found("edges-test-train", message, items="edges", offenders=offenders, of=n)
