"""Products with a sparse matrix that is not trained: features, and adjacencies of every kind.

torch's own gradient of such a product converts formats at every step, which takes several times
as long as the product. A matrix kept beside its transpose makes the gradient one more product.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

__all__ = ["Constant"]

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
