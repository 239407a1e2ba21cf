"""Links as they come, repeated and in any order, and the adjacency they make."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from graphgauge.arrays import FloatArray, IntArray, check_pairs, floats, refuse, same_length
from graphgauge.errors import InputError

__all__ = ["Links"]


@dataclass(frozen=True, eq=False)
class Links:
    """Links between numbered nodes.

    Parameters
    ----------
    pairs
        Where each comes from and goes to ``[e, 2]``.
    weights
        What each weighs ``[e]``, or None.
    directed
        Whether they lead one way only.
    """

    pairs: IntArray
    weights: FloatArray | None = None
    directed: bool = False

    def __post_init__(self) -> None:
        if self.weights is not None:
            weights = floats("weight", self.weights, ndim=1)
            same_length(edges=self.pairs, weight=weights)
            object.__setattr__(self, "weights", weights)
            # In a matrix a link of no weight could not be told from no link.
            refuse("weight", weights == 0, "is zero", "are zero")

    def adjacency(self, n_nodes: int) -> sp.csr_array:
        """Make the adjacency ``[n, n]``, with loops.

        Repeated links count once; if they have weights, these add up. An undirected link that is
        given once in either direction is no repetition: the larger weight counts.

        Examples
        --------
        >>> links = Links(np.array([[0, 1], [0, 1], [1, 1]]), np.array([1.0, 2.0, 5.0]))
        >>> links.adjacency(2).toarray()
        array([[0., 3.],
               [3., 5.]])
        """
        if n_nodes < 0:
            raise InputError(f"{n_nodes} nodes are no number of nodes")
        check_pairs("edges", self.pairs, n_nodes)
        if self.weights is None:
            ways = self.pairs if self.directed else np.r_[self.pairs, self.pairs[:, ::-1]]
            once = _matrix(ways, np.ones(len(ways), np.float32), n_nodes)
            once.data[:] = 1
            return once
        there = _matrix(self.pairs, self.weights, n_nodes)
        if not there.data.all():
            raise InputError("weight: those of several edges between two nodes add up to zero")
        return there if self.directed else _larger(there, there.T.tocsr())


def _matrix(pairs: IntArray, weights: FloatArray, n_nodes: int) -> sp.csr_array:
    """Add up the weights between the same nodes."""
    return sp.coo_array((weights, (pairs[:, 0], pairs[:, 1])), (n_nodes, n_nodes)).tocsr()


def _larger(there: sp.csr_array, back: sp.csr_array) -> sp.csr_array:
    """Take the larger entry where both have one, and the only one elsewhere, even below zero."""
    # Where an entry is missing the matrices hold a zero, which exceeds what is below it.
    alone = (there != 0) != (back != 0)
    return sp.csr_array(there.maximum(back) + there.minimum(back).multiply(alone))
