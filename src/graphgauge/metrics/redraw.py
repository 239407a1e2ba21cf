"""Labels redrawn from a model's own probabilities: the truth as it would have it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from graphgauge.arrays import FloatArray, IntArray, refuse

__all__ = ["Codes", "column_widths", "draw_codes", "draw_labels", "row_blocks"]

Codes: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]

# A block of draws stays within a processor's second cache; the drawn labels of all nodes come in
# blocks of columns of at most this many bytes.
_BLOCK = 1 << 17
_MOST_ROWS = 8192
_COLUMN_BYTES = 1 << 26
_FEWEST_COLUMNS = 8


def draw_labels(probs: FloatArray, n_draws: int, rng: np.random.Generator) -> Codes:
    """Draw labels ``[n, D]``, each from its own row of probabilities ``[n, C]``.

    Rows are taken relative to their sum. A class of probability zero is never drawn.

    Examples
    --------
    >>> draw_labels(np.array([[0.0, 1.0], [1.0, 0.0]]), 3, np.random.default_rng(0))
    array([[1, 1, 1],
           [0, 0, 0]], dtype=uint8)
    """
    labels = np.empty((len(probs), n_draws), _smallest(probs.shape[1] - 1))
    for rows in row_blocks(len(probs), n_draws):
        labels[rows] = _draw_block(probs[rows], n_draws, rng, rows.start).T
    return labels


def draw_codes(
    probs: FloatArray,
    index: IntArray | None,
    predicted: IntArray,
    n_draws: int,
    rng: np.random.Generator,
) -> Codes:
    """Draw labels of the nodes at `index` as ``2 * label + (label == predicted)``, ``[n, D]``.

    One number a node and draw then tells whether the prediction was right and whether two nodes
    agree: an edge gathers each of its ends once.
    """
    codes = np.empty((len(predicted), n_draws), _smallest(2 * probs.shape[1] - 1))
    for rows in row_blocks(len(predicted), n_draws):
        block = probs[rows] if index is None else probs[index[rows]]
        label = _draw_block(block, n_draws, rng, rows.start).astype(codes.dtype, copy=False)
        codes[rows] = (2 * label + (label == predicted[rows])).T
    return codes


def row_blocks(n_rows: int, n_draws: int) -> Iterator[slice]:
    """Cut rows of draws into blocks that stay in cache."""
    step = min(max(_BLOCK // max(n_draws, 1), 1), _MOST_ROWS)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def column_widths(n_rows: int, n_draws: int, n_classes: int) -> list[int]:
    """Split draws into column blocks whose codes fit into 64 MB, and at least 8 columns wide.

    Examples
    --------
    >>> column_widths(1_000_000, 200, 40), column_widths(1000, 200, 40)
    ([67, 67, 66], [200])
    """
    row_bytes = n_rows * _smallest(2 * n_classes - 1).itemsize
    widest = max(_COLUMN_BYTES // max(row_bytes, 1), _FEWEST_COLUMNS)
    n_blocks = -(-n_draws // widest)
    return [len(block) for block in np.array_split(np.arange(n_draws), n_blocks)]


def _draw_block(block: FloatArray, n_draws: int, rng: np.random.Generator, first_row: int) -> Codes:
    """Labels ``[D, r]``: how many cumulated probabilities each random number has reached."""
    # One contiguous row a class: the loop below runs over it once for every draw.
    reached = np.cumsum(np.ascontiguousarray(block.T), axis=0)
    total = reached[-1]
    empty = ~(total > 0)
    if empty.any():
        rows = np.append(np.zeros(first_row, bool), empty)
        refuse("probs", rows, "sums to nothing", "sum to nothing")
    # A random number below one times the total stays below the total in floating point too, so
    # that the last class of positive probability is the last one drawn.
    uniform = rng.random((n_draws, len(block)), dtype=block.dtype)
    uniform *= total
    label = np.zeros(uniform.shape, _smallest(block.shape[1] - 1))
    passed = np.empty(uniform.shape, bool)
    for bound in reached[:-1]:
        np.greater_equal(uniform, bound, out=passed)
        label += passed.view(np.uint8)
    return label


def _smallest(largest: int) -> np.dtype[np.unsignedinteger[Any]]:
    return np.min_scalar_type(max(largest, 0))
