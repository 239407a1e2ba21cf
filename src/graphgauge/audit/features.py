"""Findings about features: nodes that are copies, columns that give labels away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import BoolArray, IntArray
from graphgauge.audit.copies import copies
from graphgauge.audit.findings import Finding, found, number, portion
from graphgauge.audit.telling import telling
from graphgauge.graph import Graph
from graphgauge.groups import undirected_pairs
from graphgauge.predictions import NodePredictions

__all__ = ["feature_findings"]

# A column is reported where it removes this share of the errors of plain guessing.
_TELLS = 0.9
# First looked for among this many nodes, with a margin; what is found there is confirmed on all.
_SCREENED = 20_000
_MARGIN = 0.05


def feature_findings(predictions: NodePredictions, graph: Graph | None) -> Iterator[Finding]:
    """Report copies among the parts, and features that give labels away."""
    if graph is None or graph.features is None or not graph.features.shape[1]:
        return
    blank = _blank_rows(graph.features)
    yield from _duplicates(predictions, graph, blank)
    known = predictions.known
    n_known = int(known.sum())
    everyone = np.arange(len(known))
    tasks = {"label": (np.flatnonzero(known), predictions.labels[known])}
    if 0 < n_known < len(known):
        tasks["labelled"] = (everyone, known.astype(np.int64))
    for what, (nodes, classes) in tasks.items():
        yield from _columns(what, graph.features, nodes, classes)
        yield from _blanks(what, blank, nodes, classes)


def _blank_rows(features: Any) -> BoolArray:
    if not sp.issparse(features):
        return np.asarray(~features.any(axis=1))
    rows = features.indptr[:-1], features.indptr[1:]
    filled = np.concatenate([[0], np.cumsum(features.data != 0)])
    return np.asarray(filled[rows[0]] == filled[rows[1]])


def _duplicates(predictions: NodePredictions, graph: Graph, blank: BoolArray) -> Iterator[Finding]:
    """Only copies that lie in two parts can carry an answer from one to the other.

    Nodes with neither features nor neighbours are all alike and left out.
    """
    pairs = undirected_pairs(predictions, graph)
    if pairs is None or len(predictions.parts) < 2:
        return
    part = np.full(predictions.n_nodes, -1)
    for code, index in enumerate(predictions.parts.values()):
        part[index] = code
    isolated = np.ones(predictions.n_nodes, bool)
    isolated[pairs] = False
    nodes = np.flatnonzero((part >= 0) & ~(blank & isolated))
    offenders = copies(graph.features, pairs, nodes, part)
    if len(offenders):
        message = f"{portion(len(offenders), len(nodes), 'node')} have the features and neighbours "
        message += "of a node in another part: their scores are partly memory"
        yield found("duplicate-nodes", message, items="nodes", offenders=offenders, of=len(nodes))


_TASKS = {
    "label": "the label away",
    "labelled": "away whether a node has a label",
}


def _columns(what: str, features: Any, nodes: IntArray, classes: IntArray) -> Iterator[Finding]:
    suspects = np.arange(features.shape[1])
    if len(nodes) > _SCREENED:
        drawn = np.sort(np.random.default_rng(0).choice(len(nodes), _SCREENED, replace=False))
        shares = telling(features[nodes[drawn]], classes[drawn])
        suspects = np.flatnonzero(shares >= _TELLS - _MARGIN)
    if not len(suspects) or not len(nodes):
        return
    columns = features if len(suspects) == features.shape[1] else features[:, suspects]
    rows = columns if len(nodes) == features.shape[0] else columns[nodes]
    shares = telling(rows, classes)
    tell = shares >= _TELLS
    if tell.any():
        best = suspects[shares.argmax()]
        named = number(int(tell.sum()), "feature column gives", "feature columns give")
        message = f"{named} {_TASKS[what]}, each alone; column {best} removes "
        message += f"{100 * shares.max():.1f} % of the errors of guessing"
        offenders, of = suspects[tell], features.shape[1]
        yield found(f"column-tells-{what}", message, items="columns", offenders=offenders, of=of)


def _blanks(what: str, blank: BoolArray, nodes: IntArray, classes: IntArray) -> Iterator[Finding]:
    here = blank[nodes]
    if not here.any() or here.all():
        return
    share = telling(here[:, None].astype(np.float64), classes)[0]
    if share >= _TELLS:
        message = (
            f"{portion(int(here.sum()), len(nodes), 'node')} have no features, and that alone "
        )
        message += f"gives {_TASKS[what]}: it removes {100 * share:.1f} % of the errors of guessing"
        offenders = nodes[here]
        yield found(
            f"blank-tells-{what}", message, items="nodes", offenders=offenders, of=len(nodes)
        )
