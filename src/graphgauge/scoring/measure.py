"""From items and a plan to numbers: values, bootstrap bounds and null bands, part by part."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from graphgauge.arrays import BoolArray, FloatArray, IntArray
from graphgauge.metrics import Metric
from graphgauge.metrics.edgewise import agreeing
from graphgauge.metrics.null import Band, has_null, null_bands
from graphgauge.scoring.card import Measured, Options
from graphgauge.scoring.nodes import EDGE_SCOPES, NodeItems, Plan, Selection
from graphgauge.scoring.replicates import (
    Question,
    bounds,
    class_replicator,
    looped,
    outcome_replicator,
)

__all__ = ["Definitions", "detection", "measure_part", "part_bands"]

Definitions = dict[str, Metric]


def measure_part(
    items: NodeItems,
    plan: Plan,
    chosen: Selection,
    options: Options,
    bands: Mapping[tuple[str, str], Band],
) -> Iterator[tuple[Measured, Metric]]:
    """Yield every number of one part, with its definition."""
    yield from _outcomes(items, plan, chosen, options, bands)
    yield from _classes(items, plan, chosen, options, bands)
    yield from _structure(items, plan, chosen)
    yield from _rejection(items, plan, chosen, options)


def detection(items: NodeItems, plan: Plan, options: Options) -> Iterator[tuple[Measured, Metric]]:
    """Yield how well each uncertainty tells the shifted test part from the other."""
    if items.shifted is None or not plan.detection:
        return
    inside, outside = (items.parts[name] for name in items.shifted)
    index = np.concatenate([inside, outside])
    ood = np.arange(len(index)) >= len(inside)
    questions, names = [], []
    for scope, card in plan.detection:
        score = items.uncertainties[scope or items.main_knowledge][index]
        questions.append(Question(card, card(score, ood), partial(_weighted, card, score, ood)))
        names.append(_name(scope, card))
    ends = bounds(questions, _blocks(items, index, options), n_items=len(index), options=options)
    part = "|".join(items.shifted)
    yield from _rows(questions, names, ends, part=part, n=len(index))


def part_bands(
    items: NodeItems, plan: Plan, chosen: Selection, extra: Sequence[Metric], options: Options
) -> dict[tuple[str, str], Band]:
    """Draw the null bands of a part: of the metrics in the plan, and of `extra` in every scope."""
    if not options.n_draws:
        return {}
    scopes = ("node", *EDGE_SCOPES) if chosen.edges is not None else ("node",)
    asked = {
        scope: [c for s, c in plan.outcomes if (s or "node") == scope and has_null(c)] + [*extra]
        for scope in scopes
    }
    asked["node"] += [card for card in plan.classes if has_null(card)]
    asked = {scope: cards for scope, cards in asked.items() if cards}
    if not asked:
        return {}
    whole = len(chosen.index) == items.predictions.n_nodes
    needs_edges = any(scope in EDGE_SCOPES for scope in asked)
    return null_bands(
        items.predictions.probs,
        chosen.edges if needs_edges else None,
        edge_probs=chosen.joint if needs_edges else None,
        part=None if whole else chosen.index,
        metrics=asked,
        n_draws=options.n_draws,
        seed=options.seed,
    )


def _outcomes(
    items: NodeItems,
    plan: Plan,
    chosen: Selection,
    options: Options,
    bands: Mapping[tuple[str, str], Band],
) -> Iterator[tuple[Measured, Metric]]:
    for scope in dict.fromkeys(scope for scope, _ in plan.outcomes):
        cards = [card for s, card in plan.outcomes if s == scope]
        for row, card in _of_scope(items, cards, scope, chosen, options):
            yield _with_band(row, bands.get((scope or "node", card.label))), card


def _of_scope(
    items: NodeItems, cards: Sequence[Metric], scope: str, chosen: Selection, options: Options
) -> list[tuple[Measured, Metric]]:
    """Measure one scope; its outcomes are gone before the next one's are made."""
    outcomes, places = items.of_scope(scope, chosen)
    questions = [Question(c, c(outcomes), partial(outcome_replicator, c, outcomes)) for c in cards]
    blocks = _blocks(items, places, options)
    ends = bounds(questions, blocks, n_items=len(outcomes), options=options)
    names = [_name(scope, card) for card in cards]
    return list(_rows(questions, names, ends, part=chosen.name, n=len(outcomes)))


