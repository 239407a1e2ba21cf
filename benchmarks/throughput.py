"""Throughput: how much sooner a grid is done by two workers than by one.

Ten runs of ERM of *shifts* by ``graphgauge run``, start-up included, by the clock. The first line
tells how much more two processes of matrix products do than one on this machine: what two cores
share (caches, memory, clock) no runner gives back. CoraML under the popularity shift; without the
data (``GRAPHGAUGE_DATA``) a planted graph stands in. Anything else that runs beside it spoils it.

Run ``python benchmarks/throughput.py [--epochs 100] [--runs 10]``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BAR = 1.7
_PRODUCTS = """
import time, torch
torch.set_num_threads(1)
a, b = torch.randn(3000, 256), torch.randn(256, 256)
until, n = time.time() + 5, 0
while time.time() < until:
    a @ b
    n += 1
print(n)
"""


def products(n_processes: int) -> int:
    """Count products that processes side by side make in five seconds."""
    command = [sys.executable, "-c", _PRODUCTS]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(n_processes)
    ]
    return sum(int(process.communicate()[0]) for process in running)


def seconds(workers: int, folder: Path, arguments: argparse.Namespace) -> float:
    """Run the grid into a folder of its own and return how long that took."""
    data = "cora-ml" if os.environ.get("GRAPHGAUGE_DATA") else "planted-3000"
    benchmark = folder / "throughput.toml"
    benchmark.write_text(
        f'[benchmark]\nname = "throughput"\nseeds = {list(range(arguments.runs))}\n'
        f'datasets = ["{data}"]\nsettings = ["popularity-50"]\n'
        f'[methods.erm]\nuse = "shifts/erm"\nhyper = {{ epochs = {arguments.epochs} }}\n',
        encoding="utf-8",
    )
    run = [sys.executable, "-m", "graphgauge.cli", "run", str(benchmark)]
    start = time.perf_counter()
    subprocess.run(
        [*run, "--workers", str(workers), "--out", str(folder / str(workers))],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def main() -> None:
    """Print both sides and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--runs", type=int, default=10)
    arguments = parser.parse_args()
    one, two = products(1), products(2)
    print(f"matrix products: two processes make {two / one:.2f}x those of one", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        single, double = (seconds(n, Path(folder), arguments) for n in (1, 2))
    print(f"{arguments.runs} runs: 1 worker {single:.1f} s, 2 workers {double:.1f} s")
    print(f"two workers: {single / double:.2f}x the throughput of one (bar {BAR}x)")


if __name__ == "__main__":
    main()
