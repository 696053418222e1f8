"""Other forms of a word: from a dictionary, or from the treebanks that are searched.

A form is used only if it is the only one, and if neither it nor the form in the sentence can be
read both ways; every other word is left out with its reason. The method is that of MultiBLiMP
(Jumelet, Weissweiler, Nivre and Bisazza 2025, arXiv:2504.02768).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from cimento.corpus import TreebankSentence, Word
from cimento.corpus.morphology import Features, Morphology, WordReading, chosen
from cimento.corpus.morphology.rules import Rules
from cimento.corpus.queries import TreebankIndex
from cimento.suites.letters import one_spelling

UNKNOWN = "no dictionary knows the lemma"
OTHER_READING = "no dictionary has the form with these features"
NO_OTHER = "there is no other form"
SEVERAL = "there is more than one other form"
AMBIGUOUS = "a form is ambiguous"

UNINFLECTED = frozenset({"ADP", "ADV", "CCONJ", "INTJ", "PART", "SCONJ"})

_KEPT = frozenset(
    {"VerbForm", "Mood", "Tense", "Person", "Gender", "Number", "Degree", "Case", "Aspect"}
)
_AGREEING = frozenset({"Number", "Gender", "Person", "Case"})
_OPTIONAL = frozenset({"Gender", "Person", "Animacy"})
"""Features that one number or tense may have and another lack, as in Russian."""

_ONSET = 2
_SHARE = 0.02


class TreebankMorphology:
    """The forms that treebanks themselves have of each lemma, as a `Morphology`.

    A reading that fewer than two in a hundred occurrences of its form have, and a form that fewer
    than two in a hundred words with its lemma and features have, are taken for errors.

    Args:
        index: the treebanks.
        name: in messages and manifests.
    """

    def __init__(self, index: TreebankIndex, *, name: str = "treebank") -> None:
        self.name = name
        columns = [index.column(name) for name in ("form", "lemma", "upos", "feats")]
        rows, counts = np.unique(
            np.stack([column.codes for column in columns]), axis=1, return_counts=True
        )
        readings = Counter[WordReading]()
        for codes, count in zip(rows.T.tolist(), counts.tolist(), strict=True):
            form, lemma, upos, feats = (
                column.values[code] for column, code in zip(columns, codes, strict=True)
            )
            readings[WordReading(form.lower(), lemma, upos, feats, tag="")] += count
        of_form, of_cell = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
        for reading, count in readings.items():
            of_form[reading.form, reading.pos] += count
            of_cell[reading.lemma, reading.pos, reading.feats] += count
        self._forms: dict[str, list[WordReading]] = defaultdict(list)
        self._lemmas: dict[str, list[WordReading]] = defaultdict(list)
        for reading, count in readings.items():
            if count >= _SHARE * of_form[reading.form, reading.pos]:
                self._forms[_key(reading.form)].append(reading)
                if count >= _SHARE * of_cell[reading.lemma, reading.pos, reading.feats]:
                    self._lemmas[_key(reading.lemma)].append(reading)

    def analyze(self, form: str) -> tuple[WordReading, ...]:
        """All readings of a form; see `Morphology`."""
        return tuple(self._forms.get(_key(form), ()))

    def inflect(
        self, lemma: str, features: Features | None = None, *, pos: str = ""
    ) -> tuple[WordReading, ...]:
        """All forms of a lemma with these features; see `Morphology`."""
        return chosen(self._lemmas.get(_key(lemma), ()), features, pos=pos)


def _key(word: str) -> str:
    """A form or lemma as words are looked up: in one spelling and lower case."""
    return one_spelling(word).lower()


def other_forms(
    word: Word,
    changes: Features,
    sources: Sequence[Morphology],
    *,
    lemma: str = "",
    beside: Features | None = None,
) -> set[str] | str:
    """The forms of a word with other features or of another lemma, or why there are none.

    Args:
        word: a word of a treebank.
        changes: the new values of features.
        sources: dictionaries; the first that knows the lemma and the form decides.
        lemma: another lemma; empty for that of the word.
        beside: features of the word that it depends on or agrees with, for what the word itself
            lacks: the gender of a Russian plural that becomes singular.
    """
    if lemma and word.upos in UNINFLECTED:
        return {lemma.lower()}
    reason = UNKNOWN
    # What rules read into a form are guesses, which do not make it ambiguous.
    knowing = [source for source in sources if not isinstance(source, Rules)]
    for source in sources:
        forms = _of_source(word, changes, source, lemma=lemma, beside=beside or {})
        if not isinstance(forms, str):
            ambiguous = not lemma and any(
                _is_ambiguous(word, form, changes, other) for form in forms for other in knowing
            )
            return AMBIGUOUS if ambiguous else forms
        if forms == AMBIGUOUS:
            return forms
        reason = forms if reason == UNKNOWN else reason
    return reason


def _of_source(
    word: Word, changes: Features, source: Morphology, *, lemma: str, beside: Features
) -> set[str] | str:
    pos = dictionary_pos(word.upos, source)
    readings = source.inflect(word.lemma, pos=pos)
    inflected = [
        reading.features
        for reading in readings
        if _key(reading.form) == _key(word.form)
        and not _conflict(reading, _features(word), only=_KEPT)
    ]
    if not readings and not lemma:
        return UNKNOWN
    if lemma:
        readings = source.inflect(lemma, pos=pos)
        inflected = inflected or [_features(word)]
        if not readings:
            return UNKNOWN
    inflected = [features for features in inflected if changes.keys() <= features.keys()]
    if not inflected:
        return OTHER_READING
    wanted = [{**features, **changes} for features in inflected]
    fitting = [reading for reading in readings if any(_fits(reading, w, changes) for w in wanted)]
    kept = [reading for reading in fitting if not _conflict(reading, beside, only=_OPTIONAL)]
    forms = {reading.form.lower() for reading in kept or fitting}
    if not forms:
        return NO_OTHER
    is_same = _key(word.form) in map(_key, forms)
    return AMBIGUOUS if is_same and changes else forms


def _fits(reading: WordReading, wanted: Features, changes: Features) -> bool:
    """Whether a reading has the features, save for those that not every number or tense has."""
    features = reading.features
    optional = _KEPT if "VerbForm" in changes else _OPTIONAL
    return reading.has(changes) and all(
        wanted.get(name) == features.get(name)
        or (name in optional and (name not in features or name not in wanted))
        for name in wanted.keys() | features.keys()
    )


def _is_ambiguous(word: Word, form: str, changes: Features, source: Morphology) -> bool:
    """Whether the new form may have the old values, or the old form the new ones."""
    old = _features(word)
    values = {name: old.get(name, "") for name in changes}
    pos = dictionary_pos(word.upos, source)
    kept = _AGREEING - changes.keys()
    return any(
        not reading.guessed
        and reading.pos == pos
        and reading.has(features)
        and not _conflict(reading, old, only=kept)
        for spelling, features in ((form, values), (word.form, changes))
        for reading in source.analyze(spelling)
    )


def _conflict(reading: WordReading, features: Features, *, only: Collection[str]) -> bool:
    return any(
        name in only and features.get(name, value) != value
        for name, value in reading.features.items()
    )


def _features(word: Word) -> dict[str, str]:
    pairs = (part.partition("=") for part in word.feats.split("|"))
    return {name: value for name, equals, value in pairs if equals}


def dictionary_pos(upos: str, source: Morphology) -> str:
    """The part of speech by which a source knows words: dictionaries have no auxiliaries."""
    return "VERB" if upos == "AUX" and not isinstance(source, TreebankMorphology) else upos


class Contexts:
    """Where forms are in the treebanks: before which sounds, and in which contracted tokens.

    Args:
        index: the treebanks.
    """

    def __init__(self, index: TreebankIndex) -> None:
        self._onsets: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._contracted: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        forms, parts = index.column("form"), index.column("upos")
        codes, lower = forms.codes, [value.lower() for value in forms.values]
        rows = np.stack([codes[:-1], parts.codes[:-1], codes[1:]])
        unique, counts = np.unique(rows, axis=1, return_counts=True)
        for (one, upos, other), count in zip(unique.T.tolist(), counts.tolist(), strict=True):
            for size in range(1, _ONSET + 1):
                self._onsets[lower[one], parts.values[upos]][lower[other][:size]] += count
        for number, entry in enumerate(index.entries):
            start = int(index.starts[number])
            for token in entry.multiwords:
                places = range(start + token.first - 1, start + token.last)
                words = tuple(lower[codes[place]] for place in places)
                self._contracted[words][token.form.lower()] += 1

    def fitting(self, forms: Iterable[str], following: str, *, upos: str) -> str:
        """The only form that the treebanks have before such a word; empty if there is none.

        Args:
            forms: forms of one lemma with the same features, such as *i* and *gli*.
            following: the next word.
            upos: the part of speech of the forms.
        """
        candidates = sorted(forms)
        for size in range(_ONSET, 0, -1):
            onset = following.lower()[:size]
            attested = [form for form in candidates if self._onsets[form, upos][onset]]
            if len(attested) == 1:
                return attested[0]
        return ""

    def contracted(self, parts: Sequence[str]) -> str:
        """The token that words are usually written as, such as *dei*; empty if there is none."""
        usual = self._contracted.get(tuple(part.lower() for part in parts))
        return usual.most_common(1)[0][0] if usual else ""


AGREEING_RELATIONS = ("det", "amod", "acl", "aux", "cop")


def agreeing_words(
    sentence: TreebankSentence, word: Word, values: Mapping[str, str]
) -> Iterator[Word]:
    """The words that agree with a word inside its phrase, in features that it has.

    These are its determiners, adjectives, participles, auxiliaries and copula, and of an auxiliary
    or copula the word that it belongs to, with the others of its kind.

    Args:
        sentence: the sentence.
        word: a word of it.
        values: the features, with their values before the change.
    """
    center = sentence.head_of(word) if word.relation in ("aux", "cop") else None
    for other in sentence.words:
        if other.id == word.id or not all(other.feature(n) == v for n, v in values.items()):
            continue
        belongs = other.head == word.id and other.relation in AGREEING_RELATIONS
        if center is not None and (other.id == center.id or (
            other.head == center.id and other.relation in ("aux", "cop")
        )):  # fmt: skip
            belongs = True
        if belongs and not (other.relation == "acl" and other.feature("VerbForm") != "Part"):
            yield other
