"""Damage to tables: CSV, TSV, lists of edges and Parquet."""

from __future__ import annotations

import datetime
import decimal
import io
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hostile.containers import Rng, choose, good
from hostile.names import NAMES
from hostile.seeds import (
    Mutant,
    edge_columns,
    link_columns,
    node_columns,
    parquet,
    tables,
    written,
)

CELLS = (
    "", " ", "nan", "NaN", "inf", "-inf", "1e999", "-1e999", "1e-999", "1e308", "-0.0", "0x10",
    "1_000",
    "١", "٣٫٥", "¹", "½", "１", "1,0", "1;0", '"', '""', '"0.5"', "'0.5'", '"a\nb"', "0.5 ", "+0.5",
    "0.5f",
    "1" * 400, "9" * 5000, "1" * 1_000_000, "x" * 200_000, "0." + "3" * 1_000_000,
    "1e" + "9" * 1000, "1j",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "2147483648", "1.5",
    "-1", "1e3",
    "True", "None", "null", "#", "#x", "\0", "\x1a", "\x1b[2J", "\ufeff", "\u2028", "=1+1",
    "0.1.2", "--1",
    "1e", ".", "e", "-", "NULL", "N/A", "1 2", "1\t2", "\ud800", "\u0085", "\x0b", "\x0c", "\x1c",
    "1\r2",
)  # fmt: skip


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _table(rng: Rng) -> tuple[str, dict[str, list[Any]], str]:
    role, columns = choose(rng, tables())
    return role, {name: list(values) for name, values in columns.items()}, choose(rng, ",,,;\t")


def _suffix(rng: Rng, role: str) -> str:
    return choose(rng, (".csv", ".tsv", ".txt", *((".edges",) if role == "edges" else ())))


def cells(rng: Rng) -> Mutant:
    """Overwrite a few cells, or one column, with what is hard to read."""
    role, columns, delimiter = _table(rng)
    for _ in range(int(rng.integers(1, 4))):
        column = columns[choose(rng, list(columns))]
        cell = choose(rng, CELLS)
        if rng.random() < 0.2 and len(cell) < 1000:
            column[:] = [cell] * len(column)
        else:
            column[int(rng.integers(len(column)))] = cell
    return Mutant(role, _suffix(rng, role), _encoded(written(columns, delimiter)))


def headed(rng: Rng) -> Mutant:
    """Give columns other names, double ones, or none."""
    role, columns, delimiter = _table(rng)
    text = written(columns, delimiter)
    head, _, body = text.partition("\n")
    names = head.split(delimiter)
    odd = (
        *NAMES,
        *CELLS,
        "prob_",
        "prob_0",
        "neg_",
        "neg_0",
        "label",
        "labels",
        "part",
        "total",
        "score",
    )
    for _ in range(int(rng.integers(1, 4))):
        names[int(rng.integers(len(names)))] = choose(rng, odd)
    head = choose(
        rng, (delimiter.join(names), delimiter.join(names), "", "#" + head, head + delimiter)
    )
    return Mutant(role, _suffix(rng, role), _encoded(head + "\n" + body))


