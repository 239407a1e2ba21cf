"""How far the nodes of a part lie from one another, along the edges of the whole graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.description.hops import AT_ONCE, hops
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.splits.lots import Draw, draw_order

__all__ = ["Distances", "distances"]


@dataclass(frozen=True, eq=False)
class Distances:
    """Lengths of shortest paths between pairs of nodes of a part.

    Parameters
    ----------
    shares
        Share of the joined pairs that are 1, 2, 3 … hops apart ``[longest]``.
    mean
        Mean number of hops of the joined pairs; not a number without any.
    error
        Standard error of the mean, over the nodes that were searched from; 0 when exact.
    apart
        Share of the pairs that no path joins.
    n_sources
        Nodes that were searched from.
    exact
        Whether these were all nodes of the part.
    """

    shares: FloatArray
    mean: float
    error: float
    apart: float
    n_sources: int
    exact: bool


def distances(
    graph: Graph, members: IntArray, *, n_sources: int | None = 256, seed: int = 0
) -> Distances:
    """Measure distances between the nodes of a part by breadth-first search.

    Paths may lead through nodes outside the part. From each source the distances to all other
    members are counted, so that a sample of sources estimates the shares of all pairs.

    Parameters
    ----------
    graph
        Taken as undirected.
    members
        Nodes of the part.
    n_sources
        How many members to search from, drawn by lot; None for all, which is exact.
    seed
        Of the lots.

    References
    ----------
    Bazhenov et al., Evaluating Robustness and Uncertainty of Graph Models Under Structural
    Distributional Shifts, NeurIPS 2023, appendix A, figures 8 to 10.

    Examples
    --------
    >>> path = Graph.from_edges([[0, 1], [1, 2], [2, 3]], 5)
    >>> found = distances(path, np.array([0, 1, 3]), n_sources=None)
    >>> found.mean, found.shares.round(2), found.exact
    (2.0, array([0.33, 0.33, 0.33]), True)
    """
    if n_sources is not None and n_sources < 1:
        raise InputError(f"n_sources: {n_sources} is too few to search from")
    sources = members
    if n_sources is not None and n_sources < len(members):
        lots = draw_order(graph.colours.nodes[members], seed, Draw.SOURCES)
        sources = members[lots[:n_sources]]
    found = [
        _counts(hops(graph.neighbours, block)[members])
        for block in np.array_split(sources, range(AT_ONCE, len(sources), AT_ONCE))
    ]
    width = max(counts.shape[1] for counts in found)
    counts = np.concatenate([np.pad(c, ((0, 0), (0, width - c.shape[1]))) for c in found])
    return _summary(counts, len(members))


def _counts(lengths: IntArray) -> IntArray:
    """Count for each source the members at every distance from 1 up ``[m, longest]``."""
    width = int(lengths.max(initial=0)) + 2
    m = lengths.shape[1]
    codes = (lengths + 1) + np.arange(m, dtype=np.int64) * width
    # Column 0 counts members out of reach and column 1 the source itself.
    return np.bincount(codes.ravel(), minlength=m * width).reshape(m, width)[:, 2:]


def _summary(counts: IntArray, n_members: int) -> Distances:
    m, width = counts.shape
    totals = counts.sum(axis=0)
    joined = int(totals.sum())
    sums, reached = counts @ np.arange(1, width + 1), counts.sum(axis=1)
    mean = float(sums.sum() / joined) if joined else float("nan")
    exact = m == n_members
    spread = sums - mean * reached
    error = 0.0 if exact else float("nan")
    if joined and not exact and m > 1:
        # The mean is a ratio of sums over sources, which are drawn without putting back.
        variance = (1 - m / n_members) * m / (m - 1) * float(spread @ spread)
        error = variance**0.5 / joined
    pairs = m * (n_members - 1)
    apart = 1 - joined / pairs if pairs else float("nan")
    return Distances(totals / max(joined, 1), mean, error, apart, m, exact)
