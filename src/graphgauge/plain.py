"""Plain values, as JSON knows them: checked, frozen, and written in one way only."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from graphgauge.errors import InputError

__all__ = ["canonical", "check_keys", "check_line", "frozen", "plain_of", "words"]

_LONGEST = 500
_DEEPEST = 16


def canonical(values: Mapping[str, Any]) -> str:
    """Write plain values as JSON: one text for equal values, on any machine.

    Examples
    --------
    >>> canonical({"b": [1, 2.5], "a": None})
    '{"a":null,"b":[1,2.5]}'
    """
    return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)


def frozen(name: str, value: object) -> Mapping[str, Any]:
    """Return a mapping of plain values that cannot be changed; anything else is an error.

    Examples
    --------
    >>> frozen("hyper", {"layers": [64, 64]})["layers"]
    (64, 64)
    """
    if not isinstance(value, Mapping):
        raise InputError(f"{name}: is no mapping")
    found: Mapping[str, Any] = _freeze(name, value, 0)
    return found


def _freeze(name: str, value: object, depth: int) -> Any:
    if depth > _DEEPEST:
        raise InputError(f"{name}: is nested too deeply")
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return tuple(_freeze(name, item, depth + 1) for item in value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return MappingProxyType({k: _freeze(name, v, depth + 1) for k, v in value.items()})
    raise InputError(f"{name}: {str(value)[:80]!r} is no plain value")


def plain_of(value: Any) -> Any:
    """Turn what `frozen` made back into dictionaries and lists."""
    if isinstance(value, Mapping):
        return {key: plain_of(item) for key, item in value.items()}
    return [plain_of(item) for item in value] if isinstance(value, tuple) else value


def check_keys(what: str, values: Mapping[str, Any], known: set[str]) -> None:
    """Check that a mapping has exactly the keys that are known."""
    wrong = sorted(known.symmetric_difference(values))
    if wrong:
        told = "lacks" if wrong[0] in known else "has an unknown"
        raise InputError(f"{what}: {told} {wrong[0][:80]!r}")


def check_line(name: str, value: object) -> None:
    """Check that a text is one short line that a terminal can show."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{name}: {str(value)[:80]!r} is no word")
    if len(value) > _LONGEST or not value.isprintable():
        raise InputError(f"{name}: {value[:80]!a} is not one short line")


def words(name: str, value: object) -> tuple[str, ...]:
    """Check that a value is a list of short lines."""
    if not isinstance(value, list | tuple):
        raise InputError(f"{name}: is no list")
    for word in value:
        check_line(name, word)
    return tuple(value)
