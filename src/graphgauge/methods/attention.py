"""Graph attention: neighbours are added up by weights that depend on both ends.

A score is a sum of two halves, one of each end, so that nothing but one number a head is computed
for an edge. The softmax runs over the row of an edge, and the sum of neighbours is a product with a
sparse matrix of as many blocks as heads.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import leaky_relu

from graphgauge.methods.dense import project
from graphgauge.methods.layers import Noise, dropout, uniform
from graphgauge.methods.sparse import Constant, Pattern

__all__ = ["AttentionLayer", "row_softmax"]

_SLOPE = 0.2


class AttentionLayer(nn.Module):
    """Some heads of attention, side by side or averaged; Xavier weights, zero bias.

    Head by head, node i takes Σ_j α_ij W x_j over its neighbours j, where α_i is the softmax of
    LeakyReLU(a · W x_i + b · W x_j).

    Parameters
    ----------
    n_in, n_out
        Numbers that go in, and that a head puts out.
    generator
        Where weights come from.
    n_heads
        How many heads there are.
    joined
        Whether they stand side by side, or are averaged.

    References
    ----------
    Veličković et al., Graph Attention Networks, ICLR 2018, equations 3, 5 and 6.
    """

    def __init__(
        self, n_in: int, n_out: int, generator: Generator, *, n_heads: int, joined: bool = True
    ) -> None:
        super().__init__()
        width = n_heads * n_out
        self.joined = joined
        self.weight = uniform(n_in, width, bound=math.sqrt(6 / (n_in + width)), generator=generator)
        # For every head a, then b, in columns.
        bound = math.sqrt(6 / (n_heads + n_out))
        self.halves = uniform(n_heads, n_out, 2, bound=bound, generator=generator)
        self.bias = nn.Parameter(torch.zeros(width if joined else n_out, dtype=torch.float32))

    def project(
        self, x: Tensor | Constant, share: float = 0.0, noise: Noise | None = None
    ) -> Tensor:
        """Compute W x for ``[n, n_in]``, after dropout of a share of x; heads are side by side."""
        if isinstance(x, Tensor):
            return project(dropout(x, share, noise), self.weight)
        if noise is None or not share:
            return x @ self.weight
        entries = dropout(x.matrix.values(), share, noise)
        return x.pattern.multiply(entries[None], self.weight[None])[0]

    def forward(
        self,
        projected: Tensor,
        adjacency: Constant,
        own: Tensor | None = None,
        *,
        share: float = 0.0,
        noise: Noise | None = None,
    ) -> Tensor:
        """Let a layer's nodes, projected, attend to neighbours; `share` of weights is dropped.

        The next layer's nodes stand at `own` in this one's. Of the adjacency, no entry matters but
        only where it is.
        """
        pattern, n_heads = adjacency.pattern, len(self.halves)
        heads = projected.view(len(projected), n_heads, -1).transpose(0, 1).contiguous()
        halves = torch.bmm(heads, self.halves)
        asking = halves[:, :, 0] if own is None else halves[:, :, 0].index_select(1, own)
        scores = pattern.at_rows @ asking.T + pattern.at_columns @ halves[:, :, 1].T
        weights = row_softmax(leaky_relu(scores, _SLOPE), pattern).T.contiguous()
        found = pattern.multiply(dropout(weights, share, noise), heads)
        if self.joined:
            return found.transpose(0, 1).flatten(1) + self.bias
        return found.mean(dim=0) + self.bias


def row_softmax(scores: Tensor, pattern: Pattern) -> Tensor:
    """Take the softmax of entries ``[e, h]`` over every row of a pattern.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> pattern = Constant(sp.csr_array([[1, 1], [0, 1]])).pattern
    >>> row_softmax(torch.tensor([[0.0], [0.0], [5.0]]), pattern).flatten().tolist()
    [0.5, 0.5, 1.0]
    """
    shares: Tensor = _RowSoftmax.apply(scores, pattern)  # type: ignore[no-untyped-call]
    return shares


class _RowSoftmax(torch.autograd.Function):
    """Shares s of a row, whose gradient is s (g − Σ s g)."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, pattern: Pattern) -> Tensor:
        starts = pattern.starts.long()
        top = torch.segment_reduce(scores.contiguous(), "max", offsets=starts, axis=0)
        raised = (scores - top.index_select(0, pattern.rows)).exp_()
        shares = raised.div_((pattern.sums @ raised).index_select(0, pattern.rows))
        ctx.pattern = pattern
        ctx.save_for_backward(shares)
        return shares

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (shares,) = ctx.saved_tensors
        weighted = shares * gradients[0]
        total = (ctx.pattern.sums @ weighted).index_select(0, ctx.pattern.rows)
        return weighted.sub_(shares.mul(total)), None
