"""The tables as data: each resolves, and its cells are exactly the figures in print."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from importlib.resources import files

import pytest

from graphgauge.benchmark import Trained, read_benchmark
from graphgauge.datasets import CARDS
from graphgauge.errors import InputError
from graphgauge.grid import resolve
from graphgauge.measures import MEASURES
from graphgauge.methods.registry import NODE_METHODS
from graphgauge.steps import STEPS
from graphgauge.tables import PAPERS, method_titles, paper, published_figures, table_runs
from graphgauge.tables.spec import KINDS, WITHOUT_RUNS

N_TABLES = {"revisiting": 23, "shifts": 22, "edgewise": 4, "miscalibrated": 12}
NUMBERS = [(name, number) for name in PAPERS for number in paper(name).tables]


@pytest.mark.parametrize("name", PAPERS)
def test_cells_and_printed_figures_are_one_to_one(name):
    places = Counter(place for spec in paper(name).tables.values() for place in spec.places)
    assert max(places.values()) == 1
    assert set(places) == set(published_figures(name))


@pytest.mark.parametrize("name", PAPERS)
def test_all_tables_are_there(name):
    assert sorted(paper(name).tables) == list(range(1, N_TABLES[name] + 1))


@pytest.mark.parametrize("name", PAPERS)
def test_grids_resolve(name):
    grid = paper(name).grid
    assert grid == read_benchmark(name)
    assert set(grid.rows.values()) <= set(grid.methods)
    assert set(grid.measures) <= set(MEASURES)
    for dataset, steps in grid.datasets.items():
        assert dataset in CARDS
        assert set(steps) <= set(STEPS)


@pytest.mark.parametrize("name", PAPERS)
def test_methods_are_registered(name):
    grid = read_benchmark(name)
    used = {method.use for method in grid.methods.values() if isinstance(method, Trained)}
    # The tables of a paper may come before its methods; of those that are there none is missing.
    if not used & set(NODE_METHODS):
        pytest.skip(f"no method of {name} is registered")
    assert used <= set(NODE_METHODS)
    pytest.importorskip("torch")
    resolve(grid)


@pytest.mark.parametrize(("name", "number"), NUMBERS)
def test_a_table_resolves(name, number):
    whose, spec = paper(name), paper(name).table(number)
    titles, variants = method_titles(name), method_titles(name, "variant")
    for block in spec.blocks:
        assert block.kind in KINDS
        assert set(block.datasets) <= set(CARDS)
        assert {s.partition("/")[0] for s in block.settings} <= set(whose.grid.settings)
        rows = {*block.methods, *(row for pair in block.pairs for row in pair)}
        named = [row.partition(".") for row in rows]
        assert {method for method, _, _ in named} <= set(titles)
        assert {variant for _, _, variant in named if variant} <= set(variants)
        if block.kind not in WITHOUT_RUNS:
            assert {whose.run_of(row) for row in rows} <= set(whose.grid.methods)
        if block.kind not in ("counts", "splits"):
            assert set(block.metrics) <= set(whose.directions)
        assert bool(block.settings) == (block.kind != "counts")
        assert set(block.sources) <= set(whose.tables)


@pytest.mark.parametrize(("name", "number"), NUMBERS)
def test_a_table_tells_what_to_run(name, number):
    found, whose = table_runs(name, number), paper(name)
    kinds = {block.kind for block in whose.table(number).blocks}
    assert bool(found.methods) == (not kinds <= WITHOUT_RUNS)
    assert set(found.methods) <= set(whose.grid.methods)
    assert "ogbn-products" not in found.datasets


@pytest.mark.parametrize("name", PAPERS)
def test_every_suspect_figure_has_its_erratum_and_every_erratum_its_figure(name):
    whose, figures = paper(name), published_figures(name)
    for place, figure in figures.items():
        if "suspect" in figure.note:
            assert list(whose.errata_of(place)), place
    for erratum in whose.errata:
        assert any(erratum.concerns(place) for place in figures), erratum.text


@pytest.mark.parametrize("name", PAPERS)
def test_no_list_lies_about(name):
    text = files("graphgauge.benchmarks").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    for unused in tomllib.loads(text)["lists"]:
        assert text.count(f'"{unused}"') >= 1 + text.count(f'"{unused}" = ['), unused


@pytest.mark.parametrize("name", [*PAPERS, "methods"])
def test_published_figures_are_the_transcribed_ones(name, data_dir):
    original = data_dir.parent / "published" / f"{name}.csv"
    if not original.is_file():
        pytest.skip("transcriptions not found beside GRAPHGAUGE_DATA")
    ours = files("graphgauge.benchmarks").joinpath("published", f"{name}.csv")
    with original.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == list(csv.reader(ours.read_text("utf-8").splitlines()))


def test_what_is_not_there_is_one_line():
    for wrong in (
        lambda: paper("heat"),
        lambda: paper("shifts").table(23),
        lambda: paper("shifts").table(9).only(["pubmed"]),
    ):
        with pytest.raises(InputError) as told:
            wrong()
        assert "\n" not in str(told.value)
