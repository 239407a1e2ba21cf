"""How much is shown: lists are cut and say what was left out, so the page stays small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import count
from typing import Any

__all__ = ["Cut", "Desk", "Limits"]


@dataclass(frozen=True)
class Limits:
    """How many entries of each kind are shown.

    Examples
    --------
    >>> Limits(groups=16).halved().groups
    8
    """

    models: int = 100
    sections: int = 24
    parts: int = 12
    rows: int = 60
    columns: int = 6
    groups: int = 16
    figures: int = 12
    findings: int = 40
    offenders: int = 20

    def essential(self) -> Limits:
        """Return limits without the detail that is folded away."""
        return replace(self, parts=3, figures=4, groups=8)

    def halved(self) -> Limits:
        """Return limits half as generous; one entry always stays."""
        return replace(self, **{f.name: max(1, getattr(self, f.name) // 2) for f in fields(self)})


@dataclass(frozen=True)
class Cut:
    """The first entries of a list, and how many there are beside them.

    Examples
    --------
    >>> Cut.of(["a", "b", "c"], 2)
    Cut(rows=['a', 'b'], more=1)
    """

    rows: list[Any]
    more: int

    @classmethod
    def of(cls, entries: Iterable[Any] | None, most: int) -> Cut:
        """Keep the first entries."""
        known: Sequence[Any] = list(entries or ())
        return cls(list(known[:most]), max(0, len(known) - most))


@dataclass(frozen=True)
class Desk:
    """What every view needs: the limits, unused ids for figures, the anchors of definitions."""

    limits: Limits
    definitions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    keys: Iterator[int] = field(default_factory=count)

    def key(self) -> str:
        """Return an id that no other figure of the page has."""
        return f"f{next(self.keys)}"

    def bounds(self, metric: object) -> tuple[object, object]:
        """Return the range of a metric, as far as it is defined."""
        card = self.definitions.get(str(metric), {})
        return card.get("low"), card.get("high")
