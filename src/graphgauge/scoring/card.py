"""A scorecard: every number of one file of predictions, ready to print, gate, store or draw."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from graphgauge.audit import Finding
from graphgauge.errors import InputError
from graphgauge.metrics.metric import Metric

__all__ = ["WHOLE", "Gate", "Measured", "Options", "Scorecard", "Status", "Verdict", "joined_id"]

# What the only part is called where a file names none.
WHOLE = "all"


class Status(StrEnum):
    """How a reason, or all of them together, bear on using the model."""

    GOOD = "good"
    CAUTION = "caution"
    BAD = "bad"


@dataclass(frozen=True)
class Options:
    """What to compute.

    Parameters
    ----------
    metrics
        Labels of the metrics to keep; empty keeps all.
    parts
        Parts the verdict speaks of; empty takes those whose name begins with ``test``.
    groups
        Names of the groupings to break the judged part down by; None takes all that apply.
    gates
        Conditions such as ``ece<=0.05``; one that fails fails the file.
    n_draws
        Redraws of the labels behind a null band.
    n_resamples
        Bootstrap resamples behind an interval; 0 leaves intervals out.
    seed
        Of redraws and resamples.
    protocol
        ``corrected`` does what the papers mean, ``published`` what their code did.
    """

    metrics: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    groups: tuple[str, ...] | None = None
    gates: tuple[str, ...] = ()
    n_draws: int = 200
    n_resamples: int = 200
    seed: int = 0
    protocol: str = "corrected"

    def __post_init__(self) -> None:
        if self.protocol not in ("corrected", "published"):
            raise InputError(f"unknown protocol {self.protocol!r} (corrected or published)")
        for name in ("n_draws", "n_resamples"):
            if not 0 <= getattr(self, name) <= 10_000:
                raise InputError(f"{name} is {getattr(self, name)}, expected 0..10000")


@dataclass(frozen=True)
class Measured:
    """One number: a metric on a part, with its interval and null band where there is one."""

    name: str
    part: str
    value: float
    n: int
    direction: str
    low: float | None = None
    high: float | None = None
    block_low: float | None = None
    block_high: float | None = None
    null_low: float | None = None
    null_high: float | None = None
    null_p: float | None = None

    @property
    def null(self) -> str | None:
        """Where the value lies: ``inside``, ``above`` or ``below`` the null band."""
        if self.null_low is None or self.null_high is None or self.value != self.value:
            return None
        if self.value > self.null_high:
            return "above"
        return "below" if self.value < self.null_low else "inside"


@dataclass(frozen=True)
class Gate:
    """A condition that was asked for, and whether it holds."""

    gate: str
    name: str
    part: str
    value: float
    passed: bool


@dataclass(frozen=True)
class Verdict:
    """What all numbers come to, in words."""

    status: Status
    headline: str
    reasons: tuple[tuple[Status, str], ...]


@dataclass(frozen=True)
class Scorecard:
    """Everything measured on one file of predictions."""

    kind: str
    name: str
    counts: Mapping[str, Any]
    protocol: Mapping[str, str]
    judged: tuple[str, ...]
    metrics: tuple[Measured, ...]
    definitions: Mapping[str, Metric]
    findings: tuple[Finding, ...]
    gates: tuple[Gate, ...]
    groups: tuple[Mapping[str, Any], ...]
    figures: Mapping[str, list[dict[str, Any]]]
    verdict: Verdict
    made: Mapping[str, Any] = field(default_factory=dict)

    def find(self, name: str, part: str | None = None) -> Measured | None:
        """Return the number of a metric (by label or bare name) on a part, the first judged."""
        part = part or self.judged[0]
        return find(self.metrics, name, part)

    @property
    def passed(self) -> bool:
        """Whether no gate failed."""
        return all(gate.passed for gate in self.gates)


def find(metrics: tuple[Measured, ...], name: str, part: str) -> Measured | None:
    """Return the number of a metric on a part, by its label or the word before the bracket."""
    rows = [row for row in metrics if row.part == part]
    exact = [row for row in rows if row.name == name]
    if exact or "(" in name:
        return exact[0] if exact else None
    return next((row for row in rows if row.name.partition("(")[0] == name), None)


def joined_id(facts: Mapping[str, str]) -> str:
    """Hash facts into a short identity."""
    text = "\n".join(f"{key}={facts[key]}" for key in sorted(facts))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
