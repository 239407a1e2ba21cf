"""Findings: what an audit has to say, each with the items it is about.

How severe a finding is follows one rule. An *error* voids the result: what was judged had been
seen, or the rows belong to other items. A *warning* distorts a number, or makes it hang on a
convention. A *note* is usual in some settings, and worth knowing when the number is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from graphgauge.arrays import BoolArray, IntArray

__all__ = ["CHECKS", "Check", "Finding", "Severity", "found", "in_order", "number", "portion"]


_ROWS = 2**20


class Severity(StrEnum):
    """How much a finding matters, the gravest first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Check:
    """What is looked for under a code: its severity, and a sentence for the documentation."""

    code: str
    severity: Severity
    description: str


@dataclass(frozen=True, eq=False)
class Finding:
    """Something an audit found.

    Parameters
    ----------
    code
        A name in `CHECKS`.
    severity
        How much it matters.
    message
        One line: what was found, how much of it, what it does to the result.
    items
        What the offenders number: ``nodes``, ``edges``, ``positives``, ``negatives``, ``columns``,
        ``classes``, ``items`` or ``valid edges``.
    offenders
        Numbers of all offending items, ascending. Edges are rows of the file's edges (of
        `Graph.edges` where only a graph has them); negatives are counted row by row.
    share
        What part of the items this is, where there is a natural whole.
    """

    code: str
    severity: Severity
    message: str
    items: str
    offenders: IntArray
    share: float | None = None

    @property
    def n(self) -> int:
        """Number of offenders."""
        return len(self.offenders)


def found(
    code: str, message: str, *, items: str, offenders: IntArray | BoolArray, of: int | None = None
) -> Finding:
    """Report offenders (numbers or a mask) out of `of` items under a code of `CHECKS`."""
    is_mask = offenders.dtype == bool
    rows: IntArray = (
        _places(offenders.astype(bool, copy=False)) if is_mask else np.asarray(np.sort(offenders))
    )
    share = len(rows) / of if of else None
    return Finding(code, CHECKS[code].severity, message, items, rows, share)


def _places(mask: BoolArray) -> IntArray:
    """Return where a mask holds, as narrow numbers: there may be as many as edges or negatives."""
    narrow = len(mask) <= np.iinfo(np.int32).max
    rows: IntArray = np.empty(int(mask.sum()), np.int32 if narrow else np.int64)
    done = 0
    for start in range(0, len(mask), _ROWS):
        found_here = np.flatnonzero(mask[start : start + _ROWS])
        rows[done : done + len(found_here)] = found_here + start
        done += len(found_here)
    return rows


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by severity, then code; those of one code stay in the order they came."""
    rank = {severity: place for place, severity in enumerate(Severity)}
    return sorted(findings, key=lambda finding: (rank[finding.severity], finding.code))


def number(n: int, one: str, many: str = "") -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> number(1, "node"), number(2, "class", "classes")
    ('1 node', '2 classes')
    """
    return f"{n} {one if n == 1 else many or one + 's'}"


def portion(n: int, of: int, one: str) -> str:
    """Write a count, the whole it is taken from, and the share.

    Examples
    --------
    >>> portion(3, 40, "test node"), portion(1, 2000, "edge")
    ('3 of 40 test nodes (7.5 %)', '1 of 2000 edges (under 0.1 %)')
    """
    percent = 100 * n / of if of else 0.0
    share = "under 0.1" if 0 < percent < 0.1 else f"{percent:.1f}"
    return f"{n} of {number(of, one)} ({share} %)"


_ERRORS = {
    "parts-overlap": "items in more than one part: what is judged was trained on",
    "labels-differ": "labels that contradict the graph's: the rows may be in another order",
    "positive-in-graph": "judged links that are edges of the graph the model saw",
}
_WARNINGS = {
    "part-repeats": "items a part names more than once: they count more than once",
    "labels-unknown": "nodes of a part without a label: no metric sees them",
    "class-absent-train": "classes without a training node: a model cannot learn them",
    "duplicate-nodes": "nodes of several parts with the same features and the same neighbours",
    "column-tells-label": "feature columns that alone give the label away",
    "column-tells-labelled": "feature columns that alone tell whether a node has a label",
    "blank-tells-label": "empty feature rows that give the label away",
    "blank-tells-labelled": "empty feature rows that tell whether a node has a label",
    "edges-not-in-graph": "edges of the file that the graph does not have",
    "constant-predictions": "the same probabilities for every node",
    "one-class-predicted": "one class predicted for every node",
    "impossible-truth": "true labels given probability zero: the log score is infinite",
    "valid-in-graph": "validation links that are edges of the graph the model saw",
    "negative-is-edge": "negatives that are edges of the graph (or validation edges)",
    "negative-is-positive": "negatives that are positives of the same file, in any part",
    "negative-loop": "negatives that pair a node with itself",
    "positive-loop": "positives that pair a node with itself",
    "positive-repeated": "positives given more than once in the same direction",
    "tied-scores": "positives that score the same as a negative: ranks hang on the tie rule",
}
_NOTES = {
    "class-unused": "classes that no known label has",
    "class-absent": "classes without a labelled node in a part other than training",
    "edges-test-train": "edges between test and training nodes: usual in one graph, but how many?",
    "edges-loops": "edges from a node to itself",
    "edges-mixed-direction": "edges without their reverse, where others have theirs",
    "edges-repeated": "edges given more than once in the same direction",
    "isolated-nodes": "nodes without neighbours",
    "saturated": "confidence within a millionth of one",
    "tied-uncertainties": "nodes that share their confidence or uncertainty with another",
    "negative-repeated": "negatives that a positive (or the shared list) is given more than once",
    "positive-both-directions": "positives given in both directions",
    "tied-negatives": "negatives that score the same as another of their row (or list)",
}


def _checks() -> Mapping[str, Check]:
    tables = zip(Severity, (_ERRORS, _WARNINGS, _NOTES), strict=True)
    return MappingProxyType(
        {code: Check(code, level, text) for level, table in tables for code, text in table.items()}
    )


CHECKS: Mapping[str, Check] = _checks()
