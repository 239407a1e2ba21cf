"""Write the pages that are made from registries; the test suite fails when they are stale."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from graphgauge.audit import CHECKS
from graphgauge.benchmark import Derived, Made, Trained
from graphgauge.calibration import CALIBRATORS
from graphgauge.calibration.conformal import SCORES
from graphgauge.datasets import CARDS, Card
from graphgauge.metrics import METRICS
from graphgauge.properties import PROPERTIES
from graphgauge.records import PROTOCOLS, Records
from graphgauge.splits import PUBLISHED, SHIFTS
from graphgauge.splits.sizes import ROUNDINGS
from graphgauge.steps import STEPS
from graphgauge.tables import (
    PAPERS,
    RULE,
    Block,
    Paper,
    TableSpec,
    Verdict,
    compare_with_print,
    method_titles,
    paper,
    to_markdown,
)

_HERE = Path(__file__).parent
_RESULTS = _HERE.parent / "results"
_NOTE = "<!-- Made by docs/build.py; do not edit. -->\n"


def metrics_page() -> str:
    """List every metric with the facts on its card."""
    names = ("metric", "definition", "better", "range", "by chance", "reference")
    head = f"| {' | '.join(names)} |\n{'|---' * len(names)}|\n"
    rows = [
        f"| `{card.label}` | {_cell(card.definition)} | {card.direction} "
        f"| {card.low:g} … {card.high:g} | {_cell(card.chance)} | {_cell(card.reference)} |\n"
        for card in METRICS.values()
    ]
    told = (
        "# Metrics\n\nA label is a definition: `ece(bins=20)` is another metric than"
        " `ece(bins=15)`. On edges the same metrics carry a prefix: `edge_`, `agree_`,"
        " `disagree_`. Another uncertainty than the main one is a prefix too:"
        " `knowledge_auroc(positive=ood)`.\n\n"
    )
    return _NOTE + told + head + "".join(rows)


def audit_page() -> str:
    """List what the audit looks for."""
    head = "| code | severity | what is looked for |\n|---|---|---|\n"
    rows = [f"| `{c.code}` | {c.severity} | {_cell(c.description)} |\n" for c in CHECKS.values()]
    told = (
        "# Audit\n\nAn *error* voids the result, a *warning* distorts a number, a *note* is worth"
        " knowing when the number is read.\n\n"
    )
    return _NOTE + told + head + "".join(rows)


def calibration_page() -> str:
    """List the calibrators with their hyper-parameters, and the scores of conformal sets."""
    rows = "".join(
        f"| `{name}` | {_cell((made.__doc__ or '').splitlines()[0])} "
        f"| {_arguments({f.name: f.default or repr(f.default) for f in fields(made)})} "
        f"| {_cell(made.reference)} |\n"
        for name, made in CALIBRATORS.items()
    )
    scores = "".join(f"| `{name}` | {_cell(meaning)} |\n" for name, meaning in SCORES.items())
    return f"{_NOTE}{_CALIBRATION}{rows}{_CONFORMAL}{scores}"


_CALIBRATION = """# Calibration

`graphgauge calibrate predictions.npz --method NAME --on valid --out calibrated.npz` learns from the
labels of one part, and from no others, how to correct the probabilities of all nodes. In Python,
`gg.calibrator("temperature(objective=brier)").fit(predictions, "valid")` gives a function from
predictions to predictions.

Only probabilities are needed. Their logarithms serve as logits, which differ from those of the
model by a number a row; zeros count as the smallest normal number of single precision. Labels,
parts and edges stay. Parameters of Dirichlets, joint marginals of edges and the uncertainties of
data and knowledge belong to the old probabilities and are dropped; the total becomes the entropy of
the new.

With `balanced=True`, classes count alike in fitting: every node by the size of the largest class
over that of its own. *Are Graph Neural Networks Miscalibrated?* fits all calibrators in this way
but, by its figures, histogram binning. It takes the largest of values that need not sum to one for
confidence (`histogram`, `isotonic`). Predictions do sum to one, so rows are divided by their sums
here; `fitted.outcomes(predictions, "test")` gives the values before that to any metric on outcomes.

`cagcn` and `gats` train with torch and need edges.

| calibrator | what it does | hyper-parameters | reference |
|---|---|---|---|
"""

_CONFORMAL = """
## Sets of classes

`graphgauge conformal predictions.npz --level 0.9 --on valid` gives every node a set of classes. If
its nodes are exchangeable with those fitted on, the sets of a part hold the true class at least as
often as the level promises, whatever the model. Beside each coverage stands what nine tenths of
such parts would show, since both are finite. It is said in words where exchangeability fails: on
parts out of distribution, and where the model was trained.

