"""Preparation of graphs in named steps; what was done stands in ``Graph.steps``.

The papers prepare the same graphs differently, and numbers change with it: whether loops count
changes clustering and propagation, whether features are scaled changes calibration. So nothing is
done in passing. Each step is a function from graph to graph that leaves its input as it is and
writes its name into the result; `prepare` takes them by name, from first to last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from graphgauge.arrays import BoolArray, FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph

__all__ = [
    "STEPS",
    "Step",
    "binary",
    "largest_component",
    "loops_added",
    "loops_removed",
    "prepare",
    "row_normalised",
    "standardised",
    "standardised_unbiased",
    "undirected",
]

Step: TypeAlias = Callable[[Graph], Graph]

_STEPS: dict[str, Step] = {}
STEPS: Mapping[str, Step] = MappingProxyType(_STEPS)


def prepare(graph: Graph, *names: str) -> Graph:
    """Take steps by name, from first to last.

    Examples
    --------
    >>> sorted(STEPS)[:3]
    ['features-binary', 'features-row-l1', 'features-standardised']
    >>> path = Graph.from_edges([[0, 1], [1, 1], [3, 2]], 5, directed=True)
    >>> path = prepare(path, "undirected", "loops-removed", "largest-component")
    >>> path.n_nodes, path.steps
    (2, ('undirected', 'loops-removed', 'largest-component'))
    """
    for name in names:
        if name not in STEPS:
            raise InputError(f"no step {name!r} (steps: {', '.join(STEPS)})")
        graph = STEPS[name](graph)
    return graph


def _step(name: str) -> Callable[[Callable[[Graph], dict[str, Any]]], Step]:
    """Make a step of a function that returns what changes, and enter it by its name."""

    def entered(changes: Callable[[Graph], dict[str, Any]]) -> Step:
        @wraps(changes)
        def step(graph: Graph) -> Graph:
            return replace(graph, **changes(graph), steps=(*graph.steps, name))

        _STEPS[name] = step
        return step

    return entered


@_step("undirected")
def undirected(graph: Graph) -> dict[str, Any]:
    """Link both ways whoever is linked one way; each link counts one, loops stay.

    Repeated links were merged into one entry when the graph was made; here their weights, and all
    others, become one.

    Examples
    --------
    >>> undirected(Graph.from_edges([[0, 1], [0, 1], [2, 2]], 3, directed=True)).adjacency.toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    linked = _with_ones(graph.adjacency)
    return {"adjacency": _with_ones(sp.csr_array(linked + linked.T))}


@_step("loops-removed")
def loops_removed(graph: Graph) -> dict[str, Any]:
    """Remove links from a node to itself.

    Examples
    --------
    >>> loops_removed(Graph(np.ones((2, 2)))).adjacency.toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    return {"adjacency": _without_loops(graph.adjacency)}


@_step("loops-added")
def loops_added(graph: Graph) -> dict[str, Any]:
    """Give each node exactly one loop, of weight one, whether it had any or none.

    Examples
    --------
    >>> loops_added(Graph.from_edges([[0, 1]], 2)).adjacency.toarray()
    array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    adjacency = graph.adjacency
    loops = sp.eye_array(graph.n_nodes, dtype=adjacency.dtype, format="csr")
    return {"adjacency": sp.csr_array(_without_loops(adjacency) + loops)}


@_step("largest-component")
def largest_component(graph: Graph) -> dict[str, Any]:
    """Keep the largest set of nodes that paths join, in their order; direction does not count.

    Among sets of one size it is the nodes' places that decide, not their numbers (see `colours`).

    Examples
    --------
    >>> graph = Graph.from_edges([[0, 1], [3, 2], [3, 4]], 5, labels=[0, 1, 2, 3, 4])
    >>> largest_component(graph).labels
    array([2, 3, 4])
    """
    n_components, component = connected_components(graph.adjacency, directed=False)
    sizes = np.bincount(component, minlength=n_components)
    largest = np.flatnonzero(sizes == sizes.max(initial=0))
    if len(largest) > 1:
        largest = largest[[_first_by_place(graph, component, largest)]]
    return _restricted(graph, np.isin(component, largest))


