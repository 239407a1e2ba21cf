"""Workers of a Dask cluster: many machines, as many runs at a time as there are workers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

from graphgauge.engine import Workers
from graphgauge.errors import InputError
from graphgauge.processes import LocalProcesses

__all__ = ["cluster_workers"]

_PATIENCE = 20.0


@contextlib.contextmanager
def cluster_workers(address: str, *, device: str = "cpu") -> Iterator[Workers]:
    """Run on the cluster of a scheduler, such as ``tcp://10.0.0.1:8786``.

    Its workers need this package and the data; predictions come back, so no folder is shared.
    Ensembles are made on this machine. A worker that dies is the scheduler's concern: it gives
    the run to another one, and up a run that has cost several workers.
    """
    client = _client(address)
    near = LocalProcesses(1)
    executor = client.get_executor()
    try:
        yield Workers(executor, lambda: len(client.nthreads()), near, device)
    except BaseException:
        near.shutdown(cancel_futures=True)
        with contextlib.suppress(Exception):  # whatever ended this may have ended the cluster
            executor.shutdown(wait=False)
        raise
    else:
        near.shutdown()
        executor.shutdown()
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=_PATIENCE)


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise InputError('a cluster needs Dask: pip install "graphgauge[cluster]"') from None
    connect: Any = Client  # its annotations are partial
    try:
        client = connect(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error) or type(error).__name__
        raise InputError(f"{address}: no scheduler can be reached there ({reason[:200]})") from None
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except (OSError, TimeoutError):
        client.close()
        raise InputError(f"{address}: the scheduler there has no workers") from None
    try:
        found = set(client.run(_installed).values())
    except Exception as error:  # whatever their Python said when it looked for the package
        client.close()
        reason = f"{type(error).__name__}: {error}"[:200]
        raise InputError(f"{address}: its workers lack graphgauge ({reason})") from None
    if found != {_installed()}:
        client.close()
        told = ", ".join(sorted(found))
        raise InputError(f"{address}: its workers have graphgauge {told}, here is {_installed()}")
    return client


def _installed() -> str:
    return version("graphgauge")
