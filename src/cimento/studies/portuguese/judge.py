"""What a dictionary can say of a candidate: that it fits, that it does not, or nothing.

Agreement is a matter of forms, and is decided: of adjectives and participles by gender and number,
of verbs by tense, person and number, of subjects by person and number. Where a word of another kind
would fit as well, the dictionary leaves it open: a verb that agrees in another tense, an adjective
in the place of a participle, an adverb before a weather verb, and every connector but the original.
How often it is right is measured in `cimento.studies.portuguese.accuracy`.

The rules were written with the linguist's judgments at hand; other sentences may be judged worse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cimento.corpus.morphology import WordReading
from cimento.paradigms.cloze.judgments import PIECE, Expectation, ReadingKind
from cimento.paradigms.cloze.portuguese import Instance
from cimento.paradigms.cloze.requests import Candidate

Readings = Callable[[Candidate], Sequence[WordReading]]

_NOUNS = frozenset({"NOUN", "PROPN", "NUM"})
_DETERMINERS = frozenset({"DET", "PRON"})
_NOT_INFLECTED = frozenset({"ADV", "CONJ", "CCONJ", "SCONJ"})
_OF_ONE_FORM = frozenset({"Inf", "Ger"})
PUNCTUATION = "PUNCT"
_WITH_THIRD_PERSON = frozenset({"você", "vocês"})
"""Pronouns that dictionaries call second person, as they are meant; their verb is of the third."""

CERTAIN = frozenset({"connectors"})
"""Tests in which what is decided needs no dictionary: the original connector, or no whole word."""

_UNKNOWN_TOKENS = frozenset({"[UNK]", "<unk>"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """A candidate to be judged, with all that is known of its place.

    Attributes:
        instance: that it is a candidate for.
        text: as the model wrote it.
        readings: in the dictionary.
        expected: what the instance says that it expects; None where it says nothing.
        persons: person and number of the verb that is given, all readings.
    """

    instance: Instance
    text: str
    readings: Sequence[WordReading]
    expected: Expectation | None
    persons: frozenset[tuple[str, str]]

    @property
    def classes(self) -> frozenset[str]:
        """The parts of speech that it may have."""
        return frozenset(reading.pos for reading in self.readings)


def dictionary_verdict(
    instance: Instance, candidate: Candidate, expected: Expectation | None, readings: Readings
) -> bool | None:
    """Whether a candidate fits, as far as a dictionary can tell.

    Args:
        instance: of one of the six tests.
        candidate: for it.
        expected: what the instance expects; None where it says nothing.
        readings: of words in the dictionary.

    Returns:
        None where the dictionary does not know the word, or cannot decide.
    """
    if not is_whole_word(candidate):
        return False
    dimension = instance.item.columns["dimension"]
    # A connector is compared with the original, which needs no dictionary.
    found = readings(candidate)
    if not found and dimension != "connectors":
        return None
    is_subject = dimension == "subject_agreement"
    persons = persons_of(instance, readings) if is_subject else frozenset()
    return _RULES[dimension](_Asked(instance, candidate.text.strip(), found, expected, persons))


def is_whole_word(candidate: Candidate) -> bool:
    """Whether a candidate is a word or a mark, not a piece of one, and not the unknown token."""
    text = candidate.text.strip()
    is_piece = text.startswith(PIECE) or candidate.kind == "piece"
    return bool(text) and not is_piece and text not in _UNKNOWN_TOKENS


def persons_of(instance: Instance, readings: Readings) -> frozenset[tuple[str, str]]:
    """Person and number of the finite verb that an instance gives as its seed."""
    words = instance.item.columns["seed"].split()
    found = readings(Candidate(instance.item.id, 1, words[-1])) if words else ()
    features = [reading.features for reading in found if reading.pos == "VERB"]
    return frozenset(
        (values["Person"], values["Number"])
        for values in features
        if values.get("VerbForm") == "Fin" and values.get("Mood") != "Imp"
        if "Person" in values and "Number" in values
    )


def _nominal(one: _Asked) -> bool | None:
    """An adjective or participle that agrees; *dela* and *ali* may be in its place."""
    if one.expected is None:
        return None
    if one.expected.met_by(one.readings):
        return True
    if one.classes & {"ADJ", "VERB"}:
        return False
    return None if one.classes & {"ADP", "ADV"} else False


def _passive(one: _Asked) -> bool | None:
    """A participle that agrees; another predicate, *necessário*, may be in its place."""
    if one.expected is None:
        return None
    if one.expected.met_by(one.readings):
        return True
    if any(reading.features.get("VerbForm") == "Part" for reading in one.readings):
        return False
    wanted = {
        name: value
        for name, value in one.expected.alternatives[-1].features.items()
        if name in ("Gender", "Number")
    }
    agreeing = ReadingKind("ADJ", wanted)
    if any(agreeing.matches(reading) for reading in one.readings):
        return None
    return None if one.classes & (_NOT_INFLECTED | _NOUNS | _DETERMINERS) else False


def _verb(one: _Asked) -> bool | None:
    """A verb that agrees in the form that is expected; if it agrees in another, who knows."""
    if one.expected is None:
        return None
    if one.expected.met_by(one.readings):
        return True
    verbs = [reading.features for reading in one.readings if reading.pos == "VERB"]
    if not verbs:
        return None
    wanted = {
        (kind.features.get("Person"), kind.features.get("Number"))
        for kind in one.expected.alternatives
    }
    if any(kind.features.get("VerbForm") in _OF_ONE_FORM for kind in one.expected.alternatives):
        return None
    agrees = any((verb.get("Person"), verb.get("Number")) in wanted for verb in verbs)
    return None if agrees else False


def _subject(one: _Asked) -> bool | None:
    """A pronoun or noun of the verb's person and number; without one, the subject is hidden."""
    if not one.persons:
        return None
    named = [reading.features for reading in one.readings if reading.features.get("Case") == "Nom"]
    if named:
        if one.text.lower() in _WITH_THIRD_PERSON:
            named = [{**features, "Person": "3"} for features in named]
        return any(_agrees(features, one.persons) for features in named)
    if one.classes & (_NOT_INFLECTED | {PUNCTUATION}):
        return True
    if "ADP" in one.classes:
        return None
    third = {number for person, number in one.persons if person == "3"}
    nominal = [reading for reading in one.readings if reading.pos in _NOUNS | _DETERMINERS]
    if any(reading.features.get("Number") in {None, *third} for reading in nominal) and third:
        return True
    return None if one.classes & _DETERMINERS else False


def _agrees(features: dict[str, str], persons: frozenset[tuple[str, str]]) -> bool:
    """Whether a pronoun is of one of some persons."""
    return any(
        features.get("Person", "3") == person and features.get("Number", number) == number
        for person, number in persons
    )


def _connector(one: _Asked) -> bool | None:
    """The original connector fits; of another, its meaning decides."""
    columns = one.instance.item.columns
    return True if one.text.lower() == columns["group"].lower() else None


def _impersonal(one: _Asked) -> bool | None:
    """Nothing but punctuation or an adverb comes before a verb without a subject."""
    if PUNCTUATION in one.classes:
        return True
    return None if one.classes & _NOT_INFLECTED else False


_RULES: dict[str, Callable[[_Asked], bool | None]] = {
    "nominal_agreement": _nominal,
    "passive": _passive,
    "verb_agreement": _verb,
    "subject_agreement": _subject,
    "connectors": _connector,
    "impersonal_verbs": _impersonal,
}
