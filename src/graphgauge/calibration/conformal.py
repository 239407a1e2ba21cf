"""Sets of classes that hold the true one with a promised probability: split-conformal prediction.

Every class of every node has a score, larger for what conforms less. The threshold is a quantile of
the true classes' scores on one part; a set holds the classes whose score does not exceed it. If the
nodes of that part and a new one are exchangeable, the set of the new one holds its class with at
least the level's probability, whatever the model.

Where the model sees the whole graph and is not told which node is in which part, nodes chosen at
random are exchangeable, with or without diffusion. A shift between parts, or a part the model was
trained on, breaks it; `PredictionSets.remarks` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isinf
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp
from scipy.stats import betabinom

from graphgauge.arrays import BoolArray, FloatArray, IntArray
from graphgauge.calibration.calibrator import labelled
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.groups import grouping
from graphgauge.predictions import NodePredictions
from graphgauge.roles import Role, role_of

__all__ = ["SCORES", "Conformal", "FittedConformal", "PredictionSets", "SetRow"]

SCORES: Mapping[str, str] = MappingProxyType(
    {
        "plain": "one less the probability of the class",
        "adaptive": "probability of the class and of all that are more probable",
    }
)
"""Scores of a class by name, with what they are."""

_OUTSIDE = ("_out", "_ood")
_TAIL = 0.05


@dataclass(frozen=True, kw_only=True)
class Conformal:
    """A rule for sets of classes.

    Parameters
    ----------
    level
        Promised coverage, between 0 and 1.
    score
        A name in `SCORES`.
    diffusion
        Share λ of a node's scores that is the mean of its neighbours' (DAPS):
        s ← (1 - λ) s + λ mean. Nodes without neighbours keep theirs.
    seed
        For the adaptive score: draw a number u a node, and count the share u of the class's own
        probability, which makes coverage exact rather than at least the level. None counts all.

    References
    ----------
    Vovk, Gammerman and Shafer, Algorithmic Learning in a Random World, 2005; Sadinle, Lei and
    Wasserman, JASA 2019 (plain); Romano, Sesia and Candès, NeurIPS 2020 (adaptive); Zargarbashi,
    Antonelli and Bojchevski, Conformal Prediction Sets for Graph Neural Networks, ICML 2023 (DAPS).

    Examples
    --------
    >>> from graphgauge.datasets import planted
    >>> made = planted(2000, 3)
    >>> predictions = NodePredictions(made.posteriors, made.graph.labels, made.split.parts)
    >>> sets = Conformal(level=0.95).fit(predictions, "valid_in")(predictions)
    >>> row = next(row for row in sets.rows() if row.part == "test_in")
    >>> round(row.coverage, 3), round(row.size, 2)
    (0.945, 1.06)
    >>> sets.remarks()[1]  # doctest: +ELLIPSIS
    'valid_out differs in distribution from valid_in: its nodes are not exchangeable with those ...'
    """

    level: float = 0.9
    score: str = "plain"
    diffusion: float = 0.0
    seed: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(f"level {self.level} is not between 0 and 1")
        if self.score not in SCORES:
            raise InputError(f"score {self.score!r} is not one of: {', '.join(SCORES)}")
        if not 0 <= self.diffusion <= 1:
            raise InputError(f"diffusion {self.diffusion} is not between 0 and 1")
        if self.seed is not None and self.score != "adaptive":
            raise InputError(f"seed: the {self.score} score draws nothing")

    def fit(self, predictions: NodePredictions, part: str) -> FittedConformal:
        """Take the threshold from the labelled nodes of a part.

        It is the ⌈(n + 1) · level⌉-th smallest score of n true classes, or infinite if there are
        not as many.
        """
        index = labelled(predictions, part)
        scores = np.sort(self.scores(predictions)[index, predictions.labels[index]])
        rank = self._rank(len(scores))
        threshold = float(scores[rank - 1]) if rank <= len(scores) else float("inf")
        return FittedConformal(self, part, len(scores), predictions.n_classes, threshold)

    def scores(self, predictions: NodePredictions) -> FloatArray:
        """Score every class of every node ``[n, C]``, larger for what conforms less."""
        probs = predictions.probs.astype(np.float64)
        scores = 1 - probs if self.score == "plain" else _adaptive(probs, self._lots(len(probs)))
        return _diffused(scores, predictions, self.diffusion) if self.diffusion else scores

    def expected(self, n_fitted: int, n: int) -> tuple[float, float]:
        """Return the middle nine tenths of coverages of n nodes exchangeable with those fitted on.

        Two parts are finite, so coverage strays from the level even where all is well. Ties of
        scores only raise it. Reference: Vovk, Conditional validity of inductive conformal
        predictors, 2012.

        Examples
        --------
        >>> Conformal().expected(100, 1000)
        (0.846, 0.947)
        """
        rank = self._rank(n_fitted)
        if rank > n_fitted or not n:
            return 1.0, 1.0
        held = betabinom(n, rank, n_fitted + 1 - rank)
        return float(held.ppf(_TAIL)) / n, float(held.ppf(1 - _TAIL)) / n

    def _rank(self, n: int) -> int:
        # Rounded, since a rank meant to be whole must be met exactly.
        return ceil(round((n + 1) * self.level, 9))

    def _lots(self, n: int) -> FloatArray:
        return np.ones(n) if self.seed is None else np.random.default_rng(self.seed).random(n)


@dataclass(frozen=True)
class FittedConformal:
    """A rule with its threshold.

    Parameters
    ----------
    rule
        What was fitted.
    part, n
        The part it was fitted on, and its number of labelled nodes.
    n_classes
        Classes it was fitted to.
    threshold
        The largest score within a set; infinite if there were too few nodes for the level.
    """

    rule: Conformal
    part: str
    n: int
    n_classes: int
    threshold: float

    def __call__(self, predictions: NodePredictions) -> PredictionSets:
        """Make the set of every node."""
        if predictions.n_classes != self.n_classes:
            raise InputError(
                f"probs: has {predictions.n_classes} classes, sets were fitted to {self.n_classes}"
            )
        members = np.asarray(self.rule.scores(predictions) <= self.threshold)
        return PredictionSets(members, predictions, self)


@dataclass(frozen=True)
class SetRow:
    """How sets did on some nodes.

    Parameters
    ----------
    part, by, group
        Which nodes: those of a part, or if it was asked for, of a group of a grouping within it.
    n
        How many of them have a known label.
    coverage
        Share of these whose set holds their class.
    size
        Mean number of classes in a set.
    empty
        Share of sets that hold nothing.
    low, high
        Between which nine tenths of coverages lie if the nodes are exchangeable with those fitted
        on; None for groups, of which nothing is promised.
    """

    part: str
    by: str
    group: str
    n: int
    coverage: float
    size: float
    empty: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class PredictionSets:
    """A set of classes for every node.

    Parameters
    ----------
    members
        Which classes the sets hold ``[n, C]``.
    predictions
        What they were made from.
    fitted
        What they were made by.
    """

    members: BoolArray
    predictions: NodePredictions
    fitted: FittedConformal

    @property
    def sizes(self) -> IntArray:
        """How many classes each set holds ``[n]``."""
        return np.asarray(self.members.sum(axis=1))

    @property
    def covered(self) -> BoolArray:
        """Whether each set holds the node's class ``[n]``; False where that is unknown."""
        rows = np.arange(len(self.members))
        held = self.members[rows, np.maximum(self.predictions.labels, 0)]
        return np.asarray(held & self.predictions.known)

    def rows(self, groups: Sequence[str] = (), *, graph: Graph | None = None) -> tuple[SetRow, ...]:
        """Tell coverage and size on every part but the one fitted on, and on groups within them.

        Parameters
        ----------
        groups
            Names in `graphgauge.groups.GROUPINGS`.
        graph
            Where edges come from if the predictions carry none.
        """
        found = [grouping(self.predictions, by, graph=graph) for by in groups]
        rows: list[SetRow] = []
        for part in self._others:
            index = self.predictions.parts[part]
            known = index[self.predictions.known[index]]
            ends = self.fitted.rule.expected(self.fitted.n, len(known))
            rows.append(self._row(known, (part, "", ""), ends))
            for by in found:
                rows += [
                    self._row(known[by.codes[known] == code], (part, by.by, name))
                    for code, name in enumerate(by.names)
                ]
        return tuple(row for row in rows if row.n)

    def remarks(self) -> tuple[str, ...]:
        """Say in words where the promise does not hold, and where it says nothing."""
        return tuple(self._remarks())

    @property
    def _others(self) -> list[str]:
        return [part for part in self.predictions.parts if part != self.fitted.part]

    def _row(
        self,
        index: IntArray,
        where: tuple[str, str, str],
        ends: tuple[float | None, float | None] = (None, None),
    ) -> SetRow:
        covered, sizes = self.covered[index], self.sizes[index]
        means = (_mean(covered), _mean(sizes), _mean(sizes == 0))
        return SetRow(*where, len(index), *means, *ends)

    def _remarks(self) -> Iterator[str]:
        part = self.fitted.part
        if isinf(self.fitted.threshold):
            yield (
                f"{part} has too few labelled nodes ({self.fitted.n}) for the level "
                f"{self.fitted.rule.level:g}: every set holds all classes"
            )
        if role_of(part) is Role.TRAIN:
            yield (
                f"{part} is what the model was trained on: its scores are smaller than elsewhere, "
                "so that sets cover less than promised"
            )
        for other in self._others:
            if role_of(other) is Role.TRAIN and role_of(part) is not Role.TRAIN:
                yield (
                    f"{other} is what the model was trained on: coverage there says nothing about "
                    "other nodes"
                )
            elif _differ(part, other):
                yield (
                    f"{other} differs in distribution from {part}: its nodes are not exchangeable "
                    "with those fitted on, and no coverage is promised"
                )


