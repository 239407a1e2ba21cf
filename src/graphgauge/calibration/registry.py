"""The table of calibrators, and how one is asked for by a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, TypeAlias

from graphgauge.calibration.affine import Dirichlet, Matrix, Vector
from graphgauge.calibration.calibrator import Rowwise
from graphgauge.calibration.classwise import Histogram, Isotonic
from graphgauge.calibration.graphwise import Cagcn, Gats, Graphwise
from graphgauge.calibration.temperature import EnsembleTemperature, Temperature
from graphgauge.errors import InputError
from graphgauge.metrics import split_spec

__all__ = ["CALIBRATORS", "Registered", "calibrator"]

Registered: TypeAlias = Rowwise | Graphwise

_ALL: tuple[type[Rowwise] | type[Graphwise], ...] = (
    Temperature,
    EnsembleTemperature,
    Histogram,
    Isotonic,
    Vector,
    Matrix,
    Dirichlet,
    Cagcn,
    Gats,
)

CALIBRATORS: Mapping[str, type[Rowwise] | type[Graphwise]] = MappingProxyType(
    {made.name: made for made in _ALL}
)
"""Every calibrator by its name."""


def calibrator(label: str, **hyper: Any) -> Registered:
    """Return the calibrator that a label names, with its hyper-parameters.

    Parameters
    ----------
    label
        A name in `CALIBRATORS`, with or without hyper-parameters in brackets.
    hyper
        More of them.

    Examples
    --------
    >>> calibrator("temperature(objective=brier, balanced=True)").label
    'temperature(balanced=True,objective=brier)'
    >>> calibrator("histogram", bins=10).bins
    10
    >>> calibrator("temprature")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: unknown calibrator 'temprature', did you mean 'temperature'?
    >>> calibrator("histogram(bin=10)")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: histogram has no hyper-parameter 'bin' (it has: balanced, bins)
    """
    name, params = split_spec(label, kind="calibrator")
    if name not in CALIBRATORS:
        close = get_close_matches(name, CALIBRATORS, n=1)
        known = ", ".join(CALIBRATORS)
        hint = f", did you mean {close[0]!r}?" if close else f" (expected one of: {known})"
        raise InputError(f"unknown calibrator {name!r}{hint}")
    made, asked = CALIBRATORS[name], {**params, **hyper}
    taken = [field.name for field in fields(made)]
    for key in asked:
        if key not in taken:
            told = ", ".join(taken)
            raise InputError(f"{name} has no hyper-parameter {key!r} (it has: {told})")
    return made(**asked)
