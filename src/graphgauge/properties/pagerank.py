"""PageRank and personalised PageRank, exact to rounding at every node.

A walker follows one of the edges with probability d, the damping, and otherwise restarts at a node
drawn from v, as he does where no edge leads on. The shares π of his time are, up to their sum, the
solution y of ``(1 - d A D⁻¹) y = v``: walkers that come back from isolated nodes only scale v. On
an undirected graph ``y = D^½ z`` makes the equations symmetric and positive definite, so that
conjugate gradients solve them in a fraction of the steps of the usual iteration.

By themselves these are exact for large shares only, while nodes far from the restart have shares
many orders smaller, and those decide who is out of distribution. So the solution is refined. What
an equation still lacks is set against the terms of this very equation, is dropped where it is
rounding, and is solved for again, in single precision, until nothing is left. No term is negative,
so rounding in every equation is rounding in every share.

References
----------
Page, Brin, Motwani and Winograd, The PageRank citation ranking, 1999; Bazhenov et al., Evaluating
Robustness and Uncertainty of Graph Models Under Structural Distributional Shifts, NeurIPS 2023,
equation 1; Higham, Accuracy and Stability of Numerical Algorithms, 2002, chapters 7 and 12.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from weakref import WeakKeyDictionary

import numpy as np

from graphgauge.arrays import FloatArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.properties.links import Links

__all__ = ["pagerank", "personalised_pagerank"]

_MOST_DAMPING = 0.999
_ROUNDING = 16 * float(np.finfo(np.float64).eps)
# Shares below this are as good as zero; squares of corrections to them would be zero.
_SMALLEST = 1e-300
_ROUNDS, _STEPS = 200, 1000
# How much of what is lacking a round leaves, at least and at most.
_REDUCTION, _ENOUGH = 1e-5, 0.1
# Shares that differ by less are equal, as far as a choice between them goes.
_TIE = 1e-10
_PUBLISHED_CHANGE = 1e-6

# A graph is frozen, and whoever asks for its locality has often asked for its popularity.
_known: WeakKeyDictionary[Graph, dict[tuple[float, str], FloatArray]] = WeakKeyDictionary()
_links: WeakKeyDictionary[Graph, Links] = WeakKeyDictionary()


def pagerank(graph: Graph, *, damping: float = 0.85, protocol: str = "corrected") -> FloatArray:
    """Compute the share of its time that a walk which restarts anywhere spends at every node.

    Parameters
    ----------
    graph
        Taken as undirected, without weights and self-loops.
    damping
        Probability of following an edge rather than restarting, at most 0.999.
    protocol
        ``corrected`` for the fixed point, ``published`` for the iterate that the published
        splits were made with: the walk starts at the restart, stops when the shares change by
        less than 1e-6 in all, and after an odd number of steps the last one is not kept.

    Examples
    --------
    >>> pagerank(Graph.from_edges([[0, 1], [1, 2]], 3)).round(4)
    array([0.2568, 0.4865, 0.2568])
    """
    _check_walk(damping, protocol)
    known = _known.setdefault(graph, {})
    key = damping, protocol
    if key not in known:
        anywhere = np.full(graph.n_nodes, 1 / max(graph.n_nodes, 1))
        known[key] = _shares(graph, anywhere, damping, protocol)
    return known[key].copy()


def personalised_pagerank(
    graph: Graph,
    *,
    restart: int | None = None,
    damping: float = 0.85,
    protocol: str = "corrected",
) -> FloatArray:
    """Compute the share of its time that a walk which restarts at one node spends at every node.

    Nodes that no path joins to the restart have exactly zero.

    Parameters
    ----------
    graph, damping, protocol
        As for `pagerank`.
    restart
        The node; by default the one of the largest PageRank. Of several such nodes, alike to
        1e-10, the one of the smallest colour is taken, whatever the nodes' numbers are.

    Examples
    --------
    >>> personalised_pagerank(Graph.from_edges([[0, 1], [1, 2]], 4)).round(4)
    array([0.2297, 0.5405, 0.2297, 0.    ])
    """
    n = graph.n_nodes
    _check_walk(damping, protocol)
    if restart is None:
        restart = _most_popular(graph, pagerank(graph, damping=damping, protocol=protocol))
    elif not isinstance(restart, (int, np.integer)):
        raise InputError(f"restart: {restart!r} is not the number of a node")
    elif not 0 <= restart < n:
        raise InputError(f"restart: node {restart} is outside nodes 0..{n - 1}")
    return _shares(graph, (np.arange(n) == restart).astype(np.float64), damping, protocol)


def _most_popular(graph: Graph, shares: FloatArray) -> int:
    candidates = np.flatnonzero(shares >= shares.max(initial=0.0) * (1 - _TIE))
    if len(candidates) > 1:
        candidates = candidates[np.argsort(graph.colours.nodes[candidates], kind="stable")]
    return int(candidates[0]) if len(candidates) else -1


def _check_walk(damping: object, protocol: object) -> None:
    if not isinstance(damping, Real):
        raise InputError(f"damping: {damping!r} is not a number")
    if not 0 <= float(damping) <= _MOST_DAMPING:
        raise InputError(f"damping: {damping} is not between 0 and {_MOST_DAMPING}")
    if protocol not in ("corrected", "published"):
        raise InputError(f"unknown protocol {protocol!r} (corrected or published)")


def _shares(graph: Graph, restart: FloatArray, damping: float, protocol: str) -> FloatArray:
    if graph not in _links:
        _links[graph] = Links.of(graph.neighbours)
    links = _links[graph]
    solve = _fixed_point if protocol == "corrected" else _published_iterate
    shares = np.empty(graph.n_nodes)
    shares[links.order] = solve(links, restart[links.order], damping)
    return shares


def _fixed_point(links: Links, restart: FloatArray, damping: float) -> FloatArray:
    root = np.sqrt(np.maximum(links.degrees, 1))
    wanted, solution = restart / root, np.zeros(len(root))
    equations = _equations(links, root.astype(np.float32), damping)
    for _ in range(_ROUNDS):
        arriving = damping * links.sums(solution / root) / root
        lacking = wanted + arriving - solution
        rounding = _ROUNDING * (wanted + arriving + solution) + _SMALLEST
        lacking[np.abs(lacking) <= rounding] = 0
        largest = np.abs(lacking).max(initial=0)
        if not largest:
            shares = solution * root
            return np.asarray(shares / shares.sum())
        # The last rounds have little to do, and need not do more.
        enough = float(np.min(rounding, where=lacking != 0, initial=largest) / largest)
        part = (lacking / largest).astype(np.float32)
        correction = _conjugate_gradients(equations, part, enough)
        solution = np.maximum(solution + largest * correction.astype(np.float64), 0)
    raise InputError(f"damping: the walk did not settle within {_ROUNDS} rounds at {damping}")


def _equations(
    links: Links, root: FloatArray, damping: float
) -> Callable[[FloatArray], FloatArray]:
    """Make the function ``z -> (1 - d D^-½ A D^-½) z``."""
    before, after = 1 / root, -damping / root

    def apply(values: FloatArray) -> FloatArray:
        image = links.sums(values * before)
        image *= after
        image += values
        return image

    return apply


def _conjugate_gradients(
    equations: Callable[[FloatArray], FloatArray], wanted: FloatArray, enough: float
) -> FloatArray:
    """Solve ``equations(x) = wanted``, of which no more than about `enough` stays anywhere."""
    solution, lacking = np.zeros_like(wanted), wanted.copy()
    direction = wanted.copy()
    size = float(lacking @ lacking)
    goal = min(max((enough / 3) ** 2, size * _REDUCTION**2), size * _ENOUGH**2)
    for _ in range(_STEPS):
        if size <= goal:
            break
        image = equations(direction)
        step = size / float(direction @ image)
        solution += step * direction
        image *= step
        lacking -= image
        size, before = float(lacking @ lacking), size
        direction *= size / before
        direction += lacking
    return solution


def _published_iterate(links: Links, restart: FloatArray, damping: float) -> FloatArray:
    lonely = links.degrees == 0
    out = damping / np.maximum(links.degrees, 1)
    shares, odd = restart, False
    while True:
        back = 1 - damping + damping * shares[lonely].sum()
        after = links.sums(shares * out) + back * restart
        odd = not odd
        if np.abs(after - shares).sum() < _PUBLISHED_CHANGE:
            return shares if odd else after
        shares = after
