"""What cimento says to people: no paths that exist in a clone only."""

import ast
import functools
import re
import tomllib
from pathlib import Path

import pytest

import cimento

SOURCE = Path(cimento.__file__).parent
IN_CLONE = re.compile(r"\bdocs/[\w/-]+\.md")


@functools.cache
def texts_of(path):
    """The texts of a module that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    docstrings = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


@pytest.mark.slow
def test_messages_name_pages_and_not_files_of_a_clone():
    paths = {
        str(path.relative_to(SOURCE)): IN_CLONE.findall(text)
        for path in SOURCE.rglob("*.py")
        for text in texts_of(path)
        if IN_CLONE.search(text)
    }
    assert paths == {}


PAGE = re.compile(r'\bpage "([^"]+)"', re.IGNORECASE)


def test_every_page_that_a_message_names_has_this_title():
    docs = SOURCE.parents[1] / "docs"
    pages = [*docs.glob("*.md"), *docs.glob("parts/*.md")]
    titles = {
        path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for path in pages
    }
    named = {
        (path.name, title)
        for path in SOURCE.rglob("*.py")
        for text in texts_of(path)
        for title in PAGE.findall(text)
    }
    for path in (SOURCE / "data").glob("*.toml"):
        text = path.read_text(encoding="utf-8").replace('\\"', '"')
        named |= {(path.name, title) for title in PAGE.findall(text)}
    assert len(named) > 10
    assert {(where, title) for where, title in named if title not in titles} == set()


STARRED = re.compile(r"(?<![\w*])\*[^\W_][^*\n]*\*(?!\*)")


def test_messages_quote_titles_and_have_no_asterisks_of_markdown():
    texts = {
        str(path.relative_to(SOURCE)): STARRED.findall(text)
        for path in SOURCE.rglob("*.py")
        for text in texts_of(path)
        if STARRED.search(text)
    }
    assert texts == {}


@pytest.mark.parametrize("name", ["said", "published"])
def test_translated_messages_quote_titles_too(name):
    data = tomllib.loads((SOURCE / "data" / f"{name}.toml").read_text(encoding="utf-8"))
    assert STARRED.findall(repr(data)) == []


@pytest.mark.parametrize("name", ["said", "app", "how-to"])
def test_translated_messages_name_pages_too(name):
    data = tomllib.loads((SOURCE / "data" / f"{name}.toml").read_text(encoding="utf-8"))
    assert IN_CLONE.findall(repr(data)) == []
