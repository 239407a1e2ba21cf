"""Laws of planted graphs: what was asked for is what comes out, and the truth is calibrated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse.csgraph import connected_components
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from graphgauge.audit import Severity, audit
from graphgauge.datasets import Planted, demo_predictions, planted
from graphgauge.errors import InputError
from graphgauge.predictions import NodePredictions
from graphgauge.uncertainty import Uncertainty


def _agreement(made: Planted) -> float:
    ends = made.graph.labels[made.graph.edges]
    return float((ends[:, 0] == ends[:, 1]).mean())


@pytest.fixture(scope="module")
def large() -> Planted:
    return planted(40_000, 4, seed=8)


def test_posteriors_are_distributions_over_classes_none_of_them_impossible() -> None:
    made = planted()
    assert made.posteriors.shape == (3000, 5)
    np.testing.assert_allclose(made.posteriors.sum(axis=1), 1, atol=1e-12)
    assert made.posteriors.min() >= 0.002
    assert len(np.unique(made.posteriors.max(axis=1))) > 2990


def test_confidence_varies_and_mostly_names_the_community() -> None:
    made = planted()
    confidence = made.posteriors.max(axis=1)
    assert np.quantile(confidence, 0.05) < 0.7
    assert np.quantile(confidence, 0.9) > 0.98
    named = made.posteriors.argmax(axis=1) == made.communities
    assert 0.97 < named.mean() < 1
    assert np.bincount(made.communities).tolist() == [600] * 5


@pytest.mark.parametrize("certainty", [0.3, 0.6, 0.92, 0.99])
def test_certainty_is_the_mean_probability_of_the_community(certainty: float) -> None:
    made = planted(20_000, 4, certainty=certainty, homophily=0.26, mean_degree=3)
    own = made.posteriors[np.arange(20_000), made.communities]
    assert own.mean() == pytest.approx(certainty, abs=0.01)


@pytest.mark.parametrize("homophily", [0.05, 0.2, 0.5, 0.8, 0.88])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_homophily_is_what_was_asked_for(homophily: float, seed: int) -> None:
    assert _agreement(planted(homophily=homophily, seed=seed)) == pytest.approx(homophily, abs=0.03)


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_homophily_holds_for_few_and_many_classes(n_classes: int) -> None:
    made = planted(20_000, n_classes, homophily=0.6)
    assert _agreement(made) == pytest.approx(0.6, abs=0.02)


def test_homophily_out_of_reach_is_refused_with_what_can_be_reached() -> None:
    with pytest.raises(InputError, match=r"homophily 0.9 is out of reach: .* 0\.\d\d to 0\.8\d"):
        planted(homophily=0.9)
    assert _agreement(planted(homophily=0.9, certainty=0.97)) == pytest.approx(0.9, abs=0.03)
    with pytest.raises(InputError, match=r"homophily 0\.01 is out of reach"):
        planted(homophily=0.01)


def test_edges_are_as_many_as_asked_for_and_simple() -> None:
    made = planted(1000, 3, mean_degree=7.0)
    edges = made.graph.edges
    assert len(edges) == 3500
    assert made.graph.adjacency.nnz == 7000
    assert made.graph.degrees.mean() == 7.0
    assert (edges[:, 0] < edges[:, 1]).all()


def test_degrees_are_heavy_tailed() -> None:
    """A Poisson degree with mean 8 passes 40 once in 10^15 nodes, and its variance is 8."""
    degrees = planted().graph.degrees
    assert degrees.max() > 80
    assert degrees.var() > 40
    assert 0.001 < (degrees == 0).mean() < 0.03


def test_most_nodes_are_in_one_component() -> None:
    sizes = np.bincount(connected_components(planted().graph.adjacency, directed=False)[1])
    assert sizes.max() > 2900


def test_labels_come_as_often_as_the_posteriors_say(large: Planted) -> None:
    """Sums of independent draws of unequal chances: the covariance is known, so is chi-square."""
    p, labels = large.posteriors, large.graph.labels
    gap = (np.bincount(labels, minlength=4) - p.sum(axis=0))[:-1]
    covariance = (np.diag(p.sum(axis=0)) - p.T @ p)[:-1, :-1]
    assert stats.chi2.sf(gap @ np.linalg.solve(covariance, gap), 3) > 0.001
    bins = np.digitize(p[:, 0], [0.005, 0.01, 0.1, 0.5, 0.9, 0.98])
    hits = np.bincount(bins, labels == 0) - np.bincount(bins, p[:, 0])
    spread = np.bincount(bins, p[:, 0] * (1 - p[:, 0]))
    assert stats.chi2.sf((hits**2 / spread).sum(), len(hits)) > 0.001


def test_posteriors_are_calibrated_on_nodes_by_confidence_and_by_degree(large: Planted) -> None:
    p, labels = large.posteriors, large.graph.labels
    confidence, correct = p.max(axis=1), p.argmax(axis=1) == labels
    for value in (confidence, large.graph.degrees, large.graph.features[:, 0]):
        for bin_of in np.array_split(np.argsort(value, kind="stable"), 10):
            error = (correct[bin_of] - confidence[bin_of]).sum()
            spread = (confidence[bin_of] * (1 - confidence[bin_of])).sum() ** 0.5
            assert abs(error) < 4 * spread


def test_products_of_posteriors_are_calibrated_on_edges(large: Planted) -> None:
    """Both for the predicted pair of labels and for the ends to agree."""
    p, labels, edges = large.posteriors, large.graph.labels, large.graph.edges
    u, v = edges.T
    correct = p.argmax(axis=1) == labels
    both, claimed = correct[u] & correct[v], p.max(axis=1)[u] * p.max(axis=1)[v]
    agree, expected = labels[u] == labels[v], np.einsum("ij,ij->i", p[u], p[v])
    for happened, chance in ((both, claimed), (agree, expected)):
        for bin_of in np.array_split(np.argsort(chance), 8):
            # Edges share nodes: allow three times the spread of independent ones, and 4 sigma.
            spread = (chance[bin_of] * (1 - chance[bin_of])).sum() ** 0.5
            assert abs((happened[bin_of] - chance[bin_of]).sum()) < 12 * spread


def test_labels_of_neighbours_are_independent_given_the_posteriors(large: Planted) -> None:
    """Residuals of the two ends of an edge do not correlate."""
    p, labels, edges = large.posteriors, large.graph.labels, large.graph.edges
    residual = (labels == large.communities) - p[np.arange(len(p)), large.communities]
    product = residual[edges[:, 0]] * residual[edges[:, 1]]
    assert abs(product.mean()) < 4 * product.std() / len(product) ** 0.5


def test_shape_of_single_edges_follows_communities() -> None:
    made = planted(homophily=0.8)
    ends = made.communities[made.graph.edges]
    counts = np.zeros((5, 5))
    np.add.at(counts, (ends[:, 0], ends[:, 1]), 1)
    counts += counts.T
    across = counts[~np.eye(5, dtype=bool)]
    assert np.diag(counts).min() > 10 * across.max()
    assert across.min() > 0.5 * across.mean()


def test_features_are_blurred_views_from_which_labels_can_be_learned() -> None:
    made = planted()
    features, labels = made.graph.features, made.graph.labels
    assert features.shape == (3000, 16)
    assert features.dtype == np.float32
    train, test = made.split["train"], made.split["test_in"]
    model = LogisticRegression(max_iter=500).fit(features[train], labels[train])
    best = (made.posteriors.argmax(axis=1) == labels)[test].mean()
    assert 0.6 < model.score(features[test], labels[test]) < best


def test_parts_follow_degree_in_the_usual_shares() -> None:
    made = planted(1003, 3, seed=4)
    degrees, parts = made.graph.degrees, made.split.parts
    sizes = {name: len(index) for name, index in parts.items()}
    assert sizes == {
        "train": 300,
        "valid_in": 100,
        "test_in": 101,
        "valid_out": 100,
        "test_out": 402,
    }
    order = ("train", "valid_in", "test_in"), ("valid_out",), ("test_out",)
    inside, near, far = (np.concatenate([parts[name] for name in names]) for names in order)
    assert degrees[inside].min() >= degrees[near].max()
    assert degrees[near].min() >= degrees[far].max()
    assert abs(degrees[parts["train"]].mean() - degrees[parts["test_in"]].mean()) < 3
    assert made.split.recipe["seed"] == 4


def test_ties_of_degree_are_broken_by_the_seed_not_by_number() -> None:
    made = planted()
    degrees, outside = made.graph.degrees, np.zeros(3000, bool)
    outside[made.split["valid_out"]] = outside[made.split["test_out"]] = True
    at_cut = np.flatnonzero(degrees == degrees[~outside].min())
    assert outside[at_cut].any()
    assert not outside[at_cut].all()
    assert stats.mannwhitneyu(at_cut[outside[at_cut]], at_cut[~outside[at_cut]]).pvalue > 0.001


def test_one_seed_gives_one_graph_and_another_seed_another() -> None:
    first, again, other = planted(300, seed=3), planted(300, seed=3), planted(300, seed=4)
    assert first.graph.fingerprint == again.graph.fingerprint != other.graph.fingerprint
    assert first.posteriors.tobytes() == again.posteriors.tobytes()
    for name, index in first.split.parts.items():
        assert index.tobytes() == again.split[name].tobytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_nodes": 9}, "9 nodes and 5 classes are too few"),
        ({"n_classes": 1}, "3000 nodes and 1 classes are too few"),
        ({"n_nodes": 12, "n_classes": 13}, "12 nodes and 13 classes are too few"),
        ({"mean_degree": 0}, "mean_degree 0 is not between"),
        ({"mean_degree": 3000}, "mean_degree 3000 is not between"),
        ({"certainty": 0.2}, r"certainty 0.2 is not between 0.20 and 0.99"),
        ({"certainty": 1.0}, r"certainty 1.0 is not between 0.20 and 0.99"),
        ({"n_nodes": 20, "n_classes": 2, "mean_degree": 15}, "mean_degree is too large"),
    ],
)
def test_impossible_wishes_are_refused(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        planted(**arguments)


@pytest.mark.parametrize("concentration", [0.5, 20.0, "one a node"])
def test_sampled_members_are_dirichlet_around_the_truth(concentration) -> None:
    """Mean, variance and expected entropy are known, and all within 5 sigma."""
    made, m = planted(50, 3, mean_degree=4), 4000
    evidence = np.geomspace(0.1, 1e4, 50) if concentration == "one a node" else concentration
    members = made.sampled(m, concentration=evidence, seed=1)
    assert members.shape == (m, 50, 3)
    np.testing.assert_allclose(members.sum(axis=2), 1, atol=1e-12)
    p, evidence = made.posteriors, np.broadcast_to(evidence, 50)[:, None]
    variance = p * (1 - p) / (evidence + 1)
    assert (abs(members.mean(axis=0) - p) < 5 * np.sqrt(variance / m)).all()
    truth = Uncertainty.from_dirichlet(evidence * p)
    squares, entropies = ((members - p) ** 2).sum(axis=(1, 2)), stats.entropy(members, axis=2)
    for found, known in ((squares, variance.sum()), (entropies.sum(axis=1), truth.data.sum())):
        assert abs(found.mean() - known) < 5 * found.std() / m**0.5


def test_disagreement_of_sampled_members_is_the_information_of_the_dirichlet() -> None:
    """The entropy of the mean of m members falls short by (C - 1) / 2m(α0 + 1), to first order."""
    made, m = planted(400, 4, seed=2), 500
    evidence = 1 + made.graph.degrees
    found = Uncertainty.from_ensemble(made.sampled(m, concentration=evidence))
    truth = Uncertainty.from_dirichlet(evidence[:, None] * made.posteriors)
    gap = found.knowledge - truth.knowledge
    short = 3 / (2 * m * (evidence + 1))
    assert abs((gap + short).mean()) < 4 * (gap + short).std() / 20 + 1e-4
    # Nodes are told apart by it as the truth tells them, which is what detectors of shifts use.
    assert stats.spearmanr(found.knowledge, truth.knowledge).statistic > 0.95
    few = Uncertainty.from_ensemble(made.sampled(3, concentration=evidence))
    assert few.knowledge.mean() < found.knowledge.mean()


def test_members_follow_from_the_seed_and_their_number() -> None:
    made = planted(100, 3)
    members = made.sampled(6, seed=3)
    np.testing.assert_array_equal(members[:2], made.sampled(2, seed=3))
    assert not np.array_equal(members, made.sampled(6, seed=4))
    assert len(np.unique(members[:, 0, 0])) == 6
    assert np.isfinite(made.sampled(2, concentration=1e-6)).all()


@pytest.mark.parametrize(
    ("n_members", "concentration", "message"),
    [
        (0, 1, "0 members are too few"),
        (1, 0, "concentration: 1 row is not above zero"),
        (1, np.r_[np.ones(99), -1], r"not above zero \(row 99\)"),
        (1, np.inf, "concentration: 1 row is not finite"),
        (1, [1.0, 2.0], "posteriors has 100 rows, concentration has 2"),
    ],
)
def test_impossible_members_are_refused(n_members, concentration, message) -> None:
    with pytest.raises(InputError, match=message):
        planted(100, 3).sampled(n_members, concentration=concentration)


def _shifted(predictions: NodePredictions) -> np.ndarray:
    outside = np.zeros(predictions.n_nodes, bool)
    for name in ("valid_out", "test_out"):
        outside[predictions.parts[name]] = True
    return outside


def _gap(predictions: NodePredictions, rows: np.ndarray) -> float:
    """Confidence in excess of accuracy."""
    probs, labels = predictions.probs[rows], predictions.labels[rows]
    return float(probs.max(axis=1).mean() - (probs.argmax(axis=1) == labels).mean())


@pytest.mark.parametrize("seed", range(4))
def test_demo_models_have_the_faults_they_are_named_for(seed: int) -> None:
    models = demo_predictions(seed)
    calibrated, sure, shifted = models.values()
    outside = _shifted(calibrated)
    for rows in (outside, ~outside):
        assert abs(_gap(calibrated, rows)) < 0.03
        assert _gap(sure, rows) > 0.02
    assert abs(_gap(shifted, ~outside)) < 0.03
    assert _gap(shifted, outside) > 0.3
    sees = {k: roc_auc_score(outside, m.uncertainties["knowledge"]) for k, m in models.items()}
    assert sees["calibrated"] > 0.78 > sees["over-confident"] > 0.65
    assert sees["shifted"] == pytest.approx(0.5, abs=0.06)


def test_demo_models_are_judged_on_the_same_items_and_named() -> None:
    models = demo_predictions()
    assert list(models) == ["calibrated", "over-confident", "shifted"]
    assert len({model.fingerprint for model in models.values()}) == 1
    for name, model in models.items():
        assert model.name == name
        assert set(model.uncertainties) == {"total", "knowledge"}
        entropy = stats.entropy(model.probs, axis=1)
        np.testing.assert_allclose(model.uncertainties["total"], entropy, atol=1e-9)
    predicted = [models[k].probs.argmax(axis=1) for k in ("calibrated", "over-confident")]
    np.testing.assert_array_equal(*predicted)
    again = demo_predictions()
    for name, model in models.items():
        assert model.probs.tobytes() == again[name].probs.tobytes()
        for kind, values in model.uncertainties.items():
            assert values.tobytes() == again[name].uncertainties[kind].tobytes()


def test_an_audit_has_nothing_but_notes_on_planted_graphs() -> None:
    graph = planted(seed=0).graph
    for model in demo_predictions(0).values():
        assert {f.severity for f in audit(model, graph=graph)} <= {Severity.NOTE}
