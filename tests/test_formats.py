"""Files: npz, CSV and Parquet say the same; what cannot be read is told."""

from __future__ import annotations

import builtins

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphgauge.errors import InputError
from graphgauge.formats import read_edges, read_predictions
from graphgauge.graph import Graph
from graphgauge.predictions import LinkPredictions, NodePredictions

NODES = """prob_cat,prob_dog,label,part,total
0.2,0.8,dog,test,0.1
0.5,0.5,,train,0.3
0.9,0.1,cat,test,0.2
"""


def _same(a: NodePredictions, b: NodePredictions) -> None:
    np.testing.assert_array_equal(a.probs, b.probs)
    np.testing.assert_array_equal(a.uncertainties["total"], b.uncertainties["total"])
    assert a.fingerprint == b.fingerprint


def test_nodes_read_alike_from_every_format(tmp_path):
    made = NodePredictions(
        [[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]],
        [1, -1, 0],
        {"test": [0, 2], "train": [1]},
        uncertainties={"total": [0.1, 0.3, 0.2]},
    )
    made.save(tmp_path / "a.npz")
    (tmp_path / "a.csv").write_text(NODES)
    (tmp_path / "a.tsv").write_text("\ufeff" + NODES.replace(",", "\t"), encoding="utf-8")
    (tmp_path / "b.csv").write_text(NODES.replace(",", ";"))
    columns = {
        "prob_cat": [0.2, 0.5, 0.9],
        "prob_dog": [0.8, 0.5, 0.1],
        "label": ["dog", None, "cat"],
        "part": ["test", "train", "test"],
        "total": [0.1, 0.3, 0.2],
    }
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    for name in ("a.npz", "a.csv", "a.tsv", "b.csv", "a.parquet"):
        _same(read_predictions(tmp_path / name), made)


@pytest.mark.parametrize(
    ("label", "number"), [("1", 1), ("1.0", 1), ("-1", -1), ("nan", -1), (" 0 ", 0)]
)
def test_labels_are_the_names_behind_prob(tmp_path, label, number):
    (tmp_path / "a.csv").write_text(f"prob_0,prob_1,label\n0.2,0.8,{label}\n")
    assert read_predictions(tmp_path / "a.csv").labels.tolist() == [number]


def test_labels_may_themselves_look_like_fractions(tmp_path):
    (tmp_path / "a.csv").write_text("prob_1.0,prob_2.0,label\n0.2,0.8,2.0\n0.2,0.8,1.0\n0.2,0.8,\n")
    assert read_predictions(tmp_path / "a.csv").labels.tolist() == [1, 0, -1]


def test_a_list_of_pairs_is_one_part(tmp_path):
    pairs = "score,positive,part\n0.5,1,test\n0.1,0,test\n0.6,1,{}\n0.7,0,\n"
    (tmp_path / "a.csv").write_text(pairs.format("test"))
    assert read_predictions(tmp_path / "a.csv").parts["test"].tolist() == [0, 1]
    (tmp_path / "a.csv").write_text(pairs.format(""))
    assert read_predictions(tmp_path / "a.csv").parts["test"].tolist() == [0]
    (tmp_path / "a.csv").write_text(pairs.format("valid"))
    with pytest.raises(InputError, match=r"a.csv: part: names test, valid; .* a file of its own$"):
        read_predictions(tmp_path / "a.csv")


