"""Node properties: speed against NetworkX and PyG, time and memory on a large graph, growth.

Speed: PageRank, personalised PageRank from its most popular node, and clustering together, on a
power-law graph of 100,000 nodes and 500,000 edges, ten neighbours a node. The fewer neighbours,
the less NetworkX has to do for clustering, its slowest part. NetworkX runs on its SciPy backend
until the shares change by less than 1e-10 in all, PyG's `NodePropertySplit` for popularity,
locality and density as it comes: NetworkX at its default tolerance, which is loose, and PageRank
once more for locality. Each side's time leaves out making its graph, which is printed beside; of
PyG this is all else that the transform does, which makes the graph three times and draws masks.
Each side first computes all on three nodes, so that what it imports when it is first called does
not count. The values of the sides are compared.

Scale: a power-law graph as large as ogbn-products, in one process; its peak memory is that of all,
making the graph included.

Growth: time of the three properties per million edges, at the density of the large graph, beside
the number of operations: passes over all edges that both PageRanks take, and pairs of edges per
edge that are looked up for triangles. Where operations stay as they are and time grows, fewer of
the numbers that they need are in the processor's cache.

Every side is a process of its own on one thread, and times are CPU times of this process.

Run ``python benchmarks/properties.py [--only speed|scale|growth] [--repeats 3]``; it takes some
minutes, most of them the peers'.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sides import Figures, in_a_process, measured

NAMES = ("pagerank", "personalised", "clustering")
DAMPING = 0.85
CHANGE = 1e-10
LARGE = (2_450_000, 61_900_000)
GROWTH = (1_000_000, 4_000_000, 16_000_000)
LIMIT = 16


def timed(compute: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of a call, and what came of it."""
    start = time.process_time()
    made = compute()
    return time.process_time() - start, made


def ours(graph: Any) -> tuple[Figures, dict[str, Any]]:
    """Compute the three properties of a graph that knows nothing yet but its adjacency."""
    from graphgauge.properties import clustering, pagerank, personalised_pagerank

    computed = {
        "pagerank": timed(lambda: pagerank(graph)),
        "personalised": timed(lambda: personalised_pagerank(graph)),
        "clustering": timed(lambda: clustering(graph)),
    }
    return ({k: s for k, (s, _) in computed.items()}, {k: v for k, (_, v) in computed.items()})


def write(folder: Path, nodes: int, edges: int) -> Figures:
    """Make a graph for all sides."""
    import numpy as np

    from graphgauge.datasets.powerlaw import powerlaw

    np.savez(folder / "graph.npz", edges=powerlaw(nodes, edges).edges, n_nodes=nodes)
    return {}


def read(folder: Path) -> tuple[Any, int]:
    """Read its edges and the number of its nodes."""
    import numpy as np

    with np.load(folder / "graph.npz") as stored:
        return stored["edges"], int(stored["n_nodes"])


def graphgauge(folder: Path) -> Figures:
    """Compute with this package."""
    import numpy as np

    from graphgauge.graph import Graph

    edges, n_nodes = read(folder)
    ours(Graph.from_edges([[0, 1], [1, 2]], 3))
    making, graph = timed(lambda: Graph.from_edges(edges, n_nodes))
    values: dict[str, Any] = {}

    def compute() -> Figures:
        seconds, found = ours(graph)
        values.update(found)
        return seconds

    figures = measured(compute)
    np.savez(folder / "graphgauge.npz", **values)
    return figures | {"making": making}


def networkx(folder: Path) -> Figures:
    """Compute with NetworkX, PageRank as exactly as it goes in reasonable time."""
    import networkx as nx
    import numpy as np

    edges, n_nodes = read(folder)

    small = nx.path_graph(3)
    nx.pagerank(small)
    nx.clustering(small)

    def make() -> Any:
        graph = nx.Graph()
        graph.add_nodes_from(range(n_nodes))
        graph.add_edges_from(edges.tolist())
        return graph

    making, graph = timed(make)
    values: dict[str, Any] = {}

    def compute() -> Figures:
        exactly = {"alpha": DAMPING, "tol": CHANGE / n_nodes, "max_iter": 1000}
        first, shares = timed(lambda: nx.pagerank(graph, **exactly))
        restart = {max(shares, key=shares.__getitem__): 1.0}
        second, local = timed(lambda: nx.pagerank(graph, personalization=restart, **exactly))
        third, density = timed(lambda: nx.clustering(graph))
        values.update(zip(NAMES, (shares, local, density), strict=True))
        return dict(zip(NAMES, (first, second, third), strict=True))

    figures = measured(compute)
    np.savez(folder / "networkx.npz", **{k: list(v.values()) for k, v in values.items()})
    return figures | {"making": making}


