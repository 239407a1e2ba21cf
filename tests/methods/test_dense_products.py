"""Products with weights: equal to torch's own in double precision, gradients too."""

from __future__ import annotations

import time

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgauge.methods import dense


def drawn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def gradients(
    product: object, tensors: tuple[torch.Tensor, ...], weights: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    leaves = [t.clone().requires_grad_() for t in tensors]
    out = product(*leaves)  # type: ignore[operator]
    (out * weights).sum().backward()
    return out.detach(), *(leaf.grad for leaf in leaves)


@given(
    n=st.integers(1, 70),
    n_in=st.integers(1, 40),
    n_out=st.integers(1, 40),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_products_and_gradients_are_those_of_double_precision(
    n: int, n_in: int, n_out: int, seed: int
) -> None:
    x, weight, bias = (
        drawn(n, n_in, seed=seed),
        drawn(n_in, n_out, seed=seed + 1),
        drawn(n_out, seed=9),
    )
    given_ = drawn(n, n_out, seed=seed + 2)
    found = gradients(dense.affine, (x, weight, bias), given_)
    exact = gradients(
        lambda x, w, b: x @ w + b, tuple(t.double() for t in (x, weight, bias)), given_.double()
    )
    for ours, theirs in zip(found, exact, strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-4)
    product, *_ = gradients(dense.project, (x, weight), given_)
    torch.testing.assert_close(product.double(), x.double() @ weight.double(), rtol=1e-4, atol=1e-4)


def test_views_in_any_order_in_memory() -> None:
    wide = drawn(8, 12, seed=0)
    x, weight = drawn(12, 30, seed=1).T, wide[:, 3:9]
    torch.testing.assert_close(dense.project(x[:, :8], weight), x[:, :8] @ weight)


def test_slices_take_no_longer_than_copies() -> None:
    x, wide = drawn(600, 64, seed=0), drawn(64, 128, seed=1)

    def seconds(weight: torch.Tensor) -> float:
        start = time.process_time()
        for _ in range(5):
            given_ = dense.project(x.requires_grad_(), weight)
            given_.sum().backward()
        return time.process_time() - start

    # The first product of a shape is prepared, which takes longer than the product.
    slices, copies = wide[:, :64], wide[:, :64].clone()
    sliced, copied = (min(seconds(w) for _ in range(5)) for w in (slices, copies))
    assert sliced < 20 * copied + 1e-2


@pytest.mark.parametrize("n", [0, 3])
def test_ordinary_products_serve_what_onednn_does_not(n: int) -> None:
    x, weight = drawn(n, 2, seed=0).double(), drawn(2, 4, seed=1).double()
    assert dense.affine(x, weight, torch.ones(4).double()).dtype == torch.float64
    assert dense.project(x.float(), weight.float()).shape == (n, 4)


def test_without_the_operator_numbers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight, bias = drawn(50, 20, seed=0), drawn(20, 10, seed=1), drawn(10, seed=2)
    served = dense.affine(x, weight, bias), dense.project(x, weight)
    monkeypatch.setattr(dense, "_is_there", lambda: False)
    for ours, theirs in zip(
        served, (dense.affine(x, weight, bias), dense.project(x, weight)), strict=True
    ):
        torch.testing.assert_close(ours, theirs)
