"""Reading an HTML page in tests, as a browser would split it into elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input", "line", "circle", "br"}


@dataclass
class Element:
    """An element with what is in it, texts and elements in order."""

    tag: str
    attributes: dict[str, str | None]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    @property
    def words(self) -> str:
        """Its text with one blank between words."""
        return " ".join(self.text.split())

    @property
    def classes(self) -> set[str]:
        """Its classes."""
        return set((self.attributes.get("class") or "").split())

    def walk(self) -> Iterator[Element]:
        """Itself and every element below."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.walk()

    def all(self, selector: str) -> list[Element]:
        """Every element below of a tag, of a class (``.name``), or of both (``tag.name``)."""
        tag, _, name = selector.partition(".")
        return [
            node
            for node in self.walk()
            if (not tag or node.tag == tag) and (not name or name in node.classes)
        ]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        assert len(element.attributes) == len(attrs), f"an attribute twice in {tag}"
        self._open[-1].children.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)


def parse_page(page: str) -> Element:
    """The page's elements; fails where one is not closed, or closed by another."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    assert len(parser._open) == 1, [element.tag for element in parser._open]
    return parser.root
