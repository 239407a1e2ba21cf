"""Pairs of nodes as whole numbers, so that sets of pairs are sorted arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphgauge.archive import Blocks, blocks_of
from graphgauge.arrays import BoolArray, IntArray

# Keys looked up at a time.
_KEYS = 2**20

__all__ = ["among", "distinct", "pair_keys", "repeated", "tied", "tied_on_disk"]


def pair_keys(pairs: IntArray, n_nodes: int, *, directed: bool = False) -> IntArray:
    """Turn pairs ``[..., 2]`` into numbers; ``(u, v)`` and ``(v, u)`` agree.

    With `directed` they differ in the last bit.

    Examples
    --------
    >>> pairs = np.array([[0, 2], [2, 0], [1, 1]])
    >>> pair_keys(pairs, 3), pair_keys(pairs, 3, directed=True)
    (array([2, 2, 4]), array([4, 5, 8]))
    """
    u, v = pairs[..., 0], pairs[..., 1]
    keys = np.minimum(u, v).astype(np.int64)
    keys *= n_nodes
    keys += np.maximum(u, v)
    if directed:
        keys *= 2
        keys += u > v
    return keys


def distinct(keys: IntArray) -> IntArray:
    """Return the keys that occur, sorted, each once.

    Sorting whole numbers is far faster than NumPy's hash table on millions of them.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3, 2]))
    array([1, 2, 3])
    """
    ordered = np.sort(keys)
    fresh = np.ones(len(ordered), bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    return ordered[fresh]


def repeated(keys: IntArray) -> IntArray:
    """Return the keys that occur more than once, sorted, each once.

    Examples
    --------
    >>> repeated(np.array([3, 1, 3, 2, 3, 1]))
    array([1, 3])
    """
    ordered = np.sort(keys)
    return distinct(ordered[1:][ordered[1:] == ordered[:-1]])


def among(keys: npt.NDArray[Any], table: npt.NDArray[Any]) -> BoolArray:
    """Tell which keys are in a sorted table.

    Keys are searched in ascending order: on large tables ten times faster than at random.

    Examples
    --------
    >>> among(np.array([[5, 1], [2, 9]]), np.array([1, 5, 7]))
    array([[ True,  True],
           [False, False]])
    """
    if not len(table) or not keys.size:
        return np.zeros(keys.shape, bool)
    flat = keys.ravel()
    hits = np.empty(len(flat), bool)
    for start in range(0, len(flat), _KEYS):
        block = flat[start : start + _KEYS]
        order = np.argsort(block)
        hits[start : start + _KEYS][order] = _meet(block[order], table)
    return hits.reshape(keys.shape)


def _meet(keys: npt.NDArray[Any], table: npt.NDArray[Any]) -> BoolArray:
    places = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return np.asarray(table[places] == keys)


def tied_on_disk(values: npt.NDArray[Any] | Blocks, *, most: int = 2**22) -> BoolArray:
    """Mark the values of a list ``[m]`` that occur more than once, some `most` of them at a time.

    Values are sorted range by range; the ranges are cut at values of a sample, and what equals a
    cut is tied as soon as there are two of it, however many there are.

    Examples
    --------
    >>> tied_on_disk(np.array([0.5, 0.1, 0.5, 0.2]), most=2)
    array([ True, False,  True, False])
    """
    step = max(1, len(values) // (64 * max(len(values) // most, 1)))
    sample = np.concatenate([block[::step] for block in blocks_of(values, _KEYS)])
    cuts = np.unique(
        np.quantile(sample, np.linspace(0, 1, len(values) // most + 2), method="lower")
    )
    mask = np.zeros(len(values), bool)
    for low, high in zip(np.append(-np.inf, cuts), np.append(cuts, np.inf), strict=True):
        places, found, equal = [], [], []
        for number, block in enumerate(blocks_of(values, _KEYS)):
            inside = np.flatnonzero((block > low) & (block < high))
            places.append(number * _KEYS + inside)
            found.append(block[inside])
            equal.append(number * _KEYS + np.flatnonzero(block == high))
        mask[np.concatenate(places)] = tied(np.concatenate(found))
        same = np.concatenate(equal)
        mask[same] = len(same) > 1
    return mask


def tied(values: npt.NDArray[Any]) -> BoolArray:
    """Mark the values that occur more than once.

    Examples
    --------
    >>> tied(np.array([0.5, 0.1, 0.5]))
    array([ True, False,  True])
    """
    order = np.argsort(values)
    same = values[order][1:] == values[order][:-1]
    mask = np.zeros(len(values), bool)
    mask[order[1:][same]] = mask[order[:-1][same]] = True
    return mask
