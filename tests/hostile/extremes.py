"""What passes every check and is extreme all the same: probabilities, doubts, graphs, crowds."""

from __future__ import annotations

from typing import Any

import numpy as np

from hostile.containers import Rng, choose
from hostile.contents import WHOLES
from hostile.seeds import (
    Arrays,
    Mutant,
    bare_arrays,
    graph_arrays,
    link_arrays,
    node_arrays,
    packed,
)


def strange_probs(rng: Rng) -> Mutant:
    """Give probabilities that pass every check and are extreme all the same."""
    arrays = dict(choose(rng, (node_arrays(), bare_arrays())))
    n, c = len(arrays["probs"]), int(choose(rng, (1, 2, 3, 3, 3, 3, 40, 600)))
    made = (
        lambda: np.eye(c)[rng.integers(0, c, n)],
        lambda: np.full((n, c), 1 / c),
        lambda: rng.dirichlet(np.full(c, 1e-3 if c < 100 else 1e-1), n),
        lambda: rng.dirichlet(np.ones(c), n) * (1 + rng.choice([9e-4, -9e-4, 0], (n, 1))),
        lambda: np.eye(c)[rng.integers(0, c, n)] * (1 + 9.9e-4),
        lambda: np.where(np.eye(c)[rng.integers(0, c, n)] > 0, 1.0, choose(rng, (-0.0, 5e-324,
        1e-300))),
        lambda: np.tile(rng.dirichlet(np.ones(c)), (n, 1)),
        lambda: rng.multinomial(3, np.full(c, 1 / c), n) / 3,
    )  # fmt: skip
    arrays["probs"] = choose(rng, made)().astype(choose(rng, ("f2", "f4", "f8", "g")))
    arrays["labels"] = np.minimum(arrays["labels"], c - 1)
    if c != 3:
        for key in ("alpha", "edge_probs"):
            arrays.pop(key, None)
    return Mutant("nodes", ".npz", packed(arrays))


def strange_doubt(rng: Rng) -> Mutant:
    """Give extreme uncertainties, evidence and joint probabilities."""
    arrays = dict(node_arrays())
    n = len(arrays["labels"])
    made = (
        lambda: np.zeros(n),
        lambda: np.full(n, choose(rng, (1e300, -1e308, 5e-324, -0.0, 1e16))),
        lambda: rng.choice([1e308, -1e308], n),
        lambda: rng.choice([1.7e308, 0.0], n),
        lambda: rng.choice([5e-324, 0.0, -5e-324], n),
        lambda: rng.choice([3.4e38, -3.4e38], n).astype(np.float32),
        lambda: 1e16 + rng.integers(0, 3, n),
        lambda: rng.integers(0, 2, n).astype(choose(rng, ("?", "u1", "i8", "f2"))),
        lambda: np.where(np.arange(n) == 0, 1e300, 1.0),
        lambda: np.ldexp(1.0, rng.integers(-1074, 1023, n)),
    )
    for key in rng.choice(["total", "data", "knowledge"], int(rng.integers(1, 4)), replace=False):
        arrays[key] = choose(rng, made)()
    if rng.random() < 0.4:
        for key in ("total", "data", "knowledge"):
            arrays.pop(key)
        scale = choose(rng, (1e300, 1.7e308, 1e-300, 5e-324, 1e16, 1.0))
        shape = arrays["alpha"].shape
        alpha = choose(rng, (np.full(shape, scale), rng.choice([scale, 1.0], shape)))
        arrays["alpha"] = alpha.astype(choose(rng, ("f8", "g")))
    if rng.random() < 0.3:
        joint = np.zeros(arrays["edge_probs"].shape)
        joint[:, 0, choose(rng, (0, 1))] = choose(rng, (1.0, 1.0009, 0.9991))
        arrays["edge_probs"] = joint
    return Mutant("nodes", ".npz", packed(arrays))


def degenerate(rng: Rng) -> Mutant:
    """Leave hardly anything to judge: no labels, one class, one node, no edges, tiny parts."""
    arrays = dict(choose(rng, (node_arrays(), bare_arrays())))
    for _ in range(int(rng.integers(1, 4))):
        choose(rng, _DEGENERATE)(rng, arrays)
    return Mutant("nodes", ".npz", packed(arrays))


def _few(rng: Rng, arrays: Arrays) -> None:
    n = int(choose(rng, (1, 2, 3)))
    for key in ("probs", "labels", "part", "total", "data", "knowledge", "alpha"):
        if key in arrays:
            arrays[key] = arrays[key][:n]
    for key in ("edge_index", "edge_probs"):
        arrays.pop(key, None)
    for key in [key for key in arrays if key.startswith("part_")]:
        arrays[key] = np.minimum(np.arange(1), n - 1)
    if rng.random() < 0.5:
        arrays["edge_index"] = np.zeros((2, int(rng.integers(0, 3))), np.int64)


