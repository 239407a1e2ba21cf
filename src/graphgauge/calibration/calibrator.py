"""What a calibrator is: something that is fitted to one part and then maps predictions.

Calibrators see probabilities and nothing behind them. What they need of logits is found in
logarithms of probabilities, which differ from them by one number a row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.special import log_softmax

from graphgauge.arrays import FloatArray, IntArray
from graphgauge.errors import InputError
from graphgauge.predictions import NodePredictions
from graphgauge.roles import Role, role_of
from graphgauge.uncertainty import Uncertainty

__all__ = [
    "Calibrator",
    "Fitted",
    "FittedRows",
    "Rows",
    "Rowwise",
    "Sample",
    "check_hyper",
    "default_part",
    "label_of",
    "labelled",
    "logits",
    "with_probs",
]

# Softmax in single precision, which most networks end in, says zero for what is smaller.
_FLOOR = float(np.finfo(np.float32).tiny)


@runtime_checkable
class Fitted(Protocol):
    """A fitted calibrator: predictions in, predictions out."""

    def __call__(self, predictions: NodePredictions, /) -> NodePredictions:
        """Return other probabilities for the same nodes, labels, parts and edges."""
        ...


@runtime_checkable
class Calibrator(Protocol):
    """Anything that learns from one part how to correct probabilities.

    Examples
    --------
    >>> class Halfway:
    ...     "Goes halfway to the shares of the classes."
    ...     def fit(self, predictions, part):
    ...         labels = predictions.labels[labelled(predictions, part)]
    ...         shares = np.bincount(labels, minlength=predictions.n_classes) / len(labels)
    ...         return lambda given: with_probs(given, (given.probs + shares) / 2, "halfway")
    >>> isinstance(Halfway(), Calibrator)
    True
    >>> predictions = NodePredictions([[0.9, 0.1], [0.6, 0.4]], [0, 1], {"valid": [0, 1]})
    >>> Halfway().fit(predictions, "valid")(predictions).probs
    array([[0.7 , 0.3 ],
           [0.55, 0.45]])
    """

    def fit(self, predictions: NodePredictions, part: str, /) -> Fitted:
        """Learn from the labels of one part; see no other label."""
        ...


@dataclass(frozen=True, eq=False)
class Sample:
    """What a calibrator of rows learns from.

    Parameters
    ----------
    probs
        Probabilities ``[m, C]``.
    labels
        Classes ``[m]``, all known.
    weights
        How much every row counts ``[m]``, in sum one.
    """

    probs: FloatArray
    labels: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, probs: FloatArray, labels: IntArray, weights: FloatArray | None = None) -> Sample:
        """Scale weights to a sum of one; without weights all rows count alike.

        Examples
        --------
        >>> Sample.of(np.eye(2), np.array([0, 1]), np.array([3.0, 1.0])).weights
        array([0.75, 0.25])
        """
        given = np.ones(len(labels)) if weights is None else weights.astype(np.float64)
        return cls(probs.astype(np.float64), labels, given / given.sum())

    @property
    def n_classes(self) -> int:
        """Number of classes, of which some may not occur."""
        return int(self.probs.shape[1])

    def balanced(self) -> Sample:
        """Weigh every row by what its class lacks to the largest, so that classes count alike.

        Reference: Teixeira et al. 2019, appendix C.1.

        Examples
        --------
        >>> Sample.of(np.eye(2)[[0, 0, 1]], np.array([0, 0, 1])).balanced().weights
        array([0.25, 0.25, 0.5 ])
        """
        mass = np.bincount(self.labels, self.weights)
        return Sample.of(self.probs, self.labels, self.weights / mass[self.labels])


class Rows(Protocol):
    """A map of probabilities, row by row."""

    def __call__(self, probs: FloatArray, /) -> FloatArray:
        """Map ``[n, C]`` to ``[n, C]``; rows sum to one."""
        ...


@dataclass(frozen=True, eq=False)
class FittedRows:
    """A fitted calibrator that looks at each row by itself.

    Parameters
    ----------
    label
        The calibrator, for the name of what comes out.
    n_classes
        Classes it was fitted to.
    rows
        The map that was learned, with its parameters.
    """

    label: str
    n_classes: int
    rows: Rows

    @property
    def told(self) -> dict[str, float]:
        """What was learned, in words and numbers, where a few of them say it."""
        return dict(getattr(self.rows, "told", {}))

    def __call__(self, predictions: NodePredictions) -> NodePredictions:
        """Map every row; see `with_probs` for what stays."""
        return with_probs(predictions, self.rows(self._probs(predictions)), self.label)

    def _probs(self, predictions: NodePredictions) -> FloatArray:
        if predictions.n_classes != self.n_classes:
            raise InputError(
                f"probs: has {predictions.n_classes} classes, {self.label} was fitted to "
                f"{self.n_classes}"
            )
        return predictions.probs.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class Rowwise:
    """A calibrator that looks at each row by itself; subclasses say what it learns.

    Parameters
    ----------
    balanced
        Whether classes count alike in fitting, however many nodes each has.
    """

    balanced: bool = False

    name: ClassVar[str]
    reference: ClassVar[str]

    def __post_init__(self) -> None:
        check_hyper(self)

    @property
    def label(self) -> str:
        """The name with what differs from the defaults."""
        return label_of(self)

    def learn(self, sample: Sample) -> Rows:
        """Learn a map from rows with known classes."""
        raise NotImplementedError

    def fit(self, predictions: NodePredictions, part: str) -> FittedRows:
        """Learn from the labelled nodes of a part."""
        index = labelled(predictions, part)
        sample = Sample.of(predictions.probs[index], predictions.labels[index])
        rows = self.learn(sample.balanced() if self.balanced else sample)
        return FittedRows(self.label, predictions.n_classes, rows)


def labelled(predictions: NodePredictions, part: str) -> IntArray:
    """Return the nodes of a part whose label is known, in ascending order.

    Examples
    --------
    >>> predictions = NodePredictions(np.eye(3), [0, -1, 2], {"valid": [1, 2]})
    >>> labelled(predictions, "valid")
    array([2])
    >>> labelled(predictions, "test")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: no part 'test' to fit on (parts: valid)
    """
    if part not in predictions.parts:
        names = ", ".join(predictions.parts) or "none"
        raise InputError(f"no part {part!r} to fit on (parts: {names})")
    index = predictions.parts[part]
    known = np.sort(index[predictions.known[index]])
    if not len(known):
        raise InputError(f"part {part}: no label is known, nothing to fit on")
    return known


def default_part(parts: Mapping[str, object]) -> str:
    """Return the part to fit on if none is named: the only one for validation, or ``valid_in``.

    Examples
    --------
    >>> default_part({"train": [0], "val": [1], "test": [2]})
    'val'
    >>> default_part({"valid_out": [0], "valid_in": [1]})
    'valid_in'
    """
    found = [name for name in parts if role_of(name) is Role.VALID]
    if len(found) == 1:
        return found[0]
    if "valid_in" in found:
        return "valid_in"
    names = ", ".join(parts) or "none"
    raise InputError(f"name the part to fit on (parts: {names})")


def logits(probs: FloatArray) -> FloatArray:
    """Take logarithms of rows that sum to one; zeros count as the smallest single-precision number.

    Examples
    --------
    >>> logits(np.array([[0.5, 0.5], [1.0, 0.0]])).round(2)
    array([[ -0.69,  -0.69],
           [  0.  , -87.34]])
    """
    logs: FloatArray = log_softmax(np.log(np.maximum(probs, _FLOOR, dtype=np.float64)), axis=1)
    return logs


def with_probs(predictions: NodePredictions, probs: FloatArray, label: str) -> NodePredictions:
    """Return predictions with other probabilities, for the same nodes, labels, parts and edges.

    What belongs to the old probabilities goes with them: parameters of a Dirichlet, joint marginals
    of edges, and the uncertainties of data and knowledge, which no longer add up to the total. The
    total, if it was given, becomes the entropy of the new probabilities. For detection by
    knowledge, take the predictions before they were calibrated.

    Examples
    --------
    >>> given = NodePredictions([[0.9, 0.1]], [0], uncertainties={"total": [0.3], "data": [0.2]})
    >>> made = with_probs(given, np.array([[0.5, 0.5]]), "temperature")
    >>> made.name, dict(made.uncertainties)
    ('temperature', {'total': array([0.69314718])})
    """
    kept = {"total": Uncertainty.from_softmax(probs).total}
    return replace(
        predictions,
        probs=probs,
        uncertainties=kept if "total" in predictions.uncertainties else {},
        alpha=None,
        edge_probs=None,
        name=f"{predictions.name} + {label}" if predictions.name else label,
    )


def label_of(calibrator: Any) -> str:
    """Write a calibrator's name with the hyper-parameters that differ from its defaults."""
    values = {field.name: getattr(calibrator, field.name) for field in fields(calibrator)}
    told = [f"{f.name}={values[f.name]}" for f in fields(calibrator) if values[f.name] != f.default]
    return f"{calibrator.name}({','.join(told)})" if told else str(calibrator.name)


def check_hyper(calibrator: Any) -> None:
    """Check that hyper-parameters are of the kind of their defaults."""
    kinds = {bool: "True or False", int: "a whole number", float: "a number", str: "a word"}
    for field in fields(calibrator):
        value: Any = getattr(calibrator, field.name)
        kind = type(field.default)
        taken = (int, float) if kind is float else (kind,)
        if not isinstance(value, taken) or (isinstance(value, bool) and kind is not bool):
            raise InputError(f"{calibrator.name}: {field.name} {value!r} is not {kinds[kind]}")
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{calibrator.name}: {field.name} {value!r} is not finite")
