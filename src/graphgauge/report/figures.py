"""Curves and histograms of the report: inline SVG from aggregated values, each with a sentence.

A figure never grows with the input: curves are thinned and histograms merged to about a hundred
places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from markupsafe import Markup

from graphgauge.arrays import FloatArray
from graphgauge.report.svg import Scale, box, curve, label, picture, segment, tick_text
from graphgauge.report.wording import is_number, name, percent

__all__ = [
    "BOTTOM",
    "LEFT",
    "RIGHT",
    "TOP",
    "Figure",
    "Values",
    "frame",
    "plot",
    "ranks",
    "rejection",
    "steps",
    "uncertainty",
]

Values: TypeAlias = Mapping[str, Any]
# Narrower or wider spans cannot be divided into ticks.
_LEAST_SPAN = 1e-200
_MOST_PLACES = 100
LEFT, RIGHT, TOP, BOTTOM = 46, 392, 20, 222
_SIZE = (400, 266)


@dataclass(frozen=True)
class Figure:
    """A drawn figure with what one reads from it."""

    picture: Markup
    sentence: str


def rejection(values: Values, *, key: str) -> Figure:
    r"""Draw accepted errors against the share accepted, beside an oracle and chance.

    Parameters
    ----------
    values
        An entry of a score's ``figures.rejection``.
    key
        Unique in the page.

    Examples
    --------
    >>> figure = rejection({"x": [0, 0.5, 1], "y": [0, 0.05, 0.2], "oracle": [0, 0, 0.2],
    ...                     "random": [0, 0.1, 0.2]}, key="a")
    >>> print(figure.sentence.replace("; ", "\n").replace("\xa0", " "))
    With the more certain half accepted, 5.0 % of all are accepted and wrong
    oracle 0 %, chance 10.0 %.
    """
    lines = _lines(values)
    top = max((float(line[1].max()) for line in lines.values()), default=0.0)
    x, y = Scale(0, 1, LEFT, RIGHT), Scale.up_to(top, BOTTOM, TOP)
    marks = [*_axes(x, y, ("share accepted", "accepted and wrong"))]
    if {"oracle", "random"} <= lines.keys():
        around = [*_placed(lines["random"], x, y), *reversed(_placed(lines["oracle"], x, y))]
        marks.append(curve(around, "reach", closed=True))
    marks += [curve(_placed(line, x, y), f"line {kind}") for kind, line in lines.items()]
    sentence = _half_sentence(lines)
    told = f"Share of all items accepted and wrong, against the share accepted. {sentence}"
    title = f"Rejection by {name(values.get('uncertainty'))} in {name(values.get('part'))}"
    return Figure(plot(marks, key=key, title=title, told=told), sentence)


def _lines(values: Values) -> dict[str, FloatArray]:
    """Collect the known points ``[2, p]`` of every curve, drawn in this order."""
    lines = {}
    for kind, column in (("random", "random"), ("oracle", "oracle"), ("model", "y")):
        pairs = zip(values["x"], values.get(column) or (), strict=False)
        known = [pair for pair in pairs if all(map(is_number, pair))]
        if known:
            kept = np.unique(np.linspace(0, len(known) - 1, _MOST_PLACES + 1).astype(int))
            lines[kind] = np.array(known, float)[kept].T
    return lines


def _placed(line: FloatArray, x: Scale, y: Scale) -> list[tuple[float, float]]:
    return [(x(float(a)), y(float(b))) for a, b in line.T]


def _half_sentence(lines: Mapping[str, FloatArray]) -> str:
    if "model" not in lines:
        return "No curve: nothing was accepted."
    at_half = {kind: percent(float(np.interp(0.5, *line))) for kind, line in lines.items()}
    others = {"oracle": "oracle", "random": "chance"}
    beside = ", ".join(
        f"{word} {at_half[kind]}" for kind, word in others.items() if kind in at_half
    )
    told = f"With the more certain half accepted, {at_half['model']} of all are accepted and wrong"
    return f"{told}; {beside}." if beside else f"{told}."


def uncertainty(values: Values, *, key: str) -> Figure:
    r"""Draw the uncertainty of ID items against that of OOD items as two histograms.

    Parameters
    ----------
    values
        An entry of a score's ``figures.uncertainty``.
    key
        Unique in the page.

    Examples
    --------
    >>> figure = uncertainty({"edges": [0, 1, 2], "id": [0.9, 0.1], "ood": [0.3, 0.7]}, key="a")
    >>> figure.sentence
    'The two histograms share 40.0\xa0% of their area.'
    """
    sides = {side: _merged(values["edges"], values[side]) for side in ("id", "ood")}
    edges = sides["id"][0]
    top = max((max(heights, default=0.0) for _, heights in sides.values()), default=0.0)
    span = edges[-1] - edges[0] if len(edges) > 1 else 0.0
    if not _LEAST_SPAN < span < 1 / _LEAST_SPAN or top <= 0:
        return Figure(Markup(""), "Not drawn: there is nothing to compare.")
    x, y = Scale(edges[0], edges[-1], LEFT, RIGHT), Scale.up_to(top, BOTTOM, TOP)
    measure = name(values.get("uncertainty"))
    marks = [*_axes(x, y, (f"uncertainty ({measure})", "share of the part"))]
    for side, (_, heights) in sides.items():
        outline = [(x(a), y(b)) for a, b in steps(edges, heights)]
        marks += [curve(outline, f"area {side}", closed=True), curve(outline, f"line {side}")]
    both = sum(map(min, sides["id"][1], sides["ood"][1]))
    sentence = f"The two histograms share {percent(both)} of their area."
    parts = f"{name(values.get('id_part'))} (ID) and {name(values.get('ood_part'))} (OOD)"
    title = f"Uncertainty by {measure} in {parts}"
    return Figure(plot(marks, key=key, title=title, told=sentence), sentence)


def _merged(edges: Sequence[object], shares: Sequence[object]) -> tuple[list[float], list[float]]:
    """Merge neighbouring bins until they can be drawn; shares of merged bins add up."""
    places = [float(e) for e in edges if is_number(e)]
    heights = [float(s) if is_number(s) else 0.0 for s in shares]
    if len(places) != len(heights) + 1:
        return [], []
    step = -(-len(heights) // _MOST_PLACES) or 1
    starts = range(0, len(heights), step)
    return [*places[0:-1:step], places[-1]], [sum(heights[s : s + step]) for s in starts]


def steps(edges: Sequence[float], heights: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Go along the outline of a histogram."""
    yield edges[0], 0.0
    for low, high, height in zip(edges[:-1], edges[1:], heights, strict=True):
        yield low, height
        yield high, height
    yield edges[-1], 0.0