def test_links_read_alike_wide_and_long(tmp_path):
    (tmp_path / "wide.csv").write_text("pos,neg_0,neg_1\n0.5,0.1,0.2\n0.6,0.3,0.4\n")
    wide = read_predictions(tmp_path / "wide.csv")
    assert isinstance(wide, LinkPredictions)
    np.testing.assert_array_equal(wide.neg, [[0.1, 0.2], [0.3, 0.4]])
    (tmp_path / "long.csv").write_text(
        "source,target,score,positive\n0,1,0.5,1\n0,2,0.1,0\n1,2,0.6,1\n"
    )
    long = read_predictions(tmp_path / "long.csv")
    assert long.shared
    assert wide.pos_edges is None
    (tmp_path / "named.csv").write_text("source,target,pos,neg_0\n0,1,0.5,0.1\n1,2,0.6,0.3\n")
    assert read_predictions(tmp_path / "named.csv").pos_edges.tolist() == [[0, 1], [1, 2]]
    assert long.pos.tolist() == [0.5, 0.6]
    assert long.neg_edges.tolist() == [[0, 2]]
    wide.save(tmp_path / "wide.npz")
    assert read_predictions(tmp_path / "wide.npz").fingerprint == wide.fingerprint


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "expected one column prob_"),
        ("a,b\n1,2\n", "found: a, b"),
        ("prob_0,prob_1,label\n", "nothing to judge"),
        ("prob_0,prob_1,label\n0.2,x,1\n", r"column prob_1: 'x' is not a number \(row 0\)"),
        ("prob_0,prob_1,label\n0.2,0.8\n", "cannot be read"),
        ("prob_0,prob_1,label\n0.2,0.8,7\n", r"1 labels are no class .*\(row 0\)"),
        ("prob_0,prob_0,label\n0.2,0.8,1\n", "two columns have the same name"),
        ("score,positive\n0.5,2\n", "is not 0 or 1"),
        ("score,label\n0.5,1\n", "expected pos with neg_"),
        ("pos,part\n0.5,a\n", "expected pos with neg_"),
        ('prob_0,label\n"1.0,0\n', "a.csv"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(tmp_path, text, told):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=told) as caught:
        read_predictions(tmp_path / "a.csv")
    assert "\n" not in str(caught.value)


def test_binary_noise_is_told(tmp_path, rng):
    for name in ("a.csv", "a.parquet", "a.npz"):
        (tmp_path / name).write_bytes(rng.bytes(1000))
        with pytest.raises(InputError):
            read_predictions(tmp_path / name)
        with pytest.raises(InputError):
            read_edges(tmp_path / name, 5)
        with pytest.raises(InputError):
            read_predictions(tmp_path / f"missing-{name}")


def test_an_archive_without_predictions_lists_what_it_holds(tmp_path):
    np.savez(tmp_path / "a.npz", logits=np.ones(3))
    with pytest.raises(InputError, match="found: logits"):
        read_predictions(tmp_path / "a.npz")


def test_a_parquet_file_that_unfolds_out_of_proportion_is_refused(tmp_path):
    rows = 2**26
    zeros = pa.array(np.zeros(rows, np.int8))
    table = pa.table({"prob_0": zeros, "prob_1": zeros, "label": zeros})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    with pytest.raises(InputError, match="would expand"):
        read_predictions(tmp_path / "a.parquet")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match="pip install pyarrow"):
        read_predictions(tmp_path / "a.parquet")


def test_edges_read_alike_from_every_format(tmp_path):
    graph = Graph.from_edges([[0, 1], [1, 2]], 4)
    graph.save(tmp_path / "graph.npz")
    np.savez(tmp_path / "index.npz", edge_index=np.array([[0, 1], [1, 2]]))
    (tmp_path / "a.csv").write_text("source,target,weight\n0,1,0.5\n1,2,0.5\n")
    (tmp_path / "a.txt").write_text("# made by hand\n\n0 1\n1 2\n")
    (tmp_path / "a.tsv").write_text("0\t1\n1\t2\n")
    pq.write_table(pa.table({"u": [0, 1], "v": [1, 2]}), tmp_path / "a.parquet")
    for name in ("graph.npz", "index.npz", "a.csv", "a.txt", "a.tsv", "a.parquet"):
        assert read_edges(tmp_path / name, 4).edges.tolist() == [[0, 1], [1, 2]], name


def test_edges_that_do_not_fit_are_told(tmp_path):
    Graph.from_edges([[0, 1]], 2).save(tmp_path / "g.npz")
    with pytest.raises(InputError, match="has 2 nodes, expected 3"):
        read_edges(tmp_path / "g.npz", 3)
    np.savez(tmp_path / "x.npz", probs=np.ones(2))
    with pytest.raises(InputError, match="neither a graph nor edge_index"):
        read_edges(tmp_path / "x.npz", 3)
    (tmp_path / "a.csv").write_text("0,1\n0,7\n")
    with pytest.raises(InputError, match=r"outside nodes 0\.\.2"):
        read_edges(tmp_path / "a.csv", 3)
    (tmp_path / "b.csv").write_text("a,b\nc,d\n")
    with pytest.raises(InputError, match="not a list of edges"):
        read_edges(tmp_path / "b.csv", 3)
    (tmp_path / "c.csv").write_text("")
    assert len(read_edges(tmp_path / "c.csv", 3).edges) == 0
