"""One run from its spec to its record: the one place that knows every stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from graphgauge.catalogue import make_calibrator, make_method
from graphgauge.errors import InputError
from graphgauge.measures import findings_of, measure
from graphgauge.methods.ensembles import COMBINATIONS, combine
from graphgauge.methods.search import Found
from graphgauge.metrics import Outcomes
from graphgauge.predictions import NodePredictions
from graphgauge.processes import WorkerDiedError
from graphgauge.provenance import Watch, hash_parts, made_with, one_thread, seeded
from graphgauge.records import Record, RunSpec, derive_seed
from graphgauge.roles import Role, items_of
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
        Of an ensemble, or of what is calibrated: the saved predictions of what it is made of, in
        the order of ``spec.members``.
    """
    watch = Watch()
    made: dict[str, Any] = {}
    try:
        if spec.members:
            predictions, tested = _derived(spec, members)
        else:
            predictions, tested = _trained(spec, device, made), None
        values = measure(predictions, spec.measures, protocol=spec.protocol, tested=tested)
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


def _derived(spec: RunSpec, members: Sequence[Path]) -> tuple[NodePredictions, Outcomes | None]:
    if len(members) != len(spec.members):
        raise InputError(f"{len(members)} of {len(spec.members)} members are given")
    loaded = [NodePredictions.load(path) for path in members]
    for one in loaded[1:]:
        if one.fingerprint != loaded[0].fingerprint:
            raise InputError(f"{one.name}: its nodes or parts are not those of {loaded[0].name}")
    if spec.use in COMBINATIONS:
        made, tested = combine(spec.use, loaded, protocol=spec.protocol), None
    else:
        made, tested = _calibrated(spec, loaded[0])
    return replace(made, parts=loaded[0].parts, name=spec.label), tested


def _calibrated(spec: RunSpec, given: NodePredictions) -> tuple[NodePredictions, Outcomes | None]:
    """Calibrate on validation nodes in distribution, where methods are chosen too.

    Calibrators of single classes give values that do not sum to one, which `NodePredictions` do.
    The paper measured them as they are: so does the protocol ``published``.
    """
    part = next((name for name in ("valid_in", "valid") if name in given.parts), None)
    if part is None:
        raise InputError("there are no validation nodes to calibrate on")
    calibrator = make_calibrator(spec.use)
    with one_thread(), seeded(training_seed(spec)):
        fitted = calibrator.fit(given, part)
        made: NodePredictions = fitted(given)
    if spec.protocol != "published" or not hasattr(fitted, "outcomes"):
        return made, None
    test = items_of(given.parts, Role.TEST)
    return made, fitted.outcomes(replace(given, parts={"test": test}), "test")
