"""Scores on both sides: ours from runs, theirs from print, each with how far it spreads."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphgauge.arrays import FloatArray
from graphgauge.tables.figures import Figure, Place
from graphgauge.tables.samples import Runs, Sample, Score, sample_deviation
from graphgauge.tables.spec import Paper
from graphgauge.tables.verdict import Side

__all__ = ["Matrix", "Scores"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Scores of several methods under several conditions, ``[n_conditions, m]`` each.

    Parameters
    ----------
    means
        NaN where nothing is known.
    sds
        Of runs; NaN where there are none, as for ensembles.
    spreads
        The same with what stands in for ensembles.
    """

    means: FloatArray
    sds: FloatArray
    spreads: FloatArray

    def only(self, rows: Sequence[int]) -> Matrix:
        """Keep some conditions."""
        return Matrix(self.means[rows], self.sds[rows], self.spreads[rows])


class Scores:
    """Scores of runs and of print.

    Parameters
    ----------
    runs
        Ours.
    figures
        Published ones of the same paper.
    """

    def __init__(self, runs: Runs, figures: Mapping[Place, Figure]) -> None:
        self.runs = runs
        self.figures = figures

    @property
    def paper(self) -> Paper:
        """Whose scores these are."""
        return self.runs.paper

    def ours(self, score: Score) -> tuple[Sample, Side]:
        """Return our values of a score, and what they amount to."""
        sample = spread = self.runs.sample(score)
        if score.method in self.paper.members:
            member = self.paper.members[score.method][0]
            spread = self.runs.sample(score._replace(method=member))
        return sample, Side(sample.mean, spread.spread, spread.n_behind)

    def printed(self, score: Score, tables: Sequence[int]) -> Side:
        """Return the score as printed in one of the tables."""
        figure = self.figure(score, tables)
        rows = self.paper.member_rows(score.method) or (score.method,)
        found = (self.figure(score._replace(method=row), tables) for row in rows)
        spread = next((f for f in found if f is not None), Figure(""))
        return self.side(Figure("") if figure is None else figure, spread)

    def side(self, figure: Figure, spread: Figure | None = None) -> Side:
        """Take a printed number for what it is, with the deviation that counts for it."""
        n, sd = self.paper.published_seeds, (spread or figure).sd
        return Side(figure.mean, sample_deviation(sd, n, self.paper.ddof), n)

    def figure(self, score: Score, tables: Sequence[int]) -> Figure | None:
        """Look a score up in the tables."""
        found = (self.figures.get(_place(table, score)) for table in tables)
        return next((figure for figure in found if figure is not None), None)

    def our_matrix(self, scores: Sequence[Sequence[Score]]) -> Matrix:
        """Lay out our scores; one of a single run is left out, for nothing tells its spread."""

        def entry(score: Score) -> tuple[float, float, float]:
            sample, side = self.ours(score)
            known = sample.n > 1 or score.method in self.paper.members
            return (side.mean, sample.sd, side.sd) if known else (math.nan,) * 3

        return _matrix(scores, entry)

    def printed_matrix(self, scores: Sequence[Sequence[Score]], tables: Sequence[int]) -> Matrix:
        """Lay out the printed scores."""

        def entry(score: Score) -> tuple[float, float, float]:
            figure, side = self.figure(score, tables), self.printed(score, tables)
            return side.mean, math.nan if figure is None else figure.sd, side.sd

        return _matrix(scores, entry)


def _place(table: int, score: Score) -> Place:
    method, _, variant = score.method.partition(".")
    where = table, score.dataset, score.setting, score.part
    return Place(*where, method, variant, score.metric)


def _matrix(
    scores: Iterable[Sequence[Score]], entry: Callable[[Score], tuple[float, float, float]]
) -> Matrix:
    cells = np.array([[entry(score) for score in row] for row in scores], float)
    return Matrix(cells[..., 0], cells[..., 1], cells[..., 2])
