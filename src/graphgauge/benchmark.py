"""A benchmark as data: which methods run on which data sets, split how, with which seeds.

Benchmarks that come with the package are TOML files in ``benchmarks/``; your own is a file of the
same form. Nothing here knows what a method is; `graphgauge.grid` turns a benchmark into runs.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from graphgauge.archive import answering, check_file
from graphgauge.errors import InputError
from graphgauge.plain import check_line, frozen
from graphgauge.runspec import PROTOCOLS, USUAL_MEASURES

__all__ = [
    "Benchmark",
    "Calibrated",
    "Derived",
    "Made",
    "Trained",
    "benchmark_names",
    "read_benchmark",
]

_T = TypeVar("_T")

_SLUG = re.compile(r"[a-z0-9]+([-_.][a-z0-9]+)*")
_MOST_BYTES = 2**22
_SECTIONS = ("benchmark", "datasets", "settings", "methods", "calibrators", "rows")
# What tables are made by; they read it themselves.
_OF_TABLES = ("metrics", "lists", "tables", "errata", "explained")
_ABOUT = ("name", "title", "cite", "seeds", "datasets", "settings", "measures", "note")
_ABOUT_PRINT = ("published_seeds", "ddof")
_DATASET = ("steps", "split", "note")
_SETTING = ("title", "split", "hyper")
_TRAINED = ("use", "hyper", "datasets", "settings", "title", "note")
_DERIVED = ("of", "combine", "n", "datasets", "settings", "title", "note")
_CALIBRATED = ("of", "calibrate", "datasets", "settings", "title", "note")
_MOST_SEEDS = 10_000


@dataclass(frozen=True)
class Trained:
    """A method that is trained, once a seed.

    Parameters
    ----------
    use
        Registered name of the method, or ``module:Class``.
    hyper
        Hyper-parameters that differ from its own.
    datasets, settings
        Where it runs.
    """

    use: str
    hyper: Mapping[str, Any]
    datasets: tuple[str, ...]
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Derived:
    """An ensemble: the predictions of `n` seeds of a trained method, combined.

    Parameters
    ----------
    of
        The trained method.
    combine
        How its members are combined, such as ``mean-softmax``.
    n
        How many members there are: the first seeds of the benchmark.
    datasets, settings
        Where it is made.
    """

    of: str
    combine: str
    n: int
    datasets: tuple[str, ...]
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Calibrated:
    """The predictions of a trained method, calibrated on its validation nodes, once a seed.

    Parameters
    ----------
    of
        The trained method.
    calibrate
        By which calibrator, under either protocol: labels such as ``temperature(objective=nll)``.
    datasets, settings
        Where it is made.
    """

    of: str
    calibrate: Mapping[str, str]
    datasets: tuple[str, ...]
    settings: tuple[str, ...]


Made: TypeAlias = Trained | Derived | Calibrated
"""How a method comes to predictions."""


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark runs.

    Parameters
    ----------
    name, title
        What it is called.
    seeds
        Numbers of the training seeds.
    datasets
        Slug of every data set to the steps that prepare it.
    settings
        How nodes are split, and what else differs between runs of a method.
    methods
        Slug to what is trained, combined or calibrated.
    rows
        Other names of a method in the tables, to its slug.
    measures
        What is recorded of every run.
    splits
        How a data set is split in a setting, where the setting's name does not tell it: by what is
        said of the data set, or else of the setting.
    hyper
        Settings that come with hyper-parameters of all that is trained.
    """

    name: str
    title: str
    seeds: tuple[int, ...]
    datasets: Mapping[str, tuple[str, ...]]
    settings: tuple[str, ...]
    methods: Mapping[str, Made]
    rows: Mapping[str, str] = field(default_factory=dict)
    measures: tuple[str, ...] = USUAL_MEASURES
    splits: Mapping[tuple[str, str], str] = field(default_factory=dict)
    hyper: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def benchmark_names() -> list[str]:
    """Name the benchmarks that come with the package."""
    folder = files("graphgauge") / "benchmarks"
    if not folder.is_dir():
        return []
    return sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name[-5:] == ".toml")


