"""A tiny builder of inline SVG: elements, pictures with a name, and scales.

Text is escaped by the builder; colours come from the page's style sheet through classes, so one
figure serves light, dark and print.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

from graphgauge.report.wording import clean, is_number

__all__ = [
    "Point",
    "Scale",
    "box",
    "curve",
    "element",
    "label",
    "picture",
    "segment",
    "tick_text",
]

Point = tuple[float, float]
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def element(tag: str, *children: str, **attributes: object) -> Markup:
    """Write one element; an underscore in an attribute's name stands for a hyphen.

    Examples
    --------
    >>> print(element("text", "a < b", x=1.26, text_anchor="end", class_=None))
    <text x="1.3" text-anchor="end">a &lt; b</text>
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_written(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(c if isinstance(c, Markup) else escape(clean(c)) for c in children)
    # Every part above is escaped or was built here.
    return Markup(f"<{tag}{told}>{inside}</{tag}>" if inside else f"<{tag}{told}/>")


def _written(value: object) -> str:
    # A tenth of a unit is as fine as anybody sees, and keeps the page small.
    if not is_number(value):
        return str(value)
    text = f"{float(value):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def picture(
    *children: str,
    size: tuple[int, int],
    title: str,
    told: tuple[str, str] | None = None,
    kind: str,
) -> Markup:
    """Frame children as an image with a name and, where it is told, a description.

    Parameters
    ----------
    children
        Elements, drawn in this order.
    size
        Width and height in the figure's own units.
    title
        What the figure is.
    told
        What one would say who sees it, after an id that is unique in the page.
    kind
        Class in the style sheet.

    Examples
    --------
    >>> picture(element("path", d="M0 0"), size=(4, 2), title="A dot", kind="plot").striptags()
    'A dot'
    """
    named = [element("title", title)]
    if told is not None:
        named.append(element("desc", told[1], id=told[0]))
    return element(
        "svg",
        *named,
        *children,
        class_=f"figure {kind}",
        viewBox=f"0 0 {size[0]} {size[1]}",
        role="img",
        aria_describedby=told[0] if told is not None else None,
    )


@dataclass(frozen=True)
class Scale:
    """A straight scale from values to places; values outside are drawn at its ends.

    Examples
    --------
    >>> scale = Scale(0, 2, 10, 110)
    >>> scale(1), scale(99), scale.ticks(3)
    (60.0, 110.0, [(0.0, '0'), (1.0, '1'), (2.0, '2')])
    """

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> Scale:
        """Span the values with a little air; a scale that comes near zero begins there.

        Examples
        --------
        >>> scale = Scale.around([0.2, 0.3], 0, 100)
        >>> round(scale.low, 3), round(scale.high, 3)
        (0.19, 0.31)
        """
        known = list(values)
        low, high = min(known), max(known)
        if high - low > 1e-9 * max(abs(low), abs(high), 1e-9):
            air = 0.1 * (high - low)
        else:
            air = 0.1 * max(abs(high), 1e-6)
        if max(abs(low), abs(high)) > 1e300:
            return cls(0, 1, start, end)
        near_zero = 0 <= low < 2 * air
        return cls(0.0 if near_zero else low - air, high + air, start, end)

    @classmethod
    def up_to(cls, top: float, start: float, end: float) -> Scale:
        """Begin at zero and leave a little air above; a top that is no height counts as one.

        Examples
        --------
        >>> Scale.up_to(2.0, 0, 100).high, Scale.up_to(0.0, 0, 100).high
        (2.1, 1.05)
        """
        return cls(0.0, 1.05 * top if 1e-9 < top < 1e9 else 1.05, start, end)

    def __call__(self, value: float) -> float:
        """Place a value."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Choose round values on the scale, at most so many, and how they are written."""
        rough = max((self.high - self.low) / most, 1e-300)
        magnitude = 10.0 ** math.floor(math.log10(rough))
        for step in (size * magnitude for size in _STEPS):
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            if last - first < most:
                return [(i * step, tick_text(i * step, step)) for i in range(first, last + 1)]
        return []


def tick_text(value: float, step: float | None = None) -> str:
    """Write a round value beside an axis, all values of one step with the decimals it needs.

    Examples
    --------
    >>> tick_text(0.30000000000000004), tick_text(-2.0), tick_text(1e6), tick_text(1, 0.25)
    ('0.3', '−2', '1,000,000', '1')
    >>> [tick_text(v, 0.25) for v in (0.25, 0.5, 1000.25)]
    ['0.25', '0.5', '1,000.25']
    """
    known = abs(value) if step is None else step
    if value and not (known >= 1e-6 and abs(value) < 1e9):
        return f"{value:.3g}".replace("-", "−")
    decimals = 6 if step is None else max(0, 1 - math.floor(math.log10(step)))
    text = f"{value:,.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")


def curve(points: Iterable[Point], kind: str, *, closed: bool = False) -> Markup:
    """Draw a line through points, or the area they enclose."""
    place = " ".join(f"{_written(x)},{_written(y)}" for x, y in points)
    return element("polygon" if closed else "polyline", points=place, class_=kind)


def segment(start: Point, end: Point, kind: str) -> Markup:
    """Draw a straight line."""
    return element("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], class_=kind)


def box(corner: Point, size: Point, kind: str, *, round_by: float | None = None) -> Markup:
    """Draw a rectangle from its upper left corner; slivers stay visible."""
    width, height = max(size[0], 0.5), max(size[1], 0.0)
    return element(
        "rect", x=corner[0], y=corner[1], width=width, height=height, rx=round_by, class_=kind
    )


def label(text: str, place: Point, kind: str = "tick", *, anchor: str | None = None) -> Markup:
    """Write text beside a figure's parts."""
    return element("text", text, x=place[0], y=place[1], text_anchor=anchor, class_=kind)
