"""Commands about shifts: which there are, and what one does to a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphgauge.cli.output import printed, progress, write_json
from graphgauge.cli.splitting import (
    ByProperty,
    ByShift,
    Data,
    Inside,
    Published,
    Ratio,
    Seed,
    published_of,
    shift_of,
)

if TYPE_CHECKING:
    from graphgauge.graph import Graph
    from graphgauge.parts import Split

__all__ = ["shift"]

_LOOK = "What to look at"

shift = typer.Typer(
    help="List the shifts of the papers, and see what a shift does to a graph.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Json = Annotated[
    Path | None, typer.Option("--json", help="Write everything as JSON; - for standard output.")
]


@shift.command("list")
def list_shifts(json: _Json = None) -> None:
    """List the shifts: by which property, and who ends up out of distribution.

    `graphgauge shift list`
    """
    from graphgauge.cli.contrast import show_shifts
    from graphgauge.properties import PROPERTIES
    from graphgauge.splits import SHIFTS

    rows = [
        {"name": name, "property": known.label, "out": known.meaning,
         "definition": PROPERTIES[known.label].description}
        for name, known in SHIFTS.items()
    ]  # fmt: skip
    if not printed(json):
        show_shifts(rows)
    write_json(json, {"schema": "graphgauge.shifts/1", "shifts": rows})


@shift.command()
def describe(
    data: Data,
    by_shift: ByShift = None,
    by_property: ByProperty = None,
    published: Published = None,
    given: Annotated[
        Path | None,
        typer.Option(
            "--split",
            help="Parts that were saved before, such as training and test.",
            rich_help_panel="What to split by (one of these)",
        ),
    ] = None,
    ratio: Ratio = 50,
    inside: Inside = "small",
    seed: Seed = 0,
    hops: Annotated[
        str,
        typer.Option(
            "--distances",
            help="Nodes of a part to measure distances from, or exact.",
            metavar="N|exact",
            rich_help_panel=_LOOK,
        ),
    ] = "256",
    features: Annotated[
        str,
        typer.Option(
            help="Features in the plane by pca, tsne (needs scikit-learn), or none.",
            rich_help_panel=_LOOK,
        ),
    ] = "pca",
    graph: Annotated[
        bool, typer.Option("--graph/--no-graph", help="Draw the graph.", rich_help_panel=_LOOK)
    ] = True,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the page with all figures.")
    ] = None,
    json: _Json = None,
) -> None:
    """Show what a shift does: classes, degrees, distances, homophily and properties on both sides.

    Parts of a shift are set against each other as ID and OOD, any others as training and test.

    `graphgauge shift describe cora-ml --shift locality --html out.html`
    """
    from graphgauge.cli.contrast import show_description
    from graphgauge.datasets import open_graph
    from graphgauge.description import Options
    from graphgauge.description import describe as describe_split
    from graphgauge.report.shift import render_shift, summarize_shift
    from graphgauge.report.terminal import show_written

    options = Options(
        n_sources=_number_of_sources(hops), embedding=features, drawn=graph, seed=seed
    )
    with progress() as tell:
        tell("reading")
        opened = open_graph(data)
        tell("splitting")
        made = _split(opened, (by_shift, by_property, published, given), ratio, inside, seed)
        found = describe_split(opened, made, options, tell=tell)
        document = summarize_shift(found)
    if not printed(json):
        show_description(document)
    write_json(json, document)
    if html is not None:
        from graphgauge.archive import write_atomically

        page = render_shift(document).encode()
        write_atomically(html, lambda file: file.write(page))
        if not printed(json):
            show_written(html)


def _split(
    graph: Graph,
    ways: tuple[str | None, str | None, str | None, Path | None],
    ratio: float,
    inside: str,
    seed: int,
) -> Split:
    from graphgauge.errors import InputError
    from graphgauge.parts import Split
    from graphgauge.splits import shift_split

    if sum(way is not None for way in ways) != 1:
        raise InputError("give one of --shift, --property, --published, --split")
    by_shift, by_property, published, given = ways
    if given is not None:
        return Split.load(given)
    if published is not None:
        return published_of(graph, published)
    what = by_shift if by_property is None else shift_of(by_property, inside)
    return shift_split(graph, what or "", ratio=ratio, seed=seed)


def _number_of_sources(text: str) -> int | None:
    from graphgauge.errors import InputError

    if text == "exact":
        return None
    if not (text.isdecimal() and text.isascii()):
        raise InputError(f"--distances: {text!r} is neither a number of nodes nor exact")
    return int(text)
