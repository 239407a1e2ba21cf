"""Local processes that work one task at a time, and whose death costs that task alone.

The executor of `concurrent.futures` gives up altogether when one of its processes is killed. Here
each process stands for itself: whoever kills it fails one future, and a new one takes its place.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

__all__ = ["LocalProcesses", "WorkerDiedError"]

_T = TypeVar("_T")

# Sums that threads share come out differently with their number, and one thread a process has
# nearly twice the throughput of two: so one, whatever library does the sums.
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMEXPR")
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES}
_starting = threading.Lock()


class WorkerDiedError(RuntimeError):
    """The process that worked on a task has ended before the task had."""


class LocalProcesses(Executor):
    """An executor of single-threaded processes on this machine.

    Parameters
    ----------
    n_workers
        How many processes work side by side; they are started when they are first needed.

    Examples
    --------
    >>> with LocalProcesses(1) as processes:
    ...     processes.submit(divmod, 7, 2).result()
    (3, 1)
    """

    def __init__(self, n_workers: int) -> None:
        self._threads = ThreadPoolExecutor(n_workers, thread_name_prefix="graphgauge-worker")
        self._own = threading.local()
        self._workers: list[_Worker] = []
        self._hiring = threading.Lock()
        self._stopped = False

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers that are alive."""
        return [w.process.pid for w in self._workers if w.process.is_alive() and w.process.pid]

    def submit(self, fn: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        """Let a process call a function; both must be importable or picklable."""
        return self._threads.submit(self._call, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: after their tasks, or at once if futures are cancelled."""
        if cancel_futures:
            with self._hiring:
                self._stopped = True
                for worker in self._workers:
                    worker.process.kill()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        for worker in self._workers:
            worker.end()

    def _call(self, fn: Callable[..., _T], args: Any, kwargs: Any) -> _T:
        """Hand a task to the process of this thread and wait for either of the two to end."""
        succeeded, answer = self._worker().ask((fn, args, kwargs))
        if not succeeded:
            raise answer
        result: _T = answer
        return result

    def _worker(self) -> _Worker:
        """Return the process of this thread, a new one if there is none or it has died."""
        worker: _Worker | None = getattr(self._own, "worker", None)
        if worker is not None and worker.process.is_alive():
            return worker
        with self._hiring:
            if self._stopped:
                raise WorkerDiedError("the workers were stopped")
            if worker is not None:
                self._workers.remove(worker)
                worker.end()
            worker = self._own.worker = _Worker()
            self._workers.append(worker)
        return worker


class _Worker:
    """A process and the line to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, far = context.Pipe()
        self.process = context.Process(target=_serve, args=(far,), daemon=True)
        with _one_thread_each():
            self.process.start()
        # Only the process may hold the far end, so that its death is the end of the line.
        far.close()

    def ask(self, task: object) -> tuple[bool, Any]:
        try:
            self._line.send(task)
            wait([self._line, self.process.sentinel])
            # What was sent before the end is still in the line.
            answer: tuple[bool, Any] = self._line.recv()
        except (EOFError, OSError):
            self.process.join(timeout=10)
            raise WorkerDiedError(_epitaph(self.process.exitcode)) from None
        return answer

    def end(self) -> None:
        self._line.close()
        self.process.join(timeout=10)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(timeout=10)


def _serve(line: Connection) -> None:
    """Work off tasks until nobody sends any more."""
    # Ctrl-C reaches every process of the terminal; the parent is to decide what comes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_die_after, args=(parent.sentinel,), daemon=True).start()
    while True:
        try:
            fn, args, kwargs = line.recv()
        except (EOFError, OSError):
            return
        try:
            answer = True, fn(*args, **kwargs)
        except Exception as error:
            answer = False, error
        try:
            line.send(answer)
        except OSError:
            return
        except Exception as error:  # what cannot be pickled
            line.send((False, RuntimeError(f"cannot be sent back: {error}")))


def _die_after(sentinel: int) -> None:
    """End this process when its parent has: an orphan would go on working for nobody."""
    wait([sentinel])
    os._exit(1)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes that are started meanwhile compute in one thread."""
    with _starting:
        before = {name: os.environ.get(name) for name in _ONE_THREAD}
        os.environ.update(_ONE_THREAD)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def _epitaph(exitcode: int | None) -> str:
    if exitcode is None or exitcode >= 0:
        return f"the worker ended with code {exitcode}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(-exitcode).name
        hint = " (out of memory?)" if name == "SIGKILL" else ""
        return f"the worker was killed by {name}{hint}"
    return f"the worker was killed by signal {-exitcode}"
