"""The stored queries, and queries from files and the command line."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cimento.corpus.queries.language import Request
from cimento.corpus.queries.parsing import parse_request
from cimento.errors import InputError, UsageError, did_you_mean
from cimento.io.files import read_bytes
from cimento.io.parsing import read_toml

_FILE = Path(__file__).parents[2] / "data" / "corpus" / "queries.toml"
SUFFIX = ".req"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredQuery:
    """A query with a name, and what its pairs are about.

    Attributes:
        name: its name.
        title: what the bad sentences violate.
        group: the kind of phenomenon, such as ``agreement``.
        languages: ISO 639-1 codes of the treebanks for which it is meant.
        requests: the patterns, all with the words that the change and the controller name.
        change: what makes the bad sentence; empty for a query that only searches.
        controller: the word with which the changed word agrees; empty for none.
        twin: whether an attractor may be made without making the bad sentence good.
        remark: what a user should know; may be empty.
    """

    name: str
    title: str
    group: str
    languages: tuple[str, ...]
    requests: tuple[Request, ...]
    change: str = ""
    controller: str = ""
    twin: bool = True
    remark: str = ""


@functools.cache
def stored_queries() -> Mapping[str, StoredQuery]:
    """The queries that come with cimento, by name."""
    return {name: _stored(name, table) for name, table in read_toml(_FILE).items()}


def _stored(name: str, table: Mapping[str, object]) -> StoredQuery:
    patterns = table["pattern"]
    texts = patterns if isinstance(patterns, list) else [patterns]
    languages = table["languages"]
    assert isinstance(languages, list)  # noqa: S101  # our own file, which a test reads whole
    return StoredQuery(
        name=name,
        title=str(table["title"]),
        group=str(table["group"]),
        languages=tuple(map(str, languages)),
        requests=tuple(parse_request(str(text)) for text in texts),
        change=str(table.get("change", "")),
        controller=str(table.get("controller", "")),
        twin=bool(table.get("twin", True)),
        remark=str(table.get("remark", "")),
    )


def open_query(text: str) -> StoredQuery:
    """A stored query by its name, the query in a file, or a pattern as it is.

    Args:
        text: a name, the path of a file ``.req``, or a text with a brace.

    Raises:
        InputError: the pattern cannot be read.
        UsageError: there is no stored query of that name.
    """
    if "{" in text:
        return _own("", text)
    if text.endswith(SUFFIX):
        try:
            return _own(Path(text).stem, read_bytes(Path(text)).decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise InputError(where=text, seen="is not UTF-8", todo="Save it as UTF-8.") from error
    queries = stored_queries()
    if text not in queries:
        raise UsageError(
            where="query",
            seen=f"{text!r} is no stored query, no file {SUFFIX}, and no pattern {{ ... }}",
            todo=f"{did_you_mean(text, queries)} cimento corpus queries lists them.",
        )
    return queries[text]


def _own(name: str, text: str) -> StoredQuery:
    request = parse_request(text)
    return StoredQuery(name=name, title="", group="", languages=(), requests=(request,))
