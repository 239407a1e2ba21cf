"""Lots: independent of rows, of the process, and of one another."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.graph import Graph
from graphgauge.splits.lots import Draw, draw_order, edge_colours, node_colours

_COLOURS = st.lists(st.integers(0, 6), max_size=15).map(lambda v: np.array(v, np.uint64))


@given(colours=_COLOURS, seed=st.integers(0, 2**70))
def test_colours_are_drawn_in_one_order(colours, seed):
    order = draw_order(colours, seed)
    assert sorted(order.tolist()) == list(range(len(colours)))
    moved = np.random.default_rng(0).permutation(len(colours))
    again = draw_order(colours[moved], seed)
    np.testing.assert_array_equal(colours[order], colours[moved][again])


def test_orders_of_two_purposes_are_independent():
    colours = np.arange(4000, dtype=np.uint64)
    orders = [draw_order(colours, s, d) for s in (0, 1) for d in Draw]
    ranks = np.argsort(orders, axis=1)
    found = np.corrcoef(ranks) - np.eye(len(ranks))
    assert np.abs(found).max() < 0.07  # over four standard deviations of chance


def test_an_order_is_the_same_on_every_machine():
    assert draw_order(np.arange(8, dtype=np.uint64), seed=0).tolist() == [2, 6, 5, 0, 3, 1, 7, 4]


def test_values_tell_apart_what_colours_cannot():
    hexagon_and_triangles = [[i, (i + 1) % 6] for i in range(6)]
    hexagon_and_triangles += [[6, 7], [7, 8], [8, 6], [9, 10], [10, 11], [11, 9]]
    graph = Graph.from_edges(hexagon_and_triangles, 12)
    assert len(np.unique(graph.colours.nodes)) == 1
    apart = node_colours(graph, apart=np.repeat([0, 1], 6))
    assert len(np.unique(apart)) == 2


def test_an_edge_has_one_colour_in_both_directions():
    graph = Graph.from_edges([[0, 1], [1, 2], [2, 3]], 5)
    pairs = graph.edges
    there = edge_colours(graph, pairs)
    np.testing.assert_array_equal(there, edge_colours(graph, pairs[:, ::-1]))
    assert there[0] == there[2] != there[1]
