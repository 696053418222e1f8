"""Inflection rules of Portuguese, Italian and Spanish, for small tasks without a dictionary.

Plurals, feminines and conjugations are the regular patterns of school grammars, tried in order; the
first that fits is used. If a language allows two forms (``amici`` and ``laghi``), it is the more
frequent one. A few irregular verbs are known. Without a list of lemmas, `Rules.analyze` can only
infer from its shape what a form could be. All readings from rules are marked as guessed.

Function words of Portuguese, and participles that no class of verbs makes, are in a list.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cimento.corpus.morphology import (
    DATA,
    Features,
    WordReading,
    chosen,
    format_features,
    from_delaf,
    parse_features,
)
from cimento.errors import UsageError, need_known
from cimento.io.values import grouped
from cimento.suites.letters import one_spelling

LANGUAGES = ("es", "it", "pt")

SpellingRule: TypeAlias = Sequence[str]
_LONGEST_ENDING = 5


@dataclass(frozen=True, slots=True)
class _Language:
    """The rules of a language in ``data/morphology``.

    Attributes:
        lemma_endings: endings of nouns and adjectives.
        plurals: patterns of word endings with their replacements; the first that fits is used.
        feminines: the same for feminine forms.
        articles: definite and indefinite articles, in the order of `_CELLS`.
        spellings: for each class of verbs, the end of a stem, its replacement, and a pattern of the
            endings before which it is replaced.
    """

    lemma_endings: Sequence[str]
    plurals: Sequence[tuple[re.Pattern[str], str]]
    feminines: Sequence[tuple[re.Pattern[str], str]]
    articles: Mapping[str, Sequence[str]]
    spellings: Mapping[str, Sequence[SpellingRule]]


@functools.cache
def _of(language: str) -> _Language:
    content = tomllib.loads((DATA / f"{language}.toml").read_text(encoding="utf-8"))
    compiled = {
        name: [(re.compile(pattern), replacement) for pattern, replacement in content[name]]
        for name in ("plurals", "feminines")
    }
    return _Language(**{**content, **compiled})


def decline(lemma: str, pos: str, language: str) -> tuple[WordReading, ...]:
    """The singular and plural of a noun, or the four forms of an adjective."""
    if not lemma:
        return ()
    feminine = _replaced(lemma, _of(language).feminines)
    forms = {
        "A:ms": lemma,
        "A:fs": feminine,
        "A:mp": plural(lemma, language),
        "A:fp": plural(feminine, language),
    }
    if pos == "NOUN":
        forms = {"N:s": lemma, "N:p": forms["A:mp"]}
    return tuple(_reading(form, lemma, tag) for tag, form in forms.items())


def plural(form: str, language: str) -> str:
    """The plural of a noun or adjective."""
    return _replaced(form, _of(language).plurals)


def possible_nominal_lemmas(form: str, language: str) -> Iterator[str]:
    """Words to which a form may belong by its ending; declining each must confirm it."""
    for cut in range(min(_LONGEST_ENDING, len(form) - 1) + 1):
        stem = form[: len(form) - cut]
        yield from (stem + ending for ending in _of(language).lemma_endings)


def _replaced(form: str, patterns: Sequence[tuple[re.Pattern[str], str]]) -> str:
    for pattern, replacement in patterns:
        if pattern.search(form):
            return pattern.sub(replacement, form, count=1)
    return form


PERSONS = ("1s", "2s", "3s", "1p", "2p", "3p")


@dataclass(frozen=True, slots=True)
class Conjugation:
    """The forms of a class of verbs, or of a single verb.

    Attributes:
        name: ending of its lemmas, or the lemma.
        whole: whether it is a single verb.
        rows: codes of tenses with their forms.
    """

    name: str
    whole: bool
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@functools.cache
def verbs_of(language: str) -> tuple[Conjugation, ...]:
    """The single verbs and then the classes of a language, in order of decreasing ending length."""
    lines = (DATA / f"{language}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    cells = (line.split("\t") for line in lines)
    rows = grouped((name, (code, tuple(forms.split()))) for name, code, forms in cells)
    verbs = [
        Conjugation(name.removeprefix("-"), not name.startswith("-"), tuple(forms))
        for name, forms in rows.items()
    ]
    return tuple(sorted(verbs, key=lambda verb: (not verb.whole, -len(verb.name))))


@functools.lru_cache(maxsize=4096)
def conjugate(lemma: str, language: str) -> tuple[WordReading, ...]:
    """All forms of a verb; empty if no class fits the lemma."""
    verb = next((v for v in verbs_of(language) if _fits(lemma, v)), None)
    if verb is None:
        return ()
    stem = "" if verb.whole else lemma.removesuffix(verb.name)
    spellings = () if verb.whole else _of(language).spellings.get(verb.name, ())
    readings: dict[WordReading, None] = {}
    for code, forms in verb.rows:
        for form, tag in _tagged(code, forms):
            word = respelled(stem, form, spellings)
            words = _in_gender(word, language) if code == "K" else {"": word}
            for more, spelled in words.items():
                readings.setdefault(_reading(spelled, lemma, tag + more))
    return tuple(readings)


def possible_verb_lemmas(form: str, language: str) -> Iterator[str]:
    """Lemmas to which a form may belong by its ending; conjugating each must confirm it."""
    for verb in verbs_of(language):
        for ending in _endings(verb, language):
            if verb.whole and form == ending:
                yield verb.name
            if verb.whole or not form.endswith(ending) or len(form) == len(ending):
                continue
            stem = form.removesuffix(ending)
            yield stem + verb.name
            for written, changed, _ in _of(language).spellings.get(verb.name, ()):
                if stem.endswith(changed):
                    yield stem[: len(stem) - len(changed)] + written + verb.name


def respelled(stem: str, ending: str, spellings: Sequence[SpellingRule]) -> str:
    """Stem and ending joined, spelled as the sounds require; the longest change wins."""
    fitting = [
        (written, changed)
        for written, changed, before in spellings
        if stem.endswith(written) and re.match(before, ending)
    ]
    if not fitting:
        return stem + ending
    written, changed = max(fitting, key=lambda pair: len(pair[0]))
    return stem[: len(stem) - len(written)] + changed + ending


def _fits(lemma: str, verb: Conjugation) -> bool:
    if verb.whole:
        return lemma == verb.name
    return lemma.endswith(verb.name) and len(lemma) > len(verb.name)


def _tagged(code: str, forms: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each form with its tag; the first of several infinitives is also the impersonal one."""
    if len(forms) == 1:
        yield forms[0], f"V:{code}"
        return
    if code == "W":
        yield forms[0], "V:W"
    for form, person in zip(forms, PERSONS, strict=True):
        if form != "-":
            yield form, f"V:{code}{person}"


