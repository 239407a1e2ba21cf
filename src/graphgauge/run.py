"""One run from its spec to its record: the one place that knows every stage."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.catalogue import make_method
from graphgauge.datasets.load import load
from graphgauge.datasets.obtain import own_folder
from graphgauge.datasets.planted import planted
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.methods.ensembles import combine
from graphgauge.methods.search import Found
from graphgauge.metrics import Outcomes, metric
from graphgauge.parts import Split
from graphgauge.predictions import NodePredictions
from graphgauge.processes import WorkerDiedError
from graphgauge.provenance import Watch, hash_parts, made_with, one_thread, seeded
from graphgauge.records import Record, RunSpec, Values, derive_seed
from graphgauge.splits import SHIFTS, published_split, shift_split
from graphgauge.splits.sizes import ROUNDINGS
from graphgauge.steps import prepare

__all__ = ["execute", "findings_of", "graph_of", "measure", "split_of", "training_seed"]

# Where the benchmarks' authors keep their parts, and the names of theirs that are not ours.
_COLLECTIONS = {"shifts": "structural-shifts", "revisiting": "revisiting"}
_OTHER_NAMES = {"pagerank": "popularity", "ppr": "locality"}
_WALKS = ("popularity", "locality")
_SETTING = re.compile(r"(?P<shift>[a-z]+)(-(?P<ratio>\d{1,2}))?")
_PLANTED = re.compile(r"planted-(\d{1,6})")
_PARTS = {"ID": ("test_in",), "OOD": ("test_out",), "all": ("test_in", "test_out", "test")}
_OUTCOMES = ("accuracy", "nll", "brier", "ece")
_IDENTITY_HOLDS = 1e-3


def execute(
    spec: RunSpec, *, device: str = "cpu", members: Sequence[Path] = ()
) -> tuple[Record, NodePredictions | None]:
    """Run one spec; what goes wrong is a record with its reason, and no predictions.

    Parameters
    ----------
    spec
        What to run.
    device
        Where it is trained, such as ``cuda``.
    members
        Of an ensemble: the saved predictions of its members, in the order of ``spec.members``.
    """
    watch = Watch()
    made: dict[str, Any] = {}
    try:
        predictions = _combined(spec, members) if spec.members else _trained(spec, device, made)
        values = measure(predictions)
        made["findings"] = findings_of(values)
        status, reason = "done", ""
    except (Exception, MemoryError) as error:
        predictions, values, status, reason = None, {}, "failed", reason_of(error)
    made = {**made_with(), **made, "timing": watch.read()}
    return Record(spec, status, reason, values, made), predictions


def reason_of(error: BaseException) -> str:
    """Say in one line what went wrong.

    Examples
    --------
    >>> reason_of(ZeroDivisionError("division by zero"))
    'ZeroDivisionError: division by zero'
    >>> reason_of(MemoryError())
    'out of memory'
    """
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        text = f"out of memory{f' ({text})' if text else ''}"
    elif not isinstance(error, InputError | WorkerDiedError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return "".join(c if c.isprintable() else "�" for c in text)[:400]


def training_seed(spec: RunSpec) -> int:
    """Derive the seed that a method is fitted with: the same under both protocols."""
    where = spec.benchmark, spec.dataset, spec.setting
    return derive_seed(0, "train", *where, spec.use, spec.seed)


@lru_cache(maxsize=2)
def graph_of(dataset: str, steps: tuple[str, ...] = ()) -> Graph:
    """Get a data set by its slug, or make a planted graph, ``planted-<number of nodes>``."""
    if found := _PLANTED.fullmatch(dataset):
        return prepare(planted(int(found[1])).graph, *steps)
    return load(dataset, steps=steps)


@lru_cache(maxsize=8)
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
    """
    found = _SETTING.fullmatch(setting)
    name = found["shift"] if found else ""
    shift = _OTHER_NAMES.get(name, name)
    if not found or shift not in SHIFTS:
        known = ", ".join([*SHIFTS, *_OTHER_NAMES])
        raise InputError(
            f"setting: {setting!r} is no shift, such as density-50 (there are {known})"
        )
    ratio = int(found["ratio"] or 50)
    graph = graph_of(dataset, tuple(step for step in steps if not step.startswith("features-")))
    published = protocol == "published"
    if published and ratio == 50 and _has_published_parts(benchmark, dataset):
        return published_split(dataset, benchmark, name, graph=graph)
    walks: dict[str, Any] = {"protocol": "published"} if published and shift in _WALKS else {}
    rounding = benchmark if published and benchmark in ROUNDINGS else "nearest"
    seed = derive_seed(0, "split", benchmark, dataset, setting)
    return shift_split(graph, shift, ratio=ratio, rounding=rounding, seed=seed, **walks)


