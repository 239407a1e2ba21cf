"""Belief propagation, plain: all messages at once, in logarithms, summing or maximising."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.special import log_softmax, logsumexp

from graphgauge.arrays import FloatArray, IntArray

__all__ = ["Beliefs", "propagate"]

# By how much messages, in logarithms, may differ and still count as unchanged.
_STILL = 1e-12


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Logarithms of beliefs about nodes ``[n, C]`` and edges ``[e, C, C]``, not normalised."""

    nodes: FloatArray
    edges: FloatArray


def propagate(
    scores: FloatArray,
    coupling: FloatArray,
    strengths: FloatArray,
    pairs: IntArray,
    *,
    largest: bool = False,
    n_steps: int = 100,
) -> Beliefs:
    """Pass messages along all edges, there and back, until none changes or steps run out.

    Parameters
    ----------
    scores
        Of every node and class ``[n, C]``; minus infinity for what cannot be.
    coupling, strengths
        An edge has the score strength × coupling ``[C, C]``, which is symmetric.
    pairs
        Both ends of every edge ``[e, 2]``.
    largest
        Whether to maximise over the other end, which gives max-marginals, or to sum.
    n_steps
        How many at most.

    References
    ----------
    Murphy, Weiss and Jordan, Loopy Belief Propagation for Approximate Inference, UAI 1999.

    Examples
    --------
    >>> scores = np.log([[0.5, 0.5], [0.9, 0.1]])
    >>> coupling = np.log([[2.0, 1.0], [1.0, 2.0]])
    >>> found = propagate(scores, coupling, np.ones(1), np.array([[0, 1]]))
    >>> np.exp(log_softmax(found.nodes[0])).round(4)  # 2 · 0.9 + 0.1 to 0.9 + 2 · 0.1
    array([0.6333, 0.3667])
    """
    source = np.concatenate([pairs[:, 0], pairs[:, 1]])
    other = np.roll(np.arange(len(source)), len(pairs))  # the same edge, the other way
    arrivals = (np.ones(len(source), scores.dtype), source[other], np.arange(len(source) + 1))
    to_nodes = sp.csr_array(arrivals, (len(source), len(scores))).T.tocsr()
    tables = np.tile(strengths[:, None, None] * coupling, (2, 1, 1)).astype(scores.dtype)

    def arriving(sent: FloatArray) -> FloatArray:
        whole = tables + sent[:, :, None]
        found: FloatArray = whole.max(axis=1) if largest else logsumexp(whole, axis=1)
        return found

    sent = np.zeros((len(source), scores.shape[1]), scores.dtype)
    for _ in range(n_steps):
        received = arriving(sent)
        before = sent
        sent = log_softmax((scores + to_nodes @ received)[source] - received[other], axis=1)
        if np.allclose(before, sent, rtol=0, atol=_STILL):
            break
    halves = sent[: len(pairs), :, None] + sent[len(pairs) :, None, :]
    return Beliefs(scores + to_nodes @ arriving(sent), tables[: len(pairs)] + halves)
