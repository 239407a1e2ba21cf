"""Figures of what a split does: histograms of two sides, and nodes as points in the plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from markupsafe import Markup

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.report.figures import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Figure,
    Values,
    frame,
    plot,
    steps,
)
from graphgauge.report.svg import Scale, curve, element, label, picture, tick_text
from graphgauge.report.wording import count, percent, plural

__all__ = ["cloud", "histograms"]

_KINDS = ("id", "ood")
_TICKS, _WIDE_TICKS = 9, 5
_WIDE, _HIGH, _MARGIN = 400, 320, 6
_OUTERMOST = (0.5, 99.5)
# Points of the sides are drawn in turns, so that neither hides the other.
_TURNS = 12


def histograms(
    edges: Sequence[float],
    shares: Mapping[str, Sequence[float]],
    *,
    key: str,
    names: tuple[str, str],
) -> Figure:
    r"""Draw the shares of two sides, bin by bin; bins get equal room, however wide they are.

    Parameters
    ----------
    edges
        Of the bins; whole numbers from 0 or 1 stand in the middle of their bins.
    shares
        Of the nodes of each side, by its name, the first one first.
    key
        Unique in the page.
    names
        Of the axis of values, and of what the shares are of.

    Examples
    --------
    >>> shares = {"ID": [0.9, 0.1], "OOD": [0.3, 0.7]}
    >>> histograms([0, 1, 2], shares, key="a", names=("degree", "nodes")).sentence
    'The two histograms share 40.0\xa0% of their area.'
    """
    heights = list(shares.values())
    top = max((max(own, default=0.0) for own in heights), default=0.0)
    if top <= 0:
        return Figure(Markup(""), "Not drawn: there is nothing to compare.")
    places = list(range(len(edges)))
    x, y = Scale(0, places[-1], LEFT, RIGHT), Scale.up_to(top, BOTTOM, TOP)
    marks = [*frame(y, (names[0], f"share of {names[1]}"))]
    for kind, own in zip(_KINDS, heights, strict=True):
        outline = [(x(a), y(b)) for a, b in steps(places, own)]
        marks += [curve(outline, f"area {kind}", closed=True), curve(outline, f"line {kind}")]
    marks += _bin_labels(edges, x)
    sentence = f"The two histograms share {percent(sum(map(min, *heights)))} of their area."
    title = f"{names[0]} of the {names[1]} on both sides"
    return Figure(plot(marks, key=key, title=title, told=sentence), sentence)


def _bin_labels(edges: Sequence[float], x: Scale) -> Iterator[Markup]:
    whole = edges[0] in (0, 1) and all(float(edge).is_integer() for edge in edges)
    named = list(enumerate(edges))[: -1 if whole else None]
    for i, edge in named[:: -(-len(named) // (_TICKS if whole else _WIDE_TICKS))]:
        text = tick_text(edge) if whole else _short(edge)
        # The last one would reach out of a narrow page.
        anchor = "end" if i == len(edges) - 1 else "middle"
        yield label(text, (x(i + 0.5 * whole), BOTTOM + 18), anchor=anchor)


def _short(value: float) -> str:
    """Write a number in few characters.

    Examples
    --------
    >>> _short(0.0000123), _short(0.125), _short(0.0)
    ('1e−5', '0.12', '0')
    """
    if 0 < abs(value) < 1e-3:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}".replace("-", "−")
    return tick_text(float(f"{value:.2g}"))


def cloud(values: Values, *, key: str, sides: tuple[str, str], title: str) -> Figure:
    """Draw nodes as points, those of either side in its colour.

    Parameters
    ----------
    values
        Points ``[m, 2]``, their sides and lines between them, as `Cloud` has them.
    key
        Unique in the page.
    sides
        What the sides are called.
    title
        What is drawn.

    Examples
    --------
    >>> values = {"points": [[0, 0], [1, 2]], "sides": [0, 1], "lines": [[0, 1]], "n_nodes": 3}
    >>> cloud(values, key="a", sides=("ID", "OOD"), title="The graph").sentence
    '2 of 3 nodes, drawn by lot; 1 on the side ID, 1 on OOD.'
    """
    points = np.asarray(values["points"], float).reshape(-1, 2)
    codes = np.asarray(values["sides"], int)
    if not len(points):
        return Figure(Markup(""), "Not drawn: there are no nodes.")
    placed = _placed(points)
    marks = [_lines(placed, np.asarray(values["lines"], int).reshape(-1, 2))]
    turn = np.arange(len(points)) % _TURNS
    for now in range(_TURNS):
        for code, kind in ((-1, "aside"), *enumerate(_KINDS)):
            marks.append(_dots(placed[(turn == now) & (codes == code)], kind))
    on = [int((codes == code).sum()) for code in range(2)]
    n = values["n_nodes"]
    seen = plural(n, "node") if n == len(points) else f"{count(len(points))} of {plural(n, 'node')}"
    lot = "" if n == len(points) else ", drawn by lot"
    told = f"{count(on[0])} on the side {sides[0]}, {count(on[1])} on {sides[1]}"
    sentence = f"{seen}{lot}; {told}."
    size = (_WIDE, _HIGH)
    shown = picture(*marks, size=size, title=title, told=(key, sentence), kind="plot cloud")
    return Figure(shown, sentence)


def _placed(points: FloatArray) -> IntArray:
    """Scale points into the frame, both axes alike; the outermost are drawn at its border."""
    low, high = np.percentile(points, _OUTERMOST, axis=0)
    room = np.array([_WIDE, _HIGH]) - 2.0 * _MARGIN
    scale = (room / np.maximum(high - low, 1e-12)).min()
    at = room / 2 + (points - (low + high) / 2) * scale * (1, -1)
    return np.asarray(np.round(np.clip(at, 0, room) + _MARGIN), np.int64)


def _dots(at: IntArray, kind: str) -> Markup:
    path = "".join(f"M{x} {y}h0" for x, y in at)
    return element("path", d=path, class_=f"dots {kind}") if path else Markup("")


def _lines(at: IntArray, lines: IntArray) -> Markup:
    pairs = zip(at[lines[:, 0]], at[lines[:, 1]], strict=True)
    path = "".join(f"M{a[0]} {a[1]}L{b[0]} {b[1]}" for a, b in pairs)
    return element("path", d=path, class_="links") if path else Markup("")
