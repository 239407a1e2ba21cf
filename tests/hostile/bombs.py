"""Very much in very little: zeros deflated, members that overlap, archives within archives."""

from __future__ import annotations

import struct
import zlib
from functools import cache

import numpy as np

from hostile.containers import Rng, choose, members_of
from hostile.headers import header, npy
from hostile.seeds import Arrays, Mutant, archives, packed


@cache
def _zeros(size: int) -> tuple[bytes, int]:
    """Deflate zeros without ever holding them; also their checksum."""
    coder, crc, block, parts = zlib.compressobj(9, zlib.DEFLATED, -15), 0, bytes(2**20), []
    for start in range(0, size, len(block)):
        piece = block[: size - start]
        crc = zlib.crc32(piece, crc)
        parts.append(coder.compress(piece))
    return b"".join((*parts, coder.flush())), crc


def _deflated(head: bytes, size: int) -> tuple[bytes, int]:
    """Deflate a head, stored as it is, and zeros after it."""
    squeezed, _ = _zeros(size)
    stored = b"\0" + struct.pack("<HH", len(head), len(head) ^ 0xFFFF) + head
    crc = zlib.crc32(head)
    for start in range(0, size, 2**20):
        crc = zlib.crc32(bytes(min(2**20, size - start)), crc)
    return stored + squeezed, crc


def raw_zip(members: list[tuple[str, bytes, int, int]], *, overlap: bool = False) -> bytes:
    """Write deflated members given as name, deflated bytes, checksum and size.

    With `overlap` all directory entries point at the first member's bytes.
    """
    body, central = bytearray(), bytearray()
    for name, data, crc, size in members:
        raw, offset = name.encode(), 0 if overlap else len(body)
        fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(data), size, len(raw), 0)
        if not (overlap and body):
            body += b"PK\x03\x04" + fields + raw + data
        central += b"PK\x01\x02" + struct.pack("<H", 20) + fields
        central += struct.pack("<HHHII", 0, 0, 0, 0, offset) + raw
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(central), len(body), 0)
    return bytes(body + central + b"PK\x05\x06" + end)


_BOMB_TARGETS = (
    ("nodes", "probs", 2), ("nodes", "labels", 1), ("nodes", "part", 1), ("nodes", "part_test", 1),
    ("nodes", "total", 1), ("nodes", "edge_index", 2), ("nodes", "edge_probs", 3),
    ("nodes", "alpha", 2), ("links", "pos", 1), ("links", "neg", 1), ("links", "neg", 2),
    ("links", "neg_edges", 3), ("edges", "edge_index", 2), ("edges", "graph", 0),
    ("edges", "adjacency", 2), ("edges", "features", 2), ("edges", "features_data", 1),
)  # fmt: skip


def bomb(rng: Rng) -> Mutant:
    """Deflate a huge array of zeros, labelled rightly or not, beside good ones or alone."""
    role, key, ndim = choose(rng, _BOMB_TARGETS)
    size = int(choose(rng, (2**22, 30 * 2**20, 63 * 2**20, 100 * 2**20, 250 * 2**20)))
    size = size if rng.random() < 0.15 else min(size, 63 * 2**20)
    descr = choose(rng, ("|b1", "|i1", "<f4", "<f8", "<i8", "<f2", "<U4", "|S1", "<U1000"))
    n = size // np.dtype(descr).itemsize
    side = {0: (), 1: (n,), 2: choose(rng, ((n // 2, 2), (2, n // 2), (n // 64, 64), (1, n)))}
    shape = side.get(ndim, (n // 4, 2, 2))
    if ndim == 0:
        descr, shape = f"<U{size // 4}", ()
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(descr).itemsize
    head = npy(header(shape, descr))
    told = len(head) + size if rng.random() < 0.8 else int(choose(rng, (100, 2**32 - 1, 0)))
    others = dict(next(a for r, a in archives() if r == role and (key in a or ndim != 3)))
    others.pop(key, None)
    members = [] if rng.random() < 0.3 else members_of(others)
    entries = [(name, *_squeezed(content)) for name, content in members]
    entries.append((f"{key}.npy", *_deflated(head, size), told))
    return Mutant(role, ".npz", raw_zip(entries))


def _squeezed(content: bytes) -> tuple[bytes, int, int]:
    coder = zlib.compressobj(6, zlib.DEFLATED, -15)
    return coder.compress(content) + coder.flush(), zlib.crc32(content), len(content)


def swarm(rng: Rng) -> Mutant:
    """Hold very many members, overlapping ones, or archives within archives."""
    head = npy(header("(1000, 1000)", "<f8"))
    data, crc = _deflated(head, 8_000_000)
    names = [f"part_{i}.npy" for i in range(int(choose(rng, (2, 50, 900, 5000))))]
    kind = int(rng.integers(4))
    if kind == 0:
        entries = [(name, data, crc, len(head) + 8_000_000) for name in names]
        return Mutant("nodes", ".npz", raw_zip(entries, overlap=True))
    if kind == 1:
        small = _squeezed(npy(header("(1,)", "<i8"), bytes(8)))
        entries = [("probs.npy", *small), *((name, *small) for name in names)]
        return Mutant(choose(rng, ("nodes", "edges")), ".npz", raw_zip(entries))
    inner = raw_zip([("probs.npy", data, crc, len(head) + 8_000_000)])
    for _ in range(int(rng.integers(1, 20))):
        inner = raw_zip([(choose(rng, ("probs.npy", "x.npz")), *_squeezed(inner))])
    return Mutant("nodes", ".npz", inner)


def legal(rng: Rng) -> Mutant:
    """Give very much that is in order, and takes next to nothing on disk."""
    n = int(2 ** rng.uniform(13, 22))
    zeros = np.zeros(n, choose(rng, ("?", "i1", "f2", "f8")))
    if rng.random() < 0.5:
        probs = np.zeros((n, int(choose(rng, (1, 1, 2)))), choose(rng, ("u1", "f4")))
        probs[:, 0] = 1
        made: Arrays = {"probs": probs, "labels": zeros}
        if rng.random() < 0.3:
            made["edge_index"] = np.zeros((2, n), np.int8)
        return Mutant("nodes", ".npz", packed(made, deflated=True))
    k = int(choose(rng, (1, 1, 2, 100)))
    shape = choose(rng, ((max(n // k, 1), k), (k,)))
    made = {"pos": zeros[: max(n // k, 1)], "neg": np.zeros(shape, np.float32)}
    if rng.random() < 0.5:
        made["neg_edges"] = np.zeros((*shape, 2), np.int8)
    return Mutant("links", ".npz", packed(made, deflated=True))
