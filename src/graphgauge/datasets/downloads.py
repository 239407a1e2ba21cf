"""Files from elsewhere: from a public address, out of an archive there, or out of a wheel.

Whatever comes is put into a folder that nobody reads yet; whether it is what was wanted is asked
afterwards, of its content. Of an archive only the members with the expected names are unpacked,
each under our own name for it, and none larger than its archive makes likely.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphgauge.archive import answering, check_expansion, check_file
from graphgauge.datasets.card import Source
from graphgauge.errors import InputError

__all__ = ["fetch", "unpack"]

_TIMEOUT = (10, 60)
_PIP_SECONDS = 900
_BLOCK = 2**20
_PLAIN = {
    "ConnectionError": "no connection",
    "ConnectTimeout": "no connection in time",
    "ReadTimeout": "no answer in time",
    "ChunkedEncodingError": "broken off",
    "TimeoutExpired": "no answer in time",
}


def fetch(source: Source, names: tuple[str, ...], folder: Path) -> None:
    """Bring the named files of a source into a folder."""
    if source.wheel:
        unpack(_wheel(source, folder), source.inside, names, folder)
    elif source.url.endswith(".zip"):
        archive = folder / "archive.zip"
        _download(source.url, archive)
        unpack(archive, source.inside, names, folder)
    else:
        for name in names:
            _download(f"{source.url}/{name}", _placed(folder, name))


def unpack(archive: Path, inside: str, names: tuple[str, ...], folder: Path) -> None:
    """Take the named files out of a folder of a zip archive, then remove the archive."""
    check_file(archive)
    with answering(archive, kind="an archive"), zipfile.ZipFile(archive) as members:
        held = members.namelist()
        missing = [name for name in names if f"{inside}/{name}" not in held]
        if missing:
            raise InputError(f"{archive.name}: it lacks {', '.join(missing)}")
        wanted = {name: members.getinfo(f"{inside}/{name}") for name in names}
        check_expansion(archive, sum(entry.file_size for entry in wanted.values()))
        for name, entry in wanted.items():
            with members.open(entry) as packed, _placed(folder, name).open("xb") as plain:
                while block := packed.read(_BLOCK):
                    plain.write(block)
    archive.unlink()


def _placed(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _download(url: str, path: Path) -> None:
    from pooch import HTTPDownloader

    with _bar(path.name) as bar:
        download = HTTPDownloader(progressbar=bar, chunk_size=_BLOCK, timeout=_TIMEOUT)
        try:
            download(url, str(path), None)
        except (OSError, ValueError) as error:
            raise InputError(f"{url}: {_reason(error)}") from None


def _wheel(source: Source, folder: Path) -> Path:
    """Let pip fetch a wheel and nothing else; nothing of it is installed or run."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    what = ["--no-deps", "--only-binary=:all:", *source.pip, "--dest", str(folder), source.wheel]
    try:
        with _bar(f"pip download {source.wheel}"):
            done = subprocess.run(
                [*pip, *what], capture_output=True, text=True, timeout=_PIP_SECONDS, check=False
            )
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError(f"pip: {_reason(error)}") from None
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        told = [line for line in done.stderr.splitlines() if line.strip()] or ["no wheel came"]
        raise InputError(f"pip: {told[-1].removeprefix('ERROR: ')[:200]}")
    return wheels[0]


def _reason(error: Exception) -> str:
    """Say in few words what the layers of a download say in many."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"{response.status_code} {response.reason}"
    kind = type(error).__name__
    return _PLAIN.get(kind, str(error)[:200] or kind)


@contextlib.contextmanager
def _bar(name: str) -> Iterator[Any]:
    """Show how much has come, on standard error and only where a person looks."""
    if not sys.stderr.isatty():
        yield False
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(30), DownloadColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as shown:
        yield _Bar(shown, name)


class _Bar:
    """A bar of rich with the four handles that pooch pulls."""

    def __init__(self, shown: Any, name: str) -> None:
        self._shown, self._task = shown, shown.add_task(name, total=None)

    @property
    def total(self) -> Any:
        """Bytes that are to come."""
        return self._shown.tasks[0].total

    @total.setter
    def total(self, n: int) -> None:
        self._shown.update(self._task, total=n or None)

    def update(self, n: int) -> None:
        """Count bytes that have come."""
        self._shown.advance(self._task, n)

    def reset(self) -> None:
        """Begin anew."""
        self._shown.update(self._task, completed=0)

    def close(self) -> None:
        """Leave the rest to whoever opened the bar."""
