"""Contracts that every metric keeps, ours and yours: run them on a card of your own.

>>> from graphgauge.metrics import METRICS
>>> check_metric(METRICS["ece"])
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from graphgauge.arrays import IntArray
from graphgauge.metrics import Direction, Metric, Needs, Outcomes, Ranks, metric

__all__ = ["CHECKS", "check_metric", "sample"]

Arrays: TypeAlias = tuple[npt.NDArray[Any], ...]

_N = 240
_CLOSE = 1e-9


def check_metric(card: Metric) -> None:
    """Run every contract on a metric; the first broken one is an AssertionError that says which."""
    for check in CHECKS:
        check(card)


def sample(needs: Needs, *, n: int = _N, seed: int = 0) -> Arrays:
    """Make plain arrays that a metric can be computed from, aligned item by item.

    Examples
    --------
    >>> [array.shape for array in sample(Needs.CLASSES, n=5)]
    [(5, 3), (5,)]
    """
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.ones(3), n)
    labels = rng.integers(0, 3, n)
    flags = rng.random(n) < 0.4
    of_need: dict[Needs, Callable[[], Arrays]] = {
        Needs.OUTCOMES: lambda: (probs, labels),
        Needs.CLASSES: lambda: (probs, labels),
        # Rounded, so that some of the scores are tied.
        Needs.REJECTION: lambda: (rng.normal(size=n).round(1), flags),
        Needs.DETECTION: lambda: (rng.normal(size=n).round(1) + flags, flags),
        Needs.RANKS: lambda: (rng.integers(0, 30, n), rng.integers(0, 4, n)),
        Needs.STRUCTURE: lambda: (rng.integers(0, n, (n, 2)), labels),
    }
    return of_need[needs]()


def _given(card: Metric, arrays: Arrays) -> tuple[Any, ...]:
    """Wrap plain arrays into what the metric's function takes."""
    if card.needs is Needs.OUTCOMES:
        return (Outcomes.of_nodes(*arrays),)
    if card.needs is Needs.RANKS:
        return (Ranks(arrays[0], arrays[1], 40),)
    return arrays


def _value(card: Metric, arrays: Arrays, **extra: Any) -> float:
    return float(card(*_given(card, arrays), **extra))


def _takes_weights(card: Metric) -> bool:
    return "weights" in inspect.signature(card.compute).parameters


def check_facts(card: Metric) -> None:
    """Check the card: its label is read back, its range is not empty, no fact is blank."""
    assert metric(card.label).label == card.label, f"{card.label}: cannot be read back"
    assert card.low < card.high, f"{card.label}: empty range"
    for fact in (card.definition, card.chance, card.reference):
        assert fact.strip(), f"{card.label}: a fact is blank"
    assert card.direction in Direction, f"{card.label}: no direction"


def check_deterministic(card: Metric) -> None:
    """Check that equal input gives equal output, a number within the range."""
    arrays = sample(card.needs)
    first, second = _value(card, arrays), _value(card, arrays)
    assert first == second, f"{card.label}: {first} and then {second}"
    assert card.low <= first <= card.high, f"{card.label}: {first} is out of range"


def check_input_untouched(card: Metric) -> None:
    """Check that the input is only read."""
    arrays = sample(card.needs)
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    _value(card, arrays)
    for array, old in zip(arrays, before, strict=True):
        assert np.array_equal(array, old), f"{card.label}: changes its input"


def check_order_irrelevant(card: Metric) -> None:
    """Check that the order of the items does not matter."""
    arrays = sample(card.needs)
    order = np.random.default_rng(1).permutation(len(arrays[0]))
    moved = (arrays[0][order], arrays[1]) if card.needs is Needs.STRUCTURE else _take(arrays, order)
    here, there = _value(card, arrays), _value(card, moved)
    assert math.isclose(here, there, abs_tol=_CLOSE), f"{card.label}: {here} becomes {there}"


def check_empty(card: Metric) -> None:
    """Check that nothing gives NaN, not a number and not an error."""
    arrays = _take(sample(card.needs), np.empty(0, np.int64))
    value = _value(card, arrays)
    assert math.isnan(value), f"{card.label}: {value} of nothing"


def check_weights_are_copies(card: Metric) -> None:
    """Check that a whole weight counts like as many copies of the item."""
    if card.needs is not Needs.OUTCOMES and not _takes_weights(card):
        return
    arrays = sample(card.needs)
    counts = np.random.default_rng(2).integers(0, 4, len(arrays[0]))
    copies = _value(card, _take(arrays, np.repeat(np.arange(len(counts)), counts)))
    weights = counts.astype(np.float64)
    if card.needs is Needs.OUTCOMES:
        weighted = float(card(Outcomes.of_nodes(arrays[0], arrays[1], weights)))
    else:
        weighted = _value(card, arrays, weights=weights)
    same = math.isclose(copies, weighted, abs_tol=_CLOSE)
    assert same, f"{card.label}: {weighted} weighted, {copies} copied"


def _take(arrays: Arrays, index: IntArray) -> Arrays:
    return tuple(array[index] for array in arrays)


CHECKS: tuple[Callable[[Metric], None], ...] = (
    check_facts,
    check_deterministic,
    check_input_untouched,
    check_order_irrelevant,
    check_empty,
    check_weights_are_copies,
)
"""The contracts, in the order they are run."""
