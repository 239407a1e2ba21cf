"""Damage to what archives hold: types, shapes, values, metadata of graphs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from hostile.containers import Rng, archive, choose
from hostile.seeds import Mutant, graph_arrays, packed

_SPECIALS = (
    np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 5e-324, -5e-324, 1e-310, 1e-45, 1e300, -1e300,
    1.7976931348623157e308, -1.7976931348623157e308, 3.4e38, 2.0**53, 2.0**63, 2.0**64, 1 + 1e-9,
    0.5, 1e16, 1e-300,
)  # fmt: skip


WHOLES = (
    -1, -2, 0, 1, 2, 3, 29, 30, 31, 1000, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1,
    -(2**63), -(2**31),
)  # fmt: skip


def retyped(rng: Rng) -> Mutant:
    """Store one array or two with another type."""
    role, arrays = archive(rng)
    for _ in range(int(rng.integers(1, 3))):
        key = choose(rng, list(arrays))
        arrays[key] = _retyped(rng, arrays[key])
    return Mutant(role, ".npz", packed(arrays, deflated=bool(rng.random() < 0.5)))


def _retyped(rng: Rng, value: Any) -> Any:
    types = (
        "<f2", ">f2", "<f4", ">f4", ">f8", "<g", "<c8", "<c16", "<G", "?", "i1", "u1", "<i2",
        ">i2", "<u4",
        ">u4", "<i8", ">i8", "<u8", ">u8", "<U3", ">U3", "<U32", "S3", "S32", "O", "V8", "M8[s]",
        "m8[D]", "M8", "f8,i4", "<U1",
    )  # fmt: skip
    kind = choose(rng, types)
    try:
        with np.errstate(all="ignore"):
            return value.astype(kind)
    except (TypeError, ValueError):
        return np.zeros(value.shape, kind)


def reshaped(rng: Rng) -> Mutant:
    """Give one array or two another shape."""
    role, arrays = archive(rng)
    for _ in range(int(rng.integers(1, 3))):
        key = choose(rng, list(arrays))
        arrays[key] = _reshaped(rng, arrays[key])
    return Mutant(role, ".npz", packed(arrays))


def _reshaped(rng: Rng, value: Any) -> Any:
    shapes = (
        lambda: value.T,
        value.ravel,
        lambda: value[None],
        lambda: value[..., None],
        lambda: value[:0],
        lambda: value[..., :0],
        lambda: value[:1],
        lambda: value[..., :1],
        lambda: value[:-1],
        lambda: value[..., :-1],
        lambda: np.concatenate([value, value]),
        lambda: np.concatenate([value, value[:1]]),
        lambda: np.repeat(value, 2, axis=-1),
        lambda: value.ravel()[0],
        lambda: value.reshape((1,) * 20 + value.shape),
        lambda: np.zeros((0, 0, 0)),
        lambda: np.zeros((1, 0)),
        lambda: np.asfortranarray(value),
        lambda: np.zeros(int(rng.integers(0, 100))),
        lambda: np.zeros((int(rng.integers(0, 9)), int(rng.integers(0, 9)))),
        lambda: np.zeros((2, 20_000)),
        lambda: np.zeros((20_000, 2)),
    )
    try:
        return np.asarray(choose(rng, shapes)())
    except (ValueError, IndexError):
        return np.zeros(3)


def revalued(rng: Rng) -> Mutant:
    """Put special values into one array or two, in a few places or in all."""
    role, arrays = archive(rng)
    for _ in range(int(rng.integers(1, 3))):
        key = choose(rng, list(arrays))
        arrays[key] = _revalued(rng, arrays[key])
    return Mutant(role, ".npz", packed(arrays))


def _revalued(rng: Rng, value: Any) -> Any:
    if value.dtype.kind not in "iuf":
        return value
    value = np.array(value, ndmin=1).copy()
    flat = value.reshape(-1)
    n = int(choose(rng, (1, 1, 3, len(flat) // 2, len(flat))))
    at = rng.choice(len(flat), min(n, len(flat)), replace=False)
    if value.dtype.kind == "f":
        drawn = [choose(rng, _SPECIALS) for _ in range(int(rng.integers(1, 4)))]
        with np.errstate(all="ignore"):
            flat[at] = rng.choice(np.array(drawn).astype(value.dtype), len(at))
        return value
    flat[at] = rng.choice([choose(rng, WHOLES) for _ in range(int(rng.integers(1, 4)))], len(at))
    return value if rng.random() < 0.7 else value.astype(np.float64)


def mixed(rng: Rng) -> Mutant:
    """Take arrays from one archive into another, under their own or other names."""
    role, arrays = archive(rng)
    _, other = archive(rng)
    for _ in range(int(rng.integers(1, 5))):
        kind = rng.random()
        if kind < 0.4:
            key = choose(rng, list(other))
            arrays[key] = other[key]
        elif kind < 0.7:
            arrays[choose(rng, list(arrays))] = other[choose(rng, list(other))]
        elif len(arrays) > 1:
            del arrays[choose(rng, list(arrays))]
    return Mutant(role, ".npz", packed(arrays))


def strange_graph(rng: Rng) -> Mutant:
    """Damage what makes a saved graph: numbers of nodes and columns, places of entries."""
    arrays = dict(graph_arrays(dense=bool(rng.random() < 0.3)))
    for _ in range(int(rng.integers(1, 3))):
        key = choose(rng, list(arrays))
        if key in ("n_nodes", "adjacency_columns", "features_columns"):
            arrays[key] = np.array(choose(rng, (*WHOLES, 2**28, 2**33, 1.5, np.nan, "30", b"5")))
        elif key == "graph":
            arrays[key] = _metadata(rng)
        else:
            arrays[key] = choose(rng, (_retyped, _reshaped, _revalued))(rng, arrays[key])
    return Mutant("edges", ".npz", packed(arrays))


def _metadata(rng: Rng) -> Any:
    deep = int(choose(rng, (100, 900, 5000, 200_000)))
    texts = (
        "", "{", "null", "[]", "1e999", "NaN", '"' + "x" * 1000, "{}" * 100, "[" * deep,
        '{"a":' * deep,
        '{"name": ' + "[" * deep + "]" * deep + "}", '{"steps": ' + "[" * deep + "]" * deep + "}",
        '{"name": ' + "9" * 5000 + "}", '{"steps": "abc", "name": {"a": [1]}}', '{"steps": 7}',
        '{"name": "\\ud800"}', '{"name": "\\u001b[2J"}', json.dumps({"steps": list(range(50_000))}),
        '{"name": "' + "[/]" * 1000 + '"}', "\ud800", "{\0}", '{"a":1, "a":2}', " " * 100_000,
    )  # fmt: skip
    text = choose(rng, texts)
    words = np.array(text)
    wild = np.array([0x7FFFFFFF, 0xFFFFFFFF, 0xD800], "<u4").view("<U3")
    return choose(
        rng, (words, words, words, words[None], np.array(text.encode("utf-8", "replace")), wild[0],
        wild)
    )  # fmt: skip
