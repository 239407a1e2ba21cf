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

from graphgauge.errors import InputError
from graphgauge.tables.figures import Place
from graphgauge.tables.spec import Block, Erratum, Paper, Remark, TableSpec

__all__ = ["PAPERS", "paper"]

PAPERS = ("revisiting", "shifts")
"""Those whose tables are known."""

_FOLDER = files("graphgauge.benchmarks")


@cache
def paper(name: str) -> Paper:
    """Read the tables of a paper.

    Examples
    --------
    >>> len(paper("revisiting").tables), paper("shifts").seeds
    (23, (0, 1, 2, 3, 4))
    >>> paper("heat")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: no benchmark 'heat' (there are revisiting, shifts)
    """
    if name not in PAPERS:
        raise InputError(f"no benchmark {name!r} (there are {', '.join(PAPERS)})")
    text = _FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return _paper(tomllib.loads(text))


def _paper(document: Mapping[str, Any]) -> Paper:
    about, methods = document["benchmark"], document["methods"]
    titled = {**document["settings"], **document["metrics"]}
    lists = {name: tuple(values) for name, values in document["lists"].items()}
    defaults = {
        "datasets": tuple(about["datasets"]),
        "settings": tuple(about["settings"]),
        "methods": tuple(methods),
    }
    tables = [_table(entry, lists, defaults) for entry in document["tables"]]
    return Paper(
        name=about["name"],
        title=about["title"],
        note=about.get("note", ""),
        datasets=defaults["datasets"],
        settings=defaults["settings"],
        seeds=tuple(about["seeds"]),
        published_seeds=about["published_seeds"],
        methods=defaults["methods"],
        members={k: (m["of"], m["n"]) for k, m in methods.items() if "of" in m},
        rows=document["rows"],
        titles={name: entry["title"] for name, entry in titled.items()},
        directions={name: entry["direction"] for name, entry in document["metrics"].items()},
        remarks={name: entry["note"] for name, entry in methods.items() if "note" in entry},
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
    return Block(
        kind=entry["kind"],
        datasets=datasets,
        settings=listed("settings"),
        parts=listed("parts", ("all",)),
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
