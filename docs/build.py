"""Write the pages that are made from registries; the test suite fails when they are stale."""

from __future__ import annotations

from pathlib import Path

from graphgauge.audit import CHECKS
from graphgauge.metrics import METRICS

_HERE = Path(__file__).parent
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


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


PAGES = {"metrics.md": metrics_page, "audit.md": audit_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (_HERE / name).write_text(page(), encoding="utf-8")
