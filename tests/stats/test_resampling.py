from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.stats import (
    mean_replicates,
    ratio_replicates,
    replicates,
    resample_counts,
    resamples,
)


def test_counts_are_multinomial():
    counts = resample_counts(50, 20_000, seed=3).astype(float)
    assert (counts.sum(axis=0) == 50).all()
    assert counts.mean(axis=1) == pytest.approx(1, abs=0.05)
    # Multinomial: variance 1 - 1/n, covariance -1/n; the errors are about 1/sqrt(20,000).
    covariance = np.cov(counts)
    assert np.diag(covariance) == pytest.approx(1 - 1 / 50, abs=0.06)
    assert covariance[np.triu_indices(50, 1)].mean() == pytest.approx(-1 / 50, abs=0.002)


@given(st.integers(1, 40), st.integers(0, 9), st.integers(1, 12))
def test_the_chunk_does_not_matter(n_items, n_resamples, chunk):
    whole = resample_counts(n_items, n_resamples, seed=1)
    parts = list(resamples(n_items, n_resamples, seed=1, chunk=chunk))
    assert whole.shape == (n_items, n_resamples)
    assert all(part.shape[1] <= chunk for part in parts)
    if parts:
        assert np.array_equal(whole, np.concatenate(parts, axis=1))


def test_seeds_matter():
    assert not np.array_equal(resample_counts(20, 5, seed=0), resample_counts(20, 5, seed=1))


def test_blocks_are_drawn_as_wholes():
    blocks = np.array([9, 4, 9, 4, 4, -1])
    counts = resample_counts(6, 4000, seed=0, blocks=blocks).astype(int)
    for label in (9, 4, -1):
        rows = counts[blocks == label]
        assert (rows == rows[0]).all()
    # Three blocks are drawn, whatever their sizes.
    assert (counts[[0, 1, 5]].sum(axis=0) == 3).all()
    assert counts[[0, 1, 5]].mean(axis=1) == pytest.approx(1, abs=0.06)


def test_blocks_of_one_item_are_items():
    alone = resample_counts(30, 7, seed=5, blocks=np.arange(30))
    assert np.array_equal(alone, resample_counts(30, 7, seed=5))


def test_memory_is_bounded_by_the_chunk():
    first = next(resamples(1_000_000, 1000, seed=0))
    assert first.nbytes <= 1 << 23
    assert first.dtype == np.uint8


def test_replicates_equal_statistics_of_copies(rng):
    values, weights = rng.normal(size=12), rng.random(12)
    counts = resample_counts(12, 40, seed=2)
    by_copies = [
        np.average(np.repeat(values, c), weights=np.repeat(weights, c))
        for c in counts.T.astype(int)
    ]
    by_weights = replicates(lambda w: np.average(values, weights=w * weights), counts)
    assert by_weights == pytest.approx(by_copies)
    assert mean_replicates(values, counts, weights=weights) == pytest.approx(by_copies)
    assert mean_replicates(values, iter([counts[:, :7], counts[:, 7:]]), weights=weights) == (
        pytest.approx(by_copies)
    )


def test_means_of_several_models_share_their_resamples(rng):
    values = rng.normal(size=(12, 3))
    counts = resample_counts(12, 10, seed=2)
    together = mean_replicates(values, counts)
    assert together.shape == (10, 3)
    for column, values_of_one in zip(together.T, values.T, strict=True):
        assert column == pytest.approx(mean_replicates(values_of_one, counts))


def test_sums_over_blocks_do_the_work_of_items(rng):
    values, blocks = rng.normal(size=60), rng.integers(8, size=60)
    by_items = mean_replicates(values, resample_counts(60, 50, seed=4, blocks=blocks))
    sums, sizes = np.bincount(blocks, weights=values), np.bincount(blocks).astype(float)
    by_blocks = ratio_replicates(sums, sizes, resample_counts(8, 50, seed=4))
    assert by_blocks == pytest.approx(by_items)


def test_nothing_to_draw():
    assert resample_counts(0, 3, seed=0).shape == (0, 3)
    assert resample_counts(3, 0, seed=0).shape == (3, 0)
    assert np.isnan(mean_replicates(np.zeros(0), resample_counts(0, 3, seed=0))).all()
    assert len(mean_replicates(np.zeros(3), resample_counts(3, 0, seed=0))) == 0
    assert len(replicates(np.sum, resamples(3, 0, seed=0))) == 0


def test_a_resample_without_weight_has_no_mean():
    counts = np.array([[0, 1], [2, 1]])
    found = mean_replicates(np.array([1.0, 5.0]), counts, weights=np.array([1.0, 0.0]))
    assert np.array_equal(found, [np.nan, 1.0], equal_nan=True)


def test_input_stays_as_it_is(rng):
    values, weights, blocks = rng.normal(size=9), rng.random(9), rng.integers(3, size=9)
    before = values.copy(), weights.copy(), blocks.copy()
    counts = resample_counts(9, 5, seed=0, blocks=blocks)
    drawn = counts.copy()
    mean_replicates(values, counts, weights=weights)
    for now, then in zip((values, weights, blocks), before, strict=True):
        assert np.array_equal(now, then)
    assert np.array_equal(counts, drawn)


def test_labels_must_match_items():
    with pytest.raises(InputError, match="2 labels for 3 items"):
        resample_counts(3, 1, seed=0, blocks=np.array([0, 1]))
