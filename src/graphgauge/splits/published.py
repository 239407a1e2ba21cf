"""The authors' own parts, where they were published: what the printed numbers were made with.

They are read from the folder of data that ``GRAPHGAUGE_DATA`` names: ``splits/structural-shifts``,
``splits/revisiting`` and ``splits/structured-uncertainty`` hold those of *shifts*, *revisiting* and
*edgewise*, a file each data set; ``heart`` those of *heart*. Splits that belong to a data set, such
as OGB's, come with it. The nodes are in the order of `load`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from graphgauge.archive import StoredArray, open_npz
from graphgauge.arrays import IntArray, check_pairs, floats, integers, refuse
from graphgauge.datasets import CARDS, load
from graphgauge.datasets.heart import heart_links
from graphgauge.datasets.load import published_parts
from graphgauge.datasets.obtain import own_folder
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.parts import Split, parts_from_codes
from graphgauge.splits.levels import levels
from graphgauge.splits.planetoid import planetoid_split
from graphgauge.splits.shift import SHIFT_PARTS, shift_quality

__all__ = ["PUBLISHED", "published_split"]

_PARTS = ("train", "valid", "test")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FOLD = re.compile(r"(split\d+)_fold\d+")


def published_split(
    dataset: str, source: str, which: str = "", *, graph: Graph | None = None
) -> Split:
    """Load parts that were published with a paper or a data set.

    Parameters
    ----------
    dataset
        Slug of the data set, such as ``cora-ml``.
    source
        A name in `PUBLISHED`.
    which
        One of the source's splits: ``popularity``, ``locality``, ``density`` or ``random`` of
        *shifts*; ``pagerank``, ``ppr``, ``feature`` or ``random`` of *revisiting*;
        ``split0_fold0`` to ``split4_fold2`` of *edgewise*; ``public`` (or nothing) or ``rest`` of
        Planetoid. The other sources have one a data set.
    graph
        The graph to be split, to check that the parts are of as many nodes.

    Returns
    -------
    Split
        Of nodes; of *heart* and of OGB's link data sets, of ``pairs`` as the files have them: in
        their order and direction, and once for every time they stand there.
    """
    if source not in _READERS:
        raise InputError(f"unknown source {source!r} (expected one of: {', '.join(PUBLISHED)})")
    split = _READERS[source](_Wanted(dataset, which, graph))
    recipe = {**split.recipe, "by": "published", "source": source, "dataset": dataset}
    if which:
        recipe["which"] = which
    if graph is not None:
        recipe["graph"] = graph.fingerprint
    return Split(split.parts, split.n_items, recipe, split.pairs)


@dataclass(frozen=True)
class _Wanted:
    """Which parts of which data set are wanted, and for what graph if that is known."""

    dataset: str
    which: str
    graph: Graph | None

    def path(self, collection: str) -> Path:
        """Find the data set's file among the published parts."""
        folder = own_folder()
        if folder is None:
            raise InputError("published parts are read from files: set GRAPHGAUGE_DATA")
        if not _SLUG.fullmatch(self.dataset):
            raise InputError(f"{self.dataset!r} is no slug of a data set, such as cora-ml")
        path = folder / "splits" / collection / f"{self.dataset}.npz"
        if not path.is_file():
            others = sorted(other.stem for other in path.parent.glob("*.npz"))
            known = f"there are {', '.join(others)}" if others else f"{path.parent} holds none"
            raise InputError(f"{self.dataset}: no published parts in {path} ({known})")
        return path

    def choice(self, path: Path, names: list[str]) -> str:
        """Return what is wanted if it is among `names`."""
        if self.which not in names:
            raise InputError(f"{path}: no parts {self.which!r} (there are {', '.join(names)})")
        return self.which

    def n_nodes(self) -> int:
        """Count the nodes of the graph, or of the data set."""
        if self.graph is not None:
            return self.graph.n_nodes
        known = CARDS[self.dataset].counts.nodes if self.dataset in CARDS else None
        if known is None:
            raise InputError(f"{self.dataset}: give the graph, its number of nodes is not known")
        return known


