"""The list of the registered published sets, with how the commit of each was verified."""

from __future__ import annotations

from cells import escaped, filled, table

from cimento.suites.languages import ENGLISH
from cimento.suites.published import PublishedDataset, published

PAGE = "sets.md"
MOST = 6
"""Most languages that are named."""


def sets_page() -> str:
    """The page in Markdown."""
    head = ("name", "what it is", "languages", "license", "size", "commit verified")
    return filled(PAGE, {"sets": table(head, map(_row, published().values()))})


def _row(entry: PublishedDataset) -> tuple[str, ...]:
    terms = (entry.title, _languages(entry), entry.license, entry.size)
    verified = "by hand" if entry.by_hand else entry.verified or "no commit"
    return (f"`{entry.name}`", *map(escaped, (*terms, verified)))


def _languages(entry: PublishedDataset) -> str:
    if len(entry.languages) > MOST:
        return f"{len(entry.languages)} languages"
    return ", ".join(ENGLISH.get(code, code) for code in entry.languages)
