"""Contracts that metrics, splits and calibrators keep, ours and yours: run them on your own.

>>> from graphgauge.metrics import METRICS
>>> check_metric(METRICS["ece"])
>>> from graphgauge.splits import shift_split
>>> check_split_rule(lambda graph, seed: shift_split(graph, "density", seed=seed))
>>> from graphgauge.calibration import calibrator
>>> check_calibrator(calibrator("temperature"))
"""

from __future__ import annotations

import inspect
import math
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from graphgauge.arrays import IntArray
from graphgauge.calibration import Calibrator
from graphgauge.datasets.planted import planted
from graphgauge.graph import Graph
from graphgauge.metrics import Direction, Metric, Needs, Outcomes, Ranks, metric
from graphgauge.parts import Split
from graphgauge.predictions import NodePredictions

__all__ = [
    "CALIBRATOR_CHECKS",
    "CHECKS",
    "SPLIT_CHECKS",
    "check_calibrator",
    "check_metric",
    "check_split_rule",
    "renumbered",
    "sample",
    "sample_graph",
    "sample_predictions",
]

Arrays: TypeAlias = tuple[npt.NDArray[Any], ...]
SplitRule: TypeAlias = Callable[[Graph, int], Split]

_N = 240
_CLOSE = 1e-9
# What is trained in single precision strays a little when sums are made in another order.
_CLOSE_TRAINED = 1e-3


def check_metric(card: Metric) -> None:
    """Run every contract on a metric; the first broken one is an AssertionError that says which."""
    for check in CHECKS:
        check(card)


def sample(needs: Needs, *, n: int = _N, seed: int = 0) -> Arrays:
    """Make plain arrays that a metric can be computed from, aligned item by item.

    Examples
    --------
    >>> [array.shape for array in sample(Needs.CLASSES, n=5)]
    [(5, 3), (5,)]
    """
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.ones(3), n)
    labels = rng.integers(0, 3, n)
    flags = rng.random(n) < 0.4
    of_need: dict[Needs, Callable[[], Arrays]] = {
        Needs.OUTCOMES: lambda: (probs, labels),
        Needs.CLASSES: lambda: (probs, labels),
        # Rounded, so that some of the scores are tied.
        Needs.REJECTION: lambda: (rng.normal(size=n).round(1), flags),
        Needs.DETECTION: lambda: (rng.normal(size=n).round(1) + flags, flags),
        Needs.SHIFT: lambda: (rng.normal(size=n).round(1) + flags, flags),
        Needs.RANKS: lambda: (rng.integers(0, 30, n), rng.integers(0, 4, n)),
        Needs.STRUCTURE: lambda: (rng.integers(0, n, (n, 2)), labels),
    }
    return of_need[needs]()


def _given(card: Metric, arrays: Arrays) -> tuple[Any, ...]:
    """Wrap plain arrays into what the metric's function takes."""
    if card.needs is Needs.OUTCOMES:
        return (Outcomes.of_nodes(*arrays),)
    if card.needs is Needs.RANKS:
        return (Ranks(arrays[0], arrays[1], 40),)
    return arrays


def _value(card: Metric, arrays: Arrays, **extra: Any) -> float:
    return float(card(*_given(card, arrays), **extra))


def _takes_weights(card: Metric) -> bool:
    return "weights" in inspect.signature(card.compute).parameters


def check_facts(card: Metric) -> None:
    """Check the card: its label is read back, its range is not empty, no fact is blank."""
    assert metric(card.label).label == card.label, f"{card.label}: cannot be read back"
    assert card.low < card.high, f"{card.label}: empty range"
    for fact in (card.definition, card.chance, card.reference):
        assert fact.strip(), f"{card.label}: a fact is blank"
    assert card.direction in Direction, f"{card.label}: no direction"


def check_deterministic(card: Metric) -> None:
    """Check that equal input gives equal output, a number within the range."""
    arrays = sample(card.needs)
    first, second = _value(card, arrays), _value(card, arrays)
    assert first == second, f"{card.label}: {first} and then {second}"
    assert card.low <= first <= card.high, f"{card.label}: {first} is out of range"


def check_input_untouched(card: Metric) -> None:
    """Check that the input is only read."""
    arrays = sample(card.needs)
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    _value(card, arrays)
    for array, old in zip(arrays, before, strict=True):
        assert np.array_equal(array, old), f"{card.label}: changes its input"


