"""What a person sees in the terminal."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from graphgauge.audit import Finding, Severity
from graphgauge.metrics import Direction, Metric
from graphgauge.report.wording import clean
from graphgauge.scoring import Gate, Measured, Scorecard, Status
from graphgauge.scoring.comparison import Compared

__all__ = [
    "plain",
    "show_card",
    "show_comparisons",
    "show_findings",
    "show_metrics",
    "show_overview",
    "show_written",
]

_STATUS = {
    Status.GOOD: ("green", "✔", "GOOD"),
    Status.CAUTION: ("yellow", "▲", "CAUTION"),
    Status.BAD: ("red", "✘", "BAD"),
}
_SEVERITY = {
    Severity.ERROR: ("red", "✘"),
    Severity.WARNING: ("yellow", "▲"),
    Severity.NOTE: ("cyan", "·"),
}
_SCOPES = {"": "nodes", "edge_": "edges", "agree_": "agreeing", "disagree_": "disagreeing"}
_MATRIX = ("accuracy", "nll", "brier")
_STRIP = 14
_SHOWN = 6
_LONGEST = 1000


def plain(text: str) -> str:
    r"""Take out of text from a file what could steer a terminal or flood it.

    Examples
    --------
    >>> plain("a\x1b[2Jb")
    'a�[2Jb'
    """
    return clean(text, most=_LONGEST)


def show_card(card: Scorecard, *, brief: bool = False) -> None:
    """Print a scorecard: verdict, gates, the numbers of the first judged part, findings."""
    _console().print(_panel(card))
    if card.gates:
        _console().print(Padding(_gates(card.gates), (0, 2)))
    if brief:
        return
    for part in dict.fromkeys((card.judged[0], *_pairs(card))):
        for table in _numbers(card, part):
            _console().print(Padding(table, (0, 2)))
    for group in card.groups:
        if group["worst"]:
            _console().print(Padding(_worst(group, card), (0, 3)))
    show_findings(card.findings, brief=True)


def show_overview(cards: Sequence[Scorecard]) -> None:
    """Print one row a model."""
    table = _table("Overview")
    names = ("accuracy", "nll", "ece", "edge_ece", "mrr")
    shown = [name for name in names if any(card.find(name) for card in cards)]
    table.add_column("")
    for name in ("verdict", *shown):
        table.add_column(name, justify="right")
    for card in cards:
        colour, mark, word = _STATUS[card.verdict.status]
        cells = [_value(row) if (row := card.find(name)) else "–" for name in shown]
        table.add_row(plain(card.name), Text(f"{mark} {word.lower()}", colour), *cells)
    _console().print(table)


def show_comparisons(rows: Sequence[Compared], *, level: float = 0.05) -> None:
    """Print a row a metric under each pair, with intervals at one minus the level."""
    if not rows:
        told = "   not compared pair by pair: the files are not of the same items"
        _console().print(Text(told, style="dim"))
        return
    table = _table("Pair by pair")
    table.add_column("", no_wrap=True)
    for name in (f"difference ({100 * (1 - level):.4g} % interval)", "p (Holm)", "first is"):
        table.add_column(name, justify="right", no_wrap=True)
    colours = {"better": "green", "worse": "red"}
    for first, second in dict.fromkeys((row.found.first, row.found.second) for row in rows):
        table.add_row(Text(f"{plain(first)} − {plain(second)}", "bold"))
        for row in rows:
            found = row.found
            if (found.first, found.second) == (first, second):
                table.add_row(
                    f"  {row.metric}",
                    f"{found.difference:+.3f}  ({found.low:+.3f} … {found.high:+.3f})",
                    "<0.001" if found.p_holm < 0.001 else f"{found.p_holm:.3f}",
                    Text(str(found.verdict), colours.get(str(found.verdict), "")),
                )
    _console().print(table)


def show_findings(findings: Sequence[Finding], *, brief: bool = False) -> None:
    """Print findings, the gravest first; notes are only counted when `brief`."""
    shown = [f for f in findings if not brief or f.severity is not Severity.NOTE]
    for finding in shown:
        colour, mark = _SEVERITY[finding.severity]
        head = Text.assemble((f"{mark} {finding.code}  ", f"bold {colour}"), plain(finding.message))
        first = ", ".join(map(str, finding.offenders[:_SHOWN].tolist()))
        more = f" and {finding.n - _SHOWN} more" if finding.n > _SHOWN else ""
        where = Text(f"    {finding.items} {first}{more}", style="dim") if first else Text("")
        _console().print(Padding(Group(head, where), (0, 2)))
    notes = len(findings) - len(shown)
    if notes:
        told = "1 note" if notes == 1 else f"{notes} notes"
        _console().print(Text(f"   audit: {told}; `graphgauge audit` shows them", style="dim"))
    elif not findings:
        _console().print(Text("   audit: nothing found", style="green"))


def show_metrics(cards: Sequence[Metric]) -> None:
    """Print the metrics with all one needs to read their numbers, one under the other."""
    for card in cards:
        better = "" if card.direction is Direction.NEITHER else f"{card.direction} is better, "
        head = Text.assemble(
            (card.label, "bold"), (f"  {better}{card.low:g} … {card.high:g}", "cyan")
        )
        facts = Table.grid(padding=(0, 2))
        facts.add_column(style="dim", no_wrap=True)
        facts.add_row("is", card.definition)
        if params := {k: v for k, v in card.defaults.items() if f"{k}=" not in card.label}:
            facts.add_row("with", ", ".join(f"{k}={v}" for k, v in params.items()))
        facts.add_row("by chance", card.chance)
        facts.add_row("see", card.reference)
        _console().print(Padding(Group(head, Padding(facts, (0, 2))), (0, 1, 1, 1)))


def show_written(path: Path) -> None:
    """Tell where the report is."""
    _console().print(
        Text.assemble("\nreport: ", (plain(str(path)), "bold underline")), soft_wrap=True
    )


def _console() -> Console:
    # Names of files, parts and classes may look like markup; they are printed as they are.
    return Console(highlight=False, markup=False, emoji=False)


def _panel(card: Scorecard) -> Panel:
    colour, mark, word = _STATUS[card.verdict.status]
    reasons = Table.grid(padding=(0, 1))
    for status, reason in card.verdict.reasons[: 2 * _SHOWN]:
        shade, sign, _ = _STATUS[status]
        reasons.add_row(Text(f" {sign}", shade), Text(_wrapped(plain(reason), indent=7)))
    told = _wrapped(f"{mark} {word}  {plain(card.verdict.headline)}", indent=4)
    head = Text(told, style=f"bold {colour}")
    title = Text(f" {plain(card.name)} ", style="bold")
    body = Group(head, reasons)
    return Panel(body, title=title, title_align="left", border_style=colour)


def _wrapped(text: str, *, indent: int) -> str:
    """Break into lines as wide as the screen; Rich would break at no-break spaces too."""
    width = max(20, _console().width - indent)
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False))


def _pairs(card: Scorecard) -> Iterator[str]:
    """Yield parts such as ``test_in|test_out`` that hold only detection metrics."""
    return (row.part for row in card.metrics if "|" in row.part)


def _numbers(card: Scorecard, part: str) -> Iterator[Table]:
    """Yield the tables of a part: metrics by scope, calibration against its band, the rest."""
    rows = {row.name: row for row in card.metrics if row.part == part}
    matrix = _matrix(rows)
    if matrix is not None:
        matrix.title = _part_title(card, part)
        yield matrix
    if any(row.null for row in rows.values()):
        yield _bands(rows, card)
    in_matrix = {f"{prefix}{name}" for prefix in _SCOPES for name in _MATRIX}
    rest = [r for r in rows.values() if r.name not in in_matrix and (matrix is None or not r.null)]
    if rest:
        yield _listing(rest, "" if matrix is not None else _part_title(card, part))


def _matrix(rows: Mapping[str, Measured]) -> Table | None:
    """Lay metrics that nodes and edges share side by side."""
    scopes = {p: name for p, name in _SCOPES.items() if any(f"{p}{m}" in rows for m in _MATRIX)}
    if not scopes:
        return None
    table = _table("")
    table.add_column("", no_wrap=True)
    for name in scopes.values():
        table.add_column(name, justify="right", no_wrap=True)
    for metric in _MATRIX:
        cells = [_value(rows[f"{p}{metric}"]) if f"{p}{metric}" in rows else "" for p in scopes]
        if any(cells):
            table.add_row(metric, *cells)
    return table


def _bands(rows: Mapping[str, Measured], card: Scorecard) -> Table:
    """Draw calibration errors on their null bands."""
    banded = {name: row for name, row in rows.items() if row.null}
    short = [_short(name, card) for name in banded]
    names = short if len(set(short)) == len(short) else list(banded)
    table = _table("calibration errors ● on what a calibrated model would show ░")
    table.add_column("", overflow="fold")
    for name, side in (("value", "right"), ("", "left"), ("null band", "right")):
        table.add_column(name, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for name, row in zip(names, banded.values(), strict=True):
        band = f"{100 * (row.null_low or 0):.1f} … {100 * (row.null_high or 0):.1f} %"
        table.add_row(name, f"{100 * row.value:.1f} %", _strip(row), band)
    return table


def _short(name: str, card: Scorecard) -> str:
    """Leave out parameters that are at their default, or as the protocol of all sets them."""
    params = dict(card.definitions[name].params)
    if card.protocol["name"] == "published":
        params.pop("closed", None)
    return name if params else name.partition("(")[0]


def _table(title: str) -> Table:
    return Table(
        box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False
    )


def _listing(rows: Sequence[Measured], title: str) -> Table:
    table = _table(title)
    table.add_column("", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("95 % interval", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.name, _value(row), _span(row.low, row.high))
    return table


def _part_title(card: Scorecard, part: str) -> str:
    sizes = card.counts["parts"]
    return f"{plain(part)} ({sizes[part]:,})" if part in sizes else plain(part)


def _strip(row: Measured) -> Text:
    """Draw the null band and the value on one axis from zero."""
    if row.null is None or row.null_low is None or row.null_high is None:
        return Text("")
    top = max(row.null_high, row.value, 1e-12) * 1.1
    low, high, here = (
        min(_STRIP - 1, max(0, int(_STRIP * v / top)))
        for v in (row.null_low, row.null_high, row.value)
    )
    strip = Text("".join("░" if low <= i <= high else "·" for i in range(_STRIP)), style="dim")
    colour = "yellow" if row.null == "above" else "green"
    left, right = strip[:here], strip[here + 1 :]
    return Text.assemble(left, ("●", f"bold {colour}"), right, (f" {row.null}", colour))


def _gates(gates: Sequence[Gate]) -> Table:
    table = _table("Gates")
    for name in ("gate", "part", "value", ""):
        table.add_column(name)
    for gate in gates:
        word = Text("✔ holds", "green") if gate.passed else Text("✘ fails", "red")
        table.add_row(plain(gate.gate), plain(gate.part), f"{gate.value:.4g}", word)
    return table


def _worst(group: Mapping[str, Any], card: Scorecard) -> Text:
    overall = card.find("accuracy")
    against = f" against {overall.value:.3f} overall" if overall else ""
    told = f"worst by {group['by']}: {group['group']} (n={group['n']}), accuracy "
    return Text.assemble(told, (f"{group['metrics']['accuracy']:.3f}", "bold"), against)


def _value(row: Measured) -> str:
    if math.isnan(row.value):
        return "–"
    return f"{row.value:.3f}" if abs(row.value) < 10 else f"{row.value:.1f}"


def _span(low: float | None, high: float | None) -> str:
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    return f"{low:.3f} … {high:.3f}" if abs(high) < 10 else f"{low:.1f} … {high:.1f}"