@functools.lru_cache
def _endings(verb: Conjugation, language: str) -> frozenset[str]:
    """The endings of a class, or the forms of a single verb, including all participle forms."""
    written = {form for _, forms in verb.rows for form in forms if form != "-"}
    participles = [forms[0] for code, forms in verb.rows if code == "K"]
    return frozenset(
        written.union(*(_in_gender(participle, language).values() for participle in participles))
    )


def _in_gender(masculine: str, language: str) -> dict[str, str]:
    """The four forms of a participle in -o, by gender and number."""
    stem = masculine[:-1]
    endings = ("o", "a", "i", "e") if language == "it" else ("o", "a", "os", "as")
    return {code: stem + end for code, end in zip(("ms", "fs", "mp", "fp"), endings, strict=True)}


def _reading(form: str, lemma: str, tag: str) -> WordReading:
    pos, features = from_delaf(tag)
    return WordReading(form, lemma, pos, format_features(features), tag, guessed=True)


@functools.cache
def listed_words(language: str) -> Mapping[str, tuple[WordReading, ...]]:
    """The listed forms of a language with their readings; none where it has no list."""
    path = DATA / f"{language}-words.tsv"
    readings: dict[str, list[WordReading]] = {}
    lines = path.read_text(encoding="utf-8").splitlines()[1:] if path.exists() else []
    for line in lines:
        lemma, pos, feats, written = line.split("\t")
        forms = written.split()
        plain = feats.removesuffix(_FOUR_FORMS).rstrip("|")
        cells = [""] * len(forms) if plain == feats else _FOUR
        for form, cell in zip(forms, cells, strict=True):
            features = parse_features("|".join(filter(None, (plain, cell))))
            reading = WordReading(form, lemma or form, pos, format_features(features), pos)
            readings.setdefault(form, []).append(reading)
    return {form: tuple(dict.fromkeys(some)) for form, some in readings.items()}


_FOUR_FORMS = "*"
_FOUR = (
    "Gender=Masc|Number=Sing", "Gender=Fem|Number=Sing",
    "Gender=Masc|Number=Plur", "Gender=Fem|Number=Plur",
)  # fmt: skip

Article: TypeAlias = Literal["definite", "indefinite"]

_CELLS = (("Masc", "Sing"), ("Fem", "Sing"), ("Masc", "Plur"), ("Fem", "Plur"))

_VOWEL = re.compile(r"[aeiouàèéìòùh]", re.IGNORECASE)
# lo and uno come before s with a consonant, z, gn, ps, pn, x, y and i with a vowel (Serianni,
# Grammatica italiana, IV.3).
_IMPURE = re.compile(r"s[^aeiouàèéìòùh]|z|gn|ps|pn|x|y|i[aeou]", re.IGNORECASE)
# Feminine nouns that begin with a stressed a take el and un in the singular (Nueva gramática de
# la lengua española, 14.2).
_STRESSED_A = frozenset(
    {"agua", "águila", "alma", "ala", "alba", "arma", "arpa", "área", "aula", "ave", "hada"}
    | {"hacha", "hambre", "habla"}
)


