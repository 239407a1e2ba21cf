"""Ensembles: predictions of members made into one. They are not trained; members are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from graphgauge.arrays import FloatArray
from graphgauge.errors import InputError
from graphgauge.predictions import NodePredictions
from graphgauge.uncertainty import Uncertainty

__all__ = ["COMBINATIONS", "combine"]

COMBINATIONS = ("mean-softmax", "sum-alpha")


def combine(
    kind: str, members: Sequence[NodePredictions], *, protocol: str = "corrected"
) -> NodePredictions:
    """Make one prediction of those of members.

    Parameters
    ----------
    kind
        ``mean-softmax``: deep ensemble, the mean of probabilities; knowledge is the mutual
        information of label and member. ``sum-alpha``: members are Dirichlets.
    members
        Predictions of the same nodes.
    protocol
        For ``sum-alpha``: ``published`` sums the parameters, so that the prior of one for each
        class counts once a member, and takes −α0 for knowledge. ``corrected`` averages what the
        members have seen and counts the prior once; knowledge is what it is for the members.

    References
    ----------
    Lakshminarayanan, Pritzel and Blundell, NeurIPS 2017; Revisiting Uncertainty Estimation,
    section 4.3.

    Examples
    --------
    >>> members = [NodePredictions([[0.75, 0.25]], [0], alpha=[[3.0, 1.0]]),
    ...            NodePredictions([[0.5, 0.5]], [0], alpha=[[2.0, 2.0]])]
    >>> combine("mean-softmax", members).probs
    array([[0.625, 0.375]])
    >>> combine("sum-alpha", members).alpha
    array([[2.5, 1.5]])
    >>> combine("sum-alpha", members, protocol="published").alpha
    array([[5., 3.]])
    """
    if kind not in COMBINATIONS:
        raise InputError(f"unknown ensemble {kind!r} (expected one of: {', '.join(COMBINATIONS)})")
    if protocol not in ("corrected", "published"):
        raise InputError(f"protocol: {protocol!r} is not one of: corrected, published")
    _check(members)
    if kind == "mean-softmax":
        probs: FloatArray = np.mean([member.probs for member in members], axis=0, dtype=np.float64)
        found = Uncertainty.from_ensemble(member.probs for member in members)
        return _made(members, probs, found, None)
    alpha = _summed(members) if protocol == "published" else 1 + _mean_evidence(members)
    score: Literal["mutual_information", "evidence"] = "mutual_information"
    if protocol == "published" or _scores_evidence(members):
        score = "evidence"
    probs = alpha / alpha.sum(axis=1, keepdims=True)
    return _made(members, probs, Uncertainty.from_dirichlet(alpha, knowledge=score), alpha)


def _check(members: Sequence[NodePredictions]) -> None:
    if not members:
        raise InputError("members: there are none")
    for number, member in enumerate(members):
        if member.probs.shape != members[0].probs.shape:
            shapes = f"{member.probs.shape}, members[0] {members[0].probs.shape}"
            raise InputError(f"members[{number}]: has shape {shapes}")
        if not np.array_equal(member.labels, members[0].labels):
            raise InputError(f"members[{number}]: labels differ from those of members[0]")


def _alphas(members: Sequence[NodePredictions]) -> list[FloatArray]:
    for number, member in enumerate(members):
        if member.alpha is None:
            raise InputError(f"members[{number}]: carries no alpha")
    return [member.alpha.astype(np.float64) for member in members if member.alpha is not None]


def _summed(members: Sequence[NodePredictions]) -> FloatArray:
    total: FloatArray = np.sum(_alphas(members), axis=0)
    return total


def _mean_evidence(members: Sequence[NodePredictions]) -> FloatArray:
    return _summed(members) / len(members) - 1


def _scores_evidence(members: Sequence[NodePredictions]) -> bool:
    """Tell whether members take −α0 for knowledge: mutual information is never below zero."""
    known = [member.uncertainties.get("knowledge") for member in members]
    return all(score is not None and bool((score < 0).all()) for score in known)


def _made(
    members: Sequence[NodePredictions],
    probs: FloatArray,
    found: Uncertainty,
    alpha: FloatArray | None,
) -> NodePredictions:
    first = members[0]
    uncertainties = {"total": found.total, "data": found.data, "knowledge": found.knowledge}
    return NodePredictions(
        probs, first.labels, first.parts, first.edges, uncertainties, alpha, name="ensemble"
    )
