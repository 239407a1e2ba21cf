"""Products with a sparse matrix that is not trained: features, and adjacencies of every kind.

torch's own gradient of such a product converts formats at every step, which takes several times
as long as the product. A matrix kept beside its transpose makes the gradient one more product.

Where the entries themselves change, as those of attention do, a `Pattern` says where they stand.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

__all__ = ["Constant", "Pattern", "constant"]

# Where more entries than this are set, the dense product is faster.
_DENSE = 0.08


class _Product(torch.autograd.Function):
    """``matrix @ dense``, whose gradient is ``matrix.T @ gradient``."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Tensor, transpose: Tensor) -> Tensor:
        ctx.transpose = transpose
        return _multiply(matrix, dense)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return _multiply(ctx.transpose, gradients[0]), None, None


def _multiply(matrix: Tensor, dense: Tensor) -> Tensor:
    """Multiply into fresh memory; ``@`` would fill it with zeros and copy it first."""
    product = dense.new_empty(matrix.shape[0], dense.shape[1])
    return torch.addmm(product, matrix, dense.contiguous(), beta=0, out=product)


class Constant:
    """A sparse matrix with its transpose; ``constant @ dense`` has a gradient for ``dense``.

    Parameters
    ----------
    matrix
        In any format of SciPy.
    device
        Where to keep it.

    Examples
    --------
    >>> matrix = Constant(sp.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]])))
    >>> dense = torch.ones(2, 1, requires_grad=True)
    >>> (matrix @ dense).sum().backward()
    >>> dense.grad.tolist()
    [[1.0], [2.0]]
    """

    def __init__(self, matrix: Any, device: torch.device | str = "cpu") -> None:
        csr = sp.csr_array(matrix)
        self.shape: tuple[int, int] = csr.shape
        self.matrix = _tensor(csr, device)
        self.transpose = _tensor(csr.T.tocsr(), device)

    def __matmul__(self, dense: Tensor) -> Tensor:
        """Multiply from the left."""
        product: Tensor = _Product.apply(dense, self.matrix, self.transpose)  # type: ignore[no-untyped-call]
        return product

    @cached_property
    def pattern(self) -> Pattern:
        """Where the entries stand."""
        return Pattern(self.matrix)


class Pattern:
    """Where a sparse matrix ``[n, m]`` has entries, for products with entries that change.

    Entries ``[h, e]`` are those of h matrices, each row by row. All h are multiplied at once, as
    the blocks of one, and nothing of size entries × columns is made, neither here nor for the
    gradients.

    Parameters
    ----------
    matrix
        A sparse tensor in rows.

    Examples
    --------
    >>> pattern = Constant(sp.csr_array(np.array([[0, 1, 1], [1, 0, 0]]))).pattern
    >>> entries = torch.tensor([[1.0, 2.0, 3.0]])
    >>> pattern.multiply(entries, torch.tensor([[[1.0], [10.0], [100.0]]])).flatten().tolist()
    [210.0, 3.0]
    """

    def __init__(self, matrix: Tensor) -> None:
        self.shape: tuple[int, int] = (matrix.shape[0], matrix.shape[1])
        self.starts, self.columns = matrix.crow_indices(), matrix.col_indices()
        self._blocks: dict[int, _Block] = {}

    @cached_property
    def rows(self) -> Tensor:
        """Row of every entry ``[e]``."""
        rows = torch.arange(self.shape[0], device=self.starts.device)
        return rows.repeat_interleave(self.starts.diff())

    @cached_property
    def at_rows(self) -> Constant:
        """The matrix that gives every entry what its row has: ``[e, n]``."""
        return self._incidence(self.rows, self.shape[0])

    @cached_property
    def at_columns(self) -> Constant:
        """The matrix that gives every entry what its column has: ``[e, m]``."""
        return self._incidence(self.columns, self.shape[1])

    @cached_property
    def sums(self) -> Constant:
        """The matrix that adds up the entries of every row: ``[n, e]``."""
        shape = (self.shape[0], len(self.columns))
        ones = np.ones(shape[1], np.float32)
        columns, starts = np.arange(shape[1]), self.starts.cpu().numpy()
        return Constant(sp.csr_array((ones, columns, starts), shape), self.starts.device)

    def multiply(self, entries: Tensor, dense: Tensor) -> Tensor:
        """Multiply h matrices with ``[h, m, d]`` each to ``[h, n, d]``."""
        product: Tensor = _BlockProduct.apply(entries, dense.contiguous(), self)  # type: ignore[no-untyped-call]
        return product

    def blocks(self, count: int) -> _Block:
        """Give the pattern of so many blocks along a diagonal."""
        if count not in self._blocks:
            self._blocks[count] = _Block(self, count)
        return self._blocks[count]

    def _incidence(self, index: Tensor, width: int) -> Constant:
        columns = index.cpu().numpy()
        ones, starts = np.ones(len(columns), np.float32), np.arange(len(columns) + 1)
        shape = (len(columns), width)
        return Constant(sp.csr_array((ones, columns, starts), shape), index.device)


