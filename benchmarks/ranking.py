"""Ranking metrics: time and peak memory against OGB's evaluator and plain NumPy.

Own negatives: `--rows` positives with `--negatives` each, as single-precision scores in a ``.npy``
file, to MRR and Hits@{1,10,50}. Shared negatives: `--rows` positives against one list as long as
all those together, to Hits@{1,10,50} (OGB has no more for a shared list), MRR and AUC.

Every side is a process of its own that reads the file and computes; its time leaves out imports,
its peak memory is that of the whole process, interpreter and libraries included.

Run ``python benchmarks/ranking.py [--rows 100000] [--negatives 500] [--repeats 3]``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sides import Figures, in_a_process, measured

KS = (1, 10, 50)


class StoredRows:
    """A ``.npy`` file read a block of rows at a time."""

    def __init__(self, path: Path) -> None:
        import numpy as np

        with path.open("rb") as file:
            np.lib.format.read_magic(file)
            self.shape, _, self.dtype = np.lib.format.read_array_header_1_0(file)
            self.offset = file.tell()
        self.path, self.ndim = path, len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def blocks(self, rows: int) -> Iterator[Any]:
        """Read successive blocks of at most `rows` rows."""
        import numpy as np

        width = self.shape[1] if self.ndim == 2 else 1
        with self.path.open("rb") as file:
            file.seek(self.offset)
            for start in range(0, len(self), rows):
                n = min(rows, len(self) - start)
                block = np.fromfile(file, self.dtype, n * width)
                yield block.reshape(n, *self.shape[1:])


def write(folder: Path, rows: int, negatives: int) -> Figures:
    """Write scores in which positives are somewhat higher, own and shared in two files."""
    import numpy as np

    rng = np.random.default_rng(0)
    np.save(folder / "pos.npy", rng.standard_normal(rows, np.float32) + np.float32(2.0))
    for name, shape in (("own", (rows, negatives)), ("shared", (rows * negatives,))):
        out = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float32, shape)
        for start in range(0, len(out), 2**13):
            part = out[start : start + 2**13]
            part[...] = rng.standard_normal(part.shape, np.float32)
        out.flush()
    return {}


def graphgauge_streamed(folder: Path, name: str) -> Figures:
    """Rank with the negatives left on disk."""
    return graphgauge(folder, lambda: StoredRows(folder / f"{name}.npy"))


def graphgauge_in_memory(folder: Path, name: str) -> Figures:
    """Rank with the negatives read as a whole."""
    import numpy as np

    return graphgauge(folder, lambda: np.load(folder / f"{name}.npy"))


def graphgauge(folder: Path, negatives: Callable[[], Any]) -> Figures:
    """Count once, then compute all metrics from the counts."""
    import numpy as np

    from graphgauge.metrics.ranking import Ranks, auc, hits, mrr

    def compute() -> Figures:
        ranks = Ranks.of(np.load(folder / "pos.npy"), negatives())
        shares = {f"hits@{k}": hits(ranks, k=k) for k in KS}
        return {"mrr": mrr(ranks), "auc": auc(ranks), **shares}

    return measured(compute)


def ogb_evaluator(folder: Path, name: str) -> Figures:
    """OGB's own code: MRR with Hits@{1,10} for own negatives, Hits@K alone for shared ones."""
    import warnings

    import numpy as np
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ogb.linkproppred import Evaluator
    torch.set_num_threads(1)

    def compute() -> Figures:
        pos = torch.from_numpy(np.load(folder / "pos.npy"))
        neg = torch.from_numpy(np.load(folder / f"{name}.npy"))
        scores = {"y_pred_pos": pos, "y_pred_neg": neg}
        if name == "own":
            lists = Evaluator("ogbl-citation2").eval(scores)
            kept = {"mrr": "mrr_list", "hits@1": "hits@1_list", "hits@10": "hits@10_list"}
            return {metric: float(lists[key].double().mean()) for metric, key in kept.items()}
        evaluator, figures = Evaluator("ogbl-collab"), {}
        for k in KS:
            evaluator.K = k
            figures.update(evaluator.eval(scores))
        return figures

    return measured(compute)


def numpy_sort(folder: Path, name: str) -> Figures:
    """Rank by sorting: argsort of every row, or one sort of the shared list."""
    import numpy as np

    def compute() -> Figures:
        pos, neg = np.load(folder / "pos.npy"), np.load(folder / f"{name}.npy")
        if name == "own":
            order = np.argsort(-np.column_stack([pos, neg]), axis=1)
            rank = 1 + np.argmax(order == 0, axis=1)
        else:
            neg.sort()
            rank = 1 + len(neg) - np.searchsorted(neg, pos, "right")
        return {"mrr": float((1 / rank).mean()), **{f"hits@{k}": (rank <= k).mean() for k in KS}}

    return measured(compute)


SIDES = {
    "graphgauge, streamed": graphgauge_streamed,
    "graphgauge, in memory": graphgauge_in_memory,
    "OGB evaluator": ogb_evaluator,
    "NumPy sort": numpy_sort,
}


def compare(folder: Path, name: str, repeats: int) -> None:
    """Print a table of all sides, the fastest of some runs each; then where they disagree."""
    print(f"{'':24}{'time':>9}{'ratio':>8}{'peak':>10}{'ratio':>8}{'imports':>10}")
    results = {}
    for side in SIDES:
        runs = [
            in_a_process("--side", side, "--name", name, "--folder", folder) for _ in range(repeats)
        ]
        best = min(runs, key=lambda run: run["seconds"])
        best["peak"] = max(run["peak"] for run in runs)
        results[side] = best
        ours = results["graphgauge, streamed"]
        print(
            f"{side:24}{best['seconds']:7.2f} s{best['seconds'] / ours['seconds']:7.1f}x"
            f"{best['peak']:7.0f} MB{best['peak'] / ours['peak']:7.1f}x{best['before']:7.0f} MB"
        )
    ours = {
        k: v for k, v in results["graphgauge, streamed"].items() if k[:4] in ("mrr", "auc", "hits")
    }
    print("values: " + ", ".join(f"{metric} {value:.6f}" for metric, value in ours.items()))
    for side, figures in results.items():
        gap = max(abs(figures[metric] - ours[metric]) for metric in ours if metric in figures)
        print(f"  largest difference to {side}: {gap:.1e}")


def main() -> None:
    """Write the scores once, then measure every side on them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--negatives", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--side", choices=["write", *SIDES], help=argparse.SUPPRESS)
    parser.add_argument("--name", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side == "write":
        print(json.dumps(write(given.folder, given.rows, given.negatives)))
    elif given.side:
        print(json.dumps(SIDES[given.side](given.folder, given.name)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            size = ("--rows", given.rows, "--negatives", given.negatives)
            in_a_process("--side", "write", "--folder", folder, *size)
            print(f"{given.rows:,} positives x {given.negatives} own negatives")
            compare(Path(folder), "own", given.repeats)
            print(f"\n{given.rows:,} positives, {given.rows * given.negatives:,} shared negatives")
            compare(Path(folder), "shared", given.repeats)


if __name__ == "__main__":
    main()
