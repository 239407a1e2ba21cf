"""Pages made from registries are fresh, examples run, and the README's links lead somewhere."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest

import graphgauge

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "page",
    [
        "metrics.md",
        "audit.md",
        "calibration.md",
        "datasets.md",
        "splits.md",
        "benchmarks.md",
        "results.md",
    ],
)
def test_generated_pages_are_fresh(page):
    pages = runpy.run_path(str(ROOT / "docs" / "build.py"))["PAGES"]
    fresh = (ROOT / "docs" / page).read_text(encoding="utf-8") == pages[page]()
    assert fresh, "stale: run python docs/build.py"


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if "://" not in target:
            assert ((ROOT / page).parent / target).exists(), target


def test_public_names_are_those_listed():
    for name in graphgauge.__all__:
        assert getattr(graphgauge, name) is not None
        assert name in dir(graphgauge)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = graphgauge.nonsense


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {project['version']}" in citation
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
