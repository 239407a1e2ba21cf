"""Archives: what is written comes back, what is hostile is refused in one line."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphgauge.archive import (
    Blocks,
    blocks_of,
    from_json,
    open_npz,
    to_json,
    whole_number,
    write_atomically,
    write_npz,
)
from graphgauge.errors import InputError

_ARRAYS = hnp.arrays(
    st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)


@given(array=_ARRAYS, rows=st.integers(1, 4), fortran=st.booleans(), squeeze=st.booleans())
def test_what_is_written_comes_back(tmp_path_factory, array, rows, fortran, squeeze):
    path = tmp_path_factory.mktemp("npz") / "a.npz"
    if squeeze:
        np.savez_compressed(path, a=np.asarray(array, order="F" if fortran else "C"))
    else:
        write_npz(path, {"a": np.asarray(array, order="F" if fortran else "C")})
    stored = open_npz(path)["a"]
    np.testing.assert_array_equal(stored.read(), array)
    np.testing.assert_array_equal(np.asarray(stored), array)
    assert stored.dtype == array.dtype
    if array.ndim and len(array):
        together = np.concatenate(list(stored.blocks(rows)))
        np.testing.assert_array_equal(together, array)


def test_stored_arrays_are_blocks(tmp_path):
    write_npz(tmp_path / "a.npz", {"a": np.arange(6.0).reshape(3, 2)})
    stored = open_npz(tmp_path / "a.npz")["a"]
    assert isinstance(stored, Blocks)
    assert (len(stored), stored.ndim, stored.nbytes) == (3, 2, 48)
    assert not isinstance(np.arange(3), Blocks)
    assert [len(b) for b in blocks_of(stored, 2)] == [2, 1]


def test_equal_content_gives_equal_bytes(tmp_path):
    for name in ("a", "b"):
        write_npz(tmp_path / name, {"x": np.arange(5), "y": np.array("text")})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_objects_are_neither_written_nor_read(tmp_path):
    with pytest.raises(InputError, match="object values cannot be saved"):
        write_npz(tmp_path / "a.npz", {"a": np.array([object()])})

    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    np.savez(tmp_path / "b.npz", a=np.array([Bomb()], dtype=object))
    with pytest.raises(InputError, match="holds Python objects"):
        open_npz(tmp_path / "b.npz")
    (tmp_path / "c.npz").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(InputError, match=r"not readable as \.npz"):
        open_npz(tmp_path / "c.npz")
    assert not (tmp_path / "exploded").exists()


def _npy(shape: object, body: bytes, dtype: str = "<f8") -> bytes:
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + body


def _archive(path: Path, *members: tuple[str, bytes], **how: int) -> Path:
    with zipfile.ZipFile(path, "w", **how) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (_npy("(10**15,)", b"12345678"), "readable"),
        (_npy("(1000000000000000,)", b"12345678"), "header promises 8000000000000000 bytes"),
        (_npy("(2,)", b"12345678"), "truncated or mislabelled"),
        (_npy("(-1,)", b"12345678"), "impossible shape"),
        (_npy("(1000000000, 0)", b""), "impossible shape"),
        (_npy("(1000000000,)", b"", "<U0"), "expected numbers or text"),
        (_npy("(1,)", b"12345678", "<M8[s]"), "expected numbers or text"),
        (_npy("(1,)", b"1" * 16, "<c16"), "expected numbers or text"),
        (b"\x93NUMPY\x03\x00" + b"\0" * 8, "not read"),
        (b"not an array", "not readable"),
        (b"", "not readable"),
    ],
)
def test_headers_are_not_believed(tmp_path, content, told):
    path = _archive(tmp_path / "a.npz", ("a.npy", content))
    with pytest.raises(InputError, match=told) as caught:
        open_npz(path)
    assert "\n" not in str(caught.value)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    zeros = _npy(f"({2**26},)", bytes(2**29))
    path = _archive(tmp_path / "a.npz", ("a.npy", zeros), compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(InputError, match="zip bomb"):
        open_npz(path)


def test_doubtful_archives_are_refused(tmp_path):
    good = _npy("(1,)", b"12345678")
    path = _archive(tmp_path / "a.npz", ("a.npy", good), compression=zipfile.ZIP_LZMA)
    with pytest.raises(InputError, match="unknown way"):
        open_npz(path)
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = _archive(tmp_path / "b.npz", ("a.npy", good), ("a.npy", good))
    with pytest.raises(InputError, match="two arrays of one name"):
        open_npz(path)
    path = _archive(tmp_path / "c.npz", *((f"{i}.txt", b"") for i in range(1001)))
    with pytest.raises(InputError, match="more than 1000 members"):
        open_npz(path)
    with pytest.raises(InputError, match="cannot be read"):
        open_npz(tmp_path / "missing.npz")
    with pytest.raises(InputError, match="cannot be read"):
        open_npz(tmp_path)


def test_a_flipped_bit_is_noticed(tmp_path):
    path = tmp_path / "a.npz"
    write_npz(path, {"a": np.arange(10_000.0)})
    content = bytearray(path.read_bytes())
    content[content.index(np.float64(50).tobytes())] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match="CRC"):
        open_npz(path)["a"].read()
    with pytest.raises(InputError, match="CRC"):
        list(open_npz(path)["a"].blocks(7))


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.npz"
    write_npz(path, {"a": np.arange(3)})

    def fail(file: io.BufferedIOBase) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left"):
        write_atomically(path, fail)
    np.testing.assert_array_equal(open_npz(path)["a"].read(), np.arange(3))
    assert os.listdir(tmp_path) == ["a.npz"]
    with pytest.raises(InputError, match="cannot be written"):
        write_npz(tmp_path / "no" / "such" / "folder.npz", {"a": np.arange(3)})


def test_a_full_disk_is_told_in_one_line_and_costs_nothing(tmp_path):
    write_npz(tmp_path / "a.npz", {"a": np.arange(3)})
    code = (
        "import resource, sys, numpy as np;"
        "from graphgauge.archive import write_npz;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "write_npz(sys.argv[1], {'a': np.zeros(10_000)})"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.npz")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "InputError" in done.stderr.splitlines()[-1]
    assert "File too large" in done.stderr.splitlines()[-1]
    np.testing.assert_array_equal(open_npz(tmp_path / "a.npz")["a"].read(), np.arange(3))
    assert os.listdir(tmp_path) == ["a.npz"]


def test_a_path_through_a_file_is_told():
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically("/dev/full/x", lambda file: file.write(b"x"))


def test_plain_values_travel_as_text(tmp_path):
    path = tmp_path / "a.npz"
    write_npz(path, {"j": to_json({"b": [1], "a": "x"}), "n": np.array(7), "bad": np.array("[1")})
    stored = open_npz(path)
    assert from_json(stored["j"]) == {"a": "x", "b": [1]}
    assert from_json(None) == {}
    assert whole_number(stored["n"]) == 7
    for name in ("n", "bad"):
        with pytest.raises(InputError):
            from_json(stored[name])
    with pytest.raises(InputError, match="not one whole number"):
        whole_number(stored["j"])
