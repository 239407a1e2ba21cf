"""Decompositions against SciPy, sampling and the reference outputs."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import digamma

from graphgauge import uncertainty
from graphgauge.errors import InputError
from graphgauge.uncertainty import Uncertainty

Array = npt.NDArray[np.float64]

alphas = st.lists(st.floats(1e-300, 1e12), min_size=2, max_size=6)


def softmax(rng: np.random.Generator, *shape: int, spread: float = 3.0) -> Array:
    probs: Array = np.exp(spread * rng.normal(size=shape))
    return probs / probs.sum(axis=-1, keepdims=True)


# Softmax.


def test_softmax_entropy_equals_scipy(rng: np.random.Generator) -> None:
    probs = softmax(rng, 300, 7)
    split = Uncertainty.from_softmax(probs)
    np.testing.assert_allclose(split.total, stats.entropy(probs, axis=1), rtol=1e-13)
    np.testing.assert_array_equal(split.data, split.total)
    np.testing.assert_array_equal(split.knowledge, split.total)


def test_zeros_are_taken_without_a_warning() -> None:
    split = Uncertainty.from_softmax([[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(split.total, [0, np.log(2), np.log(3)], rtol=1e-15)


def test_low_precision_is_summed_in_double(rng: np.random.Generator) -> None:
    probs = softmax(rng, 50, 40)
    for dtype in (np.float32, np.float16):
        low = probs.astype(dtype)
        split = Uncertainty.from_softmax(low)
        assert split.total.dtype == np.float64
        wide = np.where(low > 0, low, 1).astype(np.float64)
        np.testing.assert_allclose(split.total, -(wide * np.log(wide)).sum(axis=1), rtol=1e-13)


def test_blocks_leave_no_seam(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    probs, alpha = softmax(rng, 23, 4), rng.gamma(1, 5, (23, 4)) + 0.1
    whole = [Uncertainty.from_ensemble([probs, probs[::-1]]), Uncertainty.from_dirichlet(alpha)]
    monkeypatch.setattr(uncertainty, "_BLOCK", 5)
    parts = [Uncertainty.from_ensemble([probs, probs[::-1]]), Uncertainty.from_dirichlet(alpha)]
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one.total, other.total)
        np.testing.assert_array_equal(one.data, other.data)
        np.testing.assert_array_equal(one.knowledge, other.knowledge)


# Ensembles.


def test_ensemble_equals_scipy(rng: np.random.Generator) -> None:
    members = softmax(rng, 5, 200, 6)
    split = Uncertainty.from_ensemble(members)
    total = stats.entropy(members.mean(axis=0), axis=1)
    data = np.mean([stats.entropy(member, axis=1) for member in members], axis=0)
    np.testing.assert_allclose(split.total, total, rtol=1e-13)
    np.testing.assert_allclose(split.data, data, rtol=1e-13)
    # The same information from the other side: the mean divergence of a member from the mean.
    mean = np.broadcast_to(members.mean(axis=0), members.shape)
    divergence = stats.entropy(members, mean, axis=2).mean(axis=0)
    np.testing.assert_allclose(split.knowledge, divergence, atol=1e-14)


def test_ensemble_members_come_one_at_a_time(rng: np.random.Generator) -> None:
    members = softmax(rng, 4, 30, 3)

    def stream() -> Iterator[Array]:
        for member in members:
            kept = member.copy()
            yield kept
            kept[:] = np.nan  # a member that has been read is not needed any more

    split = Uncertainty.from_ensemble(stream())
    for same in (members, list(members), tuple(m.tolist() for m in members)):
        np.testing.assert_array_equal(Uncertainty.from_ensemble(same).knowledge, split.knowledge)


@given(st.integers(1, 6), st.integers(2, 5), st.integers(0, 999))
@settings(deadline=None)
def test_laws_of_an_ensemble(n_members: int, n_classes: int, seed: int) -> None:
    members = softmax(np.random.default_rng(seed), n_members, 8, n_classes, spread=8.0)
    split = Uncertainty.from_ensemble(members)
    assert (split.knowledge >= 0).all()
    assert (split.data >= 0).all()
    assert (split.total <= np.log(n_classes) + 1e-12).all()
    assert (split.knowledge <= np.log(n_members) + 1e-12).all()
    np.testing.assert_array_equal(split.total - split.data, split.knowledge)
    turned = Uncertainty.from_ensemble(members[::-1])
    np.testing.assert_allclose(turned.knowledge, split.knowledge, atol=1e-14)


@pytest.mark.parametrize("n_members", [1, 2, 3, 10])
def test_equal_members_know_all_there_is(n_members: int, rng: np.random.Generator) -> None:
    member = softmax(rng, 40, 5)
    split = Uncertainty.from_ensemble([member] * n_members)
    np.testing.assert_allclose(split.knowledge, 0, atol=1e-14)
    assert (split.knowledge >= 0).all()
    np.testing.assert_allclose(split.total, stats.entropy(member, axis=1), rtol=1e-12)


def test_members_that_contradict_each_other_know_nothing() -> None:
    members = np.eye(4)[:, None, :]
    split = Uncertainty.from_ensemble(members)
    assert (split.data[0], split.knowledge[0]) == (0, pytest.approx(np.log(4)))


# Dirichlet.


def test_dirichlet_reference_outputs(golden: Path) -> None:
    with np.load(golden / "shifts" / "math_and_models.npz") as stored:
        alpha, *expected = (stored[f"dir_{k}"] for k in ("alpha", "total", "data", "know_mi"))
    split = Uncertainty.from_dirichlet(alpha)
    for ours, theirs in zip((split.total, split.data, split.knowledge), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-14)
    by_evidence = Uncertainty.from_dirichlet(alpha, knowledge="evidence")
    np.testing.assert_array_equal(by_evidence.knowledge, -alpha.sum(axis=1))
    np.testing.assert_array_equal(by_evidence.total, split.total)
    np.testing.assert_array_equal(by_evidence.data, split.data)


def test_dirichlet_equals_its_closed_form(rng: np.random.Generator) -> None:
    alpha = np.exp(rng.normal(1, 2, (400, 5)))
    split = Uncertainty.from_dirichlet(alpha)
    evidence = alpha.sum(axis=1, keepdims=True)
    gaps = digamma(evidence + 1) - digamma(alpha + 1)
    np.testing.assert_allclose(split.data, (alpha / evidence * gaps).sum(axis=1), atol=1e-13)
    np.testing.assert_allclose(split.total, stats.entropy(alpha, axis=1), atol=1e-13)


@pytest.mark.parametrize("alpha", [[1.0, 1.0, 1.0], [0.2, 3.0, 7.0], [0.5, 40.0], [2.0] * 8])
def test_dirichlet_equals_sampling(alpha: list[float], rng: np.random.Generator) -> None:
    draws = stats.dirichlet(alpha).rvs(100_000, random_state=rng)
    entropies = stats.entropy(draws, axis=1)
    error = 5 * entropies.std() / np.sqrt(len(draws))
    split = Uncertainty.from_dirichlet([alpha])
    assert abs(split.data[0] - entropies.mean()) < error
    assert abs(split.knowledge[0] - (split.total[0] - entropies.mean())) < error
    # Draws are an ensemble; its mean wanders a little too.
    drawn = Uncertainty.from_ensemble(draws[:2000, None, :])
    assert abs(split.knowledge[0] - drawn.knowledge[0]) < 0.03


def test_dirichlet_of_whole_numbers_is_exact() -> None:
    """For whole α the digammas are harmonic sums, which fractions add up without rounding."""

    def harmonic(n: int) -> Fraction:
        return sum((Fraction(1, k) for k in range(1, n + 1)), Fraction(0))

    for alpha in ([1, 1], [1, 2, 3], [5, 1, 1, 1], [31, 32, 33], [100, 1]):
        total = sum(alpha)
        data = sum(Fraction(a, total) * (harmonic(total) - harmonic(a)) for a in alpha)
        assert Uncertainty.from_dirichlet([alpha]).data[0] == pytest.approx(float(data), rel=1e-14)


@pytest.mark.parametrize("scale", [1e4, 1e8, 1e12, 1e16, 1e100])
def test_information_of_large_evidence_keeps_its_digits(scale: float) -> None:
    """Towards (C − 1) / 2α0; the difference of entropies is noise there and loses the order."""
    alpha = scale * np.array([[1.0, 2.0, 3.0], [1.5, 3.0, 4.5]])
    known = Uncertainty.from_dirichlet(alpha).knowledge
    np.testing.assert_allclose(known, 1 / alpha.sum(axis=1), rtol=2 / scale + 1e-13)
    assert known[0] > known[1] > 0


def test_difference_of_entropies_loses_the_order_of_large_evidence() -> None:
    """What a literal reading of the formula does, already in double precision."""
    alpha = np.exp(np.linspace(28, 30, 50))[:, None] * np.array([1.0, 2.0, 3.0])
    evidence = alpha.sum(axis=1, keepdims=True)
    mean = alpha / evidence
    literal = stats.entropy(mean, axis=1) - (
        mean * (digamma(evidence + 1) - digamma(alpha + 1))
    ).sum(axis=1)
    assert not (np.diff(literal) < 0).all()
    assert (np.diff(Uncertainty.from_dirichlet(alpha).knowledge) < 0).all()


@pytest.mark.parametrize(
    ("n", "digits"), [(1, 14), (7, 13), (31, 12), (32, 15), (33, 15), (64, 15), (1000, 15)]
)
def test_digamma_less_log_equals_decimal_arithmetic(n: int, digits: int) -> None:
    """For whole n it is the harmonic number less Euler's constant and log n."""
    with localcontext(prec=50):
        euler = Decimal("0.57721566490153286060651209008240243104215933593992")
        expected = sum(1 / Decimal(k) for k in range(1, n + 1)) - euler - Decimal(n).ln()
    value = uncertainty._digamma_less_log(np.array([float(n)]))[0]
    assert value == pytest.approx(float(expected), rel=2 * 10.0**-digits, abs=0)


