"""Findings about parts and labels: overlaps, unknown labels, absent classes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import numpy as np

from graphgauge.archive import open_npz
from graphgauge.arrays import BoolArray, IntArray, integers
from graphgauge.audit.findings import Finding, found, in_order, number, portion
from graphgauge.errors import InputError, name_rows
from graphgauge.graph import Graph
from graphgauge.predictions import NodePredictions
from graphgauge.roles import Role, items_of, parts_of

__all__ = ["audit_parts", "audit_stored_parts", "class_findings", "label_findings"]


def audit_parts(parts: Mapping[str, object], n_items: int) -> list[Finding]:
    """Look for items in two parts, or named twice by one: what predictions and splits refuse.

    Parameters
    ----------
    parts
        Name to the numbers of the part's items, or to a mask over all items.
    n_items
        How many items there are.

    Examples
    --------
    >>> [finding] = audit_parts({"train": [0, 1, 2], "test": [2, 3]}, 4)
    >>> finding.code, finding.offenders
    ('parts-overlap', array([2], dtype=int32))
    """
    indices = {name: _indices(name, value, n_items) for name, value in parts.items()}
    findings = [_repeats(name, index, n_items) for name, index in indices.items()]
    findings.append(_overlap(indices, n_items))
    return in_order(finding for finding in findings if finding is not None)


def audit_stored_parts(path: str | os.PathLike[str]) -> list[Finding]:
    """Look at the parts of a file before it is read as predictions, which refuse an overlap.

    A file without parts, or that cannot be read, gives nothing: reading it says what is wrong.
    """
    try:
        stored = open_npz(path)
        items = next(stored[key] for key in ("labels", "probs", "pos") if key in stored)
        parts = {
            name.removeprefix("part_"): array.read()
            for name, array in stored.items()
            if name.startswith("part_")
        }
        return audit_parts(parts, len(items)) if items.ndim else []
    except (InputError, StopIteration):
        return []


def _indices(name: str, value: object, n_items: int) -> IntArray:
    array = np.asarray(value)
    if array.dtype == bool:
        if array.shape != (n_items,):
            raise InputError(f"part {name}: the mask has shape {array.shape}, not ({n_items},)")
        return np.flatnonzero(array)
    index = integers(f"part {name}", array, ndim=1) if array.size else np.empty(0, np.int64)
    outside = index[(index < 0) | (index >= n_items)]
    if len(outside):
        raise InputError(
            f"part {name} names items outside 0..{n_items - 1} ({name_rows(np.unique(outside))})"
        )
    return index


def _repeats(name: str, index: IntArray, n_items: int) -> Finding | None:
    counts = np.bincount(index, minlength=n_items)
    twice = counts > 1
    if not twice.any():
        return None
    named = portion(int(twice.sum()), int((counts > 0).sum()), "item")
    message = f"part {name} names {named} more than once, so they count more than once"
    return found("part-repeats", message, items="items", offenders=twice, of=n_items)


def _overlap(indices: Mapping[str, IntArray], n_items: int) -> Finding | None:
    members = {name: np.unique(index) for name, index in indices.items()}
    counts = np.zeros(n_items, np.int64)
    for index in members.values():
        counts[index] += 1
    shared = counts > 1
    n = int(shared.sum())
    if not n:
        return None
    names = [name for name, index in members.items() if shared[index].any()]
    message = (
        f"{number(n, 'item is', 'items are')} in more than one of the parts {', '.join(names)}: "
    )
    message += "scores on one part are partly scores on another"
    return found("parts-overlap", message, items="items", offenders=shared, of=n_items)


def label_findings(predictions: NodePredictions, graph: Graph | None) -> Iterator[Finding]:
    """Report labels that are unknown in a part, or contradict the graph's."""
    for name, index in predictions.parts.items():
        unknown = index[~predictions.known[index]]
        if len(unknown):
            nodes = portion(len(unknown), len(index), f"{name} node")
            message = f"{nodes} have no label and are left out of every metric"
            yield found("labels-unknown", message, items="nodes", offenders=unknown, of=len(index))
    if graph is not None and graph.labels is not None:
        both = predictions.known & (graph.labels >= 0)
        differ = both & (predictions.labels != graph.labels)
        if differ.any():
            nodes = portion(int(differ.sum()), int(both.sum()), "node")
            message = f"{nodes} have another label in the graph: the rows may be in another order"
            yield found(
                "labels-differ", message, items="nodes", offenders=differ, of=int(both.sum())
            )


def class_findings(predictions: NodePredictions) -> Iterator[Finding]:
    """Report classes nobody has, and classes absent from a part that has labels at all."""
    n_classes = predictions.n_classes
    counts = _count_classes(predictions, np.arange(predictions.n_nodes))
    unused = counts == 0
    if unused.any() and counts.any():
        message = f"{_name_classes(unused)} no known label: left out of per-class means"
        yield found("class-unused", message, items="classes", offenders=unused, of=n_classes)
    train = items_of(predictions.parts, Role.TRAIN)
    absent = _absent(predictions, train, unused)
    if absent.any():
        message = f"{_name_classes(absent)} no training node: nothing to learn from"
        yield found("class-absent-train", message, items="classes", offenders=absent, of=n_classes)
    for name, index in predictions.parts.items():
        absent = _absent(predictions, index, unused)
        if name not in parts_of(predictions.parts, Role.TRAIN) and absent.any():
            message = f"{_name_classes(absent)} no labelled node in {name}: "
            message += "left out of per-class means"
            yield found("class-absent", message, items="classes", offenders=absent, of=n_classes)


def _count_classes(predictions: NodePredictions, index: IntArray) -> IntArray:
    labels = predictions.labels[index]
    return np.bincount(labels[labels >= 0], minlength=predictions.n_classes)


def _absent(predictions: NodePredictions, index: IntArray, unused: BoolArray) -> BoolArray:
    """Mark classes in use that a part lacks; none if the part has no labels to tell by."""
    counts = _count_classes(predictions, index)
    return np.asarray((counts == 0) & ~unused & counts.any())


def _name_classes(mask: BoolArray) -> str:
    classes = np.flatnonzero(mask)
    named = ", ".join(map(str, classes[:5])) + (" …" if len(classes) > 5 else "")
    one = f"class {named} has"
    return one if len(classes) == 1 else f"{len(classes)} classes ({named}) have"
