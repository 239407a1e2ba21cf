"""Commands that judge predictions: score, compare, audit, metrics."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphgauge.cli.output import printed, progress, write_json

if TYPE_CHECKING:
    from graphgauge.audit import Finding
    from graphgauge.scoring import Options, Scorecard
    from graphgauge.scoring.comparison import Compared

__all__ = ["audit", "compare", "judge", "list_metrics", "score"]

_Files = Annotated[
    list[Path],
    typer.Argument(help="Predictions: .npz, .csv, .tsv or .parquet.", show_default=False),
]
_File = Annotated[Path, typer.Argument(help="Predictions: .npz, .csv, .tsv or .parquet.")]
_Edges = Annotated[
    Path | None,
    typer.Option(help="Edges (or a saved graph with features): .npz, .csv, .tsv, .txt, .parquet."),
]
_Part = Annotated[
    list[str] | None,
    typer.Option(help="Part the verdict speaks of; repeat for more. Default: the test parts."),
]
_Seed = Annotated[int, typer.Option(help="Of redraws, resamples and permutations.", min=0)]
_Json = Annotated[
    Path | None, typer.Option("--json", help="Write everything as JSON; - for standard output.")
]
_Html = Annotated[Path | None, typer.Option("--html", help="Write the report as one HTML page.")]
_Protocol = Annotated[
    str, typer.Option(help="corrected: what the papers mean; published: what their code did.")
]


def score(
    files: _Files,
    edges: _Edges = None,
    json: _Json = None,
    html: _Html = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(help='Only these, such as "ece(bins=20)"; repeat, or separate by commas.'),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Groups: degree, class, homophily, distance, or none. Default: all."),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(help='Condition, such as "ece<=0.05" or "edge_ece inside"; repeat for more.'),
    ] = None,
    part: _Part = None,
    draws: Annotated[int, typer.Option(help="Redraws behind a null band; 0 for none.")] = 200,
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples behind an interval; 0 for none.")
    ] = 200,
    seed: _Seed = 0,
    protocol: _Protocol = "corrected",
) -> None:
    """Score predictions and say whether to rely on them.

    Every number comes with a bootstrap interval, every calibration error with its null band: what
    a perfectly calibrated model with the same confidences would show on this graph.

    `graphgauge score predictions.npz --html report.html --gate "ece<=0.05"`
    """
    from graphgauge.scoring import Options
    from graphgauge.scoring.files import name_files

    groups = _listed(group)
    options = Options(
        metrics=_listed(metrics) or (),
        parts=_listed(part) or (),
        groups=() if groups == ("none",) else groups,
        gates=_listed(gate) or (),
        n_draws=draws,
        n_resamples=resamples,
        seed=seed,
        protocol=protocol,
    )
    judge(name_files(files), edges, options, (json, html))


def compare(
    files: _Files,
    edges: _Edges = None,
    part: Annotated[str | None, typer.Option(help="Part to compare on.")] = None,
    level: Annotated[
        float, typer.Option(help="Chance of a false better or worse, over all pairs.")
    ] = 0.05,
    block: Annotated[
        bool, typer.Option("--block", help="Swap whole communities (links: by endpoint).")
    ] = False,
    json: _Json = None,
    seed: _Seed = 0,
) -> None:
    """Compare predictions of the same items, pair by pair and item by item.

    Each difference has an interval and a p-value of a permutation test, corrected by Holm over all
    pairs; the verdict on the first is better, worse, tied, or too few to tell.
    """
    from graphgauge.report import terminal
    from graphgauge.report.summarize import summarize_many
    from graphgauge.scoring.comparison import compare_predictions
    from graphgauge.scoring.files import name_files, read_with_edges

    with progress() as tell:
        tell("reading")
        found = {name: read_with_edges(file, edges)[0] for name, file in name_files(files).items()}
        tell("comparing")
        rows = compare_predictions(found, part=part, level=level, seed=seed, by_block=block)
    if not printed(json):
        terminal.show_comparisons(rows, level=level)
    document = summarize_many((), rows)
    told = {"level": level, "comparisons": document["comparisons"]}
    write_json(json, {"schema": document["schema"], **told})


def audit(
    file: _File,
    edges: _Edges = None,
    json: _Json = None,
    valid_edges: Annotated[
        Path | None, typer.Option(help="Validation edges that belong in no message graph.")
    ] = None,
) -> None:
    """Look for leaks, copies, ties and other flaws, and name the offenders.

    The exit code is 1 if something is found that voids the result.
    """
    from graphgauge.audit import audit as find_flaws
    from graphgauge.audit.parts import audit_stored_parts
    from graphgauge.formats import read_edges
    from graphgauge.scoring.files import count_nodes, read_with_edges

    with progress() as tell:
        tell("reading")
        overlap = audit_stored_parts(file)
        if overlap:
            _show_audit(file, overlap, json)
            raise typer.Exit(1)
        predictions, graph = read_with_edges(file, edges)
        n_nodes = graph.n_nodes if graph is not None else count_nodes(predictions)
        held = None if valid_edges is None else read_edges(valid_edges, n_nodes).edges
        tell("auditing")
        findings = find_flaws(predictions, graph=graph, valid_edges=held)
    _show_audit(file, findings, json)
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


def list_metrics(
    name: Annotated[str | None, typer.Argument(help="Show only this one.")] = None,
    json: _Json = None,
) -> None:
    """List the metrics: definition, direction, range, value under chance, reference."""
    from graphgauge.metrics import METRICS, metric
    from graphgauge.report import terminal
    from graphgauge.report.summarize import definition_dict

    cards = [metric(name)] if name else list(METRICS.values())
    if not printed(json):
        terminal.show_metrics(cards)
    rows = [{"name": card.label, **definition_dict(card)} for card in cards]
    write_json(json, {"schema": "graphgauge.metrics/1", "metrics": rows})


def judge(
    files: Mapping[str, Path],
    edges: Path | None,
    options: Options,
    outputs: tuple[Path | None, Path | None],
) -> None:
    """Score files, show the cards, write what was asked for, and exit by the gates."""
    from graphgauge.report import terminal
    from graphgauge.scoring.files import score_files

    json, html = outputs
    with progress() as tell:
        cards, rows = score_files(files, options, edges=edges, tell=tell)
    if not printed(json):
        for card in cards:
            terminal.show_card(card, brief=len(cards) > 1)
        if len(cards) > 1:
            terminal.show_overview(cards)
            terminal.show_comparisons(rows)
    _write(cards, rows, json, html)
    if html is not None and not printed(json):
        terminal.show_written(html)
    if not all(card.passed for card in cards):
        raise typer.Exit(1)


def _write(
    cards: Sequence[Scorecard], rows: Sequence[Compared], json: Path | None, html: Path | None
) -> None:
    from graphgauge.report.summarize import summarize, summarize_many

    if json is None and html is None:
        return
    document = summarize(cards[0]) if len(cards) == 1 else summarize_many(cards, rows)
    write_json(json, document)
    if html is not None:
        from graphgauge.archive import write_atomically
        from graphgauge.report.html import render

        page = render(document).encode()
        write_atomically(html, lambda file: file.write(page))


def _show_audit(file: Path, findings: Sequence[Finding], json: Path | None) -> None:
    from graphgauge.report import terminal
    from graphgauge.report.summarize import finding_dict

    if not printed(json):
        terminal.show_findings(findings)
    rows = [finding_dict(finding, most=None) for finding in findings]
    write_json(json, {"schema": "graphgauge.audit/1", "name": str(file), "findings": rows})


def _listed(values: list[str] | None) -> tuple[str, ...] | None:
    """Split at commas outside brackets: ``ece(bins=5,norm=2),nll`` are two."""
    if not values:
        return None
    pieces = [piece for value in values for piece in re.split(r",(?![^(]*\))", value)]
    return tuple(piece.strip() for piece in pieces if piece.strip())
