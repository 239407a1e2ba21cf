"""Counting negatives above and beside every positive, in memory and from a stream."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graphgauge.errors import InputError
from graphgauge.metrics import ranks as ranks_module
from graphgauge.metrics.ranks import Blocks, Ranks

Array = npt.NDArray[Any]


class Cut:
    """An array handed out in blocks of given sizes, whatever sizes are asked for."""

    def __init__(self, array: Array, sizes: list[int] | None = None) -> None:
        self.array, self.sizes, self.asked = array, sizes, 0
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim

    def __len__(self) -> int:
        return len(self.array)

    def blocks(self, rows: int) -> Iterator[Array]:
        self.asked = rows
        start = 0
        for size in self.sizes or [rows] * (len(self.array) // rows + 1):
            yield self.array[start : start + size]
            start += size
        if start < len(self.array):
            yield self.array[start:]


def count_by_hand(pos: Array, neg: Array) -> tuple[list[int], list[int]]:
    greater, equal = [], []
    for i, score in enumerate(pos):
        others = neg[i] if neg.ndim == 2 else neg
        greater.append(sum(1 for other in others if float(other) > float(score)))
        equal.append(sum(1 for other in others if float(other) == float(score)))
    return greater, equal


def assert_counts(ranks: Ranks, greater: object, equal: object) -> None:
    np.testing.assert_array_equal(ranks.greater, greater)
    np.testing.assert_array_equal(ranks.equal, equal)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks_module, "_CELLS", 20)
    monkeypatch.setattr(ranks_module, "_CHUNK", 4)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64, ">f4", bool])
@pytest.mark.parametrize("shape", [(23, 7), (23, 1), (23, 50), (31,), (1,)])
@pytest.mark.usefixtures("small_blocks")
def test_counts_equal_loops_over_pairs(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str
) -> None:
    pos = (rng.integers(0, 5, 23) / 2).astype(dtype)
    neg = (rng.integers(0, 5, shape) / 2).astype(dtype)
    greater, equal = count_by_hand(pos, neg)
    ranks = Ranks.of(pos, neg)
    assert_counts(ranks, greater, equal)
    assert sum(equal) > 0
    assert ranks.n_negatives == shape[-1]
    assert ranks.greater.dtype == ranks.equal.dtype == np.int32


@pytest.mark.parametrize("shape", [(40, 30), (500,)])
def test_two_precisions_are_compared_exactly(
    rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    neg = rng.random(shape, np.float32)
    pos = rng.random(40)
    pos[:5] = neg.ravel()[:5]
    pos[5] = float(np.nextafter(pos[4], 1.0))
    assert_counts(Ranks.of(pos, neg), *count_by_hand(pos, neg))
    assert Ranks.of([0.1], np.array([0.1], np.float32)).greater == 1


def test_lists_and_tensors_are_let_in() -> None:
    torch = pytest.importorskip("torch")
    expected = ([1, 0], [1, 0])
    assert_counts(Ranks.of([1, 3], [[2, 1], [0, 0]]), *expected)
    tensor = torch.tensor([[2.0, 1.0], [0.0, 0.0]])
    assert_counts(Ranks.of(torch.tensor([1.0, 3.0]), tensor), *expected)


def test_signs_of_zero_tie() -> None:
    assert_counts(Ranks.of([0.0, -0.0], [-0.0, 0.0, 1.0]), [1, 1], [2, 2])


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_blocks_of_any_size_count_alike(data: st.DataObject) -> None:
    e, k = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 6))
    score = st.integers(-3, 3).map(float)
    pos = data.draw(arrays(np.float32, e, elements=score))
    neg = data.draw(arrays(np.float32, (e, k), elements=score))
    sizes = data.draw(st.lists(st.integers(1, 5), max_size=3).filter(lambda s: sum(s) < e))
    assert_counts(Ranks.of(pos, Cut(neg, sizes)), *count_by_hand(pos, neg))
    assert_counts(Ranks.of(pos, Cut(neg[:, 0], sizes)), *count_by_hand(pos, neg[:, 0]))


@pytest.mark.usefixtures("small_blocks")
def test_shared_counts_as_tiled(rng: np.random.Generator) -> None:
    pos, shared = rng.integers(0, 9, 40) * 1.0, rng.integers(0, 9, 33) * 1.0
    tiled = Ranks.of(pos, np.tile(shared, (40, 1)))
    assert_counts(Ranks.of(pos, shared), tiled.greater, tiled.equal)


def test_input_is_not_changed(rng: np.random.Generator) -> None:
    pos, own, shared = rng.random(6), rng.random((6, 4)), rng.random(9)
    before = [pos.copy(), own.copy(), shared.copy()]
    for array in (pos, own, shared):
        array.setflags(write=False)
    Ranks.of(pos, own)
    Ranks.of(pos, shared)
    for array, copy in zip((pos, own, shared), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_strided_and_fortran_arrays(rng: np.random.Generator) -> None:
    pos, neg = rng.random(8), rng.random((16, 12))
    for view in (neg[::2, ::3], np.asfortranarray(neg[:8]), neg[7::-1]):
        assert_counts(Ranks.of(pos, view), *count_by_hand(pos, view))


def test_take_keeps_rows_in_the_order_asked() -> None:
    ranks = Ranks.of([3.0, 2.0, 1.0], [2.0, 2.5])
    assert_counts(ranks.take(np.array([2, 0, 2])), [2, 0, 2], [0, 0, 0])
    assert_counts(ranks.take(np.array([False, True, False])), [1], [1])
    assert ranks.take(np.array([1])).n_negatives == 2


def test_positions_are_first_middle_and_last_place() -> None:
    ranks = Ranks.of([2.0], [3.0, 2.0, 2.0, 2.0, 1.0])
    assert ranks.positions("optimistic") == 2
    assert ranks.positions() == ranks.positions("ogb") == ranks.positions("random") == 3.5
    assert ranks.positions("pessimistic") == 5


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_named(bad: float) -> None:
    own, shared = np.zeros((20, 5)), np.zeros(20)
    own[[3, 4, 17], [0, 2, 4]] = shared[[3, 4, 17]] = bad
    for neg in (own, shared, Cut(own, [1, 2, 6]), Cut(shared)):
        with pytest.raises(InputError, match=r"^neg: 3 rows are not finite \(rows 3, 4, 17\)$"):
            Ranks.of(np.zeros(20), neg)
    with pytest.raises(InputError, match=r"^neg: 1 row is not finite \(row 3\)$"):
        Ranks.of(np.zeros(4), own[:4])
    with pytest.raises(InputError, match=r"^pos: 1 row is not finite \(row 1\)$"):
        Ranks.of([0.0, bad], [0.0])


@pytest.mark.parametrize("shape", [(4, 100), (100,)])
def test_large_finite_scores_are_let_in(shape: tuple[int, ...]) -> None:
    neg = np.full(shape, np.finfo(np.float32).max, np.float32)
    assert_counts(Ranks.of(np.zeros(4, np.float32), neg), [100] * 4, [0] * 4)


@pytest.mark.parametrize(
    ("pos", "neg", "told"),
    [
        ([1.0, 2.0], [[1.0]], "lengths differ: pos has 2 rows, neg has 1"),
        ([1.0], [], "neg: is empty, there is nothing to rank against"),
        ([1.0], np.zeros((1, 0)), "neg: is empty, there is nothing to rank against"),
        ([1.0], 3.0, r"neg: has 0 axes \(shape \(\)\), expected 1 or 2"),
        ([1.0], np.zeros((1, 2, 3)), r"neg: has 3 axes \(shape \(1, 2, 3\)\), expected 1 or 2"),
        ([1.0], [[1.0], [1.0, 2.0]], "neg: not an array of numbers"),
        ([1.0], ["high"], "neg: holds <U4 values, expected numbers"),
        ([[1.0]], [1.0], "pos: has 2 axes"),
    ],
)
def test_input_that_cannot_be_ranked_is_refused(pos: Any, neg: Any, told: str) -> None:
    with pytest.raises(InputError, match=f"^{told}"):
        Ranks.of(pos, neg)


def test_a_stream_that_breaks_its_word_is_refused() -> None:
    class Broken(Cut):
        def blocks(self, rows: int) -> Iterator[Array]:
            yield from self.handed_out

    for handed_out, told in [
        ([np.zeros((2, 3))], "ends after 2 of 4 rows"),
        ([np.zeros((4, 2))], r"a block of shape \(4, 2\) does not fit \(4, 3\)"),
        ([np.zeros((3, 3))] * 2, r"a block of shape \(3, 3\) does not fit \(4, 3\)"),
        ([np.zeros(4)], "has 1 axes"),
    ]:
        neg = Broken(np.zeros((4, 3)))
        neg.handed_out = handed_out
        with pytest.raises(InputError, match=f"^neg: {told}"):
            Ranks.of(np.zeros(4), neg)


def test_empty_input_has_no_ranks() -> None:
    for neg in ([], [1.0, 2.0], np.zeros((0, 5)), np.zeros((0, 0))):
        assert len(Ranks.of([], neg)) == 0


def test_counts_beyond_32_bits_are_wider() -> None:
    neg = Cut(np.zeros(0))
    neg.shape, neg.ndim = (0, 2**31), 2
    neg.array = np.zeros((0, 2**31))
    assert Ranks.of([], neg).greater.dtype == np.int64


def test_protocol_is_met_by_streams_alone() -> None:
    assert isinstance(Cut(np.zeros(3)), Blocks)
    assert not isinstance(np.zeros(3), Blocks)


@pytest.mark.parametrize(("shape", "limit"), [((20_000, 500), 5e6), ((20_000_000,), 32e6)])
def test_memory_does_not_grow_with_the_negatives(shape: tuple[int, ...], limit: float) -> None:
    class Made(Cut):
        def blocks(self, rows: int) -> Iterator[Array]:
            for start in range(0, len(self), rows):
                n = min(rows, len(self) - start)
                yield np.full((n, *self.shape[1:]), start, np.float32)

    neg = Made(np.broadcast_to(np.float32(0), shape))
    tracemalloc.start()
    try:
        ranks = Ranks.of(np.full(20_000, 0.5, np.float32), neg)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert ranks.greater.sum() > 0
    assert peak < limit < 4 * np.prod(shape)
