"""What is minimised, or chosen by: cross-entropy, its expectation under a Dirichlet, errors.

Balanced ones give all classes the same weight, whose share of it their nodes divide.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import cross_entropy

__all__ = [
    "balanced_cross_entropy",
    "balanced_error_rate",
    "cross_entropy",
    "dirichlet_entropy",
    "dirichlet_loss",
    "error_rate",
    "expected_cross_entropy",
]


def balanced_cross_entropy(output: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy, averaged within every class and then over classes that occur.

    Examples
    --------
    >>> import torch
    >>> balanced_cross_entropy(torch.zeros(3, 2), torch.tensor([0, 0, 1]))
    tensor(0.6931)
    """
    return (_balanced(labels) * cross_entropy(output, labels, reduction="none")).sum()


def error_rate(output: Tensor, labels: Tensor) -> Tensor:
    """Return the share of nodes whose class is not found.

    Examples
    --------
    >>> import torch
    >>> error_rate(torch.tensor([[2.0, 1.0], [2.0, 1.0]]), torch.tensor([0, 1]))
    tensor(0.5000)
    """
    return (output.argmax(dim=1) != labels).float().mean()


def balanced_error_rate(output: Tensor, labels: Tensor) -> Tensor:
    """Return one less the mean recall of the classes that occur.

    Examples
    --------
    >>> import torch
    >>> balanced_error_rate(torch.tensor([[2.0, 1.0]] * 3), torch.tensor([0, 0, 1]))
    tensor(0.5000)
    """
    return (_balanced(labels) * (output.argmax(dim=1) != labels)).sum()


def _balanced(labels: Tensor) -> Tensor:
    """Weigh nodes inversely to the size of their class; the weights sum to one."""
    weights = 1 / labels.bincount().clamp(min=1)[labels]
    return weights / weights.sum()


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
