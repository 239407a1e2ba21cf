"""Laws of the verdict."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.tables import Side, Verdict, combined_sd, judge
from graphgauge.tables.samples import sample_deviation

NUMBERS = st.floats(-100, 100)
SPREADS = st.floats(0, 10)
MANY = st.integers(5, 10)
SIDES = st.builds(Side, NUMBERS, SPREADS, MANY)


@given(NUMBERS, SPREADS, SPREADS, MANY)
def test_equally_many_runs_add_their_variances(mean, one, other, n):
    found = combined_sd(Side(mean, one, n), Side(mean, other, n))
    assert found == pytest.approx(math.hypot(one, other), abs=1e-9)


@given(SIDES, SIDES)
def test_the_order_of_sides_does_not_matter(one, other):
    assert combined_sd(one, other) == pytest.approx(combined_sd(other, one), abs=1e-12)
    assert judge(one, other) is judge(other, one)


@given(SIDES)
def test_what_one_side_does_not_know_the_other_tells(side):
    for unknown in (Side(0.0), Side(0.0, math.nan, 5), Side(0.0, 0.0, 1)):
        assert combined_sd(side, unknown) == pytest.approx(math.sqrt(2) * side.sd, abs=1e-12)


@given(SIDES, SPREADS, MANY)
def test_the_same_number_is_reproduced(side, sd, n):
    assert judge(side, Side(side.mean, sd, n)) is Verdict.REPRODUCED
    assert judge(Side(side.mean), Side(side.mean)) is Verdict.REPRODUCED


@given(SIDES, SIDES, st.floats(0, 5))
def test_more_spread_or_rounding_never_hurts(one, other, more):
    if judge(one, other) is Verdict.REPRODUCED:
        wider = Side(one.mean, one.sd + more, one.n)
        assert judge(wider, other) is Verdict.REPRODUCED
        assert judge(one, other, rounding=more) is Verdict.REPRODUCED


@given(SIDES, SIDES, st.floats(1.001, 3))
def test_further_away_is_never_better(one, other, factor):
    if judge(one, other) is Verdict.DIFFERS:
        further = Side(other.mean + factor * (one.mean - other.mean), one.sd, one.n)
        assert judge(further, other) is Verdict.DIFFERS


@given(st.lists(NUMBERS, min_size=2, max_size=10))
def test_a_population_turns_into_a_sample(values):
    found = sample_deviation(float(np.std(values)), len(values), 0)
    assert found == pytest.approx(float(np.std(values, ddof=1)), abs=1e-9)
    assert sample_deviation(found, len(values), 1) == found


def test_two_deviations_are_the_bound():
    published = Side(80.0, 0.3, 5)
    assert judge(Side(81.0, 0.4, 5), published) is Verdict.REPRODUCED
    assert judge(Side(81.001, 0.4, 5), published) is Verdict.DIFFERS
    assert judge(Side(81.005, 0.4, 5), published, rounding=0.005) is Verdict.REPRODUCED


def test_deviations_of_few_runs_are_not_relied_on():
    few, print_ = Side(80.0, 0.0, 4), Side(81.0)
    assert judge(few, print_) is Verdict.TOO_FEW
    assert judge(Side(80.0, 0.0, 5), print_) is Verdict.DIFFERS
    # Together they know enough: 2 √(2 (1·0² + 4·0.5²) / 5) = 1.26.
    assert judge(Side(80.0, 0.0, 2), Side(81.0, 0.5, 5)) is Verdict.REPRODUCED
    assert judge(Side(80.0, 0.3, 3), Side(80.0, 0.3, 3)) is Verdict.REPRODUCED


def test_what_cannot_be_judged():
    nothing = Side(math.nan)
    assert judge(nothing, Side(1.0, 1.0, 5)) is Verdict.NOT_RUN
    assert judge(nothing, nothing) is Verdict.NOT_PRINTED
    assert judge(Side(1.0), Side(2.0)) is Verdict.TOO_FEW
    assert judge(Side(1.0, 0.1, 5), Side(1.0), void=True) is Verdict.ERRATUM
    assert judge(nothing, Side(1.0), void=True) is Verdict.NOT_RUN
