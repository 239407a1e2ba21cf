"""Calibration errors against four libraries, exact enumeration and loops."""

from __future__ import annotations

import inspect
import itertools

import calibration as verified
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from netcal.metrics import ECE, MCE
from scipy.integrate import quad
from scipy.stats import norm as gaussian
from sklearn.calibration import calibration_curve
from torchmetrics.functional.classification import (
    binary_calibration_error,
    multiclass_calibration_error,
)

from graphgauge.errors import InputError
from graphgauge.metrics.bins import Bins
from graphgauge.metrics.calibration import (
    CARDS,
    classwise_ece,
    debiased_ece,
    debiased_of,
    ece,
    ece_above_half,
    ece_of,
    mce,
    mce_of,
    reliability,
)
from graphgauge.metrics.metric import Direction, Needs, split_spec
from graphgauge.metrics.outcomes import Outcomes

BINNED = (ece, ece_above_half, mce, debiased_ece)


def events(confidence, correct, weights=None):
    confidence = np.asarray(confidence)
    return Outcomes(confidence, np.asarray(correct, bool), confidence, confidence, weights)


def two_classes(confidence):
    return np.stack([confidence, 1 - confidence], axis=1)


@pytest.fixture
def drawn(rng):
    probs = rng.dirichlet(np.full(4, 0.6), 500)
    labels = np.array([rng.choice(4, p=p) for p in probs])
    return probs, labels


class TestOracles:
    @pytest.mark.parametrize("bins", [5, 15, 20])
    def test_netcal_and_torchmetrics(self, drawn, bins):
        probs, labels = drawn
        outcomes = Outcomes.of_nodes(probs, labels)
        tensors = torch.tensor(probs), torch.tensor(labels), 4, bins
        assert ece(outcomes, bins=bins) == pytest.approx(ECE(bins).measure(probs, labels))
        assert mce(outcomes, bins=bins) == pytest.approx(MCE(bins).measure(probs, labels))
        for norm, value in (
            ("l1", ece(outcomes, bins=bins)),
            ("l2", np.sqrt(ece(outcomes, bins=bins, norm=2))),
            ("max", mce(outcomes, bins=bins)),
        ):
            found = float(multiclass_calibration_error(*tensors, norm=norm))
            # torchmetrics casts probabilities to single precision.
            assert value == pytest.approx(found, abs=2e-6)

    def test_netcal_equal_mass(self, drawn):
        # 500 items divide evenly into 10 bins and none tie, so that every definition agrees.
        probs, labels = drawn
        found = ECE(10, equal_intervals=False).measure(probs, labels)
        assert ece(Outcomes.of_nodes(probs, labels), bins=10, scheme="mass") == pytest.approx(found)

    def test_verified_calibration(self, drawn):
        probs, labels = drawn
        outcomes = Outcomes.of_nodes(probs, labels)
        assert ece(outcomes) == pytest.approx(verified.utils.get_ece(probs, labels))
        assert ece(outcomes, bins=10, scheme="mass") == pytest.approx(
            verified.utils.get_ece_em(probs, labels, num_bins=10)
        )

    def test_classwise_is_the_mean_of_binary_errors(self, drawn):
        probs, labels = drawn
        each = [
            float(binary_calibration_error(torch.tensor(p), torch.tensor(labels == c), n_bins=15))
            for c, p in enumerate(probs.T)
        ]
        assert classwise_ece(probs, labels) == pytest.approx(np.mean(each), abs=2e-6)

    def test_reliability_curve_of_scikit_learn(self, rng):
        confidence = np.append(rng.random(300), [0.0, 0.2, 1.0])
        happened = rng.random(303) < confidence
        accuracy, mean = calibration_curve(happened, confidence, n_bins=15)
        curve = reliability(events(confidence, happened))
        held = curve.share > 0
        np.testing.assert_allclose(curve.accuracy[held], accuracy)
        np.testing.assert_allclose(curve.confidence[held], mean)
        assert curve.share.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(curve.edges, np.arange(16) / 15)

    def test_reliability_explains_ece(self, drawn):
        outcomes = Outcomes.of_nodes(*drawn)
        for scheme in ("width", "mass"):
            curve = reliability(outcomes, scheme=scheme)
            held = curve.share > 0
            gap = np.abs(curve.accuracy - curve.confidence)[held]
            assert (curve.share[held] * gap).sum() == pytest.approx(ece(outcomes, scheme=scheme))
            assert np.isnan(curve.accuracy[~held]).all()


