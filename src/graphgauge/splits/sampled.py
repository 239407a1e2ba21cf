"""Random splits of the nodes that have a label: by shares, so many a class, in folds.

Who has no label is in no part; a graph without labels is split whole where classes do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from graphgauge.arrays import IntArray
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.splits.lots import Draw, draw_order
from graphgauge.splits.sizes import ceiling_first, nearest, shares_of

__all__ = ["RANDOM_SHARES", "fold_splits", "k_shot_split", "random_split"]

RANDOM_SHARES: Mapping[str, float] = MappingProxyType({"train": 62.5, "valid": 12.5, "test": 25})
"""The shares of *miscalibrated*."""

_ROUNDINGS = MappingProxyType({"nearest": nearest, "miscalibrated": ceiling_first})


def random_split(
    graph: Graph,
    shares: Mapping[str, float] = RANDOM_SHARES,
    *,
    stratified: bool = False,
    rounding: str = "nearest",
    seed: int = 0,
) -> Split:
    """Split nodes at random by shares.

    Parameters
    ----------
    graph
        Whose nodes; only those with a label, if it has labels.
    shares
        Percentage of every part; where they do not reach 100 the rest is in no part.
    stratified
        Whether the shares hold in every class.
    rounding
        ``nearest``: largest remainders; ``miscalibrated``: the rule of that paper's sizes.
    seed
        Of the lots.

    References
    ----------
    Teixeira, Jalaian and Ribeiro, Are Graph Neural Networks Miscalibrated?, 2019, Table 3.

    Examples
    --------
    >>> graph = Graph.from_edges([[0, 1]], 16)
    >>> {name: len(part) for name, part in random_split(graph).parts.items()}
    {'train': 10, 'valid': 2, 'test': 4}
    """
    if rounding not in _ROUNDINGS:
        expected = ", ".join(_ROUNDINGS)
        raise InputError(f"unknown rounding {rounding!r} (expected one of: {expected})")
    fractions = shares_of("shares", list(shares.values()), whole=rounding != "nearest")
    parts: dict[str, list[IntArray]] = {name: [] for name in shares}
    for members in _drawn(graph, seed, by_class=stratified):
        ends = np.cumsum(_ROUNDINGS[rounding](len(members), fractions))
        for name, piece in zip(shares, np.split(members, ends), strict=False):
            parts[name].append(piece)
    recipe = {"by": "random", "shares": dict(shares), "stratified": stratified}
    return _split(graph, parts, {**recipe, "rounding": rounding, "seed": int(seed)})


def k_shot_split(
    graph: Graph, k: int = 20, *, n_valid: int = 500, n_test: int | None = 1000, seed: int = 0
) -> Split:
    """Take `k` training nodes of every class, and others at random to validate and test.

    The defaults are the sizes of the Planetoid splits. With `n_test` None all the rest is tested.

    References
    ----------
    Yang, Cohen and Salakhutdinov, Revisiting Semi-Supervised Learning with Graph Embeddings,
    ICML 2016; Shchur et al., Pitfalls of Graph Neural Network Evaluation, 2018 (random ones).

    Examples
    --------
    >>> graph = Graph.from_edges([[0, 1]], 9, labels=[0, 0, 0, 0, 1, 1, 1, 1, 1])
    >>> split = k_shot_split(graph, 2, n_valid=2, n_test=3)
    >>> np.bincount(graph.labels[split["train"]]), len(split["valid"]), len(split["test"])
    (array([2, 2]), 2, 3)
    """
    if k < 1:
        raise InputError(f"k: {k} nodes of a class cannot be drawn")
    classes = list(_drawn(graph, seed, by_class=True))
    scarce = [members for members in classes if len(members) < k]
    if scarce:
        named = ", ".join(str(_labels(graph)[members[0]]) for members in scarce)
        raise InputError(f"labels: fewer than {k} nodes of class {named}")
    rest = np.concatenate([members[k:] for members in classes])
    rest = rest[draw_order(graph.colours.nodes[rest], seed, Draw.TESTS)]
    if n_test is None:
        n_test = max(len(rest) - n_valid, 0)
    if n_valid + n_test > len(rest):
        raise InputError(
            f"{len(rest)} labelled nodes are left for valid and test, "
            f"{n_valid} and {n_test} are wanted"
        )
    valid, test, _ = np.split(rest, [n_valid, n_valid + n_test])
    train = [members[:k] for members in classes]
    recipe = {"by": "k-shot", "k": k, "n_valid": n_valid, "n_test": n_test, "seed": int(seed)}
    return _split(graph, {"train": train, "valid": [valid], "test": [test]}, recipe)


def fold_splits(
    graph: Graph,
    *,
    n_folds: int = 3,
    observed: float = 15,
    protocol: str = "corrected",
    seed: int = 0,
) -> tuple[Split, ...]:
    """Divide a few observed nodes into folds, class by class: each validates once, others train.

    The seeds 0 to 4 give the 5 × 3 splits of *edgewise*.

    Parameters
    ----------
    graph
        With labels.
    n_folds
        How many folds and splits.
    observed
        Percentage of every class that is observed, rounded down.
    protocol
        ``corrected``: all other nodes are tested, which is the 85 % of the paper; ``published``:
        85 % of every class of them, so that an eighth of the nodes is in no part, as in the files
        of the paper.
    seed
        Of the lots.

    References
    ----------
    Hsu, Shen and Cremers, A Graph Is More Than Its Nodes: Towards Structured Uncertainty-Aware
    Learning on Graphs, 2022, appendix C.

    Examples
    --------
    >>> graph = Graph.from_edges([[0, 1]], 80, labels=np.arange(80) % 2)
    >>> [[len(part) for part in split.parts.values()] for split in fold_splits(graph)]
    [[8, 4, 68], [8, 4, 68], [8, 4, 68]]
    """
    if protocol not in ("corrected", "published"):
        raise InputError(f"protocol: {protocol!r} is neither 'corrected' nor 'published'")
    if n_folds < 2:
        raise InputError(f"n_folds: {n_folds} is too few, one fold has to validate for another")
    [share] = shares_of("observed", [observed], whole=False)
    tested = 100 - share if protocol == "published" else 100
    seen, test = [], []
    for members in _drawn(graph, seed, by_class=True):
        n_seen = int(len(members) * share / 100)
        seen.append(members[:n_seen])
        rest = members[n_seen:]
        test.append(rest[: int(len(rest) * tested / 100)])
    # Every third of a list sorted by class: the folds have the classes' shares, to one node.
    in_turn = np.concatenate(seen)
    recipe = {"by": "folds", "n_folds": n_folds, "observed": float(observed)}
    recipe |= {"protocol": protocol, "seed": int(seed)}
    splits = []
    for fold in range(n_folds):
        validates = np.arange(len(in_turn)) % n_folds == fold
        parts = {"train": [in_turn[~validates]], "valid": [in_turn[validates]], "test": test}
        splits.append(_split(graph, parts, {**recipe, "fold": fold}))
    return tuple(splits)


def _labels(graph: Graph) -> IntArray:
    if graph.labels is None:
        raise InputError("the graph has no labels, which this split needs")
    return graph.labels


def _drawn(graph: Graph, seed: int, *, by_class: bool) -> Iterator[IntArray]:
    """Yield the nodes to be split in the order they are drawn, class by class if wanted."""
    order = draw_order(graph.colours.nodes, seed, Draw.PARTS)
    if not by_class and graph.labels is None:
        yield order
        return
    labels = _labels(graph)[order]
    if not by_class:
        yield order[labels >= 0]
        return
    if not (labels >= 0).any():
        raise InputError("labels: no node has one")
    for label in np.unique(labels[labels >= 0]):
        yield order[labels == label]


def _split(graph: Graph, parts: Mapping[str, list[IntArray]], recipe: Mapping[str, Any]) -> Split:
    joined = {name: np.sort(np.concatenate(pieces)) for name, pieces in parts.items()}
    for name, index in joined.items():
        if not len(index):
            raise InputError(f"part {name} would be empty: there are too few labelled nodes")
    return Split(joined, graph.n_nodes, {**recipe, "graph": graph.fingerprint})
