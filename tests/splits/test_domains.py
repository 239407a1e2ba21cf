"""Domains of a property, against counting by hand and against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.splits import domains

_SIGMA = st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=40)


@given(sigma=_SIGMA, n=st.integers(1, 12), by=st.sampled_from(["count", "width"]))
def test_domains_are_runs_of_values(sigma, n, by):
    codes = domains(sigma, n, by=by)
    assert set(codes.tolist()) == set(range(codes.max() + 1))
    assert codes.max() < n
    order = np.argsort(sigma)
    assert (np.diff(codes[order]) >= 0).all()
    for value in set(sigma):
        assert len({code for code, v in zip(codes.tolist(), sigma, strict=True) if v == value}) == 1


@given(size=st.integers(1, 60), n=st.integers(1, 12), seed=st.integers(0, 9))
def test_without_ties_counts_differ_by_at_most_one(size, n, seed):
    sigma = np.random.default_rng(seed).permutation(size).astype(float)
    counts = np.bincount(domains(sigma, n))
    assert len(counts) == min(n, size)
    assert counts.max() - counts.min() <= 1


def test_a_level_goes_where_its_middle_falls():
    # Ten nodes, five domains of two: the zeros span the places 0 to 6, their middle is 3.5.
    sigma = [0.0] * 7 + [1.0, 2.0, 3.0]
    assert domains(sigma, 5).tolist() == [0] * 7 + [1, 2, 2]


def test_widths_equal_numpy_histogram(rng):
    sigma = rng.gamma(1.0, size=500)
    codes = domains(sigma, 10, by="width")
    counts = np.histogram(sigma, 10)[0]
    np.testing.assert_array_equal(np.bincount(codes), counts[counts > 0])


def test_only_the_nodes_of_the_index_are_looked_at(rng):
    sigma = rng.normal(size=100)
    index = rng.permutation(100)[:40]
    codes = domains(sigma, 4, index=index)
    np.testing.assert_array_equal(codes[index], domains(sigma[index], 4))
    assert (np.delete(codes, index) == -1).all()
    mask = np.zeros(100, bool)
    mask[index] = True
    np.testing.assert_array_equal(domains(sigma, 4, index=mask), codes)


def test_rounding_parts_no_equal_values(rng):
    sigma = rng.integers(0, 12, 300) / 7
    blurred = sigma * (1 + rng.uniform(-1e-14, 1e-14, 300))
    for by in ("count", "width"):
        np.testing.assert_array_equal(domains(sigma, by=by), domains(blurred, by=by))


def test_one_value_is_one_domain():
    assert domains(np.zeros(7), by="width").tolist() == [0] * 7
    assert domains(np.ones(7), by="count").tolist() == [0] * 7
    assert domains([]).tolist() == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"n": 0}, "0 domains cannot be made"),
        ({"by": "colour"}, "by: 'colour' is neither 'count' nor 'width'"),
        ({"index": [9]}, "part index names items outside"),
    ],
)
def test_what_makes_no_domains_is_refused(arguments, told):
    with pytest.raises(InputError, match=told):
        domains([1.0, 2.0], **arguments)
