"""Run one case and keep its files, or a batch with limits on memory and time."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

import graphgauge.report.html
import graphgauge.report.terminal  # noqa: F401  what a command loads is not part of a case
from hostile.cases import answer, describe, make_case
from hostile.seeds import good_files

MB = 2**20
# Far above what is allowed: what asks for more is told so at once, and counted as a fault.
_ADDRESSES = 4096 * MB


def _memory(field: str) -> int:
    """Read a field of this process's memory, in bytes; Linux tells it in kB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def _forget_peak() -> None:
    """Give back what making a case left behind, and count the peak from here."""
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")


def batch(numbers: range) -> None:
    """Run cases, naming each before it runs, and print what they took as the last line."""
    faulthandler.enable()
    good_files()
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    faults, peak, jumps, slowest, codes = [], 0, [], (0.0, -1), dict.fromkeys("012", 0)
    start = time.monotonic()
    for number in numbers:
        print(number, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            case = make_case(number, Path(folder))
            _forget_peak()
            before = _memory("VmRSS")
            found = answer(case)
            top = _memory("VmHWM")
        if found.fault:
            faults.append(describe(case, found))
        peak = max(peak, top)
        jumps.append(((top - before) // MB, number))
        slowest = max(slowest, (found.seconds, number))
        codes[str(found.code)] = codes.get(str(found.code), 0) + 1
    took = {"faults": faults, "peak": peak // MB, "jumps": sorted(jumps, reverse=True)[:5]}
    took |= {"slowest": slowest, "codes": codes, "seconds": time.monotonic() - start}
    print(json.dumps(took), flush=True)


def one(number: int) -> None:
    """Run a case and keep its files."""
    case = make_case(number, Path(tempfile.mkdtemp(prefix=f"hostile-{number}-")))
    found = answer(case)
    print(describe(case, found), found.output[:3000], sep="\n")
    sys.exit(bool(found.fault))


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    one(*given) if len(given) == 1 else batch(range(*given))
