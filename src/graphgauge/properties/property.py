"""A property is a card on a function from a graph to one number a node."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphgauge.arrays import FloatArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph

__all__ = ["Property"]


@dataclass(frozen=True)
class Property:
    """A named property of nodes.

    Parameters
    ----------
    name
        What users call it.
    compute
        The function; its keyword-only arguments are the property's arguments.
    description
        What it is, in one sentence.
    reference
        Where the definition comes from.

    Examples
    --------
    >>> def twice(graph, *, plus=0): return 2.0 * graph.degrees + plus
    >>> card = Property("twice", twice, "twice the degree", "folklore")
    >>> card.arguments, card(Graph.from_edges([[0, 1]], 2), plus=1)
    ({'plus': 0}, array([3., 3.]))
    """

    name: str
    compute: Callable[..., FloatArray]
    description: str
    reference: str

    @property
    def arguments(self) -> dict[str, Any]:
        """What the function can be told, with defaults."""
        parameters = inspect.signature(self.compute).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def __call__(self, graph: Graph, **arguments: Any) -> FloatArray:
        """Compute the property; an unknown argument is an error that lists the known ones."""
        known = self.arguments
        for key in arguments:
            if key not in known:
                names = ", ".join(known) or "none"
                raise InputError(f"{self.name} has no argument {key!r} (it has: {names})")
        return self.compute(graph, **arguments)
