"""Small files of every family, as their publishers would have written them."""

from __future__ import annotations

import collections
import gzip
import pickle
from pathlib import Path

import numpy as np
import scipy.sparse as sp

__all__ = ["planetoid", "python2", "zipped_table"]


def python2(value: object) -> bytes:
    """Pickle as Python 2 did: its names of modules, and of SciPy's old ones."""
    old = pickle.dumps(value, protocol=2)
    names = {
        b"cscipy.sparse._csr\ncsr_matrix": b"cscipy.sparse.csr\ncsr_matrix",
        b"cnumpy._core.multiarray\n": b"cnumpy.core.multiarray\n",
    }
    for new, name in names.items():
        old = old.replace(new, name)
    return old


def planetoid(folder: Path, key: str, rng: np.random.Generator) -> dict[str, object]:
    """Write the files of a graph of 12 nodes, of which node 9 is missing; return what they say."""
    folder.mkdir(parents=True, exist_ok=True)
    n_known, test = 7, np.array([10, 8, 11, 7])
    words = rng.integers(0, 2, (n_known + len(test), 5)).astype(np.float32)
    classes = rng.integers(0, 3, len(words))
    one_hot = np.eye(3, dtype=np.int32)[classes]
    links = collections.defaultdict(list)
    for u, v in rng.integers(0, 12, (20, 2)):
        links[int(u)].append(int(v))
        links[int(v)].append(int(u))
    links[9] = []
    pieces = {
        "allx": sp.csr_matrix(words[:n_known]),
        "tx": sp.csr_matrix(words[n_known:]),
        "ally": one_hot[:n_known],
        "ty": one_hot[n_known:],
        "graph": links,
    }
    for piece, value in pieces.items():
        (folder / f"ind.{key}.{piece}").write_bytes(python2(value))
    (folder / f"ind.{key}.test.index").write_text("".join(f"{i}\n" for i in test))
    return {"words": words, "classes": classes, "links": dict(links), "test": test}


def zipped_table(path: Path, rows: object) -> None:
    """Write a table as OGB does: values between commas, deflated."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(",".join(map(str, np.atleast_1d(row))) for row in rows) + "\n"
    path.write_bytes(gzip.compress(text.encode()))
