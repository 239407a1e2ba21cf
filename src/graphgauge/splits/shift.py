"""Splits by a property of the nodes: those with small values train, the others are the shift.

Nodes are ranked by a property σ, small is in distribution. The first nodes are in distribution
(ID) and fall at random into ``train``, ``valid_in`` and ``test_in``; of the others (OOD) those
nearest to the cut are ``valid_out`` and those furthest from it ``test_out``.

Where a cut falls between equal values, lots decide who goes where, and the recipe of the split
says how many nodes were tied and what is left of the shift: the AUROC with which σ itself tells
``test_in`` from ``test_out``, the ceiling of every detector that sees nothing but σ.

References
----------
Bazhenov et al., Evaluating Robustness and Uncertainty of Graph Models Under Structural
Distributional Shifts, NeurIPS 2023, section 3 (popularity, locality, density); Revisiting
Uncertainty Estimation for Node Classification: New Benchmark and Insights (feature).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.metrics.ood import separability
from graphgauge.parts import Split
from graphgauge.properties import node_property
from graphgauge.splits.levels import TOLERANCE, levels, share_tied
from graphgauge.splits.lots import Draw, draw_order, node_colours
from graphgauge.splits.sizes import ROUNDINGS, shift_shares

__all__ = ["SHIFTS", "SHIFT_PARTS", "Shift", "shift_property", "shift_quality", "shift_split"]

Property: TypeAlias = str | npt.ArrayLike | Callable[..., npt.ArrayLike]

SHIFT_PARTS = ("train", "valid_in", "test_in", "valid_out", "test_out")
"""The parts of a shift split, from the smallest values of the property to the largest."""


@dataclass(frozen=True, eq=False)
class Shift:
    """Which nodes are in distribution: those with small values of a property, or with large ones.

    Parameters
    ----------
    what
        A property's name, a function of the graph, or one number a node ``[n]``.
    large_inside
        Whether nodes with large values are in distribution.
    meaning
        Who ends up out of distribution, in words.
    """

    what: Property
    large_inside: bool = False
    meaning: str = ""

    @property
    def label(self) -> str:
        """Name of the property as a recipe tells it."""
        if isinstance(self.what, str):
            return self.what
        return getattr(self.what, "__name__", "own values")


SHIFTS: Mapping[str, Shift] = MappingProxyType(
    {
        "popularity": Shift("pagerank", True, "nodes of low PageRank"),
        "locality": Shift("personalised-pagerank", True, "nodes far from the most popular one"),
        "density": Shift("clustering", True, "nodes whose neighbours do not know each other"),
        "feature": Shift("feature-distance", False, "nodes with uncommon features"),
        "random": Shift("random", False, "any nodes: no shift, for comparison"),
    }
)
"""The shifts of the papers."""


def shift_property(
    graph: Graph, shift: str | Shift | Property, *, seed: int = 0, **arguments: Any
) -> FloatArray:
    """Compute σ of every node ``[n]``: small is in distribution.

    Parameters
    ----------
    graph
        Whose nodes.
    shift
        A name in `SHIFTS`, a `Shift`, or σ itself as an array or as a function of the graph.
    seed
        Of properties that draw random numbers.
    arguments
        What the property takes, such as ``restart`` for locality, and for it and popularity
        ``protocol="published"``, with which the published parts were made.

    Examples
    --------
    >>> star = Graph.from_edges([[0, 1], [0, 2], [0, 3]], 4)
    >>> shift_property(star, "popularity").argmin()
    np.int64(0)
    """
    shift = _shift(shift)
    values = node_property(graph, shift.what, seed=seed, **arguments)
    return -values if shift.large_inside else values


def shift_split(
    graph: Graph,
    shift: str | Shift | Property,
    *,
    ratio: float = 50,
    inner: Sequence[float] | None = None,
    rounding: str = "nearest",
    seed: int = 0,
    **arguments: Any,
) -> Split:
    """Split nodes by a property into parts in and out of distribution.

    Parameters
    ----------
    graph
        Whose nodes: all of them, with a label or without.
    shift
        A name in `SHIFTS`, a `Shift`, or σ itself (small is in distribution) as an array or as a
        function of the graph.
    ratio
        Percentage of the nodes that is in distribution.
    inner
        Percentages of ``train, valid_in, test_in, valid_out, test_out``; a part of 0 is left out.
        The papers give 30, 10, 10, 10, 40 for the ratio 50 and nothing for 70 and 90; by default
        the proportions within each side stay what they are at 50.
    rounding
        ``nearest``: no part further than one node from its share; ``shifts`` and ``revisiting``:
        as in the published parts of these papers (see `graphgauge.splits.sizes`).
    seed
        Of the lots, and of properties that draw random numbers.
    arguments
        What the property takes.

    Returns
    -------
    Split
        Its recipe tells the share of nodes ``tied`` at the cuts ``id_ood`` and
        ``valid_test_out``, and the ``ceiling``.

    Notes
    -----
    Values that differ by rounding alone are tied (see `levels`), and lots are drawn by the
    colours of the nodes. So renumbering the nodes renumbers the parts and changes nothing else,
    except among nodes that neither σ nor the colours of the graph tell apart.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> split = shift_split(planted(200, 3).graph, "density")
    >>> [len(split[name]) for name in split.parts]
    [60, 20, 20, 20, 80]
    >>> split.recipe["tied"]["valid_test_out"] > 0
    True
    """
    if rounding not in ROUNDINGS:
        expected = ", ".join(ROUNDINGS)
        raise InputError(f"unknown rounding {rounding!r} (expected one of: {expected})")
    shares = shift_shares(ratio, inner)
    sizes = ROUNDINGS[rounding](graph.n_nodes, shares)
    for name, share, size in zip(SHIFT_PARTS, shares, sizes, strict=True):
        if share and not size:
            raise InputError(f"{graph.n_nodes} nodes are too few: part {name} would be empty")
    level = levels(shift_property(graph, shift, seed=seed, **arguments))
    parts = dict(zip(SHIFT_PARTS, _cut(graph, level, sizes, seed), strict=True))
    recipe = {
        **_told(shift, arguments),
        "ratio": float(ratio),
        "inner": [float(share) for share in shares],
        "rounding": rounding,
        "tolerance": TOLERANCE,
        "seed": int(seed),
        "graph": graph.fingerprint,
        **shift_quality(level, parts),
    }
    return Split({k: v for k, v in parts.items() if len(v)}, graph.n_nodes, recipe)


def _shift(shift: str | Shift | Property) -> Shift:
    if isinstance(shift, Shift):
        return shift
    if not isinstance(shift, str):
        return Shift(shift)
    if shift not in SHIFTS:
        raise InputError(f"unknown shift {shift!r} (expected one of: {', '.join(SHIFTS)})")
    return SHIFTS[shift]


def _cut(graph: Graph, level: IntArray, sizes: Sequence[int], seed: int) -> list[IntArray]:
    """Rank the nodes by level, equal ones by lot; lots again divide those in distribution."""
    colours = node_colours(graph, apart=level)
    by_lot = draw_order(colours, seed, Draw.TIES)
    order = by_lot[np.argsort(level[by_lot], kind="stable")]
    inside, outside = np.split(order, [sum(sizes[:3])])
    inside = inside[draw_order(colours[inside], seed, Draw.PARTS)]
    pieces = np.split(inside, np.cumsum(sizes[:2])) + np.split(outside, [sizes[3]])
    return [np.sort(piece) for piece in pieces]


def shift_quality(level: IntArray, parts: Mapping[str, IntArray]) -> dict[str, Any]:
    """Tell how much of the shift ties have left to chance."""
    inside = sum(len(parts[name]) for name in SHIFT_PARTS[:3])
    tied = {
        "id_ood": share_tied(level, inside),
        "valid_test_out": share_tied(level, inside + len(parts["valid_out"])),
    }
    tests = np.concatenate([parts["test_in"], parts["test_out"]])
    is_out = np.arange(len(tests)) >= len(parts["test_in"])
    ceiling = separability(level[tests], is_out)
    return {"tied": tied, "ceiling": None if math.isnan(ceiling) else ceiling}


def _told(shift: str | Shift | Property, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Say in plain values by what nodes were ranked."""
    found = _shift(shift)
    return {
        "by": "shift",
        "shift": shift if isinstance(shift, str) else "own",
        "property": found.label,
        "inside": "large" if found.large_inside else "small",
        "arguments": {name: _plain(value) for name, value in arguments.items()},
    }


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    known = value is None or isinstance(value, bool | int | float | str)
    return value if known else type(value).__name__
