"""What blind readers found odd in generated sentences is not generated any more."""

from __future__ import annotations

import re

import pytest

from cimento.corpus.generation import generate_suites
from cimento.corpus.grammar_files import find_grammar, read_grammar
from cimento.suites import Suite, sentence

TAKEN_IN = r"\b(took|taken|located|assembled|threw|thrown) (in|on|at|after|because)\b"
"""Verbs that dictionaries also give without an object, or with a particle, before an adjunct."""

ODD = {
    "en-transitivity": TAKEN_IN,
    "en-resumptive": TAKEN_IN,
    "en-wh-gap": TAKEN_IN,
    "en-wh-gap-long": TAKEN_IN,
    "en-passive": TAKEN_IN,
    "en-there-agreement": r"\bno (pear|apple|rose|hat|shirt)\b",
    "es-mood-conjunctions": r"\bdado que\b|\bno dice nada\b",
    "it-relative-islands": r"\bsa\b",
    "it-subjunctive-conjunction": r"\b(aspetta|resta)\b.*\bprima che\b",
    "it-wh-gap": r"\b(abbiamo|avete) \w+ (la settimana|lunedì) scors",
    "it-wh-argument-adjunct": r"\b(abbiamo|avete) \w+ (la settimana|lunedì) scors",
    "it-wh-preposition": r"\bchi (il|lo|la|l'|i|gli|le)\b",
    "pt-mood-conjunctions": r"\bnão diz nada\b",
}


def sentences(suite: Suite) -> list[str]:
    return [
        sentence(condition, rule=suite.join)
        for item in suite.items
        for condition in item.conditions
    ]


@pytest.mark.parametrize("name", ODD)
def test_what_readers_found_odd_is_not_made(name: str) -> None:
    suite, _ = generate_suites(read_grammar(find_grammar(name)), n=200, seed=0)
    assert [text for text in sentences(suite) if re.search(ODD[name], text)] == []
