"""Findings on links against loops over sets of pairs, and on published negatives."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.archive import open_npz
from graphgauge.audit import audit
from graphgauge.audit import links as links_module
from graphgauge.audit.keys import tied_on_disk
from graphgauge.graph import Graph
from graphgauge.predictions import LinkPredictions


def _slow(links: LinkPredictions, edges: Any, valid: Any) -> dict[str, list[int]]:
    """Definitions in words of sets; nothing for parts."""
    pair = [frozenset(p) for p in links.pos_edges.tolist()]
    known = {frozenset(p) for p in [*edges.tolist(), *valid.tolist()] if len(set(p)) == 2}
    known |= {frozenset(p) for p in valid.tolist()}
    seen = {frozenset(p) for p in edges.tolist() if p[0] != p[1]}
    arrows = Counter(map(tuple, links.pos_edges.tolist()))
    negatives = [tuple(p) for p in links.neg_edges.reshape(-1, 2).tolist()]
    k = links.n_negatives
    rows = [Counter(map(frozenset, negatives[i : i + k])) for i in range(0, len(negatives), k)]
    found = {
        "positive-in-graph": [i for i, p in enumerate(pair) if p in seen],
        "positive-loop": [i for i, p in enumerate(pair) if len(p) == 1],
        "positive-repeated": [i for i, p in enumerate(links.pos_edges.tolist()) if arrows[*p] > 1],
        "positive-both-directions": [
            i for i, (u, v) in enumerate(links.pos_edges.tolist()) if u != v and arrows[v, u]
        ],
        "valid-in-graph": [i for i, p in enumerate(valid.tolist()) if frozenset(p) in seen],
        "negative-is-edge": [i for i, p in enumerate(negatives) if frozenset(p) in known],
        "negative-is-positive": [i for i, p in enumerate(negatives) if frozenset(p) in pair],
        "negative-loop": [i for i, (u, v) in enumerate(negatives) if u == v],
        "negative-repeated": [i for i, p in enumerate(negatives) if rows[i // k][frozenset(p)] > 1],
        "tied-scores": [
            i for i, p in enumerate(links.pos) if p in (links.neg if links.shared else links.neg[i])
        ],
    }
    if links.shared:
        found["tied-negatives"] = [i for i, s in enumerate(links.neg) if (links.neg == s).sum() > 1]
    else:
        found["tied-negatives"] = [
            i for i, row in enumerate(links.neg) if len(set(row.tolist())) < k
        ]
    return {code: rows for code, rows in found.items() if rows}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([2**20, 3]))
def test_findings_are_those_of_the_definitions(seed: int, shared: bool, at_a_time: int) -> None:
    rng = np.random.default_rng(seed)
    n, e, k = rng.integers(3, 30), rng.integers(1, 20), rng.integers(1, 12)
    shape = (k,) if shared else (e, k)
    links = LinkPredictions(
        rng.integers(0, 40, e) / 40,
        rng.integers(0, 40, shape) / 40,
        pos_edges=rng.integers(0, n, (e, 2)),
        neg_edges=rng.integers(0, n, (*shape, 2)),
    )
    edges, valid = rng.integers(0, n, (6, 2)), rng.integers(0, n, (3, 2))
    before, links_module._PAIRS_AT_A_TIME = links_module._PAIRS_AT_A_TIME, at_a_time
    try:
        findings = audit(links, graph=Graph.from_edges(edges, n), valid_edges=valid)
    finally:
        links_module._PAIRS_AT_A_TIME = before
    assert {f.code: f.offenders.tolist() for f in findings} == _slow(links, edges, valid)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_share_of_tied_negatives_counts_every_one_of_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    neg = rng.integers(0, 6, (rng.integers(1, 8), rng.integers(1, 7))).astype(float)
    found = {f.code: f for f in audit(LinkPredictions(np.full(len(neg), 9.0), neg))}
    tied = sum((row == score).sum() > 1 for row in neg for score in row)
    message = found["tied-negatives"].message if "tied-negatives" in found else "0 of"
    assert message.startswith(f"{tied} of")


def test_ties_among_many_better_negatives_are_not_reported() -> None:
    """A tie that moves rank 100 by one counts; of rank 101 it moves less than a hundredth."""
    neg = np.arange(101.0)[None]
    assert audit(LinkPredictions([0.0], neg)) == []
    [finding] = audit(LinkPredictions([1.0], neg))
    assert (finding.code, finding.offenders.tolist()) == ("tied-scores", [0])


def test_negatives_may_stay_on_disk(tmp_path: Path, rng: np.random.Generator) -> None:
    pos, neg = rng.integers(0, 9, 50) / 9, rng.integers(0, 9, (50, 30)) / 9
    LinkPredictions(pos, neg).save(tmp_path / "links.npz")
    stored = LinkPredictions.load(tmp_path / "links.npz")
    assert not isinstance(stored.neg, np.ndarray)
    assert "neg" in open_npz(tmp_path / "links.npz")
    for old, new in zip(audit(LinkPredictions(pos, neg)), audit(stored), strict=True):
        assert (old.code, old.message) == (new.code, new.message)
        np.testing.assert_array_equal(old.offenders, new.offenders)


def test_published_hard_negatives_contain_test_edges(data_dir: Path) -> None:
    """Counts of the released CiteSeer files: 461 true test edges beside 204 of 455 positives."""
    folder = data_dir / "heart" / "citeseer"
    train, valid, test = (
        np.loadtxt(folder / f"{part}_pos.txt", dtype=np.int64)
        for part in ("train", "valid", "test")
    )
    negatives = np.load(folder / "heart_test_samples.npy")
    rng = np.random.default_rng(0)
    links = LinkPredictions(
        rng.random(len(test)), rng.random(negatives.shape[:2]), {}, test, negatives
    )
    graph = Graph.from_edges(train, 3327)
    found = {f.code: f for f in audit(links, graph=graph, valid_edges=valid)}
    wrong = found["negative-is-positive"].offenders
    assert len(wrong) == 461
    assert len(np.unique(wrong // 500)) == 204
    assert set(found) <= {"negative-is-positive", "negative-repeated"}


@given(
    values=st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.5, 3.0, 7.0]), min_size=1, max_size=40),
    most=st.integers(1, 10),
)
def test_ties_are_found_range_by_range(values, most):
    expected = [values.count(value) > 1 for value in values]
    assert tied_on_disk(np.array(values), most=most).tolist() == expected
