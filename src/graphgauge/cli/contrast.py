"""Shifts as a person reads them in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from graphgauge.report.shift import differences, groups
from graphgauge.report.terminal import plain
from graphgauge.report.wording import digits, number, percent

__all__ = ["show_description", "show_shifts", "tie_remarks"]

_BAR = 12


def show_shifts(rows: Sequence[Mapping[str, str]]) -> None:
    """Print a row a shift."""
    table = _table("shift", "by", "out of distribution")
    for row in rows:
        table.add_row(row["name"], row["property"], row["out"])
    _console().print(table)


def show_description(document: Mapping[str, Any]) -> None:
    """Print what differs between both sides, and what each part is like."""
    first, second = document["sides"]
    by = document["recipe"].get("shift") or document["recipe"].get("by") or "parts"
    console = _console()
    size = f"{document['n_nodes']:,} nodes, {document['n_edges']:,} edges"
    console.print(f"{plain(document['graph'])} by {plain(by)}: {size}", style="bold")
    table = _table("", first, second, "gap", "", right=range(1, 4))
    for name, one, other, gap in differences(document):
        table.add_row(name, digits(one), digits(other), number(gap), _bar(gap))
    console.print(table)
    console.print(_parts(document))
    for line in tie_remarks(document["recipe"]):
        console.print(f"  {line}")


def tie_remarks(recipe: Mapping[str, Any]) -> Iterator[str]:
    """Say in words what ties leave to chance."""
    cuts = {"id_ood": "in and out of distribution", "valid_test_out": "valid_out and test_out"}
    for cut, between in cuts.items():
        share = recipe.get("tied", {}).get(cut, 0)
        if share:
            yield f"tied at the cut between {between}: {100 * share:.1f} % of the nodes"
    ceiling = recipe.get("ceiling")
    if ceiling is not None:
        yield f"ceiling of OOD AUROC for the property alone: {100 * ceiling:.1f} %"


def _parts(document: Mapping[str, Any]) -> Table:
    table = _table("", "nodes", "mean degree", "homophily", "distance", right=range(1, 5))
    for group in groups(document):
        lengths = group["distances"]
        told = number(lengths["mean"])
        if lengths["error"]:
            told += f" ± {number(lengths['error'], like=lengths['mean'])}"
        homophily = percent(group["homophily"])
        table.add_row(plain(group["name"]), f"{group['n']:,}", digits(group["degree"]),
                      homophily, told)  # fmt: skip
    return table


def _bar(gap: object) -> str:
    return "" if gap is None else "█" * round(_BAR * float(str(gap))) or "▏"


def _table(*columns: str, right: Sequence[int] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(
            plain(column), justify="right" if i in right else "left", no_wrap=i < len(columns) - 1
        )
    return table


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)
