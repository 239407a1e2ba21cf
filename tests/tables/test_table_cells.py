"""Cells from made-up runs against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
from printed_runs import run

from graphgauge.errors import InputError
from graphgauge.setting import split_of
from graphgauge.tables import Place, Verdict, compare_with_print, facts

COUNTS = ("win", "tie", "loss")


def accuracy(inside, outside):
    return {"ID": {"accuracy": inside}, "OOD": {"accuracy": outside}}


def erm(seed, inside=85.0, outside=82.0, **spec):
    setting = spec.pop("setting", "popularity-50")
    return run("cora-ml", setting, "erm", seed, accuracy(inside, outside), **spec)


def cell_of(records, number, place, **options):
    return next(c for c in compare_with_print("shifts", number, records, **options)
                if c.place == place)  # fmt: skip


ERM = Place(9, "cora-ml", "popularity-50", "ID", "erm", "", "accuracy")


def test_mean_and_sample_deviation_over_seeds():
    values = [82.0, 84.0, 86.0, 83.0, 85.0]
    cell = cell_of([erm(seed, value) for seed, value in enumerate(values)], 9, ERM)
    assert cell.ours == pytest.approx(84.0, abs=1e-12)
    assert cell.sd == pytest.approx(math.sqrt(2.5), abs=1e-12)
    # |84 - 85.80| = 1.80 within 2 √(2.5 + 1.10²) = 3.85.
    assert (cell.n_runs, cell.told, cell.verdict) == (5, "", Verdict.REPRODUCED)


def test_outside_two_combined_deviations_differs():
    # √(0.5·(1.1² + 0)·2) = 1.1; two of it and the rounding of 0.005 are 2.205.
    near = [erm(seed, 85.80 - 2.204) for seed in range(5)]
    far = [erm(seed, 85.80 - 2.206) for seed in range(5)]
    assert cell_of(near, 9, ERM).verdict is Verdict.REPRODUCED
    assert cell_of(far, 9, ERM).verdict is Verdict.DIFFERS


def test_few_seeds_have_a_mean_and_say_so():
    cell = cell_of([erm(0, 85.0), erm(1, 87.0)], 9, ERM)
    assert (cell.ours, cell.n_runs, cell.told) == (pytest.approx(86.0), 2, "2 of 5 seeds")
    assert cell.note.startswith("2 of 5 seeds")


def test_a_single_run_is_held_against_the_printed_deviation():
    # Pooled deviation 1.10 alone: two of √2 · 1.10 and the rounding are 3.116.
    assert cell_of([erm(0, 85.80 - 3.11)], 9, ERM).verdict is Verdict.REPRODUCED
    assert cell_of([erm(0, 85.80 - 3.12)], 9, ERM).verdict is Verdict.DIFFERS


def test_there_is_no_mean_over_survivors():
    lost = [erm(s, status="failed", reason="loss is not finite") for s in (3, 4)]
    cell = cell_of([*(erm(seed) for seed in range(3)), *lost], 9, ERM)
    assert math.isnan(cell.ours)
    assert math.isnan(cell.sd)
    assert (cell.n_runs, cell.verdict) == (3, Verdict.NOT_RUN)
    assert cell.note == "3 of 5 seeds, 2 failed; failed: loss is not finite"


def test_protocols_are_never_mixed():
    records = [*(erm(s, 80.0) for s in range(5)),
               *(erm(s, 90.0, protocol="corrected") for s in range(5))]  # fmt: skip
    assert cell_of(records, 9, ERM).ours == pytest.approx(80.0)
    assert cell_of(records, 9, ERM, protocol="corrected").ours == pytest.approx(90.0)
    table = compare_with_print("shifts", 9, records)
    assert "Left out: 5 runs of the protocol corrected." in table.legend
    with pytest.raises(InputError, match="protocol: 'mine'"):
        compare_with_print("shifts", 9, records, protocol="mine")


@pytest.mark.parametrize(
    "other", [{"version": "2"}, {"hyper": {"epochs": 3}}, {"made": {"split": "b", "graph": "g"}}]
)
def test_runs_of_two_kinds_are_never_averaged(other):
    made = {"split": "a", "graph": "g"}
    records = [erm(s, 80.0, made=made) for s in range(3)]
    # A new version counts even if there are fewer runs of it; else the larger kind does.
    seeds = range(3, 5) if "version" in other else range(3, 4)
    records += [erm(s, 90.0, **{"made": made, **other}) for s in seeds]
    cell = cell_of(records, 9, ERM)
    assert cell.ours == pytest.approx(90.0 if "version" in other else 80.0)
    left = "3 runs" if "version" in other else "1 run"
    assert f"{left} left out" in cell.note


def test_records_of_other_papers_do_not_count():
    other = run("cora-ml", "random", "gnn", 0, {"all": {"accuracy": 80}}, benchmark="revisiting")
    assert compare_with_print("shifts", 9, [other]).verdicts == {Verdict.NOT_RUN: 42}


def test_another_name_of_a_run_is_that_run():
    scores = [run("cora-ml", "popularity-50", "erm", s, {"all": {"auroc": 75.0 + s}})
              for s in range(5)]  # fmt: skip
    place = Place(16, "cora-ml", "popularity-50", "all", "se", "", "auroc")
    assert cell_of(scores, 16, place).ours == pytest.approx(77.0)


def ensemble(value, n=5, **spec):
    members = tuple(f"{i:016x}" for i in range(n))
    return run("cora-ml", "popularity-50", "de", 0, accuracy(value, 82.0), members=members, **spec)


DE = ERM._replace(method="de")


def test_members_lend_an_ensemble_their_deviation():
    # Print: DE 87.00 without deviation, ERM ± 1.10. No members of ours: 2 √2 · 1.10 = 3.111.
    for value, verdict in ((83.89, "reproduced"), (83.88, "differs")):
        cell = cell_of([ensemble(value)], 9, DE)
        assert (cell.n_runs, str(cell.verdict), cell.told) == (1, verdict, "")
        assert math.isnan(cell.sd)
    # With members of no deviation only half of the pooled variance is left: 2 · 1.10 = 2.2.
    members = [erm(seed, 85.0) for seed in range(5)]
    assert cell_of([ensemble(83.89), *members], 9, DE).verdict is Verdict.DIFFERS


def test_a_small_ensemble_is_called_that():
    assert "of 3 members instead of 5" in cell_of([ensemble(87.0, 3)], 9, DE).note


def test_a_drop_is_that_of_the_means():
    records = [erm(0, 80.0, 60.0), erm(1, 90.0, 70.0)]
    place = Place(1, "cora-ml", "popularity-50", "ID-vs-OOD", "erm", "", "accuracy_drop_pct")
    cell = cell_of(records, 1, place)
    assert cell.ours == pytest.approx(100 * (65 - 85) / 85)
    # Of the drops by seed, -25 and -22.22.
    assert cell.sd == pytest.approx(abs(25 - 200 / 9) / math.sqrt(2))
    assert cell.told == "2 of 5 seeds"


def test_a_mean_over_data_sets_rests_on_those_there_are():
    records = [run(data, "popularity-50", "erm", s, accuracy(80.0, outside))
               for data, outside in (("cora-ml", 76.0), ("pubmed", 72.0))
               for s in range(5)]  # fmt: skip
    place = Place(1, "all", "popularity-50", "ID-vs-OOD", "erm", "", "accuracy_drop_pct")
    cell = cell_of(records, 1, place)
    assert cell.ours == pytest.approx((-5 - 10) / 2)
    assert cell.beside == pytest.approx((-3.94 - 3.23) / 2)
    assert (cell.told, cell.known) == ("2 of 8 data sets", ("cora-ml", "pubmed"))


def ranked(scores, settings=("popularity-50",)):
    """Runs of all methods of Table 2 with the same accuracy on both sides."""
    return [
        run(data, setting, method, seed, accuracy(value + 0.01 * seed, value + 0.01 * seed),
            members=tuple(f"{i:016x}" for i in range(5)) if method == "de" else ())
        for setting in settings
        for data, values in scores.items()
        for method, value in values.items()
        for seed in range(1 if method == "de" else 5)
    ]  # fmt: skip


def test_ranks_are_averaged_over_data_sets():
    names = ("erm", "mixup", "eerm", "dann", "coral", "de")
    records = ranked({
        "cora-ml": dict(zip(names, (80, 85, 70, 60, 60, 90), strict=True)),
        "citeseer": dict(zip(names, (80, 75, 90, 60, 50, 70), strict=True)),
        "pubmed": {"erm": 80},
    })  # fmt: skip
    found = {
        c.place.method: c
        for c in compare_with_print("shifts", 2, records)
        if c.place[2:4] == ("popularity-50", "ID")
    }
    # CoraML 3 2 4 5 5 1 (the two last tie), CiteSeer 2 3 1 5 6 4; PubMed lacks five methods.
    expected = {"erm": 2.5, "mixup": 2.5, "eerm": 2.5, "dann": 5, "coral": 5.5, "de": 2.5}
    assert {name: cell.ours for name, cell in found.items()} == expected
    assert {cell.told for cell in found.values()} == {"2 of 7 data sets"}
    assert found["erm"].n_runs == 10
    assert found["de"].n_runs == 2


def test_wins_ties_and_losses():
    def runs(data, method, center, step):
        return [run(data, "popularity-50", method, seed, accuracy(center + sign * step, 50.0))
                for seed, sign in enumerate((-1, 1, -1, 1, 0))]  # fmt: skip

    records = [
        *runs("cora-ml", "erm", 80, 1), *runs("cora-ml", "erm-mod", 83, 1),  # 3 > 2: a win
        *runs("citeseer", "erm", 80, 1), *runs("citeseer", "erm-mod", 82, 1),  # 2 = 2: a tie
        *runs("pubmed", "erm", 80, 0), *runs("pubmed", "erm-mod", 79, 0.5),  # a loss
        *runs("amazon-photo", "erm", 80, 1)[:1], *runs("amazon-photo", "erm-mod", 90, 1),
    ]  # fmt: skip
    place = Place(3, "all", "popularity-50", "ID", "erm-mod", "vs-erm", "")
    table = list(compare_with_print("shifts", 3, records))
    found = [
        next(c for c in table if c.place == place._replace(metric=f"accuracy_{outcome}"))
        for outcome in COUNTS
    ]
    # A single run has no deviation, so AmazonPhoto cannot be counted.
    assert [cell.ours for cell in found] == [1, 1, 1]
    assert {cell.told for cell in found} == {"3 of 7 data sets"}
    assert {cell.known for cell in found} == {("cora-ml", "citeseer", "pubmed")}


def test_sizes_come_from_the_cards():
    cells = {(c.place.dataset, c.place.metric): c for c in compare_with_print("revisiting", 23)}
    assert cells["cora-ml", "n_nodes"].verdict is Verdict.REPRODUCED
    assert cells["cora-ml", "n_edges"].verdict is Verdict.DIFFERS
    assert "counts each edge twice" in cells["cora-ml", "n_edges"].note
    assert (cells["pubmed", "n_features"].ours, cells["pubmed", "n_features"].verdict) == (
        500, Verdict.ERRATUM)  # fmt: skip


def test_what_was_not_printed_is_not_judged():
    scores = [run("cora-ml", "random", "gnn", s, {"all": {"auroc_ku": 50.0}},
                  benchmark="revisiting") for s in range(5)]  # fmt: skip
    place = Place(20, "cora-ml", "random", "all", "gnn", "", "auroc_ku")
    cell = next(c for c in compare_with_print("revisiting", 20, scores) if c.place == place)
    assert (cell.ours, cell.verdict, cell.note) == (50.0, Verdict.NOT_PRINTED, "not printed")


def test_a_metric_missing_from_records_is_told():
    records = [erm(s) for s in range(4)]
    records.append(run("cora-ml", "popularity-50", "erm", 4, {"ID": {"nll": 10.0}}))
    cell = cell_of(records, 9, ERM)
    assert cell.note == "4 of 5 seeds; accuracy is missing from 1 of the records"


GCN = Place(3, "cora", "", "all", "gcn", "", "edgewise_accuracy")


def gcn(setting, seed, value, **spec):
    values = {"edge": {"accuracy": value}, "all": {"accuracy": 1.0}}
    return run("cora", setting, "gcn", seed, values, benchmark="edgewise", **spec)


def pooled(records, **options):
    found = compare_with_print("edgewise", 3, records, **options)
    return next(cell for cell in found if cell.place == GCN)


def test_a_cell_over_all_settings_has_the_deviation_of_a_population():
    values = {("split0-fold0", 0): 70.0, ("split0-fold0", 1): 72.0, ("split4-fold2", 0): 80.0}
    cell = pooled([gcn(*key, value) for key, value in values.items()])
    assert cell.ours == pytest.approx(74.0, abs=1e-12)
    # Deviations -4, -2 and 6 from the mean, over three.
    assert cell.sd == pytest.approx(math.sqrt(56 / 3), abs=1e-12)
    assert (cell.n_runs, cell.told) == (3, "3 of 75 runs")


def test_deviations_of_populations_are_judged_as_those_of_samples():
    # Print: 75.01 ± 1.28 of 75 runs. Ours of five, ± 1 as a population and √1.25 as a sample.
    ours = [gcn("split0-fold0", seed, 75.01 - 3.6 + step)
            for seed, step in enumerate((-1, 1, -1, 1, 0))]  # fmt: skip
    variance = (74 * 1.28**2 * 75 / 74 + 4 * 1.0) / 78
    room = 2 * math.sqrt(2 * variance) + 0.005
    for further, verdict in ((-1e-6, Verdict.REPRODUCED), (1e-6, Verdict.DIFFERS)):
        moved = [gcn(r.spec.setting, r.spec.seed,
                     100 * r.values["edge"]["accuracy"] + 3.6 - room - further)
                 for r in ours]  # fmt: skip
        assert pooled(moved).verdict is verdict


def test_settings_that_count_together_are_of_one_kind_but_have_splits_of_their_own():
    made = {name: {"split": name, "graph": "g"} for name in "abc"}
    records = [
        gcn("split0-fold0", 0, 70.0, made=made["a"]),
        gcn("split0-fold0", 1, 70.0, made=made["a"]),
        gcn("split0-fold0", 2, 99.0, made=made["c"]),
        gcn("split1-fold0", 0, 80.0, made=made["b"]),
        gcn("split2-fold0", 0, 99.0, hyper={"hidden": 8}),
    ]
    cell = pooled(records)
    assert cell.ours == pytest.approx((70 + 70 + 80) / 3)
    assert "2 runs left out" in cell.note
    newer = [*records, gcn("split3-fold0", 0, 60.0, version="2")]
    assert (pooled(newer).ours, pooled(newer).n_runs) == (pytest.approx(60.0), 1)


def test_one_failure_in_any_setting_leaves_no_mean():
    lost = gcn("split1-fold0", 0, 0.0, status="failed", reason="loss is not finite")
    cell = pooled([gcn("split0-fold0", 0, 70.0), gcn("split2-fold0", 0, 72.0), lost])
    assert math.isnan(cell.ours)
    assert cell.told == "2 of 75 runs, 1 failed"


def test_variants_of_a_method_are_runs_of_their_own():
    records = [run("cora", "split0-fold0", method, seed, {"all": {"accuracy": value + seed}},
                   benchmark="edgewise")
               for method, value in (("epfgnn", 76.0), ("epfgnn-mean-field", 79.0))
               for seed in range(2)]  # fmt: skip
    found = {
        c.place.variant: c.ours
        for number in (3, 4)
        for c in compare_with_print("edgewise", number, records)
        if c.place.dataset == "cora" and c.place.metric == "nodewise_accuracy" and c.n_runs
    }
    assert found == {"loopy-belief-propagation": 76.5, "naive-mean-field": 79.5}


def test_homophily_and_touched_nodes_come_out_digit_for_digit(data_dir):
    table = compare_with_print("edgewise", 2)
    assert table.verdicts == {Verdict.REPRODUCED: 24}
    for cell in table:
        decimals = cell.figure.decimals
        assert f"{cell.ours:.{decimals}f}" == cell.figure.printed
        assert ("" if math.isnan(cell.sd) else f"{cell.sd:.2f}") == cell.figure.printed_sd
    assert "Ours: computed from the data and their splits, protocol published." in table.legend


def test_without_data_a_table_says_so_and_downloads_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path))
    monkeypatch.setenv("GRAPHGAUGE_CACHE", str(tmp_path))
    monkeypatch.setattr("graphgauge.datasets.obtain.fetch", None)
    cells = [c for c in compare_with_print("edgewise", 2) if c.place.metric[:2] != "n_"]
    assert {cell.verdict for cell in cells} == {Verdict.NOT_RUN}
    assert cells[0].note == "not here; get it by graphgauge data fetch cora"


def test_the_authors_parts_are_needed_for_what_they_printed(data_dir, tmp_path, monkeypatch):
    (tmp_path / "planetoid").symlink_to(data_dir / "planetoid")
    monkeypatch.setenv("GRAPHGAUGE_DATA", str(tmp_path))
    facts._facts.cache_clear()
    split_of.cache_clear()
    found = compare_with_print("edgewise", 2, datasets=["cora"])
    cell = next(c for c in found if c.place.metric == "homophily_pct")
    assert cell.verdict is Verdict.NOT_RUN
    assert "put structured-uncertainty in the folder splits of GRAPHGAUGE_DATA" in cell.note
    found = compare_with_print("edgewise", 2, datasets=["cora"], protocol="corrected")
    assert next(c for c in found if c.place.metric == "homophily_pct").ours == pytest.approx(
        81, abs=1.5
    )


ECE = Place(6, "cora", "val-accuracy/balanced", "all", "gcn", "temperature-scaling-nll", "ece")


def calibrated(seed, value, sd, **spec):
    values = {"balanced": {"ece": value, "ece_sd": sd, "n_draws": 1000}, "all": {"ece": 99.0}}
    spec = {"members": (f"{seed:016x}",), "use": "temperature(objective=nll)", **spec}
    return run("cora", "val-accuracy", "gcn.temperature-scaling-nll", seed, values,
               benchmark="miscalibrated", **spec)  # fmt: skip


def resampled(records):
    found = compare_with_print("miscalibrated", 6, records)
    return next(cell for cell in found if cell.place == ECE)


def test_the_deviation_of_resamples_is_that_within_a_run():
    # Print: 5.53 ± 1.05 of ten resamples; pooled with ours of 0.95 that is √((1.05² + 0.95²) / 2).
    room = 2 * math.hypot(1.05, 0.95) + 0.005
    for further, verdict in ((-1e-6, Verdict.REPRODUCED), (1e-6, Verdict.DIFFERS)):
        cell = resampled([calibrated(0, 5.53 + room + further, 0.95)])
        assert (cell.sd, cell.n_runs, cell.verdict) == (pytest.approx(0.95), 1, verdict)
    table = compare_with_print("miscalibrated", 6)
    assert any("over 10 resamples of the test nodes of one model" in line for line in table.legend)


def test_what_is_calibrated_is_of_one_kind_though_made_of_another_run_each_seed():
    cell = resampled([calibrated(0, 4.0, 0.3), calibrated(1, 6.0, 0.4)])
    assert cell.ours == pytest.approx(5.0)
    assert cell.sd == pytest.approx(math.sqrt((0.09 + 0.16) / 2))
    assert "left out" not in cell.note
    newer = [calibrated(0, 4.0, 0.3, version="1.9"), calibrated(0, 7.0, 0.3, version="1.10")]
    assert resampled(newer).ours == pytest.approx(7.0)


def test_chance_and_sizes_of_parts_need_no_runs(data_dir):
    found = {
        c.place: c for c in compare_with_print("miscalibrated", 5) if c.place.method == "random"
    }
    verdicts = [cell.verdict for cell in found.values()]
    assert verdicts.count(Verdict.REPRODUCED) == 7
    table = compare_with_print("miscalibrated", 3)
    sizes = [c for c in table if c.place.metric == "n_split_nodes"]
    ours = [c for c in sizes if c.place.dataset in table.paper.grid.datasets]
    assert {cell.verdict for cell in ours} == {Verdict.REPRODUCED}
    assert len(ours) == 15
