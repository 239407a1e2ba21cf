"""Graphs of any size whose degrees follow a power law, to see how time and memory grow.

Both ends of an edge are drawn by the weights of the nodes, loops and edges drawn before are thrown
away, and this goes on until there are as many different edges as were asked for (Chung and Lu's
model with the number of edges fixed). The share of nodes with a weight above w falls as
``w ** (1 - exponent)`` up to a cut: the heaviest node has the weight of ``sqrt(2 · n_edges)``
neighbours. Above it hubs would want edges among themselves more than once, so that their degrees
would depend on one another.

References
----------
Chung and Lu, Connected components in random graphs with given expected degree sequences, 2002;
Catanzaro, Boguñá and Pastor-Satorras, Generation of uncorrelated random scale-free networks, 2005;
Efraimidis and Spirakis, Weighted random sampling with a reservoir, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from graphgauge.arrays import MOST_NODES, FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph, undirected_edges

__all__ = ["powerlaw"]

_ROWS = 2**20
# With fewer pairs an edge, weighing every pair costs less than waiting for the last ones.
_DENSE = 3


def powerlaw(n_nodes: int, n_edges: int, *, exponent: float = 2.5, seed: int = 0) -> Graph:
    """Make a graph with exactly `n_edges` undirected edges and power-law degrees.

    Parameters
    ----------
    n_nodes, n_edges
        Size. Some nodes may stay without an edge.
    exponent
        Of the law of degrees, from 2.1 to 100; the larger, the more alike they are.
    seed
        Everything follows from it.

    Examples
    --------
    >>> graph = powerlaw(1000, 5000)
    >>> graph.n_nodes, len(graph.edges), int(graph.degrees.max()) > 50
    (1000, 5000, True)
    >>> powerlaw(3, 4)
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: n_edges: 3 nodes have room for 0 to 3 edges, not 4
    """
    if not 0 <= n_nodes <= MOST_NODES:
        raise InputError(f"n_nodes: {n_nodes} is not between 0 and {MOST_NODES}")
    room = n_nodes * (n_nodes - 1) // 2
    if not 0 <= n_edges <= room:
        raise InputError(f"n_edges: {n_nodes} nodes have room for 0 to {room} edges, not {n_edges}")
    if not 2.1 <= exponent <= 100:
        raise InputError(f"exponent: {exponent} is not between 2.1 and 100")
    rng = np.random.default_rng(seed)
    edges: IntArray = np.empty((0, 2), np.int64)
    if n_edges:
        law = _Law.of(n_nodes, n_edges, exponent, rng)
        choose = _weigh_pairs if room <= _DENSE * n_edges else _draw_pairs
        edges = choose(law, n_edges, rng)
    name = f"powerlaw(n={n_nodes},e={n_edges},exponent={exponent:g},seed={seed})"
    return Graph.from_edges(edges, n_nodes, name=name)


@dataclass(frozen=True, eq=False)
class _Law:
    """Nodes stand in random places and weigh ``(place + shift) ** (power - 1)``."""

    nodes: IntArray
    shift: float
    power: float

    @classmethod
    def of(cls, n_nodes: int, n_edges: int, exponent: float, rng: np.random.Generator) -> _Law:
        """Find the shift that gives the heaviest node its weight."""
        power = 1 - 1 / (exponent - 1)
        wanted = np.log(n_nodes / np.sqrt(2 * n_edges))

        def excess(spread: float) -> float:
            """Compare the heaviest over the mean with what is wanted, both as logarithms."""
            ratio = np.exp(spread)
            return float(np.log(power * ratio / np.expm1(power * np.log1p(ratio))) - wanted)

        least, most = np.log(1e-6), np.log(n_nodes)
        spread = most if excess(most) < 0 else least
        if excess(least) < 0 < excess(most):
            spread = brentq(excess, least, most)
        nodes = rng.permutation(n_nodes).astype(np.int32)
        return cls(nodes, float(n_nodes / np.exp(spread)), power)

    def draw(self, n: int, rng: np.random.Generator) -> IntArray:
        """Draw nodes by weight: invert the integral of the weights."""
        n_nodes = len(self.nodes)
        low, high = self.shift**self.power, (n_nodes + self.shift) ** self.power
        places = (low + (high - low) * rng.random(n)) ** (1 / self.power) - self.shift
        return np.asarray(self.nodes[np.clip(places, 0, n_nodes - 1).astype(np.int64)])

    @property
    def weights(self) -> FloatArray:
        """Chance of the node in each place to be the next one drawn."""
        heights = (np.arange(len(self.nodes) + 1) + self.shift) ** self.power
        return np.asarray(np.diff(heights) / (heights[-1] - heights[0]))


def _draw_pairs(law: _Law, n_edges: int, rng: np.random.Generator) -> IntArray:
    """Draw both ends by weight until there are enough different edges, then drop what is over."""
    edges: IntArray = np.empty((0, 2), np.int32)
    found = 1.0
    while len(edges) < n_edges:
        missing, before = n_edges - len(edges), len(edges)
        drawn = np.empty((int(missing / found) + 1, 2), np.int32)
        for start in range(0, len(drawn), _ROWS):
            rows = drawn[start : start + _ROWS]
            rows[...] = law.draw(rows.size, rng).reshape(-1, 2)
        edges = undirected_edges(np.concatenate([edges, drawn]), len(law.nodes))
        found = max((len(edges) - before) / len(drawn), 0.1)
    kept = np.ones(len(edges), bool)
    kept[rng.choice(len(edges), len(edges) - n_edges, replace=False)] = False
    return edges[kept]


def _weigh_pairs(law: _Law, n_edges: int, rng: np.random.Generator) -> IntArray:
    """Take the pairs whose clocks, which run as fast as the pairs weigh, are the first to ring.

    These are the pairs that drawing until there are enough would find.
    """
    u, v = np.triu_indices(len(law.nodes), 1)
    weights = law.weights
    rings = rng.standard_exponential(len(u)) / (weights[u] * weights[v])
    first = np.argpartition(rings, n_edges - 1)[:n_edges]
    return np.stack([law.nodes[u[first]], law.nodes[v[first]]], axis=1)
