"""The tables of a paper as data: which cells there are, and from what each of them follows.

They stand in ``benchmarks/<paper>.toml``. A table is a list of blocks, most often of one; a block
is all combinations of its data sets, settings, parts, rows and metrics, of one kind:

``cells``
    Means over seeds, or over all settings and seeds.
``drops``
    How much smaller a score is out of distribution, in percent of that in distribution.
``ranks``
    Ranks among the methods of the block, averaged over data sets.
``win-tie-loss``
    How often a method won, tied and lost against another.
``counts``
    Sizes of data sets.
``splits``
    What the parts of data sets are like: sizes, homophily, how many of their nodes edges touch.
``chance``
    Accuracy of guessing.

A row is a method, or a variant of one behind a point: ``epfgnn.naive-mean-field``. A setting may
name a part of the records behind a stroke: ``val-loss/balanced``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

from graphgauge.benchmark import Benchmark, Derived
from graphgauge.errors import InputError
from graphgauge.tables.figures import Place

__all__ = [
    "KINDS",
    "OUTCOMES",
    "WITHOUT_RUNS",
    "Block",
    "Erratum",
    "Paper",
    "Remark",
    "TableSpec",
]

KINDS = ("cells", "drops", "ranks", "win-tie-loss", "counts", "splits", "chance")
WITHOUT_RUNS = frozenset(("counts", "splits", "chance"))
"""Kinds that follow from data sets alone."""
OUTCOMES = ("win", "tie", "loss")


@dataclass(frozen=True)
class Block:
    """Cells of one kind.

    Parameters
    ----------
    kind
        One of `KINDS`.
    datasets, settings, parts, methods, metrics
        Of which all combinations are cells; methods are rows.
    pairs
        Of ``win-tie-loss``: method and opponent.
    pooled
        Whether all settings count together.
    mean
        Whether the mean over the data sets stands in the table as well.
    label
        Of ``drops``: what the metric is called as a drop; of ``cells``: what the variant is called
        in this table.
    sources
        Tables that print the scores from which ranks or counts follow.
    n_printed
        Over how many data sets means, ranks and counts are printed.
    """

    kind: str
    datasets: tuple[str, ...]
    settings: tuple[str, ...] = ()
    parts: tuple[str, ...] = ("all",)
    methods: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    pooled: bool = False
    mean: bool = False
    label: str = ""
    sources: tuple[int, ...] = ()
    n_printed: int = 0

    @property
    def pools(self) -> tuple[tuple[str, ...], ...]:
        """Settings that are counted together."""
        return (self.settings,) if self.pooled else tuple((s,) for s in self.settings)

    def only(self, datasets: Collection[str]) -> Block:
        """Keep some data sets."""
        return replace(self, datasets=tuple(d for d in self.datasets if d in datasets))

    def places(self, table: int) -> Iterator[Place]:
        """Yield the places of all cells."""
        if self.kind in ("counts", "splits"):
            for dataset, part, metric in product(self.datasets, self.parts, self.metrics):
                yield Place(table, dataset, part=part, metric=metric)
        elif self.kind == "win-tie-loss":
            for pool, part, pair, metric, outcome in product(
                self.pools, self.parts, self.pairs, self.metrics, OUTCOMES
            ):
                label = f"{metric}_{outcome}"
                yield Place(table, "all", "+".join(pool), part, pair[0], f"vs-{pair[1]}", label)
        else:
            yield from (place for place, _ in self.scored(table))

    def scored(self, table: int) -> Iterator[tuple[Place, str]]:
        """Yield the places of scores, each with the row that it is a score of."""
        datasets, parts, metrics = self.datasets, self.parts, self.metrics
        if self.kind == "ranks":
            datasets, metrics = ("all",), tuple(f"{metric}_rank" for metric in metrics)
        elif self.kind == "drops":
            parts, metrics = ("ID-vs-OOD",), (self.label,)
        renamed = self.label if self.kind == "cells" else ""
        settings = ("",) if self.pooled else self.settings
        means = ("all",) if self.mean else ()
        for dataset, setting, row, part, metric in product(
            datasets + means, settings, self.methods, parts, metrics
        ):
            method, _, variant = row.partition(".")
            yield Place(table, dataset, setting, part, method, renamed or variant, metric), row


@dataclass(frozen=True)
class TableSpec:
    """A published table: its cells, and what is to be said of them."""

    number: int
    title: str
    blocks: tuple[Block, ...]
    note: str = ""

    @property
    def places(self) -> tuple[Place, ...]:
        """Of all cells."""
        return tuple(place for block in self.blocks for place in block.places(self.number))

    def only(self, datasets: Collection[str]) -> TableSpec:
        """Keep some data sets; none given keeps all."""
        if not datasets:
            return self
        known = {dataset for block in self.blocks for dataset in block.datasets}
        if unknown := sorted(set(datasets) - known):
            told = f"is of {', '.join(sorted(known))}, not of {', '.join(unknown)}"
            raise InputError(f"table {self.number} {told}")
        kept = (block.only(datasets) for block in self.blocks)
        return replace(self, blocks=tuple(block for block in kept if block.datasets))


@dataclass(frozen=True)
class Remark:
    """What is to be said of some places: why ours differ there, say.

    Parameters
    ----------
    text
        In words.
    where
        Values that a place must have, by the names of its fields.
    """

    text: str
    where: Mapping[str, tuple[Any, ...]]

    def concerns(self, place: Place) -> bool:
        """Tell whether a place is meant."""
        return all(getattr(place, name) in values for name, values in self.where.items())


@dataclass(frozen=True)
class Erratum(Remark):
    """What is wrong with figures as printed.

    Parameters
    ----------
    void
        Whether the figure is none of what it says, so that it cannot be reproduced.
    distinct
        Leave out methods compared with themselves.
    """

    void: bool = False
    distinct: bool = False

    def concerns(self, place: Place) -> bool:
        """Tell whether the figure at a place is meant."""
        if self.distinct and place.variant == f"vs-{place.method}":
            return False
        return super().concerns(place)


@dataclass(frozen=True)
class Paper:
    """A paper's tables, and the grid of runs that they are made of.

    Parameters
    ----------
    grid
        What was run.
    note
        What holds for all tables.
    published_seeds
        Over how many runs the printed deviations are, or over how many resamples of one.
    ddof
        Of the printed deviations: 1 for those of a sample, 0 for those of a population.
    titles
        Of settings and metrics.
    directions
        Of metrics: ``higher`` or ``lower``, whichever is better.
    recorded
        Metrics that have another part or name in records than in print: both.
    remarks
        On methods.
    tables, errata
        All of them.
    explained
        Why ours differ, where they do.
    """

    grid: Benchmark
    note: str
    published_seeds: int
    ddof: int
    titles: Mapping[str, str]
    directions: Mapping[str, str]
    recorded: Mapping[str, tuple[str, str]]
    remarks: Mapping[str, str]
    tables: Mapping[int, TableSpec]
    errata: tuple[Erratum, ...] = field(repr=False)
    explained: tuple[Remark, ...] = field(repr=False, default=())

    @property
    def name(self) -> str:
        """What the paper is called here."""
        return self.grid.name

    @property
    def title(self) -> str:
        """Its title."""
        return self.grid.title

    @cached_property
    def members(self) -> Mapping[str, tuple[str, int]]:
        """Ensembles by name: the method they are made of, and of how many."""
        methods = self.grid.methods.items()
        return {slug: (made.of, made.n) for slug, made in methods if isinstance(made, Derived)}

    def table(self, number: int) -> TableSpec:
        """Return a table by its number in the paper.

        Examples
        --------
        >>> from graphgauge.tables import paper
        >>> paper("shifts").table(9).title
        'Accuracy in and out of distribution on CoraML'
        """
        if number not in self.tables:
            most = max(self.tables)
            raise InputError(f"{self.name} has no table {number} (there are 1 to {most})")
        return self.tables[number]

    @cached_property
    def drops(self) -> Mapping[str, str]:
        """What drops are called, to the metric that drops.

        Examples
        --------
        >>> from graphgauge.tables import paper
        >>> paper("shifts").drops
        {'accuracy_drop_pct': 'accuracy'}
        """
        blocks = (block for table in self.tables.values() for block in table.blocks)
        return {block.label: block.metrics[0] for block in blocks if block.kind == "drops"}

    def where(self, part: str, metric: str) -> tuple[str, str]:
        """Return the part and the name that a metric of print has in records.

        Examples
        --------
        >>> from graphgauge.tables import paper
        >>> paper("edgewise").where("all", "edgewise_ece")
        ('edge', 'ece')
        """
        recorded, name = self.recorded.get(metric, ("", metric))
        return recorded or part, name

    def run_of(self, row: str) -> str:
        """Return the method that was run for a row.

        Examples
        --------
        >>> from graphgauge.tables import paper
        >>> paper("shifts").run_of("se")
        'erm'
        """
        return self.grid.rows.get(row, row)

    def member_rows(self, row: str) -> tuple[str, ...]:
        """Return under which names the members of an ensemble are printed; nothing of others.

        Examples
        --------
        >>> from graphgauge.tables import paper
        >>> paper("shifts").member_rows("de"), paper("shifts").member_rows("erm")
        (('erm', 'se'), ())
        """
        if row not in self.members:
            return ()
        of = self.members[row][0]
        return (of, *(name for name, run in self.grid.rows.items() if run == of))

    def errata_of(self, place: Place) -> Iterator[Erratum]:
        """Yield what is wrong with the figure at a place."""
        return (erratum for erratum in self.errata if erratum.concerns(place))

    def explanations_of(self, place: Place) -> Iterator[Remark]:
        """Yield why ours differs at a place, if it does."""
        return (remark for remark in self.explained if remark.concerns(place))
