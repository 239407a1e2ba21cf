"""Classes by any name: numbers 0…C−1 for them, and the names remembered."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from graphgauge.arrays import IntArray
from graphgauge.errors import InputError

__all__ = ["UNKNOWN", "class_numbers"]

UNKNOWN = ("", "-1", "nan", "NaN")
"""How tables write that a node's class is not known."""

# Tables cut words at this length, from where on two could look the same.
_LONGEST = 200
_WHOLE = re.compile(r"-?[0-9]{1,18}").fullmatch
_POINT_NOUGHT = re.compile(r"(?<=[0-9])\.0+$")


def class_numbers(words: Iterable[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Give classes numbers in the order of their names; return these unless they are the numbers.

    Classes that are whole numbers are put in order by size. Where a class is not known
    (`UNKNOWN`), the number is -1.

    Examples
    --------
    >>> class_numbers(["dog", "cat", "", "dog"])
    (array([ 1,  0, -1,  1]), ('cat', 'dog'))
    >>> class_numbers(["10", "2.0", "nan"])
    (array([ 1,  0, -1]), ('2', '10'))
    >>> class_numbers(["1", "0"])
    (array([1, 0]), ())
    """
    plain = [_POINT_NOUGHT.sub("", word) for word in words]
    names = sorted(set(plain) - set(UNKNOWN))
    if all(map(_WHOLE, names)):
        names.sort(key=int)
        if "-1" in plain and names == ["1"]:
            raise InputError(
                "labels are -1 and 1: -1 says that a class is not known, so call it otherwise"
            )
    if any(len(name) >= _LONGEST for name in names):
        raise InputError(f"a class has a name of {_LONGEST} characters or more")
    number = {name: k for k, name in enumerate(names)}
    labels = np.array([number.get(word, -1) for word in plain], np.int64)
    return labels, () if names == list(map(str, range(len(names)))) else tuple(names)