def _has_published_parts(benchmark: str, dataset: str) -> bool:
    """Tell whether the authors' own parts are known; not to find the folder at all is an error."""
    if benchmark not in _COLLECTIONS or _PLANTED.fullmatch(dataset):
        return False
    folder = own_folder()
    parts = folder and folder / "splits" / _COLLECTIONS[benchmark]
    if not parts or not parts.is_dir():
        where = f"{_COLLECTIONS[benchmark]} in the folder splits of GRAPHGAUGE_DATA"
        raise InputError(f"the protocol published takes the authors' parts: put {where}")
    return (parts / f"{dataset}.npz").is_file()


def _trained(spec: RunSpec, device: str, made: dict[str, Any]) -> NodePredictions:
    where = spec.benchmark, spec.dataset, spec.setting, spec.protocol
    split = split_of(*where, spec.steps)
    graph = graph_of(spec.dataset, spec.steps)
    seed = training_seed(spec)
    by = str(split.recipe.get("by", ""))
    made |= {
        "device": device,
        "seed": seed,
        "graph": graph.fingerprint,
        "split": hash_parts(split.parts),
    }
    made["split_by"] = by
    method = make_method(spec.use, spec.hyper, protocol=spec.protocol, device=device)
    with one_thread(), seeded(seed):
        predictor = method.fit(graph, split, seed=seed)
        predictions = predictor.predict(graph)
    if isinstance(predictor, Found):
        made["search"] = predictor.told()
    return replace(predictions, parts=split.parts, name=spec.label)


def _combined(spec: RunSpec, members: Sequence[Path]) -> NodePredictions:
    if len(members) != len(spec.members):
        raise InputError(f"{len(members)} of {len(spec.members)} members are given")
    loaded = [NodePredictions.load(path) for path in members]
    for one in loaded[1:]:
        if one.fingerprint != loaded[0].fingerprint:
            raise InputError(f"{one.name}: its nodes or parts are not those of {loaded[0].name}")
    made = combine(spec.use, loaded, protocol=spec.protocol)
    return replace(made, parts=loaded[0].parts, name=spec.label)


def measure(predictions: NodePredictions) -> Values:
    """Compute what is recorded: on ID and OOD test nodes and on both, as fractions.

    Nodes without a label are left out. Detection and selective prediction are measured on both;
    ``auroc`` goes by the uncertainty about the model where there is one, as the papers do.

    Examples
    --------
    >>> made = NodePredictions([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5]], [0, 1, 1],
    ...                        parts={"test_in": [0, 1], "test_out": [2]})
    >>> values = measure(made)
    >>> values["ID"]["accuracy"], values["OOD"]["accuracy"], values["all"]["auroc"]
    (1.0, 0.0, 1.0)
    """
    known, parts = predictions.known, predictions.parts
    values: dict[str, dict[str, float]] = {}
    for part, names in _PARTS.items():
        pieces = [parts[name][known[parts[name]]] for name in names if name in parts]
        index = np.concatenate(pieces) if pieces else np.empty(0, np.int64)
        if len(index):
            outcomes = Outcomes.of_nodes(predictions.probs[index], predictions.labels[index])
            values[part] = {name: metric(name)(outcomes) for name in _OUTCOMES}
            if part == "all":
                values[part] |= _uncertain(predictions, index, ~outcomes.correct)
    if not values:
        raise InputError("there are no labelled test nodes to measure on")
    return values


def _uncertain(
    predictions: NodePredictions, index: IntArray, error: FloatArray | Any
) -> dict[str, float]:
    """Measure rejection and detection by the uncertainties there are."""
    given = predictions.uncertainties
    total = given["total"] if "total" in given else _entropy(predictions)
    knowledge = given.get("knowledge", total)
    found = {"prr_tu": metric("prr")(total[index], error)}
    found["auprc_tu"] = metric("auprc")(total[index], error) / 100
    if "test_out" in predictions.parts and "test_in" in predictions.parts:
        out = np.isin(index, predictions.parts["test_out"])
        card = metric("auroc")
        found["auroc_tu"], found["auroc_ku"] = card(total[index], out), card(knowledge[index], out)
        found["auroc"] = found["auroc_ku"]
    return found


def _entropy(predictions: NodePredictions) -> FloatArray:
    from graphgauge.uncertainty import Uncertainty

    return Uncertainty.from_softmax(predictions.probs).total


def findings_of(values: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Hold numbers against each other: AUPRC = accuracy + PRR·accuracy·(1 − accuracy).

    Examples
    --------
    >>> findings_of({"all": {"accuracy": 0.8, "prr_tu": 0.5, "auprc_tu": 0.88}})
    []
    >>> findings_of({"all": {"accuracy": 0.8, "prr_tu": 0.5, "auprc_tu": 0.9}})
    ['auprc_tu is 0.90000, accuracy and prr_tu make 0.88000']
    """
    found = values.get("all", {})
    if "prr_tu" not in found or np.isnan(found["prr_tu"]):
        return []
    accuracy = found["accuracy"]
    expected = accuracy + found["prr_tu"] * accuracy * (1 - accuracy)
    if abs(found["auprc_tu"] - expected) <= _IDENTITY_HOLDS:
        return []
    told = f"auprc_tu is {found['auprc_tu']:.5f}, accuracy and prr_tu make {expected:.5f}"
    return [told]
