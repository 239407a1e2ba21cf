"""Sign flips: how often chance alone sets two models as far apart as they are.

If it makes no difference which model is which, the sign of every difference is a coin. Flipping
all of them in all ways gives the distribution of the mean difference, without further assumption.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from graphgauge.arrays import BoolArray, FloatArray, IntArray
from graphgauge.errors import InputError

__all__ = ["N_EXACT", "bundle_numbers", "flip_p", "holm", "sampled_flip_p", "smallest_p"]

# Up to so many nonzero differences all 2^k flips are made; half of them, by symmetry.
N_EXACT = 20
# More units than these are flipped in bundles.
_N_BUNDLES = 4096
_FLIPS_AT_ONCE = 256


def holm(p_values: FloatArray | list[float]) -> FloatArray:
    """Correct p-values for their number, step down (Holm 1979).

    The smallest is multiplied by their number, the next by one less, and so on; none may fall
    below one that was smaller.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("p_values: expected numbers between 0 and 1")
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    steps = p[order] * np.arange(len(p), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected


def smallest_p(n_differ: int, n_flips: int | None = None) -> float:
    """Give the smallest p-value that `n_differ` nonzero differences can reach: 2^(1 − k).

    All differences on one side, two-sided; when only `n_flips` flips are drawn, no p-value lies
    below one over one more than these.

    Examples
    --------
    >>> smallest_p(5), smallest_p(0), smallest_p(40, n_flips=9999)
    (0.0625, 1.0, 0.0001)
    """
    exact = min(1.0, 2.0 ** (1 - min(n_differ, 1000)))
    return exact if n_flips is None else max(exact, 1 / (n_flips + 1))


def flip_p(differences: FloatArray) -> float | None:
    """Give the exact two-sided p-value of a sum of differences, or None if it is out of reach.

    Few differences are flipped in all ways. Differences of one size, such as those of two files'
    correctness, are coins whose sum is binomial, however many: McNemar's exact test.

    Examples
    --------
    >>> flip_p(np.array([1.0, 2.0, 3.0, 4.0, 0.0]))
    0.125
    >>> round(flip_p(np.repeat([1.0, -1.0], [60, 40])), 4)
    0.0569
    >>> flip_p(np.arange(1.0, 100.0)) is None
    True
    """
    nonzero = differences[differences != 0]
    k = len(nonzero)
    if k == 0:
        return 1.0
    sizes = np.abs(nonzero)
    if sizes.max() - sizes.min() <= 1e-12 * sizes.max():
        return float(stats.binomtest(int((nonzero > 0).sum()), k).pvalue)
    if k > N_EXACT:
        return None
    sums = nonzero[:1]
    for size in sizes[1:]:
        sums = np.concatenate([sums + size, sums - size])
    return float(_as_far(sums, nonzero.sum(), sizes.sum()).mean())


def sampled_flip_p(
    differences: FloatArray, *, n_flips: int, rng: np.random.Generator
) -> FloatArray:
    """Give Monte Carlo p-values of the sums of columns of differences ``[k, n_pairs]``.

    The same flips serve all pairs; what was observed counts as one of them (hence the + 1), so
    the test keeps its level.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sampled_flip_p(np.arange(1.0, 100.0)[:, None], n_flips=999, rng=rng)
    array([0.001])
    """
    k, n_pairs = differences.shape
    total, scale = differences.sum(axis=0), np.abs(differences).sum(axis=0)
    n_as_far = np.zeros(n_pairs)
    for start in range(0, n_flips, _FLIPS_AT_ONCE):
        n_rows = min(_FLIPS_AT_ONCE, n_flips - start)
        packed = rng.integers(256, size=(n_rows, (k + 7) // 8), dtype=np.uint8)
        heads = np.unpackbits(packed, axis=1, count=k).astype(np.float64)
        n_as_far += _as_far(2 * (heads @ differences) - total, total, scale).sum(axis=0)
    return (1 + n_as_far) / (n_flips + 1)


def _as_far(sums: FloatArray, observed: FloatArray, scale: FloatArray) -> BoolArray:
    # Equal sums added in another order differ by a rounding; they are ties and count.
    reached: BoolArray = np.abs(sums) >= np.abs(observed) - 1e-12 * scale
    return reached


def bundle_numbers(n_units: int, *, rng: np.random.Generator) -> IntArray:
    """Put units into a few thousand bundles at random, or each into its own if they are few.

    Flips of whole bundles are some of all possible flips and closed under repetition, so a test by
    them keeps its level exactly; it loses next to no power, and the cost no longer grows with the
    number of units. Bundles of independent units are themselves independent and can be resampled.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bundle_numbers(3, rng=rng), bundle_numbers(10000, rng=rng).max()
    (array([0, 1, 2]), np.int64(4095))
    """
    if n_units <= _N_BUNDLES:
        return np.arange(n_units)
    return rng.permutation(n_units) % _N_BUNDLES
