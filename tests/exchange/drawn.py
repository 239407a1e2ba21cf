"""Graphs of every shape for property-based tests, and what it means that two say the same."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from graphgauge.exchange.classes import UNKNOWN
from graphgauge.graph import Graph

LETTERS = st.characters(codec="utf-8", exclude_categories=["C", "Z"])
# A class cannot be called what tables write where a class is not known.
WORDS = st.text(LETTERS, min_size=1, max_size=4).filter(lambda word: word not in UNKNOWN)
_VALUES = st.sampled_from([-2.5, -1.0, 0.1, 1.0, 3.0])


@st.composite
def graphs(draw, *, weighted=None, directed=None, carrying=True):
    """Draw a graph: empty or not, with loops, isolated nodes, ids, features and classes or none."""
    n = draw(st.integers(0, 7))
    places = st.integers(0, max(n - 1, 0))
    pairs = draw(st.lists(st.tuples(places, places), max_size=12 if n else 0))
    weighted = draw(st.booleans()) if weighted is None else weighted
    directed = draw(st.booleans()) if directed is None else directed
    adjacency = np.zeros((n, n))
    for u, v in pairs:
        adjacency[u, v] = draw(_VALUES) if weighted else 1
        if not directed:
            adjacency[v, u] = adjacency[u, v]
    content = {"ids": draw(_ids(n))}
    if carrying:
        content |= draw(_contents(n))
    return Graph(sp.csr_array(adjacency), name=draw(st.sampled_from(["", "mine"])), **content)


@st.composite
def _contents(draw, n):
    width = draw(st.integers(0, 3))
    content = {}
    if width:
        entries = draw(st.lists(_VALUES | st.just(0.0), min_size=n * width, max_size=n * width))
        features = np.array(entries, np.float64).reshape(n, width)
        content["features"] = sp.csr_array(features) if draw(st.booleans()) else features
    names = draw(st.lists(WORDS.filter(lambda w: not w[0].isdigit()), unique=True, max_size=3))
    if draw(st.booleans()):
        classes = st.integers(-1, max(len(names) - 1, 1))
        content["labels"] = draw(st.lists(classes, min_size=n, max_size=n))
        content["class_names"] = tuple(names) if len(names) > 1 else ()
    return content


@st.composite
def _ids(draw, n):
    kind = draw(st.sampled_from(["none", "numbers", "words"]))
    if kind == "none":
        return None
    names = st.integers(-(2**40), 2**40) if kind == "numbers" else WORDS
    return (
        np.array(draw(st.lists(names, min_size=n, max_size=n, unique=True)) or None) if n else None
    )


def names_of(graph: Graph) -> list:
    """Return what nodes are called."""
    return list(range(graph.n_nodes)) if graph.ids is None else graph.ids.tolist()


def classes_of(graph: Graph) -> list[str]:
    """Return what every node's class is called, and nothing where it is not known."""
    if graph.labels is None:
        return [""] * graph.n_nodes
    names = graph.class_names
    return ["" if k < 0 else str(names[k] if names else k) for k in graph.labels.tolist()]


def edges_of(graph: Graph) -> dict:
    """Return the weight of every entry by what its ends are called."""
    names, entries = names_of(graph), graph.adjacency.tocoo()
    ends = zip(*(part.tolist() for part in entries.coords), strict=True)
    return {(names[u], names[v]): w for (u, v), w in zip(ends, entries.data.tolist(), strict=True)}


def doubtful(graph: Graph) -> bool:
    """Tell whether -1 could be one of two classes as well as nothing known."""
    return graph.labels is not None and set(graph.labels.tolist()) == {-1, 1}


def rows_of(graph: Graph) -> np.ndarray:
    """Return the features as a dense array, of no columns if there are none."""
    if graph.features is None:
        return np.empty((graph.n_nodes, 0))
    return graph.features.toarray() if sp.issparse(graph.features) else graph.features
