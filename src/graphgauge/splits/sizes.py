"""Sizes of parts: whole numbers from shares, by rules that can be named.

Shares are percentages. They are kept as exact fractions, so that no size hangs on how 0.3 is
stored: ``30`` of 10 is 3 on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from graphgauge.errors import InputError

__all__ = ["ROUNDINGS", "Shares", "ceiling_first", "nearest", "shares_of", "shift_shares"]

Shares: TypeAlias = tuple[Fraction, ...]

_HUNDRED = Fraction(100)
# The published 30 : 10 : 10 | 10 : 40, each side as portions of itself.
_INSIDE, _OUTSIDE = (3, 1, 1), (1, 4)


def shares_of(name: str, percentages: Sequence[float], *, whole: bool = True) -> Shares:
    """Read percentages as exact fractions of 100; together they make it up, or at most reach it.

    Examples
    --------
    >>> shares_of("shares", [62.5, 12.5, 25])
    (Fraction(125, 2), Fraction(25, 2), Fraction(25, 1))
    >>> shares_of("shares", [80, 10])
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: shares: 80, 10 sum to 90, expected 100
    """
    try:
        shares = tuple(Fraction(str(value)) for value in percentages)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{name}: {_told(percentages)} are not all percentages") from None
    total = sum(shares, Fraction(0))
    if any(share < 0 for share in shares):
        raise InputError(f"{name}: {_told(percentages)} are not all positive")
    if total > _HUNDRED or not total or (whole and total != _HUNDRED):
        bound = "100" if whole else "at most 100, and something"
        raise InputError(f"{name}: {_told(percentages)} sum to {float(total):g}, expected {bound}")
    return shares


def shift_shares(ratio: float, inner: Sequence[float] | None) -> Shares:
    """Return the five shares of a shift split; without `inner` in the published proportions.

    Examples
    --------
    >>> [float(share) for share in shift_shares(70, None)]
    [42.0, 14.0, 14.0, 6.0, 24.0]
    """
    [inside] = shares_of("ratio", [ratio], whole=False)
    if inside == _HUNDRED:
        raise InputError("ratio: 100 leaves nothing out of distribution")
    if inner is None:
        portions = [(inside, _INSIDE), (_HUNDRED - inside, _OUTSIDE)]
        return tuple(side * p / sum(parts) for side, parts in portions for p in parts)
    if len(inner) != 5:
        raise InputError(f"inner: {_told(inner)} are {len(inner)} numbers, expected 5")
    shares = shares_of("inner", inner)
    if sum(shares[:3]) != inside:
        given = f"{float(sum(shares[:3])):g} of {_told(inner)}"
        raise InputError(f"inner: {given} are in distribution, the ratio says {float(inside):g}")
    return shares


def nearest(n: int, shares: Sequence[Fraction]) -> tuple[int, ...]:
    """Divide `n` items so that every part lies within one item of its share (largest remainders).

    Each part gets its share rounded down; what is left goes, one each, to those that lost most by
    it. Of equals the later part comes first, which is how 50 : 50 of an odd number has its smaller
    half in front, as published. A sum of shares below 100 leaves items over.

    Examples
    --------
    >>> nearest(9, shares_of("shares", [30, 10, 10, 10, 40]))
    (3, 1, 1, 1, 3)
    """
    exact = [n * share / _HUNDRED for share in (*shares, _HUNDRED - sum(shares))]
    sizes = [math.floor(share) for share in exact]
    losses = sorted(range(len(exact)), key=lambda k: (sizes[k] - exact[k], -k))
    for k in losses[: n - sum(sizes)]:
        sizes[k] += 1
    return tuple(sizes[:-1])


def ceiling_first(n: int, shares: Sequence[Fraction]) -> tuple[int, ...]:
    """Divide `n` items as *miscalibrated* did: the first part rounded up, of the rest each nearest.

    It gives all of the sizes printed in that paper's Table 3; the rule itself is not stated there.

    Examples
    --------
    >>> ceiling_first(3327, shares_of("shares", [62.5, 12.5, 25]))
    (2080, 416, 831)
    """
    first = math.ceil(n * shares[0] / _HUNDRED)
    rest = n - first, sum(shares[1:], Fraction(0))
    others = [math.floor(rest[0] * share / rest[1] + Fraction(1, 2)) for share in shares[1:-1]]
    return (first, *others, rest[0] - sum(others))


def _each_side_nearest(n: int, shares: Shares) -> tuple[int, ...]:
    """Put the cut as near to its ratio as can be, then divide each side likewise: ours.

    The published rules let the test parts take up what the others lose by rounding, two or three
    nodes. Here no part is further than one node from its share of its side, and at 50 % the cut
    is that of both published rules.
    """
    inside, outside = shares[:3], shares[3:]
    sides = nearest(n, (sum(inside, Fraction(0)), sum(outside, Fraction(0))))
    return tuple(
        size
        for side, parts in zip(sides, (inside, outside), strict=True)
        for size in nearest(side, [_HUNDRED * p / (sum(parts) or 1) for p in parts])
    )


def _tests_absorb(n: int, shares: Shares) -> tuple[int, ...]:
    """Round every size down and let the test parts take what is left: the masks of *shifts*."""
    train, valid_in, _, valid_out, _ = (math.floor(n * share / _HUNDRED) for share in shares)
    inside = math.floor(n * sum(shares[:3]) / _HUNDRED)
    return train, valid_in, inside - train - valid_in, valid_out, n - inside - valid_out


def _boundaries_down(n: int, shares: Shares) -> tuple[int, ...]:
    """Round the boundaries between the parts down: the masks of *revisiting*."""
    ends = [math.floor(n * sum(shares[: k + 1]) / _HUNDRED) for k in range(5)]
    return tuple(end - start for start, end in zip([0, *ends], ends, strict=False))


ROUNDINGS: Mapping[str, Callable[[int, Shares], tuple[int, ...]]] = MappingProxyType(
    {"nearest": _each_side_nearest, "shifts": _tests_absorb, "revisiting": _boundaries_down}
)
"""Rules that turn the five shares of a shift split into sizes."""


def _told(percentages: Sequence[object]) -> str:
    return ", ".join(map(str, percentages))
