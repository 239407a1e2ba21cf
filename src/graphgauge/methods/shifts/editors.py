"""Editors of graphs: distributions over which edge of each node to flip, learned by REINFORCE.

The paper gives an editor a logit for every pair of nodes: K × n × n numbers. Here it has them for a
few candidates of every node, drawn once for each editor: up to half of them neighbours, whose edge
would go, the rest others, whose edge would come. Where neighbours or others are more than there is
room for, each candidate stands for its share of them, by an offset of its logit. So at first edges
come and go as often as with all pairs, and what is drawn, its probability and its gradient are
exact for the candidates. With as many candidates as nodes, nothing is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Generator, Tensor

from graphgauge.arrays import FloatArray, IntArray

__all__ = ["Candidates", "Editors", "draw", "edited", "log_probability"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """For every node, at whose edges an editor looks.

    Parameters
    ----------
    nodes
        Candidates of each node ``[n, c]``.
    offsets
        Logarithm of how many nodes each stands for ``[n, c]``.
    """

    nodes: IntArray
    offsets: FloatArray

    @classmethod
    def of(cls, pattern: Any, n: int, rng: np.random.Generator) -> Candidates:
        """Draw at most `n` candidates for every node of a pattern without loops.

        Examples
        --------
        >>> path = sp.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
        >>> Candidates.of(path, 9, np.random.default_rng(0)).nodes
        array([[1, 2],
               [0, 2],
               [1, 0]])
        """
        pattern = sp.csr_array(pattern, copy=True)
        pattern.sort_indices()
        rows = np.split(pattern.indices, pattern.indptr[1:-1])
        drawn = [_candidates(row, node, n, rng, len(rows)) for node, row in enumerate(rows)]
        return cls(np.stack([nodes for nodes, _ in drawn]), np.stack([of for _, of in drawn]))


class Editors:
    """K editors, whose logits are learned so that risks differ between the graphs they make.

    Parameters
    ----------
    pattern
        Which nodes are neighbours ``[n, n]``, without loops.
    n_editors, n_candidates, n_flips
        K, candidates of every node, and how many of them are flipped.
    rate
        Of Adam; editors of rate 0 learn nothing.
    rng, device
        What candidates and first logits are drawn from, and where logits are kept.

    References
    ----------
    Wu et al., Handling Distribution Shifts on Graphs: An Invariance Perspective, ICLR 2022,
    section 3.2 and appendix on the REINFORCE algorithm.
    """

    def __init__(
        self,
        pattern: Any,
        *,
        n_editors: int,
        n_candidates: int,
        n_flips: int,
        rate: float,
        rng: np.random.Generator,
        device: str = "cpu",
    ) -> None:
        self.pattern, self.n_flips, self.rate = pattern, n_flips, rate
        found = [Candidates.of(pattern, n_candidates, rng) for _ in range(n_editors)]
        self.nodes = np.stack([one.nodes for one in found])
        offsets = np.stack([one.offsets for one in found])
        first = rng.random(offsets.shape)
        self.offsets = torch.tensor(offsets, dtype=torch.float32, device=device)
        self.logits = torch.tensor(first, dtype=torch.float32, device=device, requires_grad=True)
        self.adam = torch.optim.Adam([self.logits], lr=rate, fused=True)

    def draw(self, generator: Generator) -> Tensor:
        """Draw which candidates are flipped ``[K, n, s]``."""
        with torch.no_grad():
            return draw(self.logits + self.offsets, self.n_flips, generator)

    def graphs(self, chosen: Tensor) -> list[Any]:
        """Make the pattern that each editor makes of the graph."""
        places = np.take_along_axis(self.nodes, chosen.cpu().numpy(), axis=2)
        return [edited(self.pattern, flips) for flips in places]

    def learn(self, chosen: Tensor, reward: float) -> None:
        """Take a step of REINFORCE towards what was drawn, as far as it was rewarded."""
        if not self.rate:
            return
        loss = -reward * log_probability(self.logits + self.offsets, chosen)
        self.adam.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        self.adam.step()


def draw(logits: Tensor, n_flips: int, generator: Generator) -> Tensor:
    """Draw from softmaxes over the last axis, one after the other without putting back.

    Candidates with the largest sums of logit and Gumbel noise are such draws, in their order.

    Examples
    --------
    >>> draw(torch.tensor([[0.0, 99.0, 50.0]]), 2, torch.Generator().manual_seed(0))
    tensor([[1, 2]])
    """
    uniform = torch.empty_like(logits).uniform_(1e-20, 1, generator=generator)
    noisy: Tensor = logits - (-uniform.log()).log()
    return noisy.topk(min(n_flips, logits.shape[-1]), dim=-1).indices


def log_probability(logits: Tensor, chosen: Tensor) -> Tensor:
    """Compute the log-probability of all draws together, in their order.

    Examples
    --------
    >>> both = log_probability(torch.zeros(4), torch.tensor([2, 0]))
    >>> round(1 / both.exp().item())
    12
    """
    total = logits.new_zeros(())
    for number in range(chosen.shape[-1]):
        index = chosen[..., number : number + 1]
        total = total + (logits.gather(-1, index).squeeze(-1) - logits.logsumexp(dim=-1)).sum()
        logits = logits.scatter(-1, index, -torch.inf)
    return total


def edited(pattern: Any, flips: IntArray) -> sp.csr_array:
    """Flip whether a node aggregates each of its `flips` ``[n, s]``.

    Only this direction of an edge is flipped, as in the paper.

    Examples
    --------
    >>> edited(sp.csr_array(np.array([[0, 1], [1, 0]])), np.array([[1], [1]])).toarray()
    array([[0, 0],
           [1, 1]], dtype=int8)
    """
    n, n_flips = flips.shape
    ones = np.ones(flips.size, np.int8)
    starts = np.arange(0, flips.size + 1, n_flips)
    change = sp.csr_array((ones, flips.ravel(), starts), (n, n))
    both = sp.csr_array(pattern.astype(np.int8) + change)
    both.data = (both.data == 1).astype(np.int8)
    both.eliminate_zeros()
    return both


def _candidates(
    neighbours: IntArray, node: int, most: int, rng: np.random.Generator, n_nodes: int
) -> tuple[IntArray, FloatArray]:
    """Draw candidates of one node, neighbours first."""
    degree, n_others = len(neighbours), n_nodes - 1 - len(neighbours)
    room = min(most, n_nodes - 1)
    n_new = min(room - min(degree, room // 2), n_others)
    n_old = room - n_new
    old = rng.choice(neighbours, n_old, replace=False) if n_old < degree else neighbours
    new = _others(np.append(neighbours, node), n_new, n_others, rng, n_nodes)
    stands_for = [degree / n_old] * n_old if n_old else []
    stands_for += [n_others / n_new] * n_new if n_new else []
    return np.concatenate([old, new]).astype(np.int64), np.log(stands_for)


def _others(
    taken: IntArray, n: int, n_others: int, rng: np.random.Generator, n_nodes: int
) -> IntArray:
    """Draw `n` nodes that are not taken; by trial where most of what is tried will do."""
    found: IntArray = np.empty(0, np.int64)
    while 4 * n < n_others and len(found) < n:
        tried = np.concatenate([found, rng.integers(n_nodes, size=2 * n)])
        first = np.sort(np.unique(tried, return_index=True)[1])
        found = tried[first][~np.isin(tried[first], taken)][:n]
    if len(found) == n:
        return found
    others = np.setdiff1d(np.arange(n_nodes), taken)
    return rng.choice(others, n, replace=False) if n < len(others) else others
