"""Commands about data sets: what there is, what is known of it, and how to get it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphgauge.cli.output import printed, progress, write_json

if TYPE_CHECKING:
    from graphgauge.datasets.card import Card
    from graphgauge.graph import Graph

__all__ = ["data"]

data = typer.Typer(
    help="List, show and fetch the data sets of the papers, and bring in your own.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Json = Annotated[
    Path | None, typer.Option("--json", help="Write everything as JSON; - for standard output.")
]


@data.command("list")
def list_data(json: _Json = None) -> None:
    """List the data sets: sizes, the papers that use them, and where they are.

    `graphgauge data list`
    """
    from graphgauge.cli.shelf import card_dict, show_datasets
    from graphgauge.datasets.card import CARDS
    from graphgauge.datasets.obtain import whereabouts

    places = [(card, whereabouts(card)) for card in CARDS.values()]
    if not printed(json):
        show_datasets(places)
    rows = [card_dict(card, place) for card, place in places]
    write_json(json, {"schema": "graphgauge.datasets/1", "datasets": rows})


@data.command()
def show(
    name: Annotated[str, typer.Argument(help="Such as cora-ml; see the list.")],
    measure: Annotated[
        bool, typer.Option(help="Measure degree, components and homophily, if it is at hand.")
    ] = True,
    json: _Json = None,
) -> None:
    """Show the card of a data set: sizes, what the papers print, notes, licence, sources.

    `graphgauge data show citeseer`
    """
    from dataclasses import asdict

    from graphgauge.cli.shelf import card_dict, show_dataset
    from graphgauge.datasets.card import card
    from graphgauge.datasets.obtain import find, obtain, whereabouts
    from graphgauge.datasets.portrait import portrait

    known = card(name)
    found, seen = next(find(known), None), None
    place = whereabouts(known) if found is None else str(found.folder)
    if measure and found is not None:
        with progress() as tell:
            tell("measuring")
            seen = portrait(obtain(known)[0])
    if not printed(json):
        show_dataset(known, place, seen)
    measured = {} if seen is None else {"measured": asdict(seen)}
    write_json(json, {"schema": "graphgauge.dataset/1", **card_dict(known, place), **measured})


@data.command()
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Such as cora-ml pubmed; see the list.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All that are public; some are gigabytes.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Also save the graph (of one name).")] = None,
    steps: Annotated[
        list[str] | None,
        typer.Option("--steps", help="Prepare what is saved: largest-component,features-row-l1 …"),
    ] = None,
    json: _Json = None,
) -> None:
    """Fetch data sets, check their content, and keep them in the cache.

    What lies in the folder that GRAPHGAUGE_DATA names is used from there. GRAPHGAUGE_CACHE names
    another cache than the platform's.

    `graphgauge data fetch cora-ml --out cora-ml.npz --steps largest-component`
    """
    from graphgauge.datasets.card import CARDS, card
    from graphgauge.errors import InputError
    from graphgauge.report.terminal import plain

    wanted = [known for known in CARDS.values() if known.public] if everything else []
    wanted = wanted or [card(name) for name in names or ()]
    if not wanted:
        raise InputError("name a data set (graphgauge data list shows them), or say --all")
    if len(wanted) > 1 and (out or steps):
        raise InputError("--out and --steps are for one data set at a time")
    if steps and out is None:
        raise InputError("--steps prepares what --out saves: give both")
    named = tuple(name for part in steps or () for name in part.split(",") if name)
    rows, failed = [], []
    for known in wanted:
        try:
            rows.append(_fetch(known, out, named, quiet=printed(json)))
        except InputError as error:
            if len(wanted) == 1:
                raise
            failed.append(known.slug)
            typer.secho(f"✘ {plain(str(error))}", fg=typer.colors.RED, err=True)
    write_json(json, {"schema": "graphgauge.fetched/1", "datasets": rows})
    if failed:
        raise InputError(f"{len(failed)} of {len(wanted)} cannot be had: {', '.join(failed)}")


def _fetch(
    known: Card, out: Path | None, steps: tuple[str, ...], *, quiet: bool
) -> dict[str, object]:
    from dataclasses import asdict

    from graphgauge.cli.shelf import show_had
    from graphgauge.datasets.identity import count
    from graphgauge.datasets.obtain import obtain
    from graphgauge.steps import prepare

    graph, found = obtain(known)
    where = str(found.folder)
    if out is not None:
        graph = prepare(graph, *steps)
        graph.save(out)
        where = str(out)
    if not quiet:
        show_had(known.slug, count(graph), where)
    about = {"name": known.slug, "folder": str(found.folder), "place": found.place}
    return {**about, **asdict(count(graph)), **_content(graph)}


def _content(graph: Graph) -> dict[str, object]:
    return {"fingerprint": graph.fingerprint, "steps": list(graph.steps)}