def check_order_irrelevant(card: Metric) -> None:
    """Check that the order of the items does not matter."""
    arrays = sample(card.needs)
    order = np.random.default_rng(1).permutation(len(arrays[0]))
    moved = (arrays[0][order], arrays[1]) if card.needs is Needs.STRUCTURE else _take(arrays, order)
    here, there = _value(card, arrays), _value(card, moved)
    assert math.isclose(here, there, abs_tol=_CLOSE), f"{card.label}: {here} becomes {there}"


def check_empty(card: Metric) -> None:
    """Check that nothing gives NaN, not a number and not an error."""
    arrays = _take(sample(card.needs), np.empty(0, np.int64))
    value = _value(card, arrays)
    assert math.isnan(value), f"{card.label}: {value} of nothing"


def check_weights_are_copies(card: Metric) -> None:
    """Check that a whole weight counts like as many copies of the item."""
    if card.needs is not Needs.OUTCOMES and not _takes_weights(card):
        return
    arrays = sample(card.needs)
    counts = np.random.default_rng(2).integers(0, 4, len(arrays[0]))
    copies = _value(card, _take(arrays, np.repeat(np.arange(len(counts)), counts)))
    weights = counts.astype(np.float64)
    if card.needs is Needs.OUTCOMES:
        weighted = float(card(Outcomes.of_nodes(arrays[0], arrays[1], weights)))
    else:
        weighted = _value(card, arrays, weights=weights)
    same = math.isclose(copies, weighted, abs_tol=_CLOSE)
    assert same, f"{card.label}: {weighted} weighted, {copies} copied"


def _take(arrays: Arrays, index: IntArray) -> Arrays:
    return tuple(array[index] for array in arrays)


CHECKS: tuple[Callable[[Metric], None], ...] = (
    check_facts,
    check_deterministic,
    check_input_untouched,
    check_order_irrelevant,
    check_empty,
    check_weights_are_copies,
)
"""The contracts, in the order they are run."""


def check_split_rule(rule: SplitRule) -> None:
    """Run every contract on a rule that splits a graph by a seed; the first broken one is raised.

    Rules for graphs of any order of nodes: one that reads the order itself, as a split published
    by node numbers does, cannot keep them.
    """
    for check in SPLIT_CHECKS:
        check(rule)


def sample_graph(*, twins: bool = False, seed: int = 0) -> Graph:
    """Make a graph with labels to split, on which colours tell all nodes apart.

    With `twins` it has no features, isolated nodes, and every component twice.

    Examples
    --------
    >>> graph = sample_graph()
    >>> graph.n_nodes == len(np.unique(graph.colours.nodes))
    True
    """
    graph = planted(_N, 3, mean_degree=6, seed=seed).graph
    if not twins:
        return graph
    half, once = _N // 2 + 10, graph.edges[(graph.edges < _N // 2).all(axis=1)]
    labels = np.tile(np.asarray(graph.labels)[:half], 2)
    return Graph.from_edges(np.concatenate([once, once + half]), 2 * half, labels=labels)


def renumbered(graph: Graph, order: IntArray) -> Graph:
    """Return the same graph with other numbers: new node ``i`` is old node ``order[i]``.

    Examples
    --------
    >>> renumbered(Graph.from_edges([[0, 1]], 3), np.array([2, 0, 1])).edges
    array([[1, 2]], dtype=int32)
    """
    return Graph(
        graph.adjacency[order][:, order],
        None if graph.features is None else graph.features[order],
        None if graph.labels is None else graph.labels[order],
    )


def check_split_deterministic(rule: SplitRule) -> None:
    """Check that equal graphs and seeds give equal parts, in equal order."""
    first, second = rule(sample_graph(), 3), rule(sample_graph(), 3)
    assert list(first.parts) == list(second.parts), "the parts have other names"
    for name, index in first.parts.items():
        assert np.array_equal(index, second[name]), f"part {name} differs from run to run"


