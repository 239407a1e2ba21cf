"""From scorecards to a plain dictionary: what `--json` writes and the page is made from."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from graphgauge.audit import Finding
from graphgauge.metrics import Metric
from graphgauge.scoring import Measured, Scorecard
from graphgauge.scoring.comparison import Compared

__all__ = [
    "SCHEMA",
    "SCHEMA_MANY",
    "definition_dict",
    "finding_dict",
    "plain_values",
    "summarize",
    "summarize_many",
    "to_json",
]

SCHEMA = "graphgauge.score/1"
SCHEMA_MANY = "graphgauge.scores/1"
_OFFENDERS = 20


def summarize(card: Scorecard) -> dict[str, Any]:
    """Return a scorecard as plain values; what is not finite becomes None.

    Examples
    --------
    >>> from graphgauge.predictions import NodePredictions
    >>> from graphgauge.scoring import Options, score
    >>> card = score(NodePredictions([[0.9, 0.1]], [0]), Options(n_draws=0, n_resamples=0))
    >>> sorted(summarize(card))[:6]
    ['counts', 'definitions', 'figures', 'findings', 'gates', 'groups']
    """
    document = {
        "schema": SCHEMA,
        "kind": card.kind,
        "name": card.name,
        "made": dict(card.made),
        "counts": dict(card.counts),
        "protocol": dict(card.protocol),
        "judged": list(card.judged),
        "metrics": [_row(row) for row in card.metrics],
        "definitions": {name: definition_dict(metric) for name, metric in card.definitions.items()},
        "findings": [finding_dict(finding) for finding in card.findings],
        "gates": [{**asdict(gate), "infinite": math.isinf(gate.value)} for gate in card.gates],
        "groups": [dict(group) for group in card.groups],
        "figures": dict(card.figures),
        "verdict": {
            "status": str(card.verdict.status),
            "headline": card.verdict.headline,
            "reasons": [{"status": str(s), "text": text} for s, text in card.verdict.reasons],
        },
    }
    plain: dict[str, Any] = plain_values(document)
    return plain


def summarize_many(cards: Sequence[Scorecard], compared: Sequence[Compared]) -> dict[str, Any]:
    """Return several scorecards and how they compare as plain values."""
    rows = [
        {
            "first": c.found.first,
            "second": c.found.second,
            "metric": c.metric,
            "part": c.part,
            "difference": c.found.difference,
            "low": c.found.low,
            "high": c.found.high,
            "p": c.found.p,
            "p_holm": c.found.p_holm,
            "verdict": str(c.found.verdict),
            "n": c.found.n,
            "n_differ": c.found.n_differ,
        }
        for c in compared
    ]
    scores = [summarize(card) for card in cards]
    return {"schema": SCHEMA_MANY, "scores": scores, "comparisons": plain_values(rows)}


def to_json(document: dict[str, Any]) -> str:
    """Write a document as JSON that any parser reads."""
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def finding_dict(finding: Finding, *, most: int | None = _OFFENDERS) -> dict[str, Any]:
    """Return a finding as plain values, with the first of its offenders (None: with all)."""
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "message": finding.message,
        "n": finding.n,
        "share": finding.share,
        "items": finding.items,
        "offenders": finding.offenders[:most].tolist(),
    }


def _row(row: Measured) -> dict[str, Any]:
    return {
        "name": row.name,
        "part": row.part,
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "null_low": row.null_low,
        "null_high": row.null_high,
        "n": row.n,
        "block_low": row.block_low,
        "block_high": row.block_high,
        "null": row.null,
        "null_p": row.null_p,
        "infinite": math.isinf(row.value),
        "direction": row.direction,
    }


def definition_dict(metric: Metric) -> dict[str, Any]:
    """Return the facts of a metric as plain values."""
    return {
        "definition": metric.definition,
        "direction": str(metric.direction),
        "low": str(metric.low) if math.isinf(metric.low) else metric.low,
        "high": str(metric.high) if math.isinf(metric.high) else metric.high,
        "chance": metric.chance,
        "reference": metric.reference,
    }


def plain_values(value: Any) -> Any:
    """Turn NumPy scalars into Python's, and what is not finite into None.

    Examples
    --------
    >>> plain_values({"a": (np.float64(0.5), float("nan"))})
    {'a': [0.5, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain_values(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
