"""Matrices of SciPy and NumPy, and ids and classes by any name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from drawn import classes_of, edges_of, graphs, names_of, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.exchange import from_scipy
from graphgauge.exchange.links import Links
from graphgauge.exchange.numbering import Numbering, ids_of, sorted_ids
from graphgauge.graph import Graph

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@settings(max_examples=100, deadline=None)
@given(graph=graphs(), data=st.data())
def test_matrices_of_any_format_are_read_alike(graph, data):
    form = data.draw(st.sampled_from([*FORMATS, "dense", "matrix"]))
    shape = (graph.n_nodes, graph.n_nodes)
    made = {"dense": graph.adjacency.toarray, "matrix": lambda: sp.csr_matrix(graph.adjacency)}
    matrix = made[form]() if form in made else graph.adjacency.asformat(form)
    again = from_scipy(
        matrix,
        features=graph.features,
        labels=None if graph.labels is None else classes_of(graph),
        ids=None if graph.ids is None else graph.ids.tolist(),
        name=graph.name,
    )
    assert again.adjacency.shape == shape
    assert again.name == graph.name
    # Words that are all numbers come back as numbers.
    assert list(map(str, names_of(again))) == list(map(str, names_of(graph)))
    assert (again.adjacency != graph.adjacency).nnz == 0
    assert classes_of(again) == classes_of(graph)
    np.testing.assert_array_equal(rows_of(again), rows_of(graph))


def test_stored_zeros_are_no_edges_and_the_matrix_stays_as_it_is():
    matrix = sp.csr_array(([0.0, 2.0, 1.0], ([0, 1, 1], [1, 0, 0])), shape=(2, 2))
    assert edges_of(from_scipy(matrix)) == {(1, 0): 3}
    assert matrix.nnz in (2, 3)
    assert not matrix[0, 1]
    assert from_scipy([[0, 0], [1, 0]]).adjacency.nnz == 1


@pytest.mark.parametrize(
    ("labels", "classes", "names"),
    [
        ([1, 0, 2], ["1", "0", "2"], ()),
        ([30, 4, 30], ["30", "4", "30"], ("4", "30")),
        ([0.0, np.nan, 1.0], ["0", "", "1"], ()),
        ([True, False, True], ["1", "0", "1"], ()),
        (np.array([2, 1, 0], np.uint8), ["2", "1", "0"], ()),
        (np.array([2, -1, 0], np.int8), ["2", "", "0"], ("0", "2")),
        (["dog", "", "cat"], ["dog", "", "cat"], ("cat", "dog")),
        (["a", None, "b"], ["a", "", "b"], ("a", "b")),
        ([("x", 1), ("x", 2), ("x", 1)], None, None),
        (np.array([b"x", b"y", b"x"]), ["b'x'", "b'y'", "b'x'"], ("b'x'", "b'y'")),
    ],
)
def test_classes_by_any_name(labels, classes, names):
    if classes is None:
        with pytest.raises(InputError, match="labels: has 2 axes"):
            from_scipy(np.eye(3), labels=labels)
        return
    graph = from_scipy(np.eye(3), labels=labels)
    assert classes_of(graph) == classes
    assert graph.class_names == names


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"adjacency": np.ones((2, 3))}, r"adjacency: has shape \(2, 3\), expected a square"),
        ({"adjacency": np.ones(4)}, "adjacency: has 1 axes"),
        ({"adjacency": sp.coo_array(np.ones(4))}, "adjacency: has 1 axes"),
        ({"adjacency": [[0, np.nan], [0, 0]]}, "adjacency: 1 row is not finite"),
        ({"adjacency": sp.csr_array([[0, np.inf], [0, 0]])}, "adjacency: .*not finite"),
        ({"adjacency": [["a", "b"]]}, "adjacency: holds <U1 values"),
        ({"adjacency": [[1], [1, 2]]}, "adjacency: not an array of numbers"),
        ({"adjacency": sp.csr_array([[1j]])}, "adjacency: holds complex128 values"),
        ({"features": np.ones(2)}, "features: has 1 axes"),
        ({"features": sp.coo_array(np.ones(2))}, "features: has 1 axes"),
        ({"features": np.ones((3, 1))}, "2 nodes, features has 3 rows"),
        ({"features": [["a"], ["b"]]}, "features: holds <U1 values"),
        ({"features": sp.csr_array([[1.0], [np.nan]])}, "features: holds values that are not"),
        ({"labels": [1]}, "2 nodes, labels has 1 rows"),
        ({"labels": [[1], [1, 2]]}, "labels: not a class a node"),
        ({"labels": [np.nan, 0.5]}, r"labels: 1 row is not a whole number \(row 1\)"),
        ({"labels": [0.5, np.inf]}, r"labels: 2 rows are not whole numbers \(rows 0, 1\)"),
        ({"labels": [-1, 1]}, "labels are -1 and 1"),
        ({"ids": ["a"]}, "2 nodes, ids has 1 rows"),
        ({"ids": ["1", 1]}, r"ids: 1 stand there before \(row 1\)"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(content, told):
    with pytest.raises(InputError, match=told) as caught:
        from_scipy(**{"adjacency": np.eye(2), **content})
    assert "\n" not in str(caught.value)


def test_a_class_without_a_name_is_told():
    with pytest.raises(InputError, match=r"labels: 1 row is beyond the 2 classes .*\(row 1\)"):
        Graph(np.eye(2), labels=[0, 2], class_names=("a", "b"))


NAMES = st.one_of(
    st.integers(-(10**20), 10**20), st.text(max_size=4), st.tuples(st.integers(0, 9), st.booleans())
)


@settings(max_examples=100, deadline=None)
@given(names=st.lists(NAMES, unique_by=lambda name: str(name).rstrip("\0"), max_size=8))
def test_ids_of_any_type_are_mapped_and_remembered(tmp_path_factory, names):
    ids = ids_of(names)
    graph = Graph.from_edges(np.empty((0, 2), int), len(names), ids=ids)
    path = tmp_path_factory.getbasetemp() / "ids.npz"
    graph.save(path)
    again = Graph.load(path)
    told = [str(name).rstrip("\0") for name in names]
    assert [str(name) for name in names_of(again)] == told
    if ids is not None:
        assert again.ids.dtype == ids.dtype
    whole = [word for word in told if len(word.lstrip("-")) < 19 and str(_number(word)) == word]
    assert (ids is None or ids.dtype.kind == "i") == (len(whole) == len(told))


def _number(word):
    try:
        return int(word)
    except ValueError:
        return None


def test_numbers_follow_the_order_of_meeting():
    numbering = Numbering()
    names = [("a", 1), "a", 1, None, 1, "1"]
    assert numbering.add(names).tolist() == [0, 1, 2, 3, 2, 4]
    assert numbering[1] == 2
    assert numbering.find(["1", "b", None]).tolist() == [4, -1, 3]
    assert (len(numbering), numbering.names) == (5, [("a", 1), "a", 1, None, "1"])


@settings(deadline=None)
@given(names=st.lists(st.text("019ab-", min_size=1, max_size=3), unique=True, max_size=8))
def test_sorted_ids_do_not_hang_on_the_order_of_rows(names):
    ids, places = sorted_ids(names)
    again, others = sorted_ids(names[::-1])
    np.testing.assert_array_equal(ids, again)
    np.testing.assert_array_equal(places, others[::-1])
    told = list(map(str, range(len(names)) if ids is None else ids))
    assert [told[place] for place in places] == names


def test_directions_of_undirected_weights_are_merged_exactly():
    links = Links(np.array([[0, 1], [1, 0], [1, 2], [2, 0]]), np.array([0.1, 0.3, -0.1, 1e-300]))
    expected = [[0, 0.3, 1e-300], [0.3, 0, -0.1], [1e-300, -0.1, 0]]
    assert links.adjacency(3).toarray().tolist() == expected
    below = Links(np.array([[0, 1], [1, 0]]), np.array([-0.3, -0.1]))
    assert below.adjacency(2).toarray().tolist() == [[0, -0.1], [-0.1, 0]]
