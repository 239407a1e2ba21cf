"""The reliability diagram: accuracy against confidence, with the band a calibrated model keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from graphgauge.report.figures import Figure, Values
from graphgauge.report.svg import (
    Point,
    Scale,
    box,
    curve,
    element,
    label,
    picture,
    segment,
    tick_text,
)
from graphgauge.report.wording import SPACE, is_number, name, number, percent

__all__ = ["MOST_BINS", "reliability"]

MOST_BINS = 100
_X = Scale(0, 1, 32, 252)
_Y = Scale(0, 1, 236, 16)
_FOOT, _FOOT_HEIGHT = 288, 38
_COLUMNS = ("share", "confidence", "accuracy", "null_low", "null_high")
_SCOPES = {"agree": "edges that agree", "disagree": "edges that disagree"}


@dataclass(frozen=True)
class Bin:
    """One filled bin."""

    low: float
    high: float
    share: float
    confidence: float
    accuracy: float
    band: tuple[float, float] | None

    @property
    def outside(self) -> bool:
        """Whether the accuracy lies outside the null band."""
        return self.band is not None and not self.band[0] <= self.accuracy <= self.band[1]

    @property
    def weight(self) -> float:
        """What the bin adds to the calibration error: its share times its gap."""
        return self.share * abs(self.accuracy - self.confidence)

    @property
    def told(self) -> str:
        """What the bin's mark says when pointed at."""
        return (
            f"confidence {number(self.confidence)}, accuracy {number(self.accuracy)}, "
            f"{percent(self.share)} of the items"
        )


def reliability(values: Values, *, key: str) -> Figure:
    """Draw accuracy against confidence, the null band of every bin, and the bins' shares.

    Parameters
    ----------
    values
        An entry of a score's ``figures.reliability`` with at most `MOST_BINS` bins.
    key
        Unique in the page.

    Examples
    --------
    >>> figure = reliability({"edges": [0, 0.5, 1], "share": [0, 1], "confidence": [None, 0.8],
    ...     "accuracy": [None, 0.6], "null_low": [None, 0.7], "null_high": [None, 0.9]}, key="a")
    >>> figure.sentence
    '1 of 1 bin lies outside its null band. Heaviest gap: confidence 0.800, accuracy 0.600.'
    """
    if len(values["share"]) > MOST_BINS:
        return Figure(Markup(""), f"Not drawn: more than {MOST_BINS} bins.")
    bins = list(_bins(values))
    sentence = _sentence(bins)
    scope = str(values.get("scope", "node"))
    items = _SCOPES.get(scope, f"{name(scope)}s")
    drawn = picture(
        *_frame(),
        *_bands(bins),
        segment((_X(0), _Y(0)), (_X(1), _Y(1)), "diagonal"),
        *_marks(bins),
        *_shares(bins),
        size=(260, 318),
        title=f"Reliability of {items} in {name(values.get('part'))}",
        told=(key, f"Accuracy against confidence, one mark a bin; shares below. {sentence}"),
        kind="plot",
    )
    return Figure(drawn, sentence)


def _bins(values: Values) -> Iterator[Bin]:
    edges = values["edges"]
    rows = zip(*(values[column] for column in _COLUMNS), strict=True)
    for low, high, row in zip(edges[:-1], edges[1:], rows, strict=True):
        share, confidence, accuracy, *ends = row
        if is_number(confidence) and is_number(accuracy):
            band = (float(ends[0]), float(ends[1])) if all(map(is_number, ends)) else None
            filled = float(share) if is_number(share) else 0.0
            yield Bin(low, high, filled, float(confidence), float(accuracy), band)


def _sentence(bins: Sequence[Bin]) -> str:
    if not bins:
        return "No bin is filled."
    worst = max(bins, key=lambda b: b.weight)
    found = f"confidence {number(worst.confidence)}, accuracy {number(worst.accuracy)}"
    gap = f"Heaviest gap: {found}."
    banded = [b for b in bins if b.band is not None]
    n_outside = sum(b.outside for b in banded)
    if not banded:
        return gap
    if not n_outside:
        return f"No bin lies outside its null band. {gap}"
    lie = "bin lies outside its" if len(banded) == 1 else "bins lie outside their"
    return f"{n_outside} of {len(banded)} {lie} null band. {gap}"


def _frame() -> Iterator[Markup]:
    yield label("accuracy", (_X(0), 9), "axisname")
    yield label("confidence", (_X(1), _FOOT + 27), "axisname", anchor="end")
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield segment((_X(0), _Y(tick)), (_X(1), _Y(tick)), "axis" if tick == 0 else "grid")
        if tick in (0, 0.5, 1):
            yield label(tick_text(tick), (_X(0) - 5, _Y(tick) + 4), anchor="end")
            yield label(tick_text(tick), (_X(tick), _FOOT + 14), anchor="middle")


def _bands(bins: Sequence[Bin]) -> Iterator[Markup]:
    for b in bins:
        if b.band is not None:
            left, top = _X(b.low), _Y(b.band[1])
            yield box((left, top), (_X(b.high) - left, max(_Y(b.band[0]) - top, 1)), "band")


def _marks(bins: Sequence[Bin]) -> Iterator[Markup]:
    places = [(_X(b.confidence), _Y(b.accuracy)) for b in bins]
    most = max((b.share for b in bins), default=0.0)
    yield curve(places, "line faint")
    for b, place in zip(bins, places, strict=True):
        yield _mark(place, b, math.sqrt(b.share / most) if most > 0 else 1.0)


def _mark(place: Point, shown: Bin, size: float) -> Markup:
    """Draw a dot inside the band and a diamond outside of it, as large as the bin is full."""
    x, y = place
    told = element("title", shown.told)
    if not shown.outside:
        return element("circle", told, cx=x, cy=y, r=2.2 + 2.3 * size, class_="value")
    corners = " ".join(f"{a:.1f},{b:.1f}" for a, b in _diamond(x, y, 3.6 + 2.9 * size))
    return element("polygon", told, points=corners, class_="value worse")


def _diamond(x: float, y: float, reach: float) -> list[Point]:
    return [(x, y - reach), (x + reach, y), (x, y + reach), (x - reach, y)]


def _shares(bins: Sequence[Bin]) -> Iterator[Markup]:
    most = max((b.share for b in bins), default=0.0)
    yield segment((_X(0), _FOOT), (_X(1), _FOOT), "axis")
    if most <= 0:
        return
    height = Scale(0, most, 0, _FOOT_HEIGHT)
    yield label(f"{100 * most:.0f}{SPACE}%", (_X(0) - 5, _FOOT - _FOOT_HEIGHT + 10), anchor="end")
    for b in bins:
        left, tall = _X(b.low), height(b.share)
        width = max(_X(b.high) - left - 1, 0.7)
        yield box((left + 0.5, _FOOT - tall), (width, tall), "bar")
