"""What is written can be read again, and nothing in it is taken for markup."""

from __future__ import annotations

import csv
import io
import re

import pytest
from printed_runs import printed_runs, run

from graphgauge.tables import (
    COLUMNS,
    PAPERS,
    compare_with_print,
    panels,
    paper,
    published_figures,
    to_csv,
    to_latex,
    to_markdown,
)

NUMBERS = [(name, number) for name in PAPERS for number in paper(name).tables]
TOLD = (
    "table,dataset,setting,split_part,method,variant,metric,ours_mean,ours_sd,n_runs,"
    "published_mean,published_sd,verdict,note"
)


@pytest.fixture
def hostile():
    reason = r"50% of_x & \input{y} $z$ #1 ~ ^ | <script>alert(1)</script>, \"q\""
    return [
        run("cora-ml", "popularity-50", "erm", 0, {}, status="failed", reason=reason),
        run("cora-ml", "popularity-50", "erm", 1, {"ID": {"accuracy": 85.123456789}}),
        run("cora-ml", "locality-50", "erm", 0, {"ID": {"accuracy": 85.123456789}}),
    ]


@pytest.mark.parametrize(("name", "number"), NUMBERS)
def test_csv_comes_back(name, number):
    table = compare_with_print(name, number, printed_runs(name, datasets=("cora-ml",), seeds=2))
    text = to_csv(table)
    assert text.splitlines()[0] == TOLD == ",".join(COLUMNS)
    figures = published_figures(name)
    rows = list(csv.DictReader(io.StringIO(text)))
    for row, cell in zip(rows, table, strict=True):
        assert tuple(row[c] for c in COLUMNS[:7]) == tuple(map(str, cell.place))
        figure = figures[cell.place]
        assert (row["published_mean"], row["published_sd"]) == (figure.printed, figure.printed_sd)
        assert (row["verdict"], int(row["n_runs"])) == (cell.verdict, cell.n_runs)
        assert row["note"] == cell.note
        for column, value in (("ours_mean", cell.ours), ("ours_sd", cell.sd)):
            assert float(row[column] or "nan") == pytest.approx(value, rel=1e-10, nan_ok=True)


def test_csv_is_not_rounded_and_not_broken_by_text(hostile):
    rows = list(csv.DictReader(io.StringIO(to_csv(compare_with_print("shifts", 9, hostile)))))
    by = {(r["setting"], r["method"], r["split_part"]): r for r in rows}
    first = by["popularity-50", "erm", "ID"]
    assert (first["ours_mean"], first["n_runs"], first["verdict"]) == ("", "1", "not run")
    assert "<script>alert(1)</script>" in first["note"]
    assert by["locality-50", "erm", "ID"]["ours_mean"] == "85.123456789"
    assert by["locality-50", "erm", "ID"]["ours_sd"] == ""


@pytest.mark.parametrize(("name", "number"), NUMBERS)
def test_markdown_tables_are_rectangles(name, number):
    text = to_markdown(compare_with_print(name, number, printed_runs(name, datasets=("cora-ml",))))
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in text.splitlines() if line[:1] == "|"]
    shown = panels(compare_with_print(name, number))
    assert len(widths) == sum(2 + len(panel.rows) for panel in shown)
    assert {2 + len(panel.columns) for panel in shown} == set(widths)


def test_markdown_holds_no_html(hostile):
    assert "<script" not in to_markdown(compare_with_print("shifts", 9, hostile))


@pytest.mark.parametrize(("name", "number"), NUMBERS)
def test_latex_is_balanced_ascii(name, number):
    text = to_latex(compare_with_print(name, number, printed_runs(name, datasets=("cora-ml",))))
    assert text.isascii()
    check_latex(text)


def test_latex_escapes(hostile):
    text = to_latex(compare_with_print("shifts", 9, hostile))
    told = (
        r"50\% of\_x \& \textbackslash{}input\{y\} \$z\$ \#1 \textasciitilde{} \textasciicircum{}"
    )
    assert told in text
    check_latex(text)


def check_latex(text):
    """Every brace and environment closes, rows have the columns announced, nothing is active."""
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") > 0
    bare = re.sub(r"\\[{}$&%#_]", "", text.replace(r"\\", ""))
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set("%#~") & set(bare)
    for tabular in re.findall(r"\\begin\{tabular\}\{(l?r+)\}(.*?)\\end", text, flags=re.DOTALL):
        columns, body = tabular
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        for row in rows:
            if "multicolumn" not in row:
                assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1


def test_missing_seeds_are_shown_in_every_format():
    table = compare_with_print("shifts", 9, printed_runs("shifts", datasets=("cora-ml",), seeds=2))
    for text in (to_markdown(table), to_latex(table), to_csv(table)):
        assert text.count("2 of 5 seeds") == 36


def test_counts_are_laid_out_as_a_matrix():
    panel = panels(compare_with_print("revisiting", 11, printed_runs("revisiting")))[0]
    assert panel.title == "Feature + PageRank + PPR"
    assert (len(panel.columns), len(panel.rows)) == (10, 10)
    assert panel.rows[0][1][1].printed == "2/0/19"


def test_the_basis_of_a_panel_is_told_once():
    runs = printed_runs("revisiting", datasets=("cora-ml", "citeseer"))
    panel = panels(compare_with_print("revisiting", 4, runs))[0]
    assert panel.title == "Feature + PageRank + PPR: 6 of 21 data sets and shifts"
    assert {cell.told for _, cells in panel.rows for cell in cells} == {""}


def test_a_variant_stands_with_its_method_where_others_have_none():
    [panel] = panels(compare_with_print("edgewise", 1))
    assert panel.columns == ("Nodewise ECE", "Edgewise ECE", "Agree ECE", "Disagree ECE")
    assert [row for row, _ in panel.rows[:4]] == [
        "Cora GCN", "Cora GAT", "Cora GMNN", "Cora EPFGNN (loopy belief propagation)"]  # fmt: skip
    assert all(cell is not None for _, cells in panel.rows for cell in cells)


def test_counts_and_shares_of_data_sets_are_one_panel():
    [panel] = panels(compare_with_print("edgewise", 2))
    assert panel.columns[:4] == ("nodes", "edges, both ways", "features", "classes")
    assert len(panel.columns) == 8
    assert [row for row, _ in panel.rows] == ["Cora", "CiteSeer", "PubMed"]


def test_variants_of_every_method_are_columns():
    panel = panels(compare_with_print("miscalibrated", 6))[0]
    assert panel.title == "Selected by validation accuracy, balanced"
    assert panel.columns == ("Accuracy Original", "ECE Original", "ECE Hist. Bin.", "ECE Isotonic",
                             "ECE TS w/ NLL", "ECE TS w/ Brier")  # fmt: skip
    assert len(panel.rows) == 48
    assert all(cell is not None for _, cells in panel.rows for cell in cells)
    assert panels(compare_with_print("miscalibrated", 6))[1].columns == ("Accuracy Random",)


def test_data_sets_are_named_where_the_table_has_several():
    panel = panels(compare_with_print("miscalibrated", 2))[0]
    assert [row for row, _ in panel.rows][-3:] == ["PubMed GCN-MCD", "PubMed GAT-MCD", "PubMed GIN"]
    assert all(cell is not None for _, cells in panel.rows for cell in cells)
