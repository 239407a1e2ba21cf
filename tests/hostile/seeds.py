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
    return {role: tuple(files) for role, files in found.items()}
