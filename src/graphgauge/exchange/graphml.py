"""GraphML: read as a stream, with nothing in it that could expand or reach outside.

Entities can only be declared in a document type, and a document type is all it takes to make a
small file huge or to have it read others. GraphML needs none, so a file that has one is refused.

References
----------
Brandes et al., GraphML progress report: structural layer proposal, Graph Drawing 2001.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np

from graphgauge.archive import check_expansion, check_file
from graphgauge.arrays import FloatArray, IntArray, refuse
from graphgauge.errors import InputError
from graphgauge.exchange.attributes import Attributes
from graphgauge.exchange.choices import Choices, the_one
from graphgauge.exchange.contents import choose_contents
from graphgauge.exchange.imported import Imported, Source
from graphgauge.exchange.links import Links
from graphgauge.exchange.numbering import Numbering, ids_of
from graphgauge.words import numbers_of

__all__ = ["read_graphml"]

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_DEEPEST, _LONGEST = 64, 200
_DIRECTIONS = {"directed": True, "undirected": False}
_BOOLEANS = {"true": "1", "false": "0"}
_VALUES = ("data", "default")


def read_graphml(path: Path, choices: Choices) -> Imported:
    """Read a GraphML file with one graph in it.

    Attributes of nodes are chosen from as columns of a table would be. Whether edges have a
    direction is for the file to say.
    """
    choices.apply_to("GraphML", "label", "features", "weight")
    check_file(path)
    document = _Document(choices.weight)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = document.start
    parser.EndElementHandler = document.end
    parser.CharacterDataHandler = document.read
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except InputError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise InputError(f"not readable as GraphML ({str(error)[:200]})") from None
    names, links, attributes = document.names(), document.links(), document.attributes()
    check_expansion(path, 8 * len(names) * attributes.n_defaults)
    contents = choose_contents(attributes, len(names), choices)
    return Imported.of(Source("GraphML", path.stem), links, ids_of(names), contents)


def _refuse_doctype(*_: object) -> None:
    raise InputError("declares a document type, which GraphML does without; take it out")


@dataclass
class _Key:
    """An attribute that nodes or edges may have."""

    name: str
    bearer: str
    is_boolean: bool
    default: str | None = None
    values: dict[int, str] = field(default_factory=dict)

    def concerns(self, bearer: str) -> bool:
        """Tell whether a node, or an edge, may have it."""
        return self.bearer in ("all", bearer)


class _Document:
    """What the elements of a document have said so far."""

    def __init__(self, weight: str | None) -> None:
        self._weight = weight
        self._directed: bool | None = None
        self._numbering = Numbering()
        self._nodes, self._ends = array("i"), array("i")
        self._keys: dict[str, _Key] = {}
        self._path: list[str] = []
        self._key: _Key | None = None
        self._text = ""

    def start(self, tag: str, about: dict[str, str]) -> None:
        """Take in the beginning of an element; those of other languages only count as depth."""
        space, _, name = tag.rpartition(" ")
        name = name if not space or space.startswith(_NAMESPACE) else ""
        if not self._path and name != "graphml":
            raise InputError(f"not GraphML: its first element is {tag[:80]!r}")
        if len(self._path) == _DEEPEST:
            raise InputError(f"its elements lie more than {_DEEPEST} deep in one another")
        self._path.append(name)
        match name:
            case "node":
                self._nodes.append(self._numbering[_said(about, "id", name)])
            case "edge":
                self._add_edge(about)
            case "data":
                self._open_value(_said(about, "key", name))
            case "key":
                self._add_key(_said(about, "id", name), about)
            case "graph":
                self._open_graph(_said(about, "edgedefault", name))
            case "default":
                self._text = ""
            case "hyperedge":
                raise InputError("holds a hyperedge, which may join more nodes than two")

    def read(self, text: str) -> None:
        """Take in text, of which only values matter."""
        if self._path[-1] in _VALUES and len(self._text) < _LONGEST:
            self._text = (self._text + text)[:_LONGEST]

    def end(self, _: str) -> None:
        """Take in the end of an element, with which its text is complete."""
        name = self._path.pop()
        if name in _VALUES and self._key is not None:
            self._close_value(self._key, name)
        if name in ("data", "key"):
            self._key = None

    def names(self) -> list[str]:
        """Return what the nodes are called, in the order in which they are declared."""
        nodes = _integers(self._nodes)
        self._numbering.check(nodes)
        self._numbering.check_single(nodes)
        names = self._numbering.names
        return [names[node] for node in nodes]

    def links(self) -> Links:
        """Return the edges, between nodes in the order of `names`."""
        if self._directed is None:
            raise InputError("holds no graph")
        nodes = _integers(self._nodes)
        places = np.full(len(self._numbering), -1)
        places[nodes] = np.arange(len(nodes))
        pairs = places[_integers(self._ends)].reshape(-1, 2)
        if (places < 0).any():
            first = self._numbering.names[int((places < 0).argmax())][:80]
            told = f"never declared, {first!r} first"
            refuse("edges", pairs < 0, f"names a node {told}", f"name nodes {told}")
        return Links(pairs, self._weights(len(pairs)), self._directed)

    def attributes(self) -> Attributes:
        """Return what nodes may say of themselves."""
        keys = [key for key in self._keys.values() if key.concerns("node")]
        if len({key.name for key in keys}) < len(keys):
            raise InputError("two attributes of nodes have the same name")
        defaults = {key.name: key.default for key in keys if key.default is not None}
        return Attributes(len(self._nodes), {key.name: key.values for key in keys}, defaults)

    def _weights(self, n_edges: int) -> FloatArray | None:
        keys = {key.name: key for key in self._keys.values() if key.concerns("edge")}
        name = the_one("weight", self._weight or "", list(keys))
        if name is None:
            return None
        values, default = keys[name].values, keys[name].default or ""
        return numbers_of(name, [values.get(edge, default) for edge in range(n_edges)])

    def _open_graph(self, direction: str) -> None:
        if self._directed is not None:
            raise InputError("holds several graphs, or one within another")
        if direction not in _DIRECTIONS:
            raise InputError(f"its edgedefault is {direction[:80]!r}, not directed or undirected")
        self._directed = _DIRECTIONS[direction]

    def _add_key(self, key: str, about: Mapping[str, str]) -> None:
        if key in self._keys:
            raise InputError(f"declares the key {key[:80]!r} twice")
        boolean = about.get("attr.type") == "boolean"
        self._key = _Key(about.get("attr.name", key), about.get("for", "all"), boolean)
        self._keys[key] = self._key

    def _add_edge(self, about: Mapping[str, str]) -> None:
        direction = about.get("directed")
        if direction is not None and (direction == "true") != self._directed:
            edge = len(self._ends) // 2
            raise InputError(f"holds directed and undirected edges (edge {edge} is one of few)")
        self._ends.extend(
            self._numbering[_said(about, end, "edge")] for end in ("source", "target")
        )

    def _open_value(self, key: str) -> None:
        self._text = ""
        if key not in self._keys:
            raise InputError(f"holds data of {key[:80]!r}, which no key before declares")
        bearer = self._path[-2]
        wanted = bearer == "node" or (bearer == "edge" and self._keys[key].name == self._weight)
        self._key = self._keys[key] if wanted else None

    def _close_value(self, key: _Key, element: str) -> None:
        text = self._text.strip()
        text = _BOOLEANS.get(text.lower(), text) if key.is_boolean else text
        if element == "default":
            key.default = text
        else:
            last = len(self._nodes) if self._path[-1] == "node" else len(self._ends) // 2
            key.values[last - 1] = text


def _said(about: Mapping[str, str], attribute: str, element: str) -> str:
    if attribute not in about:
        raise InputError(f"holds a {element} without {attribute}")
    return about[attribute]


def _integers(numbers: array[int]) -> IntArray:
    return np.array(numbers, np.int32)
