"""Calibration by scales and shifts of the logits: one a class, or a whole matrix.

All three minimise a convex function of a matrix ``[W | b]``, by Newton's method with a trust
region. A pull towards leaving the predictions as they are makes the minimum exist, and be one,
where classes can be told apart without error. The papers have none (``decay=0``); from parts of a
hundred nodes, which separate easily, scales without it go to the hundreds, and some nodes elsewhere
are given no chance to be what they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from graphgauge.arrays import BoolArray, FloatArray
from graphgauge.calibration.calibrator import Rowwise, Sample, logits
from graphgauge.errors import InputError

__all__ = ["Affine", "Dirichlet", "Matrix", "Vector"]

_STEPS = 500
_FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class Affine:
    """The map ``softmax(W log p + b)``.

    Parameters
    ----------
    matrix
        W ``[C, C]``.
    shift
        b ``[C]``.
    """

    matrix: FloatArray
    shift: FloatArray

    def __call__(self, probs: FloatArray) -> FloatArray:
        """Map every row ``[n, C]``."""
        mapped: FloatArray = softmax(logits(probs) @ self.matrix.T + self.shift, axis=1)
        return mapped


@dataclass(frozen=True, kw_only=True)
class _Affine(Rowwise):
    """A calibrator that learns an affine map of the logits by maximum likelihood.

    Parameters
    ----------
    decay
        Weight of the squared distance from leaving the predictions as they are.
    """

    decay: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, weight in vars(self).items():
            if weight < 0:
                raise InputError(f"{self.name}: {name} {weight} is below zero")

    def free(self, n_classes: int) -> BoolArray:
        """Tell which entries of ``[W | b]`` are learned ``[C, C + 1]``."""
        return np.ones((n_classes, n_classes + 1), bool)

    def penalty(self, n_classes: int) -> FloatArray:
        """Return the weight of every entry's squared distance from its start ``[C, C + 1]``."""
        return np.full((n_classes, n_classes + 1), float(self.decay))

    def learn(self, sample: Sample) -> Affine:
        """Learn the matrix and the shift."""
        k = sample.n_classes
        found = _minimum(sample, self.free(k), self.penalty(k))
        return Affine(found[:, :k], found[:, k])


class Vector(_Affine):
    """Scale and shift the logits of every class.

    Logits are logarithms of probabilities: those before the softmax, which the paper scales, differ
    by a number a row that probabilities do not tell.
    """

    name: ClassVar[str] = "vector"
    reference: ClassVar[str] = "Guo et al., On Calibration of Modern Neural Networks, ICML 2017"

    def free(self, n_classes: int) -> BoolArray:
        """Learn the diagonal and the shift."""
        free = np.eye(n_classes, n_classes + 1, dtype=bool)
        free[:, -1] = True
        return free


class Matrix(_Affine):
    """Map logits by a whole matrix and a shift: multinomial logistic regression on log p.

    With logarithms for logits, this is Dirichlet calibration without its regularisation.
    """

    name: ClassVar[str] = "matrix"
    reference: ClassVar[str] = "Guo et al., On Calibration of Modern Neural Networks, ICML 2017"


@dataclass(frozen=True, kw_only=True)
class Dirichlet(_Affine):
    """Map logits by a matrix and a shift, off-diagonal entries and shift held small (ODIR).

    The penalty is ``off_diagonal · Σ_{i≠j} W_ij² / (C (C - 1)) + shift · Σ b_j² / C``. The authors
    choose both weights by cross-validation; here they are given.

    Parameters
    ----------
    off_diagonal, shift
        Weights of the penalty.
    """

    off_diagonal: float = 0.01
    shift: float = 0.01

    name: ClassVar[str] = "dirichlet"
    reference: ClassVar[str] = (
        "Kull et al., Beyond temperature scaling, NeurIPS 2019 (arXiv 1910.12656), section 4"
    )

    def penalty(self, n_classes: int) -> FloatArray:
        """Add the weights of ODIR."""
        weights = super().penalty(n_classes)
        pairs = max(n_classes * (n_classes - 1), 1)
        weights[:, :-1] += self.off_diagonal / pairs * (1 - np.eye(n_classes))
        weights[:, -1] += self.shift / n_classes
        return weights


def _minimum(sample: Sample, free: BoolArray, penalty: FloatArray) -> FloatArray:
    """Minimise NLL plus penalty over the free entries of ``[W | b]``, from the identity."""
    start = np.eye(*free.shape)
    logs = logits(sample.probs)
    points = np.column_stack([logs, np.ones(len(logs))])

    def whole(entries: FloatArray, rest: FloatArray) -> FloatArray:
        full = rest.copy()
        full[free] = entries
        return full

    def slope(entries: FloatArray) -> tuple[float, FloatArray]:
        matrix = whole(entries, start)
        value, gradient = _nll(points @ matrix.T, points, sample)
        away = matrix - start
        return value + float((penalty * away**2).sum()), (gradient + 2 * penalty * away)[free]

    def bend(entries: FloatArray, along: FloatArray) -> FloatArray:
        step = whole(along, np.zeros(free.shape))
        mapped = points @ whole(entries, start).T
        return (_bend(mapped, points @ step.T, points, sample) + 2 * penalty * step)[free]

    return whole(_solved(slope, bend, start[free]), start)


def _solved(
    slope: Callable[[FloatArray], tuple[float, FloatArray]],
    bend: Callable[[FloatArray, FloatArray], FloatArray],
    start: FloatArray,
) -> FloatArray:
    options = {"gtol": _FLAT, "maxiter": _STEPS}
    found = minimize(slope, start, jac=True, hessp=bend, method="trust-ncg", options=options)
    solution: FloatArray = found.x
    return solution


def _nll(mapped: FloatArray, points: FloatArray, sample: Sample) -> tuple[float, FloatArray]:
    """Return the NLL of logits, and its gradient by the matrix that made them."""
    rows = np.arange(len(mapped))
    logs = log_softmax(mapped, axis=1)
    excess = np.exp(logs)
    excess[rows, sample.labels] -= 1
    excess *= sample.weights[:, None]
    return float(-sample.weights @ logs[rows, sample.labels]), excess.T @ points


def _bend(mapped: FloatArray, moved: FloatArray, points: FloatArray, sample: Sample) -> FloatArray:
    """Return the Hessian of the NLL times a step of the matrix, which moves logits by `moved`."""
    probs = softmax(mapped, axis=1)
    turned = probs * (moved - np.einsum("ij,ij->i", probs, moved)[:, None])
    turned *= sample.weights[:, None]
    product: FloatArray = turned.T @ points
    return product
