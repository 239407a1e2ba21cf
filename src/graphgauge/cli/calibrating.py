"""Commands that correct probabilities: calibrate, conformal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphgauge.cli.output import printed, progress, write_json

if TYPE_CHECKING:
    from graphgauge.predictions import NodePredictions

__all__ = ["calibrate", "conformal"]

_File = Annotated[Path, typer.Argument(help="Predictions of nodes: .npz, .csv, .tsv or .parquet.")]
_Edges = Annotated[
    Path | None,
    typer.Option(help="Edges, if the file has none: .npz, .csv, .tsv, .txt, .parquet."),
]
_On = Annotated[
    str | None,
    typer.Option(
        help="Part to fit on, whose labels are read and no others. Default: the validation part.",
        show_default=False,
    ),
]
_Json = Annotated[
    Path | None, typer.Option("--json", help="Write everything as JSON; - for standard output.")
]


def calibrate(
    file: _File,
    method: Annotated[
        str,
        typer.Option(
            help="temperature, ensemble, histogram, isotonic, vector, matrix, dirichlet; with "
            "edges and torch: cagcn, gats. Hyper-parameters as in histogram(bins=10)."
        ),
    ] = "temperature",
    on: _On = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the calibrated predictions (.npz).")
    ] = None,
    edges: _Edges = None,
    json: _Json = None,
    seed: Annotated[int, typer.Option(help="Of the null bands.", min=0)] = 0,
) -> None:
    """Correct probabilities by what one part teaches, and show what changes on the others.

    Beside every calibration error after the correction stands its null band: what a perfectly
    calibrated model with these probabilities would show. Infinite NLL means that something happened
    that was given no chance at all, as histogram and isotonic do.

    `graphgauge calibrate predictions.npz --method temperature --on valid --out calibrated.npz`
    """
    from graphgauge.calibration import calibrator, default_part, effects
    from graphgauge.cli.calibrated import show_effects, show_saved

    made = calibrator(method)
    with progress() as tell:
        tell("reading")
        given = _read(file, edges)
        part = on or default_part(given.parts)
        tell(f"fitting {made.label}")
        fitted = made.fit(given, part)
        corrected = fitted(given)
        tell("measuring")
        rows = effects(given, corrected, part, seed=seed)
    document = {
        "schema": "graphgauge.calibration/1",
        "name": given.name,
        "method": made.label,
        "part": part,
        "learned": dict(fitted.told),
        "effects": [{**asdict(row), "infinite": isinf(row.after)} for row in rows],
    }
    if out is not None:
        corrected.save(out)
    if not printed(json):
        show_effects(document, rows)
        if out is not None:
            show_saved("calibrated predictions", out)
    _write(json, document)


def conformal(
    file: _File,
    level: Annotated[float, typer.Option(help="Promised coverage, between 0 and 1.")] = 0.9,
    on: _On = None,
    score: Annotated[
        str,
        typer.Option(
            help="plain: one less the probability; adaptive: the probability of all classes that "
            "are more probable, and its own."
        ),
    ] = "plain",
    diffusion: Annotated[
        float, typer.Option(help="Share of a score that is the mean of the neighbours' scores.")
    ] = 0.0,
    seed: Annotated[
        int | None,
        typer.Option(
            help="Randomise the adaptive score, so that sets cover no more than promised.",
            min=0,
            show_default=False,
        ),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Groups to look into: degree, class, homophily, distance; repeat."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the sets [n, C] (.npz).")] = None,
    edges: _Edges = None,
    json: _Json = None,
) -> None:
    """Turn predictions into sets of classes that hold the true one as often as promised.

    The promise is for nodes exchangeable with those fitted on. Beside the coverage of a part stands
    what is to be expected of it then, since both parts are finite; remarks say where parts are not
    exchangeable.

    `graphgauge conformal predictions.npz --level 0.9 --on valid --score adaptive`
    """
    from graphgauge.calibration import Conformal, default_part
    from graphgauge.cli.calibrated import show_saved, show_sets

    rule = Conformal(level=level, score=score, diffusion=diffusion, seed=seed)
    with progress() as tell:
        tell("reading")
        given = _read(file, edges)
        tell("fitting")
        fitted = rule.fit(given, on or default_part(given.parts))
        sets = fitted(given)
        rows = sets.rows(group or ())
    document = {
        "schema": "graphgauge.conformal/1",
        "name": given.name,
        **asdict(rule),
        "part": fitted.part,
        "n": fitted.n,
        "threshold": fitted.threshold,
        "rows": [asdict(row) for row in rows],
        "remarks": list(sets.remarks()),
    }
    if out is not None:
        from graphgauge.archive import write_npz

        write_npz(out, {"sets": sets.members})
    if not printed(json):
        show_sets(document, rows)
        if out is not None:
            show_saved("sets", out)
    _write(json, document)


def _read(file: Path, edges: Path | None) -> NodePredictions:
    from graphgauge.errors import InputError
    from graphgauge.predictions import NodePredictions
    from graphgauge.scoring.files import read_with_edges

    given, _ = read_with_edges(file, edges)
    if not isinstance(given, NodePredictions):
        raise InputError(f"{file}: holds scores of links; these commands are for classes of nodes")
    return given


def _write(json: Path | None, document: Mapping[str, object]) -> None:
    from graphgauge.report.summarize import plain_values

    write_json(json, plain_values(document))
