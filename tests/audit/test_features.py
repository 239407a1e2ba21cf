"""Copies and telltale columns against slow definitions, and on real graphs."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from graphgauge.audit import audit
from graphgauge.audit import copies as copies_module
from graphgauge.audit import features as features_module
from graphgauge.audit import telling as telling_module
from graphgauge.audit.copies import copies
from graphgauge.audit.telling import telling
from graphgauge.graph import Graph
from graphgauge.predictions import NodePredictions


def _slow_telling(column: Any, classes: Any) -> float:
    """Majority vote in every distinct value, for the classes at once and one by one."""
    votes = defaultdict(Counter)
    for value, label in zip(column.tolist(), classes.tolist(), strict=True):
        votes[value][label] += 1
    sizes = Counter(classes.tolist())
    n, shares = len(classes), [0.0]
    wrong = sum(v.total() - max(v.values()) for v in votes.values())
    if n - max(sizes.values()) >= 20:
        shares.append(1 - wrong / (n - max(sizes.values())))
    for label, size in sizes.items():
        wrong = sum(min(v[label], v.total() - v[label]) for v in votes.values())
        if min(size, n - size) >= 20:
            shares.append(1 - wrong / min(size, n - size))
    return max(shares)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_telling_is_majority_vote_by_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_values = rng.integers(150, 400), rng.integers(1, 4)
    classes = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    noisy = np.where(rng.random(n) < rng.random(), classes, rng.integers(0, 3, n))
    features = np.stack([noisy, rng.choice([-2.5, 0.0, 7.0], n), rng.random(n) < 0.3], axis=1)
    features = np.concatenate([features, rng.integers(0, n_values, (n, 2)) - 1.0], axis=1)
    # Values with fewer than 20 nodes may share a bin, which can only hide something.
    for column, share in zip(features.T, telling(features, classes), strict=True):
        slow = _slow_telling(column, classes)
        rare = Counter(column.tolist()).most_common()[-1][1] < 40
        assert share <= slow + 1e-12 if rare else share == pytest.approx(slow, abs=1e-12)


def test_telling_agrees_with_a_decision_tree_on_one_real_column(rng: np.random.Generator) -> None:
    """A tree with as many leaves as there are bins may cut better, but not by much."""
    classes = rng.integers(0, 3, 3000)
    column = (classes + rng.normal(scale=0.3, size=3000))[:, None]
    tree = DecisionTreeClassifier(max_leaf_nodes=3).fit(column, classes)
    errors = (tree.predict(column) != classes).mean()
    expected = 1 - errors / (1 - np.bincount(classes).max() / 3000)
    assert telling(column, classes)[0] == pytest.approx(expected, abs=0.05)


def test_noise_tells_little_however_many_columns_there_are(rng: np.random.Generator) -> None:
    classes = rng.integers(0, 2, 60)
    assert telling(rng.normal(size=(60, 2000)), classes).max() < 0.75
    words = sp.random_array((400, 3000), density=0.05, rng=rng, format="csr")
    assert telling(words, rng.integers(0, 6, 400)).max() < 0.5


def test_classes_of_few_nodes_are_not_looked_at() -> None:
    classes = np.zeros(500, int)
    for n_rare, share in ((19, 0.0), (20, 1.0)):
        classes[:n_rare] = 1
        assert telling((classes == 1)[:, None], classes).tolist() == [share]


def test_telling_is_the_same_dense_sparse_and_in_blocks(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = rng.integers(0, 4, 500)
    dense = rng.choice([0.0, 0.0, 1.5, -2.0], (500, 40)) * rng.integers(0, 9, (500, 40)) / 8
    dense[:, 7] = classes
    expected = telling(dense, classes)
    explicit = sp.csr_array(np.ones(dense.shape))
    explicit.data[:] = dense.ravel()
    order = rng.permutation(500)
    monkeypatch.setattr(telling_module, "_AT_A_TIME", 3000)
    for features in (dense, sp.csr_array(dense), explicit, dense.astype(np.float32)):
        np.testing.assert_allclose(telling(features, classes), expected, atol=1e-12)
        np.testing.assert_allclose(telling(features[order], classes[order]), expected, atol=1e-12)


def test_integer_labels_of_many_classes_are_told_whatever_their_code(
    rng: np.random.Generator,
) -> None:
    classes = rng.integers(0, 40, 4000)
    codes = rng.permutation(40) * 0.37 - 5
    assert telling(codes[classes][:, None], classes).tolist() == [1.0]


def test_screening_finds_what_all_rows_would(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 3000
    labels = rng.integers(0, 3, n)
    features = rng.normal(size=(n, 20))
    features[:, 13] = labels + rng.normal(scale=0.1, size=n)
    graph = Graph.from_edges([[0, 1]], n, features=features)
    predictions = NodePredictions(rng.dirichlet(np.ones(3), n), labels)
    monkeypatch.setattr(features_module, "_SCREENED", 400)
    [finding] = [f for f in audit(predictions, graph=graph) if f.code != "isolated-nodes"]
    assert (finding.code, finding.offenders.tolist()) == ("column-tells-label", [13])
    share = telling(features[:, [13]], labels)[0]
    assert f"column 13 removes {100 * share:.1f} %" in finding.message


def _slow_copies(features: Any, pairs: Any, nodes: Any, part: Any) -> list[int]:
    around = defaultdict(set)
    for u, v in pairs.tolist():
        around[u].add(v)
        around[v].add(u)
    alike = set()
    for u, v in itertools.combinations(nodes.tolist(), 2):
        same = (features[u] == features[v]).all() and around[u] - {v} == around[v] - {u}
        if same and part[u] != part[v]:
            alike |= {u, v}
    return sorted(alike)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_copies_are_those_of_pairwise_comparison(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    features = rng.integers(-1, 2, (n, 2)) * 0.1
    edges = rng.integers(0, max(2, n // 3), (n, 2))
    edges[:, 0] = rng.integers(0, n, n)
    pairs = Graph.from_edges(edges, n).edges
    part = rng.integers(0, 3, n)
    nodes = np.flatnonzero(rng.random(n) < 0.9)
    expected = _slow_copies(features, pairs, nodes, part)
    for form in (features, sp.csr_array(features), -(-features + 0.0)):
        assert copies(form, pairs, nodes, part).tolist() == expected


def test_copies_are_the_same_in_blocks(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = rng.integers(0, 2, (500, 3))
    pairs = Graph.from_edges(rng.integers(0, 500, (300, 2)) // [1, 50], 500).edges
    nodes, part = np.arange(500), rng.integers(0, 2, 500)
    expected = _slow_copies(features, pairs, nodes, part)
    assert len(expected) > 20
    monkeypatch.setattr(copies_module, "_ENTRIES_AT_A_TIME", 40)
    assert copies(features, pairs, nodes, part).tolist() == expected
    assert copies(sp.csr_array(features), pairs, nodes, part).tolist() == expected


def test_nodes_with_neither_features_nor_neighbours_are_no_copies(
    rng: np.random.Generator,
) -> None:
    """Node 3 has features, so nodes 3 and 4 can be told to be the same; 0 and 1 cannot."""
    features = np.array([[0.0], [0.0], [1.0], [2.0], [2.0]])
    graph = Graph.from_edges([], 5, features=features)
    predictions = NodePredictions(
        rng.dirichlet(np.ones(2), 5), [0, 1, 0, 1, 0], {"train": [0, 3], "test": [1, 4]}
    )
    found = {f.code: f.offenders.tolist() for f in audit(predictions, graph=graph)}
    assert found == {"duplicate-nodes": [3, 4], "isolated-nodes": [0, 1, 2, 3, 4]}


def _random_predictions(labels: Any, **content: Any) -> NodePredictions:
    probs = np.random.default_rng(0).dirichlet(np.ones(labels.max() + 1), len(labels))
    return NodePredictions(probs, labels, **content)


def _csr(stored: Any, name: str) -> sp.csr_array:
    parts = (stored[f"{name}_{k}"] for k in ("data", "indices", "indptr"))
    n_rows = len(stored[f"{name}_indptr"]) - 1
    columns = n_rows if name == "adj" else stored[f"{name}_shape"][1]
    return sp.csr_array(tuple(parts), (n_rows, columns))


@pytest.mark.parametrize("name", ["cora_ml", "amazon_electronics_computers", "ms_academic_phy"])
def test_words_of_real_graphs_do_not_give_labels_away(data_dir: Path, name: str) -> None:
    with np.load(data_dir / "npz" / f"{name}.npz") as stored:
        graph = Graph(_csr(stored, "adj"), _csr(stored, "attr"), stored["labels"])
    assert telling(graph.features, graph.labels).max() < 0.7
    found = audit(_random_predictions(graph.labels), graph=graph)
    assert {f.code for f in found} <= {"isolated-nodes"}


def test_copies_in_a_real_graph_are_copies(data_dir: Path) -> None:
    with np.load(data_dir / "npz" / "cora_ml.npz") as stored:
        graph = Graph(_csr(stored, "adj"), _csr(stored, "attr"), stored["labels"])
    part = np.random.default_rng(0).integers(0, 2, graph.n_nodes)
    parts = {"train": np.flatnonzero(part == 0), "test": np.flatnonzero(part == 1)}
    found = {f.code: f for f in audit(_random_predictions(graph.labels, parts=parts), graph=graph)}
    twins = found["duplicate-nodes"].offenders
    assert 10 < len(twins) < 60
    rows = graph.features[twins].toarray()
    around = sp.csr_array(graph.adjacency + graph.adjacency.T).astype(bool)
    for u, row in zip(twins, rows, strict=True):
        same = [v for v, other in zip(twins, rows, strict=True) if (row == other).all()]
        across = [v for v in same if part[v] != part[u]]
        assert any(set(around[[u]].indices) - {v} == set(around[[v]].indices) - {u} for v in across)


def test_blank_profiles_give_away_who_has_no_label(data_dir: Path) -> None:
    """In this sample of Friendster, age is zero for all people without a label and nobody else."""
    with np.load(data_dir / "friendster" / "friendster_25k.npz") as stored:
        features, adjacency = _csr(stored, "attr"), (stored["adj_indices"], stored["adj_indptr"])
        parts = {name: stored[name] for name in ("train", "valid", "test")}
        labels, names = (
            np.where(stored["labels"] == 4, -1, stored["labels"]),
            stored["feature_names"],
        )
    n = len(labels)
    adjacency = sp.csr_array((np.ones(len(adjacency[0])), *adjacency), (n, n))
    standardised = (features.toarray() - features.mean(axis=0)) / np.maximum(
        features.toarray().std(axis=0), 1e-9
    )
    predictions = _random_predictions(labels, parts=parts)
    for form in (features, standardised.astype(np.float32)):
        found = {f.code: f for f in audit(predictions, graph=Graph(adjacency, form))}
        assert "column-tells-label" not in found
        columns = found["column-tells-labelled"].offenders
        assert "age" in str(names[columns[0]])
        assert "100.0 % of the errors" in found["column-tells-labelled"].message
