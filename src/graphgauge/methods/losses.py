"""What is minimised: cross-entropy, and its expectation under a Dirichlet."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import cross_entropy

__all__ = ["cross_entropy", "dirichlet_entropy", "dirichlet_loss", "expected_cross_entropy"]


def expected_cross_entropy(alpha: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy ψ(α0) − ψ(α_y) expected under Dir(α), one number a row.

    Examples
    --------
    >>> import torch
    >>> expected_cross_entropy(torch.tensor([[1.0, 1.0]]), torch.tensor([0]))
    tensor([1.0000])
    """
    chosen = alpha.gather(1, labels[:, None]).squeeze(1)
    return alpha.sum(dim=1).digamma() - chosen.digamma()


def dirichlet_entropy(alpha: Tensor) -> Tensor:
    """Differential entropy of Dir(α), one number a row.

    Examples
    --------
    >>> import torch
    >>> dirichlet_entropy(torch.tensor([[1.0, 1.0]]))
    tensor([0.])
    """
    total = alpha.sum(dim=1)
    n_classes = alpha.shape[1]
    log_beta = alpha.lgamma().sum(dim=1) - total.lgamma()
    centre = (total - n_classes) * total.digamma()
    return log_beta + centre - ((alpha - 1) * alpha.digamma()).sum(dim=1)


def dirichlet_loss(alpha: Tensor, labels: Tensor, *, entropy: float) -> Tensor:
    """Mean expected cross-entropy less `entropy` times the mean entropy.

    References
    ----------
    Revisiting Uncertainty Estimation for Node Classification, equation 1.
    """
    fit = expected_cross_entropy(alpha, labels).mean()
    return fit - entropy * dirichlet_entropy(alpha).mean()
