"""Methods that are trained: the networks of the papers, and the door for any other.

`method` makes one of `NODE_METHODS` by name; ``fit`` trains it and gives a predictor, ``predict``
gives predictions. torch is loaded when the first network is made, not before.
"""

from __future__ import annotations

from graphgauge.methods.ensembles import COMBINATIONS, combine
from graphgauge.methods.method import Method, Predictor
from graphgauge.methods.registry import NODE_METHODS, method

__all__ = ["COMBINATIONS", "NODE_METHODS", "Method", "Predictor", "combine", "method"]
