"""Attributes: what single nodes say of themselves, as columns by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from graphgauge.arrays import FloatArray
from graphgauge.errors import InputError, name_rows

__all__ = ["Attributes"]


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

    def blocks(self, names: Sequence[str]) -> Iterator[list[list[str]]]:
        """Yield the named attributes as text, all nodes at once."""
        yield [self.words(name) for name in names]

    def _column(self, name: str) -> Iterator[Any]:
        values, default = self._values[name], self._defaults.get(name)
        return (values.get(node, default) for node in self._nodes)

    def _numbers(self, name: str) -> FloatArray:
        column = list(self._column(name))
        without = np.array([value is None for value in column], bool)
        if without.any():
            nodes = "1 node has" if without.sum() == 1 else f"{int(without.sum())} nodes have"
            raise InputError(f"{name}: {nodes} none ({name_rows(without)})")
        try:
            array = np.array(column).astype(np.float64)
        except (ValueError, TypeError):
            told = "holds what is no number, or lists of different lengths"
            raise InputError(f"{name}: {told}") from None
        if array.ndim > 2:
            raise InputError(f"{name}: has {array.ndim} axes, expected a number or a list a node")
        return array.reshape(len(column), -1) if array.size else np.empty((len(column), 1))