def _classes(
    items: NodeItems,
    plan: Plan,
    chosen: Selection,
    options: Options,
    bands: Mapping[tuple[str, str], Band],
) -> Iterator[tuple[Measured, Metric]]:
    if not plan.classes:
        return
    predictions, index = items.predictions, chosen.index
    whole = len(index) == predictions.n_nodes
    probs = predictions.probs if whole else predictions.probs[index]
    labels = predictions.labels if whole else predictions.labels[index]
    questions = [
        Question(card, card(probs, labels), partial(class_replicator, card, probs, labels))
        for card in plan.classes
    ]
    ends = bounds(questions, _blocks(items, index, options), n_items=len(index), options=options)
    names = [card.label for card in plan.classes]
    for row, card in _rows(questions, names, ends, part=chosen.name, n=len(index)):
        yield _with_band(row, bands.get(("node", card.label))), card


def _structure(
    items: NodeItems, plan: Plan, chosen: Selection
) -> Iterator[tuple[Measured, Metric]]:
    if chosen.edges is None or not plan.structure:
        return
    labels = items.predictions.labels[chosen.index]
    place = np.empty(items.predictions.n_nodes, chosen.edges.dtype)
    place[chosen.index] = np.arange(len(chosen.index))
    same = agreeing(chosen.edges, items.predictions.labels)
    for scope, card in plan.structure:
        kept = {"agree": same, "disagree": ~same}.get(scope, slice(None))
        edges = place[chosen.edges[kept]]
        value, direction = card(edges, labels), str(card.direction)
        yield Measured(_name(scope, card), chosen.name, value, len(edges), direction), card


def _rejection(
    items: NodeItems, plan: Plan, chosen: Selection, options: Options
) -> Iterator[tuple[Measured, Metric]]:
    error = ~items.outcomes.correct[chosen.index]
    questions, names = [], []
    for scope, card in plan.rejection:
        doubt = items.uncertainties[scope or items.main_total][chosen.index]
        questions.append(Question(card, card(doubt, error), partial(_weighted, card, doubt, error)))
        names.append(_name(scope, card))
    index = chosen.index
    ends = bounds(questions, _blocks(items, index, options), n_items=len(index), options=options)
    yield from _rows(questions, names, ends, part=chosen.name, n=len(index))


def _weighted(card: Metric, score: FloatArray, mark: BoolArray) -> Callable[[IntArray], FloatArray]:
    """Compute a metric of (score, mark) on counts: by weights, or by copies where it takes none."""
    if "weights" in inspect.signature(card.compute).parameters:
        return looped(lambda weights: card(score, mark, weights=weights))

    def copied(weights: FloatArray) -> float:
        drawn = np.repeat(np.arange(len(score)), weights.astype(np.intp))
        return card(score[drawn], mark[drawn])

    return looped(copied)


def _blocks(items: NodeItems, places: IntArray, options: Options) -> dict[str, IntArray | None]:
    """Return the blocks to draw: single items, and communities where there are any."""
    labels = items.communities if options.n_resamples else None
    return {"": None} if labels is None else {"": None, "block_": labels[places]}


def _rows(
    questions: Sequence[Question],
    names: Sequence[str],
    ends: Sequence[dict[str, float]],
    *,
    part: str,
    n: int,
) -> Iterator[tuple[Measured, Metric]]:
    for question, name, limits in zip(questions, names, ends, strict=True):
        direction = str(question.card.direction)
        yield Measured(name, part, question.value, n, direction, **limits), question.card


def _with_band(row: Measured, band: Band | None) -> Measured:
    if band is None:
        return row
    p = band.p_value(row.value)
    return replace(row, null_low=band.low, null_high=band.high, null_p=p)


def _name(scope: str, card: Metric) -> str:
    return f"{scope}_{card.label}" if scope else card.label
