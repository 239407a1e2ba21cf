"""Damage to containers: bytes anywhere, zip directories, names of members, other kinds of file."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from typing import Any

import numpy as np

from hostile.seeds import Arrays, Mutant, archives, good_files, node_arrays, packed

Rng = np.random.Generator


_WORDS = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF)


_ZIP = b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06"


def choose(rng: Rng, options: Any) -> Any:
    """Choose one of a sequence, of whatever."""
    return options[int(rng.integers(len(options)))]


def good(rng: Rng, role: str | None = None, *suffixes: str) -> Mutant:
    """Choose a good file, of one kind if so asked."""
    role = role or choose(rng, ("nodes", "nodes", "links", "edges"))
    files = [f for f in good_files()[role] if not suffixes or f[0] in suffixes]
    return Mutant(role, *choose(rng, files))


def archive(rng: Rng) -> tuple[str, Arrays]:
    """Choose the arrays of a good archive."""
    role, arrays = choose(rng, archives())
    return role, dict(arrays)


def truncated(rng: Rng) -> Mutant:
    """Cut at any place, or just around a signature, a header or the end."""
    seed = good(rng)
    content = seed.content
    places = [content.find(mark) for mark in (*_ZIP, b"\x93NUMPY", b"}", b"\n", b",", b"PAR1")]
    places += [len(content), len(content) // 2, content.rfind(b"PK"), content.rfind(b"\n")]
    around = choose(rng, places) + int(rng.integers(-12, 12))
    at = around if rng.random() < 0.5 else int(rng.integers(len(content)))
    return Mutant(seed.role, seed.suffix, content[: max(0, at)])


def flipped(rng: Rng) -> Mutant:
    """Flip a few bits anywhere."""
    seed = good(rng)
    content = bytearray(seed.content)
    for _ in range(int(2 ** rng.uniform(0, 6))):
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    return Mutant(seed.role, seed.suffix, bytes(content))


def spliced(rng: Rng) -> Mutant:
    """Cut a piece out, double it, overwrite it with noise, or put in a piece of another file."""
    seed = good(rng)
    content, other = seed.content, good(rng).content
    low, high = sorted(int(x) for x in rng.integers(0, len(content), 2))
    high = min(high, low + 2000)
    piece = choose(
        rng,
        (b"", content[low:high] * 2, rng.bytes(high - low), other[low:high], bytes(high - low)),
    )
    return Mutant(seed.role, seed.suffix, content[:low] + piece + content[high:])


def miscounted(rng: Rng) -> Mutant:
    """Overwrite fields of the zip's directory, local headers or end record."""
    seed = good(rng, None, ".npz")
    content = bytearray(seed.content)
    for _ in range(int(rng.integers(1, 4))):
        mark = choose(rng, _ZIP)
        places = [i for i in range(len(content)) if content.startswith(mark, i)]
        at = choose(rng, places) + 4 + int(rng.integers(0, 42 if mark != _ZIP[2] else 18))
        width = choose(rng, (1, 2, 4))
        word = choose(rng, _WORDS) & (256**width - 1)
        content[at : at + width] = word.to_bytes(width, "little")
    return Mutant(seed.role, ".npz", bytes(content))


def zipped(*members: tuple[str, bytes], deflated: bool = False) -> bytes:
    """Write members of any name, double ones too."""
    file = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = how
            archive.NameToInfo.pop(name, None)  # what a writer warns of is meant here
            archive.writestr(info, content)
    return file.getvalue()


def members_of(arrays: Arrays) -> list[tuple[str, bytes]]:
    """Return the members that an archive of these arrays has."""
    with zipfile.ZipFile(io.BytesIO(packed(arrays))) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def renamed(rng: Rng) -> Mutant:
    """Double members, drop them, and give them names that try to get out of the archive."""
    role, arrays = archive(rng)
    members = members_of(arrays)
    odd = (
        "../x.npy", "/etc/x.npy", "..\\x.npy", "C:/x.npy", "a/../../x.npy", "x.npy/", ".npy", "npy",
        "part_.npy", "part_../../x.npy", "part_\x1b[2J.npy", "part_[/red].npy", "é.npy", "part",
        "probs.NPY", "probs.npy.npy", "x" * 5000 + ".npy", "part_" + "y" * 60_000 + ".npy",
        "part_<script>.npy", "part_\u202e.npy", " probs.npy", "probs\n.npy", "graph.npy", "pos.npy",
    )  # fmt: skip
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(members)))
        name, content = members[at]
        kind = rng.random()
        if kind < 0.3:
            members.insert(int(rng.integers(len(members))), (name, choose(rng, members)[1]))
        elif kind < 0.5 and len(members) > 1:
            del members[at]
        elif kind < 0.75:
            members[at] = (choose(rng, odd), content)
        else:
            members.append((choose(rng, odd), content))
    return Mutant(role, ".npz", zipped(*members))


def mistaken(rng: Rng) -> Mutant:
    """Give a file of another kind, or one kind's bytes under another's name."""
    seed, probs = good(rng), io.BytesIO()
    np.save(probs, node_arrays()["probs"])
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w:gz") as file:
        file.addfile(tarfile.TarInfo("x"))
    contents = (
        lambda: seed.content,
        probs.getvalue,
        lambda: gzip.compress(seed.content),
        lambda: gzip.compress(bytes(2**24)),
        tar.getvalue,
        lambda: b"",
        lambda: b"\n",
        lambda: b"PK\x05\x06" + bytes(18),
        lambda: b"\xff\xfe" + "prob_0,label\n1,0\n".encode("utf-16-le"),
        lambda: rng.bytes(int(rng.integers(1, 5000))),
        lambda: b"<!doctype html><title>404</title>" * 50,
        lambda: zipped(("readme.txt", b"x")),
        lambda: seed.content + rng.bytes(100),
        lambda: rng.bytes(100) + seed.content,
        lambda: b"PAR1" + rng.bytes(30) + b"PAR1",
    )
    suffixes = (".npz", ".csv", ".tsv", ".txt", ".parquet", ".pq", ".edges", ".npy", ".gz", "", ".")
    return Mutant(seed.role, choose(rng, suffixes), choose(rng, contents)())
