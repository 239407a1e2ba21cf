"""Good files, small ones, that all hostile files are made from."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse as sp

from graphgauge.graph import Graph

N_NODES, N_CLASSES, N_EDGES, N_LINKS, N_NEGATIVES = 30, 3, 60, 20, 11

Arrays = dict[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Mutant:
    """A hostile file: what it claims to be, how its name ends, what it holds."""

    role: str
    suffix: str
    content: bytes
    stem: str = "mutant"


def packed(arrays: Mapping[str, Any], *, deflated: bool = False) -> bytes:
    """Write arrays, of Python objects too, as the bytes of an ``.npz`` file."""
    file = io.BytesIO()
    (np.savez_compressed if deflated else np.savez)(file, **arrays)
    return file.getvalue()


@cache
def node_arrays() -> Arrays:
    """Everything a file of node predictions may hold, with one part's name an item."""
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.ones(N_CLASSES), N_NODES)
    labels = rng.integers(-1, N_CLASSES, N_NODES)
    edges = rng.integers(0, N_NODES, (2, N_EDGES))
    joint = rng.dirichlet(np.ones(N_CLASSES**2), N_EDGES)
    names = np.array(["train", "valid", "test_in", "test_out"])
    return {
        "probs": probs,
        "labels": labels,
        "part": names[np.arange(N_NODES) % 4],
        "edge_index": edges,
        "total": rng.random(N_NODES),
        "data": rng.random(N_NODES),
        "knowledge": rng.random(N_NODES),
        "alpha": 20 * probs + 0.1,
        "edge_probs": joint.reshape(N_EDGES, N_CLASSES, N_CLASSES),
    }


@cache
def bare_arrays() -> Arrays:
    """Node predictions without edges, with an index array for each part."""
    full = node_arrays()
    places = np.arange(N_NODES)
    return {
        "probs": full["probs"].astype(np.float32),
        "labels": full["labels"],
        "part_train": places[:10],
        "part_valid": np.isin(places, np.arange(10, 15)),
        "part_test": places[15:],
    }


@cache
def link_arrays(*, shared: bool = False) -> Arrays:
    """Predictions of links, with own negatives or with one shared list."""
    rng = np.random.default_rng(2)
    shape = (N_NEGATIVES,) if shared else (N_LINKS, N_NEGATIVES)
    return {
        "pos": rng.normal(size=N_LINKS) + 1,
        "neg": rng.normal(size=shape),
        "part": np.array(["valid", "test"])[np.arange(N_LINKS) % 2],
        "pos_edges": rng.integers(0, N_NODES, (N_LINKS, 2)),
        "neg_edges": rng.integers(0, N_NODES, (*shape, 2)),
    }


@cache
def graph_arrays(*, dense: bool = False) -> Arrays:
    """A saved graph with features and labels."""
    rng = np.random.default_rng(3)
    features = (rng.random((N_NODES, 5)) < 0.4) * rng.random((N_NODES, 5))
    graph = Graph.from_edges(
        node_arrays()["edge_index"].T,
        N_NODES,
        features=features if dense else sp.csr_array(features),
        labels=node_arrays()["labels"],
        name="seed",
        steps=("undirected",),
    )
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder) / "graph.npz")
        with np.load(Path(folder) / "graph.npz") as stored:
            return {key: stored[key] for key in stored.files}


@cache
def archives() -> tuple[tuple[str, Arrays], ...]:
    """All that ``.npz`` files may hold, with what it is."""
    return (
        ("nodes", node_arrays()),
        ("nodes", bare_arrays()),
        ("links", link_arrays()),
        ("links", link_arrays(shared=True)),
        ("edges", {"edge_index": node_arrays()["edge_index"]}),
        ("edges", graph_arrays()),
        ("edges", graph_arrays(dense=True)),
    )


@cache
def node_columns() -> dict[str, list[Any]]:
    """Node predictions as columns of a table."""
    full = node_arrays()
    columns: dict[str, list[Any]] = {
        f"prob_{c}": full["probs"][:, c].tolist() for c in range(N_CLASSES)
    }
    columns["label"] = full["labels"].tolist()
    columns["part"] = full["part"].tolist()
    columns["total"] = full["total"].tolist()
    return columns


@cache
def link_columns(*, wide: bool = True) -> dict[str, list[Any]]:
    """Link predictions as columns of a table."""
    own = link_arrays()
    if wide:
        columns = {f"neg_{k}": own["neg"][:, k].tolist() for k in range(N_NEGATIVES)}
        return {"pos": own["pos"].tolist(), **columns, "part": own["part"].tolist()}
    scores = np.concatenate([own["pos"], own["neg"].ravel()])
    ends = np.concatenate([own["pos_edges"], own["neg_edges"].reshape(-1, 2)])
    positive = (np.arange(len(scores)) < N_LINKS).astype(int)
    source, target = ends.T.tolist()
    return {
        "source": source,
        "target": target,
        "score": scores.tolist(),
        "positive": positive.tolist(),
    }


