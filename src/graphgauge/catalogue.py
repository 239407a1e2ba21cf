"""Methods and calibrators by their names: the package's, others', and any class that can be found.

A name is one of the registry (``shifts/erm``), one that another package registered as an entry
point of the group ``graphgauge.methods``, or ``module:Class``. Nothing is imported before it is
asked for.

A hyper-parameter whose value is ``{"among": [...]}`` is chosen from the list in every run, by the
accuracy on validation data in distribution.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from graphgauge.errors import InputError
from graphgauge.methods.method import Method
from graphgauge.methods.registry import NODE_METHODS, method
from graphgauge.methods.search import Searched, grid
from graphgauge.metrics import split_spec

__all__ = [
    "calibrator_version",
    "check_hyper",
    "make_calibrator",
    "make_method",
    "method_class",
    "method_names",
    "method_version",
]

_GROUP = "graphgauge.methods"
_CALIBRATORS = "graphgauge.calibration"
_OWN = re.compile(r"(?P<module>[\w.]+):(?P<attribute>\w+)(\((?P<arguments>[^()]*)\))?")
# What the runner gives a method that asks for it; no hyper-parameters.
_GIVEN = ("protocol", "device")


@cache
def method_names() -> Mapping[str, str]:
    """Return ``module:Class`` of every registered method; the package's own come first."""
    others = {point.name: point.value for point in entry_points(group=_GROUP)}
    return {**others, **NODE_METHODS}


@cache
def method_class(name: str) -> type[Any]:
    """Import the class of a method.

    Examples
    --------
    >>> method_class("fractions:Fraction")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: fractions:Fraction: is no method, it cannot fit
    """
    where = method_names().get(name, name)
    module, colon, attribute = where.partition(":")
    if not colon:
        close = difflib.get_close_matches(name, method_names(), n=1)
        hint = f", did you mean {close[0]!r}?" if close else "; or name it as module:Class"
        raise InputError(f"no method {name!r}{hint}")
    return _imported(name, module, attribute, "method")


def _imported(name: str, module: str, attribute: str, kind: str) -> type[Any]:
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"{name}: cannot be imported ({error})") from None
    if not callable(getattr(found, "fit", None)):
        raise InputError(f"{name}: is no {kind}, it cannot fit")
    cls: type[Any] = found
    return cls


def method_version(name: str) -> str:
    """Return the version of a method, which is raised when its numbers change."""
    return str(getattr(method_class(name), "version", "1"))


def check_hyper(name: str, hyper: Mapping[str, Any]) -> None:
    """Check that a method has the hyper-parameters that are set."""
    taken = _arguments(name)
    known = sorted(set(taken) - set(_GIVEN))
    for key in hyper:
        if key not in known and "**" not in taken:
            told = ", ".join(known) or "none"
            raise InputError(f"{name}: has no hyper-parameter {key!r} (it has: {told})")
    _split(hyper)


def make_method(name: str, hyper: Mapping[str, Any], *, protocol: str, device: str) -> Method:
    """Make a method with its hyper-parameters, on a device, for a protocol.

    Examples
    --------
    >>> made = make_method("shifts/dann", {"weight": {"among": [0.1, 0.01]}}, protocol="corrected",
    ...                    device="cpu")
    >>> made.ranges
    {'weight': (0.1, 0.01)}
    """
    fixed, ranges = _split(hyper)
    given = {"protocol": protocol, "device": device}
    make: Callable[..., Method] = partial(method, name)
    if name not in NODE_METHODS:
        make = method_class(name)
        given = {key: value for key, value in given.items() if key in _arguments(name)}
    made = partial(make, **given, **fixed)
    return Searched(made, ranges) if ranges else made()


def _split(hyper: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    """Tell what is fixed from what is to be chosen among several values."""
    ranges = {
        key: tuple(value["among"])
        for key, value in hyper.items()
        if isinstance(value, Mapping) and set(value) == {"among"}
    }
    grid(ranges)
    return {key: value for key, value in hyper.items() if key not in ranges}, ranges


def _arguments(name: str) -> set[str]:
    found = inspect.signature(method_class(name)).parameters.values()
    return {"**" if p.kind is p.VAR_KEYWORD else p.name for p in found}


def make_calibrator(label: str) -> Any:
    """Make a calibrator by its label: one of the package, or ``module:Class(key=value)``.

    It has ``fit(predictions, part)``, which returns a function from predictions to predictions.

    Examples
    --------
    >>> make_calibrator("fractions:Fraction(numerator=1)")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: fractions:Fraction(numerator=1): is no calibrator, it cannot fit
    """
    own = _OWN.fullmatch(label.strip())
    if own is None:
        return _packaged(label)
    _, params = split_spec(f"own({own['arguments'] or ''})")
    cls = _imported(label, own["module"], own["attribute"], "calibrator")
    try:
        return cls(**params)
    except TypeError as error:
        raise InputError(f"{label}: cannot be made ({error})") from None


def calibrator_version(label: str) -> str:
    """Return the version of a calibrator, which is raised when its numbers change."""
    return str(getattr(make_calibrator(label), "version", "1"))


def _packaged(label: str) -> Any:
    try:
        home = import_module(_CALIBRATORS)
    except ModuleNotFoundError as error:
        if error.name != _CALIBRATORS:
            raise
        told = f"no calibrator {label!r}: name one of your own as module:Class"
        raise InputError(told) from None
    return home.calibrator(label)
