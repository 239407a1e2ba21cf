"""Belief propagation: speed against a direct version in PyTorch, time and memory on a large graph.

Speed: 100 rounds without a test on Cora, CiteSeer and PubMed, in single precision as the published
model has them, with its shapes: scores of random numbers, one symmetric coupling, and a strength an
edge (``own``) or none (``one``); by maxima, as published, and by sums. PyTorch's side is the
textbook's: a tensor of edges x classes x classes, made anew in every round. Building the model and
reading off marginals count on both sides; ours in double precision stands beside. Values of the
sides are compared.

Scale: a power-law graph of a million edges with 40 classes, until nothing changes; the peak is
that of the process, making the graph included.

Every side is a process of its own on one thread, and times are CPU times of this process. Sides
take turns, and the fastest of some turns counts.

Run ``python benchmarks/beliefs.py [--only speed|scale] [--data cora] [--repeats 3]``; the data sets
are fetched, or found where ``GRAPHGAUGE_DATA`` says.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sides import Figures, in_a_process, measured

NAMES = ("cora", "citeseer", "pubmed")
STRENGTHS = ("own", "one")
PRODUCTS = ("max", "sum")
ROUNDS = 100
BAR = 10
OFF = 1e-4
CLASSES = 40

Compute = Callable[[dict[str, Any], str, str], Any]


def cases(names: list[str]) -> Iterator[tuple[str, str, str]]:
    """Go through what is compared."""
    return ((n, s, p) for n in names for s in STRENGTHS for p in PRODUCTS)


def write(folder: Path, names: list[str]) -> Figures:
    """Make the models for all sides."""
    import numpy as np

    from graphgauge import load

    sizes = {}
    for name in names:
        graph, rng = load(name), np.random.default_rng(0)
        n_classes, n_edges = int(graph.labels.max()) + 1, len(graph.edges)
        coupling = rng.normal(size=(n_classes, n_classes))
        np.savez(
            folder / f"{name}.npz",
            scores=rng.normal(0, 2, (graph.n_nodes, n_classes)).astype(np.float32),
            edges=graph.edges.astype(np.int64),
            coupling=(0.05 * (coupling + coupling.T)).astype(np.float32),
            own=rng.normal(size=n_edges).astype(np.float32),
            one=np.ones(n_edges, np.float32),
        )
        sizes[name] = [graph.n_nodes, n_edges, n_classes]
    return sizes


def read(folder: Path, name: str) -> dict[str, Any]:
    """Read one of them."""
    import numpy as np

    with np.load(folder / f"{name}.npz") as stored:
        return dict(stored)


def timed(folder: Path, names: list[str], side: str, compute: Compute) -> Figures:
    """Time every case, and keep the marginals."""
    import numpy as np

    models = {name: read(folder, name) for name in names}
    # What is imported when it is first called does not count, nor does the first memory.
    compute(models[names[0]], STRENGTHS[0], PRODUCTS[0])
    seconds, found = {}, {}
    for name, strengths, product in cases(names):
        start = time.process_time()
        nodes = compute(models[name], strengths, product)
        seconds[f"{name} {strengths} {product}"] = time.process_time() - start
        found[f"{name} {strengths} {product}"] = nodes
    np.savez(folder / f"nodes-{side}.npz", **found)
    return seconds


def ours(stored: dict[str, Any], strengths: str, product: str) -> Any:
    """Compute marginals of nodes with this package."""
    from graphgauge.beliefs import PairwiseModel, propagate_beliefs

    own = stored["own"] if strengths == "own" else None
    model = PairwiseModel(stored["scores"], stored["edges"], stored["coupling"], strengths=own)
    return propagate_beliefs(model, product=product, iterations=ROUNDS, tolerance=0).nodes


def in_double(stored: dict[str, Any], strengths: str, product: str) -> Any:
    """Do the same in double precision."""
    return ours(stored | {"scores": stored["scores"].astype(float)}, strengths, product)


def directly(stored: dict[str, Any], strengths: str, product: str) -> Any:
    """Compute the same with PyTorch, all pairs of labels of all edges at once."""
    import torch

    scores, coupling = torch.from_numpy(stored["scores"]), torch.from_numpy(stored["coupling"])
    strength = torch.from_numpy(stored[strengths])
    u, v = torch.from_numpy(stored["edges"]).T
    sources, targets, n_edges = torch.cat([u, v]), torch.cat([v, u]), len(u)

    def arriving(leaving: torch.Tensor) -> torch.Tensor:
        pairs = strength[:, None, None] * coupling
        pairs = torch.cat([pairs, pairs.transpose(1, 2)]) + leaving[:, :, None]
        return pairs.amax(dim=1) if product == "max" else pairs.logsumexp(dim=1)

    leaving = scores.new_zeros(2 * n_edges, scores.shape[1])
    for _ in range(ROUNDS):
        messages = arriving(leaving)
        held = scores.index_add(0, targets, messages)
        turned = torch.cat([messages[n_edges:], messages[:n_edges]])
        leaving = torch.log_softmax(held[sources] - turned, dim=1)
    return torch.softmax(scores.index_add(0, targets, arriving(leaving)), dim=1).numpy()


def differences(folder: Path) -> Figures:
    """Compare the marginals of every case."""
    import numpy as np

    with np.load(folder / "nodes-torch.npz") as theirs, np.load(folder / "nodes-double.npz") as own:
        return {case: float(np.abs(theirs[case] - own[case]).max()) for case in theirs}


RIVALS: dict[str, Compute] = {"torch": directly, "graphgauge": ours, "double": in_double}


def large(n_nodes: int, n_edges: int) -> Figures:
    """Make a graph, and propagate beliefs on it until they have settled."""
    import numpy as np

    from graphgauge.beliefs import PairwiseModel, propagate_beliefs
    from graphgauge.datasets.powerlaw import powerlaw

    def compute() -> Figures:
        start = time.process_time()
        edges, rng = powerlaw(n_nodes, n_edges).edges, np.random.default_rng(0)
        scores = 2 * rng.standard_normal((n_nodes, CLASSES), np.float32)
        made = time.process_time()
        beliefs = propagate_beliefs(
            PairwiseModel(scores, edges, 0.5 * np.eye(CLASSES)), tolerance=1e-4
        )
        return {
            "making": made - start,
            "propagating": time.process_time() - made,
            "rounds": beliefs.iterations,
            "converged": beliefs.converged,
            "residual": beliefs.residual,
        }

    return measured(compute)


def show_speed(names: list[str], repeats: int) -> None:
    """Print a line a case: both sides, the ratio, and by how much values differ."""
    with tempfile.TemporaryDirectory() as folder:
        given = ("--folder", folder, "--data", *names)
        sizes = in_a_process("--side", "write", *given)
        for name, (nodes, edges, n_classes) in sizes.items():
            print(f"{name}: {nodes:,} nodes, {edges:,} edges, {n_classes} classes")
        runs: dict[str, list[Figures]] = {side: [] for side in RIVALS}
        for _ in range(repeats):
            for side, done in runs.items():
                done.append(in_a_process("--side", side, *given))
        gaps = in_a_process("--side", "differences", *given)
    print(f"\nSpeed: {ROUNDS} rounds, the fastest of {repeats} turns")
    heads = ("PyTorch", "graphgauge", "ratio", "in double", "ratio", "difference")
    print(f"{'':22}" + "".join(f"{head:>12}" for head in heads))
    ratios = {}
    for case in map(" ".join, cases(names)):
        them, us, double = (min(run[case] for run in done) for done in runs.values())
        ratios[case] = them / us
        print(
            f"{case:22}{them:10.3f} s{us:10.4f} s{them / us:11.1f}x{double:10.4f} s"
            f"{them / double:11.1f}x{gaps[case]:12.1e}"
        )
    worst = min(ratios, key=ratios.__getitem__)
    print(f"smallest ratio: {ratios[worst]:.1f}x ({worst}), bar {BAR}x")
    if max(gaps.values()) > OFF:
        raise SystemExit(f"the sides compute different values: {max(gaps.values()):.1e} apart")


def show_large(n_nodes: int, n_edges: int) -> None:
    """Print the time of a large graph and the peak of the process."""
    print(f"\nScale: {n_nodes:,} nodes, {n_edges:,} edges, {CLASSES} classes", flush=True)
    found = in_a_process("--side", "large", "--nodes", n_nodes, "--edges", n_edges)
    settled = "settled" if found["converged"] else "did not settle"
    print(f"  making the graph {found['making']:8.1f} s")
    print(f"  propagating      {found['propagating']:8.1f} s, {found['rounds']} rounds, {settled}")
    print(f"  peak             {found['peak'] / 1024:8.2f} GB")
    pairs = n_edges * CLASSES**2 * 4 / 2**30
    print(f"  (edges x classes x classes would be {pairs:.1f} GB)")
    if not found["converged"]:
        raise SystemExit(f"messages still change by {found['residual']:.1e}")


def main() -> None:
    """Measure everything, or the part that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["speed", "scale"])
    parser.add_argument("--data", choices=NAMES, nargs="*", default=NAMES)
    parser.add_argument("--nodes", type=int, default=100_000, help="of the large graph")
    parser.add_argument("--edges", type=int, default=1_000_000, help="of the large graph")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--side", choices=["write", "differences", "large", *RIVALS], help=argparse.SUPPRESS
    )
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side == "large":
        print(json.dumps(large(given.nodes, given.edges)))
    elif given.side == "write":
        print(json.dumps(write(given.folder, given.data)))
    elif given.side == "differences":
        print(json.dumps(differences(given.folder)))
    elif given.side:
        print(json.dumps(timed(given.folder, given.data, given.side, RIVALS[given.side])))
    else:
        if given.only in (None, "speed"):
            show_speed(list(given.data), given.repeats)
        if given.only in (None, "scale"):
            show_large(given.nodes, given.edges)


if __name__ == "__main__":
    main()
