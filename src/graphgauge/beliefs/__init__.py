"""Loopy belief propagation: what the nodes of a pairwise model are labelled, each and by pairs.

A model scores every node alone and every edge by the labels of its two ends. Sum-product gives
marginals of nodes and edges and an estimate of the partition function, exact on trees; max-product
gives max-marginals and the best score.

Reference: *A Graph Is More Than Its Nodes* (Hsu, Shen and Cremers 2022, arXiv 2210.15575), where
this is what the edge marginals of EPFGNN are meant to come from.
"""

from __future__ import annotations

from graphgauge.beliefs.model import PairwiseModel
from graphgauge.beliefs.propagate import Beliefs, propagate_beliefs, published_beliefs

__all__ = ["Beliefs", "PairwiseModel", "propagate_beliefs", "published_beliefs"]