def _labels(rng: Rng, arrays: Arrays) -> None:
    n = len(arrays["labels"])
    made: Any = choose(
        rng,
        (
            np.full(n, -1),
            np.zeros(n, np.int64),
            np.where(np.arange(n) == 5, 1, -1),
            np.where(np.arange(n) % 2, np.nan, 1.0),
            np.zeros(n, bool),
            arrays["probs"].argmax(axis=1),
            arrays["probs"].argmin(axis=1),
            arrays["labels"].astype(">f8"),
            np.where(np.arange(n) % 4 == 2, -1, 0),
        ),
    )
    arrays["labels"] = made


def _edges(rng: Rng, arrays: Arrays) -> None:
    n = len(arrays["labels"])
    loops = np.tile(np.arange(n), (2, 1))
    one = np.array([[0], [n - 1]])
    star = np.stack([np.zeros(n, np.int64), np.arange(n)])
    whole = np.stack(np.meshgrid(np.arange(n), np.arange(n))).reshape(2, -1)
    empty = np.zeros((2, 0), np.int64)
    arrays["edge_index"] = choose(rng, (loops, one, star, whole, empty, np.repeat(one, 50, axis=1)))
    arrays.pop("edge_probs", None)


def _parts(rng: Rng, arrays: Arrays) -> None:
    n = len(arrays["labels"])
    for key in [key for key in arrays if key.startswith("part")]:
        del arrays[key]
    names = choose(
        rng,
        (
            np.array([f"test_{i}" for i in range(n)]),
            np.full(n, "train"),
            np.full(n, ""),
            np.where(np.arange(n) == 0, "test_in", "test_out"),
            np.where(np.arange(n) % 2, "test_id", "test_ood"),
            np.where(np.arange(n) % 2, "test", "test_in"),
            np.array(["valid", "test_in", "test_out"])[np.arange(n) % 3],
            np.where(np.arange(n) == 0, b"test", b"\xff"),
        ),
    )
    arrays["part"] = names


_DEGENERATE = (_few, _labels, _edges, _parts)


def thin_links(rng: Rng) -> Mutant:
    """Give extreme scores, few links, and pairs of strange nodes."""
    arrays = dict(link_arrays(shared=bool(rng.random() < 0.5)))
    shape = arrays["neg"].shape
    for _ in range(int(rng.integers(1, 4))):
        kind = int(rng.integers(6))
        if kind == 0:
            arrays["neg"] = np.full(shape, choose(rng, (0.0, 1e308, -1e308, 5e-324)))
        elif kind == 1:
            arrays["pos"] = rng.choice([1e308, -1e308, 0.0, -0.0], len(arrays["pos"]))
        elif kind == 2:
            arrays["neg"] = arrays["neg"].astype(choose(rng, ("f2", "f4", ">f4", "g", "i4", "?")))
        elif kind == 3:
            key = choose(rng, [key for key in arrays if key.endswith("_edges")])
            big = choose(rng, WHOLES)
            arrays[key] = np.where(rng.random(arrays[key].shape) < 0.2, big, arrays[key])
        elif kind == 4:
            arrays["neg"] = np.asfortranarray(arrays["neg"][..., :1])
            arrays.pop("neg_edges", None)
        else:
            for key in ("pos", "pos_edges", "part"):
                arrays[key] = arrays[key][:1]
    return Mutant("links", ".npz", packed(arrays))


def crowded(rng: Rng) -> Mutant:
    """Give thousands of parts, classes, or columns of features."""
    kind = int(rng.integers(4))
    if kind == 0:
        n = int(choose(rng, (300, 3000, 40_000)))
        probs = np.full((n, 2), 0.5)
        names = np.array([f"p{i}" for i in range(n)])
        arrays: Arrays = {"probs": probs, "labels": np.zeros(n, np.int8), "part": names}
        return Mutant("nodes", ".npz", packed(arrays))
    if kind == 1:
        n = int(choose(rng, (200, 900)))
        spread = {f"part_{i}": np.array([i]) for i in range(n)}
        return Mutant("links", ".npz", packed({"pos": np.zeros(n), "neg": np.zeros(5), **spread}))
    if kind == 2:
        c = int(choose(rng, (500, 2000, 100_000)))
        probs = np.full((3, c), 1 / c)
        return Mutant(
            "nodes", ".npz", packed({"probs": probs, "labels": np.arange(3)}, deflated=True)
        )
    arrays = dict(graph_arrays(dense=True))
    arrays["features"] = np.zeros((30, 20_000), choose(rng, ("?", "f4")))
    arrays["features"][::3] = 1
    return Mutant("edges", ".npz", packed(arrays, deflated=True))
