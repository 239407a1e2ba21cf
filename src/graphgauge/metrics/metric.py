"""A metric is a card on a pure function: what it means, which way is better, what it needs."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from graphgauge.errors import InputError

__all__ = ["Direction", "Metric", "Needs", "split_spec"]

_SPEC = re.compile(r"^\s*(?P<name>[a-z][a-z0-9_]*)\s*(?:\((?P<arguments>[^()]*)\))?\s*$")


class Direction(StrEnum):
    """Which way is better; ``neither`` marks a description that is not judged."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = "neither"


class Needs(StrEnum):
    """What the first argument of a metric's function is, and so where it can be computed."""

    OUTCOMES = "outcomes"  # Outcomes of nodes or edges
    CLASSES = "classes"  # (probs [n, C], labels [n])
    REJECTION = "rejection"  # (uncertainty [n], error [n])
    DETECTION = "detection"  # (score [n], ood [n])
    RANKS = "ranks"  # Ranks of positives among their negatives
    SHIFT = "shift"  # (property behind a shift [n], ood [n])
    STRUCTURE = "structure"  # (edges [e, 2], labels [n])


@dataclass(frozen=True)
class Metric:
    """A named definition: a pure function with the facts one needs to read its number.

    Parameters
    ----------
    name
        The word in front of the bracket.
    compute
        The pure function; its keyword-only arguments are the metric's parameters.
    definition
        One sentence with the formula.
    direction, low, high
        Which way is better, and the range of values.
    chance
        What an uninformed model gets, in words or as a number.
    needs
        What `compute` is given.
    reference
        Where the definition comes from.
    shown
        Parameters that are part of the label even at their default.
    params
        Parameters bound away from their defaults.

    Examples
    --------
    >>> def share(correct, *, scale=1): return scale * sum(correct) / len(correct)
    >>> card = Metric("share", share, "correct over all", Direction.HIGHER, 0, 1, "1/C",
    ...               Needs.OUTCOMES, "folklore", shown=("scale",))
    >>> card.label, card.bind(scale=100).label
    ('share(scale=1)', 'share(scale=100)')
    >>> card.bind(scale=100)([True, False])
    50.0
    """

    name: str
    compute: Callable[..., float]
    definition: str
    direction: Direction
    low: float
    high: float
    chance: str
    needs: Needs
    reference: str
    shown: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def defaults(self) -> dict[str, Any]:
        """The parameters of the function with their defaults; weights are data, not a parameter."""
        return {
            p.name: p.default
            for p in inspect.signature(self.compute).parameters.values()
            if p.kind is p.KEYWORD_ONLY and p.default is not p.empty and p.name != "weights"
        }

    @property
    def label(self) -> str:
        """The name that is the definition, such as ``ece(bins=15)``."""
        values = {**self.defaults, **self.params}
        told = [k for k in values if k in self.shown or k in self.params]
        return f"{self.name}({','.join(f'{k}={values[k]}' for k in told)})" if told else self.name

    def bind(self, **params: Any) -> Metric:
        """Fix parameters; an unknown one is an error that lists the known ones."""
        defaults = self.defaults
        for key in params:
            if key not in defaults:
                known = ", ".join(defaults) or "none"
                raise InputError(f"{self.name} has no parameter {key!r} (it has: {known})")
        bound = {k: v for k, v in {**self.params, **params}.items() if v != defaults[k]}
        return replace(self, params=MappingProxyType(bound))

    def __call__(self, *args: Any, **kwargs: Any) -> float:
        """Compute the value."""
        return self.compute(*args, **{**self.params, **kwargs})


def split_spec(spec: str, *, kind: str = "metric") -> tuple[str, dict[str, Any]]:
    """Split a label into name and parameters: numbers become numbers, words stay words.

    Parameters
    ----------
    spec
        Such as ``ece(bins=15)``.
    kind
        What an error calls it.

    Examples
    --------
    >>> split_spec("ece(bins=20, closed=left)")
    ('ece', {'bins': 20, 'closed': 'left'})
    """
    match = _SPEC.match(spec)
    if match is None:
        raise InputError(f"cannot read {kind} {spec!r}; write it like name(key=value)")
    arguments = [a.strip() for a in (match["arguments"] or "").split(",") if a.strip()]
    params = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals:
            raise InputError(f"cannot read {argument!r} in {kind} {spec!r}; write key=value")
        params[key.strip()] = _literal(value.strip())
    return match["name"], params


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
