"""Judging without the judge: the dictionary readings of candidates against simple expectations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cimento.cloze.judging.candidates import Candidate
from cimento.cloze.judging.expected import (
    Expectation,
    compare_judgments,
    judge_expected,
    parse_expectation,
)
from cimento.cloze.judging.precision import micro
from cimento.cloze.readers.portuguese import Instance
from cimento.morphology.delaf_tags import from_delaf
from cimento.morphology.model import Reading, format_features
from cimento.studies.portuguese.data import Row, StudyData
from cimento.studies.portuguese.grammar import Json

DIMENSIONS = (
    "connectors", "impersonal_verbs", "nominal_agreement", "passive", "verb_agreement",
)  # fmt: skip
NO_READING = frozenset({"OOD", "bert_tk"})
"""Tags of the released table for what the dictionary does not have, and for pieces of words."""

_GENDERS = {"f": "Fem", "m": "Masc"}
_NUMBERS = {"sg": "Sing", "pl": "Plur"}
_PERSONS: Mapping[str, tuple[str, str]] = {
    "eu": ("1", "Sing"),
    "tu": ("2", "Sing"),
    **dict.fromkeys(("você", "ele", "ela", "o", "a"), ("3", "Sing")),
    "nós": ("1", "Plur"),
    "vós": ("2", "Plur"),
    **dict.fromkeys(("vocês", "eles", "elas", "os", "as"), ("3", "Plur")),
}
"""The first word of a seed, a pronoun or an article, to the person and number of its verb."""

_VERB_GROUPS: Mapping[str, Sequence[str]] = {
    "1": ("Mood=Ind|Tense=Past", "Mood=Ind|Tense=Imp", "Mood=Ind|Tense=Pqp"),
    "2": ("Mood=Ind|Tense=Pres", "Mood=Ind|Tense=Fut"),
    "3": ("VerbForm=Inf",),
    "4": ("VerbForm=Ger",),
    "5": ("Mood=Sub|Tense=Pres",),
    "6": ("Mood=Sub|Tense=Imp",),
    "7": ("Mood=Sub|Tense=Fut",),
}
"""The group of a template of verb agreement to the forms that it expects."""

_NOT_FINITE = ("3", "4")


def automatic_evaluation(data: StudyData) -> Json:
    """Judgments by expectation beside the linguist's, on the release, for each test of grammar.

    The test of subject agreement is left out: a subject can be anything, or nothing.
    """
    found: Json = {}
    for dimension in DIMENSIONS:
        rows = [row for row in data.release if row.column("dimension") == dimension]
        wanted = {
            each.item.id: expectation_of(each)
            for each in data.instances
            if each.item.columns["dimension"] == dimension
        }
        found[dimension] = _compared(rows, wanted)
    return found


def expectation_of(instance: Instance) -> Expectation:
    """What an instance expects, by its test and its labels."""
    columns = instance.item.columns
    dimension = columns["dimension"]
    if dimension == "connectors":
        return parse_expectation("CONJ or ADV")
    if dimension == "impersonal_verbs":
        return parse_expectation("not NOUN or PROPN or PRON or VERB or ADJ")
    if dimension == "verb_agreement":
        return _verb(columns["group"], columns["seed"])
    gender, _, number = (instance.case or "").partition("_")
    features = f"Gender={_GENDERS[gender]}|Number={_NUMBERS[number]}"
    participle = f"VERB VerbForm=Part|{features}"
    return parse_expectation(
        participle if dimension == "passive" else f"ADJ {features} or {participle}"
    )


def _verb(group: str, seed: str) -> Expectation:
    forms = _VERB_GROUPS[group]
    if group not in _NOT_FINITE:
        person, number = _PERSONS[seed.split(" ", maxsplit=1)[0].lower()]
        forms = [f"{form}|Person={person}|Number={number}" for form in forms]
    return parse_expectation(" or ".join(f"VERB {form}" for form in forms))


def readings(candidate: Candidate) -> list[Reading]:
    """The readings that the released tags of a candidate say it has."""
    found = []
    for tag in candidate.tags:
        if tag not in NO_READING:
            pos, features = from_delaf(tag)
            found.append(Reading(candidate.text, "", pos, format_features(features), tag))
    return found


def _compared(rows: Sequence[Row], wanted: Mapping[str, Expectation]) -> Json:
    person = [row.candidate for row in rows if row.candidate.fits is not None]
    rule = judge_expected(person, wanted, readings)
    compared = compare_judgments(rule, person)
    return {
        "n": compared.n,
        "both": compared.both,
        "auto_only": compared.rule_only,
        "manual_only": compared.person_only,
        "neither": compared.neither,
        "agreement": compared.agreement.percent,
        "kappa": None if compared.kappa.value is None else round(compared.kappa.value, 4),
        "auto_p10": micro(rule).percent,
        "auto_p1": micro(each for each in rule if each.rank == 1).percent,
    }
