"""A setting: how the nodes of a data set are divided, told by a word.

``popularity-50``
    By a shift, with half of the nodes in distribution.
``split0-fold1``
    In folds: the first draw, of which the second fold validates.
``shares-62.5-12.5-25``
    At random by shares of training, validation and test.
``published:planetoid:rest``
    As published: a source, and which of its splits (see `splits.published_split`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graphgauge.datasets.load import load
from graphgauge.datasets.obtain import own_folder
from graphgauge.datasets.planted import planted
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.runspec import derive_seed
from graphgauge.splits import SHIFTS, fold_splits, published_split, random_split, shift_split
from graphgauge.splits.sampled import RANDOM_SHARES
from graphgauge.splits.sizes import ROUNDINGS
from graphgauge.steps import prepare

__all__ = ["graph_of", "split_of"]

# Where the benchmarks' authors keep their parts, and the names of theirs that are not ours.
_COLLECTIONS = {
    "shifts": "structural-shifts",
    "revisiting": "revisiting",
    "edgewise": "structured-uncertainty",
}
_OTHER_NAMES = {"pagerank": "popularity", "ppr": "locality"}
_WALKS = ("popularity", "locality")
_PLANTED = re.compile(r"planted-(\d{1,6})")


@lru_cache(maxsize=2)
def graph_of(dataset: str, steps: tuple[str, ...] = ()) -> Graph:
    """Get a data set by its slug, or make a planted graph, ``planted-<number of nodes>``."""
    if found := _PLANTED.fullmatch(dataset):
        return prepare(planted(int(found[1])).graph, *steps)
    return load(dataset, steps=steps)


@lru_cache(maxsize=16)
def split_of(
    benchmark: str, dataset: str, setting: str, protocol: str, steps: tuple[str, ...]
) -> Split:
    """Split a data set as a benchmark does.

    Lots are drawn by all that a graph holds, so features are prepared after the split.

    Examples
    --------
    >>> split = split_of("mine", "planted-200", "density-70", "corrected", ())
    >>> [len(part) for part in split.parts.values()]
    [84, 28, 28, 12, 48]
    >>> split = split_of("mine", "planted-200", "shares-50-25-25", "corrected", ())
    >>> [len(part) for part in split.parts.values()]
    [100, 50, 50]
    """
    place = _Place(benchmark, dataset, setting, protocol, steps)
    for form, divide in _FORMS:
        if found := form.fullmatch(setting):
            return divide(place, found)
    raise InputError(_unknown(setting))


@dataclass(frozen=True)
class _Place:
    """What is to be divided, and for whom."""

    benchmark: str
    dataset: str
    setting: str
    protocol: str
    steps: tuple[str, ...]

    @property
    def graph(self) -> Graph:
        """The graph before its features are prepared."""
        kept = tuple(step for step in self.steps if not step.startswith("features-"))
        return graph_of(self.dataset, kept)

    @property
    def has_parts(self) -> bool:
        """Whether the authors' own parts are wanted and known; to find no folder is an error."""
        collection = _COLLECTIONS.get(self.benchmark)
        if self.protocol != "published" or not collection or _PLANTED.fullmatch(self.dataset):
            return False
        folder = own_folder()
        parts = folder and folder / "splits" / collection
        if not parts or not parts.is_dir():
            where = f"{collection} in the folder splits of GRAPHGAUGE_DATA"
            raise InputError(f"the protocol published takes the authors' parts: put {where}")
        return (parts / f"{self.dataset}.npz").is_file()

    def published(self, which: str) -> Split:
        """Read the authors' own parts."""
        return published_split(self.dataset, self.benchmark, which, graph=self.graph)

    def seed(self, draw: str) -> int:
        """Derive the seed of what is drawn: the same under both protocols."""
        return derive_seed(0, "split", self.benchmark, self.dataset, draw)


def _by_shift(place: _Place, found: re.Match[str]) -> Split:
    name, ratio = found["shift"], int(found["ratio"] or 50)
    shift = _OTHER_NAMES.get(name, name)
    if shift not in SHIFTS:
        raise InputError(_unknown(place.setting))
    if ratio == 50 and place.has_parts:
        return place.published(name)
    published = place.protocol == "published"
    walks: dict[str, Any] = {"protocol": "published"} if published and shift in _WALKS else {}
    rounding = place.benchmark if published and place.benchmark in ROUNDINGS else "nearest"
    seed = place.seed(place.setting)
    return shift_split(place.graph, shift, ratio=ratio, rounding=rounding, seed=seed, **walks)


def _in_folds(place: _Place, found: re.Match[str]) -> Split:
    draw, fold = found["draw"], int(found["fold"])
    if place.has_parts:
        return place.published(f"{draw}_fold{fold}")
    folds = fold_splits(place.graph, protocol=place.protocol, seed=place.seed(draw))
    if fold >= len(folds):
        raise InputError(f"setting: {place.setting!r} has no such fold, there are {len(folds)}")
    return folds[fold]


def _by_shares(place: _Place, found: re.Match[str]) -> Split:
    shares = dict(zip(RANDOM_SHARES, map(float, found["shares"].split("-")), strict=True))
    own = place.protocol == "published" and place.benchmark == "miscalibrated"
    rounding = "miscalibrated" if own else "nearest"
    return random_split(place.graph, shares, rounding=rounding, seed=place.seed(place.setting))


def _as_published(place: _Place, found: re.Match[str]) -> Split:
    return published_split(place.dataset, found["source"], found["which"] or "", graph=place.graph)


_NUMBER = r"\d{1,2}(?:\.\d{1,3})?"
_FORMS: tuple[tuple[re.Pattern[str], Callable[[_Place, re.Match[str]], Split]], ...] = (
    (re.compile(r"(?P<draw>split\d{1,3})-fold(?P<fold>\d)"), _in_folds),
    (re.compile(rf"shares-(?P<shares>{_NUMBER}-{_NUMBER}-{_NUMBER})"), _by_shares),
    (re.compile(r"published:(?P<source>[a-z]+)(:(?P<which>\S+))?"), _as_published),
    (re.compile(r"(?P<shift>[a-z]+)(-(?P<ratio>\d{1,2}))?"), _by_shift),
)


def _unknown(setting: str) -> str:
    known = ", ".join([*SHIFTS, *_OTHER_NAMES])
    others = "or split0-fold0, shares-60-20-20, published:planetoid"
    return f"setting: {setting!r} is no shift, such as density-50 (there are {known}; {others})"
