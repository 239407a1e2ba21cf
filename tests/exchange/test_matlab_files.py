"""Files of MATLAB: agreement with SciPy's writer, and files that are cut, changed or blown up."""

from __future__ import annotations

import contextlib
import io
import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from drawn import classes_of, doubtful, graphs, rows_of
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.exchange import Choices, import_files, read_graph
from graphgauge.exchange.matlab import read_matrices

A = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3]])
X = np.array([[1.5, 0], [0, 0], [2, 1]])


def written(folder, variables, **options):
    scipy.io.savemat(folder / "g.mat", variables, **options)
    return folder / "g.mat"


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(graph=graphs(), data=st.data())
def test_what_scipy_writes_is_read(tmp_path, graph, data):
    assume(not doubtful(graph))
    sparse, packed, column = (data.draw(st.booleans()) for _ in range(3))
    variables = {"network": graph.adjacency if sparse else graph.adjacency.toarray()}
    if graph.features is not None:
        variables["attr"] = graph.features
    if graph.labels is not None:
        variables["Label"] = graph.labels
    oned = "column" if column else "row"
    path = written(tmp_path, variables, do_compression=packed, oned_as=oned)
    again = read_graph(path)
    assert (again.adjacency != graph.adjacency).nnz == 0
    np.testing.assert_array_equal(rows_of(again), rows_of(graph))
    numbers = [""] * graph.n_nodes if graph.labels is None else graph.labels.tolist()
    assert classes_of(again) == [str(k) if k != -1 else "" for k in numbers]


TYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"]


@pytest.mark.parametrize("form", ["csc", "csr", "coo", "dense"])
@pytest.mark.parametrize("kind", TYPES)
def test_entries_of_every_type_are_those_that_scipy_reads(tmp_path, form, kind):
    matrix = A.astype(kind)
    path = written(
        tmp_path, {"A": matrix if form == "dense" else sp.coo_array(matrix).asformat(form)}
    )
    expected = scipy.io.loadmat(path, spmatrix=False)["A"]
    found = read_matrices(path)["A"]
    both = [m.toarray() if sp.issparse(m) else m for m in (found, expected)]
    np.testing.assert_array_equal(*both)
    np.testing.assert_array_equal(read_graph(path).adjacency.toarray(), matrix.astype(float))


def test_what_is_no_matrix_of_numbers_is_left_alone(tmp_path):
    cell = np.empty(2, object)
    cell[:] = ["a", np.ones(3)]
    others = {"title": "a", "s": {"A": A}, "c": cell, "z": A * 1j, "e": np.empty((0, 0)), "k": 5}
    matrices = read_matrices(written(tmp_path, {**others, "A": A}))
    assert {name: matrix.shape for name, matrix in matrices.items()} == {
        "A": (3, 3),
        "e": (0, 0),
        "k": (1, 1),
    }
    assert read_graph(tmp_path / "g.mat", features="", label="").n_nodes == 3


@pytest.mark.parametrize(
    ("group", "classes"),
    [
        ([[1, 2, 1]], ["1", "2", "1"]),
        ([[5], [-1], [0]], ["5", "", "0"]),
        ([[np.nan], [1], [0]], ["", "1", "0"]),
        (np.eye(3)[:, ::-1], ["2", "1", "0"]),
        (sp.csc_array([[0, 1], [0, 0], [1, 0]]), ["1", "", "0"]),
    ],
)
def test_classes_are_a_row_a_column_or_a_column_each(tmp_path, group, classes):
    assert classes_of(read_graph(written(tmp_path, {"A": A, "group": group}))) == classes


def test_matrices_are_chosen_by_name(tmp_path):
    path = written(tmp_path, {"Fri": A, "Mon": A.T, "info": X, "A": A, "net": A})
    with pytest.raises(InputError, match="several could be meant: say --edges NAME, one of A, net"):
        read_graph(path)
    graph = read_graph(path, edges="Mon", features="info", label="")
    np.testing.assert_array_equal(graph.adjacency.toarray(), A.T)
    np.testing.assert_array_equal(graph.features, X)
    found = import_files([path], Choices(edges="Fri"))
    assert (found.directed, found.n_loops, found.n_isolated) == (True, 1, 1)
    assert found.source.kind == "MATLAB"


