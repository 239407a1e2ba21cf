"""Damage to the headers of arrays, and Python objects brought in by every door."""

from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from hostile.containers import Rng, archive, choose, members_of, zipped
from hostile.seeds import Mutant, packed

CANARY = Path(tempfile.gettempdir()) / f"hostile-canary-{os.getpid()}"


class Canary:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(CANARY),)


def header(shape: object, descr: object = "<f8", *, fortran: object = False) -> str:
    """Write the text of an ``.npy`` header."""
    return f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"


def npy(text: str | bytes, body: bytes = b"", *, version: tuple[int, int] = (1, 0)) -> bytes:
    """Write an ``.npy`` file with any header over any body."""
    raw = text if isinstance(text, bytes) else text.encode("latin1", "replace")
    raw = raw[:65_535] if version[0] == 1 else raw
    width = 2 if version[0] == 1 else 4
    return b"\x93NUMPY" + bytes(version) + len(raw).to_bytes(width, "little") + raw + body


_SHAPES = (
    "()", "(0,)", "(1,)", "(-1,)", "(30,)", "(30, 3)", "(3, 30)", "(30, 0)", "(0, 3)", "(90,)",
    "(2**62,)", "(10**18,)", f"({10**18},)", f"({2**63},)", f"({2**64}, {2**64})", f"(0, {2**70})",
    f"({2**40}, 0)", "(1.0,)", "('3',)", "(None,)", "(True, 90)", "[30, 3]", "30", "((30,), 3)",
    f"({'1, ' * 33})", f"({'1, ' * 65})", f"({'0, ' * 65})", f"({'1, ' * 3000})",
    f"(0x{'f' * 9000},)", f"({'9' * 5000},)", f"(0, -0x{'f' * 5000})", "(1e400,)", "(nan,)",
    "(30, 3, )  # x", "(30, 3), 'more': 1", "(30, 3), 1: 2", "(30, 3), 'descr': '|O'",
)  # fmt: skip


_DESCRS = (
    "<f8", ">f8", "<f4", "<f2", ">f2", "<f16", "<f12", "|b1", "|i1", "|u1", "<i2", "<u8", ">i8",
    "<c8", "<c16", "|O", "|V8", "|V0", "<U0", "<U2", "<U1000000000", "|S0", "|S3", "|S9999999999",
    "<M8", "<M8[s]", "<m8[ns]", "<M8[generic]", "f8,i4", "3f8", "(2,2)f8", "object", "O8", "bool",
    "float", "", " ", "x", "\0", "<f8\0", "é", "@@", "<i1000", "T", "StringDType",
    [("a", "<f8")], [("a", "|O")], [("", "<f8")], [("a", "<f8"), ("a", "<f8")],
    [("a", "<f8", (2**31, 2**31))], [("a", [("b", [("c", "<f8")])])], [], [()], [("a",)], {},
    {"names": ["a"], "formats": ["<f8"]}, {"a": ("<f8", 0)}, {"a": ("<f8", 10**30)},
    ("<f8", (2,)), ("<f8", (10**12,)), ("<f8", {"a": 1}), (), None, 8, -1, 1.5, True, b"<f8",
)  # fmt: skip


_TEXTS = (
    "", "{", "{}", "[]", "None", "1", "'x'", "{'shape': ()}", "(" * 9000, "[" * 20_000, "-" * 9000,
    "{'a': " * 1500, "~" * 9000 + "1", "'" * 3, '"""', "'\\x'", "'\\N{'", "0777", "1if 1else 2",
    "10L", "{'descr': '<f8', 'fortran_order': False, 'shape': (30L, 3L), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (30L, 3L",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (30, 3)", "\t\n  x\n y", "\0" * 50,
    "__import__('os').mkdir('hostile-canary')", "lambda: 0", "f'{1}'", "a := 1", "1" * 6000,
    "1 is 1", "{'descr': '<f8', 'fortran_order': 2, 'shape': (), }", "x" * 65_535,
    "{'descr': '<f8', 'fortran_order': 'yes', 'shape': (30, 3), }", "{[]: 1}", "{{}}", "{1, 'a'}",
    "{1: 2, 'descr': '<f8', 'fortran_order': False, 'shape': ()}", "1+2j", "'\ud800'", "...",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (30, 3), }" + " " * 20_000, "\\\n" * 900,
)  # fmt: skip


