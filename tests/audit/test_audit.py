"""Every check finds the flaw it is for, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flaws import FLAWS, Flaw, clean_links, clean_nodes
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.audit import CHECKS, Finding, Severity, audit, audit_parts
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.predictions import LinkPredictions, NodePredictions


@pytest.mark.parametrize("planted", FLAWS, ids=lambda flaw: flaw.__name__.strip("_"))
def test_a_planted_flaw_is_found_with_exactly_its_offenders(planted: Callable[[], Flaw]) -> None:
    flaw = planted()
    predictions, knowledge = flaw.made
    findings = audit(predictions, **knowledge)
    assert sorted(f.code for f in findings) == sorted([flaw.code, *flaw.also])
    finding = next(f for f in findings if f.code == flaw.code)
    np.testing.assert_array_equal(finding.offenders, flaw.offenders)
    assert finding.items == flaw.items
    assert finding.n == len(flaw.offenders)
    assert finding.severity == CHECKS[flaw.code].severity
    assert "\n" not in finding.message


def test_every_check_has_a_planted_flaw() -> None:
    planted = {flaw().code for flaw in FLAWS} | {"parts-overlap", "part-repeats"}
    assert planted == set(CHECKS)


def test_codes_are_kebab_case_and_described() -> None:
    for code, check in CHECKS.items():
        assert code == check.code
        assert code.replace("-", "").isalpha()
        assert code.islower()
        assert check.description


def test_clean_nodes_have_no_findings() -> None:
    predictions, knowledge = clean_nodes().made()
    assert audit(predictions, **knowledge) == []
    assert audit(predictions) == []


@pytest.mark.parametrize("shared", [False, True])
def test_clean_links_have_no_findings(shared: bool) -> None:
    predictions, knowledge = clean_links(shared=shared).made()
    assert audit(predictions, **knowledge) == []
    assert audit(predictions) == []


def test_graphs_edges_serve_where_the_file_has_none() -> None:
    predictions, knowledge = clean_nodes().made()
    bare = NodePredictions(predictions.probs, predictions.labels, predictions.parts)
    graph = knowledge["graph"]
    shortcut = Graph.from_edges(np.append(graph.edges, [[3, 250]], axis=0), graph.n_nodes)
    [finding] = audit(bare, graph=shortcut)
    assert finding.code == "edges-test-train"
    assert shortcut.edges[finding.offenders].tolist() == [[3, 250]]


def test_findings_come_gravest_first_then_by_code() -> None:
    nodes = clean_nodes()
    nodes.graph_labels = (nodes.labels + 1) % 3
    nodes.labels[:90] %= 2
    nodes.probs = np.tile([0.0, 0.0, 1.0], (300, 1))
    nodes.edges = np.append(nodes.edges, [(8, 8), (3, 4)], axis=0)
    predictions, knowledge = nodes.made()
    found = [(f.severity, f.code) for f in audit(predictions, **knowledge)]
    rank = list(Severity)
    assert found == sorted(found, key=lambda f: (rank.index(f[0]), f[1]))
    assert [code for _, code in found] == [
        "labels-differ",
        "class-absent-train",
        "constant-predictions",
        "impossible-truth",
        "edges-loops",
        "edges-repeated",
        "saturated",
        "tied-uncertainties",
    ]


def test_messages_count_and_shares_are_shares() -> None:
    nodes = clean_nodes()
    nodes.edges = np.insert(nodes.edges, 9, [(250, 3), (4, 251)], axis=0)
    predictions, knowledge = nodes.made()
    [finding] = audit(predictions, **knowledge)
    # 89 ring edges inside the arc of 90, two that leave it, two shortcuts.
    assert finding.share == 2 / 93
    assert finding.message.startswith("2 of 93 edges (2.2 %) of test nodes lead to training nodes")


def test_loops_have_no_direction_to_lack() -> None:
    nodes = clean_nodes()
    nodes.edges = np.concatenate([nodes.edges, nodes.edges[5:, ::-1], [(8, 8)]])
    predictions, knowledge = nodes.made()
    found = {f.code: f.offenders.tolist() for f in audit(predictions, **knowledge)}
    assert found == {"edges-loops": [595], "edges-mixed-direction": [0, 1, 2, 3, 4]}


def test_isolated_nodes_are_counted_in_all_and_in_test() -> None:
    nodes = clean_nodes()
    nodes.edges = np.delete(nodes.edges, [94, 95, 249, 250], axis=0)
    predictions, knowledge = nodes.made()
    [finding] = audit(predictions, **knowledge)
    assert finding.message.startswith(
        "2 of 300 nodes (0.7 %) have no neighbours, 1 of them in test"
    )


def test_only_links_take_validation_edges_and_sizes_must_agree() -> None:
    predictions, _ = clean_nodes().made()
    with pytest.raises(InputError, match="valid_edges: only predictions of links"):
        audit(predictions, valid_edges=[[0, 1]])
    with pytest.raises(InputError, match="the graph has 2 nodes"):
        audit(predictions, graph=Graph.from_edges([[0, 1]], 2))
    links, _ = clean_links().made()
    with pytest.raises(InputError, match=r"pos_edges: \d+ rows point outside nodes 0..9"):
        audit(links, graph=Graph.from_edges([[0, 1]], 10))
    with pytest.raises(InputError, match="valid_edges: 1 row points outside"):
        audit(links, graph=Graph.from_edges([[0, 1]], 60), valid_edges=[[0, 60]])
    with pytest.raises(InputError, match="valid_edges: has shape"):
        audit(links, valid_edges=[[0, 1, 2]])


def test_single_nodes_single_classes_and_no_labels_are_no_trouble() -> None:
    assert audit(NodePredictions([[0.7, 0.3]], [-1])) == []
    assert [f.code for f in audit(NodePredictions([[1.0]], [0]))] == ["saturated"]
    graph = Graph.from_edges([], 1, features=np.ones((1, 2)))
    found = audit(NodePredictions([[0.7, 0.3]], [-1], {"test": [0]}, []), graph=graph)
    assert [f.code for f in found] == ["labels-unknown", "isolated-nodes"]
    assert audit(LinkPredictions([0.5], [0.4])) == []
    assert audit(LinkPredictions([0.5], [0.4]), graph=graph, valid_edges=[]) == []


def test_one_class_for_all_is_no_flaw_where_it_is_the_only_label() -> None:
    probs = np.random.default_rng(0).dirichlet([9, 1], 50)
    probs[:, 0] = np.maximum(probs[:, 0], 0.6 + probs[:, 0] / 10)
    probs[:, 1] = 1 - probs[:, 0]
    assert [f.code for f in audit(NodePredictions(probs, np.zeros(50)))] == ["class-unused"]


def test_uncertainties_that_are_tied_are_named() -> None:
    probs = np.random.default_rng(0).dirichlet([1, 1, 1], 100)
    knowledge = np.arange(100.0) // 2
    total = np.arange(100.0)
    total[:2] = 7.0
    uncertainties = {"total": total, "knowledge": knowledge}
    labels = np.arange(100) % 3
    found = audit(NodePredictions(probs, labels, uncertainties=uncertainties))
    assert [f.message.split(" (")[0] for f in found] == [
        "3 of 100 nodes",
        "100 of 100 nodes",
    ]
    assert "share their total uncertainty with another (98 values in all)" in found[0].message
    assert "share their knowledge uncertainty" in found[1].message
    np.testing.assert_array_equal(found[0].offenders, [0, 1, 7])


def test_ties_by_chance_of_single_precision_are_not_reported() -> None:
    rng = np.random.default_rng(3)
    n = 60_000
    top = (0.5 + rng.random(n) / 2).astype(np.float32)
    probs = np.stack([top, 1 - top], axis=1)
    probs[::2] = probs[::2, ::-1]
    assert len(np.unique(top)) < n
    assert audit(NodePredictions(probs, np.arange(n) % 2)) == []


def test_parts_that_overlap_are_reported_not_refused() -> None:
    parts = {"train": [4, 0, 1, 2], "valid": np.arange(10) == 7, "test": [2, 3, 4, 3], "rest": [5]}
    repeats, overlap = sorted(audit_parts(parts, 10), key=lambda f: f.code)
    assert (overlap.code, overlap.severity) == ("parts-overlap", "error")
    assert overlap.offenders.tolist() == [2, 4]
    assert "2 items are in more than one of the parts train, test:" in overlap.message
    assert (repeats.code, repeats.severity) == ("part-repeats", "warning")
    assert repeats.offenders.tolist() == [3]
    assert "part test names 1 of 3 items (33.3 %) more than once" in repeats.message
    assert [f.code for f in audit_parts(parts, 10)] == ["parts-overlap", "part-repeats"]
    assert audit_parts({"train": [0, 1], "test": [2], "none": []}, 3) == []
    with pytest.raises(InputError, match=r"part test names items outside 0\.\.2"):
        audit_parts({"test": [3]}, 3)
    with pytest.raises(InputError, match="the mask has shape"):
        audit_parts({"test": [True]}, 3)


def _random_nodes(rng: np.random.Generator) -> tuple[NodePredictions, Graph]:
    """Few values everywhere, so that most checks find something."""
    n, n_classes, n_edges = rng.integers(2, 60), rng.integers(2, 4), rng.integers(0, 90)
    probs = rng.choice([0.0, 0.2, 0.5, 1.0], (n, n_classes)) + 1e-12 * rng.random((n, 1))
    probs[probs.sum(axis=1) < 0.1] = 1.0
    part = rng.integers(0, 5, n)
    names = {"train": 0, "valid": 1, "test_in": 2, "test_out": 3}
    parts = {k: np.flatnonzero(part == c) for k, c in names.items() if (part == c).any()}
    edges = rng.integers(0, n, (n_edges, 2))
    labels = rng.integers(-1, n_classes, n)
    features = rng.integers(0, 2, (n, 2)).astype(float)
    features = np.concatenate([features, labels[:, None] == 0], axis=1)
    graph = Graph.from_edges(edges[: n_edges // 2], n, features=features, labels=np.abs(labels))
    return NodePredictions(probs / probs.sum(axis=1, keepdims=True), labels, parts, edges), graph


def _told(findings: list[Finding], moved: Any) -> list[tuple[str, str, list[int]]]:
    return [
        (f.code, f.message, sorted(moved[f.offenders] if f.items == "nodes" else f.offenders))
        for f in findings
    ]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_renumbering_nodes_renumbers_offenders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    old, graph = _random_nodes(rng)
    n = old.n_nodes
    order = rng.permutation(n)  # new node i is old node order[i]
    place = np.argsort(order)
    parts = {name: place[index] for name, index in old.parts.items()}
    new = NodePredictions(old.probs[order], old.labels[order], parts, place[old.edges])
    moved = Graph.from_edges(
        place[graph.edges], n, features=graph.features[order], labels=graph.labels[order]
    )
    before = _told(audit(old, graph=graph), place)
    assert _told(audit(new, graph=moved), np.arange(n)) == before


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_renumbering_nodes_and_reordering_links_moves_offenders(seed: int, shared: bool) -> None:
    rng = np.random.default_rng(seed)
    n, e, k = 8, rng.integers(1, 12), rng.integers(1, 9)
    shape = (k,) if shared else (e, k)
    pos, neg = rng.integers(0, 9, e) / 9, rng.integers(0, 9, shape) / 9
    pos_edges, neg_edges = rng.integers(0, n, (e, 2)), rng.integers(0, n, (*shape, 2))
    part = np.array(["train", "valid", "test"])[rng.integers(0, 3, e)]
    edges, valid = rng.integers(0, n, (4, 2)), rng.integers(0, n, (3, 2))

    def findings(place: Any, rows: Any) -> list[Finding]:
        parts = {name: part[rows] == name for name in np.unique(part)}
        own = slice(None) if shared else rows
        links = LinkPredictions(
            pos[rows], neg[own], parts, place[pos_edges[rows]], place[neg_edges[own]]
        )
        graph = Graph.from_edges(place[edges], n)
        return audit(links, graph=graph, valid_edges=place[valid])

    order = rng.permutation(e)
    cells = np.arange(neg.size).reshape(shape)
    before = findings(np.arange(n), np.arange(e))
    after = findings(rng.permutation(n), order)
    assert [f.message for f in before] == [f.message for f in after]
    for old, new in zip(before, after, strict=True):
        moved = {"positives": order, "valid edges": np.arange(3), "negatives": cells.ravel()}
        if not shared:
            moved["negatives"] = cells[order].ravel()
        assert sorted(moved[new.items][new.offenders]) == old.offenders.tolist()


def test_input_is_left_alone() -> None:
    nodes = clean_nodes()
    before = [nodes.probs.copy(), nodes.edges.copy(), nodes.features.copy()]
    predictions, knowledge = nodes.made()
    audit(predictions, **knowledge)
    for array, copy in zip((nodes.probs, nodes.edges, nodes.features), before, strict=True):
        np.testing.assert_array_equal(array, copy)
