"""Predictions: where every road meets. What made them does not matter, what judges them sees this.

`NodePredictions` hold probabilities of classes, `LinkPredictions` scores of positives and
negatives. Both are frozen and checked on creation; what is wrong is said in one line.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from graphgauge.archive import Blocks, blocks_of, open_npz, write_npz
from graphgauge.arrays import (
    MOST_NODES,
    BoolArray,
    FloatArray,
    IntArray,
    check_pairs,
    floats,
    integers,
    refuse,
    same_length,
)
from graphgauge.errors import InputError
from graphgauge.graph import first_rows, undirected_edges
from graphgauge.parts import check_parts, part_names, parts_from_names

__all__ = ["LinkPredictions", "NodePredictions"]

# Probabilities written with three decimals still pass; logits and scores do not.
_TOLERANCE = 1e-3
_UNCERTAINTIES = ("total", "data", "knowledge")
_MOST_CLASSES = 10_000
_SCORES_AT_A_TIME = 2**20
_MANY = 0.1


@dataclass(frozen=True, eq=False)
class NodePredictions:
    """Probabilities of classes for every node of a graph, with the truth where it is known.

    Parameters
    ----------
    probs
        Probabilities ``[n, C]``: rows sum to one.
    labels
        Class of every node ``[n]``; -1 where unknown.
    parts
        Name to index array (or mask), such as ``train``, ``valid``, ``test``.
    edges
        Pairs of nodes ``[e, 2]`` in any direction, or None.
    uncertainties
        Any of ``total``, ``data`` and ``knowledge`` to an array ``[n]``; larger is less certain.
    alpha
        Dirichlet parameters ``[n, C]``, or None.
    edge_probs
        Joint probability of the classes at both ends of every edge ``[e, C, C]``, or None.
    name
        What to call these predictions.

    Examples
    --------
    >>> predictions = NodePredictions([[0.9, 0.1], [0.2, 0.8]], [0, -1], edges=[[0, 1]])
    >>> predictions.n_nodes, predictions.n_classes, predictions.known.tolist()
    (2, 2, [True, False])
    >>> NodePredictions([[0.9, 0.3]], [0])
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: probs: 1 row does not sum to one (row 0)
    """

    probs: FloatArray
    labels: IntArray
    parts: Mapping[str, IntArray] = field(default_factory=dict)
    edges: IntArray | None = None
    uncertainties: Mapping[str, FloatArray] = field(default_factory=dict)
    alpha: FloatArray | None = None
    edge_probs: FloatArray | None = None
    name: str = ""

    def __post_init__(self) -> None:
        probs = floats("probs", self.probs, ndim=2, finite=False)
        labels = integers("labels", self.labels, ndim=1)
        n = same_length(probs=probs, labels=labels)
        if not n or not probs.shape[1]:
            raise InputError(f"probs: has shape {probs.shape}, nothing to judge")
        if probs.shape[1] > _MOST_CLASSES:
            raise InputError(f"probs: has {probs.shape[1]} classes, more than {_MOST_CLASSES}")
        _check_distributions("probs", probs)
        n_classes = probs.shape[1]
        outside = (labels < -1) | (labels >= n_classes)
        limits = f"outside classes 0..{n_classes - 1}"
        refuse("labels", outside, f"is {limits}", f"are {limits}")
        self._set(probs=probs, labels=labels, parts=check_parts(self.parts, n))
        self._set(uncertainties=MappingProxyType(self._checked_uncertainties()))
        if self.alpha is not None:
            self._set(alpha=self._checked_alpha())
        if self.edges is not None:
            edges = np.asarray(self.edges)
            edges = integers("edges", edges.reshape(-1, 2) if not edges.size else edges, ndim=2)
            check_pairs("edges", edges, n)
            narrow = n <= np.iinfo(np.int32).max
            self._set(edges=edges.astype(np.int32, copy=False) if narrow else edges)
        if self.edge_probs is not None:
            self._set(edge_probs=self._checked_edge_probs())

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.probs)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.probs.shape[1])

    @property
    def known(self) -> BoolArray:
        """Mask of the nodes whose label is known ``[n]``."""
        return np.asarray(self.labels >= 0)

    @cached_property
    def pairs(self) -> IntArray:
        """Unique undirected edges ``u < v`` without loops ``[e, 2]``."""
        return undirected_edges(self._edges(), self.n_nodes)

    @cached_property
    def pair_rows(self) -> IntArray:
        """Row of `edges` in which each of `pairs` was first seen ``[e]``."""
        return first_rows(self._edges(), self.n_nodes)

    def _edges(self) -> IntArray:
        if self.edges is None:
            raise InputError("these predictions carry no edges; add edge_index or give --edges")
        return self.edges

    @cached_property
    def fingerprint(self) -> str:
        """Hash of what is judged against: labels, parts and edges, not the probabilities.

        Two models judged on the same items have the same fingerprint.
        """
        digest = hashlib.sha256(b"graphgauge nodes 1")
        digest.update(self.labels.astype("<i8").tobytes())
        _feed_parts(digest, self.parts)
        if self.edges is not None:
            for block in blocks_of(self.pairs, _SCORES_AT_A_TIME):
                digest.update(block.astype("<i8").tobytes())
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the predictions to an ``.npz`` file."""
        arrays: dict[str, npt.ArrayLike] = {"probs": self.probs, "labels": self.labels}
        if self.parts:
            arrays["part"] = part_names(self.parts, self.n_nodes)
        if self.edges is not None:
            arrays["edge_index"] = self.edges.T
        optional = {**self.uncertainties, "alpha": self.alpha, "edge_probs": self.edge_probs}
        write_npz(path, arrays | {k: v for k, v in optional.items() if v is not None})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> NodePredictions:
        """Read predictions from an ``.npz`` file in the documented format."""
        stored = open_npz(path)
        for key in ("probs", "labels"):
            if key not in stored:
                raise InputError(f"{path}: not predictions for nodes (it lacks {key})")
        arrays = {key: stored[key].read() for key in stored if _is_known(key)}
        edge_index = arrays.get("edge_index")
        if edge_index is not None and (edge_index.ndim != 2 or edge_index.shape[0] != 2):
            raise InputError(f"edge_index: has shape {edge_index.shape}, expected (2, e)")
        return cls(
            arrays["probs"],
            arrays["labels"],
            _read_parts(arrays),
            None if edge_index is None else edge_index.T,
            {key: arrays[key] for key in _UNCERTAINTIES if key in arrays},
            arrays.get("alpha"),
            arrays.get("edge_probs"),
            os.fspath(path),
        )

    def _set(self, **values: object) -> None:
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def _checked_uncertainties(self) -> dict[str, FloatArray]:
        checked = {}
        for key, value in self.uncertainties.items():
            if key not in _UNCERTAINTIES:
                known = ", ".join(_UNCERTAINTIES)
                raise InputError(f"unknown uncertainty {key!r} (expected one of: {known})")
            checked[key] = floats(key, value, ndim=1)
            same_length(**{"probs": self.probs, key: checked[key]})
        return checked

    def _checked_alpha(self) -> FloatArray:
        alpha = floats("alpha", self.alpha, ndim=2)
        if alpha.shape != self.probs.shape:
            raise InputError(f"alpha: has shape {alpha.shape}, probs has {self.probs.shape}")
        refuse("alpha", alpha <= 0, "is not positive", "are not positive")
        return alpha

    def _checked_edge_probs(self) -> FloatArray:
        joint = floats("edge_probs", self.edge_probs, ndim=3, finite=False)
        if self.edges is None:
            raise InputError("edge_probs: given without edge_index")
        expected = (len(self.edges), self.n_classes, self.n_classes)
        if joint.shape != expected:
            raise InputError(f"edge_probs: has shape {joint.shape}, expected {expected}")
        _check_distributions("edge_probs", joint.reshape(len(joint), self.n_classes**2))
        return joint


