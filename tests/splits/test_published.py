"""Published parts: read as they are, refused where they do not fit."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from graphgauge.archive import write_npz
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.splits import (
    fold_splits,
    link_split,
    planetoid_split,
    published_split,
    random_split,
)

SHIFTS = ["cora-ml", "citeseer", "pubmed", "amazon-computers", "coauthor-physics"]


@pytest.mark.parametrize("name", SHIFTS)
def test_all_parts_of_the_two_papers_on_shifts(data_dir, loaded, name):
    kinds = {
        "shifts": ("structural-shifts", ["random", "popularity", "locality", "density"]),
        "revisiting": ("revisiting", ["random", "feature", "pagerank", "ppr"]),
    }
    for source, (folder, shifts) in kinds.items():
        with np.load(data_dir / f"splits/{folder}/{name}.npz") as stored:
            for shift in shifts:
                split = published_split(name, source, shift)
                codes = stored[f"{shift}_part"]
                assert [*split.parts] == ["train", "valid_in", "test_in", "valid_out", "test_out"]
                for code, index in enumerate(split.parts.values()):
                    np.testing.assert_array_equal(index, np.flatnonzero(codes == code))
                told = {"by": "published", "source": source, "dataset": name, "which": shift}
                assert split.recipe.items() >= told.items()
                assert ("ceiling" in split.recipe) == (source == "shifts")


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("cora", {134: 15, 1957: 5}),
        ("citeseer", {166: 10, 165: 5, 2402: 5}),
        ("pubmed", {986: 5, 985: 10, 14245: 5}),
    ],
)
def test_folds_of_edgewise(data_dir, name, sizes):
    found: dict[int, int] = {}
    for number in range(5):
        folds = [published_split(name, "edgewise", f"split{number}_fold{f}") for f in range(3)]
        observed = np.sort(np.concatenate([split["valid"] for split in folds]))
        for split in folds:
            found[len(split["valid"])] = found.get(len(split["valid"]), 0) + 1
            both = np.sort(np.concatenate([split["train"], split["valid"]]))
            np.testing.assert_array_equal(both, observed)
            np.testing.assert_array_equal(split["test"], folds[0]["test"])
        found[len(folds[0]["test"])] = found.get(len(folds[0]["test"]), 0) + 1
    assert found == sizes


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
def test_the_rule_of_edgewise_gives_the_published_sizes(loaded, name):
    """Its files, class by class: what the generator draws is ours to choose, how many is not."""
    graph = loaded(name)
    for fold, split in enumerate(fold_splits(graph, protocol="published", seed=4)):
        theirs = published_split(name, "edgewise", f"split2_fold{fold}", graph=graph)
        for part in ("train", "valid", "test"):
            ours, other = (np.bincount(graph.labels[s[part]]) for s in (split, theirs))
            assert ours.tolist() == other.tolist()


def test_the_split_of_friendster(loaded):
    graph = loaded("friendster")
    split = published_split("friendster", "miscalibrated", graph=graph)
    assert [len(part) for part in split.parts.values()] == [15629, 3126, 6251]
    ours = random_split(graph, rounding="miscalibrated")
    assert [len(part) for part in ours.parts.values()] == [15629, 3126, 6251]
    assert all((graph.labels[part] >= 0).all() for part in split.parts.values())


@pytest.mark.parametrize(
    ("name", "n_train", "n_rest"),
    [("cora", 140, 1208), ("citeseer", 120, 1827), ("pubmed", 60, 18217)],
)
def test_the_public_split_of_planetoid(data_dir, loaded, name, n_train, n_rest):
    graph = loaded(name)
    split = published_split(name, "planetoid", graph=graph)
    listed = np.loadtxt(data_dir / f"planetoid/ind.{name}.test.index", dtype=int)
    assert set(split["test"].tolist()) == set(listed.tolist())
    assert split["train"].tolist() == list(range(n_train))
    assert split["valid"].tolist() == list(range(n_train, n_train + 500))
    rest = published_split(name, "planetoid", "rest")
    assert [len(part) for part in rest.parts.values()] == [n_rest, 500, 1000]


def test_other_orders_are_not_taken_for_planetoids(loaded, rng):
    graph = loaded("cora")
    order = rng.permutation(graph.n_nodes)
    moved = Graph(graph.adjacency, graph.features[order], graph.labels[order])
    with pytest.raises(InputError, match="not in Planetoid's order"):
        planetoid_split(moved)
    with pytest.raises(InputError, match="neither 'public' nor 'rest'"):
        planetoid_split(graph, train="all")
    with pytest.raises(InputError, match="which the graph lacks"):
        planetoid_split(Graph(graph.adjacency))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("cora-ml", "other", "x"), "unknown source 'other' .*shifts, revisiting"),
        (("cora-ml", "shifts", "ppr"), "no parts 'ppr' .there are random, popularity, local"),
        (("cora", "shifts", "density"), "cora: no published parts in .*amazon-computers, citeseer"),
        (("cora", "edgewise", "split9_fold0"), "no parts 'split9_fold0' .there are split0_fold0"),
        (("cora", "miscalibrated"), "cora: this source is about friendster alone"),
    ],
)
def test_what_is_not_published_is_told(data_dir, asked, told):
    with pytest.raises(InputError, match=told):
        published_split(*asked)


def test_the_number_of_nodes_is_checked(data_dir):
    small = Graph.from_edges([[0, 1]], 7)
    for source, which in (("shifts", "density"), ("revisiting", "ppr")):
        with pytest.raises(InputError, match="holds parts of 2995 nodes, the graph has 7"):
            published_split("cora-ml", source, which, graph=small)
    with pytest.raises(InputError, match=r"names items outside 0\.\.6"):
        published_split("cora", "edgewise", "split0_fold0", graph=small)


def test_without_a_folder_it_is_told(monkeypatch):
    monkeypatch.delenv("GRAPHGAUGE_DATA", raising=False)
    with pytest.raises(InputError, match="set GRAPHGAUGE_DATA"):
        published_split("cora-ml", "shifts", "density")


def _file(folder, place, **arrays):
    path = folder / "splits" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    write_npz(path, arrays)


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({"a_part": np.array([0, 1, 2, 3, 4, 7])}, r"a_part: 1 row is no part \(row 5\)"),
        ({"a_part": np.array([0.5] * 6)}, "are not whole numbers"),
        ({"a_part": np.array([0, 1, 2, 3, 3, 3])}, "part test_out is empty"),
        ({"a_part": np.zeros((6, 2), int)}, "has 2 axes"),
        (
            {"a_part": np.array([0, 1, 2, 3, 4, 4]), "a_sigma": np.zeros(3)},
            "3 values of a_sigma for 6 nodes",
        ),
        (
            {"a_part": np.array([0, 1, 2, 3, 4, 4]), "a_sigma": np.full(6, np.nan)},
            "a_sigma: 6 rows are not finite",
        ),
        ({"b": np.zeros(6)}, "no parts 'a'"),
    ],
)
def test_strange_files_are_refused(tmp_path, monkeypatch, arrays, told):
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path))
    _file(tmp_path, "structural-shifts/own.npz", **arrays)
    with pytest.raises(InputError, match=told):
        published_split("own", "shifts", "a")


def test_strange_folds_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path))
    _file(tmp_path, "structured-uncertainty/own.npz", split0_fold0=[0], split0_test=[1])
    with pytest.raises(InputError, match="lacks the other folds"):
        published_split("own", "edgewise", "split0_fold0")
    _file(
        tmp_path,
        "structured-uncertainty/own.npz",
        split0_fold0=[0],
        split0_fold1=[1],
        split0_test=[2],
    )
    with pytest.raises(InputError, match="its number of nodes is not known"):
        published_split("own", "edgewise", "split0_fold0")
    graph = Graph.from_edges([[0, 1]], 3)
    split = published_split("own", "edgewise", "split0_fold0", graph=graph)
    assert {k: v.tolist() for k, v in split.parts.items()} == {
        "train": [1],
        "valid": [0],
        "test": [2],
    }


@pytest.mark.parametrize(
    ("name", "sizes", "loops"),
    [("citeseer", (3870, 227, 455), 48), ("pubmed", (37676, 2216, 4432), 0)],
)
def test_the_link_splits_of_heart(data_dir, loaded, name, sizes, loops):
    graph = loaded(name)
    split = published_split(name, "heart", graph=graph)
    assert tuple(map(len, split.parts.values())) == sizes
    assert split.recipe["loops_left_out"] == {"train": loops, "valid": 0, "test": 0}
    assert split.recipe["n_nodes"] == graph.n_nodes
    lines = np.loadtxt(data_dir / f"heart/{name}/test_pos.txt", dtype=int)
    np.testing.assert_array_equal(split.pairs[split["test"]], lines)
    pairs = [*map(tuple, np.sort(split.pairs, axis=1).tolist())]
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) == set(map(tuple, graph.edges.tolist()))
    # As many edges in every part as our own rule gives.
    assert tuple(map(len, link_split(graph).parts.values())) == sizes


def test_the_links_that_are_left_out_are_loops_on_isolated_nodes(data_dir, loaded):
    graph = loaded("citeseer")
    lines = np.loadtxt(data_dir / "heart/citeseer/train_pos.txt", dtype=int)
    loops = lines[lines[:, 0] == lines[:, 1], 0]
    isolated = np.flatnonzero(np.bincount(graph.edges.ravel(), minlength=3327) == 0)
    assert sorted(loops.tolist()) == isolated.tolist()


def test_the_link_split_of_ogb(loaded):
    graph = loaded("ogbl-ddi")
    split = published_split("ogbl-ddi", "ogb", graph=graph)
    assert [len(part) for part in split.parts.values()] == [1067911, 133489, 133489]
    low, high = np.sort(split.pairs, axis=1).T.astype(np.int64)
    keys = np.unique(low * graph.n_nodes + high)
    edges = graph.edges.astype(np.int64)
    np.testing.assert_array_equal(keys, edges[:, 0] * graph.n_nodes + edges[:, 1])


def test_the_node_split_of_ogb(tmp_path, monkeypatch):
    """A folder as OGB's archive of ogbn-arxiv unpacks, with three nodes a part."""
    folder = tmp_path / "ogbn_arxiv"
    for number, part in enumerate(("train", "valid", "test")):
        path = folder / f"split/time/{part}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(f"{number}\n{number + 3}\n{number + 6}\n".encode()))
    for name in ("edge", "num-node-list", "num-edge-list", "node-feat", "node-label"):
        path = folder / f"raw/{name}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(b"1\n"))
    graph = Graph.from_edges([[0, 1]], 9)
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path))
    split = published_split("ogbn-arxiv", "ogb", graph=graph)
    assert {name: part.tolist() for name, part in split.parts.items()} == {
        "train": [0, 3, 6],
        "valid": [1, 4, 7],
        "test": [2, 5, 8],
    }


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("cora", "heart"), "cora: no published link split"),
        (("cora", "ogb"), "cora: this source is about ogb alone"),
        (("ogbl-ppb", "ogb"), "no data set 'ogbl-ppb'; did you mean ogbl-ppa"),
    ],
)
def test_links_that_are_not_there_are_told(data_dir, asked, told):
    with pytest.raises(InputError, match=told):
        published_split(*asked)


def test_pairs_of_other_graphs_are_refused(data_dir):
    with pytest.raises(InputError, match=r"published pairs: \d+ rows point outside nodes 0\.\.9"):
        published_split("citeseer", "heart", graph=Graph.from_edges([[0, 1]], 10))
