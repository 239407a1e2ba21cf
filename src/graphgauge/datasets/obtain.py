"""Where a data set is found: your own folder, the cache, a public address, a wheel, in turn.

Your own folder is the one that ``GRAPHGAUGE_DATA`` names. What lies there is used or refused, never
passed over, for it was put there on purpose. What was downloaded lies in the cache (a folder of the
platform, or the one that ``GRAPHGAUGE_CACHE`` names); a copy that has been damaged is fetched anew.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from graphgauge.datasets.card import Card, Source
from graphgauge.datasets.downloads import fetch
from graphgauge.datasets.families import FAMILIES
from graphgauge.datasets.identity import verify
from graphgauge.errors import InputError
from graphgauge.graph import Graph
from graphgauge.steps import prepare

__all__ = ["WHOLE", "Found", "cache_folder", "find", "obtain", "own_folder", "whereabouts"]

# What makes the published files of a data set one graph, whatever form they have.
WHOLE = ("undirected", "loops-removed")


@dataclass(frozen=True)
class Found:
    """Files of a data set on this machine.

    Parameters
    ----------
    folder
        Where they lie.
    source
        Whose form they have.
    place
        ``"folder"`` or ``"cache"``.
    """

    folder: Path
    source: Source
    place: str


def own_folder() -> Path | None:
    """Return the folder that ``GRAPHGAUGE_DATA`` names, if it names one."""
    named = os.environ.get("GRAPHGAUGE_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise InputError(f"GRAPHGAUGE_DATA: {folder} is not a folder")
    return folder


def cache_folder() -> Path:
    """Return the folder in which downloads are kept; it need not exist."""
    named = os.environ.get("GRAPHGAUGE_CACHE")
    if named:
        return Path(named).expanduser() / "data"
    from pooch import os_cache

    return Path(os_cache("graphgauge")) / "data"


def find(card: Card) -> Iterator[Found]:
    """Yield where the files of a data set lie on this machine; they are not opened."""
    own, cache = own_folder(), cache_folder() / card.slug
    if own is not None:
        for source in card.sources:
            folder = FAMILIES[source.family].find(own, source.key)
            if folder is not None:
                yield Found(folder, source, "folder")
    for source in card.sources:
        names = FAMILIES[source.family].files(source.key)
        folder = cache / source.family
        if all((folder / name).is_file() for name in names):
            yield Found(folder, source, "cache")


def whereabouts(card: Card) -> str:
    """Say where a data set is: ``folder``, ``cache``, ``download``, ``by hand``, or not.

    Examples
    --------
    >>> from graphgauge.datasets.card import CARDS
    >>> whereabouts(CARDS["facebook"])
    'not public'
    """
    if not card.public:
        return "not public"
    found = next(find(card), None)
    if found is not None:
        return found.place
    elsewhere = any(source.url or source.wheel for source in card.sources)
    return "download" if elsewhere else "by hand"


def obtain(card: Card) -> tuple[Graph, Found]:
    """Return the whole graph of a data set and where its files lie, fetching them if need be."""
    if not card.public:
        raise InputError(f"{card.slug}: not public. {' '.join(card.notes)}")
    failures = []
    for found in find(card):
        try:
            return _read(card, found.source, found.folder), found
        except InputError as error:
            if found.place == "folder":
                raise
            failures.append(str(error))
    for source in card.sources:
        if source.url or source.wheel:
            try:
                return _fetched(card, source)
            except InputError as error:
                failures.append(str(error))
    raise InputError(
        f"{card.slug}: cannot be had; tried {'; '.join(failures) or 'nothing'}. Put its files into "
        f"a folder and let GRAPHGAUGE_DATA name it (graphgauge data show {card.slug})"
    )


def _read(card: Card, source: Source, folder: Path) -> Graph:
    graph = FAMILIES[source.family].read(folder, source.key)
    classes = card.class_names or graph.class_names
    graph = replace(graph, name=card.slug, class_names=classes, ids=card.ids)
    graph = prepare(graph, *WHOLE)
    verify(graph, card, folder)
    return graph


def _fetched(card: Card, source: Source) -> tuple[Graph, Found]:
    """Fetch into a draft, and keep it only if it is what it should be."""
    target = cache_folder() / card.slug / source.family
    with _draft(target) as draft:
        fetch(source, FAMILIES[source.family].files(source.key), draft)
        graph = _read(card, source, draft)
        shutil.rmtree(target, ignore_errors=True)
        try:
            draft.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was faster, and as good
                raise
    return graph, Found(target, source, "cache")


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """Make a folder beside the target, and remove it unless it took the target's place."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        draft.mkdir(parents=True)
        yield draft
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
