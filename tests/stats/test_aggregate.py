from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from graphgauge.errors import InputError
from graphgauge.stats import summarize


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12))
def test_figures_equal_the_standard_library_and_scipy(values):
    found = summarize(values)
    assert found.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert found.sd == pytest.approx(statistics.stdev(values), abs=1e-6)
    assert summarize(values, ddof=0).sd == pytest.approx(statistics.pstdev(values), abs=1e-6)
    if found.sd > 1e-6:
        low, high = stats.ttest_1samp(values, 0).confidence_interval(0.95)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


def test_the_interval_does_not_depend_on_ddof():
    one, zero = summarize([1.0, 2.0, 4.0]), summarize([1.0, 2.0, 4.0], ddof=0)
    assert (one.low, one.high) == (zero.low, zero.high)
    assert one.sd > zero.sd


def test_nothing_is_rounded():
    assert summarize([1 / 3, 2 / 3]).mean == (1 / 3 + 2 / 3) / 2


def test_a_failed_seed_is_never_dropped_in_silence():
    found = summarize([0.8, np.nan, 0.9, np.nan, 0.7])
    assert (found.n, found.n_expected, found.complete) == (3, 5, False)
    assert np.isnan([found.mean, found.sd, found.low, found.high]).all()
    assert str(found) == "3 of 5 seeds"
    assert str(summarize([0.8, 0.9], n_expected=5)) == "2 of 5 seeds"


def test_one_seed_and_none():
    one = summarize([0.5])
    assert one.mean == 0.5
    assert np.isnan([one.sd, one.low, one.high]).all()
    assert summarize([0.5], ddof=0).sd == 0
    assert np.isnan(summarize([]).mean)
    assert str(summarize([])) == "0 of 0 seeds"


def test_an_infinite_value_is_a_value():
    found = summarize([np.inf, 1.0])
    assert (found.mean, found.n) == (np.inf, 2)
    assert np.isnan(found.sd)


def test_single_precision_is_averaged_in_double():
    values = np.array([0.1, 0.2, 0.3], np.float32)
    assert summarize(values).mean == values.astype(float).mean()


@pytest.mark.parametrize("options", [{"ddof": 2}, {"level": 1.0}, {"n_expected": 1}])
def test_refusals(options):
    with pytest.raises(InputError):
        summarize([1.0, 2.0], **options)
