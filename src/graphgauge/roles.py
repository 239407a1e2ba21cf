"""What a part is for, told by its name: training, validation or test."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import numpy as np

from graphgauge.arrays import IntArray

__all__ = ["Role", "items_of", "parts_of", "role_of"]


class Role(StrEnum):
    """Purpose of a part; ``none`` where its name does not say."""

    TRAIN = "train"
    VALID = "valid"
    TEST = "test"
    NONE = "none"


_STARTS = {"train": Role.TRAIN, "val": Role.VALID, "test": Role.TEST}


def role_of(name: str) -> Role:
    """Tell the purpose of a part by how its name starts.

    ``train…`` is for training, ``val…`` for validation, ``test…`` for testing.

    Examples
    --------
    >>> [str(role_of(name)) for name in ("train", "val", "valid_in", "test_out", "rest")]
    ['train', 'valid', 'valid', 'test', 'none']
    """
    return next((role for start, role in _STARTS.items() if name.startswith(start)), Role.NONE)


def parts_of(parts: Mapping[str, IntArray], role: Role) -> dict[str, IntArray]:
    """Keep the parts that serve one purpose."""
    return {name: index for name, index in parts.items() if role_of(name) is role}


def items_of(parts: Mapping[str, IntArray], role: Role) -> IntArray:
    """Collect the items of all parts that serve one purpose, in ascending order.

    Examples
    --------
    >>> items_of({"test_in": np.array([4, 1]), "test_out": np.array([2])}, Role.TEST)
    array([1, 2, 4])
    """
    found = list(parts_of(parts, role).values())
    return np.sort(np.concatenate(found)) if found else np.empty(0, np.int64)