def _shift_parts(collection: str) -> Callable[[_Wanted], Split]:
    def read(wanted: _Wanted) -> Split:
        path = wanted.path(collection)
        stored = open_npz(path)
        names = [name.removesuffix("_part") for name in stored if name.endswith("_part")]
        shift = wanted.choice(path, names)
        codes = integers(f"{path}: {shift}_part", stored[f"{shift}_part"].read(), ndim=1)
        refuse(f"{path}: {shift}_part", (codes < 0) | (codes > 4), "is no part", "are no parts")
        if wanted.graph is not None and wanted.graph.n_nodes != len(codes):
            raise InputError(
                f"{path}: holds parts of {len(codes)} nodes, the graph has {wanted.graph.n_nodes}"
            )
        parts = parts_from_codes(SHIFT_PARTS, codes)
        sigma = stored.get(f"{shift}_sigma")
        return Split(parts, len(codes), {} if sigma is None else _quality(sigma, parts))

    return read


def _quality(sigma: StoredArray, parts: Mapping[str, IntArray]) -> dict[str, Any]:
    """Tell ties and ceiling, where the values are published too."""
    values = floats(f"{sigma.path}: {sigma.name}", sigma.read(), ndim=1)
    n_nodes = sum(map(len, parts.values()))
    if len(values) != n_nodes:
        raise InputError(f"{sigma.path}: {len(values)} values of {sigma.name} for {n_nodes} nodes")
    return shift_quality(levels(values), parts)


def _folds(wanted: _Wanted) -> Split:
    path = wanted.path("structured-uncertainty")
    stored = open_npz(path)
    numbers = {name: found[1] for name in stored if (found := _FOLD.fullmatch(name))}
    chosen = wanted.choice(path, [*numbers])
    test = f"{numbers[chosen]}_test"
    others = [n for n, number in numbers.items() if number == numbers[chosen] and n != chosen]
    if test not in stored or not others:
        raise InputError(f"{path}: lacks the other folds or the test nodes of {chosen}")
    train = np.concatenate([stored[name].read() for name in others])
    parts = {"train": train, "valid": stored[chosen].read(), "test": stored[test].read()}
    return Split({name: np.sort(part) for name, part in parts.items()}, wanted.n_nodes())


def _planetoid(wanted: _Wanted) -> Split:
    graph = load(wanted.dataset) if wanted.graph is None else wanted.graph
    return planetoid_split(graph, train=wanted.which or "public")


def _heart(wanted: _Wanted) -> Split:
    links = heart_links(wanted.dataset)
    # CiteSeer's training file names each isolated node in a loop, so that a reader who counts the
    # nodes that occur finds it. The paper's own reader drops the loops then; the recipe counts.
    is_loop = {part: links[part][:, 0] == links[part][:, 1] for part in _PARTS}
    pairs = {part: links[part][~is_loop[part]] for part in _PARTS}
    left_out = {part: int(is_loop[part].sum()) for part in _PARTS}
    return _of_links(pairs, wanted, {"loops_left_out": left_out})


def _beside_the_data(start: str) -> Callable[[_Wanted], Split]:
    def read(wanted: _Wanted) -> Split:
        if not wanted.dataset.startswith(start):
            raise InputError(f"{wanted.dataset}: this source is about {start} alone")
        found = published_parts(wanted.dataset)
        parts = {part: found[part] for part in _PARTS}
        if parts["train"].ndim == 2:
            return _of_links(parts, wanted, {})
        return Split(parts, wanted.n_nodes())

    return read


def _of_links(pairs: Mapping[str, IntArray], wanted: _Wanted, recipe: Mapping[str, Any]) -> Split:
    """Put the pairs of the parts one under the other, as they stand in the files."""
    joined = np.concatenate([*pairs.values()])
    n_nodes = wanted.n_nodes()
    check_pairs(f"{wanted.dataset}: the published pairs", joined, n_nodes)
    ends = np.cumsum([len(rows) for rows in pairs.values()])
    parts = dict(zip(pairs, np.split(np.arange(len(joined)), ends[:-1]), strict=True))
    return Split(parts, len(joined), {**recipe, "n_nodes": n_nodes}, joined)


_READERS: Mapping[str, Callable[[_Wanted], Split]] = MappingProxyType(
    {
        "shifts": _shift_parts("structural-shifts"),
        "revisiting": _shift_parts("revisiting"),
        "edgewise": _folds,
        "miscalibrated": _beside_the_data("friendster"),
        "heart": _heart,
        "planetoid": _planetoid,
        "ogb": _beside_the_data("ogb"),
    }
)

PUBLISHED: tuple[str, ...] = (*_READERS,)
"""Whose parts there are: five papers, Planetoid, and the Open Graph Benchmark."""
