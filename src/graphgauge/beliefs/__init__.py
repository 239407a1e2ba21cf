"""Loopy belief propagation: what the nodes of a pairwise model are labelled, each and by pairs.

A model scores every node alone and every edge by the labels of its two ends. Sum-product gives
marginals of nodes and edges and an estimate of the partition function, exact on trees; max-product
gives max-marginals and the best score.

Reference: *A Graph Is More Than Its Nodes* (Hsu, Shen and Cremers 2022, arXiv 2210.15575), where
this is what the edge marginals of EPFGNN are meant to come from.

Logits of a path, along which neighbours tend to agree, and one label that is known; what comes of
them is judged on edges by their joint marginals.

>>> import graphgauge as gg
>>> logits, path = [[2.0, 0.0], [0.5, 0.0], [0.0, 0.5], [0.0, 1.0]], [[0, 1], [1, 2], [2, 3]]
>>> model = gg.PairwiseModel(logits, path, 1.5 * np.eye(2), clamped=[0, -1, -1, -1])
>>> beliefs = gg.propagate_beliefs(model)
>>> beliefs.nodes.round(2).tolist(), beliefs.converged
([[1.0, 0.0], [0.79, 0.21], [0.49, 0.51], [0.34, 0.66]], True)
>>> predictions = gg.NodePredictions(
...     beliefs.nodes, [0, 0, 1, 1], edges=path, edge_probs=beliefs.edges()
... )
>>> card = gg.score(predictions, gg.Options(n_draws=0, n_resamples=0))
>>> round(card.find("nll").value, 3), round(card.find("edge_nll").value, 3)
(0.33, 0.708)
"""

from __future__ import annotations

from graphgauge.beliefs.model import PairwiseModel
from graphgauge.beliefs.propagate import Beliefs, propagate_beliefs, published_beliefs

__all__ = ["Beliefs", "PairwiseModel", "propagate_beliefs", "published_beliefs"]
