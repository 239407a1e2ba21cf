"""What parts are for."""

from __future__ import annotations

import numpy as np
import pytest

from graphgauge.roles import Role, items_of, parts_of, role_of


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("train", Role.TRAIN),
        ("training", Role.TRAIN),
        ("train_labelled", Role.TRAIN),
        ("val", Role.VALID),
        ("valid", Role.VALID),
        ("validation_out", Role.VALID),
        ("test", Role.TEST),
        ("test_in", Role.TEST),
        ("pretrain", Role.NONE),
        ("Test", Role.NONE),
        ("", Role.NONE),
    ],
)
def test_a_part_is_for_what_its_name_starts_with(name: str, role: Role) -> None:
    assert role_of(name) is role


def test_items_of_several_parts_come_sorted() -> None:
    parts = {"test_in": np.array([5, 1]), "train": np.array([0]), "test_out": np.array([3])}
    assert list(parts_of(parts, Role.TEST)) == ["test_in", "test_out"]
    assert items_of(parts, Role.TEST).tolist() == [1, 3, 5]
    assert items_of(parts, Role.VALID).tolist() == []
    assert items_of(parts, Role.VALID).dtype == np.int64
