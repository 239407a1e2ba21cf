"""Files of MATLAB, version 5 (``-v6`` and ``-v7``): matrices of numbers and nothing else.

Read here rather than by ``scipy.io.loadmat`` for the sake of bounds. SciPy makes room for as much
text as a header announces (200 bytes can ask for gigabytes), inflates without end, and builds
sparse matrices that crash the process when they are used. Here a size is believed when the bytes
bear it out, what unfolds out of proportion is refused, and structures, cells, text, functions and
objects are left alone.

References
----------
The MathWorks, MAT-file format, version 5.
"""

from __future__ import annotations

import itertools
import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.archive import answering, check_expansion, check_file
from graphgauge.errors import InputError
from graphgauge.graph import sparse_rows

__all__ = ["Matrix", "read_matrices"]

Matrix: TypeAlias = npt.NDArray[Any] | sp.csr_array
"""What a variable holds."""

_HEAD = 128
_MATRIX, _DEFLATED = 14, 15
# How a number in a file's tags stands for a type of entries, and which classes hold such.
_TYPES = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_SPARSE, _DENSE = 5, range(6, 16)
_COMPLEX = 0x0800
_VERSION = 0x0100
_STEP = 2**14
_MOST_VARIABLES = 1000


def read_matrices(path: Path) -> dict[str, Matrix]:
    """Read the variables that are matrices of real numbers, by name.

    Examples
    --------
    >>> import scipy.io, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "two.mat"
    >>> scipy.io.savemat(path, {"A": np.eye(2), "title": "two"})
    >>> read_matrices(path)["A"].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    check_file(path)
    with answering(path, kind=".mat"):
        content = memoryview(path.read_bytes())
        order = _byte_order(content)
        found: dict[str, Matrix] = {}
        for number, body in enumerate(_variables(path, content[_HEAD:], order)):
            name, matrix = _variable(path, body, order)
            if name in found or number == _MOST_VARIABLES:
                told = f"two are called {name[:80]!r}" if name in found else "there are too many"
                raise InputError(f"{path}: of its variables, {told}")
            if matrix is not None:
                found[name] = matrix
    return found


def _byte_order(content: memoryview) -> str:
    """Tell from the head of a file whether its numbers begin at their small or their large end."""
    head = bytes(content[:_HEAD])
    if head.startswith((b"MATLAB 7.3", b"\x89HDF")):
        raise InputError("a file of MATLAB 7.3 (HDF5), which is not read; save it with -v7")
    order = {b"IM": "<", b"MI": ">"}.get(head[126:])
    if order is None or struct.unpack_from(f"{order}H", head, 124) != (_VERSION,):
        raise InputError("not a file of MATLAB 5; save it with -v7")
    return order


def _variables(path: Path, content: memoryview, order: str) -> Iterator[memoryview]:
    """Yield the bytes of each variable, inflated if need be."""
    total = 0
    for kind, body in _elements(content, order):
        if kind == _DEFLATED:
            inflated = _inflated(path, body, total)
            total += len(inflated)
            kind, body = next(_elements(inflated, order))  # noqa: PLW2901 -- what is inside it
        if kind != _MATRIX:
            raise ValueError(f"an element of type {kind} where a variable should be")
        yield body


def _inflated(path: Path, body: memoryview, total: int) -> memoryview:
    """Inflate a variable, a little at a time, which can grow a thousandfold and no more."""
    inflator, inflated = zlib.decompressobj(), bytearray()
    for start in range(0, len(body), _STEP):
        inflated += inflator.decompress(body[start : start + _STEP])
        check_expansion(path, total + len(inflated))
    if not inflator.eof:
        raise EOFError("truncated")
    return memoryview(inflated)


def _elements(content: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Yield type and bytes of the elements that follow one another."""
    place = 0
    while place < len(content):
        kind, size = struct.unpack_from(f"{order}II", content, place)
        start = place + 8
        if kind >> 16:  # a small one: its size shares a word with its type
            kind, size, start = kind & 0xFFFF, kind >> 16, place + 4
        end = start + size
        if end > len(content):
            raise EOFError("truncated")
        yield kind, content[start:end]
        place = end if kind == _DEFLATED else place + -(-(end - place) // 8) * 8


def _variable(path: Path, body: memoryview, order: str) -> tuple[str, Matrix | None]:
    """Read a variable: its name, and its entries if they are real numbers."""
    elements = _elements(body, order)
    (_, about), (_, shape), (_, name) = itertools.islice(elements, 3)
    (flags,) = struct.unpack_from(f"{order}I", about)
    called = bytes(name).decode("latin-1")
    kind = flags & 0xFF
    if flags & _COMPLEX or not (kind == _SPARSE or kind in _DENSE):
        return called, None
    sizes = tuple(map(int, np.frombuffer(shape, f"{order}i4")))
    parts = [np.frombuffer(data, order + _TYPES[of]) for of, data in elements]
    if kind == _SPARSE:
        return called, _sparse(called, parts, sizes)
    [entries] = parts
    if min(sizes) < 0 or math.prod(sizes) != len(entries):
        raise ValueError(f"{called[:80]} has {len(entries)} entries for a shape of {sizes}")
    check_expansion(path, 8 * len(entries))
    return called, entries.reshape(sizes, order="F")


def _sparse(name: str, parts: list[npt.NDArray[Any]], sizes: tuple[int, ...]) -> sp.csr_array:
    """Make a matrix of what is stored by columns, with room to spare behind the last entry."""
    rows, starts, entries = parts
    n_rows, n_columns = sizes
    n_entries = int(starts[-1])
    by_columns = (entries[:n_entries], rows[:n_entries], starts)
    return sp.csr_array(sparse_rows(name[:80], by_columns, (n_columns, n_rows)).T)
