"""Statistics: how far a number can be trusted, and whether two of them differ."""

from __future__ import annotations

from graphgauge.stats.aggregate import Summary, summarize
from graphgauge.stats.blocks import balanced_counts, communities, edge_counts, endpoint_blocks
from graphgauge.stats.flips import holm
from graphgauge.stats.intervals import (
    Interval,
    Spread,
    bootstrap,
    bootstrap_mean,
    interval,
    ten_bootstraps,
)
from graphgauge.stats.paired import compare
from graphgauge.stats.ranks import (
    CriticalDifference,
    WinTieLoss,
    competition_ranks,
    critical_difference,
    mean_ranks,
    win_tie_loss,
)
from graphgauge.stats.resampling import (
    mean_replicates,
    ratio_replicates,
    replicates,
    resample_counts,
    resamples,
)
from graphgauge.stats.swaps import Plan, compare_metric
from graphgauge.stats.verdict import Comparison, Verdict

__all__ = [
    "Comparison",
    "CriticalDifference",
    "Interval",
    "Plan",
    "Spread",
    "Summary",
    "Verdict",
    "WinTieLoss",
    "balanced_counts",
    "bootstrap",
    "bootstrap_mean",
    "communities",
    "compare",
    "compare_metric",
    "competition_ranks",
    "critical_difference",
    "edge_counts",
    "endpoint_blocks",
    "holm",
    "interval",
    "mean_ranks",
    "mean_replicates",
    "ratio_replicates",
    "replicates",
    "resample_counts",
    "resamples",
    "summarize",
    "ten_bootstraps",
    "win_tie_loss",
]
