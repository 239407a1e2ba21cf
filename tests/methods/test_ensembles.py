"""Ensembles of predictions."""

from __future__ import annotations

import numpy as np
import pytest
from planted_graphs import MADE, small

from graphgauge.errors import InputError
from graphgauge.methods import COMBINATIONS, combine
from graphgauge.predictions import NodePredictions
from graphgauge.uncertainty import Uncertainty


@pytest.fixture(scope="module")
def members() -> list[NodePredictions]:
    made = small("shifts/gpn")
    return [made.fit(MADE.graph, MADE.split, seed=seed).predict(MADE.graph) for seed in range(3)]


def test_mean_of_probabilities(members):
    combined = combine("mean-softmax", members)
    mean = np.mean([member.probs for member in members], axis=0)
    assert np.allclose(combined.probs, mean)
    found = Uncertainty.from_ensemble([member.probs for member in members])
    assert np.array_equal(combined.uncertainties["knowledge"], found.knowledge)
    assert combined.alpha is None
    assert np.array_equal(combined.labels, MADE.graph.labels)


def test_sum_of_alphas_counts_the_prior_as_often_as_it_is_told_to(members):
    alphas = [member.alpha for member in members]
    published = combine("sum-alpha", members, protocol="published")
    corrected = combine("sum-alpha", members)
    assert np.allclose(published.alpha, np.sum(alphas, axis=0))
    assert np.allclose(corrected.alpha, 1 + np.mean([alpha - 1 for alpha in alphas], axis=0))
    assert np.allclose(published.probs, corrected.probs)
    evidence = -published.alpha.sum(axis=1)
    assert np.array_equal(published.uncertainties["knowledge"], evidence)
    assert (corrected.uncertainties["knowledge"] >= 0).all()


def test_corrected_knowledge_is_that_of_the_members():
    made = small("revisiting/natpn", epochs=2)
    single = made.fit(MADE.graph, MADE.split, seed=0).predict(MADE.graph)
    combined = combine("sum-alpha", [single, single])
    assert np.allclose(combined.alpha, single.alpha)
    assert np.allclose(combined.uncertainties["knowledge"], single.uncertainties["knowledge"])


@pytest.mark.parametrize("kind", COMBINATIONS)
def test_order_of_members_is_irrelevant(kind, members):
    ours, theirs = combine(kind, members), combine(kind, members[::-1])
    assert np.allclose(ours.probs, theirs.probs)


def test_what_cannot_be_combined_is_told(members):
    with pytest.raises(InputError, match="there are none"):
        combine("mean-softmax", [])
    with pytest.raises(InputError, match="unknown ensemble 'vote'"):
        combine("vote", members)
    with pytest.raises(InputError, match="protocol: 'printed'"):
        combine("sum-alpha", members, protocol="printed")
    plain = NodePredictions(members[0].probs, members[0].labels)
    with pytest.raises(InputError, match=r"members\[1\]: carries no alpha"):
        combine("sum-alpha", [members[0], plain])
    few = NodePredictions([[0.5, 0.5]], [0])
    with pytest.raises(InputError, match=r"members\[1\]: has shape \(1, 2\)"):
        combine("mean-softmax", [members[0], few])
    other = NodePredictions(plain.probs, (plain.labels + 1) % 3)
    with pytest.raises(InputError, match=r"members\[1\]: labels differ"):
        combine("mean-softmax", [members[0], other])
