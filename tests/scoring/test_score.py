"""Scoring: the numbers are those of the metrics, the bounds those of a loop, the verdict fair."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from graphgauge.datasets import planted
from graphgauge.errors import InputError
from graphgauge.metrics import METRICS, Outcomes, Ranks, metric
from graphgauge.metrics.edgewise import joint_outcomes
from graphgauge.parts import parts_from_names
from graphgauge.predictions import LinkPredictions, NodePredictions
from graphgauge.report.summarize import summarize, summarize_many, to_json
from graphgauge.scoring import Options, Status, score
from graphgauge.stats import communities, resample_counts
from graphgauge.uncertainty import Uncertainty

QUICK = Options(n_draws=30, n_resamples=25)


def _predictions(n=600, seed=0, **extra):
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(4, 0.5), n)
    labels = (probs.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    labels[: n // 20] = -1
    parts = parts_from_names(rng.choice(["train", "valid", "test_in", "test_out"], n))
    edges = rng.integers(0, n, (3 * n, 2))
    return NodePredictions(probs, labels, parts, edges, **extra)


@pytest.fixture(scope="module")
def predictions():
    return _predictions()


@pytest.fixture(scope="module")
def card(predictions):
    return score(predictions, QUICK)


def _part(predictions, *names):
    index = np.sort(np.concatenate([predictions.parts[name] for name in names]))
    return index[predictions.labels[index] >= 0]


@pytest.mark.parametrize("part", ["test_in", "test_out", "test", "train"])
def test_values_are_those_of_the_metrics(predictions, card, part):
    index = _part(predictions, *(["test_in", "test_out"] if part == "test" else [part]))
    probs, labels = predictions.probs[index], predictions.labels[index]
    nodes = Outcomes.of_nodes(probs, labels)
    entropy = Uncertainty.from_softmax(probs).total
    place = {node: i for i, node in enumerate(index)}
    pairs = {tuple(sorted((u, v))) for u, v in predictions.edges.tolist() if u != v}
    edges = np.array(sorted((place[u], place[v]) for u, v in pairs if u in place and v in place))
    same = labels[edges[:, 0]] == labels[edges[:, 1]]
    subsets = {"edge_": edges, "agree_": edges[same], "disagree_": edges[~same]}
    rows = [row for row in card.metrics if row.part == part]
    assert len(rows) > 30
    for row in rows:
        prefix = next((p for p in subsets if row.name.startswith(p)), "")
        one = metric(row.name.removeprefix(prefix))
        given = {
            "outcomes": (nodes.ends(subsets[prefix]) if prefix else nodes,),
            "classes": (probs, labels),
            "rejection": (entropy, ~nodes.correct),
            "structure": (subsets[prefix or "edge_"], labels),
        }[one.needs]
        assert row.value == pytest.approx(one(*given), abs=1e-12), row.name
        size = len(subsets[prefix or "edge_"]) if prefix or one.needs == "structure" else len(index)
        assert row.n == size, row.name


def test_detection_tells_the_shifted_part(predictions, card):
    inside, outside = _part(predictions, "test_in"), _part(predictions, "test_out")
    index = np.concatenate([inside, outside])
    entropy = Uncertainty.from_softmax(predictions.probs).total[index]
    ood = np.arange(len(index)) >= len(inside)
    row = card.find("auroc", "test_in|test_out")
    assert row.value == METRICS["auroc"](entropy, ood)


@pytest.mark.parametrize("name", ["accuracy", "nll", "ece(bins=15)", "smooth_ece", "prr",
                                  "balanced_accuracy", "classwise_ece(bins=15)"])  # fmt: skip
def test_bounds_are_those_of_a_loop_over_resamples(predictions, card, name):
    index = _part(predictions, "test_in", "test_out")
    probs, labels = predictions.probs[index], predictions.labels[index]
    doubt = Uncertainty.from_softmax(probs).total
    one = metric(name)
    drawn = []
    for counts in resample_counts(len(index), QUICK.n_resamples, seed=0).T:
        again = np.repeat(np.arange(len(index)), counts)
        nodes = Outcomes.of_nodes(probs[again], labels[again])
        given = {
            "outcomes": (nodes,),
            "classes": (probs[again], labels[again]),
            "rejection": (doubt[again], ~nodes.correct),
        }[one.needs]
        drawn.append(one(*given))
    low, high = np.quantile(drawn, [0.025, 0.975])
    row = card.find(name, "test")
    if "ece" in name:
        low, high = (np.clip(2 * row.value - end, one.low, one.high) for end in (high, low))
    assert (row.low, row.high) == pytest.approx((low, high), abs=1e-4)


def test_block_bounds_draw_whole_communities(predictions, card):
    graph = _adjacency(predictions)
    index = _part(predictions, "test_in", "test_out")
    blocks = communities(graph)[index]
    right = predictions.probs[index].argmax(axis=1) == predictions.labels[index]
    counts = resample_counts(len(index), QUICK.n_resamples, seed=0, blocks=blocks)
    means = (right[:, None] * counts).sum(axis=0) / counts.sum(axis=0)
    row = card.find("accuracy", "test")
    low, high = np.quantile(means, [0.025, 0.975])
    assert (row.block_low, row.block_high) == pytest.approx((low, high))


def _adjacency(predictions):
    import scipy.sparse as sp

    u, v = predictions.pairs.T
    ones = np.ones(2 * len(u), np.float32)
    shape = (predictions.n_nodes, predictions.n_nodes)
    return sp.csr_array((ones, (np.concatenate([u, v]), np.concatenate([v, u]))), shape=shape)


def test_joint_marginals_are_judged_where_they_are_given():
    base = _predictions(200)
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(16), len(base.edges)).reshape(-1, 4, 4)
    predictions = replace(base, edge_probs=joint)
    card = score(predictions, QUICK)
    index = _part(predictions, "test_in", "test_out")
    inside = np.isin(predictions.pairs, index).all(axis=1)
    pairs, rows = predictions.pairs[inside], predictions.pair_rows[inside]
    turned = predictions.edges[rows, 0] != pairs[:, 0]
    along = np.where(turned[:, None, None], joint[rows].swapaxes(1, 2), joint[rows])
    expected = METRICS["nll"](joint_outcomes(along, pairs, predictions.labels))
    assert card.find("edge_nll", "test").value == pytest.approx(expected)
    assert card.find("edge_ece", "test").null_low is not None


def test_scores_repeat_bit_for_bit_and_depend_on_the_seed(predictions, card):
    again = score(predictions, QUICK)
    assert again.metrics == card.metrics
    other = score(predictions, replace(QUICK, seed=1))
    assert [r.value for r in other.metrics] == [r.value for r in card.metrics]
    assert other.find("ece").null_high != card.find("ece").null_high


def test_relabelled_nodes_get_the_same_values(predictions, card):
    order = np.random.default_rng(3).permutation(predictions.n_nodes)
    back = np.argsort(order)
    moved = NodePredictions(
        predictions.probs[order],
        predictions.labels[order],
        {name: back[index] for name, index in predictions.parts.items()},
        back[predictions.edges],
    )
    for old, new in zip(card.metrics, score(moved, QUICK).metrics, strict=True):
        assert old.name == new.name
        assert new.value == pytest.approx(old.value, abs=1e-12), old.name


def test_the_published_protocol_closes_bins_on_the_left(predictions):
    card = score(predictions, replace(QUICK, protocol="published"))
    assert card.find("ece").name == "ece(bins=15,closed=left)"
    assert card.protocol["id"] != score(predictions, QUICK).protocol["id"]


def test_two_models_of_the_same_items_share_their_protocol(predictions, card):
    other = replace(predictions, probs=predictions.probs[:, ::-1])
    assert score(other, QUICK).protocol["id"] == card.protocol["id"]


def test_without_parts_edges_or_draws_there_is_still_a_score():
    card = score(NodePredictions([[0.9, 0.1], [0.6, 0.4]], [0, 1]), Options(n_draws=0))
    assert card.judged == ("all",)
    assert card.find("accuracy").value == 0.5
    assert card.find("ece").null is None
    assert card.find("edge_ece") is None


def test_labels_that_are_all_unknown_cannot_be_scored():
    with pytest.raises(InputError, match="no label is known"):
        score(NodePredictions([[0.9, 0.1]], [-1]))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"metrics": ("eec",)}, "did you mean 'ece'"),
        ({"metrics": ("mrr",)}, "metric of link predictions"),
        ({"metrics": ("separability",)}, "metric of a shift; `graphgauge split` tells it"),
        ({"metrics": ("edge_prr",)}, "cannot be computed as edge_prr"),
        ({"metrics": ("ece(bins=0)",)}, "below one"),
        ({"parts": ("nowhere",)}, "no part 'nowhere'"),
        ({"groups": ("colour",)}, "unknown grouping 'colour'"),
        ({"gates": ("ece<",)}, "cannot read gate"),
        ({"gates": ("mrr<1",)}, "mrr.* is a metric of link predictions"),
        ({"gates": ("ece<=abc",)}, "'abc' is not a number"),
        ({"n_draws": -1}, "expected 0..10000"),
        ({"protocol": "other"}, "unknown protocol"),
    ],
)
def test_what_cannot_be_computed_is_told(predictions, change, told):
    with pytest.raises(InputError, match=told):
        score(predictions, replace(QUICK, **change))


def test_edges_are_needed_for_edge_metrics(predictions):
    bare = replace(predictions, edges=None)
    for label in ("edge_ece", "homophily"):
        with pytest.raises(InputError, match="needs edges"):
            score(bare, replace(QUICK, metrics=(label,)))
    one_test = replace(bare, parts={"test": [40, 50]})
    with pytest.raises(InputError, match="needs the parts test_in and test_out"):
        score(one_test, replace(QUICK, metrics=("auroc",)))


def test_only_what_is_asked_for_is_computed(predictions):
    asked = ("edge_ece(bins=20)", "ece(bins=5,scheme=mass)", "nll", "k_index", "agree_k_index")
    card = score(predictions, replace(QUICK, metrics=asked, parts=("valid",)))
    names = {row.name for row in card.metrics if row.part == "valid"}
    assert names == set(asked)
    assert card.judged == ("valid",)


@pytest.mark.parametrize(
    ("gate", "passed"),
    [
        ("accuracy>0", True),
        ("accuracy>=1", False),
        ("nll<0", False),
        ("ece(bins=15)<=1", True),
        ("accuracy@valid>0.1", True),
        ("edge_ece inside", True),
        ("auroc@test_in|test_out<1", True),
    ],
)
def test_gates(predictions, gate, passed):
    card = score(predictions, replace(QUICK, gates=(gate,)))
    assert card.passed is passed
    assert (str(card.verdict.status) == "bad") is not passed


def test_a_value_that_is_not_there_fails_its_gate():
    one = NodePredictions([[0.9, 0.1], [0.6, 0.4]], [0, 0], edges=[[0, 1]])
    card = score(one, Options(n_draws=5, n_resamples=0, gates=("disagree_ece<=1",)))
    assert not card.passed


def test_what_a_gate_names_is_measured(predictions):
    asked = replace(QUICK, metrics=("nll",), gates=("ece(bins=20)<=1", "edge_brier>=0", "nll>0"))
    names = [row.name for row in score(predictions, asked).metrics if row.part == "test"]
    assert sorted(names) == ["ece(bins=20)", "edge_brier", "nll"]
    links = LinkPredictions([0.9, 0.4], [[0.1, 0.5, 0.3], [0.2, 0.1, 0.0]])
    card = score(links, replace(QUICK, metrics=("auc",), gates=("hits(k=2)>=1", "auc>0")))
    assert [row.name for row in card.metrics] == ["auc", "hits(k=2,ties=mean)"]
    with pytest.raises(InputError, match=r"knowledge_prr needs the knowledge uncertainty"):
        score(predictions, replace(QUICK, gates=("knowledge_prr>0",)))


def test_uncertainties_of_the_file_are_judged():
    rng = np.random.default_rng(5)
    alpha = rng.gamma(1.0, 5.0, (600, 4)) + 0.01
    probs = alpha / alpha.sum(axis=1, keepdims=True)
    predictions = replace(_predictions(), probs=probs, alpha=alpha)
    card = score(predictions, QUICK)
    assert card.find("knowledge_prr", "test") is not None
    assert card.find("total_auroc", "test_in|test_out") is not None
    given = replace(predictions, alpha=None, uncertainties={"total": rng.random(600)})
    assert score(given, QUICK).find("prr").value != card.find("prr").value
    both = score(replace(given, alpha=alpha), QUICK)
    assert both.find("prr").value == score(given, QUICK).find("prr").value
    assert both.find("knowledge_prr").value == card.find("knowledge_prr").value


def test_an_infinite_value_is_told_from_a_missing_one():
    wrong = NodePredictions([[1.0, 0.0], [0.4, 0.6]], [1, 1])
    card = score(wrong, replace(QUICK, gates=("nll<=1",)))
    document = json.loads(to_json(summarize(card)))
    rows = {row["name"]: (row["value"], row["infinite"]) for row in document["metrics"]}
    assert rows["nll"] == (None, True)
    assert rows["accuracy"] == (0.5, False)
    assert document["gates"][0]["infinite"]


def test_groups_name_the_worst(predictions, card):
    by_degree = [group for group in card.groups if group["by"] == "degree"]
    assert sum(group["n"] for group in by_degree) == card.find("accuracy").n
    worst = [group for group in by_degree if group["worst"]]
    assert len(worst) == 1
    assert worst[0]["metrics"]["accuracy"] == min(
        group["metrics"]["accuracy"] for group in by_degree if group["n"] >= 20
    )
    assert not score(predictions, replace(QUICK, groups=())).groups


def test_figures_agree_with_the_numbers(card):
    curve = next(f for f in card.figures["reliability"] if f["part"] == "test")
    share, sure, right = (np.array(curve[k]) for k in ("share", "confidence", "accuracy"))
    assert np.nansum(share * np.abs(sure - right)) == pytest.approx(card.find("ece").value)
    assert {f["scope"] for f in card.figures["reliability"]} == {
        "node", "edge", "agree", "disagree",
    }  # fmt: skip
    filled = share > 0
    assert (np.array(curve["null_low"])[filled] <= np.array(curve["null_high"])[filled]).all()
    rejection = next(f for f in card.figures["rejection"] if f["part"] == "test")
    assert rejection["y"][-1] == pytest.approx(1 - card.find("accuracy").value)
    assert rejection["oracle"][-1] == pytest.approx(rejection["random"][-1])
    shares = card.figures["uncertainty"][0]
    assert sum(shares["id"]) == pytest.approx(1)
    assert sum(shares["ood"]) == pytest.approx(1)


def test_json_is_stable_and_plain(card):
    document = json.loads(to_json(summarize(card)))
    assert document["schema"] == "graphgauge.score/1"
    assert {"schema", "protocol", "metrics", "findings", "gates", "verdict"} <= set(document)
    keys = {"name", "part", "value", "low", "high", "null_low", "null_high", "n"}
    assert all(keys <= set(row) for row in document["metrics"])
    assert set(document["definitions"]) == {row["name"] for row in document["metrics"]}
    assert summarize_many([card, card], [])["schema"] == "graphgauge.scores/1"


def test_what_is_infinite_becomes_null():
    sure = NodePredictions([[1.0, 0.0], [1.0, 0.0]], [0, 1])
    card = score(sure, Options(n_draws=5, n_resamples=5))
    assert card.find("nll").value == np.inf
    document = json.loads(to_json(summarize(card)))
    assert next(r for r in document["metrics"] if r["name"] == "nll")["value"] is None


@pytest.mark.parametrize("shared", [True, False])
def test_links_are_scored_by_their_ranks(rng, shared):
    pos = rng.normal(1, 1, 300).round(1)
    neg = rng.normal(0, 1, 200 if shared else (300, 40)).round(1)
    pairs = rng.integers(0, 50, (300, 2))
    predictions = LinkPredictions(pos, neg, {"valid": np.arange(100), "test": np.arange(100, 300)},
                                  pairs)  # fmt: skip
    card = score(predictions, QUICK)
    ranks = Ranks.of(pos[100:], neg if shared else neg[100:])
    assert card.judged == ("test",)
    for row in card.metrics:
        if row.part == "test":
            assert row.value == pytest.approx(metric(row.name)(ranks)), row.name
            assert row.low <= row.high
            assert row.block_low is not None
    assert sum(card.figures["ranks"][0]["share"]) == pytest.approx(1)
    published = score(predictions, replace(QUICK, protocol="published"))
    assert published.find("hits").name == "hits(k=1,ties=ogb)"
    with pytest.raises(InputError, match="groups are for predictions of nodes"):
        score(predictions, replace(QUICK, groups=("degree",)))
    with pytest.raises(InputError, match="is not a metric of link predictions"):
        score(predictions, replace(QUICK, metrics=("ece",)))


def _verdicts(n_models: int) -> list[str]:
    made = planted(600, 4, seed=11)
    parts, edges = made.split.parts, made.graph.edges
    found = []
    for seed in range(n_models):
        rng = np.random.default_rng(1000 + seed)
        reached = made.posteriors.cumsum(axis=1)
        labels = (reached < rng.random((600, 1)) * reached[:, -1:]).sum(axis=1)
        truth = NodePredictions(made.posteriors, labels, parts, edges)
        card = score(truth, Options(metrics=("ece", "edge_ece"), groups=(), n_resamples=0))
        told = [status for status, text in card.verdict.reasons if text.startswith("ECE")]
        found.append("fine" if set(told) == {Status.GOOD} else "above")
    return found


def test_calibrated_models_are_rarely_called_miscalibrated():
    assert _verdicts(40).count("above") <= 5


@pytest.mark.long
def test_the_verdict_keeps_its_level():
    # 5 % of 400 is 20; 33 is three standard deviations above.
    assert _verdicts(400).count("above") <= 33
