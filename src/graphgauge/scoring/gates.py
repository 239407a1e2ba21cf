"""Gates: conditions on numbers that a deployment pipeline can fail on."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence

from graphgauge.errors import InputError
from graphgauge.scoring.card import Gate, Measured, find

__all__ = ["check_gates"]

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


def check_gates(gates: Sequence[str], metrics: tuple[Measured, ...], part: str) -> tuple[Gate, ...]:
    """Check gates such as ``ece<=0.05``, ``accuracy@valid>=0.8`` or ``edge_ece inside``.

    A gate names a metric by its label or the word before the bracket, on the judged part unless
    one is named behind ``@``; ``inside`` asks for a value that is not above its null band. A value
    that could not be computed fails.

    Examples
    --------
    >>> row = Measured("ece(bins=15)", "test", 0.08, 100, "lower")
    >>> check_gates(["ece<=0.05"], (row,), "test")[0].passed
    False
    """
    return tuple(_check(gate, metrics, part) for gate in gates)


def _check(gate: str, metrics: tuple[Measured, ...], part: str) -> Gate:
    match = _FORM.match(gate)
    if match is None:
        raise InputError(
            f"cannot read gate {gate!r}; write it like ece<=0.05, accuracy@test>=0.8, ece inside"
        )
    part = match["part"] or part
    row = find(metrics, match["name"].replace(" ", ""), part)
    if row is None:
        known = ", ".join(
            dict.fromkeys(r.name.partition("(")[0] for r in metrics if r.part == part)
        )
        raise InputError(
            f"gate {gate!r}: no {match['name']} on part {part} (there: {known or '-'})"
        )
    if match["inside"]:
        return Gate(gate.strip(), row.name, part, row.value, row.null in ("inside", "below"))
    try:
        bound = float(match["bound"])
    except ValueError:
        raise InputError(f"gate {gate!r}: {match['bound']!r} is not a number") from None
    return Gate(gate.strip(), row.name, part, row.value, _SIGNS[match["sign"]](row.value, bound))