class _Block:
    """A pattern repeated along a diagonal, and its transpose."""

    def __init__(self, pattern: Pattern, count: int) -> None:
        n_rows, n_columns = pattern.shape
        columns, rows = pattern.columns, pattern.rows
        # By columns, and by rows within them: the order in which the transpose keeps its entries.
        self.order = columns.long().argsort(stable=True)
        ends = columns.long().bincount(minlength=n_columns).cumsum(0).to(torch.int32)
        starts = torch.cat([ends.new_zeros(1), ends])
        self.own = _repeated(pattern.starts, columns, n_columns, count)
        self.turned = _repeated(starts, rows[self.order].to(torch.int32), n_rows, count)
        self.shape = (count * n_rows, count * n_columns)

    def matrix(self, entries: Tensor) -> Tensor:
        """Put entries ``[h, e]`` into place."""
        return _sparse(self.own, entries, self.shape)

    def transpose(self, entries: Tensor) -> Tensor:
        """Put them into the transpose."""
        return _sparse(self.turned, entries.index_select(1, self.order), self.shape[::-1])


def _repeated(starts: Tensor, columns: Tensor, width: int, count: int) -> tuple[Tensor, Tensor]:
    shift = torch.arange(count, dtype=torch.int32, device=starts.device)[:, None]
    ends = starts[1:] + shift * len(columns)
    return torch.cat([starts[:1], ends.flatten()]), (columns + shift * width).flatten()


def _sparse(places: tuple[Tensor, Tensor], entries: Tensor, shape: tuple[int, int]) -> Tensor:
    return torch.sparse_csr_tensor(*places, entries.reshape(-1), shape, check_invariants=False)


class _BlockProduct(torch.autograd.Function):
    """``matrix @ dense`` for h matrices with entries that have a gradient."""

    @staticmethod
    def forward(ctx: Any, entries: Tensor, dense: Tensor, pattern: Pattern) -> Tensor:
        ctx.save_for_backward(entries, dense)
        ctx.block = block = pattern.blocks(len(entries))
        product = _multiply(block.matrix(entries), dense.flatten(0, 1))
        return product.view(len(entries), pattern.shape[0], -1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        entries, dense = ctx.saved_tensors
        given = gradients[0].flatten(0, 1).contiguous()
        for_entries = for_dense = None
        if ctx.needs_input_grad[0]:
            # Products of rows of both where there are entries, and nowhere else.
            sampled = ctx.block.matrix(torch.zeros_like(entries))
            turned = dense.flatten(0, 1).T
            found = torch.sparse.sampled_addmm(sampled, given, turned, beta=0.0)
            for_entries = found.values().view(entries.shape)
        if ctx.needs_input_grad[1]:
            for_dense = _multiply(ctx.block.transpose(entries), given).view(dense.shape)
        return for_entries, for_dense, None


def constant(matrix: Any, device: torch.device | str = "cpu") -> Constant | Tensor:
    """Keep a matrix as what multiplies faster: sparse, or dense if many of its entries are set."""
    csr = sp.csr_array(matrix)
    if csr.nnz > _DENSE * csr.shape[0] * csr.shape[1]:
        return torch.tensor(csr.toarray(), dtype=torch.float32, device=device)
    return Constant(csr, device)


def _tensor(csr: Any, device: torch.device | str) -> Tensor:
    """Copy into torch's own memory: its alignment is part of being the same bit by bit."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse (CSR|invariant)", UserWarning)
        return torch.sparse_csr_tensor(
            torch.tensor(csr.indptr.astype(np.int32)),
            torch.tensor(csr.indices.astype(np.int32)),
            torch.tensor(csr.data.astype(np.float32)),
            csr.shape,
        ).to(device)
