"""EERM: what editors draw, its probability, what REINFORCE learns from it, and the risks."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from planted_graphs import MADE, small
from test_domain_alignment import step
from torch.nn.functional import cross_entropy

from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.methods import method
from graphgauge.methods.inputs import Inputs
from graphgauge.methods.shifts.editors import Candidates, Editors, draw, edited, log_probability

GRAPH, SPLIT = MADE.graph, MADE.split
TRAIN = SPLIT["train"]
PATTERN = sp.csr_array(GRAPH.neighbours[TRAIN][:, TRAIN])


def tiny(**hyper) -> Editors:
    """Edit a path of four nodes, with all pairs as candidates."""
    path = sp.csr_array(np.diag([1, 1, 1], 1) + np.diag([1, 1, 1], -1))
    given = {"n_editors": 1, "n_candidates": 4, "n_flips": 1, "rate": 0.1, **hyper}
    return Editors(path, rng=np.random.default_rng(0), **given)


def test_all_pairs_are_candidates_where_there_is_room():
    editors = tiny()
    assert editors.nodes.shape == (1, 4, 3)
    assert [sorted(row) for row in editors.nodes[0]] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert torch.equal(editors.offsets, torch.zeros(1, 4, 3))


@pytest.mark.parametrize("n", [2, 5, 16])
def test_few_candidates_stand_for_all_pairs(n):
    found = Candidates.of(PATTERN, n, np.random.default_rng(1))
    dense = PATTERN.toarray().astype(bool)
    for node, (nodes, offsets) in enumerate(zip(found.nodes, found.offsets, strict=True)):
        assert len(set(nodes)) == n
        assert node not in nodes
        old, degree = dense[node, nodes], dense[node].sum()
        assert old.sum() == min(degree, n // 2)
        # Together they weigh as many as there are, edges and others apart.
        assert np.isclose(np.exp(offsets[old]).sum(), degree)
        assert np.isclose(np.exp(offsets[~old]).sum(), len(TRAIN) - 1 - degree)


def test_candidates_of_nodes_with_many_and_no_neighbours():
    star = np.zeros((30, 30), int)
    star[0, 1:29] = star[1:29, 0] = 1
    found = Candidates.of(sp.csr_array(star), 8, np.random.default_rng(0))
    assert (star[0, found.nodes[0]]).sum() == 7  # but one node is no neighbour
    assert star[29, found.nodes[29]].sum() == 0
    assert np.allclose(np.exp(found.offsets).sum(axis=1), 29)


@pytest.mark.parametrize("n_flips", [1, 2])
def test_probabilities_of_all_draws_add_up_to_one(n_flips):
    logits = torch.tensor([0.3, -1.0, 2.0])
    every = torch.tensor(list(permutations(range(3), n_flips)))
    probs = torch.stack([log_probability(logits, one) for one in every]).exp()
    assert torch.isclose(probs.sum(), torch.tensor(1.0))
    if n_flips == 1:
        assert torch.allclose(probs, logits.softmax(0))


@pytest.mark.parametrize("n_flips", [1, 2])
def test_draws_are_as_frequent_as_their_probability(n_flips):
    logits = torch.tensor([0.3, -1.0, 1.0])
    generator = torch.Generator().manual_seed(0)
    drawn = draw(logits.expand(40_000, 3), n_flips, generator)
    for one in permutations(range(3), n_flips):
        expected = log_probability(logits, torch.tensor(one)).exp().item()
        share = (drawn == torch.tensor(one)).all(dim=1).float().mean().item()
        assert abs(share - expected) < 0.01


def test_flips_remove_edges_and_add_them():
    editors = tiny(n_flips=2)
    dense = editors.pattern.toarray()
    for one, two in combinations(range(3), 2):
        chosen = torch.tensor([[[one, two]] * 4])
        found = editors.graphs(chosen)[0].toarray()
        expected = dense.copy()
        for node in range(4):
            for place in (one, two):
                expected[node, editors.nodes[0, node, place]] ^= 1
        assert np.array_equal(found, expected)
    assert np.array_equal(editors.pattern.toarray(), dense)
    back = edited(edited(PATTERN, TRAIN[:, None] * 0 + 3), TRAIN[:, None] * 0 + 3)
    assert np.array_equal(back.toarray(), PATTERN.toarray())


def test_reinforce_climbs_the_expected_reward_on_average():
    """Enumerate all graphs two nodes' flips can make; compare with the gradient of the mean."""
    logits = torch.tensor([[0.2, -0.5, 1.0], [0.0, 0.7, -0.3]], requires_grad=True)
    draws = torch.tensor(list(product(range(3), repeat=2)))[:, :, None]
    rewards = torch.rand(len(draws), generator=torch.Generator().manual_seed(0))
    log_probs = torch.stack([log_probability(logits, one) for one in draws])
    exact = torch.autograd.grad((log_probs.exp() * rewards).sum(), logits)[0]
    estimates = torch.zeros_like(logits)
    for one, reward in zip(draws, rewards, strict=True):
        log_prob = log_probability(logits, one)
        gradient = torch.autograd.grad(reward * log_prob, logits)[0]
        estimates += log_prob.exp().detach() * gradient
    assert torch.allclose(estimates, exact, atol=1e-6)


def test_editors_learn_what_is_rewarded():
    editors = tiny()
    generator = torch.Generator().manual_seed(0)
    wanted = 2
    for _ in range(200):
        chosen = editors.draw(generator)
        editors.learn(chosen, float((chosen == wanted).float().mean()) ** 2)
    # Without a baseline, some node may settle on something else.
    assert editors.logits.softmax(dim=-1)[..., wanted].mean() > 0.7


def test_editors_of_rate_zero_learn_nothing():
    editors = tiny(rate=0.0)
    before = editors.logits.detach().clone()
    editors.learn(editors.draw(torch.Generator().manual_seed(0)), 1.0)
    assert torch.equal(editors.logits, before)


def test_risk_is_the_loss_in_the_edited_graph(monkeypatch):
    made = small("shifts/eerm", share=0.0)
    lesson = made.lesson(GRAPH, SPLIT, torch.Generator().manual_seed(0))
    unedited = [PATTERN] * 3
    monkeypatch.setattr(lesson.editors, "graphs", lambda chosen: unedited)
    start = step()
    risks = lesson.risks(start, torch.empty(0))
    assert torch.allclose(risks, risks[0].expand(3))
    # The same by a graph of nothing but the nodes to train on.
    inputs = Inputs(Graph(PATTERN, GRAPH.features[TRAIN], GRAPH.labels[TRAIN]), loops=True)
    network, view = start.network, inputs.whole(2)
    hidden = network.hidden(network.encoder.stem(inputs), view, start.noise)
    expected = cross_entropy(network.output(hidden, inputs, view), start.labels)
    assert torch.allclose(risks[0], expected, atol=1e-5)


def test_classifier_stands_still_as_published():
    heads = {}
    for protocol in ("published", "corrected"):
        for epochs in (1, 6):
            trained = small("shifts/eerm", protocol, epochs=epochs, select="loss")
            state = trained.fit(GRAPH, SPLIT, seed=0).network.head.state_dict()
            heads[protocol, epochs] = state["last.weight"]
    assert torch.equal(heads["published", 1], heads["published", 6])
    assert not torch.equal(heads["corrected", 1], heads["corrected", 6])


def test_one_risk_does_not_vary():
    with pytest.raises(InputError, match="n_editors: the risk of 1 does not vary"):
        method("shifts/eerm", n_editors=1)
