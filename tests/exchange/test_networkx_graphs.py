"""Graphs of NetworkX: there and back, of every kind, called by anything, bearing anything."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from drawn import classes_of, edges_of, graphs, names_of, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.exchange import from_networkx, to_networkx
from graphgauge.graph import Graph

KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


@settings(max_examples=100, deadline=None)
@given(graph=graphs(), data=st.data())
def test_there_and_back(graph, data):
    symmetric = not (graph.adjacency != graph.adjacency.T).nnz
    into = data.draw(
        st.sampled_from(KINDS if symmetric else [k for k in KINDS if k().is_directed()])
    )
    filled = to_networkx(graph, into(), features="x")
    labelled = graph.labels is not None and (graph.labels >= 0).any()
    weighted = filled.number_of_edges() and (graph.adjacency.data != 1).any()
    again = from_networkx(
        filled,
        label="label" if labelled else "",
        features="x" if graph.n_nodes and graph.features is not None else "",
        weight="weight" if weighted else None,
    )
    # Words that are all numbers come back as numbers.
    assert list(map(str, names_of(again))) == list(map(str, names_of(graph)))
    assert again.name == graph.name
    assert (again.adjacency != graph.adjacency).nnz == 0
    assert classes_of(again) == classes_of(graph)
    if graph.n_nodes:
        np.testing.assert_array_equal(rows_of(again), rows_of(graph))


IDS = st.one_of(
    st.integers(-(10**20), 10**20),
    st.text(max_size=3),
    st.tuples(st.integers(0, 3), st.text(max_size=1)),
    st.floats(allow_nan=False),
    st.frozensets(st.integers(0, 3), max_size=2),
    st.none() | st.booleans() | st.binary(max_size=2),
)


@settings(max_examples=100, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    nodes=st.lists(IDS.filter(lambda node: node is not None), unique_by=str, max_size=6),
    data=st.data(),
)
def test_nodes_may_be_called_anything(kind, nodes, data):
    nodes = [node for node in nodes if not str(node).endswith("\0")]
    made = kind()
    made.add_nodes_from(nodes)
    kept = list(made)  # 1 and 1.0 are one node
    places = st.integers(0, max(len(kept) - 1, 0))
    for u, v in data.draw(st.lists(st.tuples(places, places), max_size=8 if kept else 0)):
        made.add_edge(kept[u], kept[v])
    graph = from_networkx(made)
    assert [str(name) for name in names_of(graph)] == list(map(str, kept))
    expected = nx.to_numpy_array(kind(made), nodelist=kept) if kept else np.empty((0, 0))
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected > 0)


@pytest.mark.parametrize(
    ("nodes", "ids"),
    [
        ([0, 1, 2], None),
        ([2, 1, 0], [2, 1, 0]),
        (["0", "1"], None),
        ([(0, 1), (1, 0)], ["(0, 1)", "(1, 0)"]),
        ([7, "a", None.__class__], ["7", "a", "<class 'NoneType'>"]),
        ([10**30, 1], [str(10**30), "1"]),
        ([np.int64(5), np.str_("5x")], ["5", "5x"]),
    ],
)
def test_ids_are_remembered(tmp_path, nodes, ids):
    made = nx.path_graph(nodes)
    graph = from_networkx(made)
    graph.save(tmp_path / "g.npz")
    for found in (graph, Graph.load(tmp_path / "g.npz")):
        assert (found.ids if ids is None else found.ids.tolist()) == ids
        assert len(found.edges) == len(nodes) - 1


@pytest.mark.parametrize("kind", KINDS)
def test_parallel_edges_count_once_or_add_up(kind):
    made = kind([("a", "b"), ("a", "b"), ("b", "a"), ("b", "b")])
    for *_, about in made.edges(data=True):
        about["w"] = 2
    assert set(edges_of(from_networkx(made)).values()) == {1}
    there = {nx.Graph: 2, nx.DiGraph: 2, nx.MultiGraph: 6, nx.MultiDiGraph: 4}[kind]
    back = {nx.Graph: 2, nx.DiGraph: 2, nx.MultiGraph: 6, nx.MultiDiGraph: 2}[kind]
    found = edges_of(from_networkx(made, weight="w"))
    assert found == {("a", "b"): there, ("b", "a"): back, ("b", "b"): 2}


def _bearing(**attributes):
    """Make nodes 0, 1, … with the attributes' values in this order; none where it is None."""
    made = nx.Graph()
    for name, values in attributes.items():
        for node, value in enumerate(values):
            made.add_node(node, **({} if value is None else {name: value}))
    return made


