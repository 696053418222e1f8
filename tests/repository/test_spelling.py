"""One spelling on all English pages: the American one."""

from __future__ import annotations

import re

import pytest

from tests.helpers.docs_pages import DOCS

ROOT = DOCS.parent
PAGES = sorted(
    path
    for path in (*ROOT.glob("*.md"), *DOCS.rglob("*.md"))
    if path.name != "CHANGELOG.md" and not re.search(r"\.(it|es|pt|ru)\.md$", path.name)
)
NOT_PROSE = re.compile(r"```.*?^ *```$|`[^`\n]*`|\]\([^)]*\)|<[^>]*>", re.DOTALL | re.MULTILINE)
TITLES = ("Assessing linguistic generalisation in language models",)
"""Titles of works, which are spelled as they are."""
BRITISH = re.compile(
    r"\b\w*(?:favour|colour|neighbour|behaviour|honour|labour|rumour|licence|catalogue"
    r"|labelled|labelling|modelled|modelling|cancelled|centred|fulfil(?!l)|artefact|acknowledgement"
    r"|(?:general|normal|optim|pseudonym|recogn|summar|minim|maxim|organ|token|standard|categor"
    r"|penal|emphas|special|random|visual|initial)is(?:e|ing|ation|er)"
    r")\w*|\b(?:analys(?:e|ed|ing|er)|grey|towards|learnt|spelt|whilst)\b",
    re.IGNORECASE,
)


def british(text: str) -> list[str]:
    """British spellings in the prose of a page: not in code, addresses and titles of works."""
    for title in TITLES:
        text = text.replace(title, "")
    return [match[0] for match in BRITISH.finditer(NOT_PROSE.sub(" ", text))]


def test_british_spellings_are_noticed_in_prose_alone():
    text = "The colour is normalised. `--licence`, `cimento analyse`, [so](licence.md): licences.\n"
    assert british(text) == ["colour", "normalised", "licences"]
    assert british("Colors, normalized; the analyses of a color, organisms, licenses.") == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_spelled_in_american_english(page):
    assert british(page.read_text(encoding="utf-8")) == []
