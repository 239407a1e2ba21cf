"""Print held against itself: what follows from printed scores, through the tables' own code."""

from __future__ import annotations

import math

import pytest
from printed_runs import printed_runs

from graphgauge.tables import Place, Verdict, compare_with_print, published_figures
from graphgauge.tables.samples import relative

DATASETS = 7


def agreeing(benchmark: str, number: int, *, room: float) -> tuple[int, int]:
    """Count cells at which ours, made of printed scores, round to the printed ones."""
    table = compare_with_print(benchmark, number, printed_runs(benchmark))
    cells = [c for c in table if c.figure.printed and c.place.variant != f"vs-{c.place.method}"]
    return sum(abs(c.ours - c.figure.mean) <= room + 1e-9 for c in cells), len(cells)


@pytest.mark.parametrize(
    ("benchmark", "number", "expected"),
    [
        # The papers ranked unrounded scores, so that cells equal at two decimals may differ.
        ("revisiting", 2, (44, 45)),
        ("revisiting", 3, (73, 75)),
        ("revisiting", 15, (138, 150)),
        ("shifts", 2, (52, 54)),
    ],
)
def test_ranks_follow_from_printed_scores(benchmark, number, expected):
    assert agreeing(benchmark, number, room=0.05) == expected


@pytest.mark.parametrize(
    ("benchmark", "number", "wrong"),
    [
        # In pairs of cells; every wrong one hinges on two decimals or on the erratum of Table 11.
        ("revisiting", 4, 1),
        ("revisiting", 5, 1),
        ("revisiting", 9, 1),
        ("revisiting", 10, 1),
        ("revisiting", 11, 6),
        ("revisiting", 12, 0),
        ("revisiting", 13, 4),
        ("revisiting", 14, 0),
        ("shifts", 3, 0),
    ],
)
def test_counts_follow_from_printed_scores(benchmark, number, wrong):
    table = compare_with_print(benchmark, number, printed_runs(benchmark))
    off = {
        c.place._replace(metric=c.place.metric.rpartition("_")[0])
        for c in table
        if c.figure.printed and c.ours != c.figure.mean
    }
    assert len(off) == wrong


def test_differences_of_revisiting_follow_from_both_sides():
    figures = published_figures("revisiting")
    n = 0
    for place, figure in figures.items():
        if place.metric == "accuracy_diff_pct":
            inside, outside = (
                figures[place._replace(part=part, metric="accuracy")].mean for part in ("ID", "OOD")
            )
            slack = 0.005 + 100 * 0.005 * (1 + outside / inside) / inside
            n += abs(relative(inside, outside) - figure.mean) <= slack + 1e-9
    assert n == 84


def test_merged_accuracies_of_revisiting_are_a_fifth_inside():
    figures = published_figures("revisiting")
    n = 0
    for place, figure in figures.items():
        if place.table in (1, 6, 7, 8) and place.part == "ID":
            outside = figures[place._replace(part="OOD")].mean
            merged = next(
                found
                for table in range(16, 23)
                if (found := figures.get(place._replace(table=table, part="all"))) is not None
            )
            n += abs(0.2 * figure.mean + 0.8 * outside - merged.mean) <= 0.0151
    assert n == 84


def test_auprc_follows_from_accuracy_and_prr():
    figures = published_figures("revisiting")
    gaps = []
    for place, figure in figures.items():
        if place.metric == "auprc_tu" and place.part == "all" and figure.printed:
            accuracy = figures[place._replace(metric="accuracy")].mean / 100
            prr = figures[place._replace(metric="prr_tu")].mean
            gaps.append(abs(100 * accuracy + prr * accuracy * (1 - accuracy) - figure.mean))
    assert (sum(gap <= 0.0651 for gap in gaps), len(gaps)) == (277, 280)


def test_table_1_of_shifts_follows_from_the_tables_of_scores():
    figures = published_figures("shifts")
    drops = scores = 0
    for place, figure in figures.items():
        if place.table != 1 or place.dataset in ("all", "ogbn-products"):
            continue
        if place.metric == "auroc":
            scores += any(
                figures.get(place._replace(table=table)) is not None
                and figures[place._replace(table=table)].mean == figure.mean
                for table in range(16, 23)
            )
            continue
        inside, outside = (
            next(
                figures[found].mean
                for table in range(9, 16)
                if (found := place._replace(table=table, part=part, metric="accuracy")) in figures
            )
            for part in ("ID", "OOD")
        )
        drops += abs(relative(inside, outside) - figure.mean) <= 0.02
    assert (scores, drops) == (21, 18)


