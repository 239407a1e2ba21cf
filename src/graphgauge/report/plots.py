"""Figures for papers, drawn with Matplotlib and saved in any format it knows.

The page draws its own figures; these are for the researcher's text. No display is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphgauge.errors import InputError
from graphgauge.stats import CriticalDifference

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_critical_difference", "plot_reliability"]

_ROW = 0.32  # inches a line of text


def plot_critical_difference(found: CriticalDifference, names: Sequence[str]) -> Figure:
    """Draw mean ranks on one axis, and a bar over methods that do not differ.

    Parameters
    ----------
    found
        What `graphgauge.stats.critical_difference` gives.
    names
        Name of every method ``[m]``, in the order of its columns.

    References
    ----------
    Demšar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006.

    Examples
    --------
    >>> from graphgauge.stats import critical_difference
    >>> scores = np.array([[0.9, 0.8, 0.5], [0.8, 0.7, 0.6], [0.9, 0.6, 0.5], [0.7, 0.8, 0.4]])
    >>> figure = plot_critical_difference(
    ...     critical_difference(scores, direction="higher"), ["GCN", "GAT", "MLP"])
    >>> [text.get_text() for text in figure.axes[0].texts][:3]
    ['GCN  1.25', 'GAT  1.75', '3.00  MLP']
    """
    if len(names) != len(found.mean_ranks):
        raise InputError(f"names: {len(names)} for {len(found.mean_ranks)} methods")
    order = np.argsort(found.mean_ranks, kind="stable")
    half = (len(order) + 1) // 2
    figure, axes = _blank(7.0, _ROW * (half + len(found.cliques) + 4))
    top = len(found.mean_ranks)
    bars = 0.35 * len(found.cliques)
    for place, method in enumerate(order):
        rank, left = float(found.mean_ranks[method]), place < half
        depth = -bars - 0.8 - (place if left else len(order) - 1 - place)
        side = 0.9 if left else top + 0.1
        axes.plot([rank, rank, side], [0, depth, depth], color="0.35", linewidth=0.9)
        told = f"{names[method]}  {rank:.2f}" if left else f"{rank:.2f}  {names[method]}"
        axes.text(side, depth, told, ha="right" if left else "left", va="center", parse_math=False)
    for number, clique in enumerate(found.cliques):
        ends = found.mean_ranks[list(clique)]
        height = -0.35 * (number + 1)
        axes.plot([ends.min(), ends.max()], [height, height], color="black", linewidth=3.5)
    _rank_axis(axes, top, found.distance)
    axes.set_ylim(-bars - half - 0.8, 2.4)
    axes.set_xlim(1 - 0.45 * top, top + 0.45 * top)
    return figure


def plot_reliability(curve: Mapping[str, Any]) -> Figure:
    """Draw accuracy against confidence with the null band of every bin.

    Parameters
    ----------
    curve
        An entry of ``figures["reliability"]`` of a scorecard.

    Examples
    --------
    >>> curve = {"part": "test", "scope": "node", "edges": [0.0, 0.5, 1.0], "share": [0.2, 0.8],
    ...          "confidence": [0.4, 0.9], "accuracy": [0.5, 0.8],
    ...          "null_low": [0.3, 0.85], "null_high": [0.6, 0.95]}
    >>> plot_reliability(curve).axes[0].get_title()
    'node, test'
    """
    low, high, share, confidence, accuracy = (
        np.array(curve[key], dtype=np.float64)
        for key in ("null_low", "null_high", "share", "confidence", "accuracy")
    )
    edges = np.asarray(curve["edges"], dtype=np.float64)
    figure, axes = _figure(4.0, 4.0)
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
    axes.bar(edges[:-1], high - low, np.diff(edges), low, align="edge", color="#c9d8f0")
    axes.bar(edges[:-1], 0.15 * share, np.diff(edges), align="edge", color="0.85")
    axes.plot(confidence, accuracy, "o-", color="#1f4e9c", markersize=4, linewidth=1)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy", aspect="equal")
    axes.set_title(f"{curve['scope']}, {curve['part']}", parse_math=False)
    return figure


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _blank(width: float, height: float) -> tuple[Figure, Axes]:
    figure, axes = _figure(width, height)
    axes.axis("off")
    return figure, axes


def _rank_axis(axes: Axes, top: int, distance: float) -> None:
    """Draw the axis of ranks, and above it the distance from which on ranks differ."""
    axes.plot([1, top], [0, 0], color="black", linewidth=1)
    for rank in range(1, top + 1):
        axes.plot([rank, rank], [0, 0.2], color="black", linewidth=1)
        axes.text(rank, 0.35, str(rank), ha="center", va="bottom")
    axes.plot([1, 1 + distance], [1.5, 1.5], color="black", linewidth=1.5)
    axes.text(1 + distance / 2, 1.65, f"CD {distance:.2f}", ha="center", va="bottom")
