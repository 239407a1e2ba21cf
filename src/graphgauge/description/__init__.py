"""What a split does to a graph: how the nodes on its two sides differ."""

from __future__ import annotations

from graphgauge.description.describe import Description, Options, describe
from graphgauge.description.distances import Distances, distances
from graphgauge.description.sides import Sides, sides_of

__all__ = ["Description", "Distances", "Options", "Sides", "describe", "distances", "sides_of"]
