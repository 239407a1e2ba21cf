"""What to run, in full, and the seeds that follow from it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

from graphgauge.errors import InputError
from graphgauge.plain import canonical, check_keys, check_line, frozen, plain_of, words

__all__ = ["PROTOCOLS", "USUAL_MEASURES", "RunSpec", "derive_seed", "version_order"]

PROTOCOLS = ("corrected", "published")
"""What a paper means, and what its printed numbers were made with."""

USUAL_MEASURES = ("nodes",)
"""What is measured unless a benchmark says otherwise."""

_ID = re.compile(r"[0-9a-f]{16}")
_WORDS = ("benchmark", "dataset", "setting", "method", "protocol", "version", "use")
_MOST_SEED = 2**63
# Fields that came later are told only where they say something: ids of earlier specs stay.
_LATER: Mapping[str, object] = MappingProxyType({"split": "", "measures": USUAL_MEASURES})


def derive_seed(base: int, *factors: str | int) -> int:
    """Hash a base seed and exactly those factors that a stage hangs on into a 63-bit seed.

    Two stages that share their factors share their draws, and any of them can be repeated alone.

    Examples
    --------
    >>> derive_seed(0, "split", "cora-ml", "popularity-50")
    8652773790595389752
    >>> derive_seed(0, "a", 1) == derive_seed(0, "a", "1")
    False
    """
    text = json.dumps([base, *factors])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def version_order(version: str) -> tuple[int, ...]:
    """Return what puts versions in their order: ``2`` comes after ``1.9``; words come first.

    Examples
    --------
    >>> version_order("1.9") < version_order("2"), version_order("draft")
    (True, ())
    """
    words = version.split(".")
    known = all(word.isdecimal() and word.isascii() for word in words)
    return tuple(map(int, words)) if known else ()


@dataclass(frozen=True)
class RunSpec:
    """What to run, in full: nothing else changes the numbers.

    Parameters
    ----------
    benchmark
        Name of the benchmark, such as ``shifts``.
    dataset
        Slug of the data set.
    setting
        How nodes are split, such as ``popularity-50``.
    method
        Slug of the method within the benchmark.
    seed
        Number of the training seed; ensembles have 0.
    protocol
        ``corrected`` or ``published``.
    hyper
        Hyper-parameters that differ from the method's own: plain values. What is calibrated has
        those of what it is made of.
    version
        Of the method, and behind a point of the calibrator; another one is another run.
    members
        Ids of the runs that an ensemble is made of, or of the one that is calibrated.
    use
        What is trained, by its registered name or as ``module:Class``; of ensembles how members
        are combined, of what is calibrated by which calibrator. By default the method of this
        name of this benchmark.
    steps
        How the graph is prepared, in order.
    split
        How nodes are split, where the setting does not say it by its name.
    measures
        What is recorded.

    Examples
    --------
    >>> spec = RunSpec("shifts", "cora-ml", "popularity-50", "erm", 0, "corrected", {}, "1")
    >>> spec.id, spec.use
    ('53a06505d43a8048', 'shifts/erm')
    """

    benchmark: str
    dataset: str
    setting: str
    method: str
    seed: int
    protocol: str
    hyper: Mapping[str, Any]
    version: str
    members: tuple[str, ...] = ()
    use: str = ""
    steps: tuple[str, ...] = ()
    split: str = ""
    measures: tuple[str, ...] = USUAL_MEASURES

    def __post_init__(self) -> None:
        if not self.use:
            object.__setattr__(self, "use", f"{self.benchmark}/{self.method}")
        for name in _WORDS:
            check_line(name, getattr(self, name))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise InputError(f"seed: {self.seed!r} is not a whole number")
        if not 0 <= self.seed < _MOST_SEED:
            raise InputError(f"seed: {self.seed} is not between 0 and 2^63")
        if self.protocol not in PROTOCOLS:
            raise InputError(f"protocol: {self.protocol!r} is neither {' nor '.join(PROTOCOLS)}")
        if self.split:
            check_line("split", self.split)
        for name in ("members", "steps", "measures"):
            object.__setattr__(self, name, words(name, getattr(self, name)))
        for member in self.members:
            _check_id(member)
        object.__setattr__(self, "hyper", frozen("hyper", self.hyper))

    def __hash__(self) -> int:
        """Hash by content."""
        return hash(self.id)

    def __reduce__(self) -> tuple[Callable[..., RunSpec], tuple[dict[str, Any]]]:
        """Travel between processes as plain values."""
        return RunSpec.from_dict, (self.to_dict(),)

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits that stand for the content, on any machine."""
        return hashlib.sha256(canonical(self.to_dict()).encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """How a person names the run."""
        many = len(self.members) > 1
        which = f"{self.method} × {len(self.members)}" if many else self.method
        seed = "" if many else f" seed {self.seed}"
        return f"{self.dataset} {self.setting} {which}{seed} ({self.protocol})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, which `from_dict` reads."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        later = {name for name, usual in _LATER.items() if values[name] == usual}
        return {name: plain_of(value) for name, value in values.items() if name not in later}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunSpec:
        """Read plain values; what is missing or unknown is an error."""
        told = {**_LATER, **values}
        check_keys("spec", told, {item.name for item in fields(cls)})
        return cls(**told)


def _check_id(word: str) -> None:
    if not _ID.fullmatch(word):
        raise InputError(f"members: {word[:80]!r} is no id")
