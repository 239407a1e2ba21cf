"""The command ``graphgauge data import``: what it understood of each kind of file, and what not."""

from __future__ import annotations

import json
import subprocess
import sys

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from graphgauge.cli import main
from graphgauge.graph import Graph

A = sp.csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]])
X = np.array([[1.0, 0], [0, 2], [3, 0], [0, 0]])
IDS, CLASSES = ["ann", "rex", "tom", "zoe"], ["cat", "dog", "cat", ""]
_EDGES = "source,target\nann,rex\nrex,tom\n"
_NODES = "id,w1,w2,label\nann,1,0,cat\nrex,0,2,dog\ntom,3,0,cat\nzoe,0,0,\n"


def _tables(folder):
    (folder / "nodes.csv").write_text(_NODES)
    (folder / "g.csv").write_text(_EDGES)
    return "g.csv", "--nodes", str(folder / "nodes.csv")


def _parquet(folder):
    pq.write_table(pa.table({"u": ["ann", "rex"], "v": ["rex", "tom"]}), folder / "g.parquet")
    columns = {"node": IDS, "w1": X[:, 0], "w2": X[:, 1], "class": CLASSES}
    pq.write_table(pa.table(columns), folder / "n.parquet")
    return "g.parquet", "--nodes", str(folder / "n.parquet")


def _graphml(folder):
    made = nx.path_graph(IDS[:3])
    made.add_node("zoe")
    for node, row, label in zip(IDS, X.tolist(), CLASSES, strict=True):
        made.nodes[node].update(w1=row[0], w2=row[1], topic=label)
    nx.write_graphml(made, folder / "g.graphml")
    return "g.graphml", "--label", "topic", "--features", "w1,w2"


def _mat(folder):
    scipy.io.savemat(folder / "g.mat", {"network": A, "attr": X, "group": [[0, 1, 0, -1]]})
    return ("g.mat",)


def _arrays(folder):
    labels = np.array(CLASSES)
    np.savez(folder / "g.npz", edge_index=A.tocoo().coords, features=X, topic=labels[:, None])
    return "g.npz", "--label", "topic"


def _saved(folder):
    content = {"labels": [0, 1, 0, -1], "ids": IDS, "class_names": ("cat", "dog")}
    Graph(A, X, **content).save(folder / "g.npz")
    return ("g.npz",)


@pytest.mark.parametrize(
    ("write", "kind", "has_ids", "has_names"),
    [
        (_tables, "edges and nodes", True, True),
        (_parquet, "edges and nodes", True, True),
        (_graphml, "GraphML", True, True),
        (_mat, "MATLAB", False, False),
        (_arrays, "arrays", False, True),
        (_saved, "a saved graph", True, True),
    ],
)
def test_each_kind_of_file_is_understood_alike(tmp_path, capsys, write, kind, has_ids, has_names):
    name, *options = write(tmp_path)
    command = ["data", "import", str(tmp_path / name), *options, "--out", str(tmp_path / "out.npz")]
    assert main([*command, "--json", "-"]) == 0
    about = json.loads(capsys.readouterr().out)
    graph = Graph.load(tmp_path / "out.npz")
    assert (graph.adjacency != A).nnz == 0
    np.testing.assert_array_equal(graph.features, X)
    assert graph.labels.tolist() == [0, 1, 0, -1]
    assert (None if graph.ids is None else graph.ids.tolist()) == (IDS if has_ids else None)
    assert graph.class_names == (("cat", "dog") if has_names else ())
    expected = {
        "schema": "graphgauge.import/1", "kind": kind, "nodes": 4, "isolated": 1, "edges": 2,
        "directed": False, "loops": 0, "merged": 0, "features": 2, "unknown": 1, "ids": has_ids,
        "classes": ["cat", "dog"] if has_names else ["0", "1"],
    }  # fmt: skip
    assert {key: about[key] for key in expected} == expected
    assert about["saved"]["fingerprint"] == graph.fingerprint
    assert main(command) == 0
    told = capsys.readouterr().out
    assert f"read as   {kind}\n" in told
    assert "nodes     4, 1 of them isolated" in told
    assert "edges     2 between two nodes, all lead both ways" in told
    assert "of 1 nodes unknown" in told
    assert f"saved     {tmp_path / 'out.npz'}" in told


