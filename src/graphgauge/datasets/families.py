"""Families of data sets: which files make a graph, where they lie, and what reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from graphgauge.arrays import IntArray
from graphgauge.datasets.benchmark import read_benchmark
from graphgauge.datasets.friendster import (
    published_friendster_files,
    read_friendster,
    read_friendster_parts,
    read_published_friendster,
    read_published_friendster_parts,
)
from graphgauge.datasets.linqs import (
    linqs_parquet_files,
    linqs_text_files,
    read_linqs_parquet,
    read_linqs_text,
)
from graphgauge.datasets.ogb import ogb_files, read_ogb, read_ogb_parts
from graphgauge.datasets.planetoid import planetoid_files, read_planetoid
from graphgauge.graph import Graph

__all__ = ["FAMILIES", "Family"]


@dataclass(frozen=True)
class Family:
    """How files of one kind become a graph.

    Parameters
    ----------
    files
        Names of the files of a key, relative to their folder; all are needed.
    read
        Reads the files of a key in a folder, as they are.
    places
        Folders within a collection in which to look, as patterns.
    parts
        Reads the authors' own parts of the nodes or links, where the files hold them.
    """

    files: Callable[[str], tuple[str, ...]]
    read: Callable[[Path, str], Graph]
    places: tuple[str, ...]
    parts: Callable[[Path, str], dict[str, IntArray]] | None = None

    def find(self, root: Path, key: str) -> Path | None:
        """Find the folder within `root` that holds all files of a key."""
        names = self.files(key)
        for folder in self._folders(root, key):
            if all((folder / name).is_file() for name in names):
                return folder
        return None

    def _folders(self, root: Path, key: str) -> Iterator[Path]:
        for place in self.places:
            pattern = place.format(key=key)
            yield from sorted(root.glob(pattern)) if "*" in pattern else [root / pattern]


def _one_npz(key: str) -> tuple[str, ...]:
    return (f"{key}.npz",)


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "planetoid": Family(
            planetoid_files, read_planetoid, ("planetoid", ".", "*/raw", "*/*/raw")
        ),
        "benchmark": Family(_one_npz, read_benchmark, ("npz", ".", "*/raw", "*/*/raw")),
        "linqs-text": Family(linqs_text_files, read_linqs_text, ("linqs", "{key}", ".")),
        "linqs-parquet": Family(linqs_parquet_files, read_linqs_parquet, ("linqs", "{key}", ".")),
        "ogb": Family(
            ogb_files,
            read_ogb,
            ("ogb/{key}", "{key}", "{key}_pyg", "dataset/{key}", "."),
            read_ogb_parts,
        ),
        "friendster": Family(_one_npz, read_friendster, ("friendster", "."), read_friendster_parts),
        "friendster-published": Family(
            published_friendster_files,
            read_published_friendster,
            ("friendster", ".", "*/raw"),
            read_published_friendster_parts,
        ),
    }
)
