"""From numbers to a verdict in words, by rules that are the same for everybody.

- *bad*: a gate failed, the audit found an error, or the calibration error of the nodes lies more
  than five points above its null band and more than chance explains.
- *caution*: the audit found something that distorts a number, a calibration error is larger than
  chance explains, ties move a ranking by more than a point, or a shift costs more than ten points
  of accuracy.
- *good*: none of these.

Chance explains a calibration error unless fewer than one in twenty calibrated models would show so
large a one, counting all the errors looked at (Holm's correction over the nodes and edges of the
first judged part and the nodes of the others).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from graphgauge.audit import Finding, Severity
from graphgauge.scoring.card import WHOLE, Gate, Measured, Status, Verdict, find
from graphgauge.stats import holm

__all__ = ["RULES", "verdict"]

RULES = " ".join(line.strip(" -") for line in (__doc__ or "").splitlines()[2:])

_LEVEL = 0.05
_FAR_ABOVE = 0.05
_SPREAD = 0.01
_DROP = 0.1
_SCOPES = {
    "": "nodes",
    "edge_": "edges",
    "agree_": "agreeing edges",
    "disagree_": "disagreeing edges",
}
# What is said of an error that chance explains, by where it lies to its null band.
_EXPECTED = {
    "below": "less than a calibrated model would show",
    "inside": "as a calibrated model might show",
    "above": "hardly more than a calibrated model would show",
}
_ORDER = (Status.BAD, Status.CAUTION, Status.GOOD)


def verdict(
    metrics: tuple[Measured, ...],
    findings: Sequence[Finding],
    gates: Sequence[Gate],
    judged: Sequence[str],
    *,
    n_draws: int = 200,
) -> Verdict:
    """Judge the numbers of the judged parts, whose null bands rest on `n_draws` redraws.

    Examples
    --------
    >>> row = Measured("ece(bins=15)", "test", 0.02, 900, "lower", null_low=0.01, null_high=0.03,
    ...                null_p=0.4)
    >>> print(verdict((row,), (), (), ("test",)).status)
    good
    """
    reasons = [
        *_of_gates(gates),
        *_of_findings(findings),
        *_of_calibration(metrics, judged, n_draws),
        *_of_ties(metrics, judged[0]),
        *_of_shift(metrics),
    ]
    reasons.sort(key=lambda reason: _ORDER.index(reason[0]))
    status = reasons[0][0] if reasons else Status.GOOD
    return Verdict(status, _headline(status, metrics, judged[0], gates), tuple(reasons))


def _headline(
    status: Status, metrics: tuple[Measured, ...], part: str, gates: Sequence[Gate]
) -> str:
    opening = {
        Status.GOOD: "Nothing speaks against these predictions",
        Status.CAUTION: "Use with care",
        Status.BAD: "Do not rely on these predictions as they are",
    }[status]
    if any(not gate.passed for gate in gates):
        n = sum(not gate.passed for gate in gates)
        opening = f"{n} of {len(gates)} gates failed" if len(gates) > 1 else "The gate failed"
    accuracy, mrr = find(metrics, "accuracy", part), find(metrics, "mrr", part)
    ece = find(metrics, "ece", part)
    if accuracy is not None:
        nodes = "nodes" if part == WHOLE else f"{part} nodes"
        told = f"{_percent(accuracy.value)} of {accuracy.n:,} {nodes} are right"
        if ece is not None and ece.null is not None:
            told += f"; confidence {_fits(ece)}"
        return f"{opening}: {told}."
    if mrr is not None:
        return f"{opening}: MRR {mrr.value:.3f} over {mrr.n:,} positives."
    return f"{opening}."


def _fits(ece: Measured) -> str:
    if ece.null == "above":
        return f"is off by {_percent(ece.value)} on average, more than chance explains"
    return "agrees with what happened, as far as so many nodes can tell"


def _of_gates(gates: Sequence[Gate]) -> Iterator[tuple[Status, str]]:
    for gate in gates:
        status = Status.GOOD if gate.passed else Status.BAD
        held = "holds" if gate.passed else "fails"
        yield status, f"Gate {gate.gate} {held}: {gate.name} is {gate.value:.4g} on {gate.part}."


def _of_findings(findings: Sequence[Finding]) -> Iterator[tuple[Status, str]]:
    for finding in findings:
        if finding.severity is Severity.ERROR:
            yield Status.BAD, finding.message
        elif finding.severity is Severity.WARNING:
            yield Status.CAUTION, finding.message


def _of_calibration(
    metrics: tuple[Measured, ...], judged: Sequence[str], n_draws: int
) -> Iterator[tuple[Status, str]]:
    rows = [
        (scope, row) for scope, row in _calibration_rows(metrics, judged) if row.null and row.null_p
    ]
    adjusted = holm(np.array([row.null_p for _, row in rows], np.float64))
    for (scope, row), p in zip(rows, adjusted, strict=True):
        low, high = f"{100 * (row.null_low or 0.0):.1f}", _percent(row.null_high or 0.0)
        told = f"ECE of the {scope} of {row.part} is {_percent(row.value)}"
        if p <= _reachable(n_draws, len(rows)):
            far = scope == "nodes" and row.value - (row.null_high or 0.0) > _FAR_ABOVE
            status = Status.BAD if far else Status.CAUTION
            yield status, f"{told}; a calibrated model would show {low}\u2013{high}."
        else:
            yield Status.GOOD, f"{told}, {_EXPECTED[row.null or 'inside']} ({low}\u2013{high})."


def _reachable(n_draws: int, n_looks: int) -> float:
    """Return the level, or with few draws the smallest corrected p-value there can be.

    An error above every one of the draws must count, however few they are.
    """
    return max(_LEVEL, n_looks / (n_draws + 1))


def _calibration_rows(
    metrics: tuple[Measured, ...], judged: Sequence[str]
) -> Iterator[tuple[str, Measured]]:
    """Yield the ECEs that are judged: every scope of the first part, the nodes of the others."""
    for part in judged:
        for prefix, scope in _SCOPES.items() if part == judged[0] else [("", "nodes")]:
            row = find(metrics, f"{prefix}ece", part)
            if row is not None:
                yield scope, row


def _of_ties(metrics: tuple[Measured, ...], part: str) -> Iterator[tuple[Status, str]]:
    for name in ("mrr_spread", "hits_spread"):
        row = find(metrics, name, part)
        if row is not None and row.value > _SPREAD:
            points = f"{100 * row.value:.1f} points"
            metric = "MRR" if name == "mrr_spread" else "Hits@10"
            yield Status.CAUTION, f"{metric} moves by {points} with how ties are broken."


def _of_shift(metrics: tuple[Measured, ...]) -> Iterator[tuple[Status, str]]:
    rows = {row.part: row for row in metrics if row.name == "accuracy"}
    for inside, outside in (("test_in", "test_out"), ("test_id", "test_ood")):
        if inside in rows and outside in rows:
            drop = rows[inside].value - rows[outside].value
            status = Status.CAUTION if drop > _DROP else Status.GOOD
            verb = "loses" if drop >= 0 else "gains"
            yield (
                status,
                (f"Accuracy {verb} {100 * abs(drop):.1f} points from {inside} to {outside}."),
            )


def _percent(value: float) -> str:
    return f"{100 * value:.1f}\u00a0%"  # the sign never stands alone on a line
