"""The command that splits: nodes by a shift, at random or as published, edges by shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from graphgauge.cli.output import printed, progress, write_json

if TYPE_CHECKING:
    from graphgauge.graph import Graph
    from graphgauge.parts import Split
    from graphgauge.splits import Shift

__all__ = [
    "ByProperty",
    "ByShift",
    "Data",
    "Inside",
    "Published",
    "Ratio",
    "Seed",
    "published_of",
    "shift_of",
    "split",
]

_BY = "What to split by (one of these)"
_HOW = "How to divide"

Data = Annotated[
    str, typer.Argument(help="Data set, such as cora-ml, or file of a graph.", metavar="DATA")
]
ByShift = Annotated[
    str | None,
    typer.Option(
        "--shift",
        help="Nodes: popularity, locality, density, feature or random.",
        metavar="NAME",
        rich_help_panel=_BY,
    ),
]
ByProperty = Annotated[
    str | None,
    typer.Option(
        "--property",
        help="Nodes: degree, pagerank … or a file of one number a node.",
        metavar="NAME|FILE",
        rich_help_panel=_BY,
    ),
]
Published = Annotated[
    str | None,
    typer.Option(
        help="As the authors did: shifts:density, revisiting:ppr, edgewise:split0_fold1 …",
        metavar="SOURCE[:WHICH]",
        rich_help_panel=_BY,
    ),
]
_Random = Annotated[
    str | None,
    typer.Option(
        help="Nodes, such as 62.5/12.5/25 for train, valid, test.",
        metavar="SHARES",
        rich_help_panel=_BY,
    ),
]
_KShot = Annotated[
    str | None,
    typer.Option(
        help="Nodes, such as 20/500/1000 or 20/500/rest: 20 of every class train.",
        metavar="K/VALID/TEST",
        rich_help_panel=_BY,
    ),
]
_Folds = Annotated[
    int | None,
    typer.Option(
        help="Nodes: 15 % of every class in folds, each validates once. A file each.",
        metavar="N",
        rich_help_panel=_BY,
    ),
]
_Links = Annotated[
    str | None,
    typer.Option(
        help="Edges, such as 85/5/10 for train, valid, test.",
        metavar="SHARES",
        rich_help_panel=_BY,
    ),
]
Ratio = Annotated[
    float, typer.Option(help="Percentage of nodes in distribution.", rich_help_panel=_HOW)
]
_Inner = Annotated[
    str | None,
    typer.Option(
        help="Shares of train, valid_in, test_in, valid_out, test_out. Default: 3 : 1 : 1 of "
        "those inside and 1 : 4 of the others.",
        metavar="SHARES",
        rich_help_panel=_HOW,
    ),
]
Inside = Annotated[
    str,
    typer.Option(
        help="Values of --property that are in distribution: small, large.", rich_help_panel=_HOW
    ),
]
_Rounding = Annotated[
    str,
    typer.Option(
        help="Of sizes: nearest, shifts, revisiting; with --random: nearest, miscalibrated.",
        rich_help_panel=_HOW,
    ),
]
_Stratified = Annotated[
    bool,
    typer.Option(
        "--stratified", help="Keep the shares of --random in every class.", rich_help_panel=_HOW
    ),
]
_Protocol = Annotated[
    str,
    typer.Option(
        help="corrected, or published: walks of PageRank that stop early; folds that leave an "
        "eighth of the nodes out.",
        rich_help_panel=_HOW,
    ),
]
_Restart = Annotated[
    int | None,
    typer.Option(
        help="Node that locality is measured from. Default: that of the largest PageRank.",
        metavar="NODE",
        rich_help_panel=_HOW,
    ),
]
Seed = Annotated[int, typer.Option(help="Of all that is drawn.", min=0)]
_Out = Annotated[Path | None, typer.Option(help="Write the split to this .npz file.")]
_Json = Annotated[
    Path | None, typer.Option("--json", help="Write sizes and recipe as JSON; - for output.")
]

_Maker: TypeAlias = Callable[["Graph"], "Split | tuple[Split, ...]"]

# Options that say something about some ways to split alone.
_BELONGS = {
    "ratio": ("--shift", "--property"),
    "inner": ("--shift", "--property"),
    "inside": ("--property",),
    "rounding": ("--shift", "--property", "--random"),
    "stratified": ("--random",),
    "protocol": ("--shift", "--property", "--folds"),
    "restart": ("--shift", "--property"),
    "seed": ("--shift", "--property", "--random", "--k-shot", "--folds", "--links"),
}


def split(
    context: typer.Context,
    data: Data,
    shift: ByShift = None,
    by_property: ByProperty = None,
    random: _Random = None,
    k_shot: _KShot = None,
    folds: _Folds = None,
    links: _Links = None,
    published: Published = None,
    ratio: Ratio = 50,
    inner: _Inner = None,
    inside: Inside = "small",
    rounding: _Rounding = "nearest",
    stratified: _Stratified = False,
    protocol: _Protocol = "corrected",
    restart: _Restart = None,
    seed: Seed = 0,
    out: _Out = None,
    json: _Json = None,
) -> None:
    """Split nodes or edges into parts, and tell what was left to chance.

    Equal seeds give equal parts, however the nodes are numbered. Nodes tied
    at a cut are divided by lot; their share is shown, and with it the AUROC
    that no detector can pass which sees the property alone.

    `graphgauge split cora-ml --shift popularity --ratio 50 --seed 0 --out split.npz`
    """
    from graphgauge import splits
    from graphgauge.datasets import open_graph

    def by_shift(graph: Graph) -> Split:
        what = str(shift) if by_property is None else shift_of(by_property, inside)
        shares = None if inner is None else _numbers("--inner", inner)
        told = {"protocol": None if protocol == "corrected" else protocol, "restart": restart}
        arguments: dict[str, Any] = {k: v for k, v in told.items() if v is not None}
        return splits.shift_split(
            graph, what, ratio=ratio, inner=shares, rounding=rounding, seed=seed, **arguments
        )

    def at_random(graph: Graph) -> Split:
        shares = _shares("--random", str(random))
        return splits.random_split(
            graph, shares, stratified=stratified, rounding=rounding, seed=seed
        )

    def as_published(graph: Graph) -> Split:
        return published_of(graph, str(published))

    ways: dict[str, tuple[object, _Maker]] = {
        "--shift": (shift, by_shift),
        "--property": (by_property, by_shift),
        "--random": (random, at_random),
        "--k-shot": (k_shot, lambda graph: _shots(graph, str(k_shot), seed)),
        "--folds": (
            folds,
            lambda g: splits.fold_splits(g, n_folds=folds or 0, protocol=protocol, seed=seed),
        ),
        "--links": (
            links,
            lambda g: splits.link_split(g, _numbers("--links", str(links)), seed=seed),
        ),
        "--published": (published, as_published),
    }
    make = _chosen(context, ways)
    with progress() as tell:
        tell("reading")
        graph = open_graph(data)
        tell("splitting")
        made = make(graph)
    _give(graph, made if isinstance(made, tuple) else (made,), out, json)


def _chosen(context: typer.Context, ways: Mapping[str, tuple[object, _Maker]]) -> _Maker:
    """Find the one way that is asked for; options that say nothing about it are refused."""
    from graphgauge.errors import InputError

    given = [name for name, (value, _) in ways.items() if value is not None]
    if len(given) != 1:
        told = f"{' and '.join(given)} are given" if given else "none is given"
        raise InputError(f"split by one of {', '.join(ways)}: {told}")
    for option, belongs in _BELONGS.items():
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE" and given[0] not in belongs:
            raise InputError(f"--{option} says nothing about {given[0]}")
    return ways[given[0]][1]


def shift_of(wanted: str, inside: str) -> Shift:
    """Read which property decides, by its name or from a file of values."""
    from graphgauge.errors import InputError
    from graphgauge.properties import PROPERTIES
    from graphgauge.splits import Shift
    from graphgauge.splits.values import read_values

    if inside not in ("small", "large"):
        raise InputError(f"--inside: {inside!r} is neither 'small' nor 'large'")
    what = wanted if wanted in PROPERTIES else read_values(wanted)
    return Shift(what, large_inside=inside == "large")


def published_of(graph: Graph, wanted: str) -> Split:
    """Load the published parts of a graph, by source and which."""
    from graphgauge.splits import published_split

    source, _, which = wanted.partition(":")
    return published_split(graph.name, source, which, graph=graph)


def _shots(graph: Graph, text: str, seed: int) -> Split:
    from graphgauge.errors import InputError
    from graphgauge.splits import k_shot_split

    words = text.split("/")
    counted = words[:2] if words[2:] == ["rest"] else words
    if len(words) != 3 or not all(word.isdecimal() and word.isascii() for word in counted):
        raise InputError(f"--k-shot: {text!r} is not K/VALID/TEST, such as 20/500/1000")
    n_test = None if words[2] == "rest" else int(words[2])
    return k_shot_split(graph, int(words[0]), n_valid=int(words[1]), n_test=n_test, seed=seed)


def _shares(option: str, text: str) -> dict[str, float]:
    from graphgauge.errors import InputError

    shares = _numbers(option, text)
    if len(shares) not in (2, 3):
        raise InputError(f"{option}: {text!r} are not shares of train, valid and test")
    names = ("train", "valid", "test") if len(shares) == 3 else ("train", "test")
    return dict(zip(names, shares, strict=True))


def _numbers(option: str, text: str) -> list[float]:
    from graphgauge.errors import InputError

    try:
        return [float(word) for word in text.split("/")]
    except ValueError:
        raise InputError(f"{option}: {text!r} are not numbers divided by /") from None


def _give(graph: Graph, made: Sequence[Split], out: Path | None, json: Path | None) -> None:
    """Write the splits, and tell what is in them."""
    files: list[Path | None] = [None] * len(made)
    if out is not None:
        several = (out.with_stem(f"{out.stem}-{number}") for number in range(len(made)))
        files = [*several] if len(made) > 1 else [out]
        for one, file in zip(made, files, strict=True):
            one.save(file)  # type: ignore[arg-type]
    rows = [_document(one, file) for one, file in zip(made, files, strict=True)]
    if not printed(json):
        for row in rows:
            _show(graph.name, row)
    document = {"schema": "graphgauge.split/1", "graph": graph.name, "splits": rows}
    write_json(json, document)


def _document(one: Split, file: Path | None) -> dict[str, Any]:
    return {
        "items": "nodes" if one.pairs is None else "edges",
        "n_items": one.n_items,
        "parts": {name: len(index) for name, index in one.parts.items()},
        "recipe": dict(one.recipe),
        "file": None if file is None else str(file),
    }


def _show(name: str, row: Mapping[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from graphgauge.cli.contrast import tie_remarks
    from graphgauge.report.terminal import plain

    console = Console(highlight=False, markup=False, emoji=False)
    recipe, n = row["recipe"], row["n_items"]
    which = f" {recipe['fold']}" if "fold" in recipe else ""
    by = recipe.get("shift") or " ".join(str(recipe.get(k, "")) for k in ("source", "which"))
    title = f"{plain(name)}: {n:,} {row['items']} by {plain(by.strip() or recipe['by'])}{which}"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, side in (("", "left"), (row["items"], "right"), ("share", "right")):
        table.add_column(column, justify=side)  # type: ignore[arg-type]
    for part, size in row["parts"].items():
        table.add_row(plain(part), f"{size:,}", f"{100 * size / n:.1f} %")
    rest = n - sum(row["parts"].values())
    if rest:
        table.add_row("in no part", f"{rest:,}", f"{100 * rest / n:.1f} %", style="dim")
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)
    for line in tie_remarks(recipe):
        console.print(f"  {line}")
    if row["file"]:
        console.print(f"  written: {plain(row['file'])}", soft_wrap=True)
