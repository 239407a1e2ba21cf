"""Tables as columns by name: CSV and TSV as text, Parquet by type; read without trust."""

from __future__ import annotations

import csv
import itertools
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from graphgauge.archive import check_file
from graphgauge.errors import InputError

__all__ = ["Table", "load_text", "open_table"]

_LONGEST_WORD = 200
_LONGEST_HEADER = 1_000_000
# A Parquet file may unfold to this many bytes, or to this many times its size, the larger.
_UNFOLDED_BYTES, _UNFOLDING = 8 * 2**20, 100


class Table(Protocol):
    """Columns by name, as numbers or as words."""

    columns: list[str]

    def numbers(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the named columns ``[n, len(names)]``."""

    def words(self, name: str) -> list[str]:
        """Return a column as text, each word cut to 200 characters."""


def open_table(path: Path) -> Table:
    """Open a table by the ending of its name; a column is read when it is asked for."""
    is_parquet = path.suffix.lower() in (".parquet", ".pq")
    table: Table = _ParquetTable(path) if is_parquet else _TextTable(path)
    if len(set(table.columns)) < len(table.columns):
        raise InputError(f"{path}: two columns have the same name")
    return table


def load_text(path: Path, **options: Any) -> npt.NDArray[Any]:
    """Read numbers from text, two axes always."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty table is judged by whoever asked for it
        return np.loadtxt(path, ndmin=2, encoding="utf-8-sig", **options)


class _TextTable:
    """A CSV or TSV file with a header line."""

    def __init__(self, path: Path) -> None:
        check_file(path)
        self.path = path
        try:
            with path.open(encoding="utf-8-sig", newline="") as file:
                head = file.readline(_LONGEST_HEADER)
        except (OSError, UnicodeError) as error:
            raise InputError(f"{path}: cannot be read ({error})") from None
        if len(head) == _LONGEST_HEADER:
            raise InputError(f"{path}: its header line is longer than {_LONGEST_HEADER} characters")
        self.delimiter = max("\t;,", key=head.count)
        try:
            self.columns = [c.strip() for c in next(csv.reader([head], delimiter=self.delimiter))]
        except (StopIteration, csv.Error):
            raise InputError(f"{path}: has no header line") from None
        self._place = {name: place for place, name in enumerate(self.columns)}

    def numbers(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        try:
            return load_text(
                self.path,
                delimiter=self.delimiter,
                comments=None,
                skiprows=1,
                usecols=[self._place[name] for name in names],
                quotechar='"',
            ).reshape(-1, len(names))
        except (ValueError, OSError) as error:
            raise InputError(f"{self.path}: {str(error)[:200]}") from None

    def words(self, name: str) -> list[str]:
        column = self._place[name]
        words: list[str] = []
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                rows = itertools.islice(csv.reader(file, delimiter=self.delimiter), 1, None)
                words.extend(row[column][:_LONGEST_WORD].strip() for row in rows if row)
        except (csv.Error, IndexError, UnicodeError, OSError) as error:
            where = f"{self.path}: column {name}, row {len(words)}"
            raise InputError(f"{where} cannot be read ({error})") from None
        return words


class _ParquetTable:
    """A Parquet file; only the columns that are asked for are read."""

    def __init__(self, path: Path) -> None:
        try:
            from pyarrow import parquet
        except ImportError:
            raise InputError(
                f"{path}: reading Parquet needs pyarrow (pip install pyarrow)"
            ) from None
        check_file(path)
        self.path = path
        with self._told():
            self.types = {field.name: field.type for field in parquet.read_schema(path)}
            # Words stay folded into the few that differ, however often a file repeats them.
            folded = [name for name, kind in self.types.items() if _is_text(kind)]
            self.file = parquet.ParquetFile(path, read_dictionary=folded)
            self.columns: list[str] = list(self.file.schema_arrow.names)
            self._check_size()

    def numbers(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        for name in names:
            if not _is_number(self.types[name]):
                kind = f"{self.types[name]!s:.80}"
                raise InputError(f"{self.path}: column {name} holds {kind}, expected numbers")
        with self._told():
            table = self.file.read(columns=list(names), use_threads=False)
            columns = [table.column(name).cast("float64", safe=False) for name in names]
            return np.stack([np.asarray(column.to_numpy(), np.float64) for column in columns], 1)

    def words(self, name: str) -> list[str]:
        kind = self.types[name]
        if not (_is_text(kind) or _is_number(kind)):
            raise InputError(f"{self.path}: column {name} holds {kind!s:.80}, expected words")
        with self._told():
            column = self.file.read(columns=[name], use_threads=False).column(name)
            return [word for chunk in column.chunks for word in _words_of(chunk)]

    def _check_size(self) -> None:
        about, on_disk = self.file.metadata, self.path.stat().st_size
        groups = [about.row_group(i) for i in range(about.num_row_groups)]
        rows = max(about.num_rows, sum(group.num_rows for group in groups))
        unfolded = max(8 * rows * len(self.columns), sum(g.total_byte_size for g in groups))
        if unfolded > max(_UNFOLDED_BYTES, _UNFOLDING * on_disk):
            raise InputError(
                f"{self.path}: would expand from {on_disk} to {unfolded} bytes; refused"
            )

    @contextmanager
    def _told(self) -> Iterator[None]:
        from pyarrow import ArrowException

        try:
            yield
        except InputError:
            raise
        except (
            ArrowException,
            OSError,
            ValueError,
            RuntimeError,
            TypeError,
            LookupError,
            MemoryError,  # Arrow's, of sizes that a damaged file claims
        ) as error:
            told = f"cannot be read as Parquet ({str(error)[:200]})"
            raise InputError(f"{self.path}: {told}") from None


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return any(test(kind) for test in tests)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _words_of(chunk: Any) -> Iterator[str]:
    from pyarrow import types

    if not types.is_dictionary(chunk.type):
        return map(_word, chunk.to_pylist())
    known = [*map(_word, chunk.dictionary.to_pylist()), ""]
    return (known[-1 if place is None else place] for place in chunk.indices.to_pylist())


def _word(value: object) -> str:
    return "" if value is None else str(value)[:_LONGEST_WORD].strip()
