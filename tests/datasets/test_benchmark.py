"""Graphs in ``.npz`` files: gnn-benchmark's, with pickles beside the arrays, and Friendster's."""

from __future__ import annotations

import itertools
import os
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from graphgauge.datasets.benchmark import read_benchmark
from graphgauge.datasets.friendster import (
    read_friendster,
    read_friendster_parts,
    read_published_friendster,
    read_published_friendster_parts,
)
from graphgauge.errors import InputError


def _arrays(rng, n=9, d=4):
    links = sp.random_array((n, n), density=0.3, format="csr", rng=rng)
    words = sp.random_array((n, d), density=0.5, format="csr", rng=rng)
    pieces = {
        f"{what}_{name}": np.asarray(getattr(matrix, name))
        for what, matrix in (("adj", links), ("attr", words))
        for name in ("data", "indices", "indptr", "shape")
    }
    return links, words, {**pieces, "labels": rng.integers(0, 3, n)}


def test_a_graph_is_read_and_pickles_beside_it_are_not(tmp_path, rng):
    links, words, arrays = _arrays(rng)

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    beside = {"class_names": np.array([Bomb()], object), "node_names": np.array([None])}
    np.savez(tmp_path / "toy.npz", **arrays, **beside)
    graph = read_benchmark(tmp_path, "toy")
    np.testing.assert_array_equal(graph.adjacency.toarray(), links.toarray())
    np.testing.assert_array_equal(graph.features.toarray(), words.toarray())
    np.testing.assert_array_equal(graph.labels, arrays["labels"])
    assert not (tmp_path / "exploded").exists()


def test_published_graphs_are_read_as_torch_geometric_reads_them(data_dir):
    ours = read_benchmark(data_dir / "npz", "cora_ml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch_geometric.io import read_npz

        theirs = read_npz(str(data_dir / "npz" / "cora_ml.npz"))
    np.testing.assert_array_equal(ours.features.toarray() > 0, theirs.x.numpy() > 0)
    np.testing.assert_array_equal(ours.labels, theirs.y.numpy())
    pairs = np.unique(np.sort(theirs.edge_index.numpy().T, axis=1), axis=0)
    np.testing.assert_array_equal(ours.edges, pairs)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"labels": None}, "it lacks labels"),
        ({"adj_indptr": None, "attr_data": None}, "it lacks adj_indptr, attr_data"),
        ({"labels": np.array([{}] * 9)}, "labels holds Python objects"),
        ({"adj_indices": np.array([99])}, "adj: not a valid sparse matrix"),
        ({"adj_shape": np.array([9, 9, 9])}, "adj_shape is not two numbers"),
        ({"adj_shape": np.array([9, 2**40])}, "columns for"),
        ({"adj_shape": np.array([-9, 9])}, "not a valid sparse matrix"),
        ({"attr_shape": np.array([8, 4])}, "not a valid sparse matrix"),
        ({"labels": np.zeros(8, int)}, "the graph has 9 nodes, labels has 8 rows"),
    ],
)
def test_what_does_not_fit_is_refused(change, told, tmp_path, rng):
    arrays = {**_arrays(rng)[2], **change}
    kept = {name: array for name, array in arrays.items() if array is not None}
    np.savez(tmp_path / "toy.npz", **kept)
    with pytest.raises(InputError, match=told):
        read_benchmark(tmp_path, "toy")


def _friendster(rng):
    links, words, arrays = _arrays(rng)
    labels = np.array([0, 1, 2, 2, 1, 0, 2, 1, 0])
    names = np.array(["Married", "Single", "NA"])
    kept = {k: v for k, v in arrays.items() if k not in ("adj_data", "adj_shape", "labels")}
    parts = {"train": np.array([0, 1]), "valid": np.array([4]), "test": np.array([5, 7, 8])}
    return links, words, {**kept, "labels": labels, "label_names": names, **parts}


def test_who_did_not_say_has_no_label(tmp_path, rng):
    links, _, arrays = _friendster(rng)
    np.savez(tmp_path / "toy.npz", **arrays)
    graph = read_friendster(tmp_path, "toy")
    assert graph.labels.tolist() == [0, 1, -1, -1, 1, 0, -1, 1, 0]
    assert graph.class_names == ("Married", "Single")
    np.testing.assert_array_equal(graph.adjacency.toarray() > 0, links.toarray() > 0)
    parts = read_friendster_parts(tmp_path, "toy")
    assert {k: v.tolist() for k, v in parts.items()} == {
        "train": [0, 1],
        "valid": [4],
        "test": [5, 7, 8],
    }
    np.savez(tmp_path / "bad.npz", **{**arrays, "label_names": arrays["label_names"][:2]})
    with pytest.raises(InputError, match="last class is not NA"):
        read_friendster(tmp_path, "bad")


def test_the_published_form_is_read_alike(tmp_path, rng):
    h5py = pytest.importorskip("h5py")
    _, words, arrays = _friendster(rng)
    words = sp.csr_array(words.multiply(10).astype(int))
    starts, targets = arrays["adj_indptr"], arrays["adj_indices"]
    rows = [targets[a:b].astype(np.int64) for a, b in itertools.pairwise(starts)]
    with h5py.File(tmp_path / "toy.h5", "w") as file:
        lists = file.create_dataset("adjacency", (9,), dtype=h5py.vlen_dtype(np.int64))
        for i, row in enumerate(rows):
            lists[i] = row
        file["features"] = words.toarray()
        file["target"] = arrays["labels"]
        file["target_names"] = [name.encode() for name in arrays["label_names"]]
    numbers = {f"attr_{p}": np.asarray(getattr(words, p)) for p in ("data", "indices", "indptr")}
    np.savez(tmp_path / "toy.npz", **{**arrays, **numbers})
    graph = read_published_friendster(tmp_path, "toy")
    assert graph.fingerprint == read_friendster(tmp_path, "toy").fingerprint
    assert graph.class_names == ("Married", "Single")
    (tmp_path / "bad.h5").write_bytes((tmp_path / "toy.h5").read_bytes()[:900])
    with pytest.raises(InputError, match=r"bad\.h5"):
        read_published_friendster(tmp_path, "bad")


def test_without_h5py_its_absence_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(InputError, match=r"toy\.h5: reading HDF5 needs h5py"):
        read_published_friendster(tmp_path, "toy")


def test_published_parts_are_read_from_a_pickled_array(tmp_path, rng):
    held = np.empty(3, object)
    held[:] = [np.array([3, 1]), np.array([0]), np.array([2, 4, 5])]
    np.savez(tmp_path / "toy.split.npz", held)
    parts = read_published_friendster_parts(tmp_path, "toy")
    assert {k: v.tolist() for k, v in parts.items()} == {
        "train": [3, 1],
        "valid": [0],
        "test": [2, 4, 5],
    }

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    held[0] = Bomb()
    for what in (held, held[1:], np.arange(3)):
        np.savez(tmp_path / "toy.split.npz", what)
        with pytest.raises(InputError, match="not readable"):
            read_published_friendster_parts(tmp_path, "toy")
    assert not (tmp_path / "exploded").exists()
