"""Score a file of predictions: everything measured, audited, gated and judged."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from graphgauge.audit import Finding, audit
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.metrics import Metric, Ranks
from graphgauge.metrics.calibration import BIN_ACCURACY
from graphgauge.predictions import LinkPredictions, NodePredictions
from graphgauge.roles import Role, role_of
from graphgauge.scoring.breakdown import (
    by_group,
    rejection_curves,
    reliability_curves,
    uncertainty_shares,
)
from graphgauge.scoring.card import Gate, Measured, Options, Scorecard, Status, Verdict, joined_id
from graphgauge.scoring.gates import check_gates
from graphgauge.scoring.links import link_figures, link_metrics, link_parts
from graphgauge.scoring.measure import detection, measure_part, part_bands
from graphgauge.scoring.nodes import NodeItems, plan
from graphgauge.scoring.verdict import RULES, verdict

__all__ = [
    "RULES",
    "Gate",
    "Measured",
    "Options",
    "Scorecard",
    "Status",
    "Verdict",
    "score",
]

METRICS_VERSION = "1"
_BINS = 15

Tell = Callable[[str], None]


def score(
    predictions: NodePredictions | LinkPredictions,
    options: Options | None = None,
    *,
    graph: Graph | None = None,
    tell: Tell = lambda stage: None,
) -> Scorecard:
    """Measure, audit, gate and judge predictions.

    Parameters
    ----------
    predictions
        Of nodes or links.
    options
        What to compute; see `Options`.
    graph
        The graph with features the model saw, for the audit.
    tell
        Called with the name of each stage as it begins.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probs = rng.dirichlet(np.ones(3), 500)
    >>> labels = (probs.cumsum(axis=1) < rng.random((500, 1))).sum(axis=1)
    >>> card = score(NodePredictions(probs, labels), Options(n_resamples=0))
    >>> card.find("ece").null, str(card.verdict.status)
    ('inside', 'good')
    """
    options = options or Options()
    start = time.perf_counter()
    tell("auditing")
    findings = tuple(audit(predictions, graph=graph))
    if isinstance(predictions, NodePredictions):
        found = _score_nodes(predictions, options, tell)
    else:
        found = _score_links(predictions, options, tell)
    return _finished(found, findings, options, predictions, time.perf_counter() - start)


def _finished(
    found: dict[str, Any],
    findings: tuple[Finding, ...],
    options: Options,
    predictions: NodePredictions | LinkPredictions,
    seconds: float,
) -> Scorecard:
    metrics: tuple[Measured, ...] = tuple(row for row, _ in found["rows"])
    judged: tuple[str, ...] = found["judged"]
    gates = check_gates(options.gates, metrics, judged[0])
    protocol = {
        "data": predictions.fingerprint[:16],
        "name": options.protocol,
        "metrics": METRICS_VERSION,
        "labels": ";".join(dict.fromkeys(row.name for row in metrics)),
    }
    return Scorecard(
        kind=found["kind"],
        name=predictions.name or "predictions",
        counts=found["counts"],
        protocol={"id": joined_id(protocol), **protocol},
        judged=judged,
        metrics=metrics,
        definitions={row.name: card for row, card in found["rows"]},
        findings=findings,
        gates=gates,
        groups=tuple(found.get("groups", ())),
        figures=found["figures"],
        verdict=verdict(metrics, findings, gates, judged, n_draws=options.n_draws),
        made=_made(options, seconds),
    )


def _score_nodes(predictions: NodePredictions, options: Options, tell: Tell) -> dict[str, Any]:
    items = NodeItems(predictions, options.protocol)
    asked = plan(items, options)
    judged = _judged(list(items.parts), options.parts)
    rows: list[tuple[Measured, Metric]] = []
    figures: dict[str, list[dict[str, Any]]] = {"reliability": [], "rejection": []}
    for part in items.parts:
        tell(f"measuring {part}")
        chosen = items.select(part)
        shown = part in judged
        extra = (
            [BIN_ACCURACY.bind(bin=b, closed=items.closed) for b in range(_BINS)] if shown else []
        )
        bands = part_bands(items, asked, chosen, extra, options)
        rows += measure_part(items, asked, chosen, options, bands)
        if shown:
            figures["reliability"] += reliability_curves(items, chosen, bands)
            figures["rejection"].append(rejection_curves(items, chosen))
    rows += detection(items, asked, options)
    figures["uncertainty"] = list(uncertainty_shares(items))
    tell("grouping")
    groups = list(by_group(items, items.select(judged[0]), options.groups))
    counts = {
        "nodes": predictions.n_nodes,
        "classes": predictions.n_classes,
        "edges": None if items.edges is None else len(items.edges),
        "labelled": int(predictions.known.sum()),
        "parts": {name: len(index) for name, index in items.parts.items()},
    }
    return {
        "kind": "nodes",
        "counts": counts,
        "judged": judged,
        "rows": rows,
        "groups": groups,
        "figures": figures,
    }


def _score_links(predictions: LinkPredictions, options: Options, tell: Tell) -> dict[str, Any]:
    if options.groups:
        raise InputError("groups are for predictions of nodes, these are of links")
    tell("ranking")
    ranks = Ranks.of(predictions.pos, predictions.neg)
    parts = link_parts(predictions)
    tell("measuring")
    return {
        "kind": "links",
        "counts": {
            "positives": len(predictions.pos),
            "negatives": predictions.n_negatives,
            "shared": predictions.shared,
            "parts": {name: len(index) for name, index in parts.items()},
        },
        "judged": _judged(list(parts), options.parts),
        "rows": list(link_metrics(predictions, ranks, options)),
        "figures": link_figures(predictions, ranks),
    }


def _judged(parts: Sequence[str], asked: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts the verdict speaks of, the headline first."""
    for name in asked:
        if name not in parts:
            raise InputError(f"no part {name!r} (parts: {', '.join(parts)})")
    if asked:
        return asked
    tests = [name for name in parts if role_of(name) is Role.TEST]
    found = sorted(tests, key=lambda name: name != "test") or list(parts)[-1:]
    return tuple(found)


def _made(options: Options, seconds: float) -> dict[str, Any]:
    return {
        "graphgauge": version("graphgauge"),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "seed": options.seed,
        "draws": options.n_draws,
        "resamples": options.n_resamples,
        "interval_level": 0.95,
        "band_level": 0.9,
        "seconds": round(seconds, 2),
    }
