"""Reads the tables of a paper from ``benchmarks/<paper>.toml``.

What the file says of runs is read by `graphgauge.benchmark`; here it is what it says of tables. A
list may stand under ``lists`` and be named in its place, and ``all`` is everything in the grid.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import product
from types import MappingProxyType
from typing import Any

from graphgauge.benchmark import Benchmark, read_benchmark
from graphgauge.errors import InputError
from graphgauge.tables.figures import Place
from graphgauge.tables.spec import Block, Erratum, Paper, Remark, TableSpec

__all__ = ["PAPERS", "paper"]

PAPERS = ("revisiting", "shifts", "edgewise", "miscalibrated")
"""Those whose tables are known."""

_FOLDER = files("graphgauge.benchmarks")


@cache
def paper(name: str) -> Paper:
    """Read the tables of a paper.

    Examples
    --------
    >>> len(paper("revisiting").tables), paper("shifts").grid.seeds
    (23, (0, 1, 2, 3, 4))
    >>> paper("heat")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: no benchmark 'heat' (there are ..., edgewise, miscalibrated)
    """
    if name not in PAPERS:
        raise InputError(f"no benchmark {name!r} (there are {', '.join(PAPERS)})")
    text = _FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return _paper(tomllib.loads(text), read_benchmark(name))


def _paper(document: Mapping[str, Any], grid: Benchmark) -> Paper:
    about, metrics = document["benchmark"], document["metrics"]
    titled = {**document.get("settings", {}), **metrics}
    lists = {name: tuple(values) for name, values in document["lists"].items()}
    defaults = {
        "datasets": tuple(grid.datasets),
        "settings": grid.settings,
        "methods": tuple(grid.methods),
    }
    tables = [_table(entry, lists, defaults) for entry in document["tables"]]
    return Paper(
        grid=grid,
        note=about.get("note", ""),
        published_seeds=about["published_seeds"],
        ddof=about.get("ddof", 1),
        titles={name: entry["title"] for name, entry in titled.items() if "title" in entry},
        directions={k: entry["direction"] for k, entry in metrics.items() if "direction" in entry},
        recorded={
            name: (entry.get("part", ""), entry.get("of", name)) for name, entry in metrics.items()
        },
        remarks={k: entry["note"] for k, entry in document["methods"].items() if "note" in entry},
        tables=MappingProxyType({table.number: table for table in tables}),
        errata=tuple(map(_erratum, document["errata"])),
        explained=tuple(Remark(e["text"], _where(e)) for e in document.get("explained", ())),
    )


def _table(
    entry: Mapping[str, Any],
    lists: Mapping[str, tuple[str, ...]],
    defaults: Mapping[str, tuple[str, ...]],
) -> TableSpec:
    shared = {k: v for k, v in entry.items() if k not in ("number", "title", "note", "blocks")}
    blocks = [_block({**shared, **own}, lists, defaults) for own in entry.get("blocks", [{}])]
    return TableSpec(entry["number"], entry["title"], tuple(blocks), entry.get("note", ""))


def _block(
    entry: Mapping[str, Any],
    lists: Mapping[str, tuple[str, ...]],
    defaults: Mapping[str, tuple[str, ...]],
) -> Block:
    def listed(name: str, missing: tuple[str, ...] = ()) -> tuple[str, ...]:
        value = entry.get(name, missing)
        if value == "all":
            return defaults[name]
        return lists[value] if isinstance(value, str) else tuple(value)

    datasets = (
        (entry["dataset"],) if "dataset" in entry else listed("datasets", defaults["datasets"])
    )
    methods = listed("methods")
    if variants := listed("variants"):
        methods = tuple(f"{method}.{variant}" for method, variant in product(methods, variants))
    return Block(
        kind=entry["kind"],
        datasets=datasets,
        settings=listed("settings"),
        parts=listed("parts", ("",) if entry["kind"] in ("counts", "splits") else ("all",)),
        methods=methods,
        metrics=listed("metrics"),
        pairs=_pairs(entry.get("pairs", ()), methods),
        pooled=entry.get("pooled", False),
        mean=entry.get("mean", False),
        label=entry.get("as", ""),
        sources=tuple(entry.get("from", ())),
        n_printed=len(datasets),
    )


def _pairs(
    value: str | Sequence[Sequence[str]], methods: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    if value == "all":
        return tuple(product(methods, methods))
    return tuple((first, second) for first, second in value)


def _erratum(entry: Mapping[str, Any]) -> Erratum:
    return Erratum(
        entry["text"], _where(entry), entry.get("void", False), entry.get("distinct", False)
    )


def _where(entry: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {
        name: tuple(values) if isinstance(values, list) else (values,)
        for name, values in entry.items()
        if name in Place._fields
    }
