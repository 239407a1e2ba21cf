"""Levels: order kept, rounding forgotten."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.splits.levels import TOLERANCE, levels, share_tied

_VALUES = st.lists(st.integers(-5, 5).map(float), max_size=20)


@given(values=_VALUES, noise=st.integers(0, 100))
def test_levels_are_ranks_of_distinct_values(values, noise):
    exact = [sorted(set(values)).index(v) for v in values]
    assert levels(np.array(values)).tolist() == exact
    rng = np.random.default_rng(noise)
    blurred = np.array(values) * (1 + rng.uniform(-1e-14, 1e-14, len(values)))
    assert levels(blurred).tolist() == exact


@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_levels_follow_the_values(values):
    found = levels(values)
    order = np.argsort(values, kind="stable")
    gaps = np.diff(found[order])
    assert set(gaps.tolist()) <= {0, 1}
    pairs = itertools.pairwise(np.array(values)[order])
    for (first, second), gap in zip(pairs, gaps, strict=True):
        assert gap == (second - first > TOLERANCE * max(abs(first), abs(second)))


def test_zero_is_a_level_of_its_own():
    assert levels([0.0, 1e-300, -1e-300, 0.0]).tolist() == [1, 2, 0, 1]
    assert levels([-1.7e308, 1.7e308]).tolist() == [0, 1]
    assert levels([]).tolist() == []


def test_values_that_are_not_finite_are_refused():
    with pytest.raises(InputError, match=r"sigma: 1 row is not finite \(row 1\)"):
        levels([0.0, np.nan])


@given(values=st.lists(st.integers(0, 4), max_size=15), cut=st.integers(-1, 16))
def test_share_tied_counts_the_level_on_both_sides(values, cut):
    ordered = sorted(values)
    both = set(ordered[: max(cut, 0)]) & set(ordered[max(cut, 0) :])
    expected = values.count(both.pop()) / len(values) if both else 0.0
    assert share_tied(np.array(values, np.int64), cut) == expected


@pytest.mark.parametrize(
    "name", ["cora-ml", "citeseer", "pubmed", "amazon-computers", "coauthor-physics"]
)
def test_tolerance_lies_between_rounding_and_real_differences(data_dir, name):
    """Stored values of equal nodes differ in their last digits; nothing else lies that close."""
    with np.load(data_dir / f"splits/structural-shifts/{name}.npz") as stored:
        for shift in ("popularity", "locality", "density"):
            sigma = stored[f"{shift}_sigma"]
            counts = [levels(sigma, tolerance=t).max() for t in (1e-14, 1e-13, 1e-12, 1e-11, 1e-10)]
            assert len(set(counts)) == 1
            assert counts[0] <= len(np.unique(sigma)) - 1
