"""How far a node's features lie from those of all nodes, seen in two random directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import FloatArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph

__all__ = ["feature_distance"]

_ENTRIES = 2**22


def feature_distance(graph: Graph, *, seed: int = 0) -> FloatArray:
    """Project features onto two random directions and measure distances to the mean point.

    The directions X W are those of a matrix W ``[d, 2]`` of normal numbers. Sparse features stay
    sparse, and no copy of the features is made.

    Parameters
    ----------
    graph
        Its features are read.
    seed
        Of the directions.

    References
    ----------
    Revisiting Uncertainty Estimation for Node Classification: New Benchmark and Insights, 2022,
    section 3.3.

    Examples
    --------
    >>> graph = Graph.from_edges([], 3, features=[[0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> far = feature_distance(graph)
    >>> bool(np.isclose(far[0], far[2])), float(far[1])
    (True, 0.0)
    """
    features = graph.features
    if features is None:
        raise InputError("feature-distance: the graph has no features")
    n, width = features.shape
    directions = np.random.default_rng(seed).standard_normal((width, 2))
    points = np.empty((2, n))
    step = max(1, _ENTRIES * n // max(_n_entries(features), 1))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, n, step):
            rows = features[start : start + step].astype(np.float64)
            points[:, start : start + step] = (rows @ directions).T
        points -= points.sum(axis=1, keepdims=True) / max(n, 1)
    return np.asarray(np.hypot(points[0], points[1]))


def _n_entries(features: Any) -> int:
    return int(features.nnz if sp.issparse(features) else features.size)
