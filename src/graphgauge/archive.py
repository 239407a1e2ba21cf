"""Arrays in ``.npz`` files, read without trust and written without half-done files.

Reading never unpickles, believes no size before the file itself bears it out, and refuses an
archive that would expand far beyond what it takes on disk. Writing goes to a new file beside the
old one and replaces it in one step, so a killed or full-disk write leaves the old file whole.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import secrets
import stat
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from graphgauge.errors import InputError
from graphgauge.headers import read_header

__all__ = [
    "Blocks",
    "StoredArray",
    "answering",
    "blocks_of",
    "check_expansion",
    "check_file",
    "from_json",
    "open_npz",
    "to_json",
    "whole_number",
    "write_atomically",
    "write_npz",
]

# An archive may expand to the larger of these two: honest arrays rarely compress further, and one
# that does can be saved uncompressed. Numbers count eight bytes each, as which they are worked on.
_EXPANDED_BYTES = 8 * 2**20
_EXPANSION = 100
_WORD = 8
_MEMBERS = 1000
_JSON_BYTES = 4 * 2**20
_KINDS = "biufUS"
# Parsers of headers, directories and JSON, given what they were not made for.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)


@runtime_checkable
class Blocks(Protocol):
    """An array that is read a few rows at a time."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every axis."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    def __len__(self) -> int:
        """Count the rows."""

    def blocks(self, rows: int) -> Iterator[npt.NDArray[Any]]:
        """Yield successive blocks of at most `rows` rows."""


@dataclass(frozen=True)
class StoredArray:
    """An array still on disk: its shape is known and checked, its entries are read on demand."""

    path: Path
    member: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool
    offset: int

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def name(self) -> str:
        """The array's name within the archive."""
        return self.member.removesuffix(".npy")

    @property
    def nbytes(self) -> int:
        """Bytes the array takes in memory."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __len__(self) -> int:
        """Count the rows."""
        return self.shape[0]

    def blocks(self, rows: int) -> Iterator[npt.NDArray[Any]]:
        """Yield successive blocks of at most `rows` rows, reading as it goes."""
        if self.fortran and self.ndim > 1:
            whole = self.read()
            yield from (whole[i : i + rows] for i in range(0, len(self), rows))
            return
        row_bytes = math.prod(self.shape[1:]) * self.dtype.itemsize
        with self._entries() as file:
            for start in range(0, len(self), rows):
                n = min(rows, len(self) - start)
                data = _exactly(file, n * row_bytes)
                yield np.frombuffer(data, self.dtype).reshape(n, *self.shape[1:])
            file.read(1)  # reaching the end is what makes zipfile compare the checksum

    def read(self) -> npt.NDArray[Any]:
        """Read the whole array into memory."""
        flat = np.empty(math.prod(self.shape), self.dtype)
        view = flat.view(np.uint8).data if flat.size else memoryview(b"")
        with self._entries() as file:
            done = 0
            while done < len(view):
                n = file.readinto(view[done : done + 2**22])  # type: ignore[attr-defined]
                if not n:
                    raise InputError(f"{self.path}: {self.name} is truncated")
                done += n
            file.read(1)
        if self.dtype.kind == "U":
            _check_characters(flat, f"{self.path}: {self.name}")
        return flat.reshape(self.shape, order="F" if self.fortran else "C")

    def __array__(
        self, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """Read when NumPy asks for an array."""
        array = self.read()
        return array if dtype is None else array.astype(dtype)

    @contextlib.contextmanager
    def _entries(self) -> Iterator[IO[bytes]]:
        with (
            answering(self.path, self.name),
            zipfile.ZipFile(self.path) as archive,
            archive.open(self.member) as file,
        ):
            _exactly(file, self.offset)
            yield file


def open_npz(
    path: str | os.PathLike[str], names: Collection[str] | None = None
) -> dict[str, StoredArray]:
    """List the arrays of an ``.npz`` file, checked but not read; with `names`, only those.

    Every header must agree with the bytes behind it; Python objects, unknown compressions and
    archives that expand out of proportion are refused. What is not asked for is not looked at.
    """
    path = Path(path)
    check_file(path)
    with answering(path), zipfile.ZipFile(path) as archive:
        entries = [e for e in archive.infolist() if e.filename.endswith(".npy")]
        if len(archive.infolist()) > _MEMBERS:
            raise InputError(f"{path}: holds more than {_MEMBERS} members")
        if len({e.filename for e in entries}) < len(entries):
            raise InputError(f"{path}: holds two arrays of one name")
        check_expansion(path, sum(e.file_size for e in archive.infolist()))
        if names is not None:
            entries = [e for e in entries if e.filename.removesuffix(".npy") in names]
        arrays = [_describe(path, archive, entry) for entry in entries]
    check_expansion(path, sum(math.prod(a.shape) * max(a.dtype.itemsize, _WORD) for a in arrays))
    return {array.name: array for array in arrays}


def check_file(path: Path) -> None:
    """Check that a path leads to a file: a device or a pipe may never end, or never begin."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "not an ordinary file"
        raise InputError(f"{path}: cannot be read (it is {what})")


