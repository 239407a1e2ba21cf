"""Lists of edges and tables of nodes: what they mean, what is refused, how fast, how large."""

from __future__ import annotations

import csv
import subprocess
import sys
import time

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from drawn import WORDS, classes_of, edges_of, names_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.exchange import Choices, import_files, read_graph

NODES = "id,age,label,income\ntom,1,cat,2\nrex,3,dog,4.5\nann,5,,6\njoe,7,cat,8\n"


def written(folder, name, text, encoding="utf-8"):
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


@pytest.fixture
def nodes(tmp_path):
    return written(tmp_path, "nodes.csv", NODES)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "source,target\ntom,rex\nrex,ann\n"),
        ("a.csv", "year;SRC;DST\n1;tom;rex\n2;rex;ann\n"),
        ("a.csv", '\ufeffsource,target\r\n"tom","rex"\r\n\r\nrex , ann\r\n'),
        ("a.tsv", "source\ttarget\tweight\ntom\trex\t2\nrex\tann\t3\n"),
        ("a.txt", "# made by hand\n% twice\n\ntom   rex {}\nrex ann {'w': 3}\n"),
        ("a.edges", "tom,rex\nrex,ann"),
        ("a.edgelist", "tom rex\nrex ann\nrex ann\nann rex\n"),
    ],
)
def test_edges_are_read_alike_however_they_are_written(tmp_path, name, text):
    graph = read_graph(written(tmp_path, name, text))
    assert graph.ids.tolist() == ["ann", "rex", "tom"]
    assert graph.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.name == "a"


def test_parquet_is_read_like_text(tmp_path, nodes):
    pq.write_table(pa.table({"u": ["tom", "rex"], "v": ["rex", "ann"]}), tmp_path / "a.parquet")
    pd.read_csv(nodes).to_parquet(tmp_path / "nodes.parquet")
    found = read_graph(tmp_path / "a.parquet", nodes=tmp_path / "nodes.parquet")
    expected = read_graph(written(tmp_path, "a.txt", "tom rex\nrex ann\n"), nodes=nodes)
    assert found.fingerprint == expected.fingerprint
    assert found.ids.tolist() == expected.ids.tolist()
    pq.write_table(pa.table({"a": [7, 5], "b": [5, 9]}), tmp_path / "n.parquet")
    assert read_graph(tmp_path / "n.parquet").ids.tolist() == [5, 7, 9]


def test_a_table_of_nodes_gives_order_features_and_classes(tmp_path, nodes):
    edges = written(tmp_path, "a.csv", "source,target\ntom,rex\nrex,tom\nann,ann\n")
    found = import_files([edges], Choices(nodes=nodes))
    graph = found.graph
    assert graph.ids.tolist() == ["tom", "rex", "ann", "joe"]
    assert graph.features.tolist() == [[1, 2], [3, 4.5], [5, 6], [7, 8]]
    assert graph.labels.tolist() == [0, 1, -1, 0]
    assert graph.class_names == ("cat", "dog")
    assert found.columns == ("age", "income")
    assert (found.n_loops, found.n_isolated, found.n_merged) == (1, 2, 1)
    assert not found.directed


@pytest.mark.parametrize(
    ("choices", "columns", "classes"),
    [
        ({"features": "income,age"}, ("income", "age"), ("cat", "dog")),
        ({"features": ["a*"]}, ("age",), ("cat", "dog")),
        ({"features": ""}, (), ("cat", "dog")),
        ({"label": "", "features": "i*,age"}, ("income", "age"), ()),
        ({"label": "age", "features": "income"}, ("income",), ("1", "3", "5", "7")),
        ({"ids": "age", "features": "income"}, ("income",), ("cat", "dog")),
    ],
)
def test_columns_are_chosen(tmp_path, nodes, choices, columns, classes):
    edges = written(tmp_path, "a.csv", "source,target\n")
    found = import_files([edges], Choices(nodes=nodes, **choices))
    assert found.columns == columns
    assert found.graph.class_names == classes


def test_directed_edges_keep_their_direction(tmp_path):
    path = written(tmp_path, "a.txt", "a b\nb a\nb c\nb c\nc c\n")
    found = import_files([path], Choices(directed=True))
    assert edges_of(found.graph) == {("a", "b"): 1, ("b", "a"): 1, ("b", "c"): 1, ("c", "c"): 1}
    assert (found.n_merged, found.n_loops, found.directed) == (1, 1, True)
    found = import_files([path], Choices())
    assert len(edges_of(found.graph)) == 5
    assert (found.n_merged, found.n_loops, found.directed) == (2, 1, False)