class TestWhereOthersAreWrong:
    def test_torchmetrics_puts_full_confidence_into_a_bin_of_its_own(self):
        # Both lie in the last of fifteen bins; their gaps of -1 and +0.05 must cancel in part.
        probs, labels = np.array([[1.0, 0.0], [0.95, 0.05]]), np.array([1, 0])
        by_hand = abs(0.5 - 0.975)
        for closed in ("right", "left"):
            assert ece(Outcomes.of_nodes(probs, labels), closed=closed) == pytest.approx(by_hand)
        assert ECE(15).measure(probs, labels) == pytest.approx(by_hand)
        found = multiclass_calibration_error(torch.tensor(probs), torch.tensor(labels), 2, 15)
        assert float(found) == pytest.approx((1 + 0.05) / 2, abs=1e-6)

    def test_torchmetrics_misplaces_the_edges_in_single_precision(self):
        # Single 0.2 is 3/15 and belongs with 0.21 when bins are closed on the left. A linspace in
        # single precision puts that edge above it.
        confidence = np.array([0.2, 0.21, 0.19], np.float32)
        assert np.float32(3) / np.float32(15) == confidence[0]
        assert torch.linspace(0, 1, 16)[3].item() > confidence[0]
        happened = np.array([True, False, False])
        left = abs(1 - (0.2 + 0.21)) / 3 + 0.19 / 3
        right = 0.21 / 3 + abs(1 - (0.2 + 0.19)) / 3
        outcomes = events(confidence, happened)
        assert ece(outcomes, closed="left") == pytest.approx(left, abs=1e-6)
        assert ece(outcomes) == pytest.approx(right, abs=1e-6)
        # Closed on the left everywhere else, torchmetrics has this one on the right.
        found = binary_calibration_error(torch.tensor(confidence), torch.tensor(happened), 15)
        assert float(found) == pytest.approx(right, abs=1e-6)

    def test_netcal_misplaces_the_edges_of_ten_bins(self):
        # 0.7 is 7/10, but the seventh step of a linspace to one is 0.7000000000000001.
        confidence = np.array([0.7, 0.71, 0.69])
        labels = np.array([0, 1, 1])
        assert np.linspace(0, 1, 11)[7] > 0.7
        left = abs(1 - (0.7 + 0.71)) / 3 + 0.69 / 3
        right = 0.71 / 3 + abs(1 - (0.7 + 0.69)) / 3
        outcomes = Outcomes.of_nodes(two_classes(confidence), labels)
        assert ece(outcomes, bins=10, closed="left") == pytest.approx(left)
        assert ece(outcomes, bins=10) == pytest.approx(right)
        # Closed on the left everywhere else, netcal has this one on the right.
        assert ECE(10).measure(two_classes(confidence), labels) == pytest.approx(right)
        low = np.array([0.6, 0.61, 0.55])  # 9/15 is exact in a linspace
        left = abs(1 - (0.6 + 0.61)) / 3 + 0.55 / 3
        assert ECE(15).measure(two_classes(low), labels) == pytest.approx(left)

    def test_netcal_cannot_bin_ties_by_mass(self):
        probs, labels = two_classes(np.full(30, 0.7)), np.repeat([0, 1], [21, 9])
        with pytest.raises(ValueError, match="smallest edge difference"):
            ECE(15, equal_intervals=False).measure(probs, labels)
        assert ece(Outcomes.of_nodes(probs, labels), scheme="mass") == pytest.approx(0, abs=1e-12)


class TestAboveHalf:
    def test_normalised_over_those_kept(self):
        # One confident and wrong, nine below one half: 0.9 over one item, not over ten.
        outcomes = events([0.9] + [0.3] * 9, [False] * 10)
        assert ece_above_half(outcomes) == pytest.approx(0.9)
        assert ece(outcomes) == pytest.approx((0.9 + 9 * 0.3) / 10)

    def test_one_half_itself_is_left_out_and_its_bin_is_cut(self):
        # 0.5 and 0.52 share the bin (7/15, 8/15] of the whole.
        outcomes = events([0.5, 0.52], [True, False])
        assert ece_above_half(outcomes) == pytest.approx(0.52)
        assert ece(outcomes) == pytest.approx(abs(0.5 - 0.51))

    def test_nothing_above_half_is_nan(self):
        assert np.isnan(ece_above_half(events([0.3, 0.5], [True, False])))

    def test_equals_ece_when_all_are_sure(self, rng):
        confidence = rng.uniform(0.5001, 1, 200)
        outcomes = events(confidence, rng.random(200) < 0.6)
        assert ece_above_half(outcomes) == ece(outcomes)


