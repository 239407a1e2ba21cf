"""Records: what was run, what came of it, and how it was made; one file a run.

A `Record` is a `RunSpec` with its numbers, unrounded, or with the reason why there are none.
Records are read without trust: a file that was cut off, edited or renamed is refused in one line.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from graphgauge.archive import answering, check_file, write_atomically
from graphgauge.errors import InputError
from graphgauge.plain import canonical, check_keys, check_line, frozen, plain_of
from graphgauge.runspec import PROTOCOLS, RunSpec, derive_seed, version_order

__all__ = ["PROTOCOLS", "Record", "Records", "RunSpec", "Values", "derive_seed", "read_record"]

Values: TypeAlias = Mapping[str, Mapping[str, float]]

_SCHEMA = "graphgauge.record/1"
_STATUSES = ("done", "failed", "skipped")
_MOST_BYTES = 2**20
# JSON has no word for them; a text in place of a number is one of these three or an error.
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")


@dataclass(frozen=True)
class Record:
    """A run and what came of it.

    Parameters
    ----------
    spec
        What was run.
    status
        ``done``, ``failed``, or ``skipped`` where it could not even begin.
    reason
        One line; empty when done.
    values
        Part (``ID``, ``OOD``, ``all``) to metric to number, as fractions and unrounded.
    made
        How: versions, commit, seeds, fingerprints, findings; under ``timing`` what differs from
        one repetition to the next.

    Examples
    --------
    >>> spec = RunSpec("shifts", "cora-ml", "popularity-50", "erm", 0, "corrected", {}, "1")
    >>> record = Record(spec, "done", "", {"all": {"accuracy": 0.8251}})
    >>> Record.from_text(record.to_text()) == record
    True
    """

    spec: RunSpec
    status: str
    reason: str = ""
    values: Values = field(default_factory=dict)
    made: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status not in _STATUSES:
            raise InputError(f"status: {self.status!r} is none of {', '.join(_STATUSES)}")
        if (self.status == "done") != (not self.reason):
            raise InputError(f"reason: {self.reason!r} does not go with status {self.status}")
        if self.reason:
            check_line("reason", self.reason)
        object.__setattr__(self, "values", _checked_values(self.values))
        object.__setattr__(self, "made", frozen("made", self.made))

    def __eq__(self, other: object) -> bool:
        """Compare the content; numbers that are none are equal to each other."""
        return isinstance(other, Record) and self.to_text() == other.to_text()

    def __hash__(self) -> int:
        """Hash by what was run."""
        return hash(self.spec)

    def __reduce__(self) -> tuple[Callable[..., Record], tuple[str]]:
        """Travel between processes as text."""
        return Record.from_text, (self.to_text(),)

    @property
    def timing(self) -> Mapping[str, Any]:
        """What differs from one repetition to the next: seconds, memory, machine."""
        found = self.made.get("timing")
        return found if isinstance(found, Mapping) else {}

    @property
    def content(self) -> str:
        """Everything but the timing, as text: equal whenever a spec is run again."""
        stable = {key: value for key, value in self.made.items() if key != "timing"}
        return Record(self.spec, self.status, self.reason, self.values, stable).to_text()

    def to_text(self) -> str:
        """Return one line of JSON with sorted keys."""
        numbers = {part: _told_numbers(found) for part, found in self.values.items()}
        about = {"schema": _SCHEMA, "id": self.spec.id, "spec": self.spec.to_dict()}
        about |= {"status": self.status, "reason": self.reason}
        return canonical({**about, "values": numbers, "made": plain_of(self.made)})

    @classmethod
    def from_text(cls, text: str) -> Record:
        """Read what `to_text` returned, checked."""
        found = json.loads(text, parse_constant=_no_constant)
        if not isinstance(found, dict):
            raise InputError("holds no record")
        if found.get("schema") != _SCHEMA:
            raise InputError(f"schema: {str(found.get('schema'))[:80]!r} is not {_SCHEMA}")
        check_keys("record", found, {"schema", "id", *(item.name for item in fields(cls))})
        if not isinstance(found["spec"], dict):
            raise InputError("spec: is no mapping")
        spec = RunSpec.from_dict(found["spec"])
        if found["id"] != spec.id:
            raise InputError(f"id: {str(found['id'])[:80]!r} is not that of its spec, {spec.id}")
        values = _read_values(found["values"])
        return cls(spec, found["status"], found["reason"], values, found["made"])

    def save(self, folder: Path) -> Path:
        """Write to ``<id>.json`` in a folder, in one step."""
        path = folder / f"{self.spec.id}.json"
        write_atomically(path, lambda file: file.write(f"{self.to_text()}\n".encode()))
        return path


@dataclass(frozen=True)
class Records:
    """Many records, sorted by id.

    Examples
    --------
    >>> spec = RunSpec("shifts", "cora-ml", "density-50", "erm", 0, "corrected", {}, "1")
    >>> records = Records([Record(spec, "failed", "out of memory")])
    >>> len(records.select(method=("erm", "gpn"))), len(records.select(status="done"))
    (1, 0)
    """

    items: Sequence[Record] = ()

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.items, key=lambda record: record.spec.id))
        for one, other in pairwise(ordered):
            if one.spec.id == other.spec.id:
                raise InputError(f"record {one.spec.id} is there twice")
        object.__setattr__(self, "items", ordered)

    def __len__(self) -> int:
        """Count the records."""
        return len(self.items)

    def __iter__(self) -> Iterator[Record]:
        """Go through the records in the order of their ids."""
        return iter(self.items)

    @cached_property
    def by_id(self) -> Mapping[str, Record]:
        """The records by the id of what was run."""
        return MappingProxyType({record.spec.id: record for record in self.items})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Records:
        """Read a folder of records, a folder that a run wrote to, or an exported file."""
        path = Path(path)
        if not path.is_dir():
            return cls([*_exported(path)])
        folder = path / "records" if (path / "records").is_dir() else path
        return cls([read_record(file) for file in sorted(folder.glob("*.json"))])

    def select(self, **wanted: Any) -> Records:
        """Keep records by fields of the spec or by status: one value each, or any of several."""
        known = {item.name for item in fields(RunSpec)} | {"status", "id"}
        for name in wanted:
            if name not in known:
                raise InputError(f"records have no {name!r} (they have {', '.join(sorted(known))})")
        choices = {k: v if isinstance(v, tuple | list | set) else (v,) for k, v in wanted.items()}
        return Records([r for r in self if all(_of(r, k) in v for k, v in choices.items())])

    def latest(self) -> Records:
        """Keep one record a cell: where a method was revised, that of its highest version.

        Of one version, such as with other hyper-parameters, the one that was started last.
        """
        best: dict[tuple[object, ...], Record] = {}
        cell = ("benchmark", "dataset", "setting", "method", "seed", "protocol")
        for record in sorted(self, key=_age):
            best[tuple(getattr(record.spec, name) for name in cell)] = record
        return Records(list(best.values()))

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write one line a record, sorted by id; equal records give equal bytes."""
        lines = "".join(f"{record.to_text()}\n" for record in self)
        write_atomically(path, lambda file: file.write(lines.encode()))