def lines(rng: Rng) -> Mutant:
    """Make rows ragged, double, blank, quoted across lines, or end otherwise."""
    role, columns, delimiter = _table(rng)
    rows = written(columns, delimiter).splitlines()
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(rows)))
        row = rows[at]
        rows[at] = choose(
            rng,
            (
                "", row + delimiter, row.rpartition(delimiter)[0], row + delimiter + row,
                delimiter * 50,
                '"' + row, row + '"', '"' + row + '"', "#" + row, " " + row, row + "\0",
                row + "\n" + row,
                row.replace(delimiter, delimiter + '"', 1), row.replace(delimiter, choose(rng,
                ",;\t| ")),
                "\n\n" + row, "\\" + row, row + " # x", '"a\n' * 3 + row, row[: len(row) // 2],
            ),
        )  # fmt: skip
    end = choose(rng, ("\n", "\n", "\r", "\r\n", "\n\r", "\x0b", "\x0c", "\x1e", "\u2028", "\0"))
    start = choose(rng, ("", "", "\ufeff", "\ufeff\ufeff", "\n", "\r", "# x\n", " ", "sep=,\n"))
    text = start + end.join(rows) + choose(rng, ("", end))
    coding = choose(
        rng, ("utf-8", "utf-8", "utf-8", "utf-16", "utf-32", "latin1", "utf-7", "cp037")
    )
    return Mutant(role, _suffix(rng, role), text.encode(coding, "replace"))


def edited(rng: Rng) -> Mutant:
    """Put in, take out and repeat single characters."""
    seed = good(rng, None, ".csv", ".tsv", ".txt")
    text = list(seed.content.decode())
    for _ in range(int(2 ** rng.uniform(0, 7))):
        at = int(rng.integers(len(text)))
        text[at] = choose(rng, (*CELLS[:16], ",", "\n", "\t", '"', "-", "e", text[at] * 2, "", "9"))
    return Mutant(seed.role, seed.suffix, _encoded("".join(text)))


def wide(rng: Rng) -> Mutant:
    """Head a table with very many columns, or one very long name or line."""
    n = int(choose(rng, (1000, 20_000, 100_000, 400_000)))
    kind = int(rng.integers(6))
    if kind == 0:
        head, row = ",".join(f"prob_{i}" for i in range(n)), ",".join(["0"] * (n - 1) + ["1"])
        text = f"label,{head}\n" + f"0,{row}\n" * 2
    elif kind == 1:
        text = "pos," + ",".join(f"neg_{i}" for i in range(n)) + "\n" + "1" + ",0" * n + "\n"
    elif kind == 2:
        text = "prob_0,prob_1,label" + "," * n + "\n0.5,0.5,0\n"
    elif kind == 3:
        text = f"prob_0,prob_1,label,{'x' * n}\n" + f"0.5,0.5,0,{'y' * n}\n" * 3
    elif kind == 4:
        text = "0 1\n" * 10 + " ".join(["2"] * n) + "\n"
    else:
        rows = "".join(f"1,0,a,p{i}\n" for i in range(min(n, 40_000)))
        text = "prob_a,prob_b,label,part\n" + rows
    role = "links" if kind == 1 else "edges" if kind == 4 else "nodes"
    return Mutant(role, _suffix(rng, role), text.encode())


def edge_lists(rng: Rng) -> Mutant:
    """Name nodes that are far away, negative, or no numbers; leave lists empty or without end."""
    pairs = list(zip(*edge_columns().values(), strict=True))
    rows: list[Any] = [f"{u} {v}" for u, v in pairs]
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(len(rows)))
        odd = (
            "0 2000000000", "0 2147483648", "0 9223372036854775807", "0 4000000000", "100000000 5",
            "-1 0",
            "0 1.5", "1e5 0", "0 1e300", "nan 0", "0", "0 1 2 3", "0  1", "0\t1", "a b", "# x", "",
            "٠ ١",
            "1" * 100_000 + " 0", "0 " * 100_000, "0 20000000", "0 0", "0 18446744073709551616",
            "0,1",
        )  # fmt: skip
        rows[at] = choose(rng, odd)
    rows = choose(rng, (rows, rows, rows[:1], [], ["0 0"] * 40, rows[::-1]))
    separator = choose(rng, (" ", " ", ",", "\t", ";", "  ", " , ", "|", "\0"))
    text = choose(rng, ("", "", "source target\n", "# head\n", "\ufeff", "\n\n")) + "\n".join(rows)
    content = text.replace(" ", separator).encode()
    return Mutant("edges", choose(rng, (".txt", ".edges", ".csv", ".tsv")), content)


def _typed(rng: Rng, values: list[Any]) -> Any:
    """Make a Parquet column of an unusual type from values."""
    n = len(values)
    day = datetime.datetime(2020, 1, 1)
    made = (
        lambda: pa.array([None] * n),
        lambda: pa.array([None if i % 3 else v for i, v in enumerate(values)]),
        lambda: pa.array([[v] for v in values]),
        lambda: pa.array([[v] * (i % 4) for i, v in enumerate(values)]),
        lambda: pa.array([{"a": v} for v in values]),
        lambda: pa.array([{"a": [{"b": v}]} for v in values]),
        lambda: pa.array([[("k", v)] for v in values], pa.map_(pa.string(), pa.array(values).type)),
        lambda: pa.array(values).dictionary_encode(),
        lambda: pa.array([decimal.Decimal(i) / 8 for i in range(n)]),
        lambda: pa.array([decimal.Decimal("1e30")] * n),
        lambda: pa.array([day] * n),
        lambda: pa.array([datetime.timedelta(seconds=i) for i in range(n)]),
        lambda: pa.array([datetime.date(2020, 1, 1)] * n),
        lambda: pa.array([datetime.time(1)] * n),
        lambda: pa.array([i % 2 == 0 for i in range(n)]),
        lambda: pa.array([str(v) for v in values]),
        lambda: pa.array([str(v).encode() + b"\xff" for v in values]),
        lambda: pa.array(["x" * 100_000] * n),
        lambda: pa.array(["\x1b[2J[/]<b>"] * n),
        lambda: pa.array([np.nan] * n),
        lambda: pa.array([1e308, -1e308, np.inf] * n)[:n],
        lambda: pa.array(np.arange(n).astype(np.float16)),
        lambda: pa.array([2**63 - 1] * n),
        lambda: pa.array([2**64 - 1] * n, pa.uint64()),
        lambda: pa.array([b"ab"] * n, pa.binary(2)),
        lambda: pa.array(np.arange(n) % 3, pa.int8()),
        lambda: pa.array(["a", "b"] * n, pa.large_string())[:n],
    )
    return choose(rng, made)()


