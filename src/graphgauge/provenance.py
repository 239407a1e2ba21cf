"""How a run was made: versions, commit, time, memory; and what keeps it the same when repeated."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from graphgauge.arrays import IntArray

__all__ = ["Watch", "hash_parts", "made_with", "one_thread", "seeded"]

_PACKAGES = ("graphgauge", "numpy", "scipy", "torch", "torch-geometric", "scikit-learn")


class Watch:
    """Time and memory of this process from here on."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        self._peak_is_own = _forget_peak()

    def read(self) -> dict[str, Any]:
        """Return when it began, wall and CPU seconds, peak memory in MB, and the machine."""
        return {
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": time.perf_counter() - self._wall,
            "cpu_seconds": time.process_time() - self._cpu,
            "peak_mb": _peak_mb(self._peak_is_own),
            "machine": f"{platform.node()} {platform.machine()}".strip(),
        }


def made_with() -> dict[str, Any]:
    """Return the versions of what is installed, and the commit if the package is a checkout."""
    commit, dirty = _checkout()
    return {"versions": dict(_versions()), "commit": commit, "dirty": dirty}


def hash_parts(parts: Mapping[str, IntArray]) -> str:
    """Hash who is in which part; order within a part does not count.

    Examples
    --------
    >>> a = hash_parts({"test": np.array([2, 1]), "train": np.array([0])})
    >>> a == hash_parts({"train": np.array([0]), "test": np.array([1, 2])})
    True
    """
    digest = hashlib.sha256(b"graphgauge parts 1")
    for name in sorted(parts):
        digest.update(name.encode() + b"\0" + np.sort(parts[name]).astype("<i8").tobytes())
    return digest.hexdigest()


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators, for methods that draw from them, and put them back after."""
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 -- it is theirs to be tamed
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch else None
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    if torch:
        torch.default_generator.manual_seed(seed)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        if torch:
            torch.set_rng_state(torch_state)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch, if it is loaded, work in one thread: sums in threads hang on their number."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@cache
def _versions() -> Mapping[str, str]:
    # Of what is installed, not of what is loaded: that hangs on what the process ran before.
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


@cache
def _checkout() -> tuple[str | None, bool | None]:
    """Return commit and dirt of the checkout that tracks this file; a copy has neither."""
    here = Path(__file__)
    if _git("ls-files", "--error-unmatch", here.name) is None:
        return None, None
    commit = _git("rev-parse", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".")
    return commit, None if changed is None else bool(changed)


def _git(*words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *words],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _forget_peak() -> bool:
    """Let the kernel forget the peak of earlier runs in this process, where it can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _peak_mb(since_forgotten: bool) -> float:
    if since_forgotten:
        with contextlib.suppress(OSError, ValueError, StopIteration):
            lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
            peak = next(line for line in lines if line.startswith("VmHWM:"))
            return int(peak.split()[1]) / 1024
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