def pyg(folder: Path) -> Figures:
    """Let PyG's transform compute its three properties, told apart from all else that it does."""
    import numpy as np
    import torch
    from torch_geometric.data import Data
    from torch_geometric.transforms import NodePropertySplit
    from torch_geometric.utils import to_undirected

    torch.set_num_threads(1)
    edges, n_nodes = read(folder)
    data = Data(edge_index=to_undirected(torch.tensor(edges.T.astype(np.int64))))
    data.num_nodes = n_nodes
    values: dict[str, Any] = {}
    seconds: Figures = {}

    def transform(name: str, what: str, data: Any) -> None:
        split = NodePropertySplit(what, [0.3, 0.1, 0.1, 0.3, 0.2])
        compute = split.compute_fn

        def watched(graph: Any, ascending: bool) -> Any:
            seconds[name], found = timed(lambda: compute(graph, ascending))
            values[name] = -found.double().numpy()
            return found

        split.compute_fn = watched
        split(data)

    def compute(data: Any = data) -> Figures:
        for name, what in zip(NAMES, ("popularity", "locality", "density"), strict=True):
            transform(name, what, data)
        return {}

    compute(Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3))
    figures = measured(compute)
    np.savez(folder / "pyg.npz", **values)
    together = sum(seconds.values())
    rest = figures["seconds"] - together
    return figures | seconds | {"seconds": together, "making": rest}


def differences(folder: Path) -> Figures:
    """Compare values: the largest difference, as a share of the largest value."""
    import numpy as np

    with np.load(folder / "graphgauge.npz") as found:
        mine = dict(found)
    gaps = {}
    for side in ("networkx", "pyg"):
        with np.load(folder / f"{side}.npz") as theirs:
            gaps |= {
                f"{side} {name}": float(np.abs(theirs[name] - mine[name]).max() / mine[name].max())
                for name in NAMES
            }
    return gaps


def count_passes() -> list[int]:
    """Let every sum over all neighbours from now on leave a mark in the list."""
    from graphgauge.properties.links import Links

    passes: list[int] = []
    sums = Links.sums

    def counted(links: Links, values: Any) -> Any:
        passes.append(1)
        return sums(links, values)

    Links.sums = counted
    return passes


