"""Scoring of files: read with their edges, named, scored one by one, compared where they can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from graphgauge.errors import InputError
from graphgauge.formats import naming, read_edges, read_predictions
from graphgauge.graph import Graph
from graphgauge.predictions import LinkPredictions, NodePredictions
from graphgauge.scoring import Options, Scorecard, score
from graphgauge.scoring.comparison import Compared, compare_predictions

__all__ = ["count_nodes", "name_files", "read_with_edges", "score_files"]

Predictions = NodePredictions | LinkPredictions


def score_files(
    files: Mapping[str, Path],
    options: Options | None = None,
    *,
    edges: Path | None = None,
    tell: Callable[[str], None] = lambda stage: None,
) -> tuple[list[Scorecard], list[Compared]]:
    """Score files of predictions, and compare those that are of the same items.

    Parameters
    ----------
    files
        By name, as `name_files` gives them.
    options
        What to compute.
    edges
        A file of edges, for predictions that carry none, and for the audit.
    tell
        Called with the name of each stage as it begins.
    """
    options = options or Options()
    cards: list[Scorecard] = []
    found: dict[str, Predictions] = {}
    for name, file in files.items():
        tell(f"{name}: reading")
        predictions, graph = read_with_edges(file, edges)
        found[name] = replace(predictions, name=name)

        def tell_stage(stage: str, name: str = name) -> None:
            tell(f"{name}: {stage}")

        with naming(file):
            cards.append(score(found[name], options, graph=graph, tell=tell_stage))
    same = len({predictions.fingerprint for predictions in found.values()}) == 1
    if len(found) == 1 or not same:
        return cards, []
    tell("comparing")
    return cards, compare_predictions(found, part=cards[0].judged[0], seed=options.seed)


def read_with_edges(file: Path, edges: Path | None = None) -> tuple[Predictions, Graph | None]:
    """Read predictions, and the graph that was given with them; errors name the file."""
    predictions = read_predictions(file)
    if edges is None:
        return predictions, None
    graph = read_edges(edges, count_nodes(predictions))
    if isinstance(predictions, NodePredictions) and predictions.edges is None:
        predictions = replace(predictions, edges=graph.edges)
    return predictions, graph


def count_nodes(predictions: Predictions) -> int | None:
    """Return how many nodes the graph must have, if the predictions say so."""
    return predictions.n_nodes if isinstance(predictions, NodePredictions) else None


def name_files(files: Sequence[Path]) -> dict[str, Path]:
    """Call files by their names as far as these tell them apart, else by their paths.

    Examples
    --------
    >>> list(name_files([Path("runs/gcn.npz"), Path("runs/gat.npz")]))
    ['gcn', 'gat']
    >>> list(name_files([Path("a/gcn.npz"), Path("b/gcn.npz")]))
    ['a/gcn.npz', 'b/gcn.npz']
    """
    twice = next((file for place, file in enumerate(files) if file in files[:place]), None)
    if twice is not None:
        raise InputError(f"{twice}: is given twice")
    for short in ({file.stem: file for file in files}, {file.name: file for file in files}):
        if len(short) == len(files):
            return short
    return {str(file): file for file in files}
