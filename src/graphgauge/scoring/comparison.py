"""Two or more files of predictions on the same items: which is better, and is it sure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.metrics import METRICS, Direction, Outcomes, Ranks
from graphgauge.predictions import LinkPredictions, NodePredictions
from graphgauge.scoring.links import link_parts
from graphgauge.scoring.nodes import NodeItems
from graphgauge.stats import Comparison, Plan, compare, compare_metric

__all__ = ["Compared", "compare_predictions"]

Predictions = NodePredictions | LinkPredictions

# Probability zero of the truth is infinitely bad, and no mean can tell by how much it is worse.
_FLOOR = np.finfo(np.float64).tiny
_EACH_NODE: Mapping[str, Callable[[Outcomes], FloatArray]] = {
    "accuracy": lambda o: o.correct.astype(np.float64),
    "nll": lambda o: -np.log(np.maximum(o.truth, _FLOOR)),
    "brier": lambda o: 1.0 + o.squares - 2.0 * o.truth,
}
_HITS = 10


@dataclass(frozen=True)
class Compared:
    """A comparison of two sets of predictions by one metric on one part."""

    metric: str
    part: str
    found: Comparison


def compare_predictions(
    predictions: Mapping[str, Predictions],
    *,
    part: str | None = None,
    level: float = 0.05,
    seed: int = 0,
    by_block: bool = False,
) -> list[Compared]:
    """Compare predictions pair by pair, item by item; p-values are corrected metric by metric.

    Where a file gives a true label probability zero, its log score is infinite; the comparison
    then floors probabilities at the smallest normal number, and says so in the metric's name.

    Parameters
    ----------
    predictions
        By name, all of the same items: equal labels, parts and edges, or equal links.
    part
        Which part to compare on; by default the first test part.
    level
        Chance of a false *better* or *worse* among all pairs, for each metric.
    seed
        Of permutations and resamples.
    by_block
        Swap and draw whole communities of nodes, or links by endpoint, instead of single items.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sure = np.tile([0.9, 0.1], (400, 1))
    >>> labels = (rng.random(400) < 0.1).astype(int)
    >>> models = {"sure": NodePredictions(sure, labels), "unsure": NodePredictions(sure * 0 + 0.5,
    ...           labels)}
    >>> for row in compare_predictions(models):
    ...     print(row.metric, row.found.verdict)
    accuracy tied
    nll better
    brier better
    ece(bins=15) better
    """
    files = list(predictions.values())
    _check_same(predictions)
    if isinstance(files[0], NodePredictions):
        nodes = {k: NodeItems(v) for k, v in predictions.items() if isinstance(v, NodePredictions)}
        return _compare_nodes(nodes, part, Plan(level, seed=seed), by_block=by_block)
    links = {k: v for k, v in predictions.items() if isinstance(v, LinkPredictions)}
    return _compare_links(links, part, Plan(level, seed=seed), by_block=by_block)


def _check_same(predictions: Mapping[str, Predictions]) -> None:
    if len(predictions) < 2:
        raise InputError("comparing needs at least two files of predictions")
    for (one, first), (other, second) in pairwise(predictions.items()):
        if type(first) is not type(second):
            raise InputError(f"{one} and {other}: one is of nodes, the other of links")
        if first.fingerprint != second.fingerprint:
            raise InputError(f"{one} and {other} are not of the same items: {_why(first, second)}")


def _why(first: Predictions, second: Predictions) -> str:
    if isinstance(first, LinkPredictions) or isinstance(second, LinkPredictions):
        return "numbers of links, pairs or parts differ"
    if len(first.labels) != len(second.labels):
        return f"{len(first.labels)} and {len(second.labels)} nodes"
    differ = np.flatnonzero(first.labels != second.labels)
    if len(differ):
        return f"{len(differ)} labels differ (first at row {differ[0]})"
    return "parts or edges differ"


def _compare_nodes(
    items: Mapping[str, NodeItems], part: str | None, how: Plan, *, by_block: bool
) -> list[Compared]:
    one = next(iter(items.values()))
    part = _chosen(list(one.parts), part)
    index = one.parts[part]
    blocks = one.communities if by_block else None
    if by_block and blocks is None:
        raise InputError("comparing by community needs edges: add edge_index or give --edges")
    block = None if blocks is None else blocks[index]
    outcomes = {name: of.outcomes.take(index) for name, of in items.items()}
    found = []
    for metric, each in _EACH_NODE.items():
        values = {name: each(o) for name, o in outcomes.items()}
        floored = metric == "nll" and any((o.truth < _FLOOR).any() for o in outcomes.values())
        label = f"nll(floor={_FLOOR:.2g})" if floored else metric
        found += _of_means(label, part, values, METRICS[metric].direction, how, block)
    return found + _of_ece(part, outcomes, how, block)


def _of_means(
    metric: str,
    part: str,
    values: Mapping[str, FloatArray],
    direction: Direction,
    how: Plan,
    block: IntArray | None,
) -> list[Compared]:
    rows = compare(values, direction=direction, level=how.level, blocks=block, seed=how.seed)
    return [Compared(metric, part, row) for row in rows]


def _of_ece(
    part: str, outcomes: Mapping[str, Outcomes], how: Plan, block: IntArray | None
) -> list[Compared]:
    card = METRICS["ece"]

    def measure(rows: FloatArray, weights: FloatArray) -> float:
        confidence, right = rows[:, 0], rows[:, 1] > 0
        return card(Outcomes(confidence, right, confidence, confidence, weights))

    columns = {
        name: np.stack([o.confidence.astype(np.float64), o.correct], axis=1)
        for name, o in outcomes.items()
    }
    plan = Plan(how.level, block, how.seed)
    rows = compare_metric(columns, measure, direction=card.direction, plan=plan)
    return [Compared(card.label, part, row) for row in rows]


def _compare_links(
    files: Mapping[str, LinkPredictions], part: str | None, how: Plan, *, by_block: bool
) -> list[Compared]:
    from graphgauge.stats import endpoint_blocks

    one = next(iter(files.values()))
    parts = link_parts(one)
    part = _chosen(list(parts), part)
    index = parts[part]
    if by_block and one.pos_edges is None:
        raise InputError("comparing by endpoint needs pos_edges in the files")
    block = (
        endpoint_blocks(one.pos_edges[index]) if by_block and one.pos_edges is not None else None
    )
    ranks = {name: Ranks.of(f.pos, f.neg).take(index).positions() for name, f in files.items()}
    k = min(_HITS, one.n_negatives)
    values = {
        METRICS["mrr"].label: {name: 1.0 / rank for name, rank in ranks.items()},
        METRICS["hits"].bind(k=k).label: {n: (r <= k).astype(float) for n, r in ranks.items()},
    }
    rows = (
        _of_means(metric, part, each, Direction.HIGHER, how, block)
        for metric, each in values.items()
    )
    return [row for found in rows for row in found]


def _chosen(parts: Sequence[str], asked: str | None) -> str:
    if asked is not None and asked not in parts:
        raise InputError(f"no part {asked!r} (parts: {', '.join(parts)})")
    tests = [name for name in parts if name.startswith("test")]
    first = "test" if "test" in tests else (tests or list(parts)[-1:])[0]
    return asked or first
