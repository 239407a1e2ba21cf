"""graphgauge measures how far a graph model can be trusted, from nothing but its predictions.

The public names below are loaded when they are first used, so that importing the package (and
``graphgauge --help``) costs next to nothing.

>>> import graphgauge as gg
>>> predictions = gg.NodePredictions([[0.9, 0.1], [0.3, 0.7], [0.8, 0.2]], [0, 1, 1])
>>> card = gg.score(predictions, gg.Options(n_draws=50, n_resamples=0))
>>> round(card.find("accuracy").value, 3)
0.667
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphgauge.beliefs import Beliefs as Beliefs
    from graphgauge.beliefs import PairwiseModel as PairwiseModel
    from graphgauge.beliefs import propagate_beliefs as propagate_beliefs
    from graphgauge.beliefs import published_beliefs as published_beliefs
    from graphgauge.calibration import CALIBRATORS as CALIBRATORS
    from graphgauge.calibration import Calibrator as Calibrator
    from graphgauge.calibration import Conformal as Conformal
    from graphgauge.calibration import PredictionSets as PredictionSets
    from graphgauge.calibration import calibrator as calibrator
    from graphgauge.candidates import Candidates as Candidates
    from graphgauge.datasets.card import CARDS as CARDS
    from graphgauge.datasets.load import load as load
    from graphgauge.datasets.load import open_graph as open_graph
    from graphgauge.datasets.planted import planted as planted
    from graphgauge.description import describe as describe
    from graphgauge.errors import InputError as InputError
    from graphgauge.exchange import from_networkx as from_networkx
    from graphgauge.exchange import from_pyg as from_pyg
    from graphgauge.exchange import from_scipy as from_scipy
    from graphgauge.formats import read_edges as read_edges
    from graphgauge.formats import read_predictions as read_predictions
    from graphgauge.graph import Graph as Graph
    from graphgauge.methods import NODE_METHODS as NODE_METHODS
    from graphgauge.methods import Method as Method
    from graphgauge.methods import Predictor as Predictor
    from graphgauge.methods import combine as combine
    from graphgauge.methods import method as method
    from graphgauge.metrics import METRICS as METRICS
    from graphgauge.metrics import Metric as Metric
    from graphgauge.metrics import Outcomes as Outcomes
    from graphgauge.metrics import Ranks as Ranks
    from graphgauge.metrics import metric as metric
    from graphgauge.metrics.null import null_bands as null_bands
    from graphgauge.parts import Split as Split
    from graphgauge.predictions import LinkPredictions as LinkPredictions
    from graphgauge.predictions import NodePredictions as NodePredictions
    from graphgauge.properties import node_property as node_property
    from graphgauge.records import Record as Record
    from graphgauge.records import Records as Records
    from graphgauge.records import RunSpec as RunSpec
    from graphgauge.report import render as render
    from graphgauge.report.summarize import summarize as summarize
    from graphgauge.scoring import Options as Options
    from graphgauge.scoring import Scorecard as Scorecard
    from graphgauge.scoring import score as score
    from graphgauge.scoring.comparison import compare_predictions as compare_predictions
    from graphgauge.splits import fold_splits as fold_splits
    from graphgauge.splits import k_shot_split as k_shot_split
    from graphgauge.splits import link_split as link_split
    from graphgauge.splits import published_split as published_split
    from graphgauge.splits import random_split as random_split
    from graphgauge.splits import shift_split as shift_split
    from graphgauge.uncertainty import Uncertainty as Uncertainty

_HOME = {
    "Beliefs": "beliefs",
    "CALIBRATORS": "calibration",
    "CARDS": "datasets.card",
    "Calibrator": "calibration",
    "Candidates": "candidates",
    "Conformal": "calibration",
    "Graph": "graph",
    "InputError": "errors",
    "LinkPredictions": "predictions",
    "METRICS": "metrics",
    "Method": "methods",
    "Metric": "metrics",
    "NODE_METHODS": "methods",
    "NodePredictions": "predictions",
    "Options": "scoring",
    "Outcomes": "metrics",
    "PairwiseModel": "beliefs",
    "PredictionSets": "calibration",
    "Predictor": "methods",
    "Ranks": "metrics",
    "Record": "records",
    "Records": "records",
    "RunSpec": "records",
    "Scorecard": "scoring",
    "Split": "parts",
    "Uncertainty": "uncertainty",
    "calibrator": "calibration",
    "combine": "methods",
    "compare_predictions": "scoring.comparison",
    "describe": "description",
    "fold_splits": "splits",
    "from_networkx": "exchange",
    "from_pyg": "exchange",
    "from_scipy": "exchange",
    "k_shot_split": "splits",
    "link_split": "splits",
    "load": "datasets.load",
    "method": "methods",
    "metric": "metrics",
    "node_property": "properties",
    "null_bands": "metrics.null",
    "open_graph": "datasets.load",
    "planted": "datasets.planted",
    "propagate_beliefs": "beliefs",
    "published_beliefs": "beliefs",
    "published_split": "splits",
    "random_split": "splits",
    "read_edges": "formats",
    "read_predictions": "formats",
    "render": "report",
    "score": "scoring",
    "shift_split": "splits",
    "summarize": "report.summarize",
}

__all__ = [*_HOME]  # noqa: PLE0604 -- the table above is the one explicit list


def __getattr__(name: str) -> Any:
    """Load a public name from its home."""
    if name not in _HOME:
        raise AttributeError(f"module 'graphgauge' has no attribute {name!r}")
    value = getattr(import_module(f"graphgauge.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(_HOME)
