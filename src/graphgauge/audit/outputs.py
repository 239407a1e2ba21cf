"""Findings about probabilities and uncertainties, told from the numbers alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.audit.findings import Finding, found, number, portion
from graphgauge.audit.keys import tied
from graphgauge.predictions import NodePredictions

__all__ = ["output_findings"]

# What the log score and every float32 softmax take for certain.
_SATURATED = 1 - 1e-6
# As if one node in a hundred shared one value; chance meetings of single precision are far rarer.
_TIED_PAIRS = 1e-4
_BLOCK = 8192


def output_findings(predictions: NodePredictions) -> Iterator[Finding]:
    """Report outputs that are constant, saturated, impossible or tied, among the judged nodes.

    Judged are the nodes in any part, or all nodes where there are no parts.
    """
    judged = _judged(predictions)
    confidence = predictions.probs.max(axis=1)[judged]
    yield from _constant(predictions, judged)
    yield from _extreme(predictions, judged, confidence)
    yield from _tied("confidence", judged, confidence)
    for name, values in predictions.uncertainties.items():
        yield from _tied(f"{name} uncertainty", judged, values[judged])


def _judged(predictions: NodePredictions) -> IntArray:
    if not predictions.parts:
        return np.arange(predictions.n_nodes)
    return np.sort(np.concatenate(list(predictions.parts.values())))


def _constant(predictions: NodePredictions, judged: IntArray) -> Iterator[Finding]:
    """One class for all is a flaw only where the labels know several."""
    probs, n = predictions.probs, len(judged)
    if n > 1 and _all_equal(probs, judged):
        message = f"all {n} nodes have the same probabilities: the model tells no node from another"
        yield found("constant-predictions", message, items="nodes", offenders=judged, of=n)
        return
    labels = predictions.labels[judged]
    several = len(np.unique(labels[labels >= 0])) > 1
    predicted = probs.argmax(axis=1)[judged]
    if several and (predicted == predicted[0]).all():
        message = f"class {predicted[0]} is predicted for all {n} nodes: accuracy is its frequency"
        yield found("one-class-predicted", message, items="nodes", offenders=judged, of=n)


def _all_equal(probs: FloatArray, rows: IntArray) -> bool:
    blocks = (rows[i : i + _BLOCK] for i in range(0, len(rows), _BLOCK))
    return all((probs[block] == probs[rows[0]]).all() for block in blocks)


def _extreme(
    predictions: NodePredictions, judged: IntArray, confidence: FloatArray
) -> Iterator[Finding]:
    saturated = judged[confidence.astype(np.float64) >= _SATURATED]
    if len(saturated):
        nodes = portion(len(saturated), len(judged), "node")
        message = f"{nodes} are predicted with confidence 1 but for a millionth: "
        message += "a single wrong one among them dominates the log score"
        yield found("saturated", message, items="nodes", offenders=saturated, of=len(judged))
    known = judged[predictions.known[judged]]
    impossible = known[predictions.probs[known, predictions.labels[known]] == 0]
    if len(impossible):
        nodes = portion(len(impossible), len(known), "node")
        message = f"{nodes} have a true label of probability zero: the log score is infinite"
        yield found("impossible-truth", message, items="nodes", offenders=impossible, of=len(known))


def _tied(name: str, judged: IntArray, values: FloatArray) -> Iterator[Finding]:
    sizes = np.unique(values, return_counts=True)[1].astype(np.float64)
    if (sizes[sizes > 1] ** 2).sum() >= _TIED_PAIRS * len(values) ** 2 and (sizes > 1).any():
        mask = tied(values)
        nodes = portion(int(mask.sum()), len(values), "node")
        n_distinct = number(len(sizes), "value")
        message = f"{nodes} share their {name} with another ({n_distinct} in all): "
        message += "curves and rankings by it hang on the tie rule"
        offenders = judged[mask]
        yield found(
            "tied-uncertainties", message, items="nodes", offenders=offenders, of=len(values)
        )
