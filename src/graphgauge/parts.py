"""Named parts of the nodes (or edges) of a graph, such as ``train``, ``valid`` and ``test``."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from graphgauge.archive import from_json, open_npz, to_json, whole_number, write_npz
from graphgauge.arrays import MOST_NODES, IntArray, check_pairs, integers
from graphgauge.errors import InputError, name_rows

__all__ = ["Split", "check_parts", "part_names", "parts_from_codes", "parts_from_names"]

# Each part is measured, and each is named on every page: more are no parts but a column misread.
_MOST_PARTS = 256
_LONGEST_NAME = 200


def check_parts(parts: Mapping[str, object], n_items: int) -> Mapping[str, IntArray]:
    """Return the parts as index arrays: in range, not empty, no item in two of them.

    A part is given by the numbers of its items or by a mask over all items.

    Examples
    --------
    >>> dict(check_parts({"train": [0, 1], "test": np.array([False, False, True])}, 3))
    {'train': array([0, 1]), 'test': array([2])}
    >>> check_parts({"train": [0, 1], "test": [1, 2]}, 3)
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: parts train and test overlap in 1 item (row 1)
    """
    _check_names(parts)
    checked = {name: _part(name, value, n_items) for name, value in parts.items()}
    owner = np.full(n_items, -1, np.int16)
    names = list(checked)
    for number, (name, index) in enumerate(checked.items()):
        taken = index[owner[index] >= 0]
        if len(taken):
            first = names[owner[taken[0]]]
            shared = taken[owner[taken] == owner[taken[0]]]
            items = "1 item" if len(shared) == 1 else f"{len(shared)} items"
            raise InputError(f"parts {first} and {name} overlap in {items} ({name_rows(shared)})")
        owner[index] = number
    return MappingProxyType(checked)


def parts_from_names(words: npt.ArrayLike) -> dict[str, IntArray]:
    """Turn one part's name an item into index arrays; an empty name is in no part.

    Examples
    --------
    >>> parts_from_names(["test", "", "train", "test"])
    {'test': array([0, 3]), 'train': array([2])}
    """
    array = np.asarray(words)
    if array.ndim != 1 or array.dtype.kind not in "US":
        raise InputError(f"part: expected one name an item, got {array.dtype} {array.shape}")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    found, codes = np.unique(array, return_inverse=True)
    return parts_from_codes(found.tolist(), codes)


def parts_from_codes(names: Sequence[str], codes: IntArray) -> dict[str, IntArray]:
    """Turn one part's number an item into index arrays; a part of empty name is left out.

    Examples
    --------
    >>> parts_from_codes(["", "test"], np.array([1, 0, 1]))
    {'test': array([0, 2])}
    """
    order = np.argsort(codes, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(codes, minlength=len(names)))[:-1])
    return {name: group for name, group in zip(names, groups, strict=False) if name}


def part_names(parts: Mapping[str, IntArray], n_items: int) -> npt.NDArray[np.str_]:
    """Turn index arrays into one part's name an item; the inverse of `parts_from_names`."""
    width = max((len(name) for name in parts), default=1)
    names = np.zeros(n_items, f"<U{max(width, 1)}")
    for name, index in parts.items():
        names[index] = name
    return names


def _check_names(names: Collection[str]) -> None:
    if len(names) > _MOST_PARTS:
        raise InputError(f"parts: there are {len(names)}, more than {_MOST_PARTS}")
    for name in names:
        if len(name) > _LONGEST_NAME:
            raise InputError(f"part {name[:20]}…: its name has {len(name)} characters")
        if any("\ud800" <= character <= "\udfff" for character in name):
            raise InputError(f"part {name!a}: its name holds half a character")


def _part(name: str, value: object, n_items: int) -> IntArray:
    array = np.asarray(value)
    if array.dtype == bool:
        if array.shape != (n_items,):
            raise InputError(f"part {name}: the mask has shape {array.shape}, not ({n_items},)")
        index: IntArray = np.flatnonzero(array)
    else:
        index = integers(f"part {name}", array, ndim=1) if array.size else np.empty(0, np.int64)
    if not len(index):
        raise InputError(f"part {name} is empty")
    outside = (index < 0) | (index >= n_items)
    if outside.any():
        bad = name_rows(index[outside])
        raise InputError(f"part {name} names items outside 0..{n_items - 1} ({bad})")
    ordered = np.sort(index)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(twice):
        raise InputError(f"part {name} names items twice ({name_rows(np.unique(twice))})")
    return index


@dataclass(frozen=True, eq=False)
class Split:
    """Disjoint named parts of `n_items` items, with how they were made.

    Parameters
    ----------
    parts
        Name to index array (or mask).
    n_items
        How many items there are in all; some may be in no part.
    recipe
        What made the split: plain values that can be written as JSON.
    pairs
        For splits of edges: the pairs of nodes that the items are ``[n_items, 2]``.

    Examples
    --------
    >>> split = Split({"train": [0, 1], "test": [3]}, 4, {"by": "hand"})
    >>> split["test"], split.recipe["by"]
    (array([3]), 'hand')
    """

    parts: Mapping[str, IntArray]
    n_items: int
    recipe: Mapping[str, Any] = field(default_factory=dict)
    pairs: IntArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", check_parts(self.parts, self.n_items))
        if self.pairs is not None:
            pairs = integers("pairs", self.pairs, ndim=2)
            if pairs.shape != (self.n_items, 2):
                raise InputError(f"pairs: has shape {pairs.shape}, expected ({self.n_items}, 2)")
            check_pairs("pairs", pairs, MOST_NODES)
            object.__setattr__(self, "pairs", pairs)
        object.__setattr__(self, "recipe", MappingProxyType(dict(self.recipe)))

    def __getitem__(self, name: str) -> IntArray:
        """Return the items of one part."""
        try:
            return self.parts[name]
        except KeyError:
            raise InputError(f"no part {name!r} (parts: {', '.join(self.parts)})") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the split to an ``.npz`` file."""
        arrays: dict[str, npt.ArrayLike] = {f"part_{k}": v for k, v in self.parts.items()}
        if self.pairs is not None:
            arrays["pairs"] = self.pairs
        write_npz(path, {**arrays, "n_items": self.n_items, "recipe": to_json(self.recipe)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Split:
        """Read a split that `save` wrote."""
        arrays = open_npz(path)
        if "n_items" not in arrays:
            raise InputError(f"{path}: not a split (it lacks n_items)")
        parts = {k.removeprefix("part_"): a.read() for k, a in arrays.items() if k[:5] == "part_"}
        pairs = arrays["pairs"].read() if "pairs" in arrays else None
        n_items = whole_number(arrays["n_items"])
        return cls(parts, n_items, from_json(arrays.get("recipe")), pairs)
