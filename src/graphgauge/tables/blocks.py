"""From scores to cells, one function a kind of block."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from types import MappingProxyType

import numpy as np

from graphgauge.stats import summarize
from graphgauge.tables.derived import outcomes, ranks
from graphgauge.tables.facts import counts, split_values
from graphgauge.tables.figures import Figure, Place
from graphgauge.tables.samples import Sample, Score, sample_deviation
from graphgauge.tables.scores import Matrix, Scores
from graphgauge.tables.spec import OUTCOMES, Block
from graphgauge.tables.verdict import ENOUGH, Side, Verdict, judge

__all__ = ["CELLS", "Cell"]


@dataclass(frozen=True)
class Cell:
    """One number of ours beside one of print.

    Parameters
    ----------
    place
        Where it stands.
    figure
        As printed.
    verdict
        What the two say of each other.
    ours, sd
        Mean and deviation over runs as the paper prints them, in percent; NaN where there is none.
        What is derived from many scores has no deviation over runs.
    n_runs
        Runs behind it.
    told
        What is missing, such as ``3 of 5 seeds``.
    beside
        What ours is held against: the printed figure, or what follows from the printed scores of
        the same data sets.
    known
        Data sets that a derived number rests on, where that is not all of them.
    notes
        What is to be said of it, errata among it.
    """

    place: Place
    figure: Figure
    verdict: Verdict
    ours: float = math.nan
    sd: float = math.nan
    n_runs: int = 0
    told: str = ""
    beside: float = math.nan
    known: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """Everything that is to be said of it, in one line."""
        basis = ""
        if self.known:
            gives = "print has no scores of single data sets"
            if not math.isnan(self.beside):
                gives = f"their printed scores give {self.beside:.4g}"
            basis = f"on {', '.join(self.known)}; {gives}"
        return "; ".join(filter(None, (self.told, basis, *self.notes)))


@dataclass(frozen=True)
class _Found:
    """A number of ours and of print, before anything is said of them."""

    ours: Side
    printed: Side
    sd: float = math.nan
    n_runs: int = 0
    told: str = ""
    known: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _cell(place: Place, found: _Found, scores: Scores) -> Cell:
    figure = scores.figures[place]
    errata = tuple(scores.paper.errata_of(place))
    # A number that was not recomputed was rounded when it was printed.
    rounding = figure.rounding if found.printed.mean == figure.mean else 0.0
    void = any(erratum.void for erratum in errata)
    verdict = judge(found.ours, found.printed, rounding=rounding, void=void)
    notes = found.notes + tuple(f"erratum: {erratum.text}" for erratum in errata)
    if verdict is Verdict.DIFFERS:
        notes += tuple(f"differs: {why.text}" for why in scores.paper.explanations_of(place))
    if not figure.printed:
        verdict, notes = Verdict.NOT_PRINTED, ("not printed", *notes)
    elif verdict is Verdict.NOT_PRINTED:
        verdict = Verdict.NOT_RUN
    return Cell(
        place,
        figure,
        verdict,
        ours=found.ours.mean,
        sd=found.sd,
        n_runs=found.n_runs,
        told=found.told,
        known=found.known,
        beside=found.printed.mean,
        notes=notes,
    )


def _score_cells(block: Block, table: int, scores: Scores) -> Iterator[Cell]:
    together = "+".join(block.settings) if block.pooled else ""
    for place, row in block.scored(table):
        setting = together or place.setting
        score = Score(place.dataset, setting, place.part, row, place.metric)
        if place.dataset == "all":
            yield _cell(place, _mean(score, block, table, scores), scores)
            continue
        sample, ours = scores.ours(score)
        ensemble = row in scores.paper.members
        figure = scores.figures[place]
        printed = scores.printed(score, (table,)) if ensemble else scores.side(figure)
        found = _Found(ours, printed, sample.sd, sample.n, sample.told, notes=sample.remarks)
        yield _cell(place, found, scores)


def _mean(score: Score, block: Block, table: int, scores: Scores) -> _Found:
    """Average over the data sets we have, on both sides."""
    every = [score._replace(dataset=dataset) for dataset in block.datasets]
    found = {one: scores.ours(one) for one in every}
    known = [one for one in every if not math.isnan(found[one][1].mean)]
    ours = _average([found[one][1] for one in known])
    printed = _average([scores.printed(one, (table,)) for one in known])
    samples = [found[one][0] for one in known]
    figure = scores.figures[
        Place(table, "all", score.setting, score.part, score.method, "", score.metric)
    ]
    return _resting(known, block.n_printed, samples).on(ours, printed, figure)


def _average(sides: Sequence[Side]) -> Side:
    if not sides:
        return Side(math.nan)
    mean = sum(side.mean for side in sides) / len(sides)
    spread = math.hypot(*(side.sd for side in sides)) / len(sides)
    return Side(mean, spread, min(side.n for side in sides))


@dataclass(frozen=True)
class _Resting:
    """On which scores a derived number rests."""

    known: tuple[Score, ...]
    n_printed: int
    n_runs: int
    complete: bool

    def on(self, ours: Side, printed: Side, figure: Figure) -> _Found:
        """Say what it rests on; where that is everything, print says best what print gives."""
        told, named = "", tuple[str, ...]()
        if len(self.known) >= self.n_printed:
            printed = replace(printed, mean=figure.mean)
        elif self.known:
            settings = {score.setting for score in self.known}
            what = "data sets" if len(settings) < 2 else "data sets and shifts"
            told = f"{len(self.known)} of {self.n_printed} {what}"
            named = tuple(dict.fromkeys(score.dataset for score in self.known))
        notes = () if self.complete else ("some of its scores rest on fewer seeds than planned",)
        return _Found(ours, printed, math.nan, self.n_runs, told, named, notes)


def _resting(known: Sequence[Score], n_printed: int, samples: Sequence[Sample]) -> _Resting:
    complete = not any(sample.told for sample in samples)
    return _Resting(tuple(known), n_printed, sum(sample.n for sample in samples), complete)


def _rank_cells(block: Block, table: int, scores: Scores) -> Iterator[Cell]:
    found: dict[Place, Cell] = {}
    for setting, part, metric in product(block.settings, block.parts, block.metrics):
        rule = partial(ranks, direction=scores.paper.directions[metric])
        places = [
            Place(table, "all", setting, part, method, "", f"{metric}_rank")
            for method in block.methods
        ]
        grid = [
            [Score(dataset, setting, part, method, metric) for method in block.methods]
            for dataset in block.datasets
        ]
        found |= _follow(places, grid, rule, scores, block)
    return (found[place] for place in block.places(table))


def _outcome_cells(block: Block, table: int, scores: Scores) -> Iterator[Cell]:
    found: dict[Place, Cell] = {}
    for pool, part, metric, pair in product(block.pools, block.parts, block.metrics, block.pairs):
        rule = partial(outcomes, direction=scores.paper.directions[metric])
        places = [
            Place(table, "all", "+".join(pool), part, pair[0], f"vs-{pair[1]}", f"{metric}_{name}")
            for name in OUTCOMES
        ]
        grid = [
            [Score(dataset, setting, part, method, metric) for method in pair]
            for setting, dataset in product(pool, block.datasets)
        ]
        found |= _follow(places, grid, rule, scores, block)
    return (found[place] for place in block.places(table))


def _follow(
    places: Sequence[Place],
    grid: Sequence[Sequence[Score]],
    rule: Callable[[Matrix], Sequence[Side]],
    scores: Scores,
    block: Block,
) -> dict[Place, Cell]:
    """Derive numbers from a grid of scores, on the rows where all of ours are known."""
    mine, theirs = scores.our_matrix(grid), scores.printed_matrix(grid, block.sources)
    rows = [i for i, row in enumerate(mine.means) if not np.isnan(row).any()]
    nothing = [Side(math.nan)] * len(places)
    ours = rule(mine.only(rows)) if rows else nothing
    known = theirs.only(rows)
    printed = rule(known) if rows and not np.isnan(known.means).any() else nothing
    n_printed = block.n_printed * len(grid) // len(block.datasets)
    cells = {}
    for place, one, other in zip(places, ours, printed, strict=True):
        own = [score for i in rows for score in grid[i] if score.method == place.method]
        # A method against itself is there twice.
        own = list(dict.fromkeys(own))
        resting = _resting(own, n_printed, [scores.ours(score)[0] for score in own])
        found = resting.on(one, other, scores.figures[place])
        cells[place] = _cell(place, found, scores)
    return cells


def _count_cells(block: Block, table: int, scores: Scores) -> Iterator[Cell]:
    for place in block.places(table):
        _, name = scores.paper.where(place.part, place.metric)
        yield _exact(place, counts(place.dataset).get(name, math.nan), scores)


def _chance_cells(block: Block, table: int, scores: Scores) -> Iterator[Cell]:
    for place in block.places(table):
        yield _exact(place, 100 / counts(place.dataset).get("n_classes", math.nan), scores)


def _exact(place: Place, value: float, scores: Scores) -> Cell:
    """Set beside print what has no spread: it is what is printed, or it is not."""
    figure = scores.figures[place]
    return _cell(place, _Found(Side(value, 0.0, ENOUGH), Side(figure.mean)), scores)


def _split_cells(block: Block, table: int, scores: Scores) -> Iterator[Cell]:
    paper, n = scores.paper, len(block.settings)
    for place in block.places(table):
        figure = scores.figures[place]
        values, missing = split_values(paper.grid, place, block.settings, scores.runs.protocol)
        if not values:
            notes = (missing,) if missing else ()
            yield _cell(place, _Found(Side(math.nan), Side(figure.mean), notes=notes), scores)
        elif n == 1:
            yield _exact(place, values[0], scores)
        else:
            found = summarize(list(values), ddof=paper.ddof)
            ours = Side(found.mean, sample_deviation(found.sd, n, paper.ddof), n)
            printed = Side(figure.mean, sample_deviation(figure.sd, n, paper.ddof), n)
            yield _cell(place, _Found(ours, printed, found.sd), scores)


CELLS: Mapping[str, Callable[[Block, int, Scores], Iterable[Cell]]] = MappingProxyType(
    {
        "cells": _score_cells,
        "drops": _score_cells,
        "ranks": _rank_cells,
        "win-tie-loss": _outcome_cells,
        "counts": _count_cells,
        "splits": _split_cells,
        "chance": _chance_cells,
    }
)
"""What makes the cells of every kind of block."""