@_step("features-binary")
def binary(graph: Graph) -> dict[str, Any]:
    """Turn positive features into one and all others into zero: whether a word occurs.

    So do many readers of published files without saying so, PyTorch Geometric's among them.

    Examples
    --------
    >>> binary(Graph(np.zeros((2, 2)), features=[[0.3, -1.0], [0.0, 2.0]])).features
    array([[1., 0.],
           [0., 1.]])
    """
    features = _features(graph, "features-binary")
    occurs = (features > 0).astype(features.dtype)
    return {"features": sp.csr_array(occurs) if sp.issparse(occurs) else occurs}


@_step("features-row-l1")
def row_normalised(graph: Graph) -> dict[str, Any]:
    """Divide each row of the features by the sum of its absolute values, or by one if less.

    Rows of zeros stay so, and sparse features stay sparse.

    Examples
    --------
    >>> row_normalised(Graph(np.zeros((2, 2)), features=[[1.0, 3.0], [0.0, 0.5]])).features
    array([[0.25, 0.75],
           [0.  , 0.5 ]])
    """
    features = _features(graph, "features-row-l1")
    sums = np.asarray(abs(features).sum(axis=1, dtype=np.float64)).ravel()
    scale = (1 / np.maximum(sums, 1)).astype(features.dtype)
    if sp.issparse(features):
        return {"features": sp.csr_array(features.multiply(scale[:, None]))}
    return {"features": features * scale[:, None]}


@_step("features-standardised")
def standardised(graph: Graph) -> dict[str, Any]:
    """Give each column of the features mean zero and deviation one, over all nodes.

    The deviation divides by n (see `standardised_unbiased`); columns that hold one value become
    zero. Sparse features become dense by it, since a shifted zero is none: mind the memory.

    Examples
    --------
    >>> standardised(Graph(np.zeros((2, 2)), features=[[1.0, 3.0], [2.0, 3.0]])).features
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    return {"features": _standardised(_features(graph, "features-standardised"), 0)}


@_step("features-standardised-unbiased")
def standardised_unbiased(graph: Graph) -> dict[str, Any]:
    """Standardise as `standardised` does, with the deviation that divides by n - 1.

    So does the published code of Teixeira et al., Are Graph Neural Networks Miscalibrated?, 2019.
    """
    features = _features(graph, "features-standardised-unbiased")
    return {"features": _standardised(features, 1)}


def _with_ones(adjacency: sp.csr_array) -> sp.csr_array:
    ones = np.ones(adjacency.nnz, np.float32)
    return sp.csr_array((ones, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def _without_loops(adjacency: sp.csr_array) -> sp.csr_array:
    entries = adjacency.tocoo()
    u, v = entries.coords
    kept = u != v
    return sp.coo_array((entries.data[kept], (u[kept], v[kept])), adjacency.shape).tocsr()


def _first_by_place(graph: Graph, component: IntArray, rivals: IntArray) -> int:
    """Choose among components by the sums of their nodes' colours, which wrap around."""
    sums = np.zeros(len(rivals), np.uint64)
    mine = np.isin(component, rivals)
    np.add.at(sums, np.searchsorted(rivals, component[mine]), graph.colours.nodes[mine])
    return int(np.argmin(sums))


def _restricted(graph: Graph, kept: BoolArray) -> dict[str, Any]:
    """Keep some nodes with what they carry and the links between them."""
    carried = {"features": graph.features, "labels": graph.labels, "ids": graph.ids}
    rows = {name: None if value is None else value[kept] for name, value in carried.items()}
    return {"adjacency": graph.adjacency[kept][:, kept], **rows}


def _features(graph: Graph, step: str) -> Any:
    if graph.features is None:
        raise InputError(f"{step}: the graph has no features")
    whole = graph.features.dtype.kind != "f"
    return graph.features.astype(np.float64) if whole else graph.features


def _standardised(features: Any, ddof: int) -> FloatArray:
    dense = np.array(features.toarray() if sp.issparse(features) else features)
    if not len(dense):
        return dense
    constant = dense.max(axis=0) == dense.min(axis=0)
    dense -= dense.mean(axis=0, dtype=np.float64).astype(dense.dtype)
    squares = np.einsum("ij,ij->j", dense, dense, dtype=np.float64)
    deviations = np.sqrt(squares / max(len(dense) - ddof, 1))
    # The mean of equal numbers may miss them by a rounding, which is not to be blown up.
    dense[:, constant] = 0
    dense /= np.where(constant | (deviations == 0), 1, deviations).astype(dense.dtype)
    return dense
