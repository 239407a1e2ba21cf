"""The table of methods; what stands behind a name is loaded when it is asked for."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType
from typing import Any

from graphgauge.errors import InputError
from graphgauge.methods.method import Method

__all__ = ["NODE_METHODS", "PROTOCOLS", "method"]

PROTOCOLS = ("corrected", "published")

_HOME = "graphgauge.methods"

NODE_METHODS: Mapping[str, str] = MappingProxyType(
    {
        "revisiting/mlp": f"{_HOME}.revisiting.classifiers:Mlp",
        "revisiting/gnn": f"{_HOME}.revisiting.classifiers:Gnn",
        "revisiting/en": f"{_HOME}.revisiting.classifiers:EvidentialNetwork",
        "revisiting/pn": f"{_HOME}.revisiting.posterior:PosteriorNetwork",
        "revisiting/natpn": f"{_HOME}.revisiting.posterior:NaturalPosteriorNetwork",
        "revisiting/gpn": f"{_HOME}.revisiting.posterior:GraphPosteriorNetwork",
        "revisiting/natgpn": f"{_HOME}.revisiting.posterior:NaturalGraphPosteriorNetwork",
        "shifts/erm": f"{_HOME}.shifts.classifiers:Erm",
        "shifts/erm-mod": f"{_HOME}.shifts.classifiers:ErmMod",
        "shifts/erm-mcd": f"{_HOME}.shifts.classifiers:ErmMcd",
        "shifts/mixup": f"{_HOME}.shifts.mixup:Mixup",
        "shifts/eerm": f"{_HOME}.shifts.eerm:Eerm",
        "shifts/dann": f"{_HOME}.shifts.dann:Dann",
        "shifts/coral": f"{_HOME}.shifts.coral:Coral",
        "shifts/natpn": f"{_HOME}.shifts.posterior:NaturalPosteriorNetwork",
        "shifts/gpn": f"{_HOME}.shifts.posterior:GraphPosteriorNetwork",
        "miscalibrated/gcn": f"{_HOME}.miscalibrated.classifiers:Gcn",
        "miscalibrated/gcn-mcd": f"{_HOME}.miscalibrated.classifiers:GcnMcd",
        "miscalibrated/gat": f"{_HOME}.miscalibrated.classifiers:Gat",
        "miscalibrated/gat-mcd": f"{_HOME}.miscalibrated.classifiers:GatMcd",
        "miscalibrated/gin": f"{_HOME}.miscalibrated.classifiers:Gin",
        "miscalibrated/gin-mcd": f"{_HOME}.miscalibrated.classifiers:GinMcd",
        "edgewise/gcn": f"{_HOME}.edgewise.classifiers:Gcn",
        "edgewise/gat": f"{_HOME}.edgewise.classifiers:Gat",
        "edgewise/gmnn": f"{_HOME}.edgewise.gmnn:Gmnn",
        "edgewise/epfgnn": f"{_HOME}.edgewise.epfgnn:Epfgnn",
    }
)
"""Name to where its class is, ``module:Class``."""


def method(name: str, *, protocol: str = "corrected", device: str = "cpu", **hyper: Any) -> Method:
    """Make a method by name.

    Parameters
    ----------
    name
        A name in `NODE_METHODS`.
    protocol
        ``corrected``: what the paper means; ``published``: what its numbers were made with.
    device
        Where to train: ``cpu``, ``cuda``, ``cuda:1`` …
    hyper
        Hyper-parameters that differ from the published ones, by name.

    Examples
    --------
    >>> method("shifts/erm", epochs=100).hidden
    256
    >>> method("shifts/erm", epoch=100)
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: shifts/erm: no hyper-parameter 'epoch'; did you mean epochs?
    >>> method("shifts/emr")
    Traceback (most recent call last):
        ...
    graphgauge.errors.InputError: unknown method 'shifts/emr'; did you mean shifts/erm?
    """
    if name not in NODE_METHODS:
        raise InputError(f"unknown method {name!r}{_hint(name, NODE_METHODS)}")
    if protocol not in PROTOCOLS:
        raise InputError(f"protocol: {protocol!r} is not one of: {', '.join(PROTOCOLS)}")
    made = _class(name)
    known = [key for key in inspect.signature(made).parameters if key not in ("protocol", "device")]
    for key in hyper:
        if key not in known:
            raise InputError(f"{name}: no hyper-parameter {key!r}{_hint(key, known)}")
    built: Method = made(protocol=protocol, device=device, **hyper)
    return built


def _class(name: str) -> Any:
    module, _, attribute = NODE_METHODS[name].partition(":")
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise InputError(f'{name} needs torch: pip install "graphgauge[train]"') from None


def _hint(word: str, known: Any) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else f" (expected one of: {', '.join(known)})"
