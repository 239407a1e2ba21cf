"""Graphs to measure on: those of the papers, and those made to a plan."""

from __future__ import annotations

from graphgauge.datasets.card import CARDS, Card
from graphgauge.datasets.demo import demo_predictions
from graphgauge.datasets.load import load, open_graph
from graphgauge.datasets.planted import Planted, planted

__all__ = ["CARDS", "Card", "Planted", "demo_predictions", "load", "open_graph", "planted"]
