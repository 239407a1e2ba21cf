"""The public split of Cora, CiteSeer and PubMed, which is given by the order of their nodes."""

from __future__ import annotations

import numpy as np

from graphgauge.arrays import IntArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.parts import Split

__all__ = ["planetoid_split"]

_EACH, _VALID, _TEST = 20, 500, 1000


def planetoid_split(graph: Graph, *, train: str = "public") -> Split:
    """Return the public split of a Planetoid graph whose nodes are in the published order.

    The first 20 nodes a class train, the next 500 validate, and the last 1000 that have features
    are tested: CiteSeer's files skip 15 nodes, which stand among the last without a feature.

    Parameters
    ----------
    graph
        Cora, CiteSeer or PubMed as `load` gives them, with labels and features.
    train
        ``public``, or ``rest``: all that is not for validation or test trains, as for Cora in
        *miscalibrated*.

    References
    ----------
    Yang, Cohen and Salakhutdinov, Revisiting Semi-Supervised Learning with Graph Embeddings,
    ICML 2016; Teixeira, Jalaian and Ribeiro, Are Graph Neural Networks Miscalibrated?, 2019.

    Examples
    --------
    >>> labels = np.concatenate([np.repeat([0, 1], 20), np.arange(1600) % 2])
    >>> graph = Graph.from_edges([[0, 1]], 1640, labels=labels, features=np.ones((1640, 1)))
    >>> {name: len(part) for name, part in planetoid_split(graph).parts.items()}
    {'train': 40, 'valid': 500, 'test': 1000}
    """
    if train not in ("public", "rest"):
        raise InputError(f"train: {train!r} is neither 'public' nor 'rest'")
    if graph.labels is None or graph.features is None:
        raise InputError(
            "the Planetoid split is known by labels and features, which the graph lacks"
        )
    n_classes = int(graph.labels.max(initial=-1)) + 1
    first = np.arange(_EACH * n_classes)
    valid = np.arange(len(first), len(first) + _VALID)
    # What a node lacks altogether is no entry that is not zero: sparse features may store zeros.
    described = np.flatnonzero(np.asarray(abs(graph.features).sum(axis=1)).ravel() > 0)
    test = described[-_TEST:]
    counts = np.bincount(graph.labels[: len(first)], minlength=max(n_classes, 1))
    if len(test) < _TEST or test[0] < len(first) + _VALID or (counts != _EACH).any():
        raise InputError(
            "the nodes are not in Planetoid's order: of its first ones, "
            f"{_EACH} should be of each of the {n_classes} classes, and {_VALID + _TEST} follow"
        )
    if train == "rest":
        first = np.setdiff1d(np.arange(graph.n_nodes), np.concatenate([valid, test]))
    parts: dict[str, IntArray] = {"train": first, "valid": valid, "test": test}
    recipe = {"by": "published", "source": "planetoid", "which": train}
    return Split(parts, graph.n_nodes, {**recipe, "graph": graph.fingerprint})