def with_article(form: str, features: Features, *, language: str, article: Article) -> str:
    """A form with its article.

    Args:
        form: a noun or adjective.
        features: its gender and number.
        language: ``pt``, ``it`` or ``es``.
        article: definite or indefinite.

    Raises:
        UsageError: there are no articles for the language, or gender or number is missing.
    """
    need_known(
        language, LANGUAGES, where="article", seen=f"there are none for the language {language!r}"
    )
    cell = (features.get("Gender", ""), features.get("Number", ""))
    if cell not in _CELLS:
        raise UsageError(
            where=f"article of {form!r}",
            seen="its gender or number is not known",
            todo="Give Gender and Number.",
        )
    plain = _of(language).articles[article][_CELLS.index(cell)]
    if language == "it":
        plain = _italian(plain, form)
    elif language == "es" and cell == ("Fem", "Sing") and form.lower() in _STRESSED_A:
        plain = "el" if article == "definite" else "un"
    return plain + form if plain.endswith("'") else f"{plain} {form}"


def _italian(plain: str, form: str) -> str:
    """The article in the form that the beginning of the word requires."""
    if _IMPURE.match(form):
        return {"il": "lo", "i": "gli", "un": "uno", "dei": "degli"}.get(plain, plain)
    if _VOWEL.match(form):
        changed = {"il": "l'", "la": "l'", "i": "gli", "una": "un'", "dei": "degli"}
        return changed.get(plain, plain)
    return plain


_PARTS = ("NOUN", "ADJ", "VERB")
_OF_MANNER = "mente"
"""How adverbs of manner end in all three languages."""


class Rules:
    """The inflection rules of one language, as a `Morphology`.

    Args:
        language: ``pt``, ``it`` or ``es``.
        lemmas: existing lemmas by part of speech (NOUN, ADJ, VERB); None for any.

    Raises:
        UsageError: there are no rules for the language or the part of speech.
    """

    def __init__(
        self, language: str, *, lemmas: Mapping[str, Collection[str]] | None = None
    ) -> None:
        need_known(
            language,
            LANGUAGES,
            where="rules",
            seen=f"there are none for the language {language!r}",
            also=" Or give a DELAF or UniMorph file.",
        )
        for pos in lemmas or ():
            need_known(
                pos, _PARTS, where="rules", seen=f"there are none for the part of speech {pos!r}"
            )
        self.name = f"rules:{language}"
        self._language = language
        self._lemmas = lemmas

    def analyze(self, form: str) -> tuple[WordReading, ...]:
        """All readings of a form; see `Morphology`."""
        word = one_spelling(form).lower()
        if self._lemmas is not None:
            return self._forms.get(word, ())
        listed = listed_words(self._language).get(word, ())
        if any(reading.pos != "VERB" for reading in listed):
            # A function word is nothing else than what its list says.
            return listed
        guesses = (guess for guess in self._guesses(word) if guess.form == word)
        return tuple(dict.fromkeys((*listed, *guesses)))

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[WordReading, ...]:
        """All forms of a lemma with these features; see `Morphology`."""
        word = one_spelling(lemma).lower()
        parts = [
            part for part in _PARTS if self._lemmas is None or word in self._lemmas.get(part, ())
        ]
        forms = (reading for part in parts for reading in self._inflected(word, part))
        return chosen(forms, features, pos=pos)

    @functools.cached_property
    def _forms(self) -> dict[str, tuple[WordReading, ...]]:
        """The readings of every form of the existing lemmas."""
        forms: dict[str, tuple[WordReading, ...]] = {}
        for pos, lemmas in (self._lemmas or {}).items():
            for lemma in lemmas:
                for reading in self._inflected(one_spelling(lemma).lower(), pos):
                    forms[reading.form] = (*forms.get(reading.form, ()), reading)
        return forms

    def _guesses(self, word: str) -> Iterator[WordReading]:
        for lemma in dict.fromkeys(possible_nominal_lemmas(word, self._language)):
            yield from self._inflected(lemma, "NOUN")
            yield from self._inflected(lemma, "ADJ")
        for lemma in dict.fromkeys(possible_verb_lemmas(word, self._language)):
            yield from self._inflected(lemma, "VERB")
        if word.endswith(_OF_MANNER) and len(word) > len(_OF_MANNER):
            yield WordReading(word, word, "ADV", "", "ADV", guessed=True)

    def _inflected(self, lemma: str, pos: str) -> tuple[WordReading, ...]:
        if pos == "VERB":
            return conjugate(lemma, self._language)
        return decline(lemma, pos, self._language)
