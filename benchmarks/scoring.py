"""Scoring at scale: a whole file, its null bands, and ECE against torchmetrics and netcal.

A file with `--nodes` nodes with `--classes` classes in single precision and `--edges` random
edges is scored as `graphgauge score --resamples 0` does: audit, all metrics of nodes, edges,
agreeing and disagreeing edges with null bands from `--draws` redraws, groups and verdict. Then the
null bands alone, with their time by stage. Peak memory is that of the whole process, compared with
the bytes of its inputs (probabilities, edges, labels).

ECE: the same probabilities and labels, with 15 bins, on every side.

Every side is a process of its own that loads the arrays and computes on one thread; its time
leaves out imports and loading.

Run ``python benchmarks/scoring.py [--nodes 1000000] [--classes 40] [--edges 10000000] ...``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from sides import Figures, in_a_process, measured

SCOPES = ("node", "edge", "agree", "disagree")


def write(folder: Path, nodes: int, classes: int, edges: int) -> Figures:
    """Write probabilities, labels drawn from them, and random edges."""
    import numpy as np

    rng = np.random.default_rng(0)
    shapes = {"probs": (np.float32, (nodes, classes)), "labels": (np.int64, (nodes,))}
    shapes["edges"] = (np.int64, (edges, 2))
    out = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", dtype, shape)
        for name, (dtype, shape) in shapes.items()
    }
    for start in range(0, nodes, 2**15):
        rows = slice(start, min(start + 2**15, nodes))
        block = rng.standard_exponential((rows.stop - start, classes), np.float32) ** 3
        block /= block.sum(axis=1, keepdims=True)
        below = block.cumsum(axis=1) < rng.random((len(block), 1), np.float32)
        out["probs"][rows] = block
        out["labels"][rows] = np.minimum(below.sum(axis=1), classes - 1)
    for start in range(0, edges, 2**18):
        out["edges"][start : start + 2**18] = rng.integers(0, nodes, (min(2**18, edges - start), 2))
    for array in out.values():
        array.flush()
    edge_index = out["edges"].T
    arrays = {"probs": out["probs"], "labels": out["labels"], "edge_index": edge_index}
    np.savez(folder / "predictions.npz", **arrays)
    return {}


def load(folder: Path, *names: str) -> list[Any]:
    """Read arrays as a whole."""
    import numpy as np

    return [np.load(folder / f"{name}.npy") for name in names]


class Stages:
    """Adds up the time spent in some functions, wherever they are called from."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def watch(self, owner: Any, name: str, stage: str) -> None:
        """Replace a function by one that also takes its time."""
        function = getattr(owner, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[stage] += time.perf_counter() - start

        setattr(owner, name, timed)


def null(folder: Path, draws: int) -> Figures:
    """Null bands of all calibration metrics in all scopes."""
    from graphgauge.metrics import null, tallies

    stages = Stages()
    stages.watch(null, "draw_codes", "draw labels")
    stages.watch(null, "_ranked_edges", "rank edges")
    for tally, stage in (
        ("NodeTally", "nodes"),
        ("ClassTally", "classes"),
        ("EdgeTally", "edges"),
    ):
        stages.watch(getattr(tallies, tally), "__init__", f"cells of {stage}")
        stages.watch(getattr(tallies, tally), "read", f"tally {stage}")
    probs, edges, labels = load(folder, "probs", "edges", "labels")
    figures = measured(lambda: {"bands": len(null.null_bands(probs, edges, n_draws=draws))})
    figures |= {f"stage {name}": seconds for name, seconds in stages.seconds.items()}
    return figures | {"inputs": (probs.nbytes + edges.nbytes + labels.nbytes) / 2**20}


def score(folder: Path, draws: int) -> Figures:
    """All that `graphgauge score --resamples 0` does: read, audit, measure, band, group, judge."""
    from graphgauge.formats import read_predictions
    from graphgauge.scoring import Options, score

    path = folder / "predictions.npz"
    found: Figures = {}

    def compute() -> Figures:
        card = score(read_predictions(path), Options(n_draws=draws, n_resamples=0))
        rows = {row.name: row for row in card.metrics}
        for scope in SCOPES:
            row = rows["ece(bins=15)" if scope == "node" else f"{scope}_ece(bins=15)"]
            found.update({f"value {scope}": row.value, "metrics": len(rows)})
            found.update({f"low {scope}": row.null_low or 0, f"high {scope}": row.null_high or 0})
        return found

    return measured(compute) | {"inputs": path.stat().st_size / 2**20}


def graphgauge(folder: Path, draws: int) -> Figures:
    """ECE from probabilities and labels."""
    from graphgauge.metrics.calibration import ece
    from graphgauge.metrics.outcomes import Outcomes

    probs, labels = load(folder, "probs", "labels")
    return measured(lambda: {"ece": ece(Outcomes.of_nodes(probs, labels), closed="left")})


def torchmetrics(folder: Path, draws: int) -> Figures:
    """torchmetrics, with its checks of the arguments off."""
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    torch.set_num_threads(1)
    probs, labels = map(torch.from_numpy, load(folder, "probs", "labels"))
    options = {"num_classes": probs.shape[1], "n_bins": 15, "validate_args": False}
    return measured(lambda: {"ece": float(multiclass_calibration_error(probs, labels, **options))})


def netcal(folder: Path, draws: int) -> Figures:
    """Measure with netcal."""
    from netcal.metrics import ECE

    probs, labels = load(folder, "probs", "labels")
    return measured(lambda: {"ece": float(ECE(15).measure(probs, labels))})


SIDES = {
    "null": null,
    "score": score,
    "graphgauge": graphgauge,
    "torchmetrics": torchmetrics,
    "netcal": netcal,
}


def show_bands(folder: Path, draws: int) -> None:
    """Print time by stage, memory, and the bands beside the observed values."""
    found = in_a_process("--side", "null", "--folder", folder, "--draws", draws)
    value = in_a_process("--side", "score", "--folder", folder, "--draws", draws)
    for name, figures in (("score a file", value), ("null bands", found)):
        print(
            f"{name:14}{figures['seconds']:8.2f} s   peak {figures['peak']:6.0f} MB = "
            f"{figures['peak'] / figures['inputs']:.2f} x inputs of {figures['inputs']:.0f} MB"
        )
    for name, seconds in found.items():
        if name.startswith("stage "):
            print(f"  {name.removeprefix('stage '):18}{seconds:8.2f} s")
    for scope in SCOPES:
        print(
            f"  ECE {scope:10} {value[f'value {scope}']:.6f}, null band "
            f"{value[f'low {scope}']:.6f} to {value[f'high {scope}']:.6f}"
        )


def compare(folder: Path, repeats: int) -> None:
    """Print the sides of ECE, the fastest of some runs each."""
    print(f"{'':14}{'time':>9}{'ratio':>8}{'peak':>10}{'ratio':>8}{'ece':>12}")
    ours: Figures = {}
    for side in ("graphgauge", "torchmetrics", "netcal"):
        runs = [in_a_process("--side", side, "--folder", folder) for _ in range(repeats)]
        best = min(runs, key=lambda run: run["seconds"])
        ours = ours or best
        print(
            f"{side:14}{best['seconds']:7.3f} s{best['seconds'] / ours['seconds']:7.1f}x"
            f"{best['peak']:7.0f} MB{best['peak'] / ours['peak']:7.1f}x{best['ece']:12.6f}"
        )


def main() -> None:
    """Write the arrays once, then measure every side on them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=40)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--side", choices=["write", *SIDES], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side == "write":
        print(json.dumps(write(given.folder, given.nodes, given.classes, given.edges)))
    elif given.side:
        print(json.dumps(SIDES[given.side](given.folder, given.draws)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            size = ("--nodes", given.nodes, "--classes", given.classes, "--edges", given.edges)
            in_a_process("--side", "write", "--folder", folder, *size)
            print(
                f"{given.nodes:,} nodes x {given.classes} classes, {given.edges:,} edges, "
                f"{given.draws} draws of all metrics in all scopes"
            )
            show_bands(Path(folder), given.draws)
            print(f"\nECE of {given.nodes:,} nodes x {given.classes} classes")
            compare(Path(folder), given.repeats)


if __name__ == "__main__":
    main()
