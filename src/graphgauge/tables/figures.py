"""Published figures: every number of every table, at the place it was printed."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["Figure", "Place", "method_titles", "published_figures"]

_FOLDER = files("graphgauge.benchmarks").joinpath("published")


class Place(NamedTuple):
    """Where in a paper a number stands; empty where a column says nothing."""

    table: int
    dataset: str = ""
    setting: str = ""
    part: str = ""
    method: str = ""
    variant: str = ""
    metric: str = ""


@dataclass(frozen=True)
class Figure:
    """A number as printed.

    Parameters
    ----------
    printed
        Its digits; empty where nothing was measured.
    printed_sd
        Digits of its standard deviation; empty where there is none.
    note
        What the transcription says of it.
    """

    printed: str
    printed_sd: str = ""
    note: str = ""

    @property
    def mean(self) -> float:
        """The number, or NaN."""
        return float(self.printed or "nan")

    @property
    def sd(self) -> float:
        """Its standard deviation, or NaN."""
        return float(self.printed_sd or "nan")

    @property
    def decimals(self) -> int:
        """Digits behind the point."""
        return len(self.printed.partition(".")[2])

    @property
    def rounding(self) -> float:
        """How far the printed number may be from the one that was rounded.

        Examples
        --------
        >>> Figure("85.8").rounding, Figure("21").rounding
        (0.05, 0.0)
        """
        return 0.5 * 10.0**-self.decimals if self.decimals else 0.0


@cache
def published_figures(benchmark: str) -> Mapping[Place, Figure]:
    """Read the published figures of a paper, in the order they are printed.

    Examples
    --------
    >>> place = Place(9, "cora-ml", "popularity-50", "ID", "erm", "", "accuracy")
    >>> published_figures("shifts")[place].printed
    '85.80'
    """
    return MappingProxyType(
        {
            Place(
                int(row["table"]),
                row["dataset"],
                row["setting"],
                row["split_part"],
                row["method"],
                row["variant"],
                row["metric"],
            ): Figure(row["mean"], row["std"], row["note"])
            for row in _rows(benchmark)
        }
    )


@cache
def method_titles(benchmark: str, column: str = "method") -> Mapping[str, str]:
    """Return what the paper calls its methods, or their variants; the first of several names.

    Examples
    --------
    >>> method_titles("shifts")["erm-mod"]
    'ERM + mod'
    >>> method_titles("miscalibrated", "variant")["histogram-binning"]
    'Hist. Bin.'
    """
    return MappingProxyType(
        {
            row["slug"]: re.split(r" / | \(", row["name_in_paper"])[0]
            for row in _rows("methods")
            if row["file"] == f"{benchmark}.csv" and row["column"] == column
        }
    )


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = _FOLDER.joinpath(f"{name}.csv").read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())
