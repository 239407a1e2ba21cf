"""Calibrators, fitted to a part after training, and sets of classes with promised coverage.

`calibrator` makes one of `CALIBRATORS` by its label; ``fit`` learns from one part, and what it
returns maps predictions to predictions. `Conformal` turns predictions into sets.
"""

from __future__ import annotations

from graphgauge.calibration.calibrator import Calibrator, Fitted, default_part
from graphgauge.calibration.conformal import Conformal, PredictionSets
from graphgauge.calibration.effect import Effect, effects
from graphgauge.calibration.registry import CALIBRATORS, calibrator

__all__ = [
    "CALIBRATORS",
    "Calibrator",
    "Conformal",
    "Effect",
    "Fitted",
    "PredictionSets",
    "calibrator",
    "default_part",
    "effects",
]
