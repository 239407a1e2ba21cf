"""Findings about link predictions: leaks, false negatives, repeated pairs, ties.

Pairs have no direction here: ``(u, v)`` is ``(v, u)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graphgauge.archive import blocks_of
from graphgauge.arrays import BoolArray, IntArray, check_pairs, integers
from graphgauge.audit.findings import Finding, found, portion
from graphgauge.audit.keys import among, distinct, pair_keys, repeated, tied_on_disk
from graphgauge.graph import Graph
from graphgauge.metrics.ranks import Ranks
from graphgauge.predictions import LinkPredictions
from graphgauge.roles import Role, items_of

__all__ = ["Links", "link_findings"]

_PAIRS_AT_A_TIME = 2**20
# Chance meetings of single-precision scores stay below this share.
_TIED_FROM = 0.01
# A tie counts where it can move the rank by this share of it.
_SHAKEN = 0.01


@dataclass(frozen=True, eq=False)
class Links:
    """Link predictions beside what was known when they were made."""

    predictions: LinkPredictions
    graph: Graph | None = None
    valid_edges: IntArray | None = None

    @classmethod
    def of(
        cls, predictions: LinkPredictions, graph: Graph | None, valid_edges: npt.ArrayLike | None
    ) -> Links:
        """Check that all pairs are pairs of nodes that exist."""
        pairs = None
        if valid_edges is not None:
            array = np.asarray(valid_edges)
            pairs = integers(
                "valid_edges", array.reshape(-1, 2) if not array.size else array, ndim=2
            )
        links = cls(predictions, graph, pairs)
        for name, given in links.given.items():
            flat = given.reshape(-1, given.shape[-1])
            check_pairs(name, flat, links.n_nodes)
        return links

    @property
    def given(self) -> dict[str, IntArray]:
        """The arrays of pairs there are, by name."""
        arrays = {
            "pos_edges": self.predictions.pos_edges,
            "neg_edges": self.predictions.neg_edges,
            "valid_edges": self.valid_edges,
        }
        return {name: pairs for name, pairs in arrays.items() if pairs is not None}

    @cached_property
    def n_nodes(self) -> int:
        """Nodes of the graph, or as many as the pairs name."""
        if self.graph is not None:
            return self.graph.n_nodes
        return 1 + max((int(pairs.max()) for pairs in self.given.values() if pairs.size), default=0)

    def keys(self, pairs: IntArray | None) -> IntArray:
        """Turn pairs into numbers regardless of direction; no pairs give no keys."""
        return np.empty(0, np.int64) if pairs is None else pair_keys(pairs, self.n_nodes)

    @cached_property
    def positives(self) -> IntArray:
        """Keys of the positives ``[e]``."""
        return self.keys(self.predictions.pos_edges)

    @cached_property
    def seen(self) -> IntArray:
        """Sorted keys of the graph's edges."""
        return np.sort(self.keys(None if self.graph is None else self.graph.edges))

    @cached_property
    def negative_rows(self) -> IntArray | None:
        """Pairs of the negatives ``[rows, k, 2]``; a shared list is one row."""
        pairs = self.predictions.neg_edges
        return pairs[None] if pairs is not None and self.predictions.shared else pairs


def link_findings(links: Links) -> Iterator[Finding]:
    """Report leaks, false negatives, loops, repetitions and ties."""
    yield from _leaks(links)
    yield from _positives(links)
    yield from _negatives(links)
    yield from _tied_scores(links.predictions)


def _leaks(links: Links) -> Iterator[Finding]:
    """Positives of training parts belong in the graph, all others do not."""
    parts, n = links.predictions.parts, len(links.positives)
    valid, train = items_of(parts, Role.VALID), items_of(parts, Role.TRAIN)
    inside = among(links.positives, links.seen)
    if n:
        judged = np.ones(n, bool)
        judged[valid] = judged[train] = False
        leaked = judged & inside
        if leaked.any():
            message = f"{portion(int(leaked.sum()), int(judged.sum()), 'positive')} are edges of "
            message += "the graph: a model can look the answer up"
            of = int(judged.sum())
            yield found("positive-in-graph", message, items="positives", offenders=leaked, of=of)
        yield from _valid_inside("positives", valid[inside[valid]], len(valid))
    if links.valid_edges is not None:
        inside = among(links.keys(links.valid_edges), links.seen)
        yield from _valid_inside("valid edges", np.flatnonzero(inside), len(inside))


def _valid_inside(items: str, offenders: IntArray, n: int) -> Iterator[Finding]:
    if len(offenders):
        message = f"{portion(len(offenders), n, 'validation edge')} are edges of the graph: "
        message += "validation scores flatter, and test scores use more than the training edges"
        yield found("valid-in-graph", message, items=items, offenders=offenders, of=n)


