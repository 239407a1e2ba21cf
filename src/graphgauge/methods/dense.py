"""Products with weights, twice as fast on processors that oneDNN knows better than MKL does.

torch multiplies in single precision with MKL, which keeps to AVX2 on processors that are not
Intel's. oneDNN takes what the processor has, and torch carries it: the operator here is the one
that torch's own compiler puts in place of linear layers. Where it is not there (other devices,
other builds), the ordinary products serve.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

from graphgauge.methods.sparse import Constant

__all__ = ["affine", "project"]


def project(x: Tensor | Constant, weight: Tensor) -> Tensor:
    """Compute ``x W`` for dense or sparse x ``[n, n_in]``.

    Examples
    --------
    >>> project(torch.ones(1, 2), torch.tensor([[1.0], [2.0]]))
    tensor([[3.]])
    """
    if isinstance(x, Constant) or not _served(x, weight):
        return x @ weight
    product: Tensor = _Affine.apply(x, weight, None)  # type: ignore[no-untyped-call]
    return product


def affine(x: Tensor | Constant, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute ``x W + b`` for dense or sparse x ``[n, n_in]``.

    Examples
    --------
    >>> affine(torch.ones(1, 2), torch.tensor([[1.0], [2.0]]), torch.tensor([4.0]))
    tensor([[7.]])
    """
    if isinstance(x, Constant):
        return x @ weight + bias
    if not _served(x, weight):
        return torch.addmm(bias, x, weight)
    product: Tensor = _Affine.apply(x, weight, bias)  # type: ignore[no-untyped-call]
    return product


class _Affine(torch.autograd.Function):
    """``x W + b`` and its gradients, each of which is one more product."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _times(x, weight.T, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        given = gradients[0].contiguous()
        for_x, for_weight, for_bias = ctx.needs_input_grad
        return (
            _times(given, weight) if for_x else None,
            _gradient_of_weight(x, given) if for_weight else None,
            given.sum(dim=0) if for_bias else None,
        )


def _gradient_of_weight(x: Tensor, given: Tensor) -> Tensor:
    """Compute ``xᵀ g``; the wider of both is the one whose rows are told apart in the result."""
    if given.shape[1] < x.shape[1]:
        return _times(given.T, x.T).T
    return _times(x.T, given.T)


def _times(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute ``x Vᵀ + b`` for V ``[n_out, n_in]``, both in any order in memory.

    V may be transposed, yet must be dense: slices take oneDNN hundreds of times longer.
    """
    if not (weight.is_contiguous() or weight.T.is_contiguous()):
        weight = weight.contiguous()
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return product


def _served(x: Tensor, weight: Tensor) -> bool:
    """Tell whether oneDNN's product is there for these, and for gradients of the first order."""
    kinds = x.device.type, x.dtype, weight.dtype
    return kinds == ("cpu", torch.float32, torch.float32) and len(x) > 0 and _is_there()


@cache
def _is_there() -> bool:
    """Try the operator, which is no public one, on something small."""
    try:
        return bool(_times(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)).sum() == 2 * 4 * 4)
    except (RuntimeError, AttributeError, TypeError, NotImplementedError):
        return False
