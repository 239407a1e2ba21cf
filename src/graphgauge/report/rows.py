"""The rows of the report's tables: numbers joined with their small figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from markupsafe import Markup

from graphgauge.report.cuts import Cut, Desk
from graphgauge.report.strips import difference_strip, share_bar, value_strip, verdict_on_null
from graphgauge.report.wording import is_number

__all__ = [
    "Grouping",
    "Row",
    "Table",
    "Tie",
    "compare",
    "groupings",
    "headlines",
    "judged_parts",
    "tables",
    "ties",
]

Values: TypeAlias = Mapping[str, Any]
_SCOPES = ("edge", "agree", "disagree")
# What an overview shows of every model, as far as it was measured.
_HEADLINES = ("accuracy", "nll", "ece", "edge_ece", "prr", "auroc", "mrr", "hits", "auc")


@dataclass(frozen=True)
class Row:
    """One number with its small figure."""

    metric: Values
    place: str
    strip: Markup


@dataclass(frozen=True)
class Table:
    """The numbers of one part in families: of nodes, edges, edges that agree or disagree."""

    part: str
    judged: bool
    n: object
    families: dict[str, list[Row]]
    more: int


@dataclass(frozen=True)
class Grouping:
    """A part's items grouped in one way, beside the part as a whole; the worst group named."""

    by: str
    part: str
    columns: list[str]
    rows: list[tuple[Values, Markup]]
    more: int
    worst: Values | None
    whole: dict[str, object]


@dataclass(frozen=True)
class Tie:
    """A ranking metric beside what breaking ties for or against the positives changes."""

    metric: str
    part: str
    value: object
    spread: object
    bars: tuple[Markup, Markup]


def judged_parts(score: Values) -> list[str]:
    """List the parts the verdict speaks of, first the headline.

    Examples
    --------
    >>> judged_parts({"judged": ["test"]}), judged_parts({})
    (['test'], [])
    """
    return [str(part) for part in score.get("judged") or ()]


def tables(score: Values, desk: Desk) -> Cut:
    """Make a table of every part's numbers, judged parts first."""
    by_part = _gather(score.get("metrics"), lambda metric: str(metric.get("part", "")))
    judged = judged_parts(score)
    names = [part for part in judged if part in by_part]
    cut = Cut.of([*names, *(part for part in by_part if part not in judged)], desk.limits.parts)
    shown = [_table(part, by_part[part], part in judged, desk) for part in cut.rows]
    return Cut(shown, cut.more)


def _table(part: str, metrics: Sequence[Values], judged: bool, desk: Desk) -> Table:
    cut = Cut.of(metrics, desk.limits.rows)
    families = _gather(cut.rows, lambda metric: scope_of(str(metric.get("name", ""))))
    rows = {scope: [_row(metric, desk) for metric in found] for scope, found in families.items()}
    return Table(part, judged, _most_common_n(metrics), rows, cut.more)


def _most_common_n(metrics: Sequence[Values]) -> object:
    nodes = [m.get("n") for m in metrics if scope_of(str(m.get("name", ""))) == "node"]
    known = [n for n in nodes if is_number(n)]
    return max(set(known), key=known.count) if known else None


def _row(metric: Values, desk: Desk) -> Row:
    strip = value_strip(metric, bounds=desk.bounds(metric.get("name")))
    return Row(metric, verdict_on_null(metric), strip)


def scope_of(metric: str) -> str:
    """Tell what a metric speaks of by the first word of its name.

    Examples
    --------
    >>> scope_of("agree_ece(bins=15)"), scope_of("ece(bins=15)")
    ('agree', 'node')
    """
    word, found, _ = metric.partition("_")
    return word if found and word in _SCOPES else "node"


def groupings(score: Values, desk: Desk) -> Cut:
    """Make a table of every grouping of every part."""
    found = _gather(score.get("groups"), lambda g: (str(g.get("by", "")), str(g.get("part", ""))))
    cut = Cut.of(found, desk.limits.parts)
    shown = [_grouping(key, found[key], score, desk) for key in cut.rows]
    return Cut(shown, cut.more)


