"""One score as the page shows it: all tables and figures, chosen and drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from graphgauge.report import figures
from graphgauge.report.cuts import Cut, Desk
from graphgauge.report.figures import Figure
from graphgauge.report.reliability import reliability
from graphgauge.report.rows import Values, groupings, judged_parts, tables, ties

__all__ = ["Section", "section"]

_SEVERITIES = ("error", "warning", "note")
_SCOPES = ("node", "edge", "agree", "disagree")


@dataclass(frozen=True)
class Section:
    """All that is shown of one score."""

    key: str
    score: Values
    reasons: Cut
    gates: Cut
    tables: Cut
    reliability: Cut
    rejection: Cut
    uncertainty: Cut
    ranks: Cut
    ties: Cut
    groups: Cut
    findings: Cut


def section(score: Values, desk: Desk, *, key: str) -> Section:
    """Choose what is shown of one score, and draw it."""
    limits = desk.limits
    return Section(
        key=key,
        score=score,
        reasons=Cut.of((score.get("verdict") or {}).get("reasons"), limits.rows),
        gates=Cut.of(score.get("gates"), limits.rows),
        tables=tables(score, desk),
        reliability=_diagrams(score, desk),
        rejection=_draw(score, "rejection", figures.rejection, desk),
        uncertainty=_draw(score, "uncertainty", figures.uncertainty, desk),
        ranks=_draw(score, "ranks", figures.ranks, desk),
        ties=ties(score, desk),
        groups=groupings(score, desk),
        findings=Cut.of(sorted(score.get("findings") or (), key=_severity), limits.findings),
    )


def _draw(score: Values, kind: str, draw: Callable[..., Figure], desk: Desk) -> Cut:
    """Draw the figures of a kind, judged parts first."""
    judged = judged_parts(score)
    found = sorted(
        (score.get("figures") or {}).get(kind) or (),
        key=lambda values: (_place(judged, values.get("part")), _by_scope(values)),
    )
    cut = Cut.of(found, desk.limits.figures)
    return Cut([(values, draw(values, key=desk.key())) for values in cut.rows], cut.more)


def _diagrams(score: Values, desk: Desk) -> Cut:
    """Draw the reliability diagrams, one row a part, nodes before edges."""
    drawn = _draw(score, "reliability", reliability, desk)
    rows: dict[str, list[tuple[str, Figure]]] = {}
    for values, figure in drawn.rows:
        rows.setdefault(str(values.get("part", "")), []).append((values.get("scope"), figure))
    return Cut(list(rows.items()), drawn.more)


def _by_scope(values: Values) -> int:
    return _place(_SCOPES, values.get("scope"))


def _severity(finding: Values) -> int:
    return _place(_SEVERITIES, finding.get("severity"))


def _place(order: Sequence[Any], entry: object) -> int:
    return order.index(entry) if entry in order else len(order)
