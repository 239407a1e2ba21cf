"""What our runs say of one cell: values over seeds, and how many there should be."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import NamedTuple, TypeAlias

from graphgauge.records import Record
from graphgauge.runspec import version_order
from graphgauge.stats import Summary, summarize
from graphgauge.tables.spec import Paper

__all__ = ["Runs", "Sample", "Score", "relative", "sample_deviation"]


Key: TypeAlias = tuple[str, int]
"""Of a run: its setting and its seed."""


class Score(NamedTuple):
    """What is measured: a method on a part of a data set, in one setting, by one metric.

    Several settings that count together are joined by ``+``; a part of the records that stands for
    the printed one follows a stroke (``val-loss/balanced``).
    """

    dataset: str
    setting: str
    part: str
    method: str
    metric: str


@dataclass(frozen=True)
class Sample:
    """Values of one cell over runs, in percent.

    A mean over the seeds that were run is a mean as good as any; one over the seeds that survived
    is not, for seeds do not fail at random. So runs yet to come leave a mean, failed ones do not.

    Parameters
    ----------
    values
        By setting and seed, of the runs that are done.
    wanted
        How many runs there should be.
    failed
        How many were tried in vain.
    remarks
        What is to be said of them.
    center
        The mean where it does not follow from the values alone.
    ddof
        1 for the deviation of a sample, 0 for that of a population.
    sds
        Deviations that runs have within themselves, over resamples of what they are tested on:
        these count then, and not how runs differ.
    draws
        How many resamples there are.

    Examples
    --------
    >>> sample = Sample({("random", 0): 81.0, ("random", 1): 83.0}, wanted=5)
    >>> sample.mean, round(sample.sd, 3), sample.told
    (82.0, 1.414, '2 of 5 seeds')
    >>> replace(sample, failed=1).mean, replace(sample, ddof=0).sd
    (nan, 1.0)
    """

    values: Mapping[Key, float] = field(default_factory=dict)
    wanted: int = 0
    failed: int = 0
    remarks: tuple[str, ...] = ()
    center: float | None = None
    ddof: int = 1
    sds: Mapping[Key, float] = field(default_factory=dict)
    draws: int = 0

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
        """Deviation over runs, by `ddof`; NaN for fewer than two. Or that within runs."""
        if self.sds and not self.failed:
            return math.sqrt(sum(sd**2 for sd in self.sds.values()) / len(self.sds))
        return self._summary.sd if self.n > 1 else math.nan

    @property
    def spread(self) -> float:
        """Sample deviation, whatever `ddof` is."""
        return sample_deviation(self.sd, self.n_behind, self.ddof)

    @property
    def n_behind(self) -> int:
        """How many numbers are behind the deviation."""
        return self.draws if self.sds else self.n

    @property
    def told(self) -> str:
        """How many runs there are, unless that is all of them."""
        if self.n == self.wanted or not self.n + self.failed:
            return ""
        failed = f", {self.failed} failed" if self.failed else ""
        what = "seeds" if len({setting for setting, _ in self.values}) < 2 else "runs"
        return f"{self.n} of {self.wanted} {what}{failed}"

    @cached_property
    def _summary(self) -> Summary:
        n = self.n + self.failed
        return summarize(list(self.values.values()), n_expected=n, ddof=self.ddof)


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
        settings, _, view = score.setting.partition("/")
        records, remarks = self._choose(score.dataset, settings, method)
        done = [record for record in records if record.status == "done"]
        tried = [record for record in records if record.status != "done"]
        part, metric = self.paper.where(view or score.part, score.metric)
        found = {_key(record): _value(record, part, metric) for record in done}
        values = {key: 100 * value for key, value in found.items() if value is not None}
        if len(values) < len(done):
            remarks += (f"{score.metric} is missing from {len(done) - len(values)} of the records",)
        remarks += tuple(dict.fromkeys(f"{r.status}: {r.reason}" for r in tried))
        sample = Sample(values, self._wanted(method, settings, records), len(tried), remarks)
        within = {_key(record): _value(record, part, f"{metric}_sd") for record in done}
        sds = {key: 100 * sd for key, sd in within.items() if sd is not None}
        draws = min((_value(record, part, "n_draws") or 0 for record in done), default=0)
        return replace(sample, ddof=self.paper.ddof, sds=sds, draws=int(draws))

    def _drop(self, score: Score, metric: str) -> Sample:
        """Collect drops by seed; their mean is the papers', that of the means of both parts."""
        inside, outside = (
            self.sample(score._replace(part=part, metric=metric)) for part in ("ID", "OOD")
        )
        drops = {
            key: relative(value, outside.values[key])
            for key, value in inside.values.items()
            if value and key in outside.values
        }
        known = bool(drops) and not (inside.failed or outside.failed)
        center = relative(inside.mean, outside.mean) if known else None
        return replace(inside, values=drops, center=center)

    def _wanted(self, method: str, settings: str, records: Sequence[Record]) -> int:
        seeds = (0,) if method in self.paper.members else self.paper.grid.seeds
        planned = set(product(settings.split("+"), seeds))
        return len(planned | set(map(_key, records)))

    def _choose(
        self, dataset: str, settings: str, method: str
    ) -> tuple[list[Record], tuple[str, ...]]:
        key = (dataset, settings, method)
        if key not in self._chosen:
            found = [
                r for s in settings.split("+") for r in self._records.get((dataset, s, method), ())
            ]
            self._chosen[key] = _of_one_kind(found, self._size(method))
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


