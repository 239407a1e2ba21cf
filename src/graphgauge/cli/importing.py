"""The command that makes a graph of a user's own files, and tells what it understood."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphgauge.cli.output import printed, progress, write_json

if TYPE_CHECKING:
    from graphgauge.exchange import Imported
    from graphgauge.graph import Graph

__all__ = ["import_graph"]

_SHOWN = 6
# On the command line an option cannot be empty and readable, so a word stands for it.
_NONE = "none"


def import_graph(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Edges: .csv, .tsv, .txt, .parquet, one or several. Or one .graphml, .mat, .npz.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where to save the graph.", show_default=False)],
    nodes: Annotated[
        Path | None, typer.Option(help="Table with a row a node: .csv, .tsv, .parquet.")
    ] = None,
    ids: Annotated[
        str | None, typer.Option(help="Its column that names the nodes. Default: id or the like.")
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(help="Column of classes, or none. Default: label, class, y or the like."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(help='Columns, such as "age,w*", or none. Default: all others.'),
    ] = None,
    edges: Annotated[
        str | None,
        typer.Option(help="Two columns of ends, or the adjacency. Default: source,target, A …"),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column of weights. Default: each edge weighs 1.")
    ] = None,
    directed: Annotated[
        bool, typer.Option("--directed", help="Rows of a list of edges lead one way.")
    ] = False,
    steps: Annotated[
        list[str] | None,
        typer.Option("--steps", help="Prepare it: undirected,loops-removed,largest-component …"),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="Write what was understood as JSON; - for standard output."),
    ] = None,
) -> None:
    """Bring in your own graph: edges and nodes in tables, GraphML, MATLAB, arrays.

    Nodes may be called anything; what they are called is kept. Nothing is guessed: where several
    columns could be meant, the error names them and the option that chooses.

    `graphgauge data import edges.csv --nodes nodes.csv --label topic --out mine.npz`
    """
    from graphgauge.exchange import Choices, import_files
    from graphgauge.steps import prepare

    named = {"ids": ids, "label": label, "features": features, "edges": edges, "weight": weight}
    given = {name: "" if value == _NONE else value for name, value in named.items()}
    choices = Choices(nodes=nodes, directed=directed, **given)
    names = [name for part in steps or () for name in part.split(",") if name]
    with progress() as tell:
        tell("reading")
        found = import_files(files, choices)
        tell("preparing")
        graph = prepare(found.graph, *names)
        tell("saving")
        graph.save(out)
    about = _about(found)
    if not printed(json):
        _show(found, about, graph, out)
    write_json(json, {"schema": "graphgauge.import/1", **about, "saved": _saved(graph, out)})


def _about(found: Imported) -> dict[str, Any]:
    """Tell what was understood, as plain values."""
    graph = found.graph
    labels = graph.labels
    classes = sorted(set(labels[labels >= 0].tolist())) if labels is not None else []
    names = graph.class_names or tuple(map(str, range(max(classes, default=-1) + 1)))
    return {
        "kind": found.source.kind,
        "nodes": graph.n_nodes,
        "ids": graph.ids is not None,
        "isolated": found.n_isolated,
        "edges": len(graph.edges),
        "directed": found.directed,
        "loops": found.n_loops,
        "merged": found.n_merged,
        "features": 0 if graph.features is None else int(graph.features.shape[1]),
        "columns": list(found.columns),
        "classes": [names[k] for k in classes],
        "unknown": 0 if labels is None else int((labels < 0).sum()),
    }


def _saved(graph: Graph, out: Path) -> dict[str, Any]:
    return {
        "path": str(out),
        "nodes": graph.n_nodes,
        "edges": len(graph.edges),
        "steps": list(graph.steps),
        "fingerprint": graph.fingerprint,
    }


def _show(found: Imported, about: dict[str, Any], graph: Graph, out: Path) -> None:
    from graphgauge.report.terminal import plain

    called = "called by their ids" if about["ids"] else "called by their numbers"
    ways = "some lead one way" if about["directed"] else "all lead both ways"
    columns = f" ({_few(about['columns'])})" if about["columns"] else ""
    unknown = f", of {about['unknown']:,} nodes unknown" if about["unknown"] else ""
    classes = f"{len(about['classes']):,} ({_few(about['classes'])}){unknown}"
    rows = {
        "read as": about["kind"],
        "nodes": f"{about['nodes']:,}, {about['isolated']:,} of them isolated, {called}",
        "edges": f"{about['edges']:,} between two nodes, {ways}",
        "loops": f"{about['loops']:,}",
        "merged": f"{about['merged']:,} repetitions",
        "features": f"{about['features']:,}{columns}" if about["features"] else "none",
        "classes": classes if found.graph.labels is not None else "none",
    }
    if graph.steps:
        sizes = f"{graph.n_nodes:,} nodes and {len(graph.edges):,} edges are left"
        rows["steps"] = f"{', '.join(graph.steps)}; {sizes}"
    for name, told in {**rows, "saved": str(out)}.items():
        typer.echo(f"{name:9} {plain(told)}")


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(name[:40] for name in names[:_SHOWN]) + more
