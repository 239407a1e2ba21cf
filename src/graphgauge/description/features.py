"""Features in two dimensions: by their main axes, or by who is next to whom (t-SNE)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.description.layout import turned
from graphgauge.errors import InputError
from graphgauge.graph import Graph

__all__ = ["EMBEDDINGS", "embedded"]

# As many axes go into t-SNE as its authors took of digits.
_AXES = 50
_PERPLEXITY = 30


def embedded(graph: Graph, nodes: IntArray, by: str = "pca", *, seed: int = 0) -> FloatArray:
    """Place nodes in the plane by their features ``[m, 2]``.

    Parameters
    ----------
    graph
        With features, sparse or dense; sparse ones stay so.
    nodes
        Which nodes ``[m]``; they alone decide the axes.
    by
        ``pca``, the two axes of largest variance; or ``tsne``, which needs scikit-learn.
    seed
        Of t-SNE.

    References
    ----------
    Van der Maaten and Hinton, Visualizing Data using t-SNE, JMLR 2008.

    Examples
    --------
    >>> features = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [3.0, 3.0, 0.1]]
    >>> graph = Graph.from_edges([], 3, features=features)
    >>> embedded(graph, np.arange(3))[:, 0].round(2).tolist()
    [-1.89, -0.47, 2.36]
    """
    if by not in EMBEDDINGS:
        raise InputError(f"unknown embedding {by!r} (expected one of: {', '.join(EMBEDDINGS)})")
    if graph.features is None:
        raise InputError("features: the graph has none")
    return turned(EMBEDDINGS[by](graph.features[nodes].astype(np.float64), seed))


def _main_axes(rows: Any, n_axes: int) -> FloatArray:
    """Project rows onto the axes of largest variance, without centring what is sparse."""
    n, width = rows.shape
    mean = np.asarray(rows.mean(axis=0)).ravel()
    n_axes = min(n_axes, n, width)
    if min(n, width) <= n_axes + 1:
        dense = (rows.toarray() if sp.issparse(rows) else rows) - mean
        return np.asarray(dense @ np.linalg.svd(dense, full_matrices=False)[2][:n_axes].T)
    centred = LinearOperator(
        (n, width),
        matvec=lambda v: rows @ v.ravel() - mean @ v.ravel(),
        rmatvec=lambda u: rows.T @ u.ravel() - mean * u.sum(),
        dtype=np.float64,
    )
    start = np.random.default_rng(0).standard_normal(min(n, width))
    sides, sizes, _ = svds(centred, n_axes, v0=start)
    return np.asarray((sides * sizes)[:, ::-1])


def _by_variance(rows: Any, seed: int) -> FloatArray:
    plane = np.zeros((rows.shape[0], 2))
    axes = _main_axes(rows, 2)
    plane[:, : axes.shape[1]] = axes
    return plane


def _by_neighbours(rows: Any, seed: int) -> FloatArray:
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        raise InputError("tsne needs scikit-learn (pip install graphgauge[tsne])") from None
    n = rows.shape[0]
    if n < 4:
        return _by_variance(rows, seed)
    perplexity = min(_PERPLEXITY, (n - 1) / 3)
    start = _by_variance(rows, seed)
    start *= 1e-4 / max(start[:, 0].std(), 1e-12)
    place = TSNE(perplexity=perplexity, init=start, random_state=seed)
    return np.asarray(place.fit_transform(_main_axes(rows, _AXES)), np.float64)


EMBEDDINGS: Mapping[str, Callable[[Any, int], FloatArray]] = MappingProxyType(
    {"pca": _by_variance, "tsne": _by_neighbours}
)
