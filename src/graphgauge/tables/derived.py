"""What follows from scores: mean ranks and counts of wins, with how far they spread.

The spread is found by moving every score at random by its own deviation, always by the same draws.
"""

from __future__ import annotations

import numpy as np

from graphgauge.arrays import FloatArray
from graphgauge.stats import competition_ranks, mean_ranks, win_tie_loss
from graphgauge.tables.scores import Matrix
from graphgauge.tables.spec import OUTCOMES
from graphgauge.tables.verdict import ENOUGH, Side

__all__ = ["outcomes", "ranks"]

_DRAWS = 200


def ranks(scores: Matrix, *, direction: str) -> list[Side]:
    """Rank methods on every data set and average: ties get the better rank, as in the papers.

    Examples
    --------
    >>> means = np.array([[80.0, 70.0, 80.0], [60.0, 65.0, 50.0]])
    >>> still = np.zeros((2, 3))
    >>> [side.mean for side in ranks(Matrix(means, still, still), direction="higher")]
    [1.5, 2.0, 2.0]
    """
    # Ties are meant for decimals, so a rounding of doubles breaks none.
    found = mean_ranks(np.round(scores.means, 9), direction=direction)
    moved = _moved(scores)
    flat = competition_ranks(moved.reshape(-1, moved.shape[-1]), direction=direction)
    spreads = flat.reshape(moved.shape).mean(axis=1).std(axis=0, ddof=1)
    return [Side(float(m), float(s), ENOUGH) for m, s in zip(found, spreads, strict=True)]


def outcomes(scores: Matrix, *, direction: str) -> list[Side]:
    """Count wins, ties and losses of the first of two methods against the second.

    Examples
    --------
    >>> means, sds = np.array([[80.0, 70.0], [60.0, 60.1]]), np.ones((2, 2))
    >>> [s.mean for s in outcomes(Matrix(means, sds, np.zeros((2, 2))), direction="higher")]
    [1.0, 1.0, 0.0]
    """
    counted = win_tie_loss(scores.means, scores.sds, direction=direction)
    moved = _moved(scores)
    gap = (moved[..., 0] - moved[..., 1]) * (1 if direction == "higher" else -1)
    room = np.nan_to_num(scores.sds).sum(axis=1)
    n_win, n_loss = (gap > room).sum(axis=1), (-gap > room).sum(axis=1)
    drawn = (n_win, gap.shape[1] - n_win - n_loss, n_loss)
    counts = [getattr(counted, name)[0, 1] for name in OUTCOMES]
    known = not np.isnan(moved).any()
    return [
        Side(float(n), float(draws.std(ddof=1)) if known else np.nan, ENOUGH)
        for n, draws in zip(counts, drawn, strict=True)
    ]


def _moved(scores: Matrix) -> FloatArray:
    """Draw all scores anew ``[draws, n_conditions, m]``; NaN where their spread is unknown."""
    noise = np.random.default_rng(0).standard_normal((_DRAWS, *scores.means.shape))
    return np.asarray(scores.means + scores.spreads * noise)
