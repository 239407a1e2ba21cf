"""One run from its spec to its record: the one place that knows every stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphgauge.catalogue import make_method
from graphgauge.errors import InputError
from graphgauge.measures import findings_of, measure
from graphgauge.methods.ensembles import combine
from graphgauge.methods.search import Found
from graphgauge.predictions import NodePredictions
from graphgauge.processes import WorkerDiedError
from graphgauge.provenance import Watch, hash_parts, made_with, one_thread, seeded
from graphgauge.records import Record, RunSpec, derive_seed
from graphgauge.setting import graph_of, split_of

__all__ = ["execute", "training_seed"]


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
        values = measure(predictions, spec.measures, protocol=spec.protocol)
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


def _trained(spec: RunSpec, device: str, made: dict[str, Any]) -> NodePredictions:
    where = spec.benchmark, spec.dataset, spec.split or spec.setting, spec.protocol
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
    if "edges" in spec.measures and predictions.edges is None:
        predictions = replace(predictions, edges=graph.edges)
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
