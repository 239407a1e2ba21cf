"""The waist: predictions are checked at creation, and what is wrong is named."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.archive import StoredArray, write_npz
from graphgauge.errors import InputError
from graphgauge.predictions import LinkPredictions, NodePredictions

PROBS = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
LABELS = np.array([0, 1, -1])
EDGES = [[0, 1], [1, 0], [1, 2]]


@pytest.mark.parametrize("form", [list, torch.tensor, sp.csr_array, np.float32])
def test_probabilities_come_in_many_forms(form):
    made = NodePredictions(form(PROBS.tolist() if form is list else PROBS), LABELS.tolist())
    np.testing.assert_allclose(made.probs, PROBS, rtol=1e-6)
    assert made.probs.dtype == (np.float32 if form is np.float32 else np.float64)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"probs": [[0.9, 0.2], [0.2, 0.8], [0.5, 0.5]]}, r"1 row does not sum to one \(row 0\)"),
        ({"probs": [[1.2, -0.2], [0.2, 0.8], [0.5, 0.5]]}, r"1 row is negative.*\(row 0\)"),
        ({"probs": [[np.nan, 1], [0.2, 0.8], [np.inf, 0.5]]}, r"2 rows are not finite \(rows 0, 2"),
        ({"probs": [[0.4], [0.2], [1.0]]}, "give one column for each class"),
        ({"probs": PROBS[:2]}, "lengths differ: probs has 2 rows, labels has 3"),
        ({"probs": np.ones((0, 2)), "labels": []}, "nothing to judge"),
        ({"probs": [0.5, 0.5, 0.5]}, "has 1 axes"),
        ({"labels": [0, 2, -2]}, r"2 rows are outside classes 0..1 \(rows 1, 2\)"),
        ({"labels": [0, 0.5, 1]}, "not a whole number"),
        ({"parts": {"a": [0, 1], "b": [1]}}, "overlap"),
        ({"parts": {"a": []}}, "empty"),
        ({"edges": [[0, 3]]}, r"1 row points outside nodes 0..2 \(row 0\)"),
        ({"uncertainties": {"total": [1.0, 2.0]}}, "lengths differ: probs has 3 rows, total has 2"),
        ({"uncertainties": {"total": [1.0, 2.0, np.nan]}}, "total: 1 row is not finite"),
        ({"uncertainties": {"vibes": [1, 2, 3]}}, "unknown uncertainty 'vibes'"),
        ({"alpha": [[1, 0], [1, 1], [1, 1]]}, r"alpha: 1 row is not positive \(row 0\)"),
        ({"alpha": [[1, 1]]}, r"alpha: has shape \(1, 2\)"),
        ({"edge_probs": np.full((3, 2, 2), 0.25)}, "given without edge_index"),
        ({"edge_probs": np.full((2, 2, 2), 0.25), "edges": EDGES}, "edge_probs: has shape"),
        ({"edge_probs": np.full((3, 2, 2), 0.3), "edges": EDGES}, "3 rows do not sum to one"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(change, told):
    with pytest.raises(InputError, match=told) as caught:
        NodePredictions(**({"probs": PROBS, "labels": LABELS} | change))
    assert "\n" not in str(caught.value)


def test_rounded_probabilities_pass_and_logits_are_recognised():
    NodePredictions([[0.333, 0.333, 0.333]], [0])
    with pytest.raises(InputError, match="apply a softmax"):
        NodePredictions([[-3.0, 4.0], [2.0, -1.0]], [0, 1])


def test_saved_predictions_come_back(tmp_path):
    made = NodePredictions(
        PROBS,
        LABELS,
        {"test": [0, 2]},
        EDGES,
        {"knowledge": [1.0, 2.0, 3.0]},
        np.ones((3, 2)),
        np.full((3, 2, 2), 0.25),
    )
    made.save(tmp_path / "p.npz")
    back = NodePredictions.load(tmp_path / "p.npz")
    for name in ("probs", "labels", "edges", "alpha", "edge_probs"):
        np.testing.assert_array_equal(getattr(back, name), getattr(made, name))
    assert back.parts["test"].tolist() == [0, 2]
    assert back.uncertainties["knowledge"].tolist() == [1, 2, 3]
    assert back.fingerprint == made.fingerprint
    assert back.pairs.tolist() == [[0, 1], [1, 2]]


def test_parts_may_be_index_arrays_but_not_both_ways(tmp_path):
    write_npz(
        tmp_path / "p.npz",
        {"probs": PROBS, "labels": LABELS, "part_test": [2], "part_train": [True, False, False]},
    )
    parts = NodePredictions.load(tmp_path / "p.npz").parts
    assert {k: v.tolist() for k, v in parts.items()} == {"test": [2], "train": [0]}
    arrays = {"probs": PROBS, "labels": LABELS, "part_test": [2], "part": ["a", "b", "c"]}
    write_npz(tmp_path / "q.npz", arrays)
    with pytest.raises(InputError, match="given twice"):
        NodePredictions.load(tmp_path / "q.npz")
    write_npz(tmp_path / "r.npz", {"probs": PROBS})
    with pytest.raises(InputError, match="lacks labels"):
        NodePredictions.load(tmp_path / "r.npz")
    write_npz(tmp_path / "s.npz", {"probs": PROBS, "labels": LABELS, "edge_index": EDGES})
    with pytest.raises(InputError, match=r"edge_index: has shape \(3, 2\)"):
        NodePredictions.load(tmp_path / "s.npz")


def test_the_fingerprint_is_of_the_items_not_of_the_model():
    base = NodePredictions(PROBS, LABELS, {"test": [0, 1]}, EDGES)
    other = NodePredictions(PROBS[:, ::-1], LABELS, {"test": [1, 0]}, EDGES[1:])
    assert base.fingerprint == other.fingerprint
    assert base.fingerprint != NodePredictions(PROBS, LABELS, {"test": [0]}, EDGES).fingerprint
    with pytest.raises(InputError, match="carry no edges"):
        _ = NodePredictions(PROBS, LABELS).pairs


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"pos": []}, "nothing to judge"),
        ({"pos": [0.1, np.nan]}, r"pos: 1 row is not finite \(row 1\)"),
        ({"neg": [[0.1, 0.2], [np.inf, 0.3]]}, r"neg: 1 row is not finite \(row 1\)"),
        ({"neg": [[0.1, 0.2]]}, "lengths differ: pos has 2 rows, neg has 1"),
        ({"neg": []}, "no negatives"),
        ({"neg": np.zeros((2, 0))}, "no negatives"),
        ({"pos_edges": [[0, 1]]}, "pos_edges: has shape"),
        ({"neg_edges": [[0, 1]]}, "neg_edges: has 2 axes"),
        ({"parts": {"a": [5]}}, "outside"),
    ],
)
def test_what_is_wrong_with_links_is_said(change, told):
    with pytest.raises(InputError, match=told):
        LinkPredictions(**({"pos": [0.5, 0.6], "neg": [[0.1, 0.2], [0.3, 0.4]]} | change))


@given(shared=st.booleans())
def test_saved_links_come_back_with_negatives_on_disk(tmp_path_factory, shared):
    path = tmp_path_factory.mktemp("links") / "l.npz"
    neg = np.arange(6.0).reshape(2, 3)
    pairs = np.zeros((2, 3, 2), int)
    made = LinkPredictions(
        [0.5, 2.5],
        neg.ravel() if shared else neg,
        {"test": [1]},
        [[0, 1], [1, 2]],
        pairs.reshape(6, 2) if shared else pairs,
    )
    made.save(path)
    back = LinkPredictions.load(path)
    assert isinstance(back.neg, StoredArray)
    np.testing.assert_array_equal(np.asarray(back.neg), made.neg)
    assert back.fingerprint == made.fingerprint
    assert (back.shared, back.n_negatives) == (shared, 6 if shared else 3)


def test_whole_number_scores_on_disk_are_read(tmp_path):
    write_npz(tmp_path / "l.npz", {"pos": [1, 2], "neg": [3, 4, 5]})
    assert np.asarray(LinkPredictions.load(tmp_path / "l.npz").neg).dtype == np.float64