def test_means_of_shifts_follow_from_their_columns():
    figures = published_figures("shifts")
    agree = 0
    for place, figure in figures.items():
        if place.table in (1, 4, 6) and place.dataset == "all":
            column = [
                f.mean
                for p, f in figures.items()
                if p.dataset != "all" and p._replace(dataset="all") == place
            ]
            assert len(column) == 8
            agree += abs(sum(column) / 8 - figure.mean) <= 0.005 + 1e-9
    assert agree == 17


@pytest.mark.parametrize("number", [20, 21])
def test_print_reproduces_itself(number):
    table = compare_with_print("revisiting", number, printed_runs("revisiting"))
    assert table.verdicts == {Verdict.REPRODUCED: 150, Verdict.NOT_PRINTED: 10}


@pytest.mark.parametrize(("number", "n_cells"), [(1, 48), (3, 48), (4, 24)])
def test_print_of_many_settings_reproduces_itself(number, n_cells):
    table = compare_with_print("edgewise", number, printed_runs("edgewise"))
    assert table.verdicts == {Verdict.REPRODUCED: n_cells}
    for cell in table:
        figure = cell.figure
        assert (cell.n_runs, cell.told) == (75, "")
        assert (f"{cell.ours:.2f}", f"{cell.sd:.2f}") == (figure.printed, figure.printed_sd)


@pytest.mark.parametrize("number", [1, 2, *range(4, 13)])
def test_print_of_resamples_reproduces_itself(number):
    table = compare_with_print("miscalibrated", number, printed_runs("miscalibrated"))
    # Nobody but its authors knows how many classes Facebook has, so chance is not known there.
    missing = {(c.place.dataset, c.place.method) for c in table if c.verdict is Verdict.NOT_RUN}
    assert missing == ({("facebook", "random")} if number >= 5 else set())
    assert set(table.verdicts) <= {Verdict.REPRODUCED, Verdict.NOT_RUN}
    for cell in table:
        if cell.n_runs:
            assert cell.n_runs == 1
            assert (cell.ours, cell.sd) == pytest.approx((cell.figure.mean, cell.figure.sd))


def test_edgewise_accuracy_follows_from_both_kinds_of_edges():
    figures = published_figures("edgewise")
    gaps = []
    for place, figure in figures.items():
        if place.metric == "edgewise_accuracy":
            same, other = (
                figures[place._replace(part=part, metric=f"{part}_accuracy")].mean
                for part in ("agree", "disagree")
            )
            share = figures[Place(2, place.dataset, metric="homophily_pct")].mean / 100
            gaps.append(abs(share * same + (1 - share) * other - figure.mean))
    assert len(gaps) == 15
    assert max(gaps) <= 0.0151


def test_void_figures_cannot_be_reproduced():
    table = compare_with_print("shifts", 15, printed_runs("shifts"))
    assert table.verdicts == {Verdict.REPRODUCED: 24, Verdict.ERRATUM: 18}
    assert "Table 14" in next(cell.note for cell in table if cell.place.method == "erm")


def test_recomputed_on_the_data_sets_there_are():
    runs = printed_runs("shifts", datasets=("cora-ml", "citeseer"))
    table = compare_with_print("shifts", 2, runs)
    cell = next(c for c in table if c.place.method == "mixup" and c.place.part == "OOD")
    # CoraML: 83.65 is the best; CiteSeer: 72.13 is behind 72.42 of ERM and 72.37 of DE.
    assert (cell.ours, cell.beside, cell.figure.printed) == (2.0, 2.0, "2.1")
    assert cell.told == "2 of 7 data sets"
    assert "on cora-ml, citeseer; their printed scores give 2" in cell.note
    assert math.isnan(cell.sd)


def test_ranks_without_printed_scores_need_all_data_sets():
    place = Place(5, "all", "popularity-70", "ID", "erm", "", "accuracy_rank")
    table = compare_with_print("shifts", 5, printed_runs("shifts"))
    assert next(cell for cell in table if cell.place == place).verdict is Verdict.NOT_RUN
