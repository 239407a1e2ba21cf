"""Uncertainty split by its source: what the data leave open, and what the model does not know.

All entropies are in nats. Whatever the model gives (softmax, ensemble, Dirichlet), larger means
less certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import digamma, entr

from graphgauge.arrays import BoolArray, FloatArray, floats
from graphgauge.errors import InputError, name_rows

__all__ = ["Uncertainty"]

# Rows worked on at a time, so that the memory in use does not grow with the graph.
_BLOCK = 8192
# How far a row of probabilities may sum from one: softmax in half precision strays this far.
_TOLERANCE = 1e-3
# From here on the expansion below is exact to double precision.
_LARGE = 32.0


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Total uncertainty and its two sources, one number an item each.

    Parameters
    ----------
    total
        Entropy of the mean prediction ``[n]``.
    data
        What remains if the model were known: label noise and overlap of classes ``[n]``.
    knowledge
        What the model does not know; the score to detect shifted items with ``[n]``.

    References
    ----------
    Malinin and Gales, Predictive Uncertainty Estimation via Prior Networks, NeurIPS 2018.

    Examples
    --------
    >>> u = Uncertainty.from_ensemble([[[1.0, 0.0]], [[0.0, 1.0]]])
    >>> u.total, u.data, u.knowledge
    (array([0.69314718]), array([0.]), array([0.69314718]))
    """

    total: FloatArray
    data: FloatArray
    knowledge: FloatArray

    @classmethod
    def from_softmax(cls, probs: object) -> Uncertainty:
        """Take the entropy of probabilities ``[n, C]`` for all three: one softmax cannot tell.

        Examples
        --------
        >>> Uncertainty.from_softmax([[0.5, 0.5], [1.0, 0.0]]).total
        array([0.69314718, 0.        ])
        """
        entropy = _entropy(_probabilities("probs", probs))
        return cls(entropy, entropy, entropy)

    @classmethod
    def from_ensemble(cls, members: Iterable[object]) -> Uncertainty:
        """Split the entropy of an ensemble's mean by how much its members disagree.

        Total is the entropy of the mean, data the mean of the entropies, knowledge their
        difference: the mutual information of label and member. Members are read one at a time.

        Parameters
        ----------
        members
            Probabilities ``[n, C]`` of every member: an array ``[m, n, C]``, a sequence, or a
            generator.

        References
        ----------
        Lakshminarayanan, Pritzel and Blundell, Simple and Scalable Predictive Uncertainty
        Estimation using Deep Ensembles, NeurIPS 2017; Malinin and Gales, NeurIPS 2018.

        Examples
        --------
        >>> member = np.array([[0.9, 0.1]])
        >>> float(Uncertainty.from_ensemble([member, member]).knowledge[0])
        0.0
        """
        n_members = 0
        for member in members:
            name = f"members[{n_members}]"
            probs = _probabilities(name, member)
            if not n_members:
                mean, data = np.zeros(probs.shape), np.zeros(len(probs))
            elif probs.shape != mean.shape:
                raise InputError(f"{name}: has shape {probs.shape}, members[0] {mean.shape}")
            mean += probs
            data += _entropy(probs)
            n_members += 1
        if not n_members:
            raise InputError("members: there are none")
        mean /= n_members
        total = _entropy(mean)
        # Entropy is concave, so data exceeds total by rounding at most.
        data = np.minimum(data / n_members, total)
        return cls(total, data, total - data)

    @classmethod
    def from_dirichlet(
        cls,
        alpha: object,
        *,
        knowledge: Literal["mutual_information", "evidence"] = "mutual_information",
    ) -> Uncertainty:
        """Split the entropy of a Dirichlet's mean.

        With α0 = Σ α_k and ᾱ = α / α0, total is H[ᾱ], data the expected entropy
        Σ ᾱ_k (ψ(α0 + 1) − ψ(α_k + 1)), and knowledge their difference, the mutual information of
        label and probabilities. The information is summed without the cancellation of that
        difference, so it still orders items whose evidence is very large. An ensemble of
        Dirichlets is one of their summed α.

        Parameters
        ----------
        alpha
            Parameters ``[n, C]``, all above zero.
        knowledge
            ``mutual_information``, or ``evidence`` for −α0. The two papers differ in it, and the
            two scores order items differently.

        References
        ----------
        Malinin and Gales, NeurIPS 2018, equations 10 and 11 (mutual information); Revisiting
        Uncertainty Estimation for Node Classification, section 4.2 (evidence).

        Examples
        --------
        >>> u = Uncertainty.from_dirichlet([[1.0, 1.0], [100.0, 100.0]])
        >>> u.total, u.knowledge.round(4)
        (array([0.69314718, 0.69314718]), array([0.1931, 0.0025]))
        >>> Uncertainty.from_dirichlet([[1.0, 1.0]], knowledge="evidence").knowledge
        array([-2.])
        """
        if knowledge not in ("mutual_information", "evidence"):
            raise InputError(f"knowledge: {knowledge!r} is not mutual_information or evidence")
        array = floats("alpha", alpha, ndim=2)
        _refuse_rows("alpha", array <= 0, "not above zero")
        with np.errstate(over="ignore"):
            evidence = array.sum(axis=1, dtype=np.float64)
        _refuse_rows("alpha", np.isinf(evidence), "too large to sum")
        total, information = np.empty(len(array)), np.empty(len(array))
        for rows in _blocks(len(array)):
            block = array[rows].astype(np.float64)
            mean = block / evidence[rows, None]
            total[rows] = entr(mean).sum(axis=1)
            information[rows] = _information(block, mean, evidence[rows])
        information = np.minimum(information, total)
        known = information if knowledge == "mutual_information" else -evidence
        return cls(total, total - information, known)


def _probabilities(name: str, value: object) -> FloatArray:
    array = floats(name, value, ndim=2)
    _refuse_rows(name, array < 0, "below zero")
    sums = array.sum(axis=1, dtype=np.float64)
    _refuse_rows(name, np.abs(sums - 1) > _TOLERANCE, "not summing to one")
    return array


def _refuse_rows(name: str, bad: BoolArray, what: str) -> None:
    if bad.any():
        raise InputError(f"{name}: {what} ({name_rows(np.unique(bad.nonzero()[0]))})")


def _entropy(probs: FloatArray) -> FloatArray:
    """Entropy of every row, in double precision; 0·log 0 is 0."""
    entropy = np.empty(len(probs))
    for rows in _blocks(len(probs)):
        entropy[rows] = entr(probs[rows].astype(np.float64)).sum(axis=1)
    return entropy


def _information(alpha: FloatArray, mean: FloatArray, evidence: FloatArray) -> FloatArray:
    """Mutual information Σ ᾱ_k (g(α_k) − g(α0)), every term of which is positive."""
    g = _digamma_less_log(evidence)
    terms = _digamma_less_log(alpha) - g[:, None]
    information: FloatArray = np.einsum("ij,ij->i", mean, np.maximum(terms, 0.0))
    return information


def _digamma_less_log(x: FloatArray) -> FloatArray:
    """g(x) = ψ(x + 1) − log x: for large x by its expansion, where the difference cancels."""
    large = x >= _LARGE
    r = 1.0 / np.where(large, x, _LARGE)
    s = r * r
    g: FloatArray = r * (1 / 2 - r * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s / 240))))
    small = x[~large]
    g[~large] = digamma(small + 1.0) - np.log(small)
    return g


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK))
