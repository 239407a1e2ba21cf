"""What runs will take, told by the records of similar ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from graphgauge.records import Record, RunSpec

__all__ = ["Experience", "Forecast"]

_Kind: TypeAlias = tuple[object, ...]


@dataclass(frozen=True)
class Forecast:
    """What a list of runs will take.

    Parameters
    ----------
    n_runs
        How many runs there are.
    n_unknown
        How many of them resemble nothing on record; they are left out of the numbers.
    seconds
        Until the end, with all workers busy; None if nothing is known.
    peak_mb
        Memory of all workers together at worst; None if nothing is known.
    """

    n_runs: int
    n_unknown: int
    seconds: float | None
    peak_mb: float | None


class Experience:
    """Seconds and memory of runs that are done, by what they had in common.

    Examples
    --------
    >>> spec = RunSpec("shifts", "cora-ml", "density-50", "erm", 0, "corrected", {}, "1")
    >>> timing = {"seconds": 20.0, "peak_mb": 500.0}
    >>> known = Experience([Record(spec, "done", made={"timing": timing})])
    >>> other = RunSpec("shifts", "cora-ml", "density-50", "erm", 1, "corrected", {}, "1")
    >>> known.seconds(other), known.forecast([other, other], n_workers=2).seconds
    (20.0, 20.0)
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._means: dict[_Kind, tuple[int, float]] = {}
        self._peaks: dict[_Kind, float] = {}
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Learn from a run that is done."""
        seconds, peak = (record.timing.get(name) for name in ("seconds", "peak_mb"))
        if record.status != "done" or not isinstance(seconds, int | float):
            return
        for kind in _kinds(record.spec):
            n, mean = self._means.get(kind, (0, 0.0))
            self._means[kind] = n + 1, mean + (seconds - mean) / (n + 1)
            if isinstance(peak, int | float):
                self._peaks[kind] = max(peak, self._peaks.get(kind, 0.0))

    def seconds(self, spec: RunSpec) -> float | None:
        """Expect what the most similar runs took on average: of this method on this data set."""
        return next((self._means[k][1] for k in _kinds(spec) if k in self._means), None)

    def peak_mb(self, spec: RunSpec) -> float | None:
        """Expect the largest memory of the most similar runs."""
        return next((self._peaks[k] for k in _kinds(spec) if k in self._peaks), None)

    def forecast(self, specs: Sequence[RunSpec], *, n_workers: int) -> Forecast:
        """Expect what runs will take on a number of workers."""
        seconds = [self.seconds(spec) for spec in specs]
        known = [s for s in seconds if s is not None]
        peaks = [p for p in map(self.peak_mb, specs) if p is not None]
        # The longest run takes its time, however many workers there are.
        wall = max(sum(known) / n_workers, *known) if known else None
        memory = sum(sorted(peaks)[-n_workers:]) if peaks else None
        return Forecast(len(specs), len(seconds) - len(known), wall, memory)

    def time_left(self, specs: Sequence[RunSpec], *, n_workers: int) -> float | None:
        """Expect how long what is not done will take; unknown runs count as the others' mean."""
        seconds = [self.seconds(spec) for spec in specs]
        known = [s for s in seconds if s is not None]
        if not known:
            return None if specs else 0.0
        mean = fmean(known)
        return sum(mean if s is None else s for s in seconds) / n_workers


def _kinds(spec: RunSpec) -> Sequence[_Kind]:
    """Name what a run has in common with others, the closest first."""
    what = spec.benchmark, spec.dataset, spec.use, len(spec.members)
    return (*what, spec.setting, spec.protocol, repr(spec.hyper)), what
