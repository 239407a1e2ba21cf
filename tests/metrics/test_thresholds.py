"""The door and the sums shared by selective prediction and OOD detection."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.metrics.thresholds import sweep

NAMES = ("score", "ood")


@given(
    st.lists(st.tuples(st.integers(-2, 2), st.booleans(), st.integers(0, 3)), max_size=12),
    st.booleans(),
)
@settings(deadline=None)
def test_sums_equal_a_loop_over_thresholds(
    items: list[tuple[int, bool, int]], falling: bool
) -> None:
    score = np.array([s for s, _, _ in items], float)
    marks = np.array([m for _, m, _ in items], bool)
    weights = np.array([w for _, _, w in items], float)
    taken = sweep(score, marks, weights, names=NAMES, falling=falling)
    levels = sorted({s for s, _, w in items if w}, reverse=falling)
    inside = [[i for i in items if (i[0] >= v if falling else i[0] <= v)] for v in levels]
    assert taken.marked.tolist() == [sum(w for _, m, w in part if m) for part in inside]
    assert taken.others.tolist() == [sum(w for _, m, w in part if not m) for part in inside]
    assert taken.n_items == int((weights > 0).sum())


def test_counts_stay_whole_without_weights() -> None:
    taken = sweep([1, 2, 2, 3], [1, 0, 1, 0], names=NAMES, falling=False)
    assert taken.marked.dtype.kind == taken.others.dtype.kind == "i"
    assert taken.taken.tolist() == [1, 3, 4]


def test_scores_may_be_infinite_but_not_nan() -> None:
    taken = sweep([-np.inf, 0, np.inf, np.inf], [0, 0, 1, 1], names=NAMES, falling=True)
    assert taken.marked.tolist() == [2, 2, 2]
    with pytest.raises(InputError, match=r"^score: NaN has no place in an order \(row 1\)$"):
        sweep([0, np.nan], [0, 1], names=NAMES, falling=True)


def test_signed_zeros_tie() -> None:
    assert len(sweep([0.0, -0.0], [0, 1], names=NAMES, falling=False).marked) == 1


@pytest.mark.parametrize(
    ("score", "marks", "weights", "message"),
    [
        ([0, 1], [0, 2], None, r"ood: expected booleans or zeros and ones \(row 1\)"),
        ([0, 1], [0, 0.5], None, r"ood: 1 row is not a whole number \(row 1\)"),
        ([0, 1], [0, 1, 1], None, "lengths differ: score has 2 rows, ood has 3"),
        ([[0, 1]], [0, 1], None, "score: has 2 axes"),
        ([0, 1], [0, 1], [1], "lengths differ: score has 2 rows, weights has 1"),
        ([0, 1], [0, 1], [1, -1], r"weights: may not be negative \(row 1\)"),
        ([0, 1], [0, 1], [1, np.inf], r"weights: 1 row is not finite \(row 1\)"),
        (["a", "b"], [0, 1], None, "score: holds <U1 values, expected numbers"),
    ],
)
def test_bad_input_is_named(score: object, marks: object, weights: object, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        sweep(score, marks, weights, names=NAMES, falling=False)


def test_input_is_left_alone(rng: np.random.Generator) -> None:
    score, marks, weights = rng.random(20), rng.random(20) < 0.5, rng.integers(0, 3, 20) * 1.0
    before = score.copy(), marks.copy(), weights.copy()
    for array in (score, marks, weights):
        array.flags.writeable = False
    sweep(score, marks, weights, names=NAMES, falling=True)
    for array, kept in zip((score, marks, weights), before, strict=True):
        np.testing.assert_array_equal(array, kept)
