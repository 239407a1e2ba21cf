"""Damage to files of graphs: GraphML, MATLAB, matrices in archives, edges between words."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from hostile.containers import Rng, choose, good
from hostile.contents import WHOLES
from hostile.names import NAMES
from hostile.seeds import (
    Arrays,
    Mutant,
    graphml,
    matlab,
    matrix_arrays,
    node_table,
    packed,
    word_columns,
    written,
)
from hostile.texts import CELLS

_LAUGHS = "".join(
    f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' if i else '<!ENTITY l0 "ha">' for i in range(10)
)
_DOCTYPES = (
    f"<!DOCTYPE graphml [{_LAUGHS}]>",
    f'<!DOCTYPE graphml [<!ENTITY l9 "{"A" * 50_000}">]>',
    '<!DOCTYPE graphml [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>',
    '<!DOCTYPE graphml [<!ENTITY % p SYSTEM "file:///dev/zero"> %p;]>',
    '<!DOCTYPE graphml SYSTEM "http://localhost:1/evil.dtd">',
    "<!DOCTYPE",
)
_TEXTS = (
    "&l9;", "&lt;b&gt;", "&#0;", "&#27;[2J", "&#x110000;", "&#xD800;", "<![CDATA[<b>]]>", "<!--",
    "<?php ?>", "</node>", "</graph>", "<graph>", '<graph edgedefault="directed">', "<node/>",
    '<node id=""/>', '<node id="n0"/>', '<node id="[/]"/>', '<edge source="n0" target="n1"/>',
    '<edge source="n0" target="nowhere"/>', '<edge source="n0" target="n0" directed="true"/>',
    '<data key="k0">1e999</data>', '<data key="nowhere">1</data>', "<data>", "<hyperedge/>",
    '<key id="k0"/>', '<key id="k9" for="node" attr.name="age"><default>x</default></key>',
    '<port name="a"/>', "<!-- a -->", "<desc>a</desc>", " ", '<data key="k1">[red]</data>',
    '<node id="a"><data key="k0">5</data></node>', '<y:x xmlns:y="y"/>', "<desc>]]&gt;</desc>",
    '<edge source="n0" target="n0"/>', "<a>" * 100, "<a>" * 200_000, "x" * 1_000_000, "\0", "]]>",
    "\ufeff",
)  # fmt: skip


def marked(rng: Rng) -> Mutant:
    """Put into GraphML what would break, expand or reach out, or take pieces out of it."""
    text = graphml()
    places = [i for i, c in enumerate(text) if c == "<"]
    for _ in range(int(choose(rng, (1, 1, 1, 2, 3)))):
        at = min(choose(rng, places) + int(rng.random() < 0.2), len(text))
        kind = rng.random()
        if kind < 0.6:
            text = text[:at] + choose(rng, _TEXTS) + text[at:]
        elif kind < 0.8:
            text = text[:at] + text[at + int(rng.integers(1, 200)) :]
        else:
            text = text.replace(*choose(rng, _SWAPS), int(choose(rng, (1, -1))))
    if rng.random() < 0.2:
        head, end, body = text.partition("?>")
        text = head + end + choose(rng, _DOCTYPES) + body
    coding = choose(rng, (*["utf-8"] * 5, "utf-16", "latin1", "utf-7", "cp037"))
    suffix = choose(rng, (*[".graphml"] * 4, ".GRAPHML", ".xml", ".csv"))
    return Mutant("graphs", suffix, text.encode(coding, "replace"))


_SWAPS = (
    ("undirected", "both"), ('"n1"', '"n2"'), ("double", "boolean"), ("<node", "<Node"),
    ("utf-8", "no-such"), ("xmlns=", "xmlns:x="), ("graphml.graphdrawing", "x"), ("id=", "di="),
    ('attr.name="age"', 'attr.name="topic"'), ("</data>", ""), ('for="node"', 'for="all"'),
)  # fmt: skip


def many_marks(rng: Rng) -> Mutant:
    """Say very much in GraphML: keys, defaults, depth, long names, nodes without end."""
    n = int(choose(rng, (1000, 20_000, 60_000)))
    kind = int(rng.integers(5))
    nodes = "".join(f'<node id="{i}"/>' for i in range(n))
    keys = '<key id="t" for="node" attr.name="topic"/>'
    if kind == 0:
        one = '<key id="k{}" for="node" attr.name="a{}"><default>1</default></key>'
        keys += "".join(one.format(i, i) for i in range(choose(rng, (3, 3000))))
    elif kind == 1:
        keys += f'<key id="k" for="node" attr.name="{"x" * n}"/>'
    elif kind == 2:
        nodes = f'<node id="{"x" * 190}"/>' + nodes
    elif kind == 3:
        nodes = "<g>" * n + "</g>" * n
    else:
        nodes = f'<node id="a" {" ".join(f"b{i}=" + chr(34) * 2 for i in range(n))}/>'
    text = f'<graphml>{keys}<graph edgedefault="directed">{nodes}</graph></graphml>'
    return Mutant("graphs", ".graphml", text.encode())


def _elements(content: bytes, start: int = 128) -> list[int]:
    """List the places of tags in a file of MATLAB, those within variables too."""
    places, place = [], start
    while place + 8 <= len(content):
        places.append(place)
        kind, size = struct.unpack_from("<II", content, place)
        small = kind >> 16
        place += 8 if kind == 14 or small else 8 + -(-size // 8) * 8
    return places


def tagged(rng: Rng) -> Mutant:
    """Overwrite types, sizes, flags, shapes and entries in a file of MATLAB."""
    content = bytearray(matlab())
    places = _elements(bytes(content))
    for _ in range(int(rng.integers(1, 4))):
        at = choose(rng, places) + int(choose(rng, (0, 0, 4, 4, 8, 12, 16)))
        at = min(at, len(content) - 4)
        odd = (*(w & 0xFFFFFFFF for w in WHOLES), *range(20), 0x10002, 0x40009, 0x80000001)
        struct.pack_into("<I", content, at, choose(rng, odd))
    if rng.random() < 0.1:
        content[124:128] = choose(rng, (b"\x00\x02IM", b"\x01\x00MI", b"\x00\x01MI", b"\0\0\0\0"))
    body = bytes(content)
    if rng.random() < 0.3:
        body = body[:128] + _deflated(body[128:])
    return Mutant("graphs", choose(rng, (".mat", ".mat", ".MAT", "", ".npz")), body)


def _deflated(body: bytes) -> bytes:
    squeezed = zlib.compress(body, 9)
    return struct.pack("<II", 15, len(squeezed)) + squeezed


def blown(rng: Rng) -> Mutant:
    """Deflate much into a file of MATLAB: zeros, many variables, variables within others."""
    head = matlab()[:128]
    size = int(choose(rng, (2**20, 2**23, 2**26)))
    kind = int(rng.integers(4))
    if kind == 0:
        return Mutant("graphs", ".mat", head + _deflated(bytes(size)))
    if kind == 1:
        body = head + _deflated(_variable(b"A", (1, size), 2, bytes(size)))
        return Mutant("graphs", ".mat", body)
    if kind == 2:
        few = _deflated(_variable(b"A", (1, 2**16), 2, bytes(2**16)))
        return Mutant("graphs", ".mat", head + few * int(choose(rng, (2, 900, 5000))))
    nested = _variable(b"A", (1, 8), 2, bytes(8))
    for _ in range(int(rng.integers(2, 30))):
        nested = _deflated(nested)
    return Mutant("graphs", ".mat", head + nested)


def _variable(name: bytes, shape: tuple[int, int], kind: int, entries: bytes) -> bytes:
    parts = ((6, struct.pack("<II", 9, 0)), (5, struct.pack("<ii", *shape)), (1, name))
    body = b"".join(
        struct.pack("<II", of, len(data)) + data + bytes(-len(data) % 8)
        for of, data in (*parts, (kind, entries))
    )
    return struct.pack("<II", 14, len(body)) + body


def strange_matrices(rng: Rng) -> Mutant:
    """Damage what graphs are made of in archives: counts, shapes, indices, types, names."""
    arrays: Arrays = dict(matrix_arrays(sparse=bool(rng.random() < 0.6)))
    if rng.random() < 0.3:
        arrays = {"edge_index": np.array([[0, 1], [1, 2]]), "num_nodes": np.array(3)}
    for _ in range(int(rng.integers(1, 3))):
        key = choose(rng, list(arrays))
        arrays[key] = _strange(rng, arrays[key])
    if rng.random() < 0.2:
        name = choose(rng, ("A_format", "num_nodes", "y", "X", "edge_index", "net", "label"))
        odd = (b"csc", "bsr", 2**40, -1, 2**23 + 1, [b"a"] * 5, [["a", "b"]] * 30, np.zeros(0))
        arrays[name] = np.array(choose(rng, odd))
    return Mutant("graphs", ".npz", packed(arrays, deflated=bool(rng.random() < 0.5)))


def _strange(rng: Rng, value: Any) -> Any:
    made = (
        lambda: np.full(value.shape, choose(rng, WHOLES)),
        lambda: np.where(rng.random(value.shape) < 0.2, choose(rng, WHOLES), value),
        lambda: value.astype(choose(rng, ("S4", "U4", "?", "f2", ">f4", "<g", "c16", "O"))),
        lambda: value[..., :-1] if value.ndim else value[None],
        lambda: value.T,
        lambda: np.concatenate([value.ravel()] * 2),
        lambda: np.full(value.shape, choose(rng, (np.nan, np.inf, 0.0, 0.5, 1e300))),
        lambda: np.zeros(choose(rng, ((0,), (0, 0), (1, 0), (3, 3, 3), (2, 20_000), (3000, 3000)))),
        lambda: sp.random_array((30, 30), density=0.1, rng=rng).toarray(),
    )
    try:
        with np.errstate(all="ignore"):
            return np.asarray(choose(rng, made)())
    except (TypeError, ValueError, OverflowError, IndexError):
        return np.zeros(3)


def between_words(rng: Rng) -> Mutant:
    """Call nodes by what a terminal or a program might obey, or by nothing, or twice."""
    columns = {name: list(values) for name, values in word_columns().items()}
    for _ in range(int(rng.integers(1, 5))):
        column = columns[choose(rng, list(columns))]
        odd = choose(rng, (choose(rng, NAMES), choose(rng, CELLS), "x" * 199, "x" * 200))
        quoted = '"' + odd.replace('"', '""') + '"'
        column[int(rng.integers(len(column)))] = choose(rng, (odd, quoted, quoted))
    if rng.random() < 0.2:
        columns[choose(rng, (*NAMES, "u", "weight"))] = columns.pop(choose(rng, list(columns)))
    delimiter = choose(rng, ",,;\t ")
    text = written(columns, delimiter)
    if rng.random() < 0.3:
        text = text.partition("\n")[2]
    content = text.encode("utf-8", "surrogatepass")
    return Mutant("graphs", choose(rng, (".csv", ".csv", ".txt", ".tsv", ".edgelist")), content)


def odd_nodes(rng: Rng) -> Mutant:
    """Damage a table of nodes: ids, numbers and classes that are none, or too many."""
    columns = {name: list(values) for name, values in node_table().items()}
    for _ in range(int(rng.integers(1, 4))):
        column = columns[choose(rng, list(columns))]
        odd = choose(rng, (choose(rng, CELLS), choose(rng, NAMES), "n0", "-1", "1", "nan"))
        if rng.random() < 0.2 and len(odd) < 1000:
            column[:] = [odd] * len(column)
        else:
            column[int(rng.integers(len(column)))] = odd
    if rng.random() < 0.2:
        columns[choose(rng, (*NAMES, "node", "y"))] = columns.pop(choose(rng, list(columns)))
    content = written(columns, choose(rng, ",,;\t")).encode("utf-8", "surrogatepass")
    return Mutant("tables", choose(rng, (".csv", ".csv", ".tsv", ".txt")), content)


def damaged(rng: Rng) -> Mutant:
    """Cut a file of a graph, flip bits of it, or put noise in."""
    seed = good(rng, choose(rng, ("graphs", "graphs", "graphs", "tables")))
    content = bytearray(seed.content)
    kind = int(rng.integers(3))
    if kind == 0:
        del content[int(rng.integers(len(content))) :]
    elif kind == 1:
        for _ in range(int(2 ** rng.uniform(0, 6))):
            content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    else:
        low, high = sorted(int(x) for x in rng.integers(0, len(content), 2))
        content[low:high] = choose(rng, (b"", rng.bytes(high - low), content[low:high] * 2))
    return Mutant(seed.role, seed.suffix, bytes(content))
