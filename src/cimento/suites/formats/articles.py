"""The English article that a context leaves open, as in *A robin is (a|an)*.

NEG-136-SIMP (Ettinger 2020, doi:10.1162/tacl_a_00298) writes so before targets of both kinds.
"""

from __future__ import annotations

import re

_OPEN = re.compile(r"\((?:a\|an|an\|a)\)\s*$", re.IGNORECASE)
_VOWEL = re.compile(r"(?!eu|ewe|on[ec])[aeio][a-z]+")
_CONSONANT = re.compile(r"[b-df-gj-np-tv-z][a-z]+")
"""Beginnings that say the sound; *hour*, *hotel*, *umbrella*, *union* and *NGO* do not."""


def article_before(target: str) -> str:
    """``a`` or ``an``, as the word after it needs; empty where its first letter does not say it."""
    word = target.strip()
    if _VOWEL.match(word):
        return "an"
    return "a" if _CONSONANT.match(word) else ""


def with_article(context: str, target: str) -> str:
    """A context that ends in the article that its target needs; unchanged where none is open."""
    article = article_before(target)
    return _OPEN.sub(article, context) if article else context
