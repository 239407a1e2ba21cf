"""Headers of ``.npy`` data, read without trust: shape, order and type of an array."""

from __future__ import annotations

import io
import math
import warnings
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

__all__ = ["Header", "read_header"]

_MOST_HEADER = 10_000
_MOST_AXES = 32
_MOST_BYTES = 2**62
# An empty array may still have axes, but not such as would fill memory with nothing.
_EMPTY_AXIS = 65_536
# Version to the bytes that hold the header's length, and what reads the header.
_VERSIONS = {
    (1, 0): (2, np.lib.format.read_array_header_1_0),
    (2, 0): (4, np.lib.format.read_array_header_2_0),
}


@dataclass(frozen=True)
class Header:
    """What a header says, and how many bytes it takes."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    length: int

    @property
    def n_bytes(self) -> int | None:
        """Bytes of the array; None where there can be no such array."""
        if len(self.shape) > _MOST_AXES or any(axis < 0 for axis in self.shape):
            return None
        if 0 in self.shape:
            return 0 if max(self.shape) <= _EMPTY_AXIS else None
        n_bytes = math.prod(self.shape) * self.dtype.itemsize
        return n_bytes if n_bytes <= _MOST_BYTES else None


def read_header(file: IO[bytes]) -> Header:
    """Read the header at the start of a file; NumPy parses its text, a literal that is never run.

    Anything else there raises ValueError, or whatever else a parser raises.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.save(file, np.zeros((2, 3)))
    >>> header = read_header(io.BytesIO(file.getvalue()))
    >>> header.shape, header.n_bytes, header.length
    ((2, 3), 48, 128)
    """
    version = np.lib.format.read_magic(file)
    if version not in _VERSIONS:
        raise ValueError(f"its array format {version} is not known")
    width, parse = _VERSIONS[version]
    length = file.read(width)
    n_bytes = int.from_bytes(length, "little")
    if n_bytes > _MOST_HEADER:
        raise ValueError(f"its header has {n_bytes} bytes")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy remarks on headers written by Python 2
        try:
            shape, fortran, dtype = parse(io.BytesIO(length + file.read(n_bytes)))
        except MemoryError:  # Python's parser, of brackets in brackets in brackets
            raise ValueError("its header is nested too deeply") from None
    start = np.lib.format.MAGIC_LEN + width + n_bytes
    return Header(tuple(map(int, shape)), fortran, dtype, start)