def pairs_per_edge(graph: Any) -> float:
    """Count pairs of edges that leave one node for nodes of larger degree."""
    import numpy as np

    u, v = graph.edges.T
    degrees = graph.degrees
    upwards = (degrees[u] < degrees[v]) | ((degrees[u] == degrees[v]) & (u < v))
    leaving = np.bincount(np.where(upwards, u, v), minlength=graph.n_nodes)
    return float((leaving * (leaving - 1) // 2).sum() / len(u))


def large(nodes: int, edges: int) -> Figures:
    """Make a graph and compute its properties; look at them when all is measured."""
    import resource

    from graphgauge.datasets.powerlaw import powerlaw
    from graphgauge.graph import Graph

    passes = count_passes()
    kept: dict[str, Any] = {}

    def compute() -> Figures:
        making, graph = timed(lambda: powerlaw(nodes, edges))
        made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        # The graph that was made may know more than its adjacency.
        graph = Graph(graph.adjacency)
        seconds, values = ours(graph)
        kept.update(values, graph=graph)
        return {"making": making, "made": made, **seconds}

    figures = measured(compute)
    return figures | {
        "largest degree": int(kept["graph"].degrees.max()),
        "shares sum to": float(kept["pagerank"].sum()),
        "mean clustering": float(kept["clustering"].mean()),
        "passes": len(passes),
        "pairs an edge": pairs_per_edge(kept["graph"]),
    }


SIDES = {"graphgauge": graphgauge, "networkx": networkx, "pyg": pyg, "differences": differences}
LABELS = {"graphgauge": "graphgauge", "networkx": "NetworkX", "pyg": "PyG"}


def show_speed(nodes: int, edges: int, repeats: int) -> None:
    """Print a table of the sides, the fastest of some runs each, and where values differ."""
    print(f"Speed: {nodes:,} nodes, {edges:,} edges", flush=True)
    print(f"{'':12}" + "".join(f"{name:>14}" for name in NAMES) + "  together   ratio  (graph)")
    size = ("--nodes", nodes, "--edges", edges)
    with tempfile.TemporaryDirectory() as folder:
        in_a_process("--side", "write", "--folder", folder, *size)
        best: Figures = {}
        for side, label in LABELS.items():
            runs = [in_a_process("--side", side, "--folder", folder) for _ in range(repeats)]
            best[side] = min(runs, key=lambda run: run["seconds"])
            columns = "".join(f"{best[side][name]:12.3f} s" for name in NAMES)
            ratio = best[side]["seconds"] / best["graphgauge"]["seconds"]
            print(
                f"{label:12}{columns}{best[side]['seconds']:8.3f} s{ratio:7.1f}x"
                f"{best[side]['making']:7.2f} s",
                flush=True,
            )
        gaps = in_a_process("--side", "differences", "--folder", folder)
    whole = best["pyg"]["seconds"] + best["pyg"]["making"]
    here = best["graphgauge"]["seconds"] + best["graphgauge"]["making"]
    print(f"  with the graph made: PyG {whole:.2f} s, {whole / here:.1f}x")
    for side in ("networkx", "pyg"):
        told = ", ".join(f"{name} {gaps[f'{side} {name}']:.1e}" for name in NAMES)
        print(f"  largest difference to {LABELS[side]}, of the largest value: {told}")
    off = max(gaps[f"networkx {name}"] for name in NAMES)
    if off > 100 * CHANGE:
        raise SystemExit(f"the sides compute different values: they differ by {off:.1e}")


def show_large(nodes: int, edges: int) -> None:
    """Print the time of each property and the peak of the process."""
    print(f"Scale: {nodes:,} nodes, {edges:,} edges (takes a minute or two)", flush=True)
    found = in_a_process("--side", "large", "--nodes", nodes, "--edges", edges)
    print(
        f"  {'making the graph':20}{found['making']:8.1f} s   peak {found['made'] / 1024:5.2f} GB"
    )
    for name in NAMES:
        print(f"  {name:20}{found[name]:8.1f} s")
    peak = found["peak"] / 1024
    print(f"  {'all':20}{found['seconds']:8.1f} s   peak {peak:5.2f} GB (limit {LIMIT} GB)")
    each = sum(found[name] for name in NAMES) / edges * 1e6
    print(f"  the three properties: {each:.3f} s per million edges")
    for fact in ("largest degree", "shares sum to", "mean clustering", "passes", "pairs an edge"):
        print(f"  {fact}: {found[fact]:.6g}")
    if peak > LIMIT:
        raise SystemExit(f"peak memory is above {LIMIT} GB")


def show_growth(repeats: int) -> None:
    """Print seconds per million edges at every size."""
    print("Growth: seconds per million edges")
    heads = (*NAMES, "together", "passes", "pairs an edge")
    print(f"{'edges':>12}" + "".join(f"{head:>14}" for head in heads))
    for edges in GROWTH:
        size = ("--nodes", edges * LARGE[0] // LARGE[1], "--edges", edges)
        runs = [in_a_process("--side", "large", *size) for _ in range(repeats)]
        each = [min(run[name] for run in runs) / edges * 1e6 for name in NAMES]
        columns = "".join(f"{seconds:14.3f}" for seconds in (*each, sum(each)))
        print(
            f"{edges:12,}{columns}{runs[0]['passes']:14}{runs[0]['pairs an edge']:14.1f}",
            flush=True,
        )


def main() -> None:
    """Measure everything, or the part that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["speed", "scale", "growth"])
    parser.add_argument("--nodes", type=int, default=100_000, help="of the graph for speed")
    parser.add_argument("--edges", type=int, default=500_000, help="of the graph for speed")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--side", choices=["write", "large", *SIDES], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side == "write":
        print(json.dumps(write(given.folder, given.nodes, given.edges)))
    elif given.side == "large":
        print(json.dumps(large(given.nodes, given.edges)))
    elif given.side:
        print(json.dumps(SIDES[given.side](given.folder)))
    else:
        if given.only in (None, "speed"):
            show_speed(given.nodes, given.edges, given.repeats)
        if given.only in (None, "growth"):
            show_growth(given.repeats)
        if given.only in (None, "scale"):
            show_large(*LARGE)


if __name__ == "__main__":
    main()
