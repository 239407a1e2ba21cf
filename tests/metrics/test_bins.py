"""Bins against loops over the items, for both schemes and both closed sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.errors import InputError
from graphgauge.metrics.bins import Binning, Bins, bin_events, bin_outcomes
from graphgauge.metrics.outcomes import Outcomes


def events(confidence, correct, weights=None):
    confidence = np.asarray(confidence)
    return Outcomes(confidence, np.asarray(correct, bool), confidence, confidence, weights)


def bins_by_loop(confidence, correct, bins, closed):
    """Three sums a bin, one item after the other, by the definition's inequalities."""
    sums = np.zeros((3, bins))
    for c, ok in zip(confidence.tolist(), correct.tolist(), strict=True):
        for k in range(1, bins + 1):
            low, high = (k - 1) / bins, k / bins
            if closed == "right":
                inside = low < c <= high or (k == 1 and c == 0)
            else:
                inside = low <= c < high or (k == bins and c == 1)
            if inside:
                sums[:, k - 1] += 1, c, ok
    return sums


def equal_mass_by_loop(confidence, correct, bins):
    """Rank the items, give tied ones their mean hit, cut at floor(k n / bins)."""
    n = len(confidence)
    rank = sorted(range(n), key=lambda i: confidence[i])
    hit = {
        c: np.mean([correct[i] for i in range(n) if confidence[i] == c])
        for c in set(confidence.tolist())
    }
    sums = np.zeros((3, bins))
    for k in range(bins):
        for i in rank[k * n // bins : (k + 1) * n // bins]:
            sums[:, k] += 1, confidence[i], hit[confidence[i]]
    return sums


def stacked(bins: Bins):
    return np.stack([bins.mass, bins.confidence, bins.hits])


# Few distinct values, most of them on the edges of some binning: ties and borders are the rule.
awkward = st.lists(
    st.tuples(
        st.one_of(
            st.sampled_from([0.0, 0.2, 1 / 3, 0.4, 0.5, 0.6, 2 / 3, 0.7, 0.8, 1.0]),
            st.floats(0, 1),
        ),
        st.booleans(),
    ),
    max_size=40,
)


class TestWidth:
    @settings(deadline=None)
    @given(awkward, st.sampled_from([1, 3, 10, 15, 20]), st.sampled_from(["right", "left"]))
    def test_loop(self, items, bins, closed):
        confidence = np.array([c for c, _ in items])
        correct = np.array([ok for _, ok in items], bool)
        found = bin_outcomes(events(confidence, correct), bins=bins, closed=closed)
        np.testing.assert_allclose(
            stacked(found), bins_by_loop(confidence, correct, bins, closed), atol=1e-12
        )

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("bins", [10, 15, 20, 49])
    def test_a_confidence_on_an_edge_is_on_it_in_its_own_precision(self, dtype, bins):
        edges = np.arange(bins + 1, dtype=dtype) / dtype(bins)
        right = bin_outcomes(events(edges, np.ones(bins + 1)), bins=bins)
        left = bin_outcomes(events(edges, np.ones(bins + 1)), bins=bins, closed="left")
        assert right.mass.tolist() == [2] + [1] * (bins - 1)
        assert left.mass.tolist() == [1] * (bins - 1) + [2]

    def test_single_precision_one_fifth_is_an_edge_of_fifteen(self):
        # As a double, single 0.2 lies above 3/15.
        assert float(np.float32(0.2)) > 3 / 15
        found = bin_outcomes(events(np.array([0.2], np.float32), [True]))
        assert np.flatnonzero(found.mass).tolist() == [2]

    def test_rounded_up_probabilities_stay_in_the_last_bin(self):
        assert bin_outcomes(events([1.0 + 1e-7], [True])).mass[-1] == 1

    def test_blocks_add_up(self, rng, monkeypatch):
        items = events(rng.random(1000), rng.random(1000) < 0.5, rng.random(1000))
        whole = stacked(bin_outcomes(items))
        monkeypatch.setattr("graphgauge.metrics.bins._BLOCK", 7)
        np.testing.assert_allclose(stacked(bin_outcomes(items)), whole)


class TestMass:
    @settings(deadline=None)
    @given(awkward, st.sampled_from([1, 2, 3, 10, 15]))
    def test_loop(self, items, bins):
        confidence = np.array([c for c, _ in items])
        correct = np.array([ok for _, ok in items], bool)
        found = bin_outcomes(events(confidence, correct), bins=bins, scheme="mass")
        np.testing.assert_allclose(
            stacked(found), equal_mass_by_loop(confidence, correct, bins), atol=1e-12
        )

    def test_ties_across_a_boundary_share_their_hits(self):
        # Four items tie; the boundary of two bins falls after the second of them.
        found = bin_outcomes(events([0.7] * 4, [1, 0, 0, 0]), bins=2, scheme="mass")
        assert found.mass.tolist() == [2, 2]
        assert found.hits.tolist() == [0.5, 0.5]

    def test_fewer_items_than_bins_leaves_bins_empty(self):
        found = bin_outcomes(events([0.1, 0.9], [1, 0]), bins=5, scheme="mass")
        assert found.mass.sum() == 2
        assert sorted(found.mass.tolist()) == [0, 0, 0, 1, 1]

    def test_fractional_weights_are_cut_exactly(self):
        weights = np.array([0.5, 1.0, 0.5])
        items = events([0.1, 0.5, 0.9], [0, 1, 1], weights)
        found = bin_outcomes(items, bins=2, scheme="mass")
        assert found.mass.tolist() == [1.0, 1.0]
        np.testing.assert_allclose(found.confidence, [0.05 + 0.25, 0.25 + 0.45])
        assert found.hits.tolist() == [0.5, 1.0]

    def test_edges_are_the_confidences_at_the_boundaries(self):
        found = bin_outcomes(events([0.1, 0.2, 0.3, 0.4], [1] * 4), bins=2, scheme="mass")
        assert found.edges.tolist() == [0.1, 0.2, 0.4]


@pytest.mark.parametrize("scheme", ["width", "mass"])
class TestWeights:
    @settings(deadline=None)
    @given(
        items=st.lists(st.tuples(st.integers(0, 10), st.booleans(), st.integers(0, 3)), min_size=1),
        seed=st.integers(0, 2**32 - 1),
    )
    def test_whole_weights_are_repetitions_and_order_is_irrelevant(self, scheme, items, seed):
        confidence = np.array([c / 10 for c, _, _ in items])
        correct = np.array([ok for _, ok, _ in items])
        counts = np.array([w for _, _, w in items])
        shuffled = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(items)), counts))
        weighted = bin_outcomes(
            events(confidence, correct, counts.astype(float)), bins=4, scheme=scheme
        )
        repeated = bin_outcomes(
            events(confidence[shuffled], correct[shuffled]), bins=4, scheme=scheme
        )
        np.testing.assert_allclose(stacked(weighted), stacked(repeated), atol=1e-12)
        assert weighted.squares is None

    def test_fractional_weights_keep_their_squares(self, scheme, rng):
        weights = rng.random(50)
        found = bin_outcomes(events(rng.random(50), rng.random(50) < 0.5, weights), scheme=scheme)
        assert found.mass.sum() == pytest.approx(weights.sum())
        assert found.squares.sum() == pytest.approx((weights**2).sum())
        # Equal fractional weights: the effective number is the number.
        equal = bin_outcomes(events([0.2] * 4, [1] * 4, np.full(4, 0.3)), bins=1, scheme=scheme)
        assert equal.sizes == pytest.approx([4.0])

    def test_empty(self, scheme):
        found = bin_outcomes(events([], []), scheme=scheme)
        assert stacked(found).tolist() == np.zeros((3, 15)).tolist()
        assert found.edges.shape == (16,)

    def test_inputs_are_left_alone(self, scheme, rng):
        confidence, correct, weights = rng.random(30), rng.random(30) < 0.5, rng.random(30)
        kept = confidence.copy(), correct.copy(), weights.copy()
        bin_outcomes(events(confidence, correct, weights), scheme=scheme)
        for before, after in zip(kept, (confidence, correct, weights), strict=True):
            assert (before == after).all()


