"""Every split keeps every contract, and broken ones are caught."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from graphgauge.checks import SPLIT_CHECKS, check_split_rule, sample_graph
from graphgauge.parts import Split
from graphgauge.splits import (
    SHIFTS,
    fold_splits,
    k_shot_split,
    link_split,
    random_split,
    shift_split,
)

RULES = {
    **{
        name: lambda g, s, name=name: shift_split(_with_features(g), name, seed=s)
        for name in SHIFTS
    },
    "own": lambda g, s: shift_split(g, lambda g: g.degrees, seed=s),
    "shift 90": lambda g, s: shift_split(g, "density", ratio=90, rounding="shifts", seed=s),
    "random": lambda g, s: random_split(g, seed=s),
    "stratified": lambda g, s: random_split(g, stratified=True, seed=s),
    "k-shot": lambda g, s: k_shot_split(g, 5, n_valid=30, n_test=40, seed=s),
    "folds": lambda g, s: fold_splits(g, seed=s)[1],
    "published folds": lambda g, s: fold_splits(g, protocol="published", seed=s)[2],
    "links": lambda g, s: link_split(g, seed=s),
}


def _with_features(graph):
    """The graph, with its classes as features where it has none to project."""
    if graph.features is not None:
        return graph
    return type(graph)(graph.adjacency, np.eye(3)[graph.labels], graph.labels)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("check", SPLIT_CHECKS, ids=lambda check: check.__name__)
def test_contract(name, check):
    check(RULES[name])


def _nodes(graph, *parts):
    return Split(dict(zip("abc", parts, strict=False)), graph.n_nodes)


def _by_row(graph, seed):
    order = np.random.default_rng(seed).permutation(graph.n_nodes)
    return _nodes(graph, order[:50], order[50:])


def _unseeded(graph, seed):
    order = np.random.default_rng().permutation(graph.n_nodes)
    return _nodes(graph, order[:50], order[50:])


def _by_colour_alone(graph, seed):
    return _nodes(graph, *np.split(np.argsort(graph.colours.nodes), [50]))


def _twins_by_row(graph, seed):
    """Right as long as all colours differ."""
    colours = graph.colours.nodes * np.uint64(2 * seed + 1)
    chosen = np.argsort(colours, kind="stable")[: 50 + seed]
    inside = np.zeros(graph.n_nodes, bool)
    inside[chosen] = True
    inside ^= (np.arange(graph.n_nodes) % 2 == 1) & (len(np.unique(colours)) < graph.n_nodes)
    return _nodes(graph, np.flatnonzero(inside), np.flatnonzero(~inside))


def _sized_by_seed(graph, seed):
    return _nodes(graph, np.arange(seed + 1))


def _scribbling(graph, seed):
    graph.labels[0] = 0
    return random_split(graph, seed=seed)


def _half_the_items(graph, seed):
    order = np.random.default_rng(seed).permutation(200)
    return Split({"a": order[:100]}, 200)


def _directed(graph, seed):
    split = link_split(graph, seed=seed)
    return Split(split.parts, split.n_items, pairs=split.pairs[:, ::-1])


@pytest.mark.parametrize(
    ("rule", "error", "told"),
    [
        (_unseeded, AssertionError, "differs from run to run"),
        (_by_row, AssertionError, "depends on how the nodes are numbered"),
        (_by_colour_alone, AssertionError, "another seed gives the same parts"),
        (_twins_by_row, AssertionError, "another seed changes sizes"),
        (_sized_by_seed, AssertionError, "another seed changes sizes"),
        (_scribbling, ValueError, "read-only"),
        (_half_the_items, AssertionError, "200 items, expected"),
        (_directed, AssertionError, "is no edge of the graph, u < v"),
    ],
)
def test_a_broken_rule_is_caught(rule, error, told):
    with pytest.raises(error, match=told):
        check_split_rule(rule)


def test_equal_nodes_numbered_by_row_are_caught():
    check = SPLIT_CHECKS[-1]
    with pytest.raises(AssertionError, match="how equal nodes are numbered"):
        check(_twins_by_row)


_PRINT = """
import sys
sys.path.insert(0, {tests!r})
from test_split_contracts import fingerprints
print(fingerprints())
"""


def fingerprints() -> str:
    """A line a rule: where the first items of every part are, and their sums."""
    lines = []
    for name, rule in RULES.items():
        split = rule(sample_graph(twins=True), 11)
        lines += [
            (name, part, index[:5].tolist(), int(index.sum()))
            for part, index in split.parts.items()
        ]
    return repr(lines)


def test_equal_seeds_are_equal_in_other_processes():
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", _PRINT.format(tests=os.path.dirname(__file__))],
            check=True,
            text=True,
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )
        assert done.stdout.strip() == fingerprints()
