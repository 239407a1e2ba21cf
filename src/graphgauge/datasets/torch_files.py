"""Files that ``torch.save`` wrote, read without torch and without unpickling.

Two formats are in use: a zip archive with a pickle and the raw numbers of each tensor beside it,
and, before torch 1.6, several pickles one after the other with the raw numbers behind. What is
read is a mapping from names to NumPy arrays or plain tensors, as OGB keeps its splits in; anything
else is refused.
"""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from graphgauge.archive import answering, check_expansion, check_file
from graphgauge.datasets.pickles import Maker, read_pickle
from graphgauge.errors import InputError

__all__ = ["read_torch"]

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_STORAGES: Mapping[Any, np.dtype[Any]] = {
    "torch DoubleStorage": np.dtype("<f8"),
    "torch FloatStorage": np.dtype("<f4"),
    "torch HalfStorage": np.dtype("<f2"),
    "torch LongStorage": np.dtype("<i8"),
    "torch IntStorage": np.dtype("<i4"),
    "torch ShortStorage": np.dtype("<i2"),
    "torch CharStorage": np.dtype("i1"),
    "torch ByteStorage": np.dtype("u1"),
    "torch BoolStorage": np.dtype("?"),
}
Raw = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class _Storage:
    """Numbers that lie outside the pickle."""

    key: str
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class _Tensor:
    """Where in its storage a tensor's numbers are."""

    storage: _Storage
    start: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def array(self, raw: Raw) -> npt.NDArray[Any]:
        """Take the numbers out of the storage, if they are all there."""
        flat = np.frombuffer(raw(self.storage.key), self.storage.dtype)
        reach = [(n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)]
        if 0 in self.shape:
            return np.empty(self.shape, flat.dtype)
        if self.start < 0 or min(self.strides, default=0) < 0:
            raise ValueError("a tensor in it has an impossible shape")
        # A stride of zero would let a few numbers fill any amount of memory.
        if self.start + sum(reach) >= len(flat) or math.prod(self.shape) > len(flat):
            raise ValueError("a tensor in it does not have the size it promises")
        steps = [step * flat.itemsize for step in self.strides]
        return np.lib.stride_tricks.as_strided(flat[self.start :], self.shape, steps).copy()


def read_torch(path: str | os.PathLike[str]) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of a ``.pt`` file by name."""
    path = Path(path)
    check_file(path)
    with answering(path, kind="a file of torch"), path.open("rb") as file:
        held, raw = _from_zip(path) if zipfile.is_zipfile(file) else _from_pickles(file)
        if type(held) is not dict:
            raise ValueError("it does not hold arrays by name")
        return {str(name): _array(value, raw) for name, value in held.items()}


def _array(value: Any, raw: Raw) -> npt.NDArray[Any]:
    array = value.array(raw) if isinstance(value, _Tensor) else value
    if not isinstance(array, np.ndarray):
        raise ValueError("it holds something beside arrays")
    return array


def _from_zip(path: Path) -> tuple[Any, Raw]:
    with zipfile.ZipFile(path) as archive:
        check_expansion(path, sum(entry.file_size for entry in archive.infolist()))
        (pickled,) = (n for n in archive.namelist() if n.endswith("/data.pkl"))
        folder = pickled.removesuffix("data.pkl")
        order = f"{folder}byteorder"
        if order in archive.namelist() and archive.read(order) != b"little":
            raise InputError(f"{path}: was written on a machine with another order of bytes")
        held = read_pickle(io.BytesIO(archive.read(pickled)), _MAKERS, _stored)

    def raw(key: str) -> bytes:
        with zipfile.ZipFile(path) as archive:
            return archive.read(f"{folder}data/{key}")

    return held, raw


def _from_pickles(file: IO[bytes]) -> tuple[Any, Raw]:
    file.seek(0)
    if read_pickle(file) != _MAGIC or read_pickle(file) != _PROTOCOL:
        raise ValueError("it does not begin as one")
    if not read_pickle(file).get("little_endian"):
        raise ValueError("it was written on a machine with another order of bytes")
    held = read_pickle(file, _MAKERS, _stored)
    keys = read_pickle(file)
    sizes = {t.storage.key: t.storage.dtype.itemsize for t in _tensors(held)}
    rest = file.read()
    content, start = {}, 0
    for key in keys:
        end = start + 8 + int.from_bytes(rest[start : start + 8], "little") * sizes[key]
        content[key], start = rest[start + 8 : end], end
    return held, content.__getitem__


def _tensors(held: Any) -> list[_Tensor]:
    values = held.values() if isinstance(held, dict) else ()
    return [value for value in values if isinstance(value, _Tensor)]


def _stored(description: Any) -> _Storage:
    kind, storage, key, _location, _length, *view = description
    name = getattr(storage, "name", None)
    if kind != "storage" or name not in _STORAGES or any(view):
        raise ValueError("a tensor in it holds no plain numbers")
    return _Storage(str(key), _STORAGES[name])


def _tensor(storage: Any, start: Any, shape: Any, strides: Any, *_: Any) -> _Tensor:
    if not isinstance(storage, _Storage) or len(shape) != len(strides):
        raise ValueError("a tensor in it has an impossible shape")
    return _Tensor(storage, int(start), tuple(map(int, shape)), tuple(map(int, strides)))


def _mapping(*_: Any) -> dict[Any, Any]:
    return {}


_MAKERS: Mapping[str, Maker | None] = {
    **dict.fromkeys(_STORAGES),
    "torch._utils _rebuild_tensor_v2": _tensor,
    "collections OrderedDict": _mapping,
}