def _adaptive(probs: FloatArray, lots: FloatArray) -> FloatArray:
    """Add up what is more probable, of equals the first, and a share of the class itself."""
    order = np.argsort(-probs, axis=1, kind="stable")
    ranked = np.take_along_axis(probs, order, axis=1)
    above = np.cumsum(ranked, axis=1) - ranked
    scores = np.empty(probs.shape)
    np.put_along_axis(scores, order, above + lots[:, None] * ranked, axis=1)
    return scores


def _diffused(scores: FloatArray, predictions: NodePredictions, share: float) -> FloatArray:
    """Mix every score with the mean over neighbours, each counted once."""
    n, (u, v) = predictions.n_nodes, predictions.pairs.T
    ends = np.concatenate([u, v]), np.concatenate([v, u])
    links = sp.csr_array((np.ones(2 * len(u)), ends), (n, n))
    degrees = np.diff(links.indptr)[:, None]
    mean = (links @ scores) / np.maximum(degrees, 1)
    mixed: FloatArray = np.where(degrees > 0, (1 - share) * scores + share * mean, scores)
    return mixed


def _mean(values: FloatArray | IntArray | BoolArray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _differ(one: str, other: str) -> bool:
    """Tell whether names say that two parts differ in distribution."""
    return one.endswith(_OUTSIDE) != other.endswith(_OUTSIDE)
