"""LINQS Cora is Planetoid's Cora in another order, and comes back into Planetoid's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from graphgauge.datasets import linqs
from graphgauge.datasets.card import CARDS
from graphgauge.datasets.linqs import _CODES, read_linqs_parquet, read_linqs_text
from graphgauge.datasets.load import load
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.steps import prepare

WHOLE = ("undirected", "loops-removed")


def linqs_rows(cora: Graph, rng: np.random.Generator):
    """Say what LINQS would: papers in an order of its own, links between numbers."""
    order = rng.permutation(cora.n_nodes)
    names = np.array(cora.class_names)[cora.labels[order]]
    links = cora.ids[rng.permuted(cora.edges, axis=1)]
    return cora.ids[order], cora.features.toarray()[order].astype(int), names, links


def write_text(folder: Path, rows) -> None:
    numbers, words, names, links = rows
    lines = [
        "\t".join([str(number), *map(str, row), name])
        for number, row, name in zip(numbers, words.tolist(), names, strict=True)
    ]
    (folder / "cora.content").write_text("\n".join(lines) + "\n")
    np.savetxt(folder / "cora.cites", links, fmt="%d", delimiter="\t")


def write_parquet(folder: Path, rows) -> None:
    numbers, words, names, links = rows
    codes = [_CODES.index(name) for name in names]
    nodes = {"nodeId": numbers, "labels": ["Paper"] * len(numbers), "subject": codes}
    features = pa.array(list(words))
    table = pa.table({**nodes, "features": features})
    pq.write_table(table, folder / "cora_nodes.parquet.gzip", compression="gzip")
    ends = {"sourceNodeId": links[:, 0], "targetNodeId": links[:, 1]}
    pq.write_table(pa.table(ends), folder / "cora_rels.parquet.gzip", compression="gzip")


@pytest.fixture(scope="module")
def cora(data_dir):
    return load("cora")


@pytest.fixture(scope="module")
def rows(cora):
    return linqs_rows(cora, np.random.default_rng(5))


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("linqs")
    write_text(folder, rows)
    write_parquet(folder, rows)
    return folder


@pytest.mark.parametrize("read", [read_linqs_text, read_linqs_parquet])
def test_either_form_comes_back_into_planetoids_order(read, folder, cora):
    graph = prepare(read(folder, "cora"), *WHOLE)
    assert graph.fingerprint == cora.fingerprint == CARDS["cora"].fingerprint


def test_out_of_order_it_is_the_same_graph_and_another_file(rows, cora):
    numbers, words, names, links = rows
    place = {number: row for row, number in enumerate(numbers.tolist())}
    edges = [[place[u], place[v]] for u, v in links.tolist()]
    _, labels = np.unique(names, return_inverse=True)
    graph = Graph.from_edges(edges, len(numbers), features=sp.csr_array(words), labels=labels)
    assert graph.fingerprint != cora.fingerprint
    assert graph.unordered_fingerprint == cora.unordered_fingerprint


def test_papers_that_nothing_tells_apart_are_few(cora):
    _, copies = np.unique(cora.colours.nodes, return_counts=True)
    assert (copies[copies > 1].sum(), (copies > 1).sum()) == (25, 10)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lines: lines[1:], "does not list the papers of Cora"),
        (lambda lines: [*lines, lines[0]], "does not list the papers of Cora"),
        (lambda lines: [f"x{lines[0]}", *lines[1:]], "not readable as a table of papers"),
        (lambda lines: [lines[0][:100], *lines[1:]], "not readable as a table of papers"),
        (lambda lines: [lines[0].replace("\t1", "\t7"), *lines[1:]], "neither 0 nor 1"),
        (lambda lines: [lines[0].replace("\t1", "\t11"), *lines[1:]], "neither 0 nor 1"),
        (lambda lines: [lines[0] + "s", *lines[1:]], "names classes, or links papers"),
        (lambda lines: [], "not readable as a table of papers"),
    ],
)
def test_other_papers_are_refused(change, told, folder, tmp_path):
    lines = (folder / "cora.content").read_text().splitlines()
    (tmp_path / "cora.content").write_text("\n".join(change(lines)))
    (tmp_path / "cora.cites").write_bytes((folder / "cora.cites").read_bytes())
    with pytest.raises(InputError, match=told):
        read_linqs_text(tmp_path, "cora")


def test_links_between_other_papers_are_refused(folder, tmp_path):
    (tmp_path / "cora.content").write_bytes((folder / "cora.content").read_bytes())
    for text, told in (("1\t2\n", "links papers, that Cora has not"), ("a\tb\n", "not readable")):
        (tmp_path / "cora.cites").write_text(text)
        with pytest.raises(InputError, match=told):
            read_linqs_text(tmp_path, "cora")


def test_parquet_of_other_shape_is_refused(folder, tmp_path, monkeypatch):
    for name in ("cora_nodes.parquet.gzip", "cora_rels.parquet.gzip"):
        (tmp_path / name).write_bytes((folder / name).read_bytes()[:-1])
        with pytest.raises(InputError, match=rf"{name} is not readable as Parquet|cannot be read"):
            read_linqs_parquet(tmp_path, "cora")
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    monkeypatch.setattr(linqs, "_MOST_BYTES", 2**20)
    with pytest.raises(InputError, match="would expand too far"):
        read_linqs_parquet(tmp_path, "cora")
