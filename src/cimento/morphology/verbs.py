"""Conjugation by endings: regular verbs, and the few irregular ones that tests need most."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from typing import TypeAlias

from cimento.morphology.delaf_tags import from_delaf
from cimento.morphology.model import Reading, format_features

Spelling: TypeAlias = tuple[str, str, str]
"""What a stem ends with, what it becomes, and a pattern of the endings before which it does."""

PERSONS = ("1s", "2s", "3s", "1p", "2p", "3p")

_FRONT, _BACK, _I = "[eéêiíè]", "[aáâoóôuúò]", "[ei]"
_SPELLINGS: dict[str, dict[str, tuple[Spelling, ...]]] = {
    "pt": {
        "ar": (("ç", "c", _FRONT), ("c", "qu", _FRONT), ("g", "gu", _FRONT)),
        "er": (("gu", "g", _BACK), ("c", "ç", _BACK), ("g", "j", _BACK)),
        "ir": (("gu", "g", _BACK), ("c", "ç", _BACK), ("g", "j", _BACK)),
    },
    "it": {
        "are": (
            ("c", "ch", _I),
            ("g", "gh", _I),
            ("ci", "c", _I),
            ("gi", "g", _I),
            ("i", "", "i"),
        ),
    },
    "es": {
        "ar": (
            ("gu", "gü", _FRONT),
            ("c", "qu", _FRONT),
            ("g", "gu", _FRONT),
            ("z", "c", _FRONT),
        ),
        "er": (("gu", "g", _BACK), ("g", "j", _BACK)),
        "ir": (("gu", "g", _BACK), ("g", "j", _BACK)),
    },
}


@dataclass(frozen=True, slots=True)
class Verb:
    """Forms of one class of verbs, or of one verb.

    Attributes:
        name: the end of its lemmas, or the lemma.
        whole: whether it is one verb.
        rows: code of a tense and its forms.
    """

    name: str
    whole: bool
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@functools.cache
def verbs_of(language: str) -> tuple[Verb, ...]:
    """The classes and single verbs of a language; single ones first, then long endings first."""
    folder = resources.files("cimento") / "data" / "morphology"
    lines = (folder / f"{language}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for line in lines:
        name, code, forms = line.split("\t")
        rows.setdefault(name, []).append((code, tuple(forms.split())))
    verbs = [
        Verb(name.removeprefix("-"), not name.startswith("-"), tuple(forms))
        for name, forms in rows.items()
    ]
    return tuple(sorted(verbs, key=lambda verb: (not verb.whole, -len(verb.name))))


@functools.lru_cache(maxsize=4096)
def conjugate(lemma: str, language: str) -> tuple[Reading, ...]:
    """All forms of a verb; empty where no class fits the lemma."""
    verb = next((v for v in verbs_of(language) if _fits(lemma, v)), None)
    if verb is None:
        return ()
    stem = "" if verb.whole else lemma.removesuffix(verb.name)
    spellings = () if verb.whole else _SPELLINGS[language].get(verb.name, ())
    found: dict[Reading, None] = {}
    for code, forms in verb.rows:
        for form, tag in _tagged(code, forms):
            word = respelled(stem, form, spellings)
            words = _in_gender(word, language) if code == "K" else {"": word}
            for more, spelled in words.items():
                found.setdefault(_reading(spelled, lemma, tag + more))
    return tuple(found)


def possible_lemmas(form: str, language: str) -> Iterator[str]:
    """Lemmas that a form may belong to, by its ending alone; each must be conjugated to see."""
    for verb in verbs_of(language):
        for ending in _endings(verb, language):
            if verb.whole and form == ending:
                yield verb.name
            if verb.whole or not form.endswith(ending) or len(form) == len(ending):
                continue
            stem = form.removesuffix(ending)
            yield stem + verb.name
            for written, changed, _ in _SPELLINGS[language].get(verb.name, ()):
                if stem.endswith(changed):
                    yield stem[: len(stem) - len(changed)] + written + verb.name


def respelled(stem: str, ending: str, spellings: tuple[Spelling, ...]) -> str:
    """Stem and ending together, spelled as the sounds need it; the longest change that fits."""
    fitting = [each for each in spellings if stem.endswith(each[0]) and re.match(each[2], ending)]
    if not fitting:
        return stem + ending
    written, changed, _ = max(fitting, key=lambda each: len(each[0]))
    return stem[: len(stem) - len(written)] + changed + ending


def _fits(lemma: str, verb: Verb) -> bool:
    if verb.whole:
        return lemma == verb.name
    return lemma.endswith(verb.name) and len(lemma) > len(verb.name)


def _tagged(code: str, forms: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each form with its tag; the first of several infinitives is also the bare one."""
    if len(forms) == 1:
        yield forms[0], f"V:{code}"
        return
    if code == "W":
        yield forms[0], "V:W"
    for form, person in zip(forms, PERSONS, strict=True):
        if form != "-":
            yield form, f"V:{code}{person}"


@functools.lru_cache
def _endings(verb: Verb, language: str) -> frozenset[str]:
    """Endings (or forms, of a single verb) with those of the participle in all its forms."""
    found = {each for _, forms in verb.rows for each in forms if each != "-"}
    participles = [forms[0] for code, forms in verb.rows if code == "K"]
    return frozenset(found.union(*(_in_gender(each, language).values() for each in participles)))


def _in_gender(masculine: str, language: str) -> dict[str, str]:
    """The four forms of a participle in -o, by gender and number."""
    stem = masculine[:-1]
    endings = ("o", "a", "i", "e") if language == "it" else ("o", "a", "os", "as")
    return {code: stem + end for code, end in zip(("ms", "fs", "mp", "fp"), endings, strict=True)}


def _reading(form: str, lemma: str, tag: str) -> Reading:
    pos, features = from_delaf(tag)
    return Reading(form, lemma, pos, format_features(features), tag, guessed=True)
