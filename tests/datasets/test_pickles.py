"""Pickles as data: honest ones agree with pickle, others are refused and nothing in them runs."""

from __future__ import annotations

import collections
import contextlib
import io
import os
import pickle
import pickletools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphgauge.datasets import pickles
from graphgauge.datasets.pickles import read_pickle

_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
_ARRAYS = hnp.arrays(
    st.sampled_from(["?", "i1", "<i4", ">i8", "<u2", "<f4", ">f8", "<f2"]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
# What a hostile pickle may raise on the way; `answering` turns these into one line.
_REFUSALS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, EOFError)


def _read(content: bytes, **options):
    return read_pickle(io.BytesIO(content), **options)


@given(value=_PLAIN, protocol=st.integers(2, 4))
def test_plain_values_are_read_as_pickle_reads_them(value, protocol):
    assert _read(pickle.dumps(value, protocol=protocol)) == value


@given(array=_ARRAYS, protocol=st.integers(2, 4), fortran=st.booleans())
def test_arrays_are_read_as_pickle_reads_them(array, protocol, fortran):
    array = np.asarray(array, order="F" if fortran else "C")
    back = _read(pickle.dumps({"a": [array, array]}, protocol=protocol))["a"]
    for found in back:
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype


def test_arrays_of_arrays_are_read_as_lists():
    held = np.empty(2, object)
    held[:] = [np.arange(3), np.arange(4)]
    first, second = _read(pickle.dumps(held, protocol=2))
    assert (first.tolist(), second.tolist()) == ([0, 1, 2], [0, 1, 2, 3])


def test_several_pickles_in_one_file_are_read_one_by_one():
    file = io.BytesIO(b"".join(pickle.dumps(i, protocol=2) for i in (1, "two", [3])) + b"rest")
    assert [read_pickle(file) for _ in range(3)] == [1, "two", [3]]
    assert file.read() == b"rest"


class _Runs:
    """Runs a function when it is unpickled."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    "function", [os.mkdir, np.save, np.fromfile, np.lib.npyio.NpzFile, eval, getattr, np.dtype]
)
def test_nothing_is_called(tmp_path, protocol, function):
    content = pickle.dumps(_Runs(function, str(tmp_path / "run")), protocol=protocol)
    with pytest.raises(_REFUSALS):
        _read(content)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"cos\nsystem\n(S'true'\ntR.", "'os system', which is not let in"),
        (b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.", "'os system', which is not let in"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "'os system', which is not let in"),
        (b"(S'true'\nios\nsystem\n.", "a step STRING|a step INST"),
        (b"S'\\s'\n.", "a step STRING"),
        (b"\x80\x02(cnumpy\nndarray\no.", "a step OBJ"),
        (b"\x80\x02\x82\x01.", "a step EXT1"),
        (b"\x80\x02cnumpy\nndarray\n)R.", "cannot be called"),
        (b"\x80\x02cnumpy\ndtype\n}X\x01\x00\x00\x00aK\x01sb.", "fills what is no array"),
        (b"\x80\x02]}b.", "fills what is no array"),
        (b"\x80\x02K\x01Q.", "points outside itself"),
        (b"\x80\x02}K\x01a.", "appends to what is no list"),
        (b"\x80\x02]K\x01K\x02s.", "sets items of what is no mapping"),
        (b"\x80\x02(K\x01", "without STOP|exhausted|pickle"),
        (b"\x80\x02.", "takes more than there is"),
        (b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nNNN\x87R.", "stays empty"),
        (b"\x80\x02cnumpy\ndtype\nX\x02\x00\x00\x00V8\x85R.", "does not hold numbers"),
        (b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x04\x00\x00\x00utf8\x86R.", "encodes"),
        (b"\x80\x02c__builtin__\nbytes\nK\x01\x85R.", "makes bytes of"),
        (
            b"\x80\x02cnumpy\ndtype\nX\x02\x00\x00\x00i8\x85R(K\x03X\x01\x00\x00\x00!tb.",
            "order of b",
        ),
        (b"", "exhausted"),
    ],
)
def test_what_is_let_in_is_little(content, told):
    with pytest.raises(ValueError, match=told):
        _read(content)


def _state(shape, dtype, data):
    """Pickle an array whose state was tampered with."""
    return pickle.dumps(_Tampered((1, shape, np.dtype(dtype), False, data)), protocol=2)


class _Tampered:
    def __init__(self, state):
        self.state = state

    def __reduce__(self):
        make, arguments, _ = np.empty(0).__reduce__()
        return make, arguments, self.state


@pytest.mark.parametrize(
    ("shape", "dtype", "data", "told"),
    [
        ((2**40,), "<f8", bytes(8), "the size it promises"),
        ((-1,), "<f8", b"", "impossible shape"),
        ((2**62, 2**62), "<f8", b"", "the size it promises"),
        (("a",), "<f8", bytes(8), "impossible shape"),
        ((1.0,), "<f8", bytes(8), "impossible shape"),
        ((1,), "<f8", [1.0], "does not hold numbers"),
        ((1,), "<M8[s]", bytes(8), "does not hold numbers"),
        ((1,), "<U2", bytes(8), "does not hold numbers"),
        ((1,), "<c8", bytes(8), "does not hold numbers"),
        ((1,), [("a", "<f8")], bytes(8), "does not hold numbers|not let in"),
        ((2,), object, [1], "the size it promises|does not hold numbers"),
        ((1,), object, bytes(8), "does not hold numbers"),
    ],
)
def test_arrays_are_what_they_promise(shape, dtype, data, told):
    with pytest.raises(ValueError, match=told):
        _read(_state(shape, dtype, data))


def test_sizes_are_not_believed():
    for step in (b"\x8e", b"\x8d"):  # bytes and text of eight-byte length
        with pytest.raises(ValueError, match="expected"):
            _read(b"\x80\x04" + step + (2**40).to_bytes(8, "little") + b"short.")
    far = b"\x80\x02]r" + (2**32 - 1).to_bytes(4, "little") + b"."
    assert _read(far) == []


def test_steps_are_counted(monkeypatch):
    monkeypatch.setattr(pickles, "_MOST_STEPS", 100)
    with pytest.raises(ValueError, match="more than 100 steps"):
        _read(b"\x80\x02" + b"]" * 1000 + b".")


def test_lists_within_lists_cost_no_more_than_their_steps():
    depth = 100_000
    value = _read(b"\x80\x02" + b"]" * depth + b"a" * (depth - 1) + b".")
    assert len(value) == 1


@settings(max_examples=300)
@given(data=st.data())
def test_damaged_pickles_are_read_or_refused(data):
    held = collections.defaultdict(list, {0: [1, 2], 5: []})
    good = data.draw(
        st.sampled_from(
            [
                pickle.dumps({"a": np.arange(6).reshape(2, 3), "b": [1, "x"]}, protocol=2),
                pickle.dumps([np.eye(2, dtype=">f4"), (None, True)], protocol=4),
                pickle.dumps(held, protocol=2),
            ]
        )
    )
    content = bytearray(good[: data.draw(st.integers(0, len(good)))])
    for _ in range(data.draw(st.integers(0, 3)) if content else 0):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    makers = {"collections defaultdict": lambda kind: {}, "builtins list": None}
    with contextlib.suppress(*_REFUSALS):
        _read(bytes(content), makers=makers)


def test_every_step_that_is_let_in_exists():
    assert set(pickles._STEPS) <= {opcode.name for opcode in pickletools.opcodes}
