"""Graphs to measure on."""

from __future__ import annotations

from graphgauge.datasets.demo import demo_predictions
from graphgauge.datasets.planted import Planted, planted

__all__ = ["Planted", "demo_predictions", "planted"]
