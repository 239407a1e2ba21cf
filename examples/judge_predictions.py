"""Judge a model's predictions from Python: score, gate, compare, write a page.

Run it as it stands: the predictions come from a planted graph whose true posteriors are known.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import graphgauge as gg
from graphgauge.datasets.demo import demo_predictions

models = demo_predictions(seed=0)

# A gate turns a number into a decision.
card = gg.score(models["over-confident"], gg.Options(gates=("ece<=0.05",), n_resamples=50))
print(card.verdict.headline)
print("passed" if card.passed else "failed", [gate.gate for gate in card.gates])

# Two models on the same nodes, item by item.
for row in gg.compare_predictions({k: models[k] for k in ("calibrated", "shifted")}):
    print(f"{row.metric:14} {row.found.difference:+.3f} {row.found.verdict}")

# The page holds everything that was measured.
page = Path(tempfile.mkdtemp()) / "report.html"
page.write_text(gg.render(gg.summarize(card)), encoding="utf-8")
print(page)
