"""Numbers by group of nodes, and the curves that figures are drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphgauge.arrays import IntArray
from graphgauge.errors import InputError
from graphgauge.groups import GROUPINGS, grouping
from graphgauge.histogram import bin_edges, bin_shares
from graphgauge.metrics import METRICS
from graphgauge.metrics.bins import Closed
from graphgauge.metrics.calibration import BIN_ACCURACY, reliability
from graphgauge.metrics.null import Band
from graphgauge.metrics.selective import rejection_curve
from graphgauge.scoring.nodes import EDGE_SCOPES, NodeItems, Selection

__all__ = ["by_group", "rejection_curves", "reliability_curves", "uncertainty_shares"]

_GROUPED = ("accuracy", "nll", "ece")
# A smaller group is shown, but is not named the worst.
_FEW = 20
_POINTS = 101


def by_group(
    items: NodeItems, chosen: Selection, asked: tuple[str, ...] | None
) -> Iterator[dict[str, Any]]:
    """Yield a row a group: its size, its metrics, and whether it is the least accurate."""
    for by in _applicable(items) if asked is None else asked:
        groups = grouping(items.predictions, by)
        codes = groups.codes[chosen.index]
        rows = [
            _group_row(items, chosen, by=by, name=name, index=chosen.index[codes == code])
            for code, name in enumerate(groups.names)
            if (codes == code).any()
        ]
        large = [row for row in rows if row["n"] >= _FEW]
        if len(large) > 1:
            min(large, key=lambda row: row["metrics"]["accuracy"])["worst"] = True
        yield from rows


def reliability_curves(
    items: NodeItems, chosen: Selection, bands: Mapping[tuple[str, str], Band]
) -> Iterator[dict[str, Any]]:
    """Yield a reliability curve a scope, with the null band of every bin."""
    closed: Closed = "left" if items.closed == "left" else "right"
    for scope in ("", *EDGE_SCOPES) if chosen.edges is not None else ("",):
        curve = reliability(items.of_scope(scope, chosen)[0], closed=closed)
        if np.isnan(curve.share).all():
            continue
        name = scope or "node"
        lows, highs = _bin_bands(bands, name, closed, len(curve.share))
        yield {
            "part": chosen.name,
            "scope": name,
            "edges": curve.edges.tolist(),
            "share": curve.share.tolist(),
            "confidence": curve.confidence.tolist(),
            "accuracy": curve.accuracy.tolist(),
            "null_low": lows,
            "null_high": highs,
        }


def rejection_curves(items: NodeItems, chosen: Selection) -> dict[str, Any]:
    """Return accepted errors against accepted items, with the best and the random curve."""
    error = ~items.outcomes.correct[chosen.index]
    curve = rejection_curve(items.uncertainties[items.main_total][chosen.index], error)
    x = np.linspace(0.0, 1.0, _POINTS)
    rate = float(error.mean())
    return {
        "part": chosen.name,
        "uncertainty": items.main_total,
        "x": x.tolist(),
        "y": curve.errors_at(x).tolist(),
        "oracle": np.maximum(0.0, x - (1.0 - rate)).tolist(),
        "random": (rate * x).tolist(),
    }


def uncertainty_shares(items: NodeItems) -> Iterator[dict[str, Any]]:
    """Yield a histogram of every uncertainty: in-distribution against shifted test nodes."""
    if items.shifted is None:
        return
    inside, outside = (items.parts[name] for name in items.shifted)
    for name, values in items.uncertainties.items():
        edges = bin_edges(values[np.concatenate([inside, outside])])
        yield {
            "uncertainty": name,
            "id_part": items.shifted[0],
            "ood_part": items.shifted[1],
            "edges": edges.tolist(),
            "id": bin_shares(values[inside], edges),
            "ood": bin_shares(values[outside], edges),
        }


def _applicable(items: NodeItems) -> tuple[str, ...]:
    """Return the groupings the file has everything for."""
    found = []
    for by in GROUPINGS:
        try:
            grouping(items.predictions, by)
        except InputError:
            continue
        found.append(by)
    return tuple(found)


def _group_row(
    items: NodeItems, chosen: Selection, *, by: str, name: str, index: IntArray
) -> dict[str, Any]:
    outcomes = items.outcomes.take(index)
    cards = [METRICS[metric] for metric in _GROUPED]
    bound = [c.bind(closed="left") if "closed" in c.defaults and items.closed == "left" else c
             for c in cards]  # fmt: skip
    return {
        "by": by,
        "group": name,
        "part": chosen.name,
        "n": len(index),
        "metrics": {card.label: card(outcomes) for card in bound},
        "worst": False,
    }


def _bin_bands(
    bands: Mapping[tuple[str, str], Band], scope: str, closed: Closed, n_bins: int
) -> tuple[list[float], list[float]]:
    cards = [BIN_ACCURACY.bind(bin=b, closed=closed) for b in range(n_bins)]
    found = [bands.get((scope, card.label)) for card in cards]
    lows = [np.nan if band is None else band.low for band in found]
    highs = [np.nan if band is None else band.high for band in found]
    return lows, highs