class TestDebiased:
    @pytest.mark.parametrize("scheme", ["width", "mass"])
    def test_unbiased_square_of_kumar_and_others(self, drawn, scheme):
        probs, labels = drawn
        bin_edges = (
            verified.utils.get_equal_prob_bins
            if scheme == "width"
            else verified.utils.get_equal_bins
        )
        confidence = probs.max(axis=1)
        data = list(zip(confidence, (probs.argmax(axis=1) == labels) * 1.0, strict=True))
        binned = verified.utils.bin(data, bin_edges(confidence, num_bins=10))
        found = debiased_ece(Outcomes.of_nodes(probs, labels), bins=10, scheme=scheme, norm=2)
        assert found == pytest.approx(verified.utils.unbiased_square_ce(binned))

    def test_sampled_bias_of_kumar_and_others(self, drawn):
        probs, labels = drawn
        confidence = probs.max(axis=1)
        data = list(zip(confidence, (probs.argmax(axis=1) == labels) * 1.0, strict=True))
        binned = verified.utils.bin(data, verified.utils.get_equal_bins(confidence, num_bins=10))
        np.random.seed(5)  # noqa: NPY002  (the oracle draws from the global generator)
        sampled = verified.utils.normal_debiased_ce(binned, power=1, resamples=20_000)
        found = debiased_ece(Outcomes.of_nodes(probs, labels), bins=10, scheme="mass")
        assert found == pytest.approx(sampled, abs=5e-4)
        assert found < ece(Outcomes.of_nodes(probs, labels), bins=10, scheme="mass") - 5e-3

    @pytest.mark.parametrize(("gap", "hits", "n"), [(0.0, 3, 10), (0.02, 5, 9), (0.3, 1, 4)])
    def test_folded_normal_by_quadrature(self, gap, hits, n):
        spread = np.sqrt(hits / n * (1 - hits / n) / n)
        folded = quad(lambda x: abs(x) * gaussian.pdf(x, gap, spread), -5, 5, points=[0, gap])[0]
        bins = Bins(np.array([float(n)]), np.array([hits - gap * n]), np.array([float(hits)]))
        assert debiased_of(bins) == pytest.approx(2 * gap - folded, abs=1e-9)

    @pytest.mark.parametrize("p", [0.5, 0.9])
    @pytest.mark.parametrize("confidence", [0.5, 0.8])
    def test_square_is_unbiased_by_enumeration(self, p, confidence):
        # All 2^8 outcomes of two bins of four: the mean is the true squared error.
        says = np.array([confidence] * 4 + [0.95] * 4)
        mean = plug_in = 0.0
        for happened in itertools.product([False, True], repeat=8):
            chance = p ** sum(happened) * (1 - p) ** (8 - sum(happened))
            mean += chance * debiased_ece(events(says, happened), norm=2)
            plug_in += chance * ece(events(says, happened), norm=2)
        truth = ((p - confidence) ** 2 + (p - 0.95) ** 2) / 2
        assert mean == pytest.approx(truth, abs=1e-12)
        assert plug_in == pytest.approx(truth + p * (1 - p) / 4, abs=1e-12)

    def test_bins_of_one_item(self):
        single = events([0.1, 0.5, 0.9], [True, False, True])
        assert debiased_ece(single, norm=2) == 0.0
        assert debiased_ece(single, norm=1) == pytest.approx(ece(single))

    def test_bounds_hold(self, rng):
        card = next(card for card in CARDS if card.name == "debiased_ece")
        worst = [
            debiased_of(Bins(np.array([n]), np.array([hits]), np.array([hits])), norm)
            for n in np.arange(1.0, 40.0)
            for hits in np.arange(n + 1)
            for norm in (1, 2)
        ]
        assert card.low <= min(worst) < -0.2

    def test_scale_of_fractional_weights_is_irrelevant(self, rng):
        confidence, correct, weights = rng.random(99), rng.random(99) < 0.5, rng.random(99)
        for norm in (1, 2):
            value = debiased_ece(events(confidence, correct, weights), norm=norm)
            assert value == pytest.approx(
                debiased_ece(events(confidence, correct, weights / 7), norm=norm)
            )
            # Equal weights that are no counts mean what no weights mean.
            assert debiased_ece(
                events(confidence, correct, np.full(99, 0.37)), norm=norm
            ) == pytest.approx(debiased_ece(events(confidence, correct), norm=norm))

    def test_norm_is_checked(self):
        with pytest.raises(InputError, match="norm: 3 is neither 1 nor 2"):
            debiased_ece(events([0.5], [1]), norm=3)


