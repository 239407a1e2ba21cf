"""A strict reader of HTML for tests: every element opened is closed, in order."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "hr", "img", "input", "base", "source", "wbr"}


class Node:
    """An element; text is a child without a tag."""

    def __init__(self, tag: str, attributes: dict[str, str], text: str = "") -> None:
        self.tag, self.attributes, self._text = tag, attributes, text
        self.children: list[Node] = []

    def __getitem__(self, attribute: str) -> str:
        return self.attributes[attribute]

    @property
    def text(self) -> str:
        return self._text + "".join(child.text for child in self.children)

    def walk(self) -> Iterator[Node]:
        for child in self.children:
            if child.tag:
                yield child
                yield from child.walk()

    def all(self, tag: str) -> list[Node]:
        return [node for node in self.walk() if node.tag == tag]

    def one(self, tag: str) -> Node:
        found = self.all(tag)
        assert len(found) == 1, (tag, len(found))
        return found[0]

    def skeleton(self) -> list[tuple[str, tuple[str, ...]]]:
        """Tags with the names of their attributes, in order."""
        return [(node.tag, tuple(node.attributes)) for node in self.walk()]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(Node("", {}, data))


def parse(page: str) -> Node:
    """Read a page; anything left open or closed out of turn is an error."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert len(reader.open) == 1, [node.tag for node in reader.open]
    return reader.root
