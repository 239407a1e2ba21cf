"""Nodes that are copies of each other: same features, same neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from graphgauge.arrays import BoolArray, IntArray
from graphgauge.audit.keys import tied

__all__ = ["copies"]

_Words = npt.NDArray[np.uint64]
_ODD = np.uint64(0x9E3779B97F4A7C15)
_ENTRIES_AT_A_TIME = 2**22


def copies(features: Any, pairs: IntArray, nodes: IntArray, part: IntArray) -> IntArray:
    """Return those of `nodes` that have a copy in another part.

    Two nodes are copies if their features are the same and so are their neighbours, each other
    left out where they are linked. Rows are compared by a 64-bit hash of the features and one of
    the neighbours, so the cost is linear in entries and edges.

    Parameters
    ----------
    features
        One row a node ``[n, d]``, dense or sparse.
    pairs
        Unique edges ``[e, 2]``.
    nodes
        Nodes to look at.
    part
        Part of every node ``[n]``, as a number.
    """
    names = _scramble(np.arange(len(part), dtype=np.uint64))
    others = _sum_neighbours(names, pairs)[nodes]
    # Copies that are linked differ in their neighbours by each other, so they join in themselves.
    circles = others + names[nodes]
    candidates = [tied(others), tied(circles)]
    hashes = np.zeros(len(nodes), np.uint64)
    either = candidates[0] | candidates[1]
    hashes[either] = _hash_rows(features, nodes[either])
    crossing = np.zeros(len(nodes), bool)
    for words, mask in zip((others, circles), candidates, strict=True):
        at = np.flatnonzero(mask)
        crossing[at] |= _spans_parts(words[at], hashes[at], part[nodes[at]])
    return nodes[crossing]


def _scramble(words: _Words) -> _Words:
    """Mix the bits of words so that sums of them do not collide (the finaliser of SplitMix64)."""
    words = (words + np.uint64(1)) * _ODD
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _sum_neighbours(words: _Words, pairs: IntArray) -> _Words:
    """Sum the neighbours' words, modulo 2^64."""
    sums = np.zeros(len(words), np.uint64)
    np.add.at(sums, pairs[:, 0], words[pairs[:, 1]])
    np.add.at(sums, pairs[:, 1], words[pairs[:, 0]])
    return sums


def _hash_rows(features: Any, nodes: IntArray) -> _Words:
    """Hash rows of features; equal numbers give equal hashes in any format and precision."""
    hashes = np.empty(len(nodes), np.uint64)
    height = max(1, _ENTRIES_AT_A_TIME // max(1, features.shape[1]))
    if sp.issparse(features):
        height = max(1, _ENTRIES_AT_A_TIME // max(1, features.nnz // max(1, features.shape[0])))
    for start in range(0, len(nodes), height):
        rows = slice(start, start + height)
        block = sp.csr_array(features[nodes[rows]])
        block.eliminate_zeros()
        bits = block.data.astype(np.float64).view(np.uint64)
        words = _scramble(bits ^ _scramble(block.indices.astype(np.uint64)))
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words, dtype=np.uint64)])
        hashes[rows] = sums[block.indptr[1:]] - sums[block.indptr[:-1]]
    return hashes


def _spans_parts(words: _Words, rows: _Words, part: IntArray) -> BoolArray:
    """Mark items whose group, those of equal words and rows, lies in more than one part."""
    order = np.lexsort((part, rows, words))
    words, rows, part = words[order], rows[order], part[order]
    fresh = np.ones(len(order), bool)
    fresh[1:] = (words[1:] != words[:-1]) | (rows[1:] != rows[:-1])
    starts = np.flatnonzero(fresh)
    group = np.cumsum(fresh) - 1
    ends = np.append(starts[1:], len(order)) - 1 if len(order) else starts
    mixed = part[starts] != part[ends]
    mask = np.zeros(len(order), bool)
    mask[order] = mixed[group]
    return mask