class TestLaws:
    def test_perfect_and_worst(self):
        best, worst = events([1.0] * 9, [True] * 9), events([1.0] * 9, [False] * 9)
        for metric in BINNED:
            assert metric(best) == 0.0
            assert metric(worst) == 1.0

    @pytest.mark.parametrize("metric", BINNED)
    def test_empty_is_nan(self, metric):
        assert np.isnan(metric(events([], [])))
        assert np.isnan(metric(events([0.6], [True], np.zeros(1))))

    def test_classwise_empty_and_single_class(self):
        assert np.isnan(classwise_ece(np.empty((0, 3)), np.empty(0, int)))
        assert classwise_ece(np.ones((4, 1)), np.zeros(4, int)) == 0.0

    @settings(deadline=None)
    @given(
        st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.integers(0, 3)), min_size=1),
        st.integers(0, 2**32 - 1),
        st.sampled_from(["width", "mass"]),
    )
    def test_whole_weights_are_repetitions_and_order_is_irrelevant(self, items, seed, scheme):
        confidence = np.array([c / 12 for c, _, _ in items])
        correct = np.array([ok for _, ok, _ in items])
        counts = np.array([w for _, _, w in items])
        shuffled = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(items)), counts))
        weighted = events(confidence, correct, counts.astype(float))
        repeated = events(confidence[shuffled], correct[shuffled])
        for metric in BINNED:
            laid = {"scheme": scheme} if "scheme" in inspect.signature(metric).parameters else {}
            assert metric(weighted, **laid) == pytest.approx(
                metric(repeated, **laid), nan_ok=True, abs=1e-9
            )
        probs, labels = two_classes(confidence), correct.astype(int)
        assert classwise_ece(
            probs, labels, scheme=scheme, weights=counts.astype(float)
        ) == pytest.approx(
            classwise_ece(probs[shuffled], labels[shuffled], scheme=scheme), nan_ok=True, abs=1e-9
        )

    @settings(deadline=None)
    @given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1), st.integers(1, 20))
    def test_order_of_the_measures(self, items, bins):
        outcomes = events([c for c, _ in items], [ok for _, ok in items])
        # Merging all bins can only cancel gaps, and no mean of gaps exceeds the largest.
        overall = ece(outcomes, bins=1)
        assert overall - 1e-9 <= ece(outcomes, bins=bins) <= mce(outcomes, bins=bins) + 1e-9
        assert ece(outcomes, bins=bins, norm=2) <= ece(outcomes, bins=bins) + 1e-9
        assert debiased_ece(outcomes, bins=bins) <= ece(outcomes, bins=bins) + 1e-9

    def test_chance(self):
        # A uniform model is calibrated when all classes are equally frequent.
        probs, labels = np.full((30, 3), 1 / 3), np.tile([0, 1, 2], 10)
        assert ece(Outcomes.of_nodes(probs, labels)) == pytest.approx(0, abs=1e-12)
        assert classwise_ece(probs, labels) == pytest.approx(0, abs=1e-12)

    def test_balanced_weights_count_classes_alike(self, drawn):
        probs, labels = drawn
        counts = np.bincount(labels)
        outcomes = Outcomes.of_nodes(probs, labels)
        # Repeat every class up to a common multiple instead of weighing it.
        common = np.lcm.reduce(counts)
        repeated = outcomes.weighted((common / counts[labels]).round())
        assert ece(outcomes.balanced(labels)) == pytest.approx(ece(repeated))
        assert outcomes.balanced(labels).weights.sum() == pytest.approx(len(counts))

    def test_norm_is_checked(self):
        with pytest.raises(InputError, match=r"norm: 0\.5 is not a number from one up"):
            ece(events([0.5], [1]), norm=0.5)
        with pytest.raises(InputError, match="norm: 'l1' is not a number"):
            ece(events([0.5], [1]), norm="l1")
        assert ece(events([0.5], [1]), norm=np.int64(2)) == 0.25


@pytest.mark.parametrize("of", [ece_of, mce_of, debiased_of, lambda b: debiased_of(b, 2)])
def test_draws_are_measured_column_by_column(of, rng):
    mass = rng.integers(0, 5, (15, 8)).astype(float)
    mass[:, 3] = 0
    bins = Bins(mass, mass * rng.random((15, 8)), np.floor(mass * rng.random((15, 8))))
    together = of(bins)
    alone = [of(bins.each(lambda sums, d=d: sums[:, d])) for d in range(8)]
    np.testing.assert_allclose(together, alone)
    assert np.isnan(together[3])
    # What all draws share may be given once.
    shared = Bins(mass[:, :1], bins.confidence[:, :1], bins.hits)
    spread = Bins(np.tile(mass[:, :1], 8), np.tile(bins.confidence[:, :1], 8), bins.hits)
    np.testing.assert_allclose(of(shared), of(spread))


def test_cards_state_the_facts():
    cards = {card.name: card for card in CARDS}
    assert {card.label for card in CARDS} == {f"{name}(bins=15)" for name in cards}
    assert all(card.direction is Direction.LOWER for card in CARDS)
    assert cards["classwise_ece"].needs is Needs.CLASSES
    name, params = split_spec("ece(bins=20,scheme=mass)")
    assert cards[name].bind(**params).label == "ece(bins=20,scheme=mass)"
    outcomes = events([0.3, 0.8, 0.9], [True, False, True])
    assert cards["ece"].bind(bins=1)(outcomes) == ece(outcomes, bins=1)
