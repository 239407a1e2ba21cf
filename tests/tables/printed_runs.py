"""Runs whose means and deviations are those in print, to feed tables with."""

from __future__ import annotations

from functools import cache

import numpy as np

from graphgauge.benchmark import Calibrated
from graphgauge.records import Record, Records, RunSpec
from graphgauge.tables import paper, published_figures


def steps(n: int, ddof: int) -> np.ndarray:
    """Return `n` numbers of mean 0 and deviation 1; nothing can deviate alone."""
    if n == 1:
        return np.zeros(1)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    signs[-1] *= n % 2 == 0
    return signs / signs.std(ddof=ddof)


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
    grid = whose.grid
    values: dict[tuple, dict] = {}
    figures = published_figures(benchmark)
    scores = [
        (place, row, block)
        for table in whose.tables.values()
        for block in table.blocks
        if block.kind == "cells" and table.blocks[0].kind == "cells"
        for place, row in block.scored(table.number)
    ]
    for place, row, block in sorted(scores, key=lambda found: not figures[found[0]].printed_sd):
        figure = figures[place]
        if place.dataset == "all" or not figure.printed:
            continue
        if datasets and place.dataset not in datasets:
            continue
        method = whose.run_of(row)
        named, _, view = place.setting.partition("/")
        settings = block.settings if block.pooled else (named,)
        keys = [(setting, seed) for setting in settings for seed in grid.seeds[:seeds]]
        if method in whose.members:
            keys = [(setting, 0) for setting in settings]
        spread = figure.sd if figure.printed_sd else 0
        part, metric = whose.where(view or place.part, place.metric)
        if "bootstraps" in grid.measures:
            where = (place.dataset, named, method, 0)
            found = values.setdefault(where, {}).setdefault(part, {"n_draws": 1000})
            found |= {metric: figure.mean, f"{metric}_sd": figure.sd}
            continue
        for key, step in zip(keys, spread * steps(len(keys), whose.ddof), strict=True):
            found = values.setdefault((place.dataset, key[0], method, key[1]), {})
            found.setdefault(part, {}).setdefault(metric, figure.mean + step)
    ids = tuple(f"{i:016x}" for i in range(5))
    made_of = {name: ids[:1] for name, made in grid.methods.items() if isinstance(made, Calibrated)}
    made_of |= dict.fromkeys(whose.members, ids)
    return Records(
        [
            run(*key, found, benchmark=benchmark, members=made_of.get(key[2], ()))
            for key, found in values.items()
        ]
    )
