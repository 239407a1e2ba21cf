"""Archives of arrays: every way to say the same, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from drawn import classes_of, doubtful, edges_of, graphs, names_of, rows_of
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.exchange import Choices, import_files, read_graph
from graphgauge.graph import Graph

A = sp.csr_array([[0, 2, 0], [1, 0, 0], [0, 0, 3]])
ENDS = np.array([[0, 1, 1], [1, 0, 0]])


def written(folder, arrays, *, packed=False):
    (np.savez_compressed if packed else np.savez)(folder / "g.npz", **arrays)
    return folder / "g.npz"


def parts(stem, matrix):
    made = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return {f"{stem}{k}": v for k, v in {**made, "shape": matrix.shape}.items()}


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(graph=graphs(), data=st.data())
def test_graphs_are_read_alike_however_they_are_stored(tmp_path, graph, data):
    assume(not doubtful(graph))
    way = data.draw(st.sampled_from(["saved", "dense", "parts", "wide"]))
    path = tmp_path / "g.npz"
    if way == "saved":
        graph.save(path)
        again = read_graph(path)
        assert names_of(again) == names_of(graph)
        assert again.class_names == graph.class_names
    else:
        arrays = {"A": graph.adjacency.toarray()}
        if way == "parts":
            arrays = parts("adj_", graph.adjacency)
        elif way == "wide":  # as several collections of graphs are published
            arrays = {**parts("adj_matrix.", graph.adjacency)}
        if graph.features is not None:
            sparse = sp.issparse(graph.features)
            arrays |= parts("attr_", graph.features) if sparse else {"X": graph.features}
        if graph.labels is not None:
            arrays["labels"] = graph.labels
        edges = {"edges": "adj_matrix."} if way == "wide" else {}
        again = read_graph(written(tmp_path, arrays, packed=data.draw(st.booleans())), **edges)
        expected = [] if graph.labels is None else graph.labels.tolist()
        expected = ["" if k < 0 else str(k) for k in expected] or [""] * graph.n_nodes
        assert classes_of(again) == expected
    assert (again.adjacency != graph.adjacency).nnz == 0
    np.testing.assert_array_equal(rows_of(again), rows_of(graph))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("packed", [True, False])
def test_what_scipy_saves_is_read(tmp_path, form, packed):
    sp.save_npz(tmp_path / "a.npz", A.asformat(form), compressed=packed)
    if form == "coo":
        with pytest.raises(InputError, match="say which matrix holds the edges"):
            read_graph(tmp_path / "a.npz")
        return
    assert (read_graph(tmp_path / "a.npz").adjacency != A).nnz == 0


@pytest.mark.parametrize(
    ("content", "n_nodes"),
    [
        ({}, 2),
        ({"num_nodes": 5}, 5),
        ({"x": np.ones((4, 1))}, 4),
        ({"y": np.array([0, 1, 0])}, 3),
        ({"y": np.array([[0, 1, 0]])}, 3),
        ({"y": np.array([["a", "b", "a"]])}, 3),
        ({"x": np.ones((3, 1)), "num_nodes": 3}, 3),
    ],
)
def test_pairs_of_nodes_are_directed_and_nodes_counted(tmp_path, content, n_nodes):
    path = written(tmp_path, {"edge_index": ENDS, **content})
    found = import_files([path], Choices())
    assert edges_of(found.graph) == {(0, 1): 1, (1, 0): 1}
    assert (found.graph.n_nodes, found.n_merged) == (n_nodes, 1)
    assert read_graph(written(tmp_path, {"edge_index": ENDS[:, :0]})).n_nodes == 0


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({}, "say which matrix holds the edges: --edges NAME, of none"),
        ({"probs": np.ones((2, 2))}, r"--edges NAME, of probs \(2, 2\)"),
        ({"edge_index": ENDS.T}, r"edges: has shape \(2, 3\), expected pairs"),
        ({"edge_index": ENDS + 0.5}, "edge_index: 2 rows are not whole numbers"),
        ({"edge_index": ENDS - 1}, "edges: 3 rows point outside"),
        ({"edge_index": ENDS * 2**40}, "names node 1099511627776, too many for 3 edges"),
        ({"edge_index": ENDS, "num_nodes": 2**40}, "1099511627776 nodes are too many for 3 edges"),
        ({"edge_index": ENDS, "num_nodes": -1}, "-1 nodes are no number of nodes"),
        ({"edge_index": ENDS, "num_nodes": 1.5}, "num_nodes is not one whole number"),
        ({"edge_index": ENDS, "num_nodes": 1}, r"edges: 3 rows point outside nodes 0..0"),
        ({"edge_index": ENDS, "A": A.toarray()}, "several could be meant: say --edges NAME"),
        ({"A": A.toarray(), "y": np.array([[b"a", b"b"]] * 3)}, "y: holds .S1 values"),
        ({"A": A.toarray(), "y": np.array([["a", "b"]] * 3)}, "labels has 6 rows"),
        ({"A": np.array([["a"]])}, "adjacency: holds <U1 values"),
        ({"A": np.array([[None]])}, r"A holds Python objects \(a pickle\), which are never read"),
        ({"A": A.toarray(), "x": np.ones((2, 1))}, "3 nodes, features has 2 rows"),
        ({**parts("A_", A), "A_shape": [3]}, "A_shape: holds 1 numbers, expected 2"),
        ({**parts("A_", A), "A_shape": [3, 2**40]}, "A_: has 1099511627776 columns for 3"),
        ({**parts("A_", A), "A_shape": [2, 3]}, "A_: not a valid sparse matrix of 2 rows"),
        ({**parts("A_", A), "A_indices": [0, 1, 9]}, "A_: not a valid sparse matrix"),
        ({**parts("A_", A), "A_data": [1.0, 2.0]}, "A_: not a valid sparse matrix"),
        ({**parts("A_", A), "A_format": "bsr"}, "holds a matrix saved as bsr; save it as csr"),
        ({**parts("A_", A), "A_format": np.array(["csr"] * 9999)}, r"saved as \['csr'.{,99}; save"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line(tmp_path, arrays, told):
    path = written(tmp_path, arrays)
    with pytest.raises(InputError, match=told) as caught:
        read_graph(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_saved_graph_says_itself_what_it_is(tmp_path):
    Graph(A, ids=["a", "b", "c"]).save(tmp_path / "g.npz")
    with pytest.raises(InputError, match="--edges means nothing for a saved graph"):
        read_graph(tmp_path / "g.npz", edges="A")
    with pytest.raises(InputError, match="--directed means nothing for a saved graph"):
        read_graph(tmp_path / "g.npz", directed=True)
    with pytest.raises(InputError, match="--weight means nothing for arrays"):
        read_graph(written(tmp_path, {"A": A.toarray()}), weight="w")
