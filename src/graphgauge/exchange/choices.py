"""Choices: what of a file is what, where names that everybody uses do not tell."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase

from graphgauge.errors import InputError

__all__ = ["Choices", "listed", "named_like", "the_one", "the_usual"]

_LISTED = 8


@dataclass(frozen=True)
class Choices:
    """What of a file is what; where None, a usual name decides, and if none or several do, nobody.

    Parameters
    ----------
    nodes
        A table with a row a node, beside a list of edges.
    ids
        Its column that names the nodes.
    label
        The column, attribute or variable that holds the classes; ``""`` for none.
    features
        Columns, attributes or the variable that hold the features, in this order; ``*`` stands
        for any letters, ``""`` is none. Without a choice every column that is nothing else.
    edges
        The two columns that hold the ends of the edges, or the variable that holds the adjacency.
    weight
        The column or attribute that holds the edges' weights; without it every edge weighs 1.
    directed
        Whether a list of edges is of directed ones. Files of other kinds say so themselves.
    """

    nodes: str | os.PathLike[str] | None = None
    ids: str | None = None
    label: str | None = None
    features: str | Sequence[str] | None = None
    edges: str | Sequence[str] | None = None
    weight: str | None = None
    directed: bool = False

    def apply_to(self, kind: str, *able: str) -> None:
        """Check that nothing was chosen which files of this kind have not."""
        chosen = [f.name for f in fields(self) if getattr(self, f.name) not in (None, False)]
        strange = [name for name in chosen if name not in able]
        if strange:
            raise InputError(f"--{strange[0]} means nothing for {kind}")


def the_usual(option: str, usual: Sequence[str], names: Sequence[str]) -> str | None:
    """Find the one name that everybody uses for such a thing, whatever its capitals.

    Examples
    --------
    >>> the_usual("label", ("label", "class", "y"), ["id", "Class", "age"])
    'Class'
    >>> the_usual("label", ("label", "class", "y"), ["y", "label"])
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: several could be meant: say --label NAME, one of y, label
    """
    found = [name for name in names if name.lower() in usual]
    if len(found) > 1:
        raise InputError(f"several could be meant: say --{option} NAME, one of {listed(found)}")
    return found[0] if found else None


def named_like(option: str, wanted: str | Sequence[str], names: Sequence[str]) -> list[str]:
    """List the names that are wanted, in the order in which they are.

    Examples
    --------
    >>> named_like("features", "age,w*", ["w2", "w1", "age"])
    ['age', 'w2', 'w1']
    >>> named_like("features", "height", ["w2", "w1", "age"])
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: --features: there is no 'height'; there are w2, w1, age
    """
    patterns = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    found: dict[str, None] = {}
    for pattern in filter(None, map(str.strip, patterns)):
        fitting = [pattern] if pattern in names else [n for n in names if fnmatchcase(n, pattern)]
        if not fitting:
            raise InputError(f"--{option}: there is no {pattern!r}; there are {listed(names)}")
        found |= dict.fromkeys(fitting)
    return list(found)


def the_one(option: str, wanted: str, names: Sequence[str]) -> str | None:
    """Find the one name that is wanted; None if that is ``""``.

    Examples
    --------
    >>> the_one("label", "topic", ["topic", "year"])
    'topic'
    """
    found = named_like(option, wanted, names)
    if len(found) > 1:
        raise InputError(f"--{option} names several: {listed(found)}")
    return found[0] if found else None


def listed(names: Sequence[str]) -> str:
    """Name a few and count the rest.

    Examples
    --------
    >>> listed(["a", "b"]), listed([])
    ('a, b', 'none')
    """
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return (", ".join(name[:80] for name in names[:_LISTED]) or "none") + more