def _grouping(key: tuple[str, str], found: list[Values], score: Values, desk: Desk) -> Grouping:
    worst = next((group for group in found if group.get("worst")), None)
    cut = Cut.of(found, desk.limits.groups)
    if worst is not None and not any(group is worst for group in cut.rows):
        cut.rows[-1] = worst
    names = dict.fromkeys(name for group in cut.rows for name in group.get("metrics") or {})
    columns = list(names)[: desk.limits.columns]
    whole = _values(score, key[1])
    rows = [(group, _group_bar(group, columns, whole, desk)) for group in cut.rows]
    return Grouping(*key, columns, rows, cut.more, worst, whole)


def _group_bar(group: Values, columns: list[str], whole: Values, desk: Desk) -> Markup:
    """Draw the first metric as a bar where it is a share."""
    if not columns or desk.bounds(columns[0]) != (0, 1):
        return Markup("")
    value = (group.get("metrics") or {}).get(columns[0])
    return share_bar(value, mark=whole.get(columns[0]))


def ties(score: Values, desk: Desk) -> Cut:
    """Pair every ``_spread`` metric with the metric it belongs to."""
    metrics = score.get("metrics") or ()
    spreads = [metric for metric in metrics if "_spread" in str(metric.get("name", ""))]
    cut = Cut.of(spreads, desk.limits.rows)
    return Cut([_tie(spread, score, desk) for spread in cut.rows], cut.more)


def _tie(spread: Values, score: Values, desk: Desk) -> Tie:
    part, wanted = str(spread.get("part", "")), str(spread["name"]).replace("_spread", "", 1)
    values = _values(score, part)
    told = (wanted, wanted.removesuffix(")") + ("," if ")" in wanted else "("))
    metric = next((n for n in values if n == wanted or n.startswith(told[1])), wanted)
    value = values.get(metric)
    bars = (share_bar(value), share_bar(spread.get("value")))
    return Tie(metric, part, value, spread.get("value"), bars)


def _values(score: Values, part: str) -> dict[str, object]:
    return {
        str(metric.get("name", "")): metric.get("value")
        for metric in score.get("metrics") or ()
        if str(metric.get("part", "")) == part
    }


def headlines(scores: Sequence[Values], desk: Desk) -> tuple[list[str], list[dict[str, Values]]]:
    """Choose the columns of an overview, and find every model's numbers for them."""
    found = [_headline_metrics(score) for score in scores]
    names = dict.fromkeys(name for metrics in found for name in metrics)
    ordered = sorted(names, key=lambda name: _HEADLINES.index(name.split("(")[0]))
    return ordered[: desk.limits.columns], found


def _headline_metrics(score: Values) -> dict[str, Values]:
    part = next(iter(judged_parts(score)), None)
    return {
        str(metric.get("name", "")): metric
        for metric in score.get("metrics") or ()
        if part in (None, metric.get("part"))
        and str(metric.get("name", "")).split("(")[0] in _HEADLINES
    }


def compare(rows: Iterable[Values] | None, desk: Desk) -> Cut:
    """Draw every comparison's difference, on one scale for each metric."""
    cut = Cut.of(rows, desk.limits.rows)
    reach: dict[object, float] = {}
    for row in cut.rows:
        ends = [abs(row[e]) for e in ("difference", "low", "high") if is_number(row.get(e))]
        reach[row.get("metric")] = max([reach.get(row.get("metric"), 0.0), *ends])
    shown = [(row, difference_strip(row, reach=reach[row.get("metric")])) for row in cut.rows]
    return Cut(shown, cut.more)


def _gather(entries: Iterable[Values] | None, key: Any) -> dict[Any, list[Values]]:
    gathered: dict[Any, list[Values]] = {}
    for entry in entries or ():
        gathered.setdefault(key(entry), []).append(entry)
    return gathered
