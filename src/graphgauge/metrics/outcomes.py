"""What a prediction said and what happened, one row an item: all that most metrics need.

A node's outcome comes from its probabilities and label, an edge's from the outcomes of its two
ends (or from a joint edge marginal). Every metric on outcomes then serves nodes and edges alike,
and nothing of size edges x classes x classes is ever made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphgauge.arrays import BoolArray, FloatArray, IntArray

__all__ = ["Outcomes"]

# Rows worked on at a time: a block of 40 double columns stays within a processor's cache.
_BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Predictions met by the truth, item by item.

    Parameters
    ----------
    confidence
        Probability of the predicted class (or pair of classes) ``[m]``.
    correct
        Whether the prediction was right ``[m]``.
    truth
        Probability given to what happened ``[m]``.
    squares
        Sum of the squared probabilities ``[m]``.
    weights
        Weight of every item ``[m]``, or None for equal weights.

    Examples
    --------
    >>> outcomes = Outcomes.of_nodes(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    >>> outcomes.confidence, outcomes.correct
    (array([0.9, 0.6]), array([ True, False]))
    """

    confidence: FloatArray
    correct: BoolArray
    truth: FloatArray
    squares: FloatArray
    weights: FloatArray | None = None

    def __len__(self) -> int:
        """Count the items."""
        return len(self.confidence)

    @classmethod
    def of_nodes(
        cls, probs: FloatArray, labels: IntArray, weights: FloatArray | None = None
    ) -> Outcomes:
        """Meet node probabilities ``[n, C]`` with labels ``[n]``; ties go to the first class."""
        n = len(probs)
        confidence = np.empty(n, probs.dtype)
        truth, squares = np.empty(n), np.empty(n)
        correct = np.empty(n, bool)
        for start in range(0, n, _BLOCK):
            rows = slice(start, min(start + _BLOCK, n))
            block, label = probs[rows], labels[rows]
            index = np.arange(len(block))
            predicted = block.argmax(axis=1)
            confidence[rows] = block[index, predicted]
            correct[rows] = predicted == label
            truth[rows] = block[index, label]
            squares[rows] = np.einsum("ij,ij->i", block, block, dtype=np.float64)
        return cls(confidence, correct, truth, squares, weights)

    def ends(self, edges: IntArray, weights: FloatArray | None = None) -> Outcomes:
        """Outcomes of edges ``[e, 2]`` from the product of their ends' probabilities.

        The most probable pair under a product is the pair of most probable classes, so its
        confidence is the product of theirs, and so are truth and squares.
        """
        n = len(edges)
        confidence, truth, squares = np.empty(n), np.empty(n), np.empty(n)
        correct = np.empty(n, bool)
        for start in range(0, n, _BLOCK):
            rows = slice(start, start + _BLOCK)
            u, v = edges[rows, 0], edges[rows, 1]
            confidence[rows] = self.confidence[u]
            confidence[rows] *= self.confidence[v]
            correct[rows] = self.correct[u] & self.correct[v]
            truth[rows] = self.truth[u] * self.truth[v]
            squares[rows] = self.squares[u] * self.squares[v]
        return Outcomes(confidence, correct, truth, squares, weights)

    def take(self, index: IntArray | BoolArray) -> Outcomes:
        """Keep the items at `index` (numbers or a mask)."""
        weights = None if self.weights is None else self.weights[index]
        return Outcomes(
            self.confidence[index],
            self.correct[index],
            self.truth[index],
            self.squares[index],
            weights,
        )

    def weighted(self, weights: FloatArray | None) -> Outcomes:
        """Give the items other weights."""
        return Outcomes(self.confidence, self.correct, self.truth, self.squares, weights)

    def balanced(self, labels: IntArray) -> Outcomes:
        """Divide every item's weight by that of its class, so that classes count alike."""
        weights = np.ones(len(self)) if self.weights is None else self.weights
        sizes = np.bincount(labels, weights)[labels] if len(labels) else np.ones(0)
        return self.weighted(np.divide(weights, sizes, out=np.zeros(len(self)), where=sizes > 0))
