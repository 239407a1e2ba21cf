"""OGB's folders: read as OGB's own package reads them, and not trusted."""

from __future__ import annotations

import gzip
import warnings

import numpy as np
import pytest
import torch
from dataset_files import zipped_table

from graphgauge.datasets.card import CARDS
from graphgauge.datasets.load import published_parts
from graphgauge.datasets.ogb import ogb_files, read_ogb, read_ogb_parts
from graphgauge.errors import InputError


def _write_graph(folder, edges, n_nodes, features=None, labels=None):
    zipped_table(folder / "raw/edge.csv.gz", edges)
    zipped_table(folder / "raw/num-node-list.csv.gz", [n_nodes])
    zipped_table(folder / "raw/num-edge-list.csv.gz", [len(edges)])
    if features is not None:
        zipped_table(folder / "raw/node-feat.csv.gz", features)
    if labels is not None:
        zipped_table(folder / "raw/node-label.csv.gz", labels)


@pytest.fixture
def arxiv(tmp_path, rng):
    """A folder as that of ogbn-arxiv, and what is in it."""
    edges = rng.integers(0, 30, (50, 2))
    features = rng.normal(size=(30, 4)).astype(np.float32)
    labels = rng.integers(0, 5, 30)
    _write_graph(tmp_path, edges, 30, features, labels)
    order = rng.permutation(30)
    parts = {"train": order[:15], "valid": order[15:20], "test": order[20:]}
    for part, nodes in parts.items():
        zipped_table(tmp_path / f"split/time/{part}.csv.gz", nodes)
    return tmp_path, edges, features, labels, parts


