"""Every word of every starter suite is on a list of words that were looked up.

The lists, in data/spelling, were made with Hunspell's dictionaries of the variety that a suite's
README names. Who writes a new word looks it up and adds it; wordfreq, which counts words in texts,
is asked as well, so that a slip on the list itself is seen.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from wordfreq import zipf_frequency

from cimento.suites.builtin import builtin_names
from cimento.suites.stimuli import stimulus_text
from tests.helpers.starter import NAMES, starter_suite

LANGUAGES = ("en", "es", "it", "pt", "ru")
EVERY = (*NAMES, *builtin_names(kind="acceptability"))
LISTS = Path(__file__).parents[1] / "data" / "spelling"
# Apostrophes and hyphens belong to words: l'ombrello, po', grandmother's, meio-dia.
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*'?")

TYPOS = {
    "en": ("the grandmother's neigbors", ["neigbors"]),
    "es": ("El cafe está frio.", ["cafe", "frio"]),
    "it": ("Perchè un pò d'aqua?", ["Perchè", "d'aqua", "pò"]),
    "pt": ("O pao é bõm.", ["bõm", "pao"]),
    "ru": ("Саседка купила хлеб.", ["Саседка"]),
}


@cache
def looked_up(language: str) -> dict[str, str]:
    """The words of a language's list, each with the remark beside it."""
    lines = (LISTS / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    entries = [line.partition("#") for line in lines if not line.startswith("#")]
    return {word.strip(): remark.strip() for word, _, remark in entries}


def words_of(name: str) -> set[str]:
    suite = starter_suite(name)
    return {
        word
        for _, condition in suite.stimuli()
        for word in WORD.findall(stimulus_text(condition, rule=suite.join))
    }


def misspelled(words: set[str], language: str) -> list[str]:
    """The words that are not on the list, neither as they are nor with a small first letter."""
    known = looked_up(language)
    return sorted(w for w in words if w not in known and w[0].lower() + w[1:] not in known)


@pytest.mark.parametrize("name", EVERY)
def test_every_word_is_spelled_right(name):
    words = words_of(name)
    assert len(words) > 50
    assert misspelled(words, starter_suite(name).meta.language) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_typos_are_found(language):
    text, typos = TYPOS[language]
    assert misspelled(set(WORD.findall(text)), language) == typos


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_of_the_lists_are_met_in_texts_or_said_to_be_rare(language):
    rare = {word for word in looked_up(language) if zipf_frequency(word, language) == 0}
    assert rare == {word for word, remark in looked_up(language).items() if remark == "rare"}