def ranks(values: Values, *, key: str) -> Figure:
    r"""Draw the share of positives by rank; bins get equal room, however wide they are.

    Parameters
    ----------
    values
        An entry of a score's ``figures.ranks``.
    key
        Unique in the page.

    Examples
    --------
    >>> ranks({"part": "test", "edges": [1, 2, 11], "share": [0.4, 0.6]}, key="a").sentence
    '40.0\xa0% of the positives lie in the first bin, ranks from 1 to below 2.'
    """
    edges, heights = _merged(values["edges"], values["share"])
    if not heights or max(heights) <= 0:
        return Figure(Markup(""), "Not drawn: there are no ranks.")
    x, y = Scale(0, len(heights), LEFT, RIGHT), Scale.up_to(max(heights), BOTTOM, TOP)
    marks = [*frame(y, ("rank among the negatives", "share of positives"))]
    wide = x(1) - x(0)
    for i, height in enumerate(heights):
        corner = (x(i) + 0.06 * wide, y(height))
        marks.append(box(corner, (0.88 * wide, BOTTOM - y(height)), "bar"))
    every = -(-len(edges) // 9)
    for i, edge in list(enumerate(edges))[::every]:
        marks.append(label(tick_text(edge), (x(i), BOTTOM + 18), anchor="middle"))
    ends = f"ranks from {tick_text(edges[0])} to below {tick_text(edges[1])}"
    sentence = f"{percent(heights[0])} of the positives lie in the first bin, {ends}."
    title = f"Ranks of the positives in {name(values.get('part'))}"
    return Figure(plot(marks, key=key, title=title, told=sentence), sentence)


def plot(marks: Sequence[Markup], *, key: str, title: str, told: str) -> Markup:
    """Frame what was drawn as a wide figure with a name and a description."""
    return picture(*marks, size=_SIZE, title=title, told=(key, told), kind="plot wide")


def _axes(x: Scale, y: Scale, names: tuple[str, str]) -> Iterator[Markup]:
    yield from frame(y, names)
    for tick, text in x.ticks(6):
        yield segment((x(tick), BOTTOM), (x(tick), BOTTOM + 4), "axis")
        yield label(text, (x(tick), BOTTOM + 18), anchor="middle")


def frame(y: Scale, names: tuple[str, str]) -> Iterator[Markup]:
    """Draw an axis of shares with its grid, and name both axes."""
    yield label(names[1], (LEFT, 11), "axisname")
    yield label(names[0], (RIGHT, BOTTOM + 36), "axisname", anchor="end")
    for tick, _ in y.ticks(5):
        kind = "axis" if tick == 0 else "grid"
        yield segment((LEFT, y(tick)), (RIGHT, y(tick)), kind)
        yield label(percent(tick).replace(".0", ""), (LEFT - 6, y(tick) + 4), anchor="end")
