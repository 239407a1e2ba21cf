"""Splits of nodes and edges into parts: by a shift, at random, as published."""

from __future__ import annotations

from graphgauge.splits.domains import domains
from graphgauge.splits.levels import levels
from graphgauge.splits.links import link_split
from graphgauge.splits.planetoid import planetoid_split
from graphgauge.splits.published import PUBLISHED, published_split
from graphgauge.splits.sampled import fold_splits, k_shot_split, random_split
from graphgauge.splits.shift import SHIFTS, Shift, shift_property, shift_split

__all__ = [
    "PUBLISHED",
    "SHIFTS",
    "Shift",
    "domains",
    "fold_splits",
    "k_shot_split",
    "levels",
    "link_split",
    "planetoid_split",
    "published_split",
    "random_split",
    "shift_property",
    "shift_split",
]