def check_split_seeds(rule: SplitRule) -> None:
    """Check that another seed gives other parts of the same sizes."""
    first, second = rule(sample_graph(), 3), rule(sample_graph(), 4)
    sizes = [{name: len(part) for name, part in split.parts.items()} for split in (first, second)]
    assert sizes[0] == sizes[1], f"another seed changes sizes: {sizes[0]} and {sizes[1]}"
    same = all(np.array_equal(part, second[name]) for name, part in first.parts.items())
    assert not same, "another seed gives the same parts"


def check_split_input_untouched(rule: SplitRule) -> None:
    """Check that the graph is only read."""
    graph = sample_graph()
    content = (graph.adjacency.data, graph.adjacency.indices, graph.adjacency.indptr)
    arrays = [*content, graph.features, graph.labels]
    before = [np.array(array) for array in arrays]
    for array in arrays:
        np.asarray(array).flags.writeable = False
    rule(graph, 0)
    for array, old in zip(arrays, before, strict=True):
        assert np.array_equal(np.asarray(array), old), "the split changes its graph"


def check_split_items(rule: SplitRule) -> None:
    """Check that the items are the graph's; that none is in two parts `Split` sees to itself."""
    graph = sample_graph()
    split = rule(graph, 0)
    n_items = graph.n_nodes if split.pairs is None else len(split.pairs)
    assert split.n_items == n_items, f"{split.n_items} items, expected {n_items}"
    if split.pairs is not None:
        pairs = [*map(tuple, split.pairs.tolist())]
        assert len({*pairs}) == len(pairs), "a pair stands there twice"
        known = {*map(tuple, graph.edges.tolist())}
        assert known.issuperset(pairs), "a pair is no edge of the graph, u < v"


def check_split_renumbering(rule: SplitRule) -> None:
    """Check that other numbers for the nodes give the same nodes, or edges, in every part."""
    graph = sample_graph()
    order = np.random.default_rng(5).permutation(graph.n_nodes)
    here, there = rule(graph, 1), rule(renumbered(graph, order), 1)
    for name in here.parts:
        same = _members(here, name) == _members(there, name, order)
        assert same, f"part {name} depends on how the nodes are numbered"


def check_split_twins(rule: SplitRule) -> None:
    """Check the same where nodes cannot be told apart: every part has as many of each kind."""
    graph = sample_graph(twins=True)
    order = np.random.default_rng(6).permutation(graph.n_nodes)
    kinds = graph.colours.nodes.tolist()
    here, there = rule(graph, 1), rule(renumbered(graph, order), 1)
    for name in here.parts:
        first, second = (
            Counter(tuple(sorted(kinds[node] for node in item)) for item in members)
            for members in (_members(here, name), _members(there, name, order))
        )
        assert first == second, f"part {name} depends on how equal nodes are numbered"


def _members(split: Split, name: str, order: IntArray | None = None) -> set[tuple[int, ...]]:
    """Return the nodes or pairs of a part by their old numbers."""
    items = split[name][:, None] if split.pairs is None else split.pairs[split[name]]
    old = items if order is None else order[items]
    return {tuple(sorted(item)) for item in old.tolist()}


SPLIT_CHECKS: tuple[Callable[[SplitRule], None], ...] = (
    check_split_deterministic,
    check_split_seeds,
    check_split_input_untouched,
    check_split_items,
    check_split_renumbering,
    check_split_twins,
)
"""The contracts of splits, in the order they are run."""


def check_calibrator(calibrator: Calibrator) -> None:
    """Run every contract on a calibrator; the first broken one is raised.

    It is fitted on the part ``valid_in`` of `sample_predictions`.
    """
    for check in CALIBRATOR_CHECKS:
        check(calibrator)


def sample_predictions(*, seed: int = 0) -> NodePredictions:
    """Make predictions that are too sure of themselves, with edges, parts and uncertainties.

    Examples
    --------
    >>> predictions = sample_predictions()
    >>> predictions.n_nodes, list(predictions.parts)
    (240, ['train', 'valid_in', 'test_in', 'valid_out', 'test_out'])
    """
    made = planted(_N, 3, certainty=0.8, homophily=0.6, seed=seed)
    sharp = made.posteriors**2
    probs = sharp / sharp.sum(axis=1, keepdims=True)
    entropy = -(probs * np.log(probs)).sum(axis=1)
    kinds = dict.fromkeys(("total", "data", "knowledge"), entropy)
    labels, edges = np.asarray(made.graph.labels), made.graph.edges
    return NodePredictions(probs, labels, made.split.parts, edges, kinds, name="sharp")


