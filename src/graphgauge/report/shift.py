"""The page about a split: how the nodes on its two sides differ, from the dict it is told in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from markupsafe import Markup

from graphgauge.description.describe import Cloud, Contrast, Description, Group
from graphgauge.properties import PROPERTIES
from graphgauge.report.contrasts import cloud, histograms
from graphgauge.report.cuts import Cut, Limits
from graphgauge.report.figures import Figure, Values
from graphgauge.report.html import environment
from graphgauge.report.strips import share_bar
from graphgauge.report.summarize import plain_values
from graphgauge.report.svg import tick_text
from graphgauge.splits import SHIFTS

__all__ = ["SCHEMA", "differences", "groups", "render_shift", "summarize_shift"]

SCHEMA = "graphgauge.shift/1"
_DIGITS = 4
_CLOUDS = {
    "edges": "The graph, by its edges",
    "pca": "The features, by their main axes",
    "tsne": "The features, by t-SNE",
}


def summarize_shift(found: Description) -> dict[str, Any]:
    """Return a description as plain values: what ``--json`` writes and the page is made from.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> from graphgauge.description import Options, describe
    >>> made = planted(200, 3)
    >>> told = summarize_shift(describe(made.graph, made.split, Options(drawn=False)))
    >>> told["sides"], told["halves"][1]["n"]
    (['ID', 'OOD'], 100)
    """
    recipe = dict(found.recipe)
    document = {
        "schema": SCHEMA,
        "graph": found.graph,
        "n_nodes": found.n_nodes,
        "n_edges": found.n_edges,
        "class_names": list(found.class_names),
        "recipe": recipe,
        "about": SHIFTS[recipe["shift"]].meaning if recipe.get("shift") in SHIFTS else "",
        "sides": list(found.sides.names),
        "whole": _group(found.whole),
        "halves": [_group(half) for half in found.halves],
        "parts": [_group(part) for part in found.parts],
        "class_gap": found.class_gap,
        "contrasts": [_contrast(contrast) for contrast in found.contrasts],
        "clouds": [_cloud(points) for points in found.clouds],
    }
    plain: dict[str, Any] = plain_values(document)
    return plain


def _group(group: Group) -> dict[str, Any]:
    lengths = asdict(group.distances)
    lengths["shares"] = group.distances.shares.tolist()
    return {**asdict(group), "classes": group.classes.tolist(), "distances": lengths}


def _contrast(contrast: Contrast) -> dict[str, Any]:
    about = PROPERTIES[contrast.name].description if contrast.name in PROPERTIES else ""
    return {**asdict(contrast), "edges": contrast.edges.tolist(), "about": about}


def _cloud(points: Cloud) -> dict[str, Any]:
    return {
        "by": points.by,
        "points": points.points.round(_DIGITS).tolist(),
        "sides": points.sides.tolist(),
        "lines": points.lines.tolist(),
        "n_nodes": points.n_nodes,
    }


def differences(document: Values) -> Iterator[tuple[str, object, object, object]]:
    """Yield what is compared: its name, its value on both sides, and the gap between 0 and 1.

    What is known of neither side is left out.

    Examples
    --------
    >>> half = {"homophily": 0.5, "distances": {"mean": 4.0}}
    >>> rows = differences({"halves": [half, half], "class_gap": 0.1, "contrasts": []})
    >>> [name for name, *_ in rows]
    ['class balance', 'homophily', 'distance']
    """
    first, second = document["halves"]
    rows = [
        ("class balance", None, None, document["class_gap"]),
        *((c["name"], *c["means"].values(), c["gap"]) for c in document["contrasts"]),
        ("homophily", first["homophily"], second["homophily"], None),
        ("distance", first["distances"]["mean"], second["distances"]["mean"], None),
    ]
    for name, *found in rows:
        if any(value is not None for value in found):
            yield name, found[0], found[1], found[2]


def groups(document: Values) -> list[Values]:
    """List the whole, its sides and its parts; a side that is one part is listed once."""
    named = {part["name"] for part in document["parts"]}
    halves = [half for half in document["halves"] if half["name"] not in named]
    return [document["whole"], *halves, *document["parts"]]


def render_shift(document: Values) -> str:
    """Write a description as one page of HTML that stands on its own.

    Parameters
    ----------
    document
        As `summarize_shift` gives it.

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> from graphgauge.description import Options, describe
    >>> made = planted(200, 3)
    >>> page = render_shift(summarize_shift(describe(made.graph, made.split)))
    >>> "<script" in page, page.count("</figure>")
    (False, 7)
    """
    limits = Limits()
    sides = tuple(map(str, document["sides"]))
    template = environment().get_template("shift.html.j2")
    return template.render(
        doc=document,
        sides=sides,
        rows=[(*row, share_bar(row[-1])) for row in differences(document)],
        groups=Cut.of(groups(document), limits.rows),
        clouds=[_drawn_cloud(c, sides, f"c{i}") for i, c in enumerate(document["clouds"])],
        contrasts=Cut.of(_drawn_contrasts(document), limits.figures),
        hops=_drawn_hops(document),
        classes=Cut.of(_classes(document), limits.rows),
        recipe_rows=list(_plainly(document["recipe"])),
    )


def _drawn_cloud(values: Values, sides: Sequence[str], key: str) -> tuple[str, Figure]:
    title = _CLOUDS.get(str(values["by"]), "Nodes")
    return title, cloud(values, key=key, sides=(sides[0], sides[1]), title=title)


def _drawn_contrasts(document: Values) -> Iterator[tuple[Values, Figure]]:
    for i, contrast in enumerate(document["contrasts"]):
        names = (str(contrast["name"]), "nodes")
        yield contrast, histograms(contrast["edges"], contrast["shares"], key=f"p{i}", names=names)


def _drawn_hops(document: Values) -> Figure:
    lengths = [half["distances"]["shares"] for half in document["halves"]]
    longest = max(map(len, lengths))
    padded = {
        side: [*shares, *[0.0] * (longest - len(shares))]
        for side, shares in zip(document["sides"], lengths, strict=True)
    }
    edges = list(range(1, longest + 2))
    return histograms(edges, padded, key="h", names=("hops", "pairs"))


def _classes(document: Values) -> Iterator[tuple[str, Mapping[str, Any], object, Markup, Markup]]:
    """Yield the classes, those first whose shares differ most."""
    first, second = (half["classes"] for half in document["halves"])
    rows = list(zip(document["class_names"], first, second, strict=False))
    for name, one, other in sorted(rows, key=lambda row: -abs(row[1] - row[2])):
        yield name, one, other, share_bar(one), share_bar(other)


def _plainly(recipe: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Keep of a recipe what is one word or number."""
    for key, value in recipe.items():
        if isinstance(value, str | int):
            yield key, value
        elif isinstance(value, float):
            yield key, tick_text(value)
