"""Pickles read as data: nothing in them is imported or called.

A pickle is a program for a small stack machine. Python's own machine runs whatever functions the
program names. The one below knows only instructions that lay out numbers, text, lists and
mappings, and a table of names, each with a maker of its own that builds a checked array. Any other
name, and any other instruction, is refused; a name is never looked up in a module. So what
collections such as Planetoid and OGB published as pickles of Python 2 can be read from anybody.
"""

from __future__ import annotations

import math
import pickletools
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, cast

import numpy as np

__all__ = ["NUMPY", "Maker", "Unfinished", "read_pickle"]

Maker = Callable[..., Any]

# A step of one byte may cost eighty bytes of memory; honest files of links take a million.
_MOST_STEPS = 2**22
_TYPES = re.compile("b1|[iu][1248]|f[248]")
_ORDERS = ("<", ">", "=", "|")
# An array of Python objects has but one use here: it holds arrays, and is read as a list of them.
_OBJECT = np.dtype(object)


@dataclass(frozen=True, slots=True)
class _Name:
    """A name in a pickle: known, and never looked up."""

    name: str


@dataclass(slots=True)
class Unfinished:
    """An object that was announced and still waits for its content."""

    finish: Callable[[Any], Any]
    value: Any = None


@dataclass(slots=True)
class _Machine:
    """The stack machine; a method an instruction would hide how little each does."""

    makers: Mapping[str, Maker | None]
    stored: Callable[[Any], Any]
    stack: list[Any] = field(default_factory=list)
    below: list[list[Any]] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def since_mark(self) -> list[Any]:
        """Take what was laid down since the last mark."""
        items, self.stack = self.stack, self.below.pop()
        return [_settled(item) for item in items]

    def last(self, n: int) -> list[Any]:
        """Take the last `n` items."""
        if len(self.stack) < n:
            raise ValueError("takes more than there is")
        items = self.stack[len(self.stack) - n :]
        del self.stack[len(self.stack) - n :]
        return [_settled(item) for item in items]

    def push(self, item: Any) -> None:
        self.stack.append(item)

    def mark(self) -> None:
        self.below.append(self.stack)
        self.stack = []

    def keep(self, place: int) -> None:
        self.memo[place] = self.stack[-1]

    def extend(self, items: list[Any]) -> None:
        if type(self.stack[-1]) is not list:
            raise ValueError("appends to what is no list")
        self.stack[-1].extend(items)

    def update(self, items: list[Any]) -> None:
        if type(self.stack[-1]) is not dict or len(items) % 2:
            raise ValueError("sets items of what is no mapping")
        self.stack[-1].update(zip(items[::2], items[1::2], strict=True))

    def name(self, name: str) -> None:
        if name not in self.makers:
            raise ValueError(f"it names {name[:80]!r}, which is not let in")
        self.stack.append(_Name(name))

    def make(self, what: Any, arguments: Any) -> None:
        maker = self.makers[what.name] if isinstance(what, _Name) else None
        if maker is None or type(arguments) is not tuple:
            raise ValueError("it calls what cannot be called")
        self.stack.append(maker(*arguments))

    def build(self, state: Any) -> None:
        made = self.stack[-1]
        if not isinstance(made, Unfinished) or made.value is not None:
            raise ValueError("it fills what is no array")
        made.value = made.finish(state)


def _settled(item: Any) -> Any:
    if not isinstance(item, Unfinished):
        return item
    if item.value is None:
        raise ValueError("an array in it stays empty")
    return item.value