_FITTED_ON = "valid_in"


def check_calibrator_output(calibrator: Calibrator) -> None:
    """Check that all but the probabilities stays, and that what belonged to them is gone."""
    given = sample_predictions()
    made = calibrator.fit(given, _FITTED_ON)(given)
    assert isinstance(made, NodePredictions), f"gives {type(made).__name__}, not predictions"
    assert made.probs.shape == given.probs.shape, f"the shape becomes {made.probs.shape}"
    strayed = float(np.abs(made.probs.sum(axis=1) - 1).max())
    assert strayed < _CLOSE, f"rows miss a sum of one by {strayed}"
    assert made.fingerprint == given.fingerprint, "labels, parts or edges change"
    assert made.name != given.name, "the name does not tell that something was done"
    assert made.name.startswith(given.name), "the name no longer tells what it was done to"
    for kind, values in made.uncertainties.items():
        stale = np.array_equal(values, given.uncertainties[kind])
        assert not stale or np.array_equal(made.probs, given.probs), f"{kind} is that of before"


def check_calibrator_deterministic(calibrator: Calibrator) -> None:
    """Check that equal predictions are mapped to equal ones, bit by bit."""
    first, second = (
        calibrator.fit(given, _FITTED_ON)(given)
        for given in (sample_predictions(), sample_predictions())
    )
    assert np.array_equal(first.probs, second.probs), "probabilities differ from fit to fit"


def check_calibrator_input_untouched(calibrator: Calibrator) -> None:
    """Check that predictions are only read."""
    given = sample_predictions()
    arrays = [given.probs, given.labels, np.asarray(given.edges), *given.parts.values()]
    arrays += given.uncertainties.values()
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    calibrator.fit(given, _FITTED_ON)(given)
    for array, old in zip(arrays, before, strict=True):
        assert np.array_equal(array, old), "changes its input"


def check_calibrator_renumbering(calibrator: Calibrator) -> None:
    """Check that other numbers for the nodes give every node the same probabilities."""
    given = sample_predictions()
    order = np.random.default_rng(7).permutation(given.n_nodes)
    place = np.argsort(order)
    parts = {name: place[index] for name, index in given.parts.items()}
    edges = place[np.asarray(given.edges)]
    kinds = {kind: values[order] for kind, values in given.uncertainties.items()}
    moved = NodePredictions(given.probs[order], given.labels[order], parts, edges, kinds)
    here, there = (calibrator.fit(p, _FITTED_ON)(p).probs for p in (given, moved))
    strayed = float(np.abs(here[order] - there).max())
    assert strayed < _CLOSE_TRAINED, f"other numbers move probabilities by {strayed}"


def check_calibrator_sees_one_part(calibrator: Calibrator) -> None:
    """Check that no label outside the part fitted on makes a difference."""
    given = sample_predictions()
    labels = (given.labels + 1) % given.n_classes
    index = given.parts[_FITTED_ON]
    labels[index] = given.labels[index]
    blind = np.full_like(labels, -1)
    blind[index] = given.labels[index]
    ours = calibrator.fit(given, _FITTED_ON)(given).probs
    for other in (labels, blind):
        theirs = calibrator.fit(replace(given, labels=other), _FITTED_ON)(given).probs
        assert np.array_equal(ours, theirs), "labels of another part leak into the fit"


def check_calibrator_saved(calibrator: Calibrator) -> None:
    """Check that what comes out can be saved, and that saving before makes no difference."""
    given = sample_predictions()
    made = calibrator.fit(given, _FITTED_ON)(given)
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "before.npz"), Path(folder, "after.npz")
        given.save(before)
        made.save(after)
        read, found = NodePredictions.load(before), NodePredictions.load(after)
    again = calibrator.fit(read, _FITTED_ON)(read)
    for other in (found, again):
        assert np.array_equal(made.probs, other.probs), "saved and read, probabilities differ"


CALIBRATOR_CHECKS: tuple[Callable[[Calibrator], None], ...] = (
    check_calibrator_output,
    check_calibrator_deterministic,
    check_calibrator_input_untouched,
    check_calibrator_renumbering,
    check_calibrator_sees_one_part,
    check_calibrator_saved,
)
"""The contracts of calibrators, in the order they are run."""