def test_weights_of_repetitions_add_up_and_directions_do_not(tmp_path):
    text = "source,target,w\na,b,2\na,b,3\nb,a,4\nb,c,-1\nc,c,5\n"
    path = written(tmp_path, "a.csv", text)
    assert edges_of(read_graph(path, weight="w", directed=True)) == {
        ("a", "b"): 5, ("b", "a"): 4, ("b", "c"): -1, ("c", "c"): 5,
    }  # fmt: skip
    assert edges_of(read_graph(path, weight="w")) == {
        ("a", "b"): 5, ("b", "a"): 5, ("b", "c"): -1, ("c", "b"): -1, ("c", "c"): 5,
    }  # fmt: skip


def test_several_files_of_edges_are_one_graph(tmp_path):
    first = written(tmp_path, "a.csv", "source,target\na,b\n")
    second = written(tmp_path, "b.txt", "b c\na b\n")
    found = import_files([first, second], Choices())
    assert len(found.graph.edges) == 2
    assert found.n_merged == 1
    with pytest.raises(InputError, match="all must be lists of edges"):
        import_files([first, written(tmp_path, "g.graphml", "<graphml/>")], Choices())


def test_numbers_stay_numbers_and_their_order(tmp_path):
    assert read_graph(written(tmp_path, "a.txt", "10 9\n9 100\n")).ids.tolist() == [9, 10, 100]
    assert read_graph(written(tmp_path, "a.txt", "1 0\n2 1\n")).ids is None
    assert read_graph(written(tmp_path, "a.txt", "01 1\n")).ids.tolist() == ["01", "1"]
    large = "123456789012345678901234567890"
    assert read_graph(written(tmp_path, "a.txt", f"{large} 1\n")).ids.tolist() == ["1", large]


@pytest.mark.parametrize("text", ["", "# nothing\n", "source,target\n"])
def test_no_edges_at_all(tmp_path, nodes, text):
    path = written(tmp_path, "a.csv", text)
    assert read_graph(path).n_nodes == 0
    graph = read_graph(path, nodes=nodes)
    assert (graph.n_nodes, graph.adjacency.nnz) == (4, 0)
    empty = written(tmp_path, "none.csv", "id,age\n")
    assert read_graph(path, nodes=empty).features.shape == (0, 1)
    one = written(tmp_path, "one.csv", "id,age,label\nx,1,y\n")
    assert read_graph(path, nodes=one).labels.tolist() == [0]


@pytest.mark.parametrize(
    ("edges", "table", "choices", "told"),
    [
        ("s,target\na,b\n", None, {}, "say which columns are ends|say --edges SOURCE,TARGET"),
        ("source,target,u,v\na,b,c,d\n", None, {}, "say --edges source,target or u,v"),
        ("a,b,w\nx,y,1\n", None, {"edges": "a"}, "expected two columns, got a"),
        ("a,b,w\nx,y,1\n", None, {"edges": "a,c"}, "no 'c'; there are a, b, w"),
        ("source,target,source\na,b,c\n", None, {}, "two columns have the same name"),
        ("source,target,w\na,b,1\na,c,x\n", None, {"weight": "w"}, r"'x' is not a number \(row 1"),
        ("source,target,w\na,b,0\n", None, {"weight": "w"}, r"weight: 1 row is zero \(row 0"),
        ("source,target,w\na,b,nan\n", None, {"weight": "w"}, "weight: 1 row is not finite"),
        ("source,target\na,\n,b\n", None, {}, r"ids: 2 rows have none \(rows 0, 1\)"),
        ("source,target\na,b\nc\n", None, {}, r"row 1 cannot be read \(it has no column target\)"),
        ("source,target\na,b\n", None, {"label": "x"}, "--label means nothing for edges alone"),
        ("source\na\n", None, {}, "its first line has one column"),
        ("source,target\ntom,bob\ntom,rex\neve,bob\n", NODES, {},
         r"2 rows name nodes that the table of nodes lacks, 'bob' first \(rows 0, 2\)"),
        ("", NODES + "tom,9,dog,9\n", {}, r"ids: 1 stands there before, 'tom' first \(row 4\)"),
        ("", NODES + ",9,dog,9\n", {}, r"ids: 1 row has none \(row 4\)"),
        ("", NODES + "eve,old,dog,9\n", {},
         r"column age: 'old' is not a number \(row 4\); say which are features"),
        ("", NODES + "eve,,dog,9\n", {}, r"column age: '' is not a number \(row 4\)"),
        ("", NODES + "eve,nan,dog,9\n", {}, r"features: 1 row is not finite \(row 4\)"),
        ("", NODES.replace("income", "y"), {}, "say --label NAME, one of label, y"),
        ("", NODES.replace("income", "node"), {}, "say --ids NAME, one of id, node"),
        ("", NODES.replace("id,", "who,"), {}, "no column is called id: say --ids NAME"),
        ("", NODES, {"label": "age,label"}, "--label names several: age, label"),
        ("", NODES, {"features": "height"}, "no 'height'; there are age, label, income"),
        ("", "id,label\na,x\nb,y\nc,z\n", {}, "column label says something else of every node"),
        ("", "id,label\na,1\nb,-1\n", {}, "labels are -1 and 1"),
        ("", "id,label\na,1\nb," + "x" * 300, {}, "a name of 200 characters or more"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_one_line(tmp_path, edges, table, choices, told):
    path = written(tmp_path, "edges.csv", edges)
    if table is not None:
        choices = {**choices, "nodes": written(tmp_path, "nodes.csv", table)}
    with pytest.raises(InputError, match=told) as caught:
        read_graph(path, **choices)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_all_different_labels_are_classes_if_somebody_says_so(tmp_path):
    table = written(tmp_path, "n.csv", "id,label\na,x\nb,y\nc,z\n")
    edges = written(tmp_path, "e.csv", "source,target\na,b\n")
    assert read_graph(edges, nodes=table, label="label").class_names == ("x", "y", "z")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"source,target\n\xff\xfe,b\n", "cannot be read"),
        (b"source,target\na,\xe4\n", "cannot be read"),
        (b"source,target\n" + b"a" * 300 + b",b\n", r"has one of 200 characters or more \(row 0\)"),
        (b"source,target\n" + b'"' + b"a" * 200_000 + b'",b\n', "cannot be read"),
        (b"source,target\n" + b"a,b\n" * 300_000 + b"x" * 190 + b",y\n", None),
        (b"source,target\na,b\x00c\n", None),
        (b"a" * 3_000_000, "cannot be read"),
        (b"\x80\x04\x95", "looks like a pickle"),
        (b"\x1f\x8b\x08", "compressed by gzip"),
        (b"PK\x03\x04", "is called .csv but looks like npz"),
        (b"<?xml version='1.0'?>", "is called .csv but looks like GraphML"),
    ],
)
def test_hostile_text_is_answered(tmp_path, text, told):
    (tmp_path / "a.csv").write_bytes(text)
    if told is None:
        assert read_graph(tmp_path / "a.csv").n_nodes in (2, 4)
        return
    with pytest.raises(InputError, match=told):
        read_graph(tmp_path / "a.csv")