def read_benchmark(which: str | os.PathLike[str]) -> Benchmark:
    """Read a benchmark by its name, or from a TOML file of one's own."""
    name = os.fspath(which)
    if name.endswith(".toml"):
        path = Path(name)
    elif name in benchmark_names():
        path = Path(str(files("graphgauge") / "benchmarks" / f"{name}.toml"))
    else:
        known = ", ".join(benchmark_names()) or "none"
        raise InputError(f"no benchmark {name!r} (there are: {known}; or give a .toml file)")
    check_file(path)
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(f"{path}: is too long for a benchmark")
    with answering(path, kind="a benchmark"):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        return _benchmark(content)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _benchmark(content: Mapping[str, Any]) -> Benchmark:
    known_keys("the file", content, (*_SECTIONS, *_OF_TABLES))
    about = _get("the file", content, "benchmark", dict)
    known_keys("benchmark", about, (*_ABOUT, *_ABOUT_PRINT))
    name = _slug("benchmark: name", _get("benchmark", about, "name", str))
    datasets = _slugs("benchmark: datasets", _get("benchmark", about, "datasets", list))
    settings = _slugs("benchmark: settings", _get("benchmark", about, "settings", list))
    of_datasets = _tables(content, "datasets", datasets, _DATASET)
    of_settings = _tables(content, "settings", settings, _SETTING)
    methods = _get("the file", content, "methods", dict)
    everywhere = {"datasets": datasets, "settings": settings}
    read = {
        _slug("methods", slug): _method(f"methods.{slug}", found, everywhere)
        for slug, found in methods.items()
    }
    read |= _each_calibrated(content, read)
    seeds = _seeds(_get("benchmark", about, "seeds", list))
    _check_derived(read, seeds)
    return Benchmark(
        name,
        _get("benchmark", about, "title", str, name),
        seeds,
        MappingProxyType({slug: _steps(slug, table) for slug, table in of_datasets.items()}),
        settings,
        MappingProxyType(read),
        MappingProxyType(_rows(content, read)),
        _slugs(
            "benchmark: measures", _get("benchmark", about, "measures", list, [*USUAL_MEASURES])
        ),
        MappingProxyType(dict(_splits(of_datasets, of_settings))),
        MappingProxyType(
            {slug: _hyper(slug, t) for slug, t in of_settings.items() if "hyper" in t}
        ),
    )


def known_keys(where: str, keys: Iterable[str], known: Collection[str]) -> None:
    """Check that there is no key but those known; a near miss is named.

    Examples
    --------
    >>> known_keys("methods.erm", {"hyperr": {}}, ["use", "hyper"])
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: methods.erm: unknown 'hyperr', did you mean 'hyper'?
    """
    for key in keys:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f", did you mean {close[0]!r}?" if close else f" (known: {', '.join(known)})"
            raise InputError(f"{where}: unknown {key[:80]!r}{hint}")


def _method(where: str, table: object, everywhere: Mapping[str, tuple[str, ...]]) -> Made:
    if not isinstance(table, dict):
        raise InputError(f"{where}: is no table")
    known = _CALIBRATED if "calibrate" in table else _DERIVED if "of" in table else _TRAINED
    known_keys(where, table, known)
    where_it_runs = []
    for what, all_of_them in everywhere.items():
        chosen = _slugs(f"{where}: {what}", _get(where, table, what, list, list(all_of_them)))
        known_keys(f"{where}: {what}", chosen, all_of_them)
        where_it_runs.append(chosen)
    if known is _TRAINED:
        hyper = _get(where, table, "hyper", dict, {})
        return Trained(_get(where, table, "use", str), MappingProxyType(hyper), *where_it_runs)
    of = _get(where, table, "of", str)
    if known is _CALIBRATED:
        return Calibrated(of, _calibrators(where, table["calibrate"]), *where_it_runs)
    kind = _slug(f"{where}: combine", _get(where, table, "combine", str))
    return Derived(of, kind, _get(where, table, "n", int), *where_it_runs)


def _calibrators(where: str, told: object) -> Mapping[str, str]:
    """Read one label for both protocols, or one each."""
    labels = told if isinstance(told, dict) else dict.fromkeys(PROTOCOLS, told)
    known_keys(f"{where}: calibrate", labels, PROTOCOLS)
    for protocol in PROTOCOLS:
        if protocol not in labels:
            raise InputError(f"{where}: calibrate: lacks {protocol!r}")
        check_line(f"{where}: calibrate", labels[protocol])
    return MappingProxyType(labels)


