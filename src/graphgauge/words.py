"""Words that should be numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphgauge.arrays import FloatArray
from graphgauge.errors import InputError

__all__ = ["first_no_number", "numbers_of"]


def numbers_of(column: str, words: Sequence[str], *, done: int = 0) -> FloatArray:
    """Read words as numbers; `done` rows came before them.

    Examples
    --------
    >>> numbers_of("weight", ["1", "2.5"])
    array([1. , 2.5])
    >>> numbers_of("weight", ["1", "much"], done=10)
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: column weight: 'much' is not a number (row 11)
    """
    try:
        return np.array(words, np.float64)
    except ValueError:
        row = first_no_number(words) or 0
        told = f"{words[row][:80]!r} is not a number (row {done + row})"
        raise InputError(f"column {column}: {told}") from None


def first_no_number(words: Sequence[str]) -> int | None:
    """Return the row of the first word that is no number, finite or not.

    Examples
    --------
    >>> first_no_number(["1", "nan", ""]), first_no_number(["1e3"])
    (2, None)
    """
    return next((row for row, word in enumerate(words) if not _is_number(word)), None)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
