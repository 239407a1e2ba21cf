"""Gates: conditions on numbers that a deployment pipeline can fail on."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphgauge.errors import InputError
from graphgauge.metrics import METRICS, Metric, split_spec
from graphgauge.scoring.card import Gate, Measured

__all__ = ["check_gates", "gated", "is_asked"]

_FORM = re.compile(
    r"^\s*(?P<name>[a-z][a-z0-9_]*(?:\([^()]*\))?)\s*(?:@\s*(?P<part>[^<>=\s]+))?\s*"
    r"(?:(?P<sign><=|>=|<|>)\s*(?P<bound>[^<>=\s]+)|(?P<inside>inside))\s*$"
)
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}


def gated(gates: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of the metrics that gates name.

    Examples
    --------
    >>> gated(["ece(bins=20) <= 0.05", "edge_ece@valid inside"])
    ('ece(bins=20)', 'edge_ece')
    """
    return tuple(_read(gate)["name"] for gate in gates)


def is_asked(label: str, card: Metric, asked: Sequence[Metric]) -> bool:
    """Tell whether the metric that a gate calls by `label` is among those asked for anyway.

    Examples
    --------
    >>> ece = METRICS["ece"]
    >>> is_asked("ece", ece, [ece.bind(bins=20)]), is_asked("ece(bins=15)", ece, [])
    (True, False)
    """
    same = [other.label for other in asked if other.name == card.name]
    return card.label in same if "(" in label else bool(same)


def check_gates(gates: Sequence[str], metrics: tuple[Measured, ...], part: str) -> tuple[Gate, ...]:
    """Check gates such as ``ece<=0.05``, ``accuracy@valid>=0.8`` or ``edge_ece inside``.

    A gate names a metric by its label or the word before the bracket, on the judged part unless
    one is named behind ``@``, or the metric has a single other part; ``inside`` asks for a value
    that is not above its null band. A value that could not be computed fails.

    Examples
    --------
    >>> row = Measured("ece(bins=15)", "test", 0.08, 100, "lower")
    >>> check_gates(["ece<=0.05"], (row,), "test")[0].passed
    False
    """
    return tuple(_check(gate, metrics, part) for gate in gates)


def _read(gate: str) -> re.Match[str]:
    match = _FORM.match(gate)
    if match is None:
        raise InputError(
            f"cannot read gate {gate!r}; write it like ece<=0.05, accuracy@test>=0.8, ece inside"
        )
    return match


def _check(gate: str, metrics: tuple[Measured, ...], part: str) -> Gate:
    match = _read(gate)
    row = _row(gate, match, metrics, part)
    if match["inside"]:
        return Gate(gate.strip(), row.name, row.part, row.value, row.null in ("inside", "below"))
    try:
        bound = float(match["bound"])
    except ValueError:
        bound = math.nan
    if math.isnan(bound):
        raise InputError(f"gate {gate!r}: {match['bound']!r} is not a number")
    passed = _SIGNS[match["sign"]](row.value, bound)
    return Gate(gate.strip(), row.name, row.part, row.value, passed)


def _row(gate: str, match: re.Match[str], metrics: tuple[Measured, ...], judged: str) -> Measured:
    """Find the number a gate is about."""
    parts = list(dict.fromkeys(row.part for row in metrics))
    if match["part"] and match["part"] not in parts:
        raise InputError(f"gate {gate!r}: no part {match['part']!r} (parts: {', '.join(parts)})")
    rows = [row for row in metrics if _is_called(row.name, match["name"])]
    # The one with the fewest parameters of its own is what a short name means.
    rows.sort(key=lambda row: len(split_spec(row.name)[1]))
    here = [row for row in rows if row.part == (match["part"] or judged)]
    if not here and not match["part"] and len({row.part for row in rows}) == 1:
        here = rows
    if not here:
        found = ", ".join(dict.fromkeys(row.part for row in rows)) or "none"
        where = match["part"] or judged
        raise InputError(f"gate {gate!r}: no {match['name']} on part {where} (it is on: {found})")
    return here[0]


def _is_called(label: str, name: str) -> bool:
    """Tell whether a name fits a label: the same word, and no parameter that differs."""
    word, asked = split_spec(name)
    known, values = _settings(label)
    return word == known and all(values.get(key) == value for key, value in asked.items())


def _settings(label: str) -> tuple[str, dict[str, Any]]:
    """Return the word before the bracket, and all parameters with their defaults.

    Examples
    --------
    >>> _settings("edge_ece(bins=20)")
    ('edge_ece', {'bins': 20, 'scheme': 'width', 'closed': 'right', 'norm': 1})
    """
    word, params = split_spec(label)
    names = [name for name in METRICS if f"_{word}".endswith(f"_{name}")]
    defaults = METRICS[max(names, key=len)].defaults if names else {}
    return word, {**defaults, **params}
