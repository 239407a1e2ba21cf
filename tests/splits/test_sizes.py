"""Sizes from shares: the published rules as their code computes them, ours against all choices."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.splits.sizes import ROUNDINGS, ceiling_first, nearest, shares_of, shift_shares

HALF = shift_shares(50, None)
MANY = [*range(1, 2000), 2995, 3327, 13752, 19717, 34493, 2_449_029]


def test_the_rule_of_shifts_is_the_one_of_floating_floors():
    for n in MANY:
        train, valid, inside = int(0.3 * n), int(0.1 * n), int(0.5 * n)
        expected = (train, valid, inside - train - valid, valid, n - inside - valid)
        assert ROUNDINGS["shifts"](n, HALF) == expected


def test_the_rule_of_revisiting_is_the_one_of_floating_boundaries():
    for n in MANY:
        ends = [0, *(int(share * n) for share in (0.3, 0.4, 0.5, 0.6)), n]
        assert ROUNDINGS["revisiting"](n, HALF) == tuple(np.diff(ends).tolist())


@pytest.mark.parametrize(
    ("rule", "n", "sizes"),
    [
        ("shifts", 2995, (898, 299, 300, 299, 1199)),
        ("shifts", 3327, (998, 332, 333, 332, 1332)),
        ("revisiting", 2995, (898, 300, 299, 300, 1198)),
        ("revisiting", 3327, (998, 332, 333, 333, 1331)),
        ("nearest", 2995, (898, 299, 300, 300, 1198)),
        ("nearest", 3327, (998, 332, 333, 333, 1331)),
    ],
)
def test_sizes_of_the_published_graphs(rule, n, sizes):
    assert ROUNDINGS[rule](n, HALF) == sizes


def test_all_rules_cut_alike_at_half():
    for n in MANY:
        assert {sum(rule(n, HALF)[:3]) for rule in ROUNDINGS.values()} == {n // 2}


@given(n=st.integers(0, 400), weights=st.lists(st.integers(0, 9), min_size=1, max_size=5))
def test_nearest_is_within_one_of_every_share(n, weights):
    total = sum(weights) + 1
    shares = [Fraction(100 * w, total) for w in weights]
    sizes = nearest(n, shares)
    assert all(abs(size - n * s / 100) < 1 for size, s in zip(sizes, shares, strict=True))
    whole = nearest(n, [*shares, 100 - sum(shares)])
    assert (whole[:-1], sum(whole)) == (sizes, n)


@given(n=st.integers(0, 12), weights=st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_no_other_sizes_are_nearer(n, weights):
    weights[0] += 1
    exact = [Fraction(n * w, sum(weights)) for w in weights]

    def distance(sizes):
        return sum((size - share) ** 2 for size, share in zip(sizes, exact, strict=True))

    found = nearest(n, [Fraction(100 * w, sum(weights)) for w in weights])
    others = (c for c in itertools.product(range(n + 1), repeat=3) if sum(c) == n)
    best = min(map(distance, others))
    assert distance(found) == best


@given(n=st.integers(0, 3000), ratio=st.floats(1, 99))
def test_every_rule_shares_out_all_nodes(n, ratio):
    shares = shift_shares(ratio, None)
    for rule in ROUNDINGS.values():
        sizes = rule(n, shares)
        assert (sum(sizes), len(sizes)) == (n, 5)
        assert min(sizes) >= 0
        assert max(abs(s - n * e / 100) for s, e in zip(sizes, shares, strict=True)) < 3


# Table 3 of the paper: train, valid, test of every data set that is split by shares.
@pytest.mark.parametrize(
    "sizes",
    [
        (15629, 3126, 6251),
        (2848, 569, 1139),
        (2080, 416, 831),
        (12324, 2464, 4929),
        (12371, 2474, 4948),
        (8595, 1719, 3438),
        (4782, 956, 1912),
    ],
)
def test_sizes_printed_in_miscalibrated(sizes):
    assert ceiling_first(sum(sizes), shares_of("shares", [62.5, 12.5, 25])) == sizes


def test_inner_shares_keep_the_published_proportions():
    assert [float(s) for s in HALF] == [30, 10, 10, 10, 40]
    assert [float(s) for s in shift_shares(90, None)] == [54, 18, 18, 2, 8]
    assert shift_shares(70, [50, 10, 10, 10, 20])[0] == 50


@pytest.mark.parametrize(
    ("ratio", "inner", "told"),
    [
        (0, None, "ratio: 0 sum to 0"),
        (100, None, "nothing out of distribution"),
        (101, None, "ratio: 101 sum to 101, expected at most 100"),
        (-5, None, "not all positive"),
        (float("nan"), None, "not all percentages"),
        (50, [30, 10, 10, 50], "are 4 numbers, expected 5"),
        (50, [30, 10, 10, 10, 30], "sum to 90, expected 100"),
        (70, [30, 10, 10, 10, 40], "50 of 30, 10, 10, 10, 40 are in distribution, the ratio says"),
        (50, [60, -10, 0, 10, 40], "not all positive"),
    ],
)
def test_shares_that_make_no_split_are_refused(ratio, inner, told):
    with pytest.raises(InputError, match=told):
        shift_shares(ratio, inner)
