"""Files of torch, both formats: equal to what torch reads, and safe where it would not be."""

from __future__ import annotations

import os
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.archive import write_npz
from graphgauge.datasets.torch_files import read_torch
from graphgauge.errors import InputError

_TYPES = [
    torch.float64, torch.float32, torch.float16, torch.int64, torch.int32, torch.int16,
    torch.int8, torch.uint8, torch.bool,
]  # fmt: skip


@st.composite
def _tensors(draw):
    shape = draw(st.lists(st.integers(0, 4), max_size=3))
    kind = draw(st.sampled_from(_TYPES))
    tensor = torch.arange(int(np.prod(shape))).reshape(shape).to(kind)
    if tensor.dim() > 1 and draw(st.booleans()):
        tensor = tensor.transpose(0, 1)
    if tensor.dim() and draw(st.booleans()):
        tensor = tensor[:: draw(st.integers(1, 3))]
    return tensor


@settings(max_examples=60, deadline=None)
@given(tensors=st.lists(_tensors(), max_size=3), zipped=st.booleans())
def test_tensors_and_arrays_are_read_as_torch_reads_them(tensors, zipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("torch") / "a.pt"
    held = {f"tensor_{i}": tensor for i, tensor in enumerate(tensors)}
    held |= {f"array_{i}": tensor.numpy() for i, tensor in enumerate(tensors)}
    torch.save(held, path, _use_new_zipfile_serialization=zipped)
    found = read_torch(path)
    assert list(found) == list(held)
    for name, value in held.items():
        np.testing.assert_array_equal(found[name], np.asarray(value))
        assert found[name].dtype == np.asarray(value).dtype


def test_tensors_that_share_numbers_are_read(tmp_path):
    numbers = torch.arange(10)
    for zipped in (True, False):
        held = {"head": numbers[:3], "tail": numbers[7:], "all": numbers}
        torch.save(held, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
        found = read_torch(tmp_path / "a.pt")
        assert {k: v.tolist() for k, v in found.items()} == {k: v.tolist() for k, v in held.items()}


@pytest.mark.parametrize("zipped", [True, False])
def test_code_is_not_run(zipped, tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    torch.save({"edge": Bomb()}, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError, match="'posix mkdir', which is not let in"):
        read_torch(tmp_path / "a.pt")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "value",
    [
        torch.ones(3),
        [torch.ones(3)],
        {"edge": [1, 2]},
        {"edge": {"inner": torch.ones(3)}},
        {"edge": torch.ones(3, dtype=torch.complex64)},
        {"edge": torch.nn.Linear(2, 2)},
        {"edge": torch.ones(3).to_sparse()},
        {"edge": np.array(["a"])},
    ],
)
@pytest.mark.parametrize("zipped", [True, False])
def test_anything_but_arrays_by_name_is_refused(value, zipped, tmp_path):
    torch.save(value, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError, match="not readable as a file of torch"):
        read_torch(tmp_path / "a.pt")


def test_strides_may_not_lead_out(tmp_path):
    def written(start: int, shape: tuple, strides: tuple) -> None:
        storage = torch.arange(6).untyped_storage()
        tensor = _Rebuilt(storage, start, shape, strides)
        torch.save({"a": tensor}, tmp_path / "a.pt", _use_new_zipfile_serialization=False)

    written(2, (2, 2), (2, 1))
    assert read_torch(tmp_path / "a.pt")["a"].tolist() == [[2, 3], [4, 5]]
    for start, shape, strides in (
        (-1, (2,), (1,)), (3, (2, 2), (2, 1)), (5, (2,), (-1,)), (0, (2, 2), (1,)), (6, (1,), (1,)),
    ):  # fmt: skip
        written(start, shape, strides)
        with pytest.raises(InputError, match=r"impossible shape|the size it promises"):
            read_torch(tmp_path / "a.pt")


class _Rebuilt:
    """A tensor as torch pickles it, with whatever shape."""

    def __init__(self, storage, *place):
        typed = torch.storage.TypedStorage(wrap_storage=storage, dtype=torch.int64, _internal=True)
        self.place = (typed, *place, False, {})

    def __reduce__(self):
        return torch._utils._rebuild_tensor_v2, self.place


def test_another_order_of_bytes_is_told(tmp_path):
    torch.save({"a": np.arange(3)}, tmp_path / "a.pt", _use_new_zipfile_serialization=False)
    content = (tmp_path / "a.pt").read_bytes()
    at = content.index(b"little_endian")
    content = content[:at] + content[at:].replace(b"\x88", b"\x89", 1)
    (tmp_path / "a.pt").write_bytes(content)
    with pytest.raises(InputError, match="another order of bytes"):
        read_torch(tmp_path / "a.pt")


def _repacked(path, change):
    """Write a zip anew with its members changed."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_damaged_archives_are_answered(tmp_path):
    path = tmp_path / "a.pt"

    def damaged(change):
        torch.save({"edge": torch.arange(6)}, path)
        _repacked(path, change)
        with pytest.raises(InputError, match=r"a\.pt") as caught:
            read_torch(path)
        return str(caught.value)

    assert "the size it promises" in damaged(lambda m: m.update({"a/data/0": bytes(8)}))
    assert "data/0" in damaged(lambda m: m.pop("a/data/0"))
    assert "order of bytes" in damaged(lambda m: m.update({"a/byteorder": b"big"}))
    assert "not readable" in damaged(lambda m: m.pop("a/data.pkl"))
    assert "zip bomb" in damaged(lambda m: m.update({"a/data/1": bytes(2**26)}))


def test_a_tensor_of_one_number_repeated_without_end_is_refused(tmp_path):
    tensor = torch.as_strided(torch.ones(1), (2**20, 2**20), (0, 0))
    for zipped in (True, False):
        torch.save({"a": tensor}, tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
        with pytest.raises(InputError, match="the size it promises"):
            read_torch(tmp_path / "a.pt")


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damage_anywhere_is_read_or_answered_in_one_line(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("torch") / "a.pt"
    held = {"edge": torch.arange(6).reshape(3, 2), "n": np.arange(3)}
    torch.save(held, path, _use_new_zipfile_serialization=data.draw(st.booleans()))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    try:
        found = read_torch(path)
    except InputError as error:
        told = str(error)
        assert told.startswith(str(path))
        assert len(told) < 1000
    else:
        assert all(isinstance(array, np.ndarray) for array in found.values())


def test_other_files_are_answered(tmp_path):
    (tmp_path / "text.pt").write_text("not torch at all")
    write_npz(tmp_path / "a.pt", {"edge": np.ones(3)})
    for name in ("text.pt", "a.pt", "missing.pt"):
        with pytest.raises(InputError, match=name):
            read_torch(tmp_path / name)
