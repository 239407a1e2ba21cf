"""A published table as a page: well formed, escaped, and every cell in it."""

from __future__ import annotations

import pytest
from tree import parse

from graphgauge.records import Record, RunSpec
from graphgauge.report.tables import table_page
from graphgauge.tables import compare_with_print, panels


@pytest.mark.parametrize(("name", "number"), [("revisiting", 11), ("shifts", 2), ("shifts", 8)])
def test_a_table_is_well_formed_and_complete(name, number):
    table = compare_with_print(name, number)
    page = parse(table_page(table))
    assert len(page.all("h1")) == 1
    assert not page.all("script")
    shown = panels(table)
    assert len(page.all("table")) == len(shown)
    for found, panel in zip(page.all("table"), shown, strict=True):
        rows = found.one("tbody").all("tr")
        assert [row.all("th")[0].text for row in rows] == [row for row, _ in panel.rows]
        assert {len(row.all("td")) for row in rows} == {len(panel.columns)}


def test_text_of_records_is_escaped():
    spec = RunSpec("shifts", "cora-ml", "popularity-50", "erm", 0, "published", {}, "1")
    record = Record(spec, "failed", "<script>alert('x')</script> & more")
    page = parse(table_page(compare_with_print("shifts", 9, [record])))
    assert not page.all("script")
    assert any("<script>alert('x')</script> & more" in item.text for item in page.all("li"))