def reheaded(rng: Rng) -> Mutant:
    """Put another ``.npy`` header over the body of one array."""
    role, arrays = archive(rng)
    members = members_of(arrays)
    at = int(rng.integers(len(members)))
    name = members[at][0]
    value = arrays[name.removesuffix(".npy")]
    shape = choose(rng, (*_SHAPES, *[str(value.shape)] * 12))
    descr = choose(rng, (*_DESCRS, *[value.dtype.str] * 24))
    fortran = choose(rng, (False, False, True, 1, "None", "''"))
    text = header(shape, descr, fortran=fortran) if rng.random() < 0.7 else choose(rng, _TEXTS)
    body = value.tobytes() if rng.random() < 0.8 else bytes(int(rng.integers(0, 3000)))
    body = choose(rng, (body, body[:8], b"", body * 3))
    version = choose(rng, ((1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (0, 0), (1, 1), (255, 255)))
    raw = text.encode("utf-8", "replace")
    members[at] = (name, npy(raw, body, version=version))
    return Mutant(role, ".npz", zipped(*members, deflated=bool(rng.random() < 0.3)))


def garbled(rng: Rng) -> Mutant:
    """Overwrite bytes of one ``.npy`` header."""
    role, arrays = archive(rng)
    members = members_of(arrays)
    at = int(rng.integers(len(members)))
    name, content = members[at]
    raw = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        raw[int(rng.integers(min(len(raw), 128)))] = int(rng.integers(256))
    members[at] = (name, bytes(raw))
    return Mutant(role, ".npz", zipped(*members))


def pickled(rng: Rng) -> Mutant:
    """Bring Python objects in by every door; each would leave a trace if it were unpickled."""
    role, arrays = archive(rng)
    key = choose(rng, list(arrays))
    objects = np.array([Canary()] * choose(rng, (1, 30)), dtype=object)
    bad = pickle.dumps(objects)
    members = members_of(arrays)
    doors = (
        lambda: packed({**arrays, key: objects}),
        lambda: packed({**arrays, "extra": objects}, deflated=True),
        lambda: packed({**arrays, key: np.array(Canary(), dtype=object)}),
        lambda: packed({**arrays, key: np.array([(1, Canary())], "i8,O")}),
        lambda: bad,
        lambda: pickle.dumps(Canary(), protocol=choose(rng, (0, 2, 4, 5))),
        lambda: npy(header("(1,)", "|O"), bad),
        lambda: zipped(*members, ("data.pkl", bad), ("archive/data.pkl", bad)),
        lambda: zipped(*members, (f"{key}.npy", bad)),
        lambda: zipped((f"{key}.npy", npy(header("(1,)", "|O"), bad)), *members),
        lambda: zipped((f"{key}.npy", npy(header("(1,)", "|O"), bad[:8])), *members[1:]),
    )
    suffix = choose(rng, (".npz", ".npz", ".npz", ".npy", ".pkl", ".csv", ".parquet", ".pt", ""))
    return Mutant(role, suffix, choose(rng, doors)())


def nested_types(rng: Rng) -> Mutant:
    """Use record types, nested ones and ones with objects inside."""
    role, arrays = archive(rng)
    key = choose(rng, list(arrays))
    made = (
        np.zeros(3, [("a", "f8"), ("b", [("c", "i4", (2, 2))])]),
        np.zeros((30, 3), [("p", "f8")]),
        np.array([(1, Canary())], "i8,O"),
        np.zeros(30, "V24"),
        np.zeros(30, np.dtype("f8", metadata={"a": 1})),
        np.zeros(30, np.dtypes.StringDType()),
    )
    value = choose(rng, made)
    if rng.random() < 0.7:
        try:
            return Mutant(role, ".npz", packed({**arrays, key: value}))
        except (ValueError, TypeError):
            pass
    text = header("(30,)", choose(rng, ([("a", "|O")], [("a", "<f8"), ("b", "<i4")])))
    members = [m for m in members_of(arrays) if m[0] != f"{key}.npy"]
    return Mutant(role, ".npz", zipped(*members, (f"{key}.npy", npy(text, bytes(360)))))