@dataclass(frozen=True, eq=False)
class LinkPredictions:
    """Scores of positive pairs and of the negatives they are ranked against.

    Parameters
    ----------
    pos
        Score of every positive ``[e]``; larger means a link is more likely.
    neg
        Scores of negatives: ``[e, k]``, for each positive its own, or one shared list ``[m]``.
        May stay on disk (`graphgauge.archive.Blocks`).
    parts
        Name to index array (or mask) over the positives.
    pos_edges, neg_edges
        The pairs behind the scores, ``[e, 2]`` and ``[e, k, 2]`` or ``[m, 2]``, or None.
    name
        What to call these predictions.

    Examples
    --------
    >>> predictions = LinkPredictions([0.9, 0.4], [[0.1, 0.2, 0.3], [0.5, 0.1, 0.0]])
    >>> predictions.shared, predictions.n_negatives
    (False, 3)
    """

    pos: FloatArray
    neg: FloatArray | Blocks
    parts: Mapping[str, IntArray] = field(default_factory=dict)
    pos_edges: IntArray | None = None
    neg_edges: IntArray | None = None
    name: str = ""

    def __post_init__(self) -> None:
        pos = floats("pos", self.pos, ndim=1)
        if not len(pos):
            raise InputError("pos: holds no scores, nothing to judge")
        neg = _checked_negatives(self.neg, len(pos))
        for key, value in (("pos", pos), ("neg", neg)):
            object.__setattr__(self, key, value)
        object.__setattr__(self, "parts", check_parts(self.parts, len(pos)))
        for key, scores in (("pos_edges", pos), ("neg_edges", neg)):
            if getattr(self, key) is not None:
                pairs = integers(key, getattr(self, key), ndim=scores.ndim + 1)
                if pairs.shape != (*scores.shape, 2):
                    raise InputError(
                        f"{key}: has shape {pairs.shape}, expected {(*scores.shape, 2)}"
                    )
                check_pairs(key, pairs, MOST_NODES)
                object.__setattr__(self, key, pairs)

    @property
    def shared(self) -> bool:
        """Whether all positives are ranked against one list."""
        return self.neg.ndim == 1

    @property
    def n_negatives(self) -> int:
        """How many negatives a positive is ranked against."""
        return int(self.neg.shape[-1])

    @cached_property
    def fingerprint(self) -> str:
        """Hash of what is judged against: the pairs where they are known, numbers and parts."""
        digest = hashlib.sha256(b"graphgauge links 1")
        digest.update(np.array([len(self.pos), *self.neg.shape], "<i8").tobytes())
        _feed_parts(digest, self.parts)
        for pairs in (self.pos_edges, self.neg_edges):
            if pairs is not None:
                digest.update(pairs.astype("<i8").tobytes())
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the predictions to an ``.npz`` file."""
        arrays: dict[str, npt.ArrayLike] = {"pos": self.pos, "neg": np.asarray(self.neg)}
        if self.parts:
            arrays["part"] = part_names(self.parts, len(self.pos))
        optional = {"pos_edges": self.pos_edges, "neg_edges": self.neg_edges}
        write_npz(path, arrays | {k: v for k, v in optional.items() if v is not None})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> LinkPredictions:
        """Read predictions from an ``.npz`` file; the negatives' scores stay on disk."""
        stored = open_npz(path)
        for key in ("pos", "neg"):
            if key not in stored:
                raise InputError(f"{path}: not predictions for links (it lacks {key})")
        parts = {k: a.read() for k, a in stored.items() if k == "part" or k.startswith("part_")}
        pairs = {k: stored[k].read() for k in ("pos_edges", "neg_edges") if k in stored}
        scores: dict[str, Any] = {"pos": stored["pos"].read(), "neg": stored["neg"]}
        return cls(**scores, parts=_read_parts(parts), **pairs, name=os.fspath(path))