@given(alphas)
@settings(deadline=None)
def test_laws_of_a_dirichlet(alpha: list[float]) -> None:
    split = Uncertainty.from_dirichlet([alpha])
    assert split.knowledge[0] >= 0
    assert split.data[0] >= 0
    assert split.total[0] <= np.log(len(alpha)) + 1e-12
    assert split.data[0] + split.knowledge[0] == pytest.approx(split.total[0], rel=1e-12, abs=1e-15)
    turned = Uncertainty.from_dirichlet([alpha[::-1]])
    assert turned.knowledge[0] == pytest.approx(split.knowledge[0], rel=1e-9, abs=1e-300)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=6))
@settings(deadline=None)
def test_more_evidence_means_more_knowledge(alpha: list[float]) -> None:
    scales = 10.0 ** np.arange(0, 13)
    split = Uncertainty.from_dirichlet(scales[:, None] * np.array(alpha))
    assert (np.diff(split.knowledge) < 0).all()
    assert split.knowledge[-1] < len(alpha) / (2 * scales[-1] * sum(alpha))
    np.testing.assert_allclose(split.total, split.total[0], atol=1e-14)
    by_evidence = Uncertainty.from_dirichlet(
        scales[:, None] * np.array(alpha), knowledge="evidence"
    )
    assert (np.diff(by_evidence.knowledge) < 0).all()