def columned(rng: Rng) -> Mutant:
    """Give Parquet columns unusual types and names, double names too."""
    role, found, _ = _table(rng)
    columns: dict[str, Any] = dict(found)
    for _ in range(int(rng.integers(1, 3))):
        key = choose(rng, list(columns))
        columns[key] = _typed(rng, list(found[key]))
    names = list(columns)
    if rng.random() < 0.3:
        odd = [name.encode("utf-8", "replace").decode() for name in NAMES]
        names[int(rng.integers(len(names)))] = choose(
            rng, [*odd, names[0], "prob_0.x", "label", ""]
        )
    table = pa.Table.from_arrays(
        [pa.array(v) if isinstance(v, list) else v for v in columns.values()], names
    )
    file = io.BytesIO()
    codec = choose(rng, ("snappy", "gzip", "zstd", "none", "brotli", "lz4"))
    size = choose(rng, (None, 1, 7))
    try:
        pq.write_table(table, file, compression=codec, row_group_size=size)
    except (pa.ArrowException, ValueError):
        return Mutant(role, ".parquet", parquet(found))
    return Mutant(role, choose(rng, (".parquet", ".pq")), file.getvalue())


def footed(rng: Rng) -> Mutant:
    """Damage the footer of a Parquet file: its bytes, its length, its end."""
    role, columns, _ = _table(rng)
    content = bytearray(parquet(columns, compression=choose(rng, ("none", "snappy"))))
    length = struct.unpack("<I", content[-8:-4])[0]
    start = len(content) - 8 - length
    for _ in range(int(2 ** rng.uniform(0, 5))):
        at = start + int(rng.integers(length)) if rng.random() < 0.8 else int(rng.integers(start))
        content[at] = choose(rng, (int(rng.integers(256)), content[at] ^ 1, 0xFF, 0x00, 0x80))
    if rng.random() < 0.2:
        content[-8:-4] = struct.pack(
            "<I", choose(rng, (0, 1, length - 1, length + 1, 2**31 - 1, 2**32 - 1))
        )
    return Mutant(role, ".parquet", bytes(content[: choose(rng, (None, None, None, -1, -4, -8))]))


def folded(rng: Rng) -> Mutant:
    """Fold very many equal values, or very long words, into a small Parquet file."""
    n = int(choose(rng, (10**5, 10**6, 4 * 10**6)))
    kind = int(rng.integers(5))
    if kind == 0:
        made: dict[str, Any] = {
            "prob_0": np.ones(n),
            "prob_1": np.zeros(n),
            "label": np.zeros(n, int),
        }
        role = "nodes"
    elif kind == 1:
        made, role = {"source": np.zeros(n, int), "target": np.ones(n, int)}, "edges"
    elif kind == 2:
        n = min(n, 10**5)
        word = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), ["x" * 100_000])
        made = {"prob_0": np.ones(n), "prob_1": np.zeros(n), "label": word}
        role = "nodes"
    elif kind == 3:
        made, role = {"pos": np.zeros(n), "neg_0": np.zeros(n), "neg_1": np.zeros(n)}, "links"
    else:
        n = int(choose(rng, (1000, 10_000)))
        made = {f"prob_{i}": [float(i == 0)] * 2 for i in range(n)}
        made["label"], role = [0, 0], "nodes"
    return Mutant(role, ".parquet", parquet(made, compression=choose(rng, ("snappy", "zstd"))))


def worded(rng: Rng) -> Mutant:
    """Name classes and parts in a table so that a terminal or a page might obey them."""
    wide_columns = choose(rng, ((node_columns(), "nodes"), (link_columns(), "links")))
    columns, role = dict(wide_columns[0]), wide_columns[1]
    odd = [choose(rng, NAMES) for _ in range(4)]
    columns["part"] = [
        f'"{odd[i % 4].replace(chr(34), chr(34) * 2)}"' for i in range(len(columns["part"]))
    ]
    if role == "nodes":
        quoted = odd[0].replace('"', '""')
        columns[f'"prob_{quoted}"'] = columns.pop("prob_0")
        columns["label"] = [f'"{quoted}"' if v == 0 else v for v in columns["label"]]
    return Mutant(role, _suffix(rng, role), _encoded(written(columns)))
