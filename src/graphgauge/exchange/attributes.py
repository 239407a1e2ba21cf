"""Attributes: what single nodes say of themselves, as columns by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from graphgauge.arrays import FloatArray, refuse
from graphgauge.errors import InputError

__all__ = ["Attributes"]

# What values of any type may answer when they are asked for a number.
_NO_NUMBERS = (ValueError, TypeError, OverflowError, RuntimeError)


class Attributes:
    """Columns made of what nodes say, node by node.

    Parameters
    ----------
    n_nodes
        How many nodes there are.
    values
        For each attribute, its value by the number of the node.
    defaults
        For some attributes, the value of those nodes that say nothing.

    Examples
    --------
    >>> attributes = Attributes(2, {"age": {0: 30, 1: 40}, "tags": {0: [0, 1], 1: [1, 1]}})
    >>> attributes.numbers(["age", "tags"])
    array([[30.,  0.,  1.],
           [40.,  1.,  1.]])
    """

    def __init__(
        self,
        n_nodes: int,
        values: Mapping[str, Mapping[int, Any]],
        defaults: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._nodes = range(n_nodes)
        self._values, self._defaults = values, defaults
        self.columns = list(values)

    @property
    def n_defaults(self) -> int:
        """Number of attributes that nodes have without saying so."""
        return len(self._defaults)

    def numbers(self, names: Sequence[str]) -> FloatArray:
        """Return the named attributes ``[n, k]``; one that is a list takes as many columns."""
        return np.concatenate([self._numbers(name) for name in names], axis=1)

    def words(self, name: str) -> list[str]:
        """Return an attribute as text, empty where there is none."""
        return ["" if value is None else str(value) for value in self._column(name)]

    def _column(self, name: str) -> Iterator[Any]:
        values, default = self._values[name], self._defaults.get(name)
        return (values.get(node, default) for node in self._nodes)

    def _numbers(self, name: str) -> FloatArray:
        column = list(self._column(name))
        refuse(
            name, np.array([value is None for value in column], bool), "is missing", "are missing"
        )
        try:
            array = np.array(column, np.float64)
        except _NO_NUMBERS:
            raise InputError(f"{name}: {_no_number(column)}") from None
        if array.ndim > 2:
            raise InputError(f"{name}: has {array.ndim} axes, expected a number or a list a node")
        return array.reshape(len(column), -1) if array.size else np.empty((len(column), 1))


def _no_number(values: Sequence[Any]) -> str:
    """Name the first value that is neither a number nor a list as long as the first one."""
    for node, value in enumerate(values):
        try:
            row = np.array(value, np.float64)
        except _NO_NUMBERS:
            return f"{str(value)[:80]!r} is not a number (row {node})"
        if row.shape != np.shape(values[0]):
            return f"{str(value)[:80]!r} is not as long as others (row {node})"
    return "is not a column of numbers"
