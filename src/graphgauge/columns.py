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
from graphgauge.words import first_no_number

__all__ = ["Table", "TextTable", "load_text", "open_table"]

_LONGEST_WORD = 200
_LONGEST_HEADER = 1_000_000
# A Parquet file may unfold to this many bytes, or to this many times its size, the larger.
_UNFOLDED_BYTES, _UNFOLDING = 8 * 2**20, 100
# So many words at a time stay within fast memory.
_WORDS = 2**14


class Table(Protocol):
    """Columns by name, as numbers or as words."""

    columns: list[str]

    def numbers(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the named columns ``[n, len(names)]``."""

    def words(self, name: str) -> list[str]:
        """Return a column as text, each word cut to 200 characters."""

    def blocks(self, names: Sequence[str]) -> Iterator[list[list[str]]]:
        """Yield the named columns as text, a few rows at a time."""


def open_table(path: Path) -> Table:
    """Open a table by the ending of its name; a column is read when it is asked for."""
    is_parquet = path.suffix.lower() in (".parquet", ".pq")
    table: Table = _ParquetTable(path) if is_parquet else TextTable(path)
    if len(set(table.columns)) < len(table.columns):
        raise InputError(f"{path}: two columns have the same name")
    return table


def load_text(path: Path, **options: Any) -> npt.NDArray[Any]:
    """Read numbers from text, two axes always."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an empty table is judged by whoever asked for it
        return np.loadtxt(path, ndmin=2, encoding="utf-8-sig", **options)


class TextTable:
    """A CSV or TSV file with a header line, or text whose layout is known.

    Parameters
    ----------
    path
        The file.
    layout
        Delimiter, names of the columns, and how many lines come before the first row; None takes
        all three from a header line.
    """

    def __init__(self, path: Path, layout: tuple[str, Sequence[str], int] | None = None) -> None:
        check_file(path)
        self.path = path
        self.delimiter, columns, self.skipped = layout or self._layout()
        self.columns = list(columns)
        self._place = {name: place for place, name in enumerate(self.columns)}

    def numbers(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the named columns ``[n, len(names)]``."""
        try:
            return load_text(
                self.path,
                delimiter=self.delimiter,
                comments=None,
                skiprows=self.skipped,
                usecols=[self._place[name] for name in names],
                quotechar='"',
            ).reshape(-1, len(names))
        except (ValueError, OSError) as error:
            told = self._no_number(names) or str(error)[:200]
            raise InputError(f"{self.path}: {told}") from None

    def words(self, name: str) -> list[str]:
        """Return a column as text, each word cut to 200 characters."""
        return [word for [column] in self.blocks([name]) for word in column]

    def blocks(self, names: Sequence[str]) -> Iterator[list[list[str]]]:
        """Yield the named columns as text, a few rows at a time."""
        done = 0
        for rows in self._rows():
            yield [self._column(rows, name, done) for name in names]
            done += len(rows)

    def _no_number(self, names: Sequence[str]) -> str:
        """Name the first entry that is no number, if there is any."""
        done = 0
        for columns in self.blocks(names):
            for name, words in zip(names, columns, strict=True):
                row = first_no_number(words)
                if row is not None:
                    return f"column {name}: {words[row][:80]!r} is not a number (row {done + row})"
            done += len(columns[0])
        return ""

    def _column(self, rows: list[list[str]], name: str, done: int) -> list[str]:
        place = self._place[name]
        try:
            return [row[place].strip()[:_LONGEST_WORD] for row in rows]
        except IndexError:
            row = done + next(k for k, row in enumerate(rows) if len(row) <= place)
            told = f"row {row} cannot be read (it has no column {name})"
            raise InputError(f"{self.path}: {told}") from None

    def _rows(self) -> Iterator[list[list[str]]]:
        """Yield rows that are not blank, a few at a time."""
        done, most = 0, max(1, _WORDS // max(1, len(self.columns)))
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                lines = itertools.islice(file, self.skipped, None)
                reader = csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True)
                while batch := list(itertools.islice(reader, most)):
                    rows = [row for row in batch if row]
                    yield rows
                    done += len(rows)
        except (csv.Error, UnicodeError, OSError) as error:
            raise InputError(f"{self.path}: cannot be read after row {done} ({error})") from None

    def _layout(self) -> tuple[str, list[str], int]:
        try:
            with self.path.open(encoding="utf-8-sig", newline="") as file:
                head = file.readline(_LONGEST_HEADER)
        except (OSError, UnicodeError) as error:
            raise InputError(f"{self.path}: cannot be read ({error})") from None
        if len(head) == _LONGEST_HEADER:
            longest = f"longer than {_LONGEST_HEADER} characters"
            raise InputError(f"{self.path}: its header line is {longest}")
        delimiter = max("\t;,", key=head.count)
        try:
            columns = [name.strip() for name in next(csv.reader([head], delimiter=delimiter))]
        except (StopIteration, csv.Error):
            raise InputError(f"{self.path}: has no header line") from None
        return delimiter, columns, 1


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
        return [word for [column] in self.blocks([name]) for word in column]

    def blocks(self, names: Sequence[str]) -> Iterator[list[list[str]]]:
        for name in names:
            kind = self.types[name]
            if not (_is_text(kind) or _is_number(kind)):
                raise InputError(f"{self.path}: column {name} holds {kind!s:.80}, expected words")
        rows = max(1, _WORDS // max(1, len(names)))
        with self._told():
            for batch in self.file.iter_batches(rows, columns=list(names), use_threads=False):
                yield [list(_words_of(batch.column(name))) for name in names]

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
