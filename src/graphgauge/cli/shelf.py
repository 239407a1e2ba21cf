"""Cards of data sets as a person reads them in the terminal, and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from graphgauge.datasets.card import Card, Counts
from graphgauge.datasets.portrait import Portrait

__all__ = ["card_dict", "papers_of", "show_dataset", "show_datasets", "show_had"]

# The papers by the letter that stands for them in the list.
_PAPERS = ("revisiting", "shifts", "heart", "miscalibrated", "edgewise")
_COLOURS = {"folder": "green", "cache": "green", "download": "cyan", "not public": "red"}


def papers_of(card: Card) -> list[str]:
    """Name the papers that print counts of a data set.

    Examples
    --------
    >>> from graphgauge.datasets import CARDS
    >>> papers_of(CARDS["cora"])
    ['heart', 'miscalibrated', 'edgewise']
    """
    printed = " ".join(row.where for row in card.printed)
    return [paper for paper in _PAPERS if paper in printed]


def card_dict(card: Card, place: str) -> dict[str, Any]:
    """Return a card as plain values."""
    known = asdict(card)
    known["sources"] = [str(source) for source in card.sources]
    return {"name": known.pop("slug"), "place": place, "papers": papers_of(card), **known}


def show_datasets(places: Sequence[tuple[Card, str]]) -> None:
    """Print one row a data set: its sizes, who uses it, and where it is."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("data set", style="bold", no_wrap=True)
    for name in ("nodes", "edges", "features", "classes"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("papers", no_wrap=True)
    table.add_column("where", no_wrap=True)
    for card, place in places:
        used = papers_of(card)
        letters = "".join(paper[0].upper() if paper in used else "·" for paper in _PAPERS)
        sizes = [_number(size) for size in vars(card.counts).values()]
        table.add_row(card.slug, *sizes, letters, Text(place, _COLOURS.get(place, "yellow")))
    console = _console()
    console.print(table)
    console.print(Text(_legend(), "dim"))


def show_dataset(card: Card, place: str, seen: Portrait | None) -> None:
    """Print everything a card knows, and what was measured where the data are at hand."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, told in _facts(card, place, seen):
        grid.add_row(name, told)
    title = Text.assemble(" ", (card.title, "bold"), f" ({card.slug}) ")
    _console().print(Panel(grid, title=title, title_align="left", border_style="cyan"))


def show_had(name: str, counted: Counts, where: str) -> None:
    """Print a line about a data set that is at hand now."""
    sizes = ", ".join(f"{_number(n)} {what}" for what, n in vars(counted).items() if n is not None)
    _console().print(
        Text.assemble(("✔ ", "green"), (name, "bold"), f"  {sizes}\n  {where}"), soft_wrap=True
    )


def _facts(card: Card, place: str, seen: Portrait | None) -> list[tuple[str, str]]:
    facts = [("holds", card.about), ("sizes", _sizes(card.counts) or "not counted yet")]
    facts += [(f"{row.where}", _printed(row, card.counts)) for row in card.printed]
    if seen is not None:
        facts += _seen(card, seen)
    facts += [("note", note) for note in card.notes]
    facts += [("licence", card.licence), ("cite", card.citation), ("where", place)]
    facts += [("source", str(source)) for source in card.sources]
    content = card.fingerprint or ("not measured yet" if card.public else "")
    return [*facts, ("fingerprint", content)] if content else facts


def _seen(card: Card, seen: Portrait) -> list[tuple[str, str]]:
    pieces = "one piece" if seen.components == 1 else f"{seen.components:,} pieces"
    shape = f"mean degree {seen.mean_degree:.2f}, {pieces}, the largest of {seen.largest:,} nodes"
    facts = [("shape", f"{shape}, {seen.isolated:,} isolated")]
    if seen.homophily is not None:
        facts.append(("homophily", f"{seen.homophily:.2%} of the edges join nodes of one class"))
    names = card.class_names or tuple(map(str, range(len(seen.shares))))
    if 1 < len(names) == len(seen.shares) <= 20:
        told = ", ".join(f"{n} {s:.1%}" for n, s in zip(names, seen.shares, strict=True))
        facts.append(("classes", told))
    return facts


def _sizes(counts: Counts) -> str:
    told = [f"{size:,} {what}" for what, size in vars(counts).items() if size is not None]
    return ", ".join(told)


def _printed(row: Counts, counts: Counts) -> str:
    """Say which printed counts are others than ours, and why."""
    names = vars(counts)
    printed = {name: vars(row)[name] for name in names if vars(row)[name] is not None}
    other = [f"{n:,} {what}" for what, n in printed.items() if n != names[what]]
    note = vars(row)["note"]
    if not printed:
        return str(note)
    told = f"prints {', '.join(other)}" if other else "prints the same"
    return f"{told}: {note}" if note else told


def _legend() -> str:
    letters = ", ".join(f"{paper[0].upper()} {paper}" for paper in _PAPERS)
    return f"\n{letters}; – not counted yet"


def _number(n: int | None) -> str:
    return "–" if n is None else f"{n:,}"


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False)
