"""What our runs say of one cell: values over seeds, and how many there should be."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from graphgauge.records import Record
from graphgauge.stats import Summary, summarize
from graphgauge.tables.spec import Paper

__all__ = ["Runs", "Sample", "Score", "relative"]


class Score(NamedTuple):
    """What is measured: a method on a part of a data set, in one setting, by one metric."""

    dataset: str
    setting: str
    part: str
    method: str
    metric: str


@dataclass(frozen=True)
class Sample:
    """Values of one cell over seeds, in percent.

    A mean over the seeds that were run is a mean as good as any; one over the seeds that survived
    is not, for seeds do not fail at random. So runs yet to come leave a mean, failed ones do not.

    Parameters
    ----------
    values
        By seed, of the runs that are done.
    wanted
        How many runs there should be.
    failed
        How many were tried in vain.
    remarks
        What is to be said of them.
    center
        The mean where it does not follow from the values alone.

    Examples
    --------
    >>> sample = Sample({0: 81.0, 1: 83.0}, wanted=5)
    >>> sample.mean, round(sample.sd, 3), sample.told
    (82.0, 1.414, '2 of 5 seeds')
    >>> Sample({0: 81.0, 1: 83.0}, wanted=5, failed=1).mean
    nan
    """

    values: dict[int, float] = field(default_factory=dict)
    wanted: int = 0
    failed: int = 0
    remarks: tuple[str, ...] = ()
    center: float | None = None

    @property
    def n(self) -> int:
        """Runs that are done."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Mean over seeds; NaN without runs, or if some failed."""
        if self.center is not None and self.n and not self.failed:
            return self.center
        return self._summary.mean

    @property
    def sd(self) -> float:
        """Sample deviation over seeds (ddof = 1); NaN for fewer than two."""
        return self._summary.sd

    @property
    def told(self) -> str:
        """How many seeds there are, unless that is all of them."""
        if self.n == self.wanted or not self.n + self.failed:
            return ""
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.n} of {self.wanted} seeds{failed}"

    @cached_property
    def _summary(self) -> Summary:
        return summarize(list(self.values.values()), n_expected=self.n + self.failed)


class Runs:
    """Records of one paper under one protocol, by what they are runs of.

    Parameters
    ----------
    records
        Of any papers and protocols; what is not asked for is left out.
    paper
        Whose.
    protocol
        ``published`` or ``corrected``.
    """

    def __init__(self, records: Iterable[Record], *, paper: Paper, protocol: str) -> None:
        self.paper = paper
        self.protocol = protocol
        self.others: dict[str, int] = defaultdict(int)
        self._records: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
        for record in records:
            spec = record.spec
            if spec.benchmark != paper.name:
                continue
            if spec.protocol == protocol:
                self._records[spec.dataset, spec.setting, spec.method].append(record)
            else:
                self.others[spec.protocol] += 1
        self._samples: dict[Score, Sample] = {}
        self._chosen: dict[tuple[str, str, str], tuple[list[Record], tuple[str, ...]]] = {}

    def sample(self, score: Score) -> Sample:
        """Collect the values of one score over seeds."""
        if score not in self._samples:
            self._samples[score] = self._sample(score)
        return self._samples[score]

    def _sample(self, score: Score) -> Sample:
        if score.metric in self.paper.drops:
            return self._drop(score, self.paper.drops[score.metric])
        method = self.paper.run_of(score.method)
        records, remarks = self._choose(score.dataset, score.setting, method)
        done = [record for record in records if record.status == "done"]
        tried = [record for record in records if record.status != "done"]
        found = {record.spec.seed: _value(record, score) for record in done}
        values = {seed: 100 * value for seed, value in found.items() if value is not None}
        if len(values) < len(done):
            remarks += (f"{score.metric} is missing from {len(done) - len(values)} of the records",)
        remarks += tuple(dict.fromkeys(f"{r.status}: {r.reason}" for r in tried))
        return Sample(values, self._wanted(method, records), len(tried), remarks)

    def _drop(self, score: Score, metric: str) -> Sample:
        """Collect drops by seed; their mean is the papers', that of the means of both parts."""
        inside, outside = (
            self.sample(score._replace(part=part, metric=metric)) for part in ("ID", "OOD")
        )
        drops = {
            seed: relative(value, outside.values[seed])
            for seed, value in inside.values.items()
            if value and seed in outside.values
        }
        known = bool(drops) and not (inside.failed or outside.failed)
        center = relative(inside.mean, outside.mean) if known else None
        return replace(inside, values=drops, center=center)

    def _wanted(self, method: str, records: Sequence[Record]) -> int:
        planned = {0} if method in self.paper.members else set(self.paper.seeds)
        return len(planned | {r.spec.seed for r in records})

    def _choose(
        self, dataset: str, setting: str, method: str
    ) -> tuple[list[Record], tuple[str, ...]]:
        key = (dataset, setting, method)
        if key not in self._chosen:
            self._chosen[key] = _of_one_kind(self._records.get(key, []), self._size(method))
        return self._chosen[key]

    def _size(self, method: str) -> int:
        return self.paper.members[method][1] if method in self.paper.members else 0


def relative(inside: float, outside: float) -> float:
    """Return the difference in percent of the value in distribution: negative is a drop.

    Examples
    --------
    >>> relative(80.0, 60.0)
    -25.0
    """
    return 100 * (outside - inside) / inside


def _value(record: Record, score: Score) -> float | None:
    value = record.values.get(score.part, {}).get(score.metric)
    return None if value is None or not math.isfinite(value) else float(value)


def _of_one_kind(records: Sequence[Record], size: int) -> tuple[list[Record], tuple[str, ...]]:
    """Keep the runs of one kind: never a mean over two versions, parameters, graphs or splits.

    Of several it is the one of the newest version, then the one with the most runs.
    """
    kept = _largest(records, _kind, newest=True)
    done = [record for record in kept if record.status == "done"]
    alike = _largest(done, _data)
    kept = [record for record in kept if record.status != "done" or record in alike]
    remarks = []
    if left := len(records) - len(kept):
        runs = "1 run" if left == 1 else f"{left} runs"
        remarks.append(f"{runs} left out, made with another version, parameters, graph or split")
    few = min((len(record.spec.members) for record in alike), default=size)
    if few < size:
        remarks.append(f"of {few} members instead of {size}")
    return sorted(kept, key=lambda record: record.spec.seed), tuple(remarks)


def _largest(
    records: Sequence[Record], kind: Callable[[Record], str], *, newest: bool = False
) -> list[Record]:
    kinds: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        kinds[kind(record)].append(record)

    def rank(name: str) -> tuple[int, int, str]:
        n_done = sum(record.status == "done" for record in kinds[name])
        return _version(kinds[name][0]) if newest else 0, n_done, name

    return kinds[max(kinds, key=rank)] if kinds else []


def _kind(record: Record) -> str:
    """Write down what may not differ between runs of one cell, but for the seed."""
    return json.dumps({**record.spec.to_dict(), "seed": None}, sort_keys=True)


def _data(record: Record) -> str:
    return json.dumps([record.made.get("graph"), record.made.get("split")], default=str)


def _version(record: Record) -> int:
    return int(record.spec.version) if record.spec.version.isdecimal() else 0