@pytest.mark.parametrize(
    ("variables", "choices", "told"),
    [
        ({"B": A}, {}, r"say which matrix holds the edges: --edges NAME, of B \(3, 3\)"),
        ({}, {}, "say which matrix holds the edges: --edges NAME, of none"),
        ({"A": X}, {}, r"adjacency: has shape \(3, 2\), expected a square"),
        ({"A": A + np.nan}, {}, "adjacency: 3 rows are not finite"),
        ({"A": A, "X": X[:2]}, {}, "3 nodes, features has 2 rows"),
        ({"A": A, "X": X + np.inf}, {}, "features: 3 rows are not finite"),
        ({"A": A, "y": [1, 2]}, {}, "3 nodes, labels has 2 rows"),
        ({"A": A, "y": [0.5, 1, 2]}, {}, r"labels: 1 row is not a whole number \(row 0\)"),
        ({"A": A, "y": np.ones((3, 3))}, {}, r"y: 3 rows have several classes \(rows 0"),
        ({"A": np.ones((2, 2, 2))}, {}, "adjacency: has 3 axes"),
        ({"A": A, "y": np.ones((3, 2, 2))}, {}, "y: has 3 axes"),
        ({"A": A}, {"edges": "network"}, "--edges: there is no 'network'; there are A"),
        ({"A": A}, {"weight": "A"}, "--weight means nothing for MATLAB files"),
        ({"A": A}, {"directed": True}, "--directed means nothing for MATLAB files"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line(tmp_path, variables, choices, told):
    path = written(tmp_path, variables)
    with pytest.raises(InputError, match=told) as caught:
        read_graph(path, **choices)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_versions_are_told(tmp_path):
    path = written(tmp_path, {"A": A.astype(float)}, format="4")
    with pytest.raises(InputError, match="not a file of MATLAB 5; save it with -v7"):
        read_graph(path)
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: today".ljust(124) + b"\x00\x02IM"
    for content in (
        head.ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n",
        b"\x89HDF\r\n\x1a\n" + bytes(99),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"MATLAB 7.3 \(HDF5\), which is not read; save it w"):
            read_graph(path)
    for content in (b"", b"MATLAB 5.0", bytes(500), b"source,target\na,b\n"):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not a file of MATLAB 5"):
            read_graph(path)


def element(kind, body, *, size=None):
    told = len(body) if size is None else size
    return struct.pack("<II", kind, told) + body + bytes(-len(body) % 8)


def matrix(shape, *parts, kind=6, flags=0, name=b"A"):
    about = element(6, struct.pack("<II", kind | flags, 0))
    return element(14, about + element(5, np.array(shape, "<i4").tobytes()) + element(1, name)
                   + b"".join(parts))  # fmt: skip


HEAD = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
DATA = np.arange(4.0).tobytes()
_ROWS, _STARTS = (np.array(x, "<i4").tobytes() for x in ([0, 1], [0, 1, 2]))


def sparse(*, rows=_ROWS, starts=_STARTS, shape=(2, 2), data=DATA[:16]):
    return matrix(shape, element(5, rows), element(5, starts), element(9, data), kind=5)


def test_files_made_by_hand_are_read_in_both_orders_of_bytes(tmp_path):
    path = tmp_path / "g.mat"
    path.write_bytes(HEAD + matrix((2, 2), element(9, DATA)))
    assert read_matrices(path)["A"].tolist() == [[0, 2], [1, 3]]
    path.write_bytes(HEAD + sparse())
    assert read_matrices(path)["A"].toarray().tolist() == [[0, 0], [0, 1]]
    small = struct.pack("<HH4s", 2, 2, b"\1\2\0\0")  # two bytes beside their own size
    path.write_bytes(HEAD + matrix((1, 2), small))
    assert read_matrices(path)["A"].tolist() == [[1, 2]]
    words = struct.pack(">IIII", 6, 8, 6, 0) + struct.pack(">IIii", 5, 8, 1, 2)
    words += struct.pack(">IIcxxxxxxx", 1, 1, b"A") + struct.pack(">IIdd", 9, 16, 1.5, -2)
    path.write_bytes(HEAD[:124] + b"\x01\x00MI" + struct.pack(">II", 14, len(words)) + words)
    assert read_matrices(path)["A"].tolist() == [[1.5, -2]]


def deflated(body, *, cut=None):
    return element(15, zlib.compress(body, 9)[:cut])


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (matrix((2, 2), element(9, DATA))[:-8], "truncated"),
        (matrix((3, 2), element(9, DATA)), r"A has 4 entries for a shape of \(3, 2\)"),
        (matrix((-2, -2), element(9, DATA)), r"A has 4 entries for a shape of \(-2, -2\)"),
        (matrix((2**31 - 1, 2**31 - 1), element(9, DATA)), "A has 4 entries"),
        (matrix((4,) + (1,) * 99, element(9, DATA)), "not readable as .mat"),
        (matrix((2, 2), element(99, DATA)), "not readable as .mat"),
        (matrix((2, 2)), "not readable as .mat"),
        (matrix((2, 2), element(9, DATA, size=2**31)), "truncated"),
        (matrix((2, 2), element(9, DATA[:31])), "not readable as .mat"),
        (element(14, b""), "not readable as .mat"),
        (element(1, b"x"), "an element of type 1 where a variable should be"),
        (b"\0\0\0", "not readable as .mat"),
        (matrix((2, 2), element(9, DATA)) * 2, "two are called 'A'"),
        (b"".join(matrix((0, 0), element(9, b""), name=b"%d" % i) for i in range(1001)),
         "there are too many"),
        (sparse(rows=np.array([0, 2], "<i4").tobytes()), "A: not a valid sparse matrix"),
        (sparse(rows=np.array([0, -1], "<i4").tobytes()), "A: not a valid sparse matrix"),
        (sparse(starts=np.array([0, 2, 1], "<i4").tobytes()), "A: not a valid sparse matrix"),
        (sparse(starts=np.array([0, 1, 9], "<i4").tobytes()), "A: not a valid sparse matrix"),
        (sparse(starts=np.array([0, 1, -1], "<i4").tobytes()), "A: not a valid sparse matrix"),
        (sparse(starts=b""), "not readable as .mat"),
        (sparse(shape=(2**31 - 1, 2)), "A: has 2147483647 columns for 2 entries"),
        (sparse(shape=(2, 2**31 - 1)), "A: not a valid sparse matrix"),
        (sparse(shape=(2, 2, 2)), "not readable as .mat"),
        (sparse(data=DATA[:8]), "A: not a valid sparse matrix"),
        (deflated(matrix((2, 2), element(9, DATA)), cut=-9), "truncated"),
        (deflated(b""), "not readable as .mat"),
        (deflated(bytes(2**26)), "would expand from"),
        (deflated(matrix((2, 2**22), element(2, bytes(2**23)))), "would expand from"),
        (deflated(deflated(matrix((2, 2), element(9, DATA)))), "an element of type 15 where"),
        (element(15, b"not zlib"), "not readable as .mat"),
    ],
)  # fmt: skip
def test_what_is_broken_is_told_in_one_line(tmp_path, body, told):
    (tmp_path / "g.mat").write_bytes(HEAD + body)
    with pytest.raises(InputError, match=told) as caught:
        read_graph(tmp_path / "g.mat")
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def good_file(packed):
    file = io.BytesIO()
    content = {"A": sp.csc_array(A), "X": X, "y": [1, 2, 1], "title": "t"}
    scipy.io.savemat(file, content, do_compression=packed)
    return file.getvalue()


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data(), packed=st.booleans())
def test_cut_and_changed_files_are_read_or_refused(tmp_path, data, packed):
    content = bytearray(good_file(packed))
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.none() | st.integers(0, len(content)))
    (tmp_path / "g.mat").write_bytes(content[:cut])
    with contextlib.suppress(InputError):
        graph = read_graph(tmp_path / "g.mat", label="")
        assert graph.colours.nodes.shape == (graph.n_nodes,)
