"""Scores to render: ordinary ones, made by a small simulation, and ones that mean harm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphgauge.datasets import planted
from graphgauge.description import describe
from graphgauge.graph import Graph
from graphgauge.parts import Split
from graphgauge.report import render
from graphgauge.report.shift import render_shift, summarize_shift

Score = dict[str, Any]

_ECE = "Sum over bins of the bin's share times |accuracy - confidence|, bins of equal width."
_PRR = "(A_random - A) / (A_random - A_oracle), A the area under the rejection curve."
_CARDS = {
    "accuracy": ("Share of items whose most probable class is true.", "higher", 0, 1, "1/C"),
    "nll": ("Mean of minus the log of the probability of the truth.", "lower", 0, "inf", "log C"),
    "brier": ("Mean squared distance of probabilities and truth.", "lower", 0, 2, "1 - 1/C"),
    "ece(bins=15)": (_ECE, "lower", 0, 1, "depends on n"),
    "prr": (_PRR, "higher", -1.25, 1, "0"),
    "auroc": ("Probability that OOD is less certain than ID, ties half.", "higher", 0, 1, "0.5"),
    "mrr": ("Mean over positives of one over the rank.", "higher", 0, 1, "H(n+1)/(n+1)"),
    "hits(k=10)": ("Share of positives with rank at most k.", "higher", 0, 1, "k/(n+1)"),
    "mean_rank": ("Mean over positives of the rank.", "lower", 1, "inf", "1 + n/2"),
    "auc": ("Mean share of negatives that score lower, ties half.", "higher", 0, 1, "0.5"),
    "mrr_spread": ("MRR, ties broken for the positives minus against.", "lower", 0, 1, "0"),
    "hits_spread(k=10)": ("Hits@k, ties for the positives minus against.", "lower", 0, 1, "0"),
}
_REFERENCES = {
    "ece(bins=15)": "Naeini, Cooper and Hauskrecht, AAAI 2015; Guo et al., ICML 2017",
    "prr": "Malinin et al., Uncertainty in Gradient Boosting via Ensembles, ICLR 2021",
    "mrr": "Bordes et al., NeurIPS 2013",
}
_BINS = np.linspace(0, 1, 16)


def definitions(names: list[str]) -> dict[str, Any]:
    """Cards for the named metrics; an edge metric is described as its node metric."""
    told = {}
    for name in names:
        base = name
        for scope in ("edge_", "agree_", "disagree_"):
            base = base.removeprefix(scope)
        sentence, direction, low, high, chance = _CARDS[base]
        told[name] = {
            "definition": sentence,
            "direction": direction,
            "low": low,
            "high": high,
            "chance": chance,
            "reference": _REFERENCES.get(base, "folklore"),
        }
    return told


def reliability(rng: np.random.Generator, scope: str, *, n: int, tilt: float) -> Score:
    """Bin simulated confidences; `tilt` is how much less often than said they come true."""
    shape = {"node": (5, 1.3), "edge": (3, 1.4), "agree": (4, 1.3), "disagree": (2, 2.4)}[scope]
    confidence = np.clip(rng.beta(*shape, n), 1 / 7, 1)
    accuracy = np.clip(confidence - tilt * np.sin(np.pi * confidence), 0, 1)
    correct = rng.random(n) < accuracy
    place = np.clip(np.digitize(confidence, _BINS, right=True) - 1, 0, 14)
    columns: dict[str, list[float | None]] = {
        k: [] for k in ("share", "confidence", "accuracy", "null_low", "null_high")
    }
    for i in range(15):
        inside = place == i
        m, mean = int(inside.sum()), float(confidence[inside].mean()) if inside.any() else None
        columns["share"].append(m / n)
        columns["confidence"].append(mean)
        columns["accuracy"].append(float(correct[inside].mean()) if m else None)
        draws = rng.binomial(m, mean, 400) / m if m and mean is not None else None
        for name, q in (("null_low", 0.025), ("null_high", 0.975)):
            columns[name].append(None if draws is None else float(np.quantile(draws, q)))
    return {"part": "test", "scope": scope, "edges": _BINS.tolist(), **columns}


def metric(name: str, value: float | None, part: str = "test", **facts: Any) -> Score:
    """One row; with `width` an interval, with `null` a band and the place beside it."""
    row: Score = dict.fromkeys(
        ("low", "high", "null_low", "null_high", "block_low", "block_high", "null")
    )
    row |= {"name": name, "part": part, "value": value, "n": facts.pop("n", 1000)}
    row["direction"] = definitions([name])[name]["direction"]
    width, band = facts.pop("width", None), facts.pop("band", None)
    if value is not None and width:
        row |= {"low": value - width, "high": value + 1.1 * width}
        row |= {"block_low": value - 1.6 * width, "block_high": value + 1.9 * width}
    if value is not None and band:
        row |= {"null_low": band[0], "null_high": band[1]}
        row["null"] = "above" if value > band[1] else "below" if value < band[0] else "inside"
    return row | facts


def _node_metrics(tilt: float) -> list[Score]:
    ece = 0.021 + tilt
    return [
        metric("accuracy", 0.814 - tilt / 3, width=0.012, band=(0.83, 0.869)),
        metric("nll", 0.6121 + tilt, width=0.031, band=(0.497, 0.569)),
        metric("brier", 0.2702 + tilt / 2, width=0.013, band=(0.222, 0.254)),
        metric("ece(bins=15)", ece, width=0.011, band=(0.0172, 0.0411)),
        metric("prr", 0.581, width=0.035),
        metric("auroc", 0.743, width=0.016),
        metric("edge_accuracy", 0.7431, n=1710, width=0.015),
        metric("edge_ece(bins=15)", ece + 0.013, n=1710, width=0.014, band=(0.018, 0.058)),
        metric("agree_ece(bins=15)", 0.1214, n=1403, width=0.014, band=(0.102, 0.143)),
        metric("disagree_ece(bins=15)", 0.4108, n=307, width=0.028, band=(0.371, 0.437)),
        metric("accuracy", 0.826, "valid", n=500, width=0.017),
        metric("ece(bins=15)", 0.0312, "valid", n=500, width=0.014, band=(0.022, 0.057)),
        metric("nll", None, "train", n=140),
    ]


def _curve(tilt: float) -> Score:
    x = np.linspace(0, 1, 101)
    error = 0.186 + tilt / 3
    return {
        "part": "test",
        "uncertainty": "entropy",
        "x": x.tolist(),
        "y": (error * x ** (2.4 - 2 * tilt)).tolist(),
        "oracle": np.maximum(0, x - (1 - error)).tolist(),
        "random": (error * x).tolist(),
    }


def _histograms(rng: np.random.Generator) -> Score:
    edges = np.linspace(0, np.log(7), 31)
    inside = np.histogram(rng.gamma(1.2, 0.3, 4000).clip(0, 1.94), edges)[0] / 4000
    outside = np.histogram(rng.gamma(3.2, 0.32, 4000).clip(0, 1.94), edges)[0] / 4000
    return {
        "uncertainty": "entropy",
        "id_part": "test_in",
        "ood_part": "test_out",
        "edges": edges.tolist(),
        "id": inside.tolist(),
        "ood": outside.tolist(),
    }


def _groups() -> list[Score]:
    rows = []
    for by, names, dip in (
        ("degree", ("1", "2", "3–5", "6–12", "13 and more"), (0.10, 0.03, 0, -0.03, -0.04)),
        ("homophily", ("0–0.25", "0.25–0.5", "0.5–0.75", "0.75–1"), (0.42, 0.2, 0.04, -0.1)),
    ):
        for i, (name, less) in enumerate(zip(names, dip, strict=True)):
            values = {"accuracy": 0.814 - less, "ece(bins=15)": 0.04 + less / 3, "nll": 0.6 + less}
            rows.append({"by": by, "group": name, "part": "test", "n": 97 + 61 * i,
                         "metrics": values, "worst": i == 0})  # fmt: skip
    return rows


def node_score(name: str = "GCN on Cora", *, tilt: float = 0.07, seed: int = 3) -> Score:
    """One ordinary score of node predictions."""
    rng = np.random.default_rng(seed)
    metrics = _node_metrics(tilt)
    status = "caution" if tilt > 0.03 else "good"
    return {
        "schema": "graphgauge.score/1",
        "kind": "nodes",
        "name": name,
        "made": {"graphgauge": "0.1.0", "numpy": "2.4.6", "python": "3.11.9", "seed": 0,
                 "draws": 200, "resamples": 200, "seconds": 1.24},
        "counts": {"nodes": 2708, "classes": 7, "edges": 5278, "labelled": 2708,
                   "parts": {"train": 140, "valid": 500, "test": 1000}},
        "protocol": {"id": "1f3a77c0d95e", "data": "c0ra9d1e", "closed": "right", "ties": "mean",
                     "metrics": "1"},
        "judged": ["test"],
        "metrics": metrics,
        "definitions": definitions(list(dict.fromkeys(m["name"] for m in metrics))),
        "findings": [
            {"code": "duplicate-nodes", "severity": "note", "n": 14, "share": 0.0052,
             "message": "14 nodes have the same features and neighbours as another node.",
             "items": "nodes", "offenders": [12, 77, 140, 141, 502, 503, 900, 1201]},
            {"code": "ties-at-cut", "severity": "warning", "n": 412, "share": 0.152,
             "message": "412 nodes tie at the cut between ID and OOD: which side they fall on "
             "depends on their order.", "items": "nodes",
             "offenders": list(range(40, 60))},
        ] if status == "caution" else [],
        "gates": [
            {"gate": "accuracy>=0.75", "name": "accuracy", "part": "test",
             "value": metrics[0]["value"], "passed": True},
            {"gate": "ece(bins=15)<=0.05", "name": "ece(bins=15)", "part": "test",
             "value": metrics[3]["value"], "passed": metrics[3]["value"] <= 0.05},
        ],
        "groups": _groups(),
        "figures": {
            "reliability": [
                reliability(rng, scope, n=n, tilt=tilt * 1.6)
                for scope, n in (("node", 1000), ("edge", 1710), ("agree", 1403), ("disagree", 307))
            ],
            "rejection": [_curve(tilt)],
            "uncertainty": [_histograms(rng)],
            "ranks": [],
        },
        "verdict": _verdict(status),
    }  # fmt: skip


def _verdict(status: str) -> Score:
    if status == "good":
        reasons = [{"status": "good", "text": "ECE lies inside its null band."}]
        return {"status": "good", "headline": "Well calibrated on test.", "reasons": reasons}
    return {
        "status": status,
        "headline": "Right four times in five, but more confident than it should be.",
        "reasons": [
            {"status": "bad", "text": "The gate ece(bins=15)<=0.05 failed: 0.091 on test."},
            {"status": "caution", "text": "ECE on test is 0.091, above the band of 0.017 to 0.041 "
             "that chance alone would give a calibrated model."},
            {"status": "caution", "text": "Accuracy falls from 0.791 to 0.394 among nodes of "
             "homophily 0–0.25 (97 nodes)."},
            {"status": "good", "text": "Rejecting by entropy finds errors: PRR 0.581 "
             "(0.546 to 0.620)."},
        ],
    }  # fmt: skip


def link_score(name: str = "SEAL on ogbl-collab") -> Score:
    """One ordinary score of link predictions."""
    names = ("mrr", "hits(k=10)", "auc", "mean_rank", "mrr_spread", "hits_spread(k=10)")
    values = (0.4127, 0.6611, 0.9612, 21.4, 0.0312, 0.0467)
    widths = (0.011, 0.012, 0.004, 1.9, None, None)
    metrics = [
        metric(n, v, "all", n=6032, width=w) for n, v, w in zip(names, values, widths, strict=True)
    ]
    return {
        "schema": "graphgauge.score/1",
        "kind": "links",
        "name": name,
        "made": {"graphgauge": "0.1.0", "numpy": "2.4.6", "python": "3.11.9", "seed": 0,
                 "draws": 200, "resamples": 200, "seconds": 0.8},
        "counts": {"positives": 6032, "negatives": 500, "shared": False, "parts": {"all": 6032}},
        "protocol": {"id": "77b0c1", "data": "9e1f", "closed": "right", "ties": "mean",
                     "metrics": "1"},
        "judged": ["all"],
        "metrics": metrics,
        "definitions": definitions(list(names)),
        "findings": [{"code": "edge-leak", "severity": "error", "n": 361, "share": 0.0598,
                      "message": "361 positives are edges of the graph that was trained on.",
                      "items": "positives", "offenders": [[3, 9], [14, 2], [77, 301]]}],
        "gates": [],
        "groups": [],
        "figures": {"reliability": [], "rejection": [], "uncertainty": [], "ranks": [
            {"part": "all", "edges": [1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 502],
             "share": [0.24, 0.12, 0.13, 0.15, 0.12, 0.09, 0.07, 0.04, 0.02, 0.02]}]},
        "verdict": {"status": "bad",
                    "headline": "Test edges leaked into the graph: the ranks mean nothing.",
                    "reasons": [{"status": "bad", "text": "361 positives are known edges."}]},
    }  # fmt: skip


def several_scores() -> Score:
    """Three models with their comparisons."""
    names = ("GCN on Cora", "GAT on Cora", "GCN with temperature")
    tilts = (0.07, 0.05, 0.004)
    pairs = [(0, 1, 0.011, 0.009, 0.21), (0, 2, 0.062, 0.012, 0.0001), (1, 2, 0.045, 0.012, 0.0004)]
    rows = [
        {"first": names[a], "second": names[b], "metric": name, "part": "test", "difference": d,
         "low": d - w, "high": d + w, "p": p, "p_holm": min(1, 6 * p),
         "verdict": "tied" if d < w * 1.3 else "second is better", "n": 1000}
        for name in ("ece(bins=15)", "accuracy") for a, b, d, w, p in pairs
    ]  # fmt: skip
    scores = [
        node_score(n, tilt=t, seed=i) for i, (n, t) in enumerate(zip(names, tilts, strict=True))
    ]
    return {"schema": "graphgauge.scores/1", "scores": scores, "comparisons": rows}


def empty_score() -> Score:
    """Nothing was measured: every list empty, every number missing."""
    score = node_score("nothing yet")
    for name in ("metrics", "findings", "gates", "groups", "judged"):
        score[name] = []
    score |= {"definitions": {}, "figures": {}, "counts": {}, "made": {}, "protocol": {}}
    score["verdict"] = {"status": None, "headline": None, "reasons": []}
    return score


# Names that would break out of text, attributes, style or script, or turn the line around.
HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=https://evil.example/x onerror=alert('2')>",
    "' onmouseover='alert(3)' style='background:url(//evil.example)",
    "</title></style></svg><iframe srcdoc='<script>4</script>'>",
    "{{ 7 * 7 }}{% raw %}",
    "safe\u202egnp.exe\u2066\u2069\u200f",
    "bell\x07 null\x00 escape\x1b[31m delete\x7f \ud800 \ufffe",
    "&lt;b&gt; &amp; ]]> <!-- -->",
    "Z" + "\u0301\u0316\u0334" * 300,
    "long " + "x" * 10_000,
    "שלום عالم",
)


def hostile_score(names: tuple[str, ...] = HOSTILE) -> Score:
    """Put every one of the names wherever a name can stand."""
    score = _renamed(node_score(), names)
    turn = iter(range(10**6))
    for row in (*score["metrics"], *score["groups"], *score["gates"]):
        row["part"] = names[next(turn) % len(names)]
    score["metrics"] += [score["metrics"][0] | {"name": n, "part": n} for n in names]
    score["counts"]["parts"] = dict.fromkeys(names, 3)
    score["judged"] = list(names)
    score["groups"] += [{"by": n, "group": n, "part": n, "n": 3, "metrics": {n: 0.5}, "worst": True}
                        for n in names]  # fmt: skip
    score["findings"] = [{"code": n, "severity": n, "message": n, "n": 3, "share": 0.1, "items": n,
                          "offenders": [n, [n, n]]} for n in names]  # fmt: skip
    score["gates"] = [
        {"gate": n, "name": n, "part": n, "value": 0.1, "passed": None} for n in names
    ]
    fields = ("definition", "direction", "low", "high", "chance", "reference")
    score["definitions"] |= {n: dict.fromkeys(fields, n) for n in names}
    score["protocol"] = dict.fromkeys(score["protocol"], names[1])
    return score


def _renamed(score: Score, names: tuple[str, ...]) -> Score:
    score["name"] = names[0]
    score["verdict"] = {"status": names[1], "headline": names[0],
                        "reasons": [{"status": n, "text": n} for n in names]}  # fmt: skip
    for found in score["figures"].values():
        for i, figure in enumerate(found):
            for field in ("part", "scope", "uncertainty", "id_part", "ood_part"):
                if field in figure:
                    figure[field] = names[i % len(names)]
    return score


def huge_score(filler: str = "&") -> Score:
    """Far more of everything than a page can hold."""
    score = node_score("w" * 100_000)
    rng = np.random.default_rng(0)
    long = filler * 5000
    score["groups"] = [
        {"by": f"property {i % 40}", "group": f"{i} {long}", "part": "test", "n": i,
         "metrics": {"accuracy": 0.5, long: 0.5}, "worst": i == 19_999} for i in range(20_000)
    ]  # fmt: skip
    score["findings"] = [
        {"code": f"code-{i}", "severity": "warning", "message": long, "n": 10_000, "share": 0.1,
         "items": "nodes", "offenders": [long] * 500} for i in range(2_000)
    ]  # fmt: skip
    score["metrics"] = [
        metric("accuracy", 0.5, f"part {i % 50}", width=0.1) | {"name": f"accuracy {i} {long}"}
        for i in range(5_000)
    ]
    score["definitions"] = {f"accuracy {i} {long}": {"definition": long} for i in range(5_000)}
    score["gates"] = score["gates"] * 3_000
    score["verdict"]["reasons"] = score["verdict"]["reasons"] * 1_000
    score["figures"]["reliability"] *= 300
    score["figures"]["rejection"] = [
        {
            "part": "test",
            "uncertainty": long,
            **dict.fromkeys(("x", "y", "oracle", "random"), steps),
        }
        for steps in [np.linspace(0, 1, 20_001).tolist()] * 30
    ]
    heights = rng.random(50_000)
    heights = (heights / heights.sum()).tolist()
    score["figures"]["uncertainty"][0] |= {
        "edges": np.linspace(0, 1, 50_001).tolist(), "id": heights, "ood": heights[::-1]
    }  # fmt: skip
    score["counts"]["parts"] = {f"part {i}": i for i in range(5_000)}
    return score


def huge_comparison() -> Score:
    """Many models, each with everything."""
    score = node_score()
    comparisons = several_scores()["comparisons"] * 2_000
    scores = [score | {"name": f"model {i}"} for i in range(500)]
    return {"schema": "graphgauge.scores/1", "scores": scores, "comparisons": comparisons}


def shift_description() -> Score:
    """What a shift does to a planted graph, with names that mean harm."""
    made = planted(400, 5, seed=4)
    names = tuple(HOSTILE[:5])
    graph = replace(made.graph, name=HOSTILE[0], class_names=names)
    parts = {f"{name}{HOSTILE[1]}": made.split[name] for name in ("train", "test_in")}
    parts |= {f"{HOSTILE[2]}_out": made.split["test_out"]}
    split = Split(parts, graph.n_nodes, {**made.split.recipe, "shift": HOSTILE[3]})
    return summarize_shift(describe(graph, split))


def bare_description() -> Score:
    """Neither classes nor features, nor paths between the nodes of a side."""
    graph = Graph.from_edges([[0, 1]], 6)
    return summarize_shift(describe(graph, Split({"train": [0, 2], "test": [1, 3]}, 6)))


def page(document: Score) -> str:
    """Render a document of any kind."""
    is_shift = document.get("schema") == "graphgauge.shift/1"
    return render_shift(document) if is_shift else render(document)
