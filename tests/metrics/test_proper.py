"""Accuracy and proper scores against scikit-learn, loops and known values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, log_loss

from graphgauge.metrics.metric import Direction, Needs
from graphgauge.metrics.outcomes import Outcomes
from graphgauge.metrics.proper import CARDS, accuracy, balanced_accuracy, brier, nll

SCORES = (accuracy, nll, brier)


@pytest.fixture
def drawn(rng):
    probs = rng.dirichlet(np.full(5, 0.5), 400)
    return probs, rng.integers(0, 5, 400), rng.random(400)


class TestOracles:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_scikit_learn(self, drawn, weighted):
        probs, labels, weights = drawn
        given_weights = weights if weighted else None
        outcomes = Outcomes.of_nodes(probs, labels, given_weights)
        predicted = probs.argmax(axis=1)
        assert accuracy(outcomes) == pytest.approx(
            accuracy_score(labels, predicted, sample_weight=given_weights)
        )
        assert nll(outcomes) == pytest.approx(
            log_loss(labels, probs, sample_weight=given_weights, labels=range(5))
        )
        assert brier(outcomes) == pytest.approx(
            brier_score_loss(labels, probs, sample_weight=given_weights, scale_by_half=False)
        )
        assert balanced_accuracy(probs, labels, weights=given_weights) == pytest.approx(
            balanced_accuracy_score(labels, predicted, sample_weight=given_weights)
        )

    def test_brier_counts_every_class_of_every_item(self, drawn):
        probs, labels, _ = drawn
        total = 0.0
        for row, label in zip(probs, labels, strict=True):
            for c, p in enumerate(row):
                total += (p - (c == label)) ** 2
        assert brier(Outcomes.of_nodes(probs, labels)) == pytest.approx(total / len(labels))

    def test_edges_count_every_pair_of_classes(self, rng):
        probs, labels = rng.dirichlet(np.ones(3), 12), rng.integers(0, 3, 12)
        edges = np.array([(u, v) for u in range(12) for v in range(u) if rng.random() < 0.4])
        joint_brier, joint_nll, right = [], [], []
        for u, v in edges:
            joint = np.outer(probs[u], probs[v])
            happened = np.zeros((3, 3))
            happened[labels[u], labels[v]] = 1
            joint_brier.append(((joint - happened) ** 2).sum())
            joint_nll.append(-np.log(joint[labels[u], labels[v]]))
            right.append(divmod(joint.argmax(), 3) == (labels[u], labels[v]))
        outcomes = Outcomes.of_nodes(probs, labels).ends(edges)
        assert brier(outcomes) == pytest.approx(np.mean(joint_brier))
        assert nll(outcomes) == pytest.approx(np.mean(joint_nll))
        assert accuracy(outcomes) == pytest.approx(np.mean(right))


class TestLaws:
    def test_best_and_worst(self):
        sure, labels = np.eye(3)[[0, 1, 2, 0]], np.array([0, 1, 2, 0])
        best = Outcomes.of_nodes(sure, labels)
        worst = Outcomes.of_nodes(sure, (labels + 1) % 3)
        assert [score(best) for score in SCORES] == [1.0, 0.0, 0.0]
        assert [score(worst) for score in SCORES] == [0.0, np.inf, 2.0]
        assert balanced_accuracy(sure, labels) == 1.0
        assert str(nll(best)) == "0.0"

    @pytest.mark.parametrize("n_classes", [2, 3, 7])
    def test_chance(self, n_classes):
        labels = np.arange(n_classes)
        outcomes = Outcomes.of_nodes(np.full((n_classes, n_classes), 1 / n_classes), labels)
        assert accuracy(outcomes) == pytest.approx(1 / n_classes)
        assert nll(outcomes) == pytest.approx(np.log(n_classes))
        assert brier(outcomes) == pytest.approx(1 - 1 / n_classes)

    def test_empty_is_nan(self):
        empty = Outcomes.of_nodes(np.empty((0, 3)), np.empty(0, int))
        assert all(np.isnan(score(empty)) for score in SCORES)
        assert np.isnan(balanced_accuracy(np.empty((0, 3)), np.empty(0, int)))

    def test_no_weight_is_nan_and_weightless_items_do_not_count(self):
        probs, labels = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([1, 0])
        weightless = Outcomes.of_nodes(probs, labels, np.zeros(2))
        assert all(np.isnan(score(weightless)) for score in SCORES)
        assert nll(Outcomes.of_nodes(probs, labels, np.array([0.0, 1.0]))) == np.log(2)
        # A class whose items all have weight zero is absent.
        assert balanced_accuracy(probs, labels, weights=np.array([0.0, 3.0])) == 1.0

    def test_a_truly_calibrated_report_is_best_in_expectation(self):
        # Proper: no other report has a smaller expected score under the truth (0.7, 0.3).
        for report in np.linspace(0.01, 0.99, 99):
            for score in (nll, brier):
                mine, other = (
                    score(
                        Outcomes.of_nodes(np.tile([p, 1 - p], (10, 1)), np.repeat([0, 1], [7, 3]))
                    )
                    for p in (0.7, report)
                )
                assert mine <= other + 1e-12

    @settings(deadline=None)
    @given(st.lists(st.integers(0, 3), min_size=6, max_size=6), st.integers(0, 2**32 - 1))
    def test_whole_weights_are_repetitions_and_order_is_irrelevant(self, counts, seed):
        rng = np.random.default_rng(seed)
        probs, labels = rng.dirichlet(np.ones(3), 6), rng.integers(0, 3, 6)
        weights = np.array(counts, float)
        repeated = np.repeat(np.arange(6), counts)
        shuffled = rng.permutation(repeated)
        kept = probs.copy(), labels.copy(), weights.copy()
        for score in SCORES:
            weighted = score(Outcomes.of_nodes(probs, labels, weights))
            expected = score(Outcomes.of_nodes(probs[shuffled], labels[shuffled]))
            assert weighted == pytest.approx(expected, nan_ok=True)
        assert balanced_accuracy(probs, labels, weights=weights) == pytest.approx(
            balanced_accuracy(probs[shuffled], labels[shuffled]), nan_ok=True
        )
        for before, after in zip(kept, (probs, labels, weights), strict=True):
            assert (before == after).all()


def test_cards_state_the_facts():
    cards = {card.name: card for card in CARDS}
    assert cards["balanced_accuracy"].needs is Needs.CLASSES
    assert cards["brier"].high == 2.0
    assert cards["accuracy"].direction is Direction.HIGHER
    assert cards["nll"].direction is cards["brier"].direction is Direction.LOWER
    assert all(card.label == card.name and card.defaults == {} for card in CARDS)
