"""Which epoch of a phase is kept, and when the phase ends: a rule as data, and who keeps to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["BEST", "Stop", "Watch"]


@dataclass(frozen=True)
class Stop:
    """A rule on what epochs reach in validation, one number or several, each best when smallest.

    An epoch is kept if it makes progress in all numbers; it counts as idle if it makes none in any.

    Parameters
    ----------
    patience
        After how many idle epochs in a row the phase ends; if None, it takes all of its epochs.
    ties
        Whether to be as good as the best before is progress.
    start
        What the first epoch has to do better than.

    References
    ----------
    The rule of *edgewise*, two numbers with ties, is that of Veličković et al., Graph Attention
    Networks, ICLR 2018.
    """

    patience: int | None = None
    ties: bool = False
    start: float = math.inf


BEST = Stop()
"""The first best epoch is kept, and all are taken."""


class Watch:
    """Keeps to a rule, epoch by epoch.

    Examples
    --------
    >>> watch = Watch(Stop(patience=2))
    >>> [watch.keeps([loss]) for loss in (0.5, 0.7, 0.4, 0.4, 0.6)], watch.over
    ([True, False, True, False, False], True)
    """

    def __init__(self, stop: Stop) -> None:
        self.stop, self.found = stop, stop.start < math.inf
        self.best: list[float] = []
        self.idle = 0

    def keeps(self, reached: Sequence[float]) -> bool:
        """Take note of what an epoch reached, and say whether to keep it."""
        best = self.best or [self.stop.start] * len(reached)
        pairs = list(zip(reached, best, strict=True))
        better = [new <= old if self.stop.ties else new < old for new, old in pairs]
        self.best = [pair[not gains] for pair, gains in zip(pairs, better, strict=True)]
        self.idle = 0 if any(better) else self.idle + 1
        self.found |= all(better)
        return all(better)

    @property
    def over(self) -> bool:
        """Whether the phase has ended."""
        return self.stop.patience is not None and self.idle >= self.stop.patience
