"""Runs whose means and deviations are those in print, to feed tables with."""

from __future__ import annotations

from functools import cache

import numpy as np

from graphgauge.records import Record, Records, RunSpec
from graphgauge.tables import paper, published_figures

# Deviations of five numbers with mean 0 and sample deviation 1, and of two.
_STEPS = {5: np.array([-1, 1, -1, 1, 0]), 2: np.array([-1, 1]) / np.sqrt(2)}


def run(dataset, setting, method, seed, values, *, benchmark="shifts", **spec) -> Record:
    """Make a record; `values` are percentages by part and metric."""
    about = {"protocol": "published", "hyper": {}, "version": "1", **spec}
    made = about.pop("made", {})
    status, reason = about.pop("status", "done"), about.pop("reason", "")
    fractions = {
        part: {metric: value / 100 for metric, value in numbers.items()}
        for part, numbers in values.items()
    }
    spec = RunSpec(benchmark, dataset, setting, method, seed, **about)
    return Record(spec, status, reason, fractions, made)


@cache
def printed_runs(benchmark: str, *, datasets=(), seeds: int = 5) -> Records:
    """Invert the tables of scores, those with a deviation first."""
    whose = paper(benchmark)
    values: dict[tuple, dict] = {}
    figures = published_figures(benchmark).items()
    for place, figure in sorted(figures, key=lambda item: not item[1].printed_sd):
        score = whose.table(place.table).blocks[0].kind == "cells" and place.dataset != "all"
        if not (score and figure.printed) or place.metric in whose.drops:
            continue
        if datasets and place.dataset not in datasets:
            continue
        method = whose.run_of(place.method)
        single = method in whose.members
        steps = [0.0] if single else figure.sd * _STEPS[seeds] if figure.printed_sd else [0] * seeds
        for seed, step in enumerate(steps):
            key = (place.dataset, place.setting, method, seed)
            found = values.setdefault(key, {}).setdefault(place.part, {})
            found.setdefault(place.metric, figure.mean + step)
    members = tuple(f"{i:016x}" for i in range(5))
    return Records(
        [
            run(
                *key, found, benchmark=benchmark, members=members if key[2] in whose.members else ()
            )
            for key, found in values.items()
        ]
    )