def sample_deviation(sd: float, n: int, ddof: int) -> float:
    """Turn a deviation of `n` values that was printed with `ddof` into that of a sample.

    Examples
    --------
    >>> sample_deviation(1.0, 5, 1), round(sample_deviation(1.0, 5, 0), 3)
    (1.0, 1.118)
    """
    return sd * math.sqrt(n / (n - 1)) if n > 1 and not ddof else sd


def _key(record: Record) -> Key:
    return record.spec.setting, record.spec.seed


def _value(record: Record, part: str, metric: str) -> float | None:
    value = record.values.get(part, {}).get(metric)
    return None if value is None or not math.isfinite(value) else float(value)


def _of_one_kind(records: Sequence[Record], size: int) -> tuple[list[Record], tuple[str, ...]]:
    """Keep the runs of one kind: never a mean over two versions, parameters, graphs or splits.

    Of several it is the one of the newest version, then the one with the most runs; settings that
    count together have a split each.
    """
    kept = _largest(records, _kind, newest=True)
    done: dict[str, list[Record]] = defaultdict(list)
    for record in kept:
        if record.status == "done":
            done[record.spec.setting].append(record)
    alike = [record for found in done.values() for record in _largest(found, _data)]
    ids = {record.spec.id for record in alike}
    kept = [record for record in kept if record.status != "done" or record.spec.id in ids]
    remarks = []
    if left := len(records) - len(kept):
        runs = "1 run" if left == 1 else f"{left} runs"
        remarks.append(f"{runs} left out, made with another version, parameters, graph or split")
    few = min((len(record.spec.members) for record in alike), default=size)
    if few < size:
        remarks.append(f"of {few} members instead of {size}")
    return sorted(kept, key=_key), tuple(remarks)


def _largest(
    records: Sequence[Record], kind: Callable[[Record], str], *, newest: bool = False
) -> list[Record]:
    kinds: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        kinds[kind(record)].append(record)

    def rank(name: str) -> tuple[tuple[int, ...], int, str]:
        n_done = sum(record.status == "done" for record in kinds[name])
        version = version_order(kinds[name][0].spec.version) if newest else ()
        return version, n_done, name

    return kinds[max(kinds, key=rank)] if kinds else []


def _kind(record: Record) -> str:
    """Write down what may not differ between runs of one cell, but for setting and seed.

    What is calibrated is made of one run, of the same seed: another one each.
    """
    told = {**record.spec.to_dict(), "setting": None, "seed": None}
    if len(record.spec.members) == 1:
        told["members"] = None
    return json.dumps(told, sort_keys=True)


def _data(record: Record) -> str:
    return json.dumps([record.made.get("graph"), record.made.get("split")], default=str)
