"""Positives of link prediction and the negatives each of them is ranked against."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from graphgauge.archive import from_json, open_npz, to_json, whole_number, write_npz
from graphgauge.arrays import IntArray, check_pairs, integers
from graphgauge.errors import InputError

__all__ = ["Candidates"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs of nodes to score.

    Parameters
    ----------
    positives
        Pairs that are edges ``[e, 2]``.
    negatives
        Pairs that are taken for non-edges: ``[e, k, 2]`` for each positive its own, or one shared
        set ``[m, 2]``.
    n_nodes
        How many nodes the pairs are drawn from.
    recipe
        How the negatives were made, and what is known of them, as plain values.

    Examples
    --------
    >>> candidates = Candidates([[0, 1]], [[[0, 2], [0, 3]]], 4)
    >>> candidates.shared, candidates.n_negatives
    (False, 2)
    """

    positives: IntArray
    negatives: IntArray
    n_nodes: int
    recipe: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        positives = integers("positives", self.positives, ndim=2)
        negatives = np.asarray(self.negatives)
        negatives = integers("negatives", negatives, ndim=2 if negatives.ndim == 2 else 3)
        check_pairs("positives", positives, self.n_nodes)
        check_pairs("negatives", negatives, self.n_nodes)
        if negatives.ndim == 3 and len(negatives) != len(positives):
            raise InputError(
                f"lengths differ: positives has {len(positives)} rows, negatives {len(negatives)}"
            )
        object.__setattr__(self, "positives", positives)
        object.__setattr__(self, "negatives", negatives)
        object.__setattr__(self, "recipe", MappingProxyType(dict(self.recipe)))

    @property
    def shared(self) -> bool:
        """Whether all positives are ranked against one set."""
        return self.negatives.ndim == 2

    @property
    def n_negatives(self) -> int:
        """How many negatives a positive is ranked against."""
        return int(self.negatives.shape[-2])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the candidates to an ``.npz`` file."""
        pairs = {"positives": self.positives, "negatives": self.negatives}
        write_npz(path, {**pairs, "n_nodes": self.n_nodes, "recipe": to_json(self.recipe)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Candidates:
        """Read candidates that `save` wrote."""
        arrays = open_npz(path)
        for name in ("positives", "negatives", "n_nodes"):
            if name not in arrays:
                raise InputError(f"{path}: not candidates (it lacks {name})")
        pairs = arrays["positives"].read(), arrays["negatives"].read()
        return cls(*pairs, whole_number(arrays["n_nodes"]), from_json(arrays.get("recipe")))
