"""Splits of nodes and edges into parts: by a shift, at random, as published."""

from __future__ import annotations

from graphgauge.splits.levels import levels

__all__ = ["levels"]