def test_one_long_id_among_many_costs_no_memory(tmp_path):
    rows = "".join(f"{i},{i + 1}\n" for i in range(200_000))
    path = written(tmp_path, "a.csv", f"source,target\nx{'y' * 190},0\n{rows}")
    with pytest.raises(InputError, match="ids: one has 191 characters, most are much shorter"):
        read_graph(path)


_PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=20)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=_PAIRS, directed=st.booleans())
def test_edges_of_any_names_agree_with_networkx(tmp_path, pairs, directed):
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("source", "target"), *pairs])
    graph = read_graph(tmp_path / "a.csv", directed=directed)
    expected = (nx.DiGraph if directed else nx.Graph)(pairs)
    assert set(map(str, names_of(graph))) == set(expected.nodes)
    found = {(str(u), str(v)) for u, v in edges_of(graph)}
    both = set(expected.edges) | (set() if directed else {(v, u) for u, v in expected.edges})
    assert found == both


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_tables_of_nodes_agree_with_pandas(tmp_path, data):
    n = data.draw(st.integers(1, 8))
    ids = data.draw(st.lists(WORDS, min_size=n, max_size=n, unique=True))
    labels = data.draw(st.lists(st.sampled_from(["a", "b", "ü c", ""]), min_size=n, max_size=n))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    ages = data.draw(st.lists(finite, min_size=n, max_size=n))
    frame = pd.DataFrame({"w 1": ages, "id": ids, "topic": labels, "w 2": range(n)})
    frame.to_csv(tmp_path / "n.csv", index=False)
    (tmp_path / "e.csv").write_text("source,target\n")
    graph = read_graph(tmp_path / "e.csv", nodes=tmp_path / "n.csv", label="topic")
    assert list(map(str, names_of(graph))) == ids
    assert classes_of(graph) == labels
    np.testing.assert_array_equal(graph.features, frame[["w 1", "w 2"]])


def test_a_million_edges_between_words_take_seconds(tmp_path, rng):
    ends = rng.integers(0, 100_000, (1_000_000, 2))
    frame = pd.DataFrame(ends, columns=["source", "target"])
    ("user" + frame.astype(str)).to_csv(tmp_path / "a.csv", index=False)
    start = time.process_time()
    graph = read_graph(tmp_path / "a.csv")
    assert time.process_time() - start < 15
    assert len(graph.edges) == len(np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]]), axis=0))
    code = (
        "import resource, sys; from graphgauge.exchange import read_graph;"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "read_graph(sys.argv[1]);"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.csv")]
    grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(grown) < 250, "MB; the words of a million edges alone would be as many"
