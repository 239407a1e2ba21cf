"""The two sides that are set against each other: ID and OOD, or training and test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from graphgauge.arrays import IntArray
from graphgauge.errors import InputError
from graphgauge.parts import Split
from graphgauge.roles import Role, role_of

__all__ = ["Sides", "sides_of"]

_OUT = ("_out", "_ood")


@dataclass(frozen=True, eq=False)
class Sides:
    """Two disjoint sets of nodes, and which parts make each of them up.

    Parameters
    ----------
    names
        What the first and the second side are called.
    of_part
        The side of every part that is on one.
    nodes
        Nodes of each side in ascending order, by its name.
    """

    names: tuple[str, str]
    of_part: Mapping[str, str]
    nodes: Mapping[str, IntArray]


def sides_of(split: Split) -> Sides:
    """Tell by the names of the parts what is to be set against what.

    With parts that end in ``_out`` or ``_ood``, these are one side and all others the other;
    without them, training is set against test and what validates is left aside.

    Examples
    --------
    >>> shifted = Split({"train": [0], "test_in": [3], "test_out": [1, 2]}, 4)
    >>> sides_of(shifted).names, sides_of(shifted).nodes["OOD"]
    (('ID', 'OOD'), array([1, 2]))
    >>> sides_of(Split({"train": [0], "valid": [1], "test": [2]}, 3)).of_part
    mappingproxy({'train': 'train', 'test': 'test'})
    """
    if split.pairs is not None:
        raise InputError("the split is one of edges, whose nodes are on no side")
    of_part = {name: "OOD" if name.endswith(_OUT) else "ID" for name in split.parts}
    names = ("ID", "OOD")
    if "OOD" not in of_part.values():
        roles = {name: role_of(name) for name in split.parts}
        of_part = {k: str(role) for k, role in roles.items() if role in (Role.TRAIN, Role.TEST)}
        names = (str(Role.TRAIN), str(Role.TEST))
    if set(of_part.values()) != set(names):
        told = ", ".join(split.parts)
        raise InputError(f"parts {told}: expected some for training and some for test, or _out")
    nodes = {
        side: np.sort(np.concatenate([split[k] for k, its in of_part.items() if its == side]))
        for side in names
    }
    return Sides(names, MappingProxyType(of_part), MappingProxyType(nodes))
