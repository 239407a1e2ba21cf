"""Runs as a person follows them: what is to come, how it goes, and what came of it."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from graphgauge.engine import Event, Step
from graphgauge.forecast import Experience, Forecast
from graphgauge.records import Record, Records, RunSpec
from graphgauge.report.terminal import plain
from graphgauge.stats import summarize

__all__ = [
    "duration",
    "following",
    "show_forecast",
    "show_means",
    "show_records",
    "show_runs",
    "show_summary",
]

_Teller: TypeAlias = Callable[[Event], None]

_MOST_REASONS = 12
_MEANS = (
    ("accuracy ID", "ID", "accuracy"),
    ("accuracy OOD", "OOD", "accuracy"),
    ("ECE", "all", "ece"),
    ("AUROC of OOD", "all", "auroc"),
)
_MARKS = {"done": ("✔", "green"), "failed": ("✘", "red"), "skipped": ("▲", "yellow")}


def duration(seconds: float | None) -> str:
    """Say how long, as roughly as one would.

    Examples
    --------
    >>> duration(0.4), duration(75), duration(8000), duration(None)
    ('0.4 s', '1 min 15 s', '2 h 13 min', 'unknown')
    """
    if seconds is None:
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 600:
        return f"{round(seconds) // 60} min {round(seconds) % 60} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def show_forecast(expected: Forecast, *, n_done: int, workers: str) -> None:
    """Print what is to come, and whether it fits into memory."""
    recorded = f", {n_done} are recorded already" if n_done else ""
    _say(f"{_runs(expected.n_runs)} to go on {workers}{recorded}")
    if not expected.n_runs:
        return
    unknown = f"; {expected.n_unknown} of unknown length besides" if expected.n_unknown else ""
    if expected.seconds is None:
        _say("Forecast: none, no similar run is on record")
        return
    memory = "" if expected.peak_mb is None else f", {_memory(expected.peak_mb)} of memory"
    _say(f"Forecast: about {duration(expected.seconds)}{memory}{unknown}")
    free = _free_mb()
    if expected.peak_mb and free and expected.peak_mb > free:
        _say(f"▲ only {_memory(free)} are free here: fewer workers may be faster", "yellow")


def show_runs(specs: Sequence[RunSpec], experience: Experience) -> None:
    """Print the runs that would be executed."""
    for spec in specs:
        expected = experience.seconds(spec)
        told = "" if expected is None else f"  about {duration(expected)}"
        print(f"{spec.id}  {spec.label}{told}")


def show_summary(records: Records, *, seconds: float) -> None:
    """Print how many runs ended how, with the reasons of those that failed."""
    if not len(records):
        return
    _say(f"{_counted(records)} after {duration(seconds)}")
    unwell = [record for record in records if record.status != "done"]
    for record in unwell[:_MOST_REASONS]:
        _say(_with_reason(record), _MARKS[record.status][1])
    if len(unwell) > _MOST_REASONS:
        _say(f"  and {len(unwell) - _MOST_REASONS} more")
    for record in records:
        for finding in record.made.get("findings") or ():
            _say(f"▲ {record.spec.label}: {plain(str(finding))}", "yellow")


def show_records(records: Records) -> None:
    """Print one row a record."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    for name in ("data set", "setting", "method", "protocol"):
        table.add_column(name, no_wrap=True)
    for name in ("seed", "acc ID", "acc OOD", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    order = ("benchmark", "dataset", "setting", "method", "protocol", "seed")
    for record in sorted(records, key=lambda r: [getattr(r.spec, name) for name in order]):
        table.add_row(*_row(record))
    console = Console(soft_wrap=not sys.stdout.isatty())
    console.print(table)
    for record in records:
        if record.reason:
            told = Text(_with_reason(record), _MARKS[record.status][1])
            console.print(told, soft_wrap=True)
    console.print(Text(_counted(records) or "no records", "dim"))


def show_means(records: Sequence[Record]) -> None:
    """Print one row a method: means and deviations over its seeds, in percent."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("over seeds", no_wrap=True)
    for name in ("runs", *(title for title, _, _ in _MEANS)):
        table.add_column(name, justify="right", no_wrap=True)
    by_method: dict[str, list[Record]] = {}
    for record in records:
        by_method.setdefault(record.spec.method, []).append(record)
    for method, found in sorted(by_method.items()):
        n = len(found[0].spec.members)
        runs = f"1 of {n}" if n > 1 else str(len(found))
        table.add_row(plain(method), runs, *(_mean(found, *where) for _, *where in _MEANS))
    Console(soft_wrap=not sys.stdout.isatty()).print(table)


@contextlib.contextmanager
def following(total: int, n_workers: int) -> Iterator[_Teller]:
    """Follow runs: bars where a person looks, a line a run elsewhere, on standard error."""
    if not sys.stderr.isatty():
        yield _lines(total, n_workers)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _bars(bars, total, n_workers)


def _bars(bars: Progress, total: int, n_workers: int) -> _Teller:
    overall = bars.add_task("runs", total=total, left="")
    running: dict[str, str] = {}
    now = bars.add_task("", total=1, left="", visible=False)

    def tell(event: Event) -> None:
        if event.step is Step.STARTED:
            running[event.spec.id] = event.spec.label
        else:
            running.pop(event.spec.id, None)
        if event.record is not None and event.record.status != "done":
            bars.console.print(Text(_told(event), "red"), soft_wrap=True)
        left = event.experience.time_left(event.left, n_workers=n_workers)
        told = "" if left is None else f"{duration(left)} left"
        bars.update(overall, completed=total - len(event.left), left=told)
        shown = "  ".join(plain(label) for label in running.values())
        bars.update(now, left=shown, visible=bool(running))

    return tell


def _lines(total: int, n_workers: int) -> _Teller:
    def tell(event: Event) -> None:
        if event.step is Step.STARTED:
            return
        left = event.experience.time_left(event.left, n_workers=n_workers)
        told = f", {duration(left)} left" if left is not None and event.left else ""
        number = f"[{total - len(event.left)}/{total}]"
        print(f"{number} {_told(event)}{told}", file=sys.stderr, flush=True)

    return tell


def _told(event: Event) -> str:
    label = plain(event.spec.label)
    if event.record is None:
        return f"↻ {label}: its worker died, once more"
    if event.record.status != "done":
        return _with_reason(event.record)
    return f"{_MARKS['done'][0]} {label} {_seconds(event.record)}".rstrip()


def _with_reason(record: Record) -> str:
    mark, _ = _MARKS[record.status]
    return f"{mark} {plain(record.spec.label)}: {plain(record.reason)}"


def _counted(records: Records) -> str:
    counts = Counter(record.status for record in records)
    return ", ".join(f"{counts[status]} {status}" for status in _MARKS if counts[status])


def _row(record: Record) -> list[str | Text]:
    spec, values = record.spec, record.values
    seed = f"{len(spec.members)} members" if len(spec.members) > 1 else str(spec.seed)
    numbers = [values.get(part, {}).get("accuracy") for part in ("ID", "OOD")]
    accuracy = ["" if n is None else f"{100 * n:.2f}" for n in numbers]
    mark, colour = _MARKS[record.status]
    words = (spec.dataset, spec.setting, spec.method, spec.protocol, seed)
    return [*map(plain, words), *accuracy, _seconds(record), Text(mark, colour)]


def _mean(records: Sequence[Record], part: str, metric: str) -> str:
    values = [record.values.get(part, {}).get(metric) for record in records]
    found = summarize([100 * value for value in values if value is not None])
    spread = "" if math.isnan(found.sd) else f" ± {found.sd:.1f}"
    return f"{found.mean:.1f}{spread}"


def _seconds(record: Record) -> str:
    seconds = record.timing.get("seconds")
    return duration(seconds) if isinstance(seconds, int | float) else ""


def _runs(n: int) -> str:
    return f"{n} {'run' if n == 1 else 'runs'}"


def _memory(megabytes: float) -> str:
    return f"{megabytes / 1024:.1f} GB" if megabytes >= 1000 else f"{megabytes:.0f} MB"


def _free_mb() -> float | None:
    with contextlib.suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    return None


def _say(text: str, colour: str = "") -> None:
    Console(stderr=True).print(Text(text, colour), soft_wrap=True)