class TestCells:
    """Finer cells gathered into bins are the bins."""

    @pytest.mark.parametrize("scheme", ["width", "mass"])
    @pytest.mark.parametrize("closed", ["right", "left"])
    def test_collecting_single_values(self, rng, scheme, closed):
        confidence = rng.integers(0, 31, 300) / 30
        correct = rng.random(300) < confidence
        tops = np.unique(confidence)
        home = np.searchsorted(tops, confidence)
        cells = Bins(*(np.bincount(home, w) for w in (np.ones(300), confidence, correct)))
        binning = Binning(15, scheme, closed)
        direct = bin_events(confidence, correct, binning=binning)
        np.testing.assert_allclose(stacked(binning.collect(cells, tops)), stacked(direct))

    def test_draws_are_collected_column_by_column(self, rng):
        cells = Bins(*rng.integers(1, 9, (3, 20, 6)).astype(float))
        tops = np.sort(rng.random(20))
        for scheme in ("width", "mass"):
            binning = Binning(4, scheme)
            together = stacked(binning.collect(cells, tops))
            for d in range(6):
                alone = binning.collect(cells.each(lambda sums, d=d: sums[:, d]), tops)
                np.testing.assert_allclose(together[..., d], stacked(alone))

    def test_cells_stay_few_where_boundaries_move(self, rng):
        cuts = Binning(scheme="mass").cuts(rng.random(20_000), moving=True)
        assert len(cuts) == 4095
        assert len(Binning(scheme="mass").cuts(np.array([0.3, 0.3, 0.9]), moving=True)) == 1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"bins": 0}, "bins: 0 is below one"),
        ({"bins": 2.5}, "bins: 2.5 is not a whole number"),
        ({"bins": True}, "bins: True is not a whole number"),
        ({"scheme": "equal"}, "scheme: 'equal' is neither 'width' nor 'mass'"),
        ({"closed": "both"}, "closed: 'both' is neither 'right' nor 'left'"),
    ],
)
def test_parameters_are_checked(params, message):
    with pytest.raises(InputError, match=message):
        bin_outcomes(events([0.5], [1]), **params)