def _exported(path: Path) -> Iterator[Record]:
    check_file(path)
    with answering(path, kind="records"), path.open("rb") as file:
        number = 0
        while line := file.readline(_MOST_BYTES):
            number += 1
            where = f"{path}: line {number}"
            if not line.endswith(b"\n"):
                raise InputError(f"{where} is cut off, or too long for a record")
            yield _read_text(line, where)


def read_record(path: Path) -> Record:
    """Read one record from its file, whose name has to be its id."""
    check_file(path)
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(f"{path}: is too long for a record")
    with answering(path, kind="a record"):
        record = _read_text(path.read_bytes(), str(path))
    if path.stem != record.spec.id:
        raise InputError(f"{path}: holds the record {record.spec.id}, which its name is not")
    return record


def _read_text(text: bytes, where: str) -> Record:
    try:
        return Record.from_text(text.decode())
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise InputError(f"{where} is not readable as a record ({reason[:200]})") from None


def _of(record: Record, name: str) -> object:
    return record.status if name == "status" else getattr(record.spec, name)


def _age(record: Record) -> tuple[tuple[int, ...], str, str, str]:
    version = record.spec.version
    started = str(record.timing.get("started", ""))
    return version_order(version), version, started, record.spec.id


def _checked_values(values: object) -> Values:
    if not isinstance(values, Mapping):
        raise InputError("values: are no mapping")
    checked = {}
    for part, found in values.items():
        if not isinstance(part, str) or not isinstance(found, Mapping):
            raise InputError(f"values: {str(part)[:80]!r} is no part with numbers")
        for name, number in found.items():
            is_number = isinstance(number, int | float) and not isinstance(number, bool)
            if not isinstance(name, str) or not is_number:
                raise InputError(f"values: {part[:80]!r}: {str(name)[:80]!r} is no number")
        checked[part] = MappingProxyType({k: float(v) for k, v in found.items()})
    return MappingProxyType(checked)


def _told_numbers(found: Mapping[str, float]) -> dict[str, float | str]:
    return {k: v if math.isfinite(v) else _not_finite(v) for k, v in found.items()}


def _not_finite(number: float) -> str:
    return _NOT_FINITE[0] if math.isnan(number) else _NOT_FINITE[1 if number > 0 else 2]


def _read_values(values: object) -> dict[str, Any]:
    if not isinstance(values, dict) or not all(isinstance(v, dict) for v in values.values()):
        raise InputError("values: are no mapping of parts to numbers")
    return {
        part: {k: float(v) if v in _NOT_FINITE else v for k, v in found.items()}
        for part, found in values.items()
    }


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON")
