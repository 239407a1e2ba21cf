"""Planetoid's files: what they say is what is read, whatever they say."""

from __future__ import annotations

import contextlib
import os
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from dataset_files import planetoid, python2

from graphgauge.datasets.planetoid import planetoid_files, read_planetoid
from graphgauge.errors import InputError


@pytest.fixture
def folder(tmp_path, rng):
    planetoid(tmp_path, "toy", rng)
    return tmp_path


def test_a_small_graph_is_read_by_the_book(tmp_path, rng):
    told = planetoid(tmp_path, "toy", rng)
    graph = read_planetoid(tmp_path, "toy")
    assert graph.n_nodes == 12
    words, classes, counts = np.zeros((12, 5)), np.zeros(12, int), np.zeros((12, 12))
    for row in range(11):
        node = row if row < 7 else told["test"][row - 7]
        words[node], classes[node] = told["words"][row], told["classes"][row]
    for u, to in told["links"].items():
        for v in to:
            counts[u, v] += 1
    np.testing.assert_array_equal(graph.features.toarray(), words)
    np.testing.assert_array_equal(graph.labels, classes)
    np.testing.assert_array_equal(graph.adjacency.toarray(), counts)


@pytest.mark.parametrize("key", ["cora", "citeseer", "pubmed"])
def test_published_files_are_read_as_torch_geometric_reads_them(key, data_dir):
    ours = read_planetoid(data_dir / "planetoid", key)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch of its own future, pickles of SciPy's past
        from torch_geometric.io import read_planetoid_data
        from torch_geometric.utils import contains_self_loops

        theirs = read_planetoid_data(str(data_dir / "planetoid"), key)
    np.testing.assert_array_equal(ours.features.toarray(), theirs.x.numpy())
    np.testing.assert_array_equal(ours.labels, theirs.y.numpy())
    assert not contains_self_loops(theirs.edge_index)  # which it removes
    pairs = np.unique(np.sort(theirs.edge_index.numpy().T, axis=1), axis=0)
    np.testing.assert_array_equal(ours.edges, pairs)


def test_every_file_is_needed_and_every_cut_is_noticed(folder):
    for name in planetoid_files("toy"):
        whole = (folder / name).read_bytes()
        (folder / name).unlink()
        with pytest.raises(InputError, match=f"{name}: cannot be read"):
            read_planetoid(folder, "toy")
        for end in range(0, len(whole) - 1, 7):
            (folder / name).write_bytes(whole[:end])
            with contextlib.suppress(InputError):  # a list of nodes may be cut between lines
                read_planetoid(folder, "toy")
                assert name.endswith("test.index"), end
        (folder / name).write_bytes(whole)
    assert read_planetoid(folder, "toy").n_nodes == 12


@pytest.mark.parametrize("name", ["allx", "tx", "ally", "ty", "graph"])
def test_hostile_pickles_are_refused_and_not_run(name, folder, tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    for protocol in range(5):
        (folder / f"ind.toy.{name}").write_bytes(pickle.dumps(Bomb(), protocol=protocol))
        with pytest.raises(InputError, match=f"ind.toy.{name} is not readable") as caught:
            read_planetoid(folder, "toy")
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "exploded").exists()


def _broken_matrix(**changes):
    matrix = sp.csr_matrix(np.eye(7, 5, dtype=np.float32))
    for name, value in changes.items():
        setattr(matrix, name, value)
    return matrix


@pytest.mark.parametrize(
    ("piece", "value", "told"),
    [
        ("allx", _broken_matrix(indices=np.full(5, 99, np.int32)), "not a valid sparse matrix"),
        ("allx", _broken_matrix(indptr=np.arange(3, dtype=np.int32)), "not a valid sparse matrix"),
        ("allx", _broken_matrix(_shape=(7, 2**40)), "columns for 5 entries"),
        ("allx", _broken_matrix(_shape=(7, -1)), "columns for 5 entries"),
        ("allx", np.eye(7, 5), "holds no sparse matrix"),
        ("tx", sp.csr_matrix(np.eye(4, 6)), "has 6 columns, allx 5"),
        ("ally", np.eye(6, 3), "labels 6 nodes of 7"),
        ("ally", np.arange(7), "no table of classes"),
        ("ally", np.empty((7, 0)), "no table of classes"),
        ("graph", {0: [1, 99]}, "1 row points outside nodes 0..11"),
        ("graph", {0: [1, -1]}, "1 row points outside nodes 0..11"),
        ("graph", {0: [1, "a"]}, "not an array of numbers|holds <U"),
        ("graph", {0: 1}, "no lists of neighbours"),
        ("graph", {0: [2**80]}, "holds object values"),
        ("graph", {(0, 1): [1]}, "nodes: "),
        ("graph", [[1]], "no lists of neighbours"),
    ],
)
def test_what_does_not_fit_is_refused(piece, value, told, folder):
    (folder / f"ind.toy.{piece}").write_bytes(python2(value))
    with pytest.raises(InputError, match=told):
        read_planetoid(folder, "toy")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("10\n8\n11\n", "does not name 4 different nodes"),
        ("10\n8\n8\n7\n", "does not name 4 different nodes"),
        ("10\n8\n11\n7\n9\n", "does not name 4 different nodes"),
        ("10\n8\n11\n6\n", "names nodes outside 7..262"),
        ("10\n8\n11\n2000000000\n", "names nodes outside 7..262"),
        ("ten\n8\n11\n7\n", "not readable as a list of nodes"),
        ("", "does not name 4 different nodes"),
    ],
)
def test_a_wrong_list_of_test_nodes_is_refused(text, told, folder):
    (folder / "ind.toy.test.index").write_text(text)
    with pytest.raises(InputError, match=told):
        read_planetoid(folder, "toy")
