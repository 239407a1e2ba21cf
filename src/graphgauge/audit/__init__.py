"""Look at predictions before judging them: leaks, copies, ties and other flaws, with offenders."""

from __future__ import annotations

import itertools

import numpy.typing as npt

from graphgauge.audit.edges import edge_findings
from graphgauge.audit.features import feature_findings
from graphgauge.audit.findings import CHECKS, Check, Finding, Severity, in_order
from graphgauge.audit.links import Links, link_findings
from graphgauge.audit.outputs import output_findings
from graphgauge.audit.parts import audit_parts, class_findings, label_findings
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.predictions import LinkPredictions, NodePredictions

__all__ = ["CHECKS", "Check", "Finding", "Severity", "audit", "audit_parts"]


def audit(
    predictions: NodePredictions | LinkPredictions,
    *,
    graph: Graph | None = None,
    valid_edges: npt.ArrayLike | None = None,
) -> list[Finding]:
    """Look for what would make a score misleading; clean predictions give notes at most.

    Parts whose name starts with ``train``, ``val`` or ``test`` are taken for that purpose.

    Parameters
    ----------
    predictions
        What is to be judged.
    graph
        For nodes: the graph with features and labels. For links: the graph that the model saw.
    valid_edges
        Validation edges ``[e, 2]`` that belong neither in the graph nor among the negatives; for
        links only.

    Returns
    -------
    list of Finding
        The gravest first, then by code. `CHECKS` lists all codes.

    Examples
    --------
    >>> predictions = NodePredictions([[1.0, 0.0], [0.2, 0.8]], [1, 1])
    >>> for finding in audit(predictions):
    ...     print(finding.severity, finding.code, finding.offenders)
    warning impossible-truth [0]
    note class-unused [0]
    note saturated [0]
    """
    if isinstance(predictions, LinkPredictions):
        return in_order(link_findings(Links.of(predictions, graph, valid_edges)))
    if valid_edges is not None:
        raise InputError("valid_edges: only predictions of links have them")
    return in_order(
        itertools.chain(
            edge_findings(predictions, graph),
            label_findings(predictions, graph),
            class_findings(predictions),
            output_findings(predictions),
            feature_findings(predictions, graph),
        )
    )