@cache
def edge_columns() -> dict[str, list[Any]]:
    """Edges as two columns."""
    source, target = node_arrays()["edge_index"].tolist()
    return {"source": source, "target": target}


@cache
def tables() -> tuple[tuple[str, dict[str, list[Any]]], ...]:
    """All that tables may hold, with what it is."""
    return (
        ("nodes", node_columns()),
        ("links", link_columns()),
        ("links", link_columns(wide=False)),
        ("edges", edge_columns()),
    )


@cache
def word_columns() -> dict[str, list[Any]]:
    """Edges between words, with weights."""
    source, target = (
        [f"n{node}" for node in ends] for ends in node_arrays()["edge_index"].tolist()
    )
    return {"source": source, "target": target, "w": [1.5] * N_EDGES}


@cache
def node_table() -> dict[str, list[Any]]:
    """What nodes are called and carry, as columns of a table."""
    ids = [f"n{node}" for node in range(N_NODES)]
    return {"id": ids, "age": list(range(N_NODES)), "topic": ["cat", "dog", ""] * (N_NODES // 3)}


@cache
def graphml() -> str:
    """Write a graph as GraphML."""
    columns, table = word_columns(), node_table()
    ends = zip(columns["source"], columns["target"], strict=True)
    edges = "".join(f'<edge source="{u}" target="{v}"/>' for u, v in ends)
    one = '<node id="{}"><data key="k0">{}</data><data key="k1">{}</data></node>\n'
    nodes = "".join(one.format(*row) for row in zip(*table.values(), strict=True))
    return (
        '<?xml version="1.0" encoding="utf-8"?>'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="k0" for="node" attr.name="age" attr.type="double"/>'
        '<key id="k1" for="node" attr.name="topic" attr.type="string"/>'
        f'<graph edgedefault="undirected">{nodes}{edges}</graph></graphml>'
    )


@cache
def matrix_arrays(*, sparse: bool = True) -> Arrays:
    """A graph as matrices in an archive."""
    own = graph_arrays()
    adjacency = sp.csr_array(
        tuple(own[f"adjacency_{k}"] for k in ("data", "indices", "indptr")), (N_NODES, N_NODES)
    )
    others = {"X": graph_arrays(dense=True)["features"], "y": own["labels"]}
    if not sparse:
        return {"A": adjacency.toarray(), **others}
    parts = {k: getattr(adjacency, k) for k in ("data", "indices", "indptr", "shape")}
    return {**{f"A_{k}": np.asarray(v) for k, v in parts.items()}, **others}


@cache
def matlab(*, deflated: bool = False) -> bytes:
    """Write a graph as a file of MATLAB."""
    file, own = io.BytesIO(), matrix_arrays(sparse=False)
    content = {"network": sp.csc_array(own["A"]), "attr": own["X"], "group": own["y"], "t": "text"}
    scipy.io.savemat(file, content, do_compression=deflated)
    return file.getvalue()


@cache
def graph_files() -> tuple[tuple[str, bytes], ...]:
    """Files of a graph of every kind, with how their names end."""
    tables = (".csv", written(word_columns())), (".txt", written(word_columns(), " "))
    return (
        *((ending, text.encode()) for ending, text in tables),
        (".parquet", parquet(word_columns())),
        (".graphml", graphml().encode()),
        (".mat", matlab()),
        (".mat", matlab(deflated=True)),
        (".npz", packed(matrix_arrays())),
        (".npz", packed(matrix_arrays(sparse=False), deflated=True)),
        (".npz", packed(graph_arrays())),
    )


def written(columns: Mapping[str, list[Any]], delimiter: str = ",") -> str:
    """Write columns as the text of a CSV file."""
    rows = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    return "".join(delimiter.join(map(str, row)) + "\n" for row in rows)


def parquet(columns: Mapping[str, Any], **options: Any) -> bytes:
    """Write columns as the bytes of a Parquet file."""
    file = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), file, **options)
    return file.getvalue()


@cache
def good_files() -> dict[str, tuple[tuple[str, bytes], ...]]:
    """Bytes of good files with how their names end, by what they are."""
    found: dict[str, list[tuple[str, bytes]]] = {"nodes": [], "links": [], "edges": []}
    for role, arrays in archives():
        found[role] += [(".npz", packed(arrays)), (".npz", packed(arrays, deflated=True))]
    for role, columns in tables():
        found[role] += [(".csv", written(columns).encode()), (".parquet", parquet(columns))]
        found[role].append((".tsv", written(columns, "\t").encode()))
    found["edges"].append((".txt", written(edge_columns(), " ").partition("\n")[2].encode()))
    found["graphs"] = [*graph_files()]
    found["tables"] = [
        (".csv", written(node_table()).encode()),
        (".parquet", parquet(node_table())),
    ]
    return {role: tuple(files) for role, files in found.items()}
