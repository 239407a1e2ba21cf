"""Small figures that stand in a table's row: a value in its band, a difference, a share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from graphgauge.report.svg import Scale, box, curve, element, picture, segment
from graphgauge.report.wording import interval, is_number, number, percent

__all__ = ["difference_strip", "share_bar", "value_strip", "verdict_on_null"]

_WIDTH, _HEIGHT, _MIDDLE, _BASE = 280, 40, 12, 25
_LEFT, _RIGHT = 8, 272
_ENDS = ("value", "low", "high", "null_low", "null_high", "block_low", "block_high")
_AGAINST = {("above", "lower"), ("below", "higher")}


def verdict_on_null(metric: Mapping[str, Any]) -> str:
    """Say what a place beside the null band means: ``worse``, ``better``, ``inside`` or nothing.

    Examples
    --------
    >>> verdict_on_null({"null": "above", "direction": "lower"})
    'worse'
    """
    null = metric.get("null")
    if null not in ("above", "below"):
        return "inside" if null == "inside" else ""
    if metric.get("direction") not in ("lower", "higher"):
        return "outside"
    return "worse" if (null, metric["direction"]) in _AGAINST else "better"


def value_strip(
    metric: Mapping[str, Any], *, bounds: tuple[object, object] = (None, None)
) -> Markup:
    """Draw a value, its interval and its null band on one axis; nothing without a value.

    Parameters
    ----------
    metric
        One row of a score's metrics.
    bounds
        Range of the metric, drawn when there is nothing else to measure the value against.

    Examples
    --------
    >>> strip = value_strip({"name": "ece", "value": 0.1, "low": 0.08, "high": 0.12})
    >>> strip.striptags()[:26]
    'ece: 0.100 (0.080 to 0.120'
    """
    if not is_number(metric.get("value")):
        return Markup("")
    scale = _scale(metric, bounds)
    marks = [_null_band(metric, scale), *_axis(scale), *_intervals(metric, scale)]
    marks.append(_value_mark(scale(float(metric["value"])), verdict_on_null(metric) == "worse"))
    size = (_WIDTH, _HEIGHT)
    return picture(*marks, size=size, title=_strip_title(metric), kind="strip")


def _scale(metric: Mapping[str, Any], bounds: tuple[object, object]) -> Scale:
    known = [float(metric[end]) for end in _ENDS if is_number(metric.get(end))]
    limits = [float(bound) for bound in bounds if is_number(bound)]
    if len(known) > 1 or len(limits) < 2 or limits[0] >= limits[1]:
        return Scale.around(known, _LEFT, _RIGHT)
    return Scale(min(known + limits), max(known + limits), _LEFT, _RIGHT)


def _strip_title(metric: Mapping[str, Any]) -> str:
    value = metric.get("value")
    ends = interval(metric.get("low"), metric.get("high"), like=value)
    band = interval(metric.get("null_low"), metric.get("null_high"), like=value)
    title = f"{metric.get('name', '')}: {number(value)} ({ends})"
    return title if band == "–" else f"{title}, null band {band}"


def _null_band(metric: Mapping[str, Any], scale: Scale) -> Markup:
    low, high = metric.get("null_low"), metric.get("null_high")
    if not (is_number(low) and is_number(high)):
        return Markup("")
    start, end = scale(low), scale(high)
    return box((start, 3), (max(end - start, 2), 18), "band", round_by=3)


def _axis(scale: Scale) -> list[Markup]:
    ticks = [(text, scale(value)) for value, text in scale.ticks(4)]
    strokes = "".join(f"M{place:.1f} {_BASE}v3" for _, place in ticks)
    line = element("path", d=f"M{_LEFT} {_BASE}H{_RIGHT}{strokes}", class_="axis")
    return [line, *(element("text", text, x=place, y=_HEIGHT - 2) for text, place in ticks)]


def _intervals(metric: Mapping[str, Any], scale: Scale) -> Iterable[Markup]:
    for low, high, kind in (("block_low", "block_high", "block"), ("low", "high", "interval")):
        if is_number(metric.get(low)) and is_number(metric.get(high)):
            yield from _whisker(scale(metric[low]), scale(metric[high]), kind)


def _whisker(start: float, end: float, kind: str) -> Iterable[Markup]:
    yield segment((start, _MIDDLE), (end, _MIDDLE), kind)
    if kind == "block":
        for place in (start, end):
            yield segment((place, _MIDDLE - 4), (place, _MIDDLE + 4), kind)


def _value_mark(place: float, worse: bool) -> Markup:
    """Draw a dot, or a diamond where the value speaks against the model."""
    if not worse:
        return element("circle", cx=place, cy=_MIDDLE, r=4.5, class_="value")
    corners = [(place, _MIDDLE - 6), (place + 6, _MIDDLE), (place, _MIDDLE + 6)]
    return curve([*corners, (place - 6, _MIDDLE)], "value worse", closed=True)


def difference_strip(row: Mapping[str, Any], *, reach: float) -> Markup:
    """Draw a difference with its interval about zero, on a scale of `reach` to both sides.

    Examples
    --------
    >>> row = {"difference": 0.02, "low": 0.01, "high": 0.03}
    >>> difference_strip(row, reach=0.05).striptags()
    'Difference 0.020 (0.010 to 0.030)−0.0500.05'
    """
    value = row.get("difference")
    if not is_number(value) or not is_number(reach) or reach <= 0:
        return Markup("")
    scale = Scale.around([-reach, reach], _LEFT, _RIGHT)
    marks = [segment((scale(0), 2), (scale(0), _BASE), "zero"), *_axis(scale)]
    marks += [*_intervals(row, scale), _value_mark(scale(value), worse=False)]
    told = f"Difference {number(value)} ({interval(row.get('low'), row.get('high'), like=value)})"
    return picture(*marks, size=(_WIDTH, _HEIGHT), title=told, kind="strip")


def share_bar(value: object, *, mark: object = None) -> Markup:
    """Draw a share as a bar, with a notch where the whole stands; nothing without a value.

    Examples
    --------
    >>> share_bar(0.25, mark=0.5).striptags()
    '25.0 %, the whole 50.0 %'
    """
    if not is_number(value):
        return Markup("")
    scale = Scale(0, 1, 0, 96)
    marks = [box((0, 3), (96, 6), "rail"), box((0, 3), (scale(value), 6), "bar")]
    title = percent(value)
    if is_number(mark):
        marks.append(segment((scale(mark), 0), (scale(mark), 12), "notch"))
        title += f", the whole {percent(mark)}"
    return picture(*marks, size=(96, 12), title=title, kind="sharebar")
