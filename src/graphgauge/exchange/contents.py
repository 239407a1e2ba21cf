"""Contents: features and classes of the nodes, chosen from named columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphgauge.arrays import FloatArray, IntArray, floats
from graphgauge.errors import InputError
from graphgauge.exchange.choices import Choices, listed, named_like, the_one, the_usual
from graphgauge.exchange.classes import UNKNOWN, class_numbers

__all__ = ["LABELS", "Columns", "Contents", "choose_contents"]

LABELS = ("label", "labels", "class", "y", "target", "group")
"""What a column of classes is usually called."""


class Columns(Protocol):
    """Columns by name, as numbers or as words."""

    columns: list[str]

    def numbers(self, names: Sequence[str]) -> FloatArray:
        """Return the named columns ``[n, k]``."""

    def words(self, name: str) -> list[str]:
        """Return a column as text."""


@dataclass(frozen=True, eq=False)
class Contents:
    """What so many nodes carry, and the names of the features' columns."""

    n_nodes: int
    features: FloatArray | None = None
    labels: IntArray | None = None
    class_names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


def choose_contents(
    table: Columns, n_nodes: int, choices: Choices, *, ids: str | None = None
) -> Contents:
    """Choose label and features of the nodes among all columns but that of their ids."""
    free = [name for name in table.columns if name != ids]
    label = _label(free, choices)
    labels: IntArray | None = None
    class_names: tuple[str, ...] = ()
    if label is not None:
        words = table.words(label)
        labels, class_names = class_numbers(words)
        if choices.label is None:
            _check_classes(label, words)
    if choices.features is not None:
        names = named_like("features", choices.features, free)
    else:
        names = [name for name in free if name != label]
    features = _numbers(table, names) if names else None
    return Contents(n_nodes, features, labels, class_names, tuple(names))


def _label(names: Sequence[str], choices: Choices) -> str | None:
    if choices.label is None:
        left = names
        if choices.features:
            chosen = named_like("features", choices.features, names)
            left = [name for name in names if name not in chosen]
        return the_usual("label", LABELS, left)
    return the_one("label", choices.label, names)


def _check_classes(label: str, words: Sequence[str]) -> None:
    """Refuse to take names of nodes for classes, unless somebody says so."""
    known = [word for word in words if word not in UNKNOWN]
    if len(known) > 2 and len(set(known)) == len(known):
        raise InputError(
            f"column {label} says something else of every node: say --label NAME for the classes, "
            f"even if it is --label {label}"
        )


def _numbers(table: Columns, names: Sequence[str]) -> FloatArray:
    try:
        return floats("features", table.numbers(names), ndim=2)
    except InputError as error:
        raise InputError(
            f"{error}; say which are features: --features, of {listed(names)}"
        ) from None