def test_summing_or_averaging_an_ensemble_of_dirichlets_moves_data_only_by_evidence() -> None:
    """Summed and mean α give one prediction and one order by evidence, but not one data term."""
    members = np.array([[[2.0, 1.0]], [[4.0, 1.0]]])
    summed, averaged = (Uncertainty.from_dirichlet(f(members, axis=0)) for f in (np.sum, np.mean))
    np.testing.assert_allclose(summed.total, averaged.total)
    assert summed.data[0] > averaged.data[0]


# The door.


@pytest.mark.parametrize("n_classes", [0, 3])
def test_no_items_give_empty_arrays(n_classes: int) -> None:
    empty = np.empty((0, n_classes))
    splits = [
        Uncertainty.from_softmax(empty),
        Uncertainty.from_ensemble([empty, empty]),
        Uncertainty.from_dirichlet(empty),
    ]
    for split in splits:
        assert split.total.shape == split.data.shape == split.knowledge.shape == (0,)


def test_bad_probabilities_are_named() -> None:
    with pytest.raises(InputError, match=r"^probs: below zero \(row 1\)$"):
        Uncertainty.from_softmax([[0.5, 0.5], [1.5, -0.5]])
    with pytest.raises(InputError, match=r"^probs: not summing to one \(rows 0, 2\)$"):
        Uncertainty.from_softmax([[0.5, 0.6], [0.5, 0.5], [3.0, 4.0]])
    with pytest.raises(InputError, match=r"^probs: 1 row is not finite \(row 0\)$"):
        Uncertainty.from_softmax([[np.nan, 1.0]])
    with pytest.raises(InputError, match=r"^probs: has 1 axes"):
        Uncertainty.from_softmax([0.5, 0.5])


def test_bad_members_are_named() -> None:
    good = np.full((2, 2), 0.5)
    with pytest.raises(InputError, match=r"^members: there are none$"):
        Uncertainty.from_ensemble([])
    with pytest.raises(
        InputError, match=r"^members\[1\]: has shape \(3, 2\), members\[0\] \(2, 2\)$"
    ):
        Uncertainty.from_ensemble([good, np.full((3, 2), 0.5)])
    with pytest.raises(InputError, match=r"^members\[1\]: not summing to one \(row 0\)$"):
        Uncertainty.from_ensemble([good, [[1, 1], [0, 1]]])
    with pytest.raises(InputError, match=r"^members\[0\]: has 1 axes"):
        Uncertainty.from_ensemble(good)


def test_bad_alpha_is_named() -> None:
    with pytest.raises(InputError, match=r"^alpha: not above zero \(rows 0, 2\)$"):
        Uncertainty.from_dirichlet([[0, 1], [1, 1], [-1, 1]])
    with pytest.raises(InputError, match=r"^alpha: 1 row is not finite \(row 0\)$"):
        Uncertainty.from_dirichlet([[np.inf, 1]])
    with pytest.raises(InputError, match=r"^alpha: too large to sum \(row 1\)$"):
        Uncertainty.from_dirichlet([[1, 1], [1.7e308, 1.7e308]])
    with pytest.raises(InputError, match=r"^knowledge: 'mi' is not"):
        Uncertainty.from_dirichlet([[1, 1]], knowledge="mi")  # type: ignore[arg-type]


def test_input_is_left_alone(rng: np.random.Generator) -> None:
    members, alpha = softmax(rng, 3, 9, 4), rng.gamma(2, 2, (9, 4)) + 0.1
    kept = members.copy(), alpha.copy()
    for array in (members, alpha):
        array.flags.writeable = False
    Uncertainty.from_softmax(members[0])
    Uncertainty.from_ensemble(members)
    Uncertainty.from_dirichlet(alpha)
    np.testing.assert_array_equal(members, kept[0])
    np.testing.assert_array_equal(alpha, kept[1])
