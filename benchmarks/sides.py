"""What the benchmarks share: a side is a process of its own, timed and weighed.

The process that starts the others stays small: on Linux a child's peak memory begins at its
parent's. So NumPy and all that is measured are imported inside the sides.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

Figures = dict[str, Any]


def measured(compute: Callable[[], Figures]) -> Figures:
    """Time `compute` and add what the process took in memory (MB), before and at its peak.

    CPU time of a process with one thread: what else the machine does hardly matters.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    figures = compute()
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "before": before / 1024, "peak": peak / 1024, **figures}


def in_a_process(*arguments: object) -> Figures:
    """Run the running script again for one side, on one thread, and read what it prints."""
    done = subprocess.run(
        [sys.executable, sys.argv[0], *map(str, arguments)],
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures
