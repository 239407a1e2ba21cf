"""Numbers 0…n−1 for whatever nodes are called, and the names remembered."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from graphgauge.arrays import IntArray, refuse
from graphgauge.errors import InputError, name_rows

__all__ = ["Numbering", "ids_of", "sorted_ids"]

# Tables cut words at this length, from where on two could look the same.
_LONGEST = 200
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}").fullmatch
# One long name among many short ones would blow up an array of text, which has one width for all.
_MOST_CHARACTERS, _CHARACTERS_A_CHARACTER = 2**24, 16


class Numbering:
    """Numbers for names, in the order in which these are first met.

    Examples
    --------
    >>> numbering = Numbering()
    >>> numbering.add(["b", "a", "b"]), numbering.find(["a", "c"])
    (array([0, 1, 0], dtype=int32), array([ 1, -1], dtype=int32))
    """

    def __init__(self) -> None:
        self._numbers: defaultdict[Hashable, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def __len__(self) -> int:
        """Count the names."""
        return len(self._numbers)

    def __getitem__(self, name: Hashable) -> int:
        """Return the number of a name, the next one if not met before."""
        return self._numbers[name]

    def add(self, names: Sequence[Hashable]) -> IntArray:
        """Return the numbers of names; those not met before get the next ones."""
        return np.fromiter(map(self._numbers.__getitem__, names), np.int32, len(names))

    def find(self, names: Sequence[Hashable]) -> IntArray:
        """Return the numbers of names, -1 for those not met before."""
        return np.fromiter(map(self._numbers.get, names, repeat(-1)), np.int32, len(names))

    def check(self, rows: IntArray) -> None:
        """Check that rows of numbers ``[e]`` or ``[e, k]`` have names, and that none was cut."""
        nameless = [k for k, name in enumerate(self.names) if not name]
        cut = [k for k, name in enumerate(self.names) if len(name) >= _LONGEST]
        if nameless:
            refuse("ids", np.isin(rows, nameless), "has none", "have none")
        if cut:
            long = f"of {_LONGEST} characters or more"
            refuse("ids", np.isin(rows, cut), f"has one {long}", f"have some {long}")

    def check_single(self, rows: IntArray) -> None:
        """Check that no name stands in two rows of numbers ``[n]``."""
        again = np.ones(len(rows), bool)
        again[np.unique(rows, return_index=True)[1]] = False
        if again.any():
            first = self.names[rows[again.argmax()]]
            told = "1 stands" if again.sum() == 1 else f"{int(again.sum())} stand"
            raise InputError(f"ids: {told} there before, {first[:80]!r} first ({name_rows(again)})")

    @property
    def names(self) -> list[Any]:
        """The names in the order of their numbers."""
        return list(self._numbers)


def ids_of(names: Sequence[Any]) -> npt.NDArray[Any] | None:
    """Turn the nodes' names into what a `Graph` remembers: whole numbers if all are, else text.

    Nodes that are called 0…n−1 in this order are called nothing else, which is None.

    Examples
    --------
    >>> ids_of(["7", "5"]), ids_of(["7", "x", ("y", 1)]), ids_of(["0", "1"])
    (array([7, 5]), array(['7', 'x', "('y', 1)"], dtype='<U8'), None)
    """
    words = list(map(str, names))
    if not all(map(_WHOLE, words)):
        return _text(words)
    ids = np.array(list(map(int, words)), np.int64)
    return None if (ids == np.arange(len(ids))).all() else ids


def sorted_ids(names: Sequence[str]) -> tuple[npt.NDArray[Any] | None, IntArray]:
    """Put names in order, numbers by size: what to remember, and every name's new number ``[n]``.

    The order of the nodes is thus the same in whatever order a file lists its edges.

    Examples
    --------
    >>> sorted_ids(["10", "9"])
    (array([ 9, 10]), array([1, 0], dtype=int32))
    """
    whole = all(map(_WHOLE, names))
    order = sorted(range(len(names)), key=lambda k: int(names[k]) if whole else names[k])
    places = np.empty(len(names), np.int32)
    places[order] = np.arange(len(names))
    return ids_of([names[k] for k in order]), places


def _text(words: list[str]) -> npt.NDArray[np.str_]:
    widths = list(map(len, words))
    widest = max(widths)
    if widest * len(words) > max(_MOST_CHARACTERS, _CHARACTERS_A_CHARACTER * sum(widths)):
        told = f"one has {widest} characters, most are much shorter (row {widths.index(widest)})"
        raise InputError(f"ids: {told}; shorten it")
    return np.array(words, np.str_)