def test_what_is_saved_can_be_split(tmp_path, capsys):
    edges = "".join(f"u{u},u{v}\n" for u, v in nx.barabasi_albert_graph(60, 2, seed=1).edges)
    (tmp_path / "e.csv").write_text("source,target\n" + edges)
    assert main(["data", "import", str(tmp_path / "e.csv"), "--out", str(tmp_path / "g.npz")]) == 0
    found = []
    for data in ("e.csv", "g.npz"):
        capsys.readouterr()
        assert main(["split", str(tmp_path / data), "--shift", "popularity", "--json", "-"]) == 0
        found.append(json.loads(capsys.readouterr().out)["splits"])
    assert found[0] == found[1]


def test_steps_are_taken_and_told(tmp_path, capsys):
    (tmp_path / "e.txt").write_text("a b\nb b\nc c\n")
    command = ["data", "import", str(tmp_path / "e.txt"), "--directed", "--out"]
    steps = ["--steps", "undirected,loops-removed", "--steps", "largest-component"]
    assert main([*command, str(tmp_path / "g.npz"), *steps]) == 0
    told = capsys.readouterr().out
    assert "edges     1 between two nodes, some lead one way" in told
    assert "loops     2" in told
    assert "largest-component; 2 nodes and 1 edges are left" in told
    graph = Graph.load(tmp_path / "g.npz")
    assert graph.ids.tolist() == ["a", "b"]
    assert graph.steps == ("undirected", "loops-removed", "largest-component")


@pytest.mark.parametrize(
    ("name", "content", "options", "told"),
    [
        ("g.csv", "a,b,c\nx,y,z\n", [], "say --edges SOURCE,TARGET, of a, b, c"),
        ("g.csv", _EDGES, ["--label", "topic"], "--label means nothing for edges alone"),
        ("g.csv", _EDGES, ["--nodes", "none.csv"], "none.csv: cannot be read (No such file"),
        ("g.csv", _EDGES, ["--steps", "shaken"], "no step 'shaken'"),
        ("g.graphml", "<graphml/>", [], "g.graphml: holds no graph"),
        ("g.mat", "", [], "g.mat: not a file of MATLAB 5"),
        ("g.npz", "", [], "g.npz is not readable as .npz"),
        ("g.pkl", "\x80", [], "g.pkl: is of no kind that is known"),
        ("g.pkl", b"\x80\x04", [], "g.pkl: looks like a pickle, which is never read"),
        ("g", "?", [], "is of no kind that is known; expected .csv, .tsv"),
        ("g.csv", _EDGES, ["--out", "nowhere/g.npz"], "nowhere/g.npz: cannot be written"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(
    tmp_path, capsys, monkeypatch, name, content, options, told
):
    monkeypatch.chdir(tmp_path)
    raw = content if isinstance(content, bytes) else content.encode()
    (tmp_path / name).write_bytes(raw)
    out = [] if "--out" in options else ["--out", "out.npz"]
    assert main(["data", "import", name, *options, *out]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert told in said.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_no_library_is_loaded_for_what_comes_from_it(tmp_path):
    """Graphs of PyG and NetworkX are known by what they hold, so neither is ever imported."""
    names = [write(tmp_path)[0] for write in (_tables, _mat, _arrays)]
    code = (
        "import sys, types, graphgauge.exchange as ex, graphgauge.splits;"
        "data = types.SimpleNamespace(edge_index=[[0], [1]], y=[0, 1]);"
        "ex.from_pyg(data); ex.split_from_pyg({}); ex.from_scipy([[0]]);"
        f"[ex.read_graph({str(tmp_path)!r} + '/' + name, label='') for name in {names[1:]}];"
        f"ex.read_graph({str(tmp_path / names[0])!r});"
        "heavy = ('torch', 'torch_geometric', 'networkx', 'pandas', 'pyarrow', 'sklearn', 'h5py');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")