def _each_calibrated(content: Mapping[str, Any], methods: Mapping[str, Made]) -> dict[str, Made]:
    """Calibrate every trained method by every calibrator of the benchmark."""
    made: dict[str, Made] = {}
    for (slug, method), (name, told) in product(
        methods.items(), _get("the file", content, "calibrators", dict, {}).items()
    ):
        if isinstance(method, Trained):
            labels = _calibrators(f"calibrators.{_slug('calibrators', name)}", told)
            made[f"{slug}.{name}"] = Calibrated(slug, labels, method.datasets, method.settings)
    if twice := set(made) & set(methods):
        raise InputError(f"calibrators: {min(twice)} is among the methods already")
    return made


def _check_derived(methods: Mapping[str, Made], seeds: Sequence[int]) -> None:
    for slug, found in methods.items():
        if isinstance(found, Trained):
            continue
        base = methods.get(found.of)
        if not isinstance(base, Trained):
            raise InputError(f"methods.{slug}: of {found.of!r}, which is no trained method here")
        if isinstance(found, Derived) and not 2 <= found.n <= len(seeds):
            raise InputError(f"methods.{slug}: n is {found.n}, there are {len(seeds)} seeds")
        for what in ("datasets", "settings"):
            known_keys(f"methods.{slug}: {what}", getattr(found, what), getattr(base, what))


def _tables(
    content: Mapping[str, Any], section: str, slugs: Sequence[str], known: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Read what is said of every data set, or of every setting: nothing by default."""
    told = _get("the file", content, section, dict, {})
    known_keys(section, told, slugs)
    for slug, table in told.items():
        if not isinstance(table, dict):
            raise InputError(f"{section}.{slug}: is no table")
        known_keys(f"{section}.{slug}", table, known)
    return {slug: told.get(slug, {}) for slug in slugs}


def _steps(slug: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    return _slugs(f"datasets.{slug}: steps", _get(f"datasets.{slug}", table, "steps", list, []))


def _splits(
    of_datasets: Mapping[str, Mapping[str, Any]], of_settings: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[tuple[str, str], str]]:
    for dataset, setting in product(of_datasets, of_settings):
        told = {**of_settings[setting], **of_datasets[dataset]}
        if "split" in told:
            check_line(f"{dataset}, {setting}: split", told["split"])
            yield (dataset, setting), told["split"]


def _hyper(slug: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    return frozen(f"settings.{slug}: hyper", _get(f"settings.{slug}", table, "hyper", dict))


def _rows(content: Mapping[str, Any], methods: Collection[str]) -> dict[str, str]:
    rows = _get("the file", content, "rows", dict, {})
    for slug, method in rows.items():
        if slug in methods:
            raise InputError(f"rows: {slug!r} is a method itself")
        if not isinstance(method, str) or method not in methods:
            raise InputError(f"rows.{slug}: {str(method)[:80]!r} is no method here")
    return rows


def _get(where: str, table: Mapping[str, Any], key: str, kind: type[_T], *default: _T) -> _T:
    if key not in table:
        if default:
            return default[0]
        raise InputError(f"{where}: lacks {key!r}")
    value = table[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{where}: {key} is not of the kind {kind.__name__}")
    return value


def _seeds(listed: list[Any]) -> tuple[int, ...]:
    for seed in listed:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise InputError(f"benchmark: seeds: {str(seed)[:80]!r} is no seed")
    if not 0 < len(set(listed)) == len(listed) <= _MOST_SEEDS:
        raise InputError("benchmark: seeds: none, too many, or one of them twice")
    return tuple(listed)


def _slugs(where: str, listed: list[Any]) -> tuple[str, ...]:
    words = tuple(_slug(where, word) for word in listed)
    if len(set(words)) < len(words):
        raise InputError(f"{where}: one of them is there twice")
    return words


def _slug(where: str, word: object) -> str:
    if not isinstance(word, str) or not _SLUG.fullmatch(word):
        raise InputError(f"{where}: {str(word)[:80]!r} is no slug (lower case, digits and -)")
    return word
