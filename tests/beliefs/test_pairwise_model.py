"""What a model may be, and what is said of what it may not."""

from __future__ import annotations

import numpy as np
import pytest

from graphgauge.beliefs import PairwiseModel, propagate_beliefs
from graphgauge.errors import InputError

SCORES = np.zeros((3, 2))
PATH = [[0, 1], [1, 2]]
EYE = np.eye(2)
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"scores": [[0, 0], [NAN, 0], [INF, 0]]}, r"scores: 2 rows are no .* \(rows 1, 2\)"),
        ({"scores": [[0, 0], [1e90, 0], [0, -1e90]]}, r"scores: 2 rows are .* large \(rows 1, 2\)"),
        ({"scores": [[0, 0], [-INF, -INF], [0, 0]]}, r"scores: 1 row allows no label \(row 1\)"),
        ({"scores": np.zeros((3, 0))}, r"scores: has shape \(3, 0\), no classes to choose from"),
        ({"scores": np.zeros(3)}, r"scores: has 1 axes .*"),
        ({"edges": [[0, 1], [1, 3]]}, r"edges: 1 row points outside nodes 0\.\.2 \(row 1\)"),
        ({"edges": [[0, 1], [1, 1]]}, r"edges: 1 joins a node with itself .* \(row 1\)"),
        ({"edges": [[0, 1], [2, 1], [1, 0], [1, 2]]}, r"edges: 2 join .* \(rows 2, 3\)"),
        ({"edges": [[0, 1, 2]]}, r"edges: has shape \(1, 3\), expected pairs of nodes"),
        ({"edges": [[0, 1], [2]]}, r"edges: not an array of numbers .*"),
        ({"edges": [[0, 0.5]]}, r"edges: 1 row is not a whole number \(row 0\)"),
        ({"coupling": np.eye(3)}, r"coupling: has shape \(3, 3\), expected \(2, 2\) or .*"),
        ({"coupling": np.zeros((3, 2, 2))}, r"coupling: .* or \(2, 2, 2\)"),
        ({"coupling": [[0, NAN], [0, 0]]}, r"coupling: 1 row is no score .* \(row 0\)"),
        ({"coupling": [[0], [0, 0]]}, r"coupling: not an array of numbers .*"),
        ({"coupling": [[[0, 0], [0, 0]], [[0, 0], [0, INF]]]}, r"coupling: 1 row .* \(row 1\)"),
        ({"strengths": [1.0]}, r"lengths differ: edges has 2 rows, strengths 1"),
        ({"strengths": [1.0, NAN]}, r"strengths: 1 row is not finite \(row 1\)"),
        ({"strengths": [1e80, 1.0]}, r"strengths: 1 row is no score or too large \(row 0\)"),
        (
            {"strengths": [1.0, 1.0], "coupling": np.zeros((2, 2, 2))},
            r"strengths: scale one coupling .*",
        ),
        (
            {"strengths": [1.0, 1.0], "coupling": [[0, -INF], [0, 0]]},
            r"strengths: an impossible pair .*",
        ),
        ({"clamped": [0, 1]}, r"lengths differ: scores has 3 rows, clamped 2"),
        ({"clamped": [0, 2, -2]}, r"clamped: 2 rows are no label 0\.\.1, nor -1 \(rows 1, 2\)"),
        (
            {"clamped": [0, 1, -1], "scores": [[-INF, 0], [0, 0], [0, 0]]},
            r"clamped: 1 row is at a label that scores call impossible \(row 0\)",
        ),
    ],
)
def test_bad_models_are_named(given, told):
    with pytest.raises(InputError, match=f"^{told}$"):
        PairwiseModel(**{"scores": SCORES, "edges": PATH, "coupling": EYE} | given)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"product": "mean"}, "product: 'mean' is neither 'sum' nor 'max'"),
        ({"damping": 1.0}, "damping: 1.0 is not from 0 to below 1"),
        ({"damping": NAN}, "damping: nan is not from 0 to below 1"),
        ({"tolerance": -1.0}, "tolerance: -1.0 is not a number from 0"),
        ({"tolerance": NAN}, "tolerance: nan is not a number from 0"),
        ({"iterations": 0}, "iterations: 0 is not a whole number above 0"),
        ({"iterations": 2.5}, "iterations: 2.5 is not a whole number above 0"),
    ],
)
def test_bad_options_are_named(given, told):
    with pytest.raises(InputError, match=f"^{told}$"):
        propagate_beliefs(PairwiseModel(SCORES, PATH, EYE), **given)


def test_nodes_that_are_left_no_label_are_named():
    barred = np.array([[0.0, -INF], [-INF, 0.0]])
    model = PairwiseModel(SCORES, PATH, barred, clamped=[0, -1, 1])
    with pytest.raises(InputError, match=r"^scores: 1 row is left no label .* \(row 1\)$"):
        propagate_beliefs(model, iterations=1)


def test_precision_is_that_of_the_scores():
    single = PairwiseModel(SCORES.astype(np.float32), PATH, EYE, strengths=np.ones(2))
    assert single.coupling.dtype == single.strengths.dtype == np.float32
    whole = PairwiseModel([[0, 1], [2, 3], [4, 5]], PATH, EYE.astype(np.float32))
    assert whole.scores.dtype == whole.coupling.dtype == np.float64
    with pytest.raises(InputError, match=r"^coupling: 2 rows are no scores or too large"):
        PairwiseModel(SCORES.astype(np.float32), PATH, 1e40 * EYE)
