"""Runs many specs: on this machine's processes, or on a Dask cluster; the same code for both.

What is recorded as done is never run again, and a record is written in one step as soon as its run
has ended. So whatever is killed, and whenever, loses the runs in flight at most, and calling again
goes on from there.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from graphgauge.errors import InputError
from graphgauge.forecast import Experience
from graphgauge.predictions import NodePredictions
from graphgauge.processes import LocalProcesses
from graphgauge.provenance import made_with
from graphgauge.records import Record, Records, RunSpec, read_record
from graphgauge.run import execute, reason_of

__all__ = ["Event", "Place", "Step", "Workers", "local_workers", "pending", "run_all"]

_Answer: TypeAlias = tuple[Record, dict[str, Any] | None]

_ATTEMPTS = 2
# A worker of a cluster may have many threads; runs share its memory, clock and generators.
_one_at_a_time = threading.Lock()
# Drafts this old belong to a writer that was killed.
_ABANDONED_SECONDS = 600


class Step(StrEnum):
    """What has happened to a run."""

    STARTED = "started"
    AGAIN = "again"
    ENDED = "ended"


@dataclass(frozen=True)
class Event:
    """Something that has happened, for whoever shows progress.

    Parameters
    ----------
    step
        What.
    spec
        To which run.
    record
        What came of it, when it has ended.
    left
        The runs that have not ended, whether they have begun or not.
    experience
        What runs have taken so far.
    """

    step: Step
    spec: RunSpec
    record: Record | None
    left: Sequence[RunSpec]
    experience: Experience


@dataclass(frozen=True)
class Place:
    """The folder in which records and predictions are kept."""

    folder: Path

    @property
    def records(self) -> Path:
        """Where records are."""
        return self.folder / "records"

    def prepare(self) -> None:
        """Make the folders, and clear away drafts of writers that were killed."""
        try:
            for path in (self.records, self.folder / "predictions"):
                path.mkdir(parents=True, exist_ok=True)
                for draft in path.glob(".*.part"):
                    with contextlib.suppress(OSError):
                        if time.time() - draft.stat().st_mtime > _ABANDONED_SECONDS:
                            draft.unlink()
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be written ({error.strerror})") from None

    def load(self) -> Records:
        """Read the records that are there."""
        return Records.load(self.records) if self.records.is_dir() else Records()

    def find(self, run: str) -> Record | None:
        """Read the record of a run if it is done, by its id."""
        path = self.records / f"{run}.json"
        found = read_record(path) if path.is_file() else None
        return found if found is not None and _done(found) else None

    def predictions(self, run: str) -> Path:
        """Where the predictions of a run are, by its id."""
        return self.folder / "predictions" / f"{run}.npz"

    def keep(self, record: Record, predictions: NodePredictions | None) -> None:
        """Write predictions, then the record: what is recorded as done is there."""
        if predictions is not None:
            predictions.save(self.predictions(record.spec.id))
        record.save(self.records)


@dataclass(frozen=True)
class Workers:
    """Where runs are executed.

    Parameters
    ----------
    executor
        Shaped like those of `concurrent.futures`.
    n_workers
        How many runs it works on at a time, asked anew whenever one has ended.
    near
        An executor on the machine that holds the predictions, for what is derived from them;
        usually the same.
    device
        Where methods are trained, such as ``cuda``.
    """

    executor: Executor
    n_workers: Callable[[], int]
    near: Executor
    device: str = "cpu"


@contextlib.contextmanager
def local_workers(n_workers: int = 1, *, device: str = "cpu") -> Iterator[Workers]:
    """Run in single-threaded processes of this machine; leaving early ends them at once."""
    if n_workers < 1:
        raise InputError(f"workers: {n_workers} are too few")
    executor = LocalProcesses(n_workers)
    try:
        yield Workers(executor, lambda: n_workers, executor, device)
    except BaseException:
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


def pending(specs: Sequence[RunSpec], place: Place, records: Records) -> list[RunSpec]:
    """Return the runs that are not done.

    Predictions of members may be gone while their records are there, as in a clean checkout: they
    are made anew if an ensemble that is not done needs them, or a calibrator.
    """
    done = {record.spec.id for record in records if record.status == "done"}
    needed = {m for spec in specs if spec.id not in done for m in spec.members}
    lost = {m for m in needed & done if not place.predictions(m).is_file()}
    return [spec for spec in specs if spec.id not in done or spec.id in lost]


def run_all(
    specs: Sequence[RunSpec],
    place: Place,
    workers: Workers,
    *,
    tell: Callable[[Event], None] = lambda event: None,
) -> Records:
    """Run what is not done and return the records of all specs.

    The longest runs begin first, as far as records of similar ones tell; what is derived follows
    what it is made of. A worker that dies costs a second attempt; if that dies too, the run has
    failed.
    """
    place.prepare()
    specs = list(dict.fromkeys(specs))
    records = place.load()
    queue = _Queue(pending(specs, place, records), place, tell, records)
    flying: dict[Future[_Answer], RunSpec] = {}
    while queue.left:
        for spec in queue.hopeless():
            queue.keep(_never_run(spec, "skipped", queue.lacking(spec)), None)
        while len(flying) < max(workers.n_workers(), 1):
            if (ready := queue.take(flying.values())) is None:
                break
            if (known := place.find(ready.id)) and place.predictions(ready.id).is_file():
                queue.enter(known)  # somebody else was at work in the same folder
                continue
            flying[_submit(ready, place, workers)] = ready
            tell(Event(Step.STARTED, ready, None, queue.left, queue.experience))
        if not queue.left:
            break
        ended, _ = wait(flying, return_when=FIRST_COMPLETED)
        for future in ended:
            queue.land(flying.pop(future), future)
    return Records([queue.records[spec.id] for spec in specs])


class _Queue:
    """What is still to be run, and what has come of the rest."""

    def __init__(
        self,
        left: Sequence[RunSpec],
        place: Place,
        tell: Callable[[Event], None],
        before: Records,
    ) -> None:
        self.left = tuple(left)
        self.records = {id_: r for id_, r in before.by_id.items() if id_ not in _ids(left)}
        self.experience = Experience(before)
        self._place, self._tell = place, tell
        self._attempts: Counter[str] = Counter()

    def take(self, flying: Collection[RunSpec]) -> RunSpec | None:
        """Return the longest run that can begin; one of unknown length may be the longest."""
        busy = _ids(flying)
        ready = [s for s in self.left if s.id not in busy and not self._missing(s)]
        return max(ready, key=self._expected, default=None)

    def hopeless(self) -> list[RunSpec]:
        """Return the runs that lack a member for good."""
        coming = _ids(self.left)
        return [s for s in self.left if not coming.issuperset(self._missing(s))]

    def lacking(self, spec: RunSpec) -> str:
        """Say what a run lacks."""
        missing = self._missing(spec)
        known = [self.records[m].reason for m in missing if m in self.records]
        first = f"; the first: {known[0]}" if known else ", and were not asked for"
        return f"{len(missing)} of {len(spec.members)} members are not done{first}"[:400]

    def land(self, spec: RunSpec, future: Future[_Answer]) -> None:
        """Take in what came of a run: its record, or a worker that has died."""
        try:
            record, packed = future.result()
        except (Exception, CancelledError) as error:
            self._attempts[spec.id] += 1
            if self._attempts[spec.id] < _ATTEMPTS:
                self._tell(Event(Step.AGAIN, spec, None, self.left, self.experience))
            else:
                reason = f"{reason_of(error)}, {_ATTEMPTS} times"
                self.keep(_never_run(spec, "failed", reason), None)
            return
        self.keep(record, None if packed is None else NodePredictions(**packed))

    def keep(self, record: Record, predictions: NodePredictions | None) -> None:
        """Write what came of a run, and learn from it."""
        self._place.keep(record, predictions)
        self.enter(record)

    def enter(self, record: Record) -> None:
        """Take a record for what came of its run."""
        self.left = tuple(spec for spec in self.left if spec.id != record.spec.id)
        self.records[record.spec.id] = record
        self.experience.add(record)
        self._tell(Event(Step.ENDED, record.spec, record, self.left, self.experience))

    def _missing(self, spec: RunSpec) -> list[str]:
        return [m for m in spec.members if m not in self.records or not _done(self.records[m])]

    def _expected(self, spec: RunSpec) -> float:
        seconds = self.experience.seconds(spec)
        return float("inf") if seconds is None else seconds


def _submit(spec: RunSpec, place: Place, workers: Workers) -> Future[_Answer]:
    members = [place.predictions(member) for member in spec.members]
    executor = workers.near if members else workers.executor
    try:
        return executor.submit(_work, spec, workers.device, members)
    except RuntimeError as error:
        raise InputError(f"the workers cannot be reached any more ({error})") from None


def _work(spec: RunSpec, device: str, members: Sequence[Path]) -> _Answer:
    """Execute a spec in a worker; predictions travel as plain arrays."""
    with _one_at_a_time:
        record, predictions = execute(spec, device=device, members=members)
    if predictions is None:
        return record, None
    packed = {item.name: getattr(predictions, item.name) for item in fields(predictions)}
    packed |= {name: dict(packed[name]) for name in ("parts", "uncertainties")}
    return record, packed


def _never_run(spec: RunSpec, status: str, reason: str) -> Record:
    return Record(spec, status, reason, {}, made_with())


def _ids(specs: Collection[RunSpec]) -> set[str]:
    return {spec.id for spec in specs}


def _done(record: Record) -> bool:
    return record.status == "done"