def _positives(links: Links) -> Iterator[Finding]:
    pairs = links.predictions.pos_edges
    if pairs is None:
        return
    n = len(pairs)
    loops = pairs[:, 0] == pairs[:, 1]
    if loops.any():
        message = f"{portion(int(loops.sum()), n, 'positive')} pair a node with itself"
        yield found("positive-loop", message, items="positives", offenders=loops, of=n)
    directed = pair_keys(pairs, links.n_nodes, directed=True)
    again = among(directed, repeated(directed))
    if again.any():
        message = f"{portion(int(again.sum()), n, 'positive')} are given more than once, "
        message += "so they count more than once"
        yield found("positive-repeated", message, items="positives", offenders=again, of=n)
    both = among(directed // 2, repeated(distinct(directed) // 2))
    if both.any():
        message = f"{portion(int(both.sum()), n, 'positive')} are given in both directions, "
        message += "so an undirected link counts twice"
        yield found("positive-both-directions", message, items="positives", offenders=both, of=n)


def _negatives(links: Links) -> Iterator[Finding]:
    """Look at the pairs of the negatives, a block of rows at a time."""
    rows = links.negative_rows
    if rows is None:
        return
    valid = links.keys(links.valid_edges)
    tables = {
        "negative-is-positive": distinct(links.positives),
        "negative-is-edge": distinct(np.concatenate([links.seen, valid])),
    }
    flaws: dict[str, list[IntArray]] = {code: [] for code in _NEGATIVES}
    step = max(1, _PAIRS_AT_A_TIME // rows.shape[1])
    for start in range(0, len(rows), step):
        pairs = rows[start : start + step]
        keys = pair_keys(pairs, links.n_nodes)
        masks = {code: among(keys, table) for code, table in tables.items()}
        masks["negative-loop"] = pairs[..., 0] == pairs[..., 1]
        masks["negative-repeated"] = _repeated_in_row(keys)
        for code, mask in masks.items():
            flaws[code].append(np.flatnonzero(mask) + start * rows.shape[1])
    of = rows.shape[0] * rows.shape[1]
    for code, blocks in flaws.items():
        offenders = np.concatenate(blocks)
        if len(offenders):
            message = f"{portion(len(offenders), of, 'negative')} {_NEGATIVES[code]}"
            yield found(code, message, items="negatives", offenders=offenders, of=of)


_NEGATIVES = {
    "negative-is-positive": "are positives of the same file: a right model is punished for them",
    "negative-is-edge": "are known edges: a right model is punished for them",
    "negative-loop": "pair a node with itself: few models score such pairs sensibly",
    "negative-repeated": "are given more than once in one list, so they count more than once",
}


def _repeated_in_row(keys: IntArray) -> BoolArray:
    """Mark keys ``[r, k]`` that occur more than once in their row."""
    ordered = np.sort(keys, axis=1)
    rows = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    mask = np.zeros(keys.shape, bool)
    order = np.argsort(keys[rows], axis=1)
    same = np.diff(np.take_along_axis(keys[rows], order, axis=1), axis=1) == 0
    within = np.zeros(order.shape, bool)
    within[:, 1:] |= same
    within[:, :-1] |= same
    found_here = np.zeros(order.shape, bool)
    np.put_along_axis(found_here, order, within, axis=1)
    mask[rows] = found_here
    return mask


def _tied_scores(predictions: LinkPredictions) -> Iterator[Finding]:
    ranks = Ranks.of(predictions.pos, predictions.neg)
    shaken = (ranks.equal > 0) & (ranks.equal >= _SHAKEN * (ranks.greater + 1.0))
    n = len(shaken)
    if shaken.mean() >= _TIED_FROM:
        message = f"{portion(int(shaken.sum()), n, 'positive')} score the same as a negative: "
        message += "their rank hangs on the tie rule"
        yield found("tied-scores", message, items="positives", offenders=shaken, of=n)
    if predictions.shared:
        mask = tied_on_disk(predictions.neg)
        n_tied, of, items, where = int(mask.sum()), len(mask), "negatives", "the list"
    else:
        mask, n_tied = _ties_in_rows(predictions)
        of, items, where = n * predictions.n_negatives, "positives", "their row"
    if n_tied >= _TIED_FROM * of:
        message = f"{portion(n_tied, of, 'negative')} score the same as another of {where}"
        yield found("tied-negatives", message, items=items, offenders=mask, of=len(mask))


def _ties_in_rows(predictions: LinkPredictions) -> tuple[BoolArray, int]:
    """Mark positives among whose negatives there is a tie, and count the negatives in ties."""
    mask, n_tied, start = np.zeros(len(predictions.pos), bool), 0, 0
    for block in blocks_of(predictions.neg, max(1, _PAIRS_AT_A_TIME // predictions.n_negatives)):
        ordered = np.sort(block, axis=1)
        same = ordered[:, 1:] == ordered[:, :-1]
        mask[start : start + len(block)] = same.any(axis=1)
        # A run of equal scores is one longer than its meetings; it starts where the last ended.
        starts = same.copy()
        starts[:, 1:] &= ~same[:, :-1]
        n_tied += int(same.sum() + starts.sum())
        start += len(block)
    return mask, n_tied