def check_expansion(path: Path, expanded: int) -> None:
    """Check that a file holds no more than its size makes likely."""
    on_disk = path.stat().st_size
    if expanded > max(_EXPANDED_BYTES, _EXPANSION * on_disk):
        raise InputError(
            f"{path}: would expand from {on_disk} to {expanded} bytes, which is refused as a "
            "possible zip bomb; save it uncompressed if it is yours"
        )


@contextlib.contextmanager
def answering(path: Path, name: str = "", *, kind: str = ".npz") -> Iterator[None]:
    """Turn what can go wrong in a file of the given kind into one line about it."""
    where = f"{path}: {name}" if name else str(path)
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
    except _UNREADABLE as error:
        reason = str(error) or type(error).__name__
        raise InputError(f"{where} is not readable as {kind} ({reason[:200]})") from None


def blocks_of(array: npt.NDArray[Any] | Blocks, rows: int) -> Iterator[npt.NDArray[Any]]:
    """Yield blocks of rows of an array, in memory or not.

    Examples
    --------
    >>> [block.tolist() for block in blocks_of(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    if isinstance(array, np.ndarray):
        return (array[i : i + rows] for i in range(0, len(array), rows))
    return array.blocks(rows)


def write_npz(path: str | os.PathLike[str], arrays: Mapping[str, npt.ArrayLike]) -> None:
    """Write arrays to an ``.npz`` file in one step; equal content gives equal bytes."""
    plain = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.kind not in _KINDS:
            raise InputError(f"{name}: {array.dtype} values cannot be saved")
    write_atomically(path, lambda file: np.savez(file, **plain))  # type: ignore[arg-type]


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> None:
    """Let `write` fill a new file, then put it in place of `path` in one step."""
    path = Path(path)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


def to_json(values: Mapping[str, Any]) -> npt.NDArray[np.str_]:
    """Pack plain values into one text entry, to travel beside arrays."""
    return np.array(json.dumps(dict(values), sort_keys=True))


def from_json(array: StoredArray | None) -> dict[str, Any]:
    """Unpack what `to_json` packed; nothing gives nothing."""
    if array is None:
        return {}
    if array.shape != () or array.dtype.kind != "U":
        raise InputError(f"{array.path}: {array.name} is not one text entry")
    if array.nbytes > _JSON_BYTES:
        raise InputError(f"{array.path}: {array.name} is too long a text")
    with answering(array.path, array.name):
        values = json.loads(str(array.read()))
        if not isinstance(values, dict):
            raise ValueError("not a mapping")
    return values


def whole_number(array: StoredArray) -> int:
    """Read an entry that is one whole number."""
    if array.shape != () or array.dtype.kind not in "iu":
        raise InputError(f"{array.path}: {array.name} is not one whole number")
    return int(array.read()[()])


def _describe(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> StoredArray:
    name = entry.filename.removesuffix(".npy")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{path}: {name} is compressed in an unknown way")
    with answering(path, name), archive.open(entry) as file:
        header = read_header(file)
    n_bytes = header.n_bytes
    if header.dtype.hasobject:
        raise InputError(f"{path}: {name} holds Python objects (a pickle), which are never read")
    if header.dtype.kind not in _KINDS or not header.dtype.itemsize:
        raise InputError(f"{path}: {name} holds {header.dtype!s:.80}, expected numbers or text")
    if n_bytes is None:
        raise InputError(f"{path}: {name} has an impossible shape")
    if n_bytes != entry.file_size - header.length:
        raise InputError(
            f"{path}: {name} is truncated or mislabelled: its header promises "
            f"{n_bytes} bytes, the file holds {entry.file_size - header.length}"
        )
    return StoredArray(
        path, entry.filename, header.shape, header.dtype, header.fortran, header.length
    )


def _check_characters(words: npt.NDArray[Any], where: str) -> None:
    """Refuse numbers that are no characters: Python strings of them break what touches them."""
    points = words.view(np.dtype(np.uint32).newbyteorder(words.dtype.byteorder))
    if points.size and points.max() > sys.maxunicode:
        raise InputError(f"{where} holds characters that do not exist")


def _exactly(file: IO[bytes], n: int) -> bytes:
    data = file.read(n)
    if len(data) != n:
        raise EOFError("truncated")
    return data
