"""Graphs of the Open Graph Benchmark, read from their folders as they are unpacked.

Link data sets keep their training edges as the graph and the rest in the split. `load` gives the
whole graph, as it does for every data set; whoever learns from it should pass messages along the
edges of the part ``train`` alone, which `read_ogb_parts` gives beside the others.

References
----------
Hu et al., Open Graph Benchmark: Datasets for Machine Learning on Graphs, NeurIPS 2020.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from graphgauge.archive import answering, check_expansion, check_file
from graphgauge.arrays import MOST_NODES, IntArray, check_pairs, integers
from graphgauge.columns import load_text
from graphgauge.datasets.torch_files import read_torch
from graphgauge.errors import InputError
from graphgauge.graph import Graph

__all__ = ["ogb_files", "read_ogb", "read_ogb_parts"]

_EDGES, _NODES, _ROWS = "raw/edge.csv.gz", "raw/num-node-list.csv.gz", "raw/num-edge-list.csv.gz"
_FEATURES, _LABELS = "raw/node-feat.csv.gz", "raw/node-label.csv.gz"
_HELD_OUT = ("valid", "test")
# A graph needs memory for each node, and a number costs a file nothing.
_NODES_AN_EDGE = 64
_BLOCK = 2**20


@dataclass(frozen=True)
class _Layout:
    """Which of the optional files a data set has; a split of links is in ``.pt`` files."""

    split: str
    links: bool = False
    features: bool = True
    labels: bool = False


_LAYOUTS: Mapping[str, _Layout] = MappingProxyType(
    {
        "ogbl_collab": _Layout("time", links=True),
        "ogbl_ddi": _Layout("target", links=True, features=False),
        "ogbl_ppa": _Layout("throughput", links=True),
        "ogbl_citation2": _Layout("time", links=True),
        "ogbn_products": _Layout("sales_ranking", labels=True),
        "ogbn_arxiv": _Layout("time", labels=True),
        # Its labels are 112 yes or no a node, which are no classes, and stay unread.
        "ogbn_proteins": _Layout("species", features=False),
    }
)


def ogb_files(key: str) -> tuple[str, ...]:
    """Name the files of a data set that are read.

    Examples
    --------
    >>> ogb_files("ogbl_ddi")[3:]
    ('split/target/valid.pt', 'split/target/test.pt')
    """
    layout = _LAYOUTS[key]
    features = (_FEATURES,) if layout.features else ()
    labels = (_LABELS,) if layout.labels else ()
    return (_EDGES, _NODES, _ROWS, *features, *labels, *_split_files(layout).values())


def read_ogb(folder: Path, key: str) -> Graph:
    """Read the whole graph: its listed edges and, of a link data set, those held out."""
    layout = _LAYOUTS[key]
    listed = _listed_edges(folder)
    n_nodes = _number(folder / _NODES)
    if n_nodes > _NODES_AN_EDGE * (len(listed) + 2**16):
        raise InputError(f"{folder / _NODES}: {n_nodes} nodes are too many for {len(listed)} edges")
    held_out = _split_files(layout).values() if layout.links else ()
    pairs = np.concatenate([listed, *(_links(folder / name)[0] for name in held_out)])
    features = _read(folder / _FEATURES, np.float32) if layout.features else None
    labels = _classes(folder / _LABELS) if layout.labels else None
    return Graph.from_edges(
        pairs, n_nodes, directed=True, features=features, labels=labels, name=key
    )


def read_ogb_parts(folder: Path, key: str) -> dict[str, IntArray]:
    """Read the published split.

    Nodes: ``train``, ``valid`` and ``test`` as numbers. Links: pairs ``[e, 2]`` by the same names,
    and the negatives under ``valid_neg`` and ``test_neg``: pairs ``[m, 2]`` shared by all
    positives, or nodes ``[e, k]`` that replace the second one.
    """
    layout = _LAYOUTS[key]
    files = {part: folder / name for part, name in _split_files(layout).items()}
    if not layout.links:
        return {part: _read(path, np.int64).ravel() for part, path in files.items()}
    parts: dict[str, IntArray] = {"train": _listed_edges(folder)}
    for part, path in files.items():
        parts[part], parts[f"{part}_neg"] = _links(path)
    return parts


def _split_files(layout: _Layout) -> dict[str, str]:
    parts = _HELD_OUT if layout.links else ("train", *_HELD_OUT)
    ending = "pt" if layout.links else "csv.gz"
    return {part: f"split/{layout.split}/{part}.{ending}" for part in parts}


def _listed_edges(folder: Path) -> IntArray:
    path = folder / _EDGES
    edges = _read(path, np.int64)
    if edges.shape[1] != 2:
        raise InputError(f"{path}: has {edges.shape[1]} columns, expected pairs of nodes")
    promised = _number(folder / _ROWS)
    if promised != len(edges):
        raise InputError(f"{path}: is truncated: it lists {len(edges)} edges of {promised}")
    return edges


def _links(path: Path) -> tuple[IntArray, IntArray]:
    """Return positive pairs and negatives of a part."""
    arrays = read_torch(path)
    if {"edge", "edge_neg"} <= arrays.keys():
        pairs, negatives = arrays["edge"], arrays["edge_neg"]
    elif {"source_node", "target_node", "target_node_neg"} <= arrays.keys():
        pairs = np.stack([arrays["source_node"], arrays["target_node"]], axis=1)
        negatives = arrays["target_node_neg"]
    else:
        raise InputError(f"{path}: holds neither edges nor sources and targets")
    pairs = integers(f"{path}: edges", pairs, ndim=2)
    check_pairs(f"{path}: edges", pairs, MOST_NODES)
    return pairs, integers(f"{path}: negatives", negatives, ndim=2)


def _classes(path: Path) -> IntArray:
    table = _read(path, np.float64)
    if table.shape[1] != 1:
        raise InputError(f"{path}: has {table.shape[1]} columns, expected one of classes")
    column = table[:, 0]
    return integers(f"{path}: labels", np.where(np.isnan(column), -1, column), ndim=1)


def _number(path: Path) -> int:
    table = _read(path, np.int64)
    if table.shape != (1, 1) or not 0 <= table[0, 0] < MOST_NODES:
        raise InputError(f"{path}: does not hold one number")
    return int(table[0, 0])


def _read(path: Path, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Read a table of numbers, once it is known to hold no more than its size makes likely."""
    check_file(path)
    with answering(path, kind="a compressed table"):
        expanded = 0
        with gzip.open(path) as file:
            while block := file.read(_BLOCK):
                expanded += len(block)
                check_expansion(path, expanded)
        return load_text(path, dtype=dtype, delimiter=",", comments=None)
