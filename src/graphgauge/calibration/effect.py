"""What calibration changed, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphgauge.errors import InputError
from graphgauge.metrics import METRICS, Outcomes
from graphgauge.metrics.null import null_bands
from graphgauge.predictions import NodePredictions

__all__ = ["Effect", "effects"]

_SHOWN = ("accuracy", "nll", "brier", "ece")


@dataclass(frozen=True)
class Effect:
    """A metric on a part before and after.

    Parameters
    ----------
    part, n
        Which nodes, and how many of them have a known label.
    metric
        Its label.
    before, after
        Its values.
    low, high
        For calibration errors: the null band of what came out, in which a perfectly calibrated
        model of these probabilities lies nine times in ten.
    """

    part: str
    n: int
    metric: str
    before: float
    after: float
    low: float | None = None
    high: float | None = None


def effects(
    before: NodePredictions,
    after: NodePredictions,
    part: str,
    *,
    n_draws: int = 200,
    seed: int = 0,
) -> tuple[Effect, ...]:
    """Measure predictions before and after calibration, on every part but the one fitted on.

    Parameters
    ----------
    before, after
        Of the same nodes.
    part
        The part fitted on; if there is no other, it is measured itself.
    n_draws, seed
        Of the null bands.

    Examples
    --------
    >>> from graphgauge.calibration import calibrator
    >>> probs = [[0.9, 0.1], [0.9, 0.1], [0.8, 0.2]]
    >>> given = NodePredictions(probs, [0, 1, 1], {"valid": [0, 1], "test": [2]})
    >>> made = calibrator("temperature").fit(given, "valid")(given)
    >>> [(row.metric, round(row.before, 2), round(row.after, 2))
    ...  for row in effects(given, made, "valid")][:2]
    [('accuracy', 0.0, 0.0), ('nll', 1.61, 0.7)]
    """
    others = [name for name in before.parts if name != part] or [part]
    rows = tuple(row for name in others for row in _measured(before, after, name, n_draws, seed))
    if not rows:
        raise InputError("labels: no label outside the part fitted on is known")
    return rows


def _measured(
    before: NodePredictions, after: NodePredictions, part: str, n_draws: int, seed: int
) -> Iterator[Effect]:
    index = before.parts[part]
    index = index[before.known[index]]
    if not len(index):
        return
    labels = before.labels[index]
    old, new = (Outcomes.of_nodes(made.probs[index], labels) for made in (before, after))
    ece = METRICS["ece"]
    bands = null_bands(after.probs, part=index, metrics=[ece], n_draws=n_draws, seed=seed)
    for card in map(METRICS.__getitem__, _SHOWN):
        band = bands["node", card.label] if card is ece else None
        ends = (None, None) if band is None else (band.low, band.high)
        yield Effect(part, len(index), card.label, card(old), card(new), *ends)
