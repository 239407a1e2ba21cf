"""A table: its cells with ours, theirs and a verdict, made from records and printed figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from graphgauge.errors import InputError
from graphgauge.records import PROTOCOLS, Record
from graphgauge.tables.blocks import CELLS, Cell
from graphgauge.tables.figures import published_figures
from graphgauge.tables.reading import paper
from graphgauge.tables.samples import Runs
from graphgauge.tables.scores import Scores
from graphgauge.tables.spec import WITHOUT_RUNS, Paper, TableSpec
from graphgauge.tables.verdict import RULE, Verdict

__all__ = ["Table", "TableRuns", "compare_with_print", "table_runs"]

_KINDS = MappingProxyType(
    {
        "drops": "Drops are 100 (OOD - ID) / ID of the means; negative is worse outside.",
        "ranks": "A rank is 1 + the number of strictly better methods, averaged over data sets.",
        "win-tie-loss": "A win is a mean better by strictly more than the sum of both deviations "
        "(0 for ensembles).",
    }
)


@dataclass(frozen=True)
class Table:
    """A published table with ours beside it.

    Parameters
    ----------
    paper
        Whose table.
    spec
        Its definition, of the data sets that were asked for.
    cells
        Of every block.
    protocol
        Of our runs.
    legend
        How to read it, a sentence a line.
    """

    paper: Paper
    spec: TableSpec
    cells: tuple[tuple[Cell, ...], ...]
    protocol: str
    legend: tuple[str, ...]

    def __iter__(self) -> Iterator[Cell]:
        """Go through all cells in the order of print."""
        return (cell for block in self.cells for cell in block)

    @property
    def verdicts(self) -> Mapping[Verdict, int]:
        """How many cells there are of each verdict."""
        return Counter(cell.verdict for cell in self)

    @property
    def tally(self) -> str:
        """The verdicts in one line."""
        found = self.verdicts
        judged = found[Verdict.REPRODUCED] + found[Verdict.DIFFERS]
        told = f"{found[Verdict.REPRODUCED]} of {judged} reproduced" if judged else ""
        rest = [
            f"{found[v]} {v}"
            for v in (Verdict.NOT_RUN, Verdict.TOO_FEW, Verdict.ERRATUM, Verdict.NOT_PRINTED)
            if found[v]
        ]
        return ", ".join([told, *rest] if told else rest)


def compare_with_print(
    benchmark: str,
    number: int,
    records: Iterable[Record] = (),
    *,
    protocol: str = "published",
    datasets: Collection[str] = (),
) -> Table:
    """Set our runs beside a published table.

    Parameters
    ----------
    benchmark
        A name in `PAPERS`.
    number
        Of the table in the paper.
    records
        Our runs; those of other benchmarks and protocols are left out.
    protocol
        ``published`` or ``corrected``.
    datasets
        Only these; all by default.

    Examples
    --------
    >>> table = compare_with_print("shifts", 9)
    >>> cell = next(iter(table))
    >>> cell.place.method, cell.figure.printed, str(cell.verdict), table.tally
    ('erm', '85.80', 'not run', '42 not run')
    """
    whose = paper(benchmark)
    if protocol not in PROTOCOLS:
        raise InputError(f"protocol: {protocol!r} is neither {' nor '.join(PROTOCOLS)}")
    spec = whose.table(number).only(datasets)
    runs = Runs(records, paper=whose, protocol=protocol)
    scores = Scores(runs, published_figures(benchmark))
    cells = tuple(tuple(CELLS[b.kind](b, number, scores)) for b in spec.blocks)
    return Table(whose, spec, cells, protocol, tuple(_legend(spec, runs)))


@dataclass(frozen=True)
class TableRuns:
    """What has to be run for a table."""

    datasets: tuple[str, ...]
    settings: tuple[str, ...]
    methods: tuple[str, ...]


def table_runs(
    benchmark: str, number: int, *, datasets: Collection[str] = (), seeds: Collection[int] = ()
) -> TableRuns:
    """Tell what of a benchmark's grid a table needs.

    Parameters
    ----------
    benchmark, number
        Which table.
    datasets
        Only these; all of the grid by default.
    seeds
        Only these: ensembles are left out that they do not make whole.

    Examples
    --------
    >>> table_runs("shifts", 16, seeds=[0, 1]).methods
    ('erm', 'natpn', 'gpn', 'erm-mod')
    """
    whose = paper(benchmark)
    found = whose.table(number).only(datasets).blocks
    blocks = [block for block in found if block.kind not in WITHOUT_RUNS]
    rows = [row for b in blocks for row in (*b.methods, *(m for pair in b.pairs for m in pair))]
    runs = dict.fromkeys(map(whose.run_of, rows))
    grid = whose.grid
    whole = set(seeds or grid.seeds)
    settings = {setting.partition("/")[0] for block in blocks for setting in block.settings}
    return TableRuns(
        tuple(d for d in grid.datasets if any(d in b.datasets for b in blocks)),
        tuple(setting for setting in grid.settings if setting in settings),
        tuple(m for m in runs if whole.issuperset(grid.seeds[: whose.members.get(m, ("", 0))[1]])),
    )


def _legend(spec: TableSpec, runs: Runs) -> Iterator[str]:
    whose, kinds = runs.paper, {block.kind for block in spec.blocks}
    if spec.note:
        yield spec.note
    if kinds <= WITHOUT_RUNS:
        if "splits" in kinds:
            yield f"Ours: computed from the data and their splits, protocol {runs.protocol}."
            yield f"Verdict. {RULE}"
        return
    pooled = any(block.pooled and block.kind == "cells" for block in spec.blocks)
    over = "settings and seeds" if pooled else "seeds"
    if "bootstraps" in whose.grid.measures:
        over = f"{whose.published_seeds} resamples of the test nodes of one model"
    kind = f"{'sample' if whose.ddof else 'population'} deviation (ddof = {whose.ddof})"
    yield f"Ours: protocol {runs.protocol}, mean and {kind} over {over}."
    for protocol, n in sorted(runs.others.items()):
        yield f"Left out: {n} run{'s' * (n > 1)} of the protocol {protocol}."
    if whose.note:
        yield whose.note
    yield from (told for name, told in sorted(_KINDS.items()) if name in kinds)
    methods = dict.fromkeys(place.method for place in spec.places)
    yield from (whose.remarks[m] for m in methods if m in whose.remarks)
    yield f"Verdict. {RULE}"
