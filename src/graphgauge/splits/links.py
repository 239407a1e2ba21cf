"""Splits of the edges: those to pass messages along and train on, those to predict."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.splits.lots import draw_order, edge_colours
from graphgauge.splits.sizes import shares_of

__all__ = ["link_split"]


def link_split(graph: Graph, shares: Sequence[float] = (85, 5, 10), *, seed: int = 0) -> Split:
    """Split the undirected edges at random into ``train``, ``valid`` and ``test``.

    Every edge is one item, ``u < v``, without its direction, its repetitions and loops: it can be
    in one part alone, in neither direction in another. Validation and test get their shares
    rounded down and training the rest. Nothing is done about nodes that lose all their edges;
    the published splits have them too. The recipe tells how many nodes there are, since edges
    alone do not.

    Parameters
    ----------
    graph
        Whose edges.
    shares
        Percentages of ``train``, ``valid``, ``test``: 85/5/10 in *heart*, 70/10/20 elsewhere.
    seed
        Of the lots.

    Returns
    -------
    Split
        Of the rows of its ``pairs``, which are the graph's `edges`.

    References
    ----------
    Li et al., Evaluating Graph Neural Networks for Link Prediction: Current Pitfalls and New
    Benchmarking, NeurIPS 2023, appendix C.

    Examples
    --------
    >>> ring = Graph.from_edges([[i, (i + 1) % 20] for i in range(20)], 20)
    >>> split = link_split(ring)
    >>> {name: len(part) for name, part in split.parts.items()}
    {'train': 17, 'valid': 1, 'test': 2}
    >>> split.pairs[split["valid"]].shape
    (1, 2)
    """
    if len(shares) != 3:
        raise InputError(f"shares: {len(shares)} numbers, expected 3 (train, valid, test)")
    pairs, fractions = graph.edges, shares_of("shares", shares)
    sizes = [math.floor(len(pairs) * share / 100) for share in fractions[1:]]
    order = draw_order(edge_colours(graph, pairs), seed)
    valid, test, train = np.split(order, np.cumsum(sizes))
    parts = {"train": np.sort(train), "valid": np.sort(valid), "test": np.sort(test)}
    for (name, index), share in zip(parts.items(), fractions, strict=True):
        if share and not len(index):
            raise InputError(f"{len(pairs)} edges are too few: part {name} would be empty")
    recipe = {
        "by": "links",
        "shares": [float(share) for share in fractions],
        "n_nodes": graph.n_nodes,
        "seed": int(seed),
        "graph": graph.fingerprint,
    }
    return Split({k: v for k, v in parts.items() if len(v)}, len(pairs), recipe, pairs)