`--diffusion λ` mixes the scores of a node with the mean over its neighbours
(Zargarbashi, Antonelli and Bojchevski, ICML 2023), `--seed` randomises the adaptive score.

| score | is |
|---|---|
"""


def datasets_page() -> str:
    """List every data set with what its card says, and the steps that prepare one."""
    names = ("data set", "holds", "nodes", "edges", "features", "classes", "licence", "cite")
    head = f"| {' | '.join(names)} |\n{'|---' * len(names)}|\n"
    printed = "| data set | where | prints | why it differs |\n|---|---|---|---|\n"
    told = (
        "# Data sets\n\nSizes are those of the whole graph: undirected, each edge once, without"
        " loops. A dash means that we have not counted. `graphgauge data show NAME` tells more,"
        " `graphgauge data fetch NAME` gets it.\n\n"
    )
    steps = "".join(
        f"| `{name}` | {_cell((step.__doc__ or '').splitlines()[0])} |\n"
        for name, step in STEPS.items()
    )
    return (
        f"{_NOTE}{told}{head}{''.join(map(_dataset, CARDS.values()))}"
        f"\n## What the papers print\n\n{printed}{''.join(map(_printed, CARDS.values()))}"
        f"\n## Steps\n\n| step | what it does |\n|---|---|\n{steps}"
    )


def splits_page() -> str:
    """List the shifts, the properties they go by, rules of rounding, and published parts."""
    shifts = "".join(
        f"| `{name}` | {'minus ' * shift.large_inside}`{shift.label}` | {shift.meaning} |\n"
        for name, shift in SHIFTS.items()
    )
    properties = "".join(
        f"| `{card.name}` | {_cell(card.description)} | {_arguments(card.arguments)} "
        f"| {_cell(card.reference)} |\n"
        for card in PROPERTIES.values()
    )
    roundings = "".join(
        f"| `{name}` | {_cell((rule.__doc__ or '').splitlines()[0])} |\n"
        for name, rule in ROUNDINGS.items()
    )
    told = (
        "# Splits\n\nA shift ranks nodes by a property σ; small values are in distribution (ID),"
        " large ones are not (OOD). Equal values at a cut are divided by lot, and the split tells"
        " how many there were and what AUROC σ itself would reach. Lots follow the nodes, not"
        " their numbers: another numbering gives the same parts.\n\n"
    )
    return (
        f"{_NOTE}{told}| shift | σ | out of distribution |\n|---|---|---|\n{shifts}"
        f"\n## Properties\n\n| property | is | arguments | reference |\n|---|---|---|---|\n"
        f"{properties}"
        f"\n## Rounding\n\nSizes of the parts from 30 : 10 : 10 | 10 : 40, or any other shares."
        f"\n\n| rule | does |\n|---|---|\n{roundings}"
        f"\n## Published parts\n\nThe authors' own parts, by `--published SOURCE:WHICH`: "
        f"{', '.join(f'`{source}`' for source in PUBLISHED)}. Those of papers are read from the"
        f" folder that `GRAPHGAUGE_DATA` names, OGB's and Planetoid's come with the data sets.\n"
    )


def benchmarks_page() -> str:
    """List what the benchmarks run, the tables of the papers, and what is wrong in print."""
    told = (
        "# Benchmarks\n\nA benchmark is a TOML file: data sets, settings, methods and seeds, and"
        " the definition of every table of its paper. `graphgauge run NAME` runs it, `graphgauge"
        " table NAME NUMBER --records FOLDER` sets ours beside what was published, `graphgauge"
        f" reproduce NAME --table NUMBER` does both.\n\nVerdicts. {_cell(RULE)}\n"
    )
    return _NOTE + told + "".join(_benchmark(paper(name)) for name in PAPERS)


def _benchmark(whose: Paper) -> str:
    grid = whose.grid
    lists = {
        "data sets": _names([*grid.datasets]),
        "settings": _names(grid.settings),
        "seeds": ", ".join(map(str, grid.seeds)),
    }
    facts = "".join(f"- {what}: {names}\n" for what, names in lists.items())
    methods = "".join(
        f"| `{slug}` | {_rows_of(slug, whose)} | {_made(method)} "
        f"| {_cell(whose.remarks.get(slug, ''))} |\n"
        for slug, method in grid.methods.items()
    )
    tables = "".join(map(_table, whose.tables.values()))
    errata = "".join(
        f"- Table {'; '.join(', '.join(map(str, v)) for v in erratum.where.values())}:"
        f" {erratum.text}.\n"
        for erratum in whose.errata
    )
    title = whose.title if whose.title.endswith("?") else f"{whose.title}."
    return (
        f"\n## {whose.name}\n\n{title} {whose.note}\n\n{facts}"
        f"\n| method | in the tables | is | |\n|---|---|---|---|\n{methods}"
        f"\n| table | shows | kind | numbers | |\n|---|---|---|---|---|\n{tables}"
        f"\nWhat is wrong in print:\n\n{errata}"
    )


def _table(spec: TableSpec) -> str:
    kinds = ", ".join(dict.fromkeys(block.kind for block in spec.blocks))
    cells = (str(spec.number), spec.title, kinds, f"{len(spec.places):,}", spec.note)
    return f"| {' | '.join(map(_cell, cells))} |\n"


def _made(method: Made) -> str:
    if isinstance(method, Trained):
        return f"trained: `{method.use}`"
    if isinstance(method, Derived):
        return f"`{method.combine}` of {method.n} `{method.of}`"
    labels = dict.fromkeys(method.calibrate[protocol] for protocol in PROTOCOLS)
    return f"`{method.of}`, calibrated by {_either(labels)}"


def _either(labels: Iterable[str]) -> str:
    """Name one label, or one for each protocol."""
    named = [f"`{label}`" for label in labels]
    return f"{named[0]}; published {named[1]}" if len(named) > 1 else named[0]


def _names(slugs: Sequence[str]) -> str:
    return ", ".join(f"`{slug}`" for slug in slugs)


def _rows_of(slug: str, whose: Paper) -> str:
    """Name the rows of tables in which a method stands."""
    printed = {row for spec in whose.tables.values() for b in spec.blocks for row in _rows(b)}
    rows = [row for row in (slug, *whose.grid.rows) if row in printed and whose.run_of(row) == slug]
    titles, variants = method_titles(whose.name), method_titles(whose.name, "variant")
    named = [row.partition(".") for row in rows]
    return (
        ", ".join(f"{titles[m]} ({variants[v]})" if v else titles[m] for m, _, v in named)
        or "not there"
    )


def _rows(block: Block) -> Iterator[str]:
    yield from block.methods
    yield from (row for pair in block.pairs for row in pair)


def results_page() -> str:
    """Show the tables of the papers that there are records of, ours beside what was published."""
    told = (
        "# Results\n\nMade from the records in [results](../results): ours first, what was"
        f" published in brackets. {RULE}\n\n"
    )
    return _NOTE + told + "\n".join(map(_runs, sorted(_RESULTS.glob("*.jsonl"))))


def _runs(path: Path) -> str:
    records = Records.load(path)
    shares = shown = ""
    for number in paper(path.stem).tables:
        table = compare_with_print(path.stem, number, records, protocol="published")
        found, kind = table.verdicts, table.spec.blocks[0].kind
        judged = found[Verdict.REPRODUCED] + found[Verdict.DIFFERS]
        if judged and kind != "counts":
            share = found[Verdict.REPRODUCED] / judged
            shares += f"| {number} | {judged} of {found.total()} | {share:.1%} |\n"
        # Of tables over several data sets only the share is told: most of them are not run.
        if kind == "cells" and len(table.spec.blocks[0].datasets) == 1 and judged:
            shown += f"\n#{to_markdown(table)}"
    head = "| table | cells judged | reproduced |\n|---|---|---|\n"
    return f"## {path.stem}\n\n{len(records)} runs.\n\n{head}{shares}{shown}"


def _arguments(known: Mapping[str, object]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in known.items()) or "none"


def _dataset(card: Card) -> str:
    sizes = ["–" if n is None else f"{n:,}" for n in vars(card.counts).values()]
    cells = (f"`{card.slug}`", card.about, *sizes, card.licence, card.citation)
    return f"| {' | '.join(map(_cell, cells))} |\n"


def _printed(card: Card) -> str:
    rows = []
    for row in card.printed:
        sizes = [f"{n:,} {k}" for k in vars(card.counts) if (n := getattr(row, k)) is not None]
        cells = (f"`{card.slug}`", row.where, ", ".join(sizes) or "–", row.note)
        rows.append(f"| {' | '.join(map(_cell, cells))} |\n")
    return "".join(rows)


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


PAGES = {
    "metrics.md": metrics_page,
    "audit.md": audit_page,
    "calibration.md": calibration_page,
    "datasets.md": datasets_page,
    "splits.md": splits_page,
    "results.md": results_page,
    "benchmarks.md": benchmarks_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (_HERE / name).write_text(page(), encoding="utf-8")