def _ogb_reads(folder, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ogb.io.read_graph_raw import read_csv_graph_raw

        (graph,) = read_csv_graph_raw(str(folder / "raw"), **options)
    return graph


def test_a_node_data_set_is_read_as_ogb_reads_it(arxiv):
    folder, edges, features, labels, parts = arxiv
    graph = read_ogb(folder, "ogbn_arxiv")
    theirs = _ogb_reads(folder)
    counts = np.zeros((30, 30))
    np.add.at(counts, tuple(theirs["edge_index"]), 1)
    np.testing.assert_array_equal(graph.adjacency.toarray(), counts)
    np.testing.assert_array_equal(graph.features, theirs["node_feat"])
    np.testing.assert_array_equal(graph.features, features)
    np.testing.assert_array_equal(graph.labels, labels)
    assert len(edges) == counts.sum()
    found = read_ogb_parts(folder, "ogbn_arxiv")
    assert {k: v.tolist() for k, v in found.items()} == {k: v.tolist() for k, v in parts.items()}


def test_every_file_that_is_named_is_there_and_needed(arxiv):
    folder = arxiv[0]
    for name in ogb_files("ogbn_arxiv"):
        content = (folder / name).read_bytes()
        (folder / name).unlink()
        read = read_ogb_parts if name.startswith("split") else read_ogb
        with pytest.raises(InputError, match="cannot be read"):
            read(folder, "ogbn_arxiv")
        (folder / name).write_bytes(content)


def test_the_real_one_is_read_as_ogb_reads_it(data_dir):
    folder = data_dir / "ogb" / "ogbl_ddi"
    theirs = _ogb_reads(folder)
    parts = read_ogb_parts(folder, "ogbl_ddi")
    np.testing.assert_array_equal(parts["train"], theirs["edge_index"].T)
    for part in ("valid", "test"):
        held = torch.load(folder / f"split/target/{part}.pt", weights_only=False)
        np.testing.assert_array_equal(parts[part], held["edge"])
        np.testing.assert_array_equal(parts[f"{part}_neg"], held["edge_neg"])
    assert published_parts("ogbl-ddi").keys() == parts.keys()
    assert len(np.concatenate([parts[k] for k in ("train", "valid", "test")])) == 1334889


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("tensors", [True, False])
def test_link_splits_of_both_kinds_are_read(zipped, tensors, tmp_path, rng):
    made = torch.from_numpy if tensors else np.asarray

    def save(name, **arrays):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        held = {key: made(value) for key, value in arrays.items()}
        torch.save(held, path, _use_new_zipfile_serialization=zipped)

    train, valid, test = rng.integers(0, 20, (9, 2)), rng.integers(0, 20, (3, 2)), np.eye(2, 2, 1)
    test = test.astype(int)
    features = rng.normal(size=(20, 3))
    _write_graph(tmp_path, train, 20, features)
    negatives = rng.integers(0, 20, (5, 2))
    save("split/throughput/valid.pt", edge=valid, edge_neg=negatives)
    save("split/throughput/test.pt", edge=test, edge_neg=negatives)
    parts = read_ogb_parts(tmp_path, "ogbl_ppa")
    for name, pairs in {"train": train, "valid": valid, "test": test}.items():
        np.testing.assert_array_equal(parts[name], pairs)
    np.testing.assert_array_equal(parts["test_neg"], negatives)
    graph = read_ogb(tmp_path, "ogbl_ppa")
    counts = np.zeros((20, 20))
    np.add.at(counts, tuple(np.concatenate([train, valid, test]).T), 1)
    np.testing.assert_array_equal(graph.adjacency.toarray(), counts)

    ranked = rng.integers(0, 20, (3, 7))
    for part in ("valid", "test"):
        ends = {"source_node": valid[:, 0], "target_node": valid[:, 1]}
        save(f"split/time/{part}.pt", **ends, target_node_neg=ranked)
    parts = read_ogb_parts(tmp_path, "ogbl_citation2")
    np.testing.assert_array_equal(parts["valid"], valid)
    np.testing.assert_array_equal(parts["valid_neg"], ranked)
    save("split/time/test.pt", something=valid)
    with pytest.raises(InputError, match="holds neither edges nor sources and targets"):
        read_ogb_parts(tmp_path, "ogbl_citation2")


@pytest.mark.parametrize(
    ("name", "rows", "told"),
    [
        ("raw/edge.csv.gz", [[0, 1]], "is truncated: it lists 1 edges of 50"),
        ("raw/edge.csv.gz", [[0, 99]] * 50, "50 rows point outside nodes 0..29"),
        ("raw/edge.csv.gz", [[0, -1]] * 50, "50 rows point outside nodes 0..29"),
        ("raw/edge.csv.gz", [[0, 1, 2]] * 50, "has 3 columns, expected pairs"),
        ("raw/edge.csv.gz", [["a", "b"]] * 50, "not readable as a compressed table"),
        ("raw/num-node-list.csv.gz", [2**30], "nodes are too many for 50 edges"),
        ("raw/num-node-list.csv.gz", [-3], "does not hold one number"),
        ("raw/num-node-list.csv.gz", [3, 4], "does not hold one number"),
        ("raw/node-feat.csv.gz", [[1.0]] * 29, "the graph has 30 nodes, features has 29 rows"),
        ("raw/node-label.csv.gz", [[1, 2]] * 30, "has 2 columns, expected one of classes"),
        ("raw/node-label.csv.gz", [[1.5]] * 30, "not whole numbers"),
    ],
)
def test_what_does_not_fit_is_refused(name, rows, told, arxiv):
    folder = arxiv[0]
    zipped_table(folder / name, rows)
    with pytest.raises(InputError, match=told):
        read_ogb(folder, "ogbn_arxiv")


def test_unknown_labels_are_unknown(arxiv):
    folder = arxiv[0]
    zipped_table(folder / "raw/node-label.csv.gz", ["nan", *range(29)])
    assert read_ogb(folder, "ogbn_arxiv").labels[:3].tolist() == [-1, 0, 1]


def test_truncated_and_swollen_files_are_refused(arxiv):
    folder = arxiv[0]
    path = folder / "raw/edge.csv.gz"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="not readable as a compressed table"):
        read_ogb(folder, "ogbn_arxiv")
    path.write_bytes(gzip.compress(b"0,0\n" * 2**22))
    with pytest.raises(InputError, match="possible zip bomb"):
        read_ogb(folder, "ogbn_arxiv")
    path.write_bytes(b"0,1\n")
    with pytest.raises(InputError, match=r"edge\.csv\.gz"):
        read_ogb(folder, "ogbn_arxiv")


def test_every_card_of_ogb_has_a_layout():
    keys = [s.key for c in CARDS.values() for s in c.sources if s.family == "ogb"]
    assert len(keys) == 7
    for key in keys:
        assert "raw/edge.csv.gz" in ogb_files(key)
