"""The door: what is let in, what is refused, and how it is told."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from graphgauge.arrays import check_pairs, floats, integers, same_length
from graphgauge.errors import InputError, name_rows


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], np.int8),
        np.array([[1, 2], [3, 4]], ">f8"),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        sp.csr_array([[1.0, 2.0], [3.0, 4.0]]),
    ],
)
def test_arrays_come_in_many_forms(value):
    array = floats("x", value, ndim=2)
    np.testing.assert_array_equal(array, [[1.0, 2.0], [3.0, 4.0]])
    assert array.dtype in (np.float32, np.float64)
    assert array.dtype.isnative
    np.testing.assert_array_equal(integers("x", value, ndim=2), [[1, 2], [3, 4]])


def test_single_precision_is_kept_and_half_widened():
    assert floats("x", np.ones(2, np.float32), ndim=1).dtype == np.float32
    assert floats("x", np.ones(2, np.float16), ndim=1).dtype == np.float32
    assert floats("x", torch.ones(2), ndim=1).dtype == np.float32


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (["a", "b"], "expected numbers"),
        ([1 + 2j], "expected numbers"),
        ([[1, 2], [3]], "not an array"),
        ([object()], "expected numbers"),
        (torch.ones(2, requires_grad=True), "not an array"),
        ([[1.0]], "has 2 axes"),
        (3.0, "has 0 axes"),
        ([1.0, np.nan, np.inf], r"2 rows are not finite \(rows 1, 2\)"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(value, told):
    with pytest.raises(InputError, match=told):
        floats("x", value, ndim=1)


def test_an_overflowing_sum_is_not_mistaken_for_infinity():
    huge = np.full(3, np.finfo(np.float64).max)
    np.testing.assert_array_equal(floats("x", huge, ndim=1), huge)


@pytest.mark.parametrize("value", [[0.5], [np.nan], [1e300], np.array([2**63], np.uint64)])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(InputError, match=r"row 0"):
        integers("x", value, ndim=1)


def test_rows_are_named_and_counted():
    assert name_rows(np.array([True])) == "row 0"
    assert name_rows(np.arange(7)) == "rows 0, 1, 2, 3, 4 and 2 more"


def test_pairs_and_lengths():
    check_pairs("edges", np.empty((0, 2), np.int64), 0)
    with pytest.raises(InputError, match="expected pairs"):
        check_pairs("edges", np.zeros((2, 3), np.int64), 5)
    with pytest.raises(InputError, match=r"1 row points outside nodes 0..4 \(row 1\)"):
        check_pairs("edges", np.array([[0, 1], [-1, 2]]), 5)
    assert same_length(a=np.ones(2), b=None, c=np.zeros(2)) == 2


def test_importing_loads_no_training_library():
    code = (
        "import sys, graphgauge, graphgauge.cli, graphgauge.scoring, graphgauge.report.html;"
        "print([m for m in ('torch', 'torch_geometric', 'sklearn', 'pandas', 'networkx', "
        "'matplotlib', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