def _is_known(key: str) -> bool:
    known = ("probs", "labels", "part", "edge_index", "alpha", "edge_probs", *_UNCERTAINTIES)
    return key in known or key.startswith("part_")


def _read_parts(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    """Collect parts from one name an item (``part``) or from index arrays (``part_<name>``)."""
    indexed = {k.removeprefix("part_"): v for k, v in arrays.items() if k.startswith("part_")}
    if "part" in arrays and indexed:
        raise InputError("parts are given twice: as part and as part_<name>")
    return {**parts_from_names(arrays["part"])} if "part" in arrays else indexed


def _feed_parts(digest: Any, parts: Mapping[str, IntArray]) -> None:
    for name in sorted(parts):
        digest.update(name.encode() + b"\0" + np.sort(parts[name]).astype("<i8").tobytes())


def _check_distributions(name: str, rows: FloatArray) -> None:
    """Check that rows are finite, not negative and sum to one."""
    if not len(rows):
        return
    with np.errstate(invalid="ignore", over="ignore"):
        sums = rows.sum(axis=1, dtype=np.float64)
        refuse(name, ~np.isfinite(sums), "is not finite", "are not finite")
        negative = rows.min(axis=1) < 0
        logits = "; if these are logits, apply a softmax" if negative.mean() > _MANY else ""
        refuse(name, negative, f"is negative{logits}", f"are negative{logits}")
    hint = "; give one column for each class" if rows.shape[1] == 1 else ""
    refuse(
        name,
        np.abs(sums - 1) > _TOLERANCE,
        f"does not sum to one{hint}",
        f"do not sum to one{hint}",
    )


def _checked_negatives(value: Any, n_positives: int) -> FloatArray | Blocks:
    if isinstance(value, Blocks) and not isinstance(value, np.ndarray):
        neg: FloatArray | Blocks = value
        if value.ndim not in (1, 2) or value.dtype not in (np.float32, np.float64):
            neg = floats("neg", value, ndim=1 if value.ndim == 1 else 2)
    else:
        array = np.asarray(value) if not hasattr(value, "toarray") else value
        neg = floats("neg", array, ndim=1 if np.ndim(array) == 1 else 2, finite=False)
    if not neg.shape[-1]:
        raise InputError(f"neg: has shape {neg.shape}, no negatives to rank against")
    if neg.ndim == 2 and len(neg) != n_positives:
        raise InputError(f"lengths differ: pos has {n_positives} rows, neg has {len(neg)}")
    _check_scores(neg)
    return neg


def _check_scores(neg: FloatArray | Blocks) -> None:
    rows = max(1, _SCORES_AT_A_TIME // (neg.shape[1] if neg.ndim == 2 else 1))
    masks = [~np.isfinite(b).reshape(len(b), -1).all(axis=1) for b in blocks_of(neg, rows)]
    refuse("neg", np.concatenate(masks), "is not finite", "are not finite")
