"""What is drawn lies where the axis says it does: marks are read back off the drawing."""

from __future__ import annotations

import re
from typing import Any

import examples
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree import Node, parse

from graphgauge.report.figures import ranks, rejection, uncertainty
from graphgauge.report.reliability import MOST_BINS, reliability
from graphgauge.report.strips import difference_strip, share_bar, value_strip, verdict_on_null
from graphgauge.report.svg import Scale, tick_text
from graphgauge.report.wording import clean, interval, is_number, number, percent

SIMULATED = examples.node_score()["figures"]


def kind(node: Node) -> str:
    return node.attributes.get("class", "")


def of_kind(root: Node, wanted: str) -> list[Node]:
    return [n for n in root.walk() if n.tag not in ("svg", "text") and kind(n) == wanted]


def spots(node: Node) -> np.ndarray:
    """Return the points ``[2, p]`` of a line or polygon."""
    return np.array([p.split(",") for p in node["points"].split()], float).T


def ticks(root: Node, axis: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the places and the values written along one axis."""
    found = {}
    for text in root.all("text"):
        written = text.text.replace("−", "-").replace(",", "").replace("\xa0%", "")
        if "axisname" not in kind(text) and re.fullmatch(r"[-\d.]+", written):
            end = text.attributes.get("text-anchor") == "end"
            if (axis == "y") == end:
                scale = 0.01 if "%" in text.text else 1.0
                found[float(text["y"]) - 4 if end else float(text["x"])] = float(written) * scale
    places = np.array(sorted(found))
    return places, np.array([found[p] for p in places])


def read(root: Node, axis: str, places: np.ndarray) -> np.ndarray:
    """Read places off an axis by its ticks alone."""
    slope, start = np.polyfit(*ticks(root, axis), 1)
    return slope * np.asarray(places, float) + start


# --- Strips


@given(
    st.floats(-1e4, 1e4).map(lambda v: round(v, 4)),
    st.lists(st.floats(0.001, 1e3), min_size=4, max_size=4),
)
def test_strip_puts_value_interval_and_band_where_its_axis_says(
    value: float, reach: list[float]
) -> None:
    metric = {"name": "m", "value": value, "low": value - reach[0], "high": value + reach[1]}
    metric |= {"null_low": value - reach[2], "null_high": value + reach[3]}
    drawn = parse(value_strip(metric))
    places, _ = ticks(drawn, "x")
    span = max(metric["high"], metric["null_high"]) - min(metric["low"], metric["null_low"])
    if len(places) < 2:
        return
    near = {"abs": 0.004 * span + 1e-6}  # half a tenth of a unit on either side of 264
    dot = drawn.all("circle")[0]
    assert read(drawn, "x", [dot["cx"]])[0] == pytest.approx(value, **near)
    line = of_kind(drawn, "interval")[0]
    ends = read(drawn, "x", [line["x1"], line["x2"]])
    assert ends == pytest.approx([metric["low"], metric["high"]], **near)
    band = of_kind(drawn, "band")[0]
    start = float(band["x"])
    if float(band["width"]) > 2:
        ends = read(drawn, "x", [start, start + float(band["width"])])
        assert ends == pytest.approx([metric["null_low"], metric["null_high"]], **near)


@pytest.mark.parametrize(
    ("null", "direction", "meant"),
    [
        ("above", "lower", "worse"),
        ("below", "higher", "worse"),
        ("above", "higher", "better"),
        ("below", "lower", "better"),
        ("inside", "lower", "inside"),
        ("above", "neither", "outside"),
        (None, "lower", ""),
    ],
)
def test_place_beside_the_band_is_told_by_direction(
    null: str | None, direction: str, meant: str
) -> None:
    metric = {"value": 0.5, "null_low": 0.1, "null_high": 0.2, "null": null, "direction": direction}
    assert verdict_on_null(metric) == meant
    diamonds = [n for n in parse(value_strip(metric)).all("polygon") if "worse" in kind(n)]
    assert bool(diamonds) == (meant == "worse")


def test_strip_of_a_lone_value_spans_the_range_of_its_metric() -> None:
    drawn = parse(value_strip({"name": "m", "value": 0.25}, bounds=(0, 1)))
    places, values = ticks(drawn, "x")
    assert (values[0], values[-1]) == (0, 1)
    assert float(drawn.all("circle")[0]["cx"]) == pytest.approx(
        places[0] + (places[-1] - places[0]) / 4
    )


def test_strip_that_comes_near_zero_begins_there() -> None:
    drawn = parse(value_strip({"value": 0.05, "low": 0.01, "high": 0.2}))
    assert ticks(drawn, "x")[1][0] == 0


def test_difference_is_drawn_about_zero() -> None:
    drawn = parse(difference_strip({"difference": -0.02, "low": -0.03, "high": -0.01}, reach=0.1))
    zero = of_kind(drawn, "zero")[0]
    assert float(zero["x1"]) == pytest.approx(140, abs=0.1)
    assert read(drawn, "x", [drawn.all("circle")[0]["cx"]])[0] == pytest.approx(-0.02, abs=1e-3)


def test_bar_is_as_long_as_the_share() -> None:
    drawn = parse(share_bar(0.25, mark=0.75))
    rail, bar = of_kind(drawn, "rail")[0], of_kind(drawn, "bar")[0]
    assert float(bar["width"]) == 0.25 * float(rail["width"])
    assert float(of_kind(drawn, "notch")[0]["x1"]) == 0.75 * float(rail["width"])


@pytest.mark.parametrize("draw", [value_strip, share_bar])
def test_nothing_is_drawn_without_a_value(draw: Any) -> None:
    assert draw({"value": None} if draw is value_strip else None) == ""


# --- Reliability


@pytest.mark.parametrize("values", SIMULATED["reliability"], ids=lambda v: v["scope"])
def test_bins_are_marked_at_confidence_and_accuracy(values: dict[str, Any]) -> None:
    drawn = parse(reliability(values, key="k").picture)
    line = spots(of_kind(drawn, "line faint")[0])
    filled = [i for i, share in enumerate(values["share"]) if share]
    expected = [[values[c][i] for i in filled] for c in ("confidence", "accuracy")]
    assert read(drawn, "x", line[0]) == pytest.approx(expected[0], abs=1e-3)
    assert _accuracy(drawn, line[1]) == pytest.approx(expected[1], abs=1e-3)


def _accuracy(drawn: Node, places: np.ndarray) -> np.ndarray:
    """Read heights off the accuracy axis, whose ticks are 0, 0.5 and 1."""
    texts = [t for t in drawn.all("text") if t.attributes.get("text-anchor") == "end"]
    at = {t.text: float(t["y"]) - 4 for t in texts if t.text in ("0", "1")}
    return (np.asarray(places, float) - at["0"]) / (at["1"] - at["0"])


def test_bands_span_their_bins_and_diamonds_lie_outside_of_them() -> None:
    values = SIMULATED["reliability"][0]
    figure = reliability(values, key="k")
    drawn = parse(figure.picture)
    bands = of_kind(drawn, "band")
    filled = [i for i, share in enumerate(values["share"]) if share]
    assert len(bands) == len(filled)
    for band, i in zip(bands, filled, strict=True):
        left, top = float(band["x"]), float(band["y"])
        ends = read(drawn, "x", [left, left + float(band["width"])])
        assert ends == pytest.approx(values["edges"][i : i + 2], abs=2e-3)
        heights = _accuracy(drawn, [top + float(band["height"]), top])
        known = [values["null_low"][i], values["null_high"][i]]
        assert heights == pytest.approx(known, abs=6e-3)
    outside = [
        i
        for i in filled
        if not values["null_low"][i] <= values["accuracy"][i] <= values["null_high"][i]
    ]
    assert len([n for n in drawn.all("polygon") if kind(n) == "value worse"]) == len(outside)
    assert figure.sentence.startswith(f"{len(outside)} of {len(filled)} bins lie outside")


def test_bars_are_as_high_as_the_bins_are_full() -> None:
    values = SIMULATED["reliability"][1]
    drawn = parse(reliability(values, key="k").picture)
    heights = np.array([float(bar["height"]) for bar in of_kind(drawn, "bar")])
    shares = np.array([share for share in values["share"] if share])
    assert heights / heights.max() == pytest.approx(shares / shares.max(), abs=3e-3)
    highest = next(t.text for t in drawn.all("text") if "%" in t.text)
    assert highest == f"{100 * shares.max():.0f}\xa0%"


def test_reliability_without_bands_bins_or_measure() -> None:
    values = SIMULATED["reliability"][0]
    bare = values | {"null_low": [None] * 15, "null_high": [None] * 15}
    assert not of_kind(parse(reliability(bare, key="k").picture), "band")
    nothing = values | dict.fromkeys(("share", "confidence", "accuracy"), [None] * 15)
    assert reliability(nothing, key="k").sentence == "No bin is filled."
    many = {c: [0.5] * (MOST_BINS + 1) for c in ("share", "confidence", "accuracy", "null_low")}
    assert "Not drawn" in reliability(many, key="k").sentence


# --- Curves and histograms


def test_rejection_curves_run_through_their_points() -> None:
    values = SIMULATED["rejection"][0]
    figure = rejection(values, key="k")
    drawn = parse(figure.picture)
    for css, column in (("line model", "y"), ("line oracle", "oracle"), ("line random", "random")):
        line = spots(of_kind(drawn, css)[0])
        assert read(drawn, "x", line[0]) == pytest.approx(values["x"], abs=1e-3)
        assert read(drawn, "y", line[1]) == pytest.approx(values[column], abs=1e-3)
    assert f"{100 * values['y'][50]:.1f}\xa0% of all are accepted and wrong" in figure.sentence


def test_long_curves_are_thinned_but_keep_their_ends() -> None:
    x = np.linspace(0, 1, 5003)
    drawn = parse(rejection({"x": x.tolist(), "y": (x / 5).tolist()}, key="k").picture)
    line = spots(of_kind(drawn, "line model")[0])
    assert line.shape[1] == 101
    assert read(drawn, "x", line[0][[0, -1]]) == pytest.approx([0, 1], abs=1e-3)


def test_histograms_are_drawn_at_their_height() -> None:
    values = SIMULATED["uncertainty"][0]
    drawn = parse(uncertainty(values, key="k").picture)
    for side in ("id", "ood"):
        outline = spots(of_kind(drawn, f"line {side}")[0])
        heights = read(drawn, "y", outline[1])[1:-1]
        assert heights[::2] == pytest.approx(values[side], abs=1e-3)
        edges = read(drawn, "x", outline[0])
        assert [*edges[1:-1:2], edges[-1]] == pytest.approx(values["edges"], abs=6e-3)


def test_histograms_share_the_area_of_their_lower_bars() -> None:
    values = {"edges": [0, 1, 2, 3], "id": [0.5, 0.3, 0.2], "ood": [0.1, 0.3, 0.6]}
    assert "share 60.0\xa0% of their area" in uncertainty(values, key="k").sentence


def test_merged_histogram_keeps_what_it_holds(rng: np.random.Generator) -> None:
    shares = rng.random(1003)
    shares /= shares.sum()
    values = {"edges": list(range(1, 1005)), "share": shares.tolist()}
    drawn = parse(ranks(values, key="k").picture)
    bars = np.array([float(b["height"]) for b in of_kind(drawn, "bar")])
    merged = np.array([shares[i : i + 11].sum() for i in range(0, 1003, 11)])
    assert len(bars) == len(merged) <= 100
    assert bars / bars.sum() == pytest.approx(merged, abs=2e-4)


@pytest.mark.parametrize("draw", [uncertainty, ranks])
def test_empty_histograms_are_not_drawn(draw: Any) -> None:
    for edges, shares in (([], []), ([0, 1], [0]), ([0, 1], [None]), ([1, 1], [None])):
        values = {"edges": edges, "share": shares, "id": shares, "ood": shares}
        assert draw(values, key="k").sentence.startswith("Not drawn")


# --- Scales and words


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e12), st.integers(2, 8))
def test_ticks_are_round_even_and_inside(low: float, width: float, most: int) -> None:
    scale = Scale.around([low, low + width], 0, 100)
    found = [value for value, _ in scale.ticks(most)]
    assert len(found) <= most
    air = 1e-6 * (scale.high - scale.low)
    assert all(scale.low - air <= t <= scale.high + air for t in found)
    steps = np.diff(found)
    assert np.allclose(steps, steps[:1], rtol=1e-6)
    if len(found) > 1:
        leading = steps[0] / 10 ** np.floor(np.log10(steps[0] * (1 + 1e-9)))
        assert min(abs(leading - s) for s in (1, 2, 2.5, 5)) < 1e-5


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_scale_is_rising_and_holds_its_values(values: list[float]) -> None:
    scale = Scale.around(values, 0, 100)
    assert scale.low < scale.high
    places = [scale(v) for v in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= p <= 100 for p in places)
    scale.ticks(4)


@given(st.floats(1e-4, 1e6) | st.floats(-1e6, -1e-4))
def test_number_reads_back_within_its_digits(value: float) -> None:
    text = number(value)
    back = float(text.replace(",", "").replace("−", "-"))
    assert abs(back - value) <= max(0.0051 * abs(value), 0.00006)
    assert (back < 0) == (value < 0) or back == 0


@given(st.floats(0, 1))
def test_percent_reads_back_and_only_the_ends_are_whole(value: float) -> None:
    text = percent(value)
    assert (text == "100\xa0%") == (value == 1)
    assert (text == "0\xa0%") == (value == 0)
    if text[0] not in "<>":
        assert float(text[:-2]) / 100 == pytest.approx(value, abs=0.00051)


@given(st.text(st.characters(exclude_categories=())), st.integers(2, 50))
def test_clean_text_is_short_visible_and_stays_as_it_is(text: str, most: int) -> None:
    once = clean(text, most=most)
    assert len(once) <= most
    assert clean(once, most=most) == once
    assert "".join(c for c in once if c not in "\u200c\u200d\xa0").isprintable()


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf"), "0.5", True, 10**400, [1]])
def test_what_is_no_number_is_missing(bad: object) -> None:
    assert not is_number(bad)
    assert number(bad) == percent(bad) == interval(bad, 1) == "–"


def test_tick_texts_keep_the_decimals_of_their_step() -> None:
    assert [tick_text(v, 0.025) for v in (1000, 1000.025, -0.05)] == ["1,000", "1,000.025", "−0.05"]
    assert [tick_text(v, 5e5) for v in (0, 1e6)] == ["0", "1,000,000"]
    assert [tick_text(v) for v in (3e-7, 2e12)] == ["3e−07", "2e+12"]
