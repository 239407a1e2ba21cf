"""What is recorded and differs from print is explained, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphgauge.records import Records
from graphgauge.tables import PAPERS, Verdict, compare_with_print, paper

RESULTS = Path(__file__).parents[2] / "results"


def cells_of(benchmark):
    """Cells of single data sets: what is derived differs where these do."""
    records = Records.load(RESULTS / f"{benchmark}.jsonl")
    for number, spec in paper(benchmark).tables.items():
        if all(block.kind == "cells" and len(block.datasets) == 1 for block in spec.blocks):
            yield from compare_with_print(benchmark, number, records)


@pytest.mark.parametrize("benchmark", [p for p in PAPERS if (RESULTS / f"{p}.jsonl").is_file()])
def test_every_recorded_difference_is_explained(benchmark):
    cells = list(cells_of(benchmark))
    told = [any(note.startswith("differs: ") for note in cell.notes) for cell in cells]
    differ = [cell.verdict is Verdict.DIFFERS for cell in cells]
    unexplained = [c.place for c, d, t in zip(cells, differ, told, strict=True) if d != t]
    assert not unexplained
    assert any(differ)


@pytest.mark.parametrize("benchmark", PAPERS)
def test_explanations_are_of_cells_that_there_are(benchmark):
    whose = paper(benchmark)
    places = [place for table in whose.tables.values() for place in table.places]
    for remark in whose.explained:
        assert any(remark.concerns(place) for place in places), remark.text
