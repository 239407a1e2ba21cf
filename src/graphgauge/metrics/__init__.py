"""Metrics: cards on pure functions, one table for all of them.

A label is a definition: ``ece(bins=15)``, ``hits(k=20,ties=mean)``. On edges, the same metrics
carry a prefix: ``edge_`` (all edges), ``agree_`` and ``disagree_`` (edges whose ends share, or do
not share, their true class). Another uncertainty than the main one is a prefix too:
``knowledge_auroc(positive=ood)``.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from graphgauge.errors import InputError
from graphgauge.metrics import calibration, edgewise, ood, proper, ranking, selective, smooth
from graphgauge.metrics.metric import Direction, Metric, Needs, split_spec
from graphgauge.metrics.outcomes import Outcomes
from graphgauge.metrics.ranks import Ranks

__all__ = [
    "METRICS",
    "Direction",
    "Metric",
    "Needs",
    "Outcomes",
    "Ranks",
    "metric",
    "split_spec",
]

_MODULES = (proper, calibration, smooth, edgewise, selective, ood, ranking)

METRICS: Mapping[str, Metric] = MappingProxyType(
    {card.name: card for module in _MODULES for card in module.CARDS}
)
"""Every metric by its bare name."""


def metric(label: str) -> Metric:
    """Return the metric a label names, with its parameters bound.

    Examples
    --------
    >>> metric("ece(bins=20)").label
    'ece(bins=20)'
    >>> metric("eec")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: unknown metric 'eec', did you mean 'ece'?
    """
    name, params = split_spec(label)
    if name not in METRICS:
        close = difflib.get_close_matches(name, METRICS, n=1)
        hint = f", did you mean {close[0]!r}?" if close else "; `graphgauge metrics` lists them"
        raise InputError(f"unknown metric {name!r}{hint}")
    return METRICS[name].bind(**params)
