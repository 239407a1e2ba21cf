"""Parts, splits and candidates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphgauge.archive import write_npz
from graphgauge.candidates import Candidates
from graphgauge.errors import InputError
from graphgauge.parts import Split, check_parts, part_names, parts_from_names


@given(st.lists(st.sampled_from(["train", "valid", "test", ""]), min_size=1, max_size=30))
def test_names_and_index_arrays_say_the_same(names):
    parts = parts_from_names(np.array(names))
    assert part_names(parts, len(names)).tolist() == names
    check_parts(parts, len(names))


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"a": [0, 1], "b": [1, 2]}, r"parts a and b overlap in 1 item \(row 1\)"),
        ({"a": []}, "part a is empty"),
        ({"a": np.zeros(5, bool)}, "part a is empty"),
        ({"a": [7]}, r"outside 0..4 \(row 7\)"),
        ({"a": [1, 1]}, r"names items twice \(row 1\)"),
        ({"a": [0.5]}, "not a whole number"),
        ({"a": np.ones(3, bool)}, "mask has shape"),
    ],
)
def test_what_is_no_part_is_refused(parts, told):
    with pytest.raises(InputError, match=told):
        check_parts(parts, 5)


def test_a_split_comes_back(tmp_path):
    split = Split({"train": [0, 2], "test": np.array([False, True, False])}, 3, {"seed": 1})
    split.save(tmp_path / "s.npz")
    back = Split.load(tmp_path / "s.npz")
    assert {k: v.tolist() for k, v in back.parts.items()} == {"train": [0, 2], "test": [1]}
    assert (back.n_items, dict(back.recipe)) == (3, {"seed": 1})
    with pytest.raises(InputError, match="no part 'valid'"):
        back["valid"]
    write_npz(tmp_path / "x.npz", {"a": np.ones(1)})
    with pytest.raises(InputError, match="not a split"):
        Split.load(tmp_path / "x.npz")


@pytest.mark.parametrize("shared", [True, False])
def test_candidates_come_back(tmp_path, shared):
    negatives = [[0, 2], [1, 3]] if shared else [[[0, 2], [1, 3]]]
    candidates = Candidates([[0, 1]], negatives, 4, {"by": "hand"})
    assert (candidates.shared, candidates.n_negatives) == (shared, 2)
    candidates.save(tmp_path / "c.npz")
    back = Candidates.load(tmp_path / "c.npz")
    np.testing.assert_array_equal(back.negatives, negatives)
    assert dict(back.recipe) == {"by": "hand"}


@pytest.mark.parametrize(
    ("positives", "negatives", "told"),
    [
        ([[0, 9]], [[0, 1]], "positives: 1 row points outside"),
        ([[0, 1]], [[[0, 1], [0, -3]]], "negatives: 1 row points outside"),
        ([[0, 1], [1, 2]], [[[0, 2]]], "lengths differ"),
        ([[0, 1, 2]], [[0, 1]], "expected pairs"),
    ],
)
def test_what_is_no_candidate_is_refused(positives, negatives, told):
    with pytest.raises(InputError, match=told):
        Candidates(positives, negatives, 4)


def test_candidates_need_all_their_arrays(tmp_path):
    write_npz(tmp_path / "x.npz", {"positives": np.ones((1, 2), int)})
    with pytest.raises(InputError, match="lacks negatives"):
        Candidates.load(tmp_path / "x.npz")
