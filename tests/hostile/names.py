"""Names that a terminal, a page or a program might obey, and paths that are no ordinary files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hostile.containers import Rng, choose
from hostile.seeds import Mutant, good_files, link_arrays, node_arrays, packed

NAMES = (
    "[red]", "[/]", "[/red]", "[bold]x[/bold]", "[link=http://x.org]y[/link]", "[", "]", "\\[",
    "a\\", ":smile:", ":warning:", "\x1b[2J\x1b[31mred", "\x1b]0;title\x07", "\x9b31m",
    "\x07\x08\x7f", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "&lt;", "\"'><b>",
    "</title>", "{{ 7*7 }}", "{% for %}", "%s%n", "${x}", "\u202eevil", "\u2066x\u2069", "\u200b",
    "\ufeff", "a\nb", "\r", "\t", " ", "  test  ", "test\0", "test\0x", "\ud800", "\udcff\udcfe",
    "\ufffe",
    "\U0010ffff", "é" * 50, "e" + "\u0301" * 500, "漢字" * 30, "👩‍👩‍👧‍👦", "x" * 200,
    "x" * 5000, "x y " * 2000, "test|", "a|b", "test_in|test_out", "test", "train", "", "-1", "0",
    "None",
    "nan", "../x", "=1+1", "part_", "all",
)  # fmt: skip


def strange_names(rng: Rng) -> Mutant:
    """Name parts so that a terminal, a page or a program might obey them."""
    odd = [choose(rng, NAMES) for _ in range(3)]
    role, full = choose(rng, (("nodes", node_arrays()), ("links", link_arrays())))
    arrays = {key: value for key, value in full.items() if not key.startswith("part")}
    n = len(arrays.get("labels", arrays.get("pos", ())))
    starts = choose(rng, (("test", "test", "train"), ("test_in", "test_out", ""), ("", "", "")))
    names = [start + name for start, name in zip(starts, odd, strict=True)]
    if rng.random() < 0.6:
        arrays["part"] = np.array(names)[np.arange(n) % 3]
    else:
        for k, name in enumerate(dict.fromkeys(names)):
            stored = name.encode("utf-8", "replace").decode().replace("\0", "")
            arrays[f"part_{stored}"] = np.arange(k, n, 3)
    if rng.random() < 0.15:
        wild = np.array([0x7FFFFFFF, 0xFFFFFFFF, 0xD800], "<u4").view("<U3")
        arrays = {k: v for k, v in arrays.items() if not k.startswith("part")}
        arrays["part"] = np.repeat(wild, n)
    return Mutant(role, ".npz", packed(arrays))


_SUFFIXES = (".npz", ".csv", ".tsv", ".txt", ".parquet", ".edges", "")


def odd_names(rng: Rng) -> Mutant:
    """Call a good file by a name that a terminal, a page or a program might obey."""
    role = choose(rng, ("nodes", "nodes", "links", "edges"))
    suffix, content = choose(rng, good_files()[role])
    content = content[: choose(rng, (None, None, None, 200, 0))]
    named = [name.encode("utf-8", "replace") for name in NAMES]
    stem = choose(rng, (*named, b"x" * 240, b"\xff", b"a\x80b", b"-", b"--help", b".", b"..."))
    stem = stem.replace(b"/", b"").replace(b"\0", b"")[:240] or b"x"
    return Mutant(role, suffix, content, os.fsdecode(stem))


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _nowhere(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def _link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


PLACES: tuple[Callable[[Path], object], ...] = (
    _folder,
    _loop,
    _nowhere,
    os.mkfifo,
    lambda path: None,
    lambda path: path.touch(mode=0),
    *map(
        _link, ("/dev/null", "/dev/zero", "/dev/full", "/proc/self/mem", "/proc/self/environ", "/")
    ),
)


def odd_place(rng: Rng) -> Mutant:
    """Choose a role and a suffix for a path that is no ordinary file."""
    return Mutant(choose(rng, ("nodes", "links", "edges")), choose(rng, _SUFFIXES), b"")