_STEPS: Mapping[str, Callable[[_Machine, Any], object]] = {
    **dict.fromkeys(("PROTO", "FRAME"), lambda m, arg: None),
    **dict.fromkeys(
        (
            *("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT"),
            *("BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
            *("BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
        ),
        lambda m, arg: m.push(arg),
    ),
    "NONE": lambda m, arg: m.push(None),
    "NEWTRUE": lambda m, arg: m.push(True),
    "NEWFALSE": lambda m, arg: m.push(False),
    "EMPTY_TUPLE": lambda m, arg: m.push(()),
    "EMPTY_LIST": lambda m, arg: m.push([]),
    "EMPTY_DICT": lambda m, arg: m.push({}),
    "MARK": lambda m, arg: m.mark(),
    "TUPLE": lambda m, arg: m.push(tuple(m.since_mark())),
    "TUPLE1": lambda m, arg: m.push(tuple(m.last(1))),
    "TUPLE2": lambda m, arg: m.push(tuple(m.last(2))),
    "TUPLE3": lambda m, arg: m.push(tuple(m.last(3))),
    "APPEND": lambda m, arg: m.extend(m.last(1)),
    "APPENDS": lambda m, arg: m.extend(m.since_mark()),
    "SETITEM": lambda m, arg: m.update(m.last(2)),
    "SETITEMS": lambda m, arg: m.update(m.since_mark()),
    "BINPUT": lambda m, arg: m.keep(arg),
    "LONG_BINPUT": lambda m, arg: m.keep(arg),
    "MEMOIZE": lambda m, arg: m.keep(len(m.memo)),
    "BINGET": lambda m, arg: m.push(m.memo[arg]),
    "LONG_BINGET": lambda m, arg: m.push(m.memo[arg]),
    "GLOBAL": lambda m, arg: m.name(arg),
    "STACK_GLOBAL": lambda m, arg: m.name(" ".join(m.last(2))),
    "REDUCE": lambda m, arg: m.make(*m.last(2)),
    "NEWOBJ": lambda m, arg: m.make(*m.last(2)),
    "BUILD": lambda m, arg: m.build(*m.last(1)),
    "BINPERSID": lambda m, arg: m.push(m.stored(*m.last(1))),
}


def read_pickle(
    file: IO[bytes],
    makers: Mapping[str, Maker | None] | None = None,
    stored: Callable[[Any], Any] | None = None,
) -> Any:
    """Read one pickle from where a file stands, and leave the file behind it.

    Raises ValueError, or whatever else a parser raises, for anything but plain data and arrays.

    Parameters
    ----------
    file
        Open, binary.
    makers
        Names that may occur beside those of NumPy's arrays, and what makes the objects they
        announce; None for a name that may be mentioned but not called.
    stored
        What gives an array that is stored outside the pickle, by its description.

    Examples
    --------
    >>> import io, os, pickle
    >>> read_pickle(io.BytesIO(pickle.dumps({"a": np.arange(3)}, protocol=2)))
    {'a': array([0, 1, 2])}
    >>> read_pickle(io.BytesIO(pickle.dumps(os.getcwd, protocol=2)))
    Traceback (most recent call last):
        ...
    ValueError: it names 'posix getcwd', which is not let in
    """
    machine = _Machine({**NUMPY, **(makers or {})}, stored or _nothing_stored)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of strange escapes in steps that are not let in
        return _run(machine, file)


def _run(machine: _Machine, file: IO[bytes]) -> Any:
    for number, (opcode, argument, _) in enumerate(
        pickletools.genops(cast(IO[bytes], _Clipped(file)))
    ):
        if number > _MOST_STEPS:
            raise ValueError(f"it has more than {_MOST_STEPS} steps")
        if opcode.name == "STOP":
            break
        if opcode.name not in _STEPS:
            raise ValueError(f"it holds a step {opcode.name}, which is not let in")
        _STEPS[opcode.name](machine, argument)
    return machine.last(1)[0]


class _Clipped:
    """A file that is never asked for more than it has: memory would be set aside for it."""

    def __init__(self, file: IO[bytes]) -> None:
        self.readline, self.tell = file.readline, file.tell
        self._file, start = file, file.tell()
        self._end = file.seek(0, 2)
        file.seek(start)

    def read(self, n: int) -> bytes:
        return self._file.read(max(0, min(n, self._end - self.tell())))


def _nothing_stored(description: Any) -> Any:
    raise ValueError("it points outside itself")


def _reconstruct(kind: Any, shape: Any, code: Any) -> Unfinished:
    return Unfinished(_array)


def _array(state: Any) -> np.ndarray[Any, Any] | list[Any]:
    _version, shape, dtype, fortran, content = state
    if dtype == _OBJECT and type(content) is list and shape == (len(content),):
        return content
    data = content.encode("latin-1") if isinstance(content, str) else content
    if not isinstance(dtype, np.dtype) or dtype.hasobject or not isinstance(data, bytes):
        raise ValueError("an array in it does not hold numbers")
    if any(type(axis) is not int or axis < 0 for axis in shape):
        raise ValueError("an array in it has an impossible shape")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError("an array in it does not have the size it promises")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


def _dtype(code: Any, *_: Any) -> Unfinished:
    if code in ("O", "O8"):
        return Unfinished(lambda state: _OBJECT)
    if not isinstance(code, str) or not _TYPES.fullmatch(code):
        raise ValueError("an array in it does not hold numbers")
    return Unfinished(lambda state: np.dtype(code).newbyteorder(_byte_order(state[1])))


def _byte_order(order: Any) -> Any:
    if order not in _ORDERS:
        raise ValueError("an array in it has an unknown order of bytes")
    return order


def _encode(text: Any, encoding: Any = None) -> bytes:
    if not isinstance(text, str) or encoding != "latin1":
        raise ValueError("it encodes what is no array")
    return text.encode("latin-1")


def _no_bytes(*content: Any) -> bytes:
    """Make what Python 3 writes for an empty string of bytes."""
    if content:
        raise ValueError("it makes bytes of what is no array")
    return b""


NUMPY: Mapping[str, Maker | None] = {
    "numpy ndarray": None,
    "numpy dtype": _dtype,
    "numpy.core.multiarray _reconstruct": _reconstruct,
    "numpy._core.multiarray _reconstruct": _reconstruct,
    "_codecs encode": _encode,
    "__builtin__ bytes": _no_bytes,
}
