"""Messages as numbers or as logarithms: how they are made, scaled, compared and damped.

All arrays have labels first and edges last, so that a few long rows are worked on rather than many
short ones. Where edges share a coupling, its table has one edge.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from graphgauge.arrays import FloatArray

__all__ = ["Logarithms", "Maxima", "Messages", "Weights"]


class Messages(Protocol):
    """What a round does with messages ``[C, 2, k]`` or, of one direction, ``[C, k]``."""

    even: float
    """A label's value where all are alike."""

    lasting: int
    """Rounds that messages may go unscaled."""

    def of_logs(self, logs: FloatArray) -> FloatArray:
        """Return the values of logarithms."""

    def logs(self, values: FloatArray) -> FloatArray:
        """Return the logarithms of values."""

    def less(self, held: FloatArray, arrived: FloatArray) -> None:
        """Take what arrived out of what a node holds."""

    def send(self, table: FloatArray, leaving: FloatArray, out: FloatArray) -> None:
        """Write what arrives when this leaves ends to which the table's rows belong.

        Tables are ``[C, C, 1 or k]``; for both directions alike, ``[C, C, 1, 1 or k]``.
        """

    def total(self, arriving: FloatArray, leaving: FloatArray) -> FloatArray:
        """Bring both ends of edges together over all labels: logarithms ``[k]``."""

    def scale(self, messages: FloatArray) -> None:
        """Give the best label of every message the value that stands for one."""

    def damp(self, fresh: FloatArray, old: FloatArray, kept: float) -> None:
        """Let messages keep a share of their old logarithms."""

    def change(self, fresh: FloatArray, old: FloatArray) -> float:
        """Return the largest change of a message: of the logarithm of two labels' ratio."""


class Weights:
    """Numbers, whose sums are products of matrices.

    Examples
    --------
    >>> out, table = np.empty((2, 1)), np.array([[[1.0], [2.0]], [[3.0], [4.0]]])
    >>> Weights().send(table, np.array([[1.0], [10.0]]), out)
    >>> out.ravel()
    array([31., 42.])
    """

    even = 1.0
    lasting = 1

    def of_logs(self, logs: FloatArray) -> FloatArray:
        """Take exponentials."""
        return np.asarray(np.exp(logs))

    def logs(self, values: FloatArray) -> FloatArray:
        """Take logarithms."""
        return np.asarray(np.log(values))

    def less(self, held: FloatArray, arrived: FloatArray) -> None:
        """Divide."""
        held /= arrived

    def send(self, table: FloatArray, leaving: FloatArray, out: FloatArray) -> None:
        """Sum over the labels of the sender: ``out[b] = Σ_a table[a, b] · leaving[a]``."""
        if table.shape[-1] == 1:
            matrix = table.reshape(table.shape[:2]).T
            np.matmul(matrix, leaving.swapaxes(0, -2), out=out.swapaxes(0, -2))
        else:
            np.einsum("ab...,a...->b...", table, leaving, out=out)

    def total(self, arriving: FloatArray, leaving: FloatArray) -> FloatArray:
        """Sum over the labels of the receiver too."""
        return np.asarray(np.log(np.einsum("be,be->e", arriving, leaving)))

    def scale(self, messages: FloatArray) -> None:
        """Divide by the largest."""
        messages /= messages.max(axis=0)

    def damp(self, fresh: FloatArray, old: FloatArray, kept: float) -> None:
        """Take the weighted geometric mean."""
        fresh *= (old / fresh) ** kept

    def change(self, fresh: FloatArray, old: FloatArray) -> float:
        """Compare by quotients."""
        quotients = fresh / old
        spans = quotients.max(axis=0) / quotients.min(axis=0)
        return float(np.log(spans.max(initial=1)))


class Maxima:
    """Logarithms of which the largest is taken.

    Examples
    --------
    >>> out, table = np.empty((2, 1)), np.array([[[1.0], [2.0]], [[3.0], [4.0]]])
    >>> Maxima().send(table, np.array([[1.0], [10.0]]), out)
    >>> out.ravel()
    array([13., 14.])
    """

    even = 0.0
    lasting = 8

    def of_logs(self, logs: FloatArray) -> FloatArray:
        """Leave them."""
        return logs

    def logs(self, values: FloatArray) -> FloatArray:
        """Leave them."""
        return values

    def less(self, held: FloatArray, arrived: FloatArray) -> None:
        """Subtract."""
        held -= arrived

    def send(self, table: FloatArray, leaving: FloatArray, out: FloatArray) -> None:
        """Take the best label of the sender: ``out[b] = max_a table[a, b] + leaving[a]``."""
        with_label = np.empty_like(out)
        np.add(table[0], leaving[0], out=out)
        for pairs, label in zip(table[1:], leaving[1:], strict=True):
            np.add(pairs, label, out=with_label)
            np.maximum(out, with_label, out=out)

    def total(self, arriving: FloatArray, leaving: FloatArray) -> FloatArray:
        """Take the best label of the receiver too."""
        return np.asarray((arriving + leaving).max(axis=0))

    def scale(self, messages: FloatArray) -> None:
        """Subtract the largest, unless all is impossible."""
        tops = messages.max(axis=0)
        messages -= np.where(tops > -np.inf, tops, 0)

    def damp(self, fresh: FloatArray, old: FloatArray, kept: float) -> None:
        """Take the weighted mean."""
        fresh *= 1 - kept
        fresh += kept * old

    def change(self, fresh: FloatArray, old: FloatArray) -> float:
        """Compare by differences; what stays impossible has none."""
        with np.errstate(invalid="ignore"):
            differences = fresh - old
            spans = np.fmax.reduce(differences, axis=0) - np.fmin.reduce(differences, axis=0)
        return float(np.fmax.reduce(spans, axis=None, initial=0))


class Logarithms(Maxima):
    """Logarithms of which the exponentials are summed.

    Examples
    --------
    >>> out, table = np.empty((2, 1)), np.array([[[0.0], [1.0]], [[-2000.0], [-np.inf]]])
    >>> Logarithms().send(table, np.array([[-3000.0], [-1000.0]]), out)
    >>> out.ravel()
    array([-2999.30685282, -2999.        ])
    """

    def send(self, table: FloatArray, leaving: FloatArray, out: FloatArray) -> None:
        """Sum over the labels of the sender, less the best of them."""
        super().send(table, leaving, out)
        tops = np.where(np.isneginf(out), 0, out)
        with_label = np.empty_like(out)
        out[...] = 0
        for pairs, label in zip(table, leaving, strict=True):
            np.add(pairs, label, out=with_label)
            with_label -= tops
            out += np.exp(with_label, out=with_label)
        np.log(out, out=out)
        out += tops

    def total(self, arriving: FloatArray, leaving: FloatArray) -> FloatArray:
        """Sum over the labels of the receiver too."""
        return np.asarray(np.logaddexp.reduce(arriving + leaving, axis=0))
