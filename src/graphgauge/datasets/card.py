"""Cards of the data sets: where each comes from, what it holds, and what the papers print of it.

The cards are the tables of ``cards.toml``; one more table there is one more data set.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import numpy as np

from graphgauge.arrays import IntArray
from graphgauge.errors import InputError

__all__ = ["CARDS", "Card", "Counts", "Printed", "Source", "card"]

_FOLDER = files("graphgauge.datasets")


@dataclass(frozen=True)
class Counts:
    """Sizes of a graph as `load` gives it; None where nobody has counted.

    Parameters
    ----------
    nodes
        All of them, isolated ones too.
    edges
        Undirected, each once, without loops.
    features
        Columns.
    classes
        Values of the labels that are known.
    """

    nodes: int | None = None
    edges: int | None = None
    features: int | None = None
    classes: int | None = None


@dataclass(frozen=True)
class Printed(Counts):
    """Counts as a paper prints them, and what is to be said of them."""

    where: str = ""
    note: str = ""


@dataclass(frozen=True)
class Source:
    """One way to come by the files of a data set.

    Parameters
    ----------
    family
        How the files are read: a name in `families.FAMILIES`.
    key
        What the files call the data set.
    url
        Public folder of the files, or an archive (``.zip``) that holds them.
    wheel
        Requirement, as pip takes it, of a package whose wheel holds the files.
    inside
        Folder within the archive or the wheel.
    pip
        Further options for pip, where the wheel is for other machines.
    """

    family: str
    key: str
    url: str = ""
    wheel: str = ""
    inside: str = ""
    pip: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Say where it is."""
        return f"the wheel {self.wheel}" if self.wheel else self.url or "your own folder"


@dataclass(frozen=True)
class Card:
    """What is known of a data set.

    Parameters
    ----------
    slug
        Its name here, in the tables of published figures, and on the command line.
    title
        Its name in the papers.
    about
        What its nodes, edges, features and classes are.
    sources
        Tried in turn; none where the data are not public.
    licence
        As far as it is known, and who says so.
    citation
        Whom to cite.
    counts
        Sizes that a graph must have to pass for this one.
    printed
        What the papers print, and where that is wrong.
    fingerprint
        ``Graph.fingerprint`` of the whole graph as `load` gives it; empty where not yet measured.
    marks
        Fingerprints of its edges, features and labels alone, to tell which of them differ.
    notes
        What one should know before measuring on it.
    class_names
        Names of the classes, where they are known for sure.
    has_ids
        Whether what its nodes are called is known, in a table beside the cards.
    """

    slug: str
    title: str
    about: str
    citation: str
    licence: str = "not stated"
    sources: tuple[Source, ...] = ()
    counts: Counts = Counts()
    printed: tuple[Printed, ...] = ()
    fingerprint: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()
    has_ids: bool = False

    @property
    def public(self) -> bool:
        """Whether anybody can have it."""
        return bool(self.sources)

    @property
    def ids(self) -> IntArray | None:
        """What the nodes are called where they come from, in their order here."""
        if not self.has_ids:
            return None
        text = _FOLDER.joinpath("ids", f"{self.slug}.txt").read_text(encoding="utf-8")
        words = [w for line in text.splitlines() if line[:1] != "#" for w in line.split()]
        return np.array(words, np.int64)


def card(name: str) -> Card:
    """Return the card of a data set by its slug.

    Examples
    --------
    >>> card("cora-ml").counts
    Counts(nodes=2995, edges=8158, features=2879, classes=7)
    >>> card("core")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: no data set 'core'; did you mean cora?
    """
    if name in CARDS:
        return CARDS[name]
    close = difflib.get_close_matches(name.lower(), CARDS, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(CARDS)}"
    raise InputError(f"no data set {name!r}; {hint}")


def _card(slug: str, table: Mapping[str, Any]) -> Card:
    kinds = {"sources": Source, "printed": Printed}
    made: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
    }
    for name, kind in kinds.items():
        made[name] = tuple(kind(**_frozen(row)) for row in table.get(name, ()))
    made["counts"] = Counts(**table.get("counts", {}))
    return Card(slug, **made)


def _frozen(row: Mapping[str, Any]) -> dict[str, Any]:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}


def _read_cards() -> Mapping[str, Card]:
    text = _FOLDER.joinpath("cards.toml").read_text(encoding="utf-8")
    return MappingProxyType({slug: _card(slug, t) for slug, t in tomllib.loads(text).items()})


CARDS: Mapping[str, Card] = _read_cards()