@pytest.mark.parametrize(
    ("attributes", "features", "classes"),
    [
        ({"age": [1, 2], "label": ["x", "y"]}, [[1], [2]], ["x", "y"]),
        ({"age": ["1", "2.5"], "Class": [7, None]}, [[1], [2.5]], ["7", ""]),
        ({"x": [[1, 2], (3, 4)]}, [[1, 2], [3, 4]], ["", ""]),
        ({"x": [np.ones(2), np.zeros(2)], "y": [np.int64(3), 1.0]}, [[1, 1], [0, 0]], ["3", "1"]),
        ({"ok": [True, False], "group": [True, False]}, [[1], [0]], ["True", "False"]),
        ({"label": [float("nan"), 0]}, None, ["", "0"]),
        ({}, None, []),
    ],
)
def test_attributes_become_features_and_classes(attributes, features, classes):
    graph = from_networkx(_bearing(**attributes))
    assert (graph.features if features is None else graph.features.tolist()) == features
    assert classes_of(graph) == classes


def test_attributes_are_chosen_by_name():
    made = _bearing(age=[1, 2], size=[3, 4], topic=["x", "x"], note=["long", "short"])
    graph = from_networkx(made, label="topic", features=["size", "a*"])
    assert graph.features.tolist() == [[3, 1], [4, 2]]
    assert graph.class_names == ("x",)
    with pytest.raises(InputError, match=r"note: 'long' is not a number \(row 0\); say which are"):
        from_networkx(made, label="topic")


class _Odd:
    """Neither a number nor to be asked for one."""

    def __array__(self, *_, **__):
        raise RuntimeError("not\nnow")

    def __str__(self):
        return "odd\none"


@pytest.mark.parametrize(
    ("attributes", "choices", "told"),
    [
        ({"age": [1, None]}, {}, r"age: 1 row is missing \(row 1\); say which are features"),
        ({"age": [1, "old"]}, {}, r"age: 'old' is not a number \(row 1\)"),
        ({"age": [1, float("inf")]}, {}, r"features: 1 row is not finite \(row 1\)"),
        ({"age": [1, 10**400]}, {}, r"age: '1000+' is not a number \(row 1\)"),
        ({"age": [1, 2j]}, {}, r"age: '2j' is not a number \(row 1\)"),
        ({"age": [1, {"a": 1}]}, {}, r"age: .* is not a number \(row 1\)"),
        ({"age": [1, _Odd()]}, {}, r"age: .* is not a number \(row 1\)"),
        ({"age": [[1, 2], [1]]}, {}, r"age: '\[1\]' is not as long as others \(row 1\)"),
        ({"age": [[[1], [1, 2]], 1]}, {}, r"age: .* is not a number \(row 0\)"),
        ({"age": [[[1, 2]], [[3, 4]]]}, {}, "age: has 3 axes, expected a number or a list"),
        ({"label": ["a", "b", "c"]}, {}, "label says something else of every node"),
        ({"label": [0, 1], "y": [0, 1]}, {}, "several could be meant: say --label"),
        ({"label": [0, 1]}, {"label": "topic"}, "there is no 'topic'; there are label"),
        ({"label": [0, 1]}, {"features": ["topic"]}, "there is no 'topic'"),
        ({"label": ["x" * 300, 1]}, {}, "a name of 200 characters or more"),
        ({"label": [-1, 1]}, {}, "labels are -1 and 1"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(attributes, choices, told):
    with pytest.raises(InputError, match=told) as caught:
        from_networkx(_bearing(**attributes), **choices)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("weight", "told"),
    [
        (None, r"edges: 1 row has no w \(row 1\)"),
        (0, r"weight: 1 row is zero \(row 1\)"),
        (float("nan"), r"w: 1 row is not finite \(row 1\)"),
        ("heavy", "w: holds <U.* values, expected numbers"),
        ([1, 2], "w: not an array of numbers"),
        (10**400, "w: holds object values, expected numbers"),
    ],
)
def test_weights_that_are_none_are_told(weight, told):
    made = nx.path_graph(3)
    made.edges[0, 1]["w"] = 1
    if weight is not None:
        made.edges[1, 2]["w"] = weight
    with pytest.raises(InputError, match=told) as caught:
        from_networkx(made, weight="w")
    assert "\n" not in str(caught.value)


def test_names_that_are_one_as_text_are_told():
    made = nx.Graph([(1, "1"), ("1", "x")])
    with pytest.raises(InputError, match=r"ids: 1 stand there before \(row 1\)"):
        from_networkx(made)
    long = nx.Graph([("x" * 10_000, 0)])
    long.add_nodes_from(range(10_000))
    with pytest.raises(InputError, match=r"ids: one has 10000 characters, .*\(row 0\); shorten it"):
        from_networkx(long)


def test_what_a_graph_cannot_be_filled_into_is_told():
    one_way = Graph.from_edges([[0, 1]], 2, directed=True)
    with pytest.raises(InputError, match="edges that lead one way only: fill a DiGraph"):
        to_networkx(one_way, nx.Graph())
    with pytest.raises(InputError, match="into: has 3 nodes already"):
        to_networkx(one_way, nx.path_graph(3, create_using=nx.DiGraph))
