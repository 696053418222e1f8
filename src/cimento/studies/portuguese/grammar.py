"""Tables 4 to 13: candidates that fit, judged by the linguist and by dictionary and rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, methodcaller
from typing import Any, Literal

from cimento.corpus.morphology import WordReading, format_features, from_delaf
from cimento.io.values import group_by
from cimento.paradigms.cloze.judgments import (
    Expectation,
    compare_judgments,
    expectations,
    judge_expected,
    parse_expectation,
)
from cimento.paradigms.cloze.portuguese import Instance
from cimento.paradigms.cloze.requests import Candidate
from cimento.paradigms.cloze.shares import Share, macro, micro, precision_interval
from cimento.statistics.design import Design
from cimento.statistics.intervals import Interval
from cimento.statistics.means import bounded_mean
from cimento.studies import printed_tables
from cimento.studies.portuguese.data import JudgedCandidate, State, StudyData

Json = dict[str, Any]
"""What is computed, as it is written: objects, lists, numbers and texts."""

Printed = Mapping[str, Sequence[float]]
"""Case to P@1 and P@10 in percent."""

PRINTED = printed_tables("portuguese")

DIMENSIONS: Mapping[str, str] = {
    "Nominal Agreement": "nominal_agreement",
    "Verb Agreement": "verb_agreement",
    "Subject Agreement": "subject_agreement",
    "Connectors": "connectors",
    "Impersonal Verbs": "impersonal_verbs",
    "Passive": "passive",
}
_GENDER_NUMBER = {
    "Feminine Singular": ("f_sg",),
    "Masculine Singular": ("m_sg",),
    "Feminine Plural": ("f_pl",),
    "Masculine Plural": ("m_pl",),
}
_PERSONS = {
    "First Person Singular": ("pron_eu",),
    "Second Person Singular": ("pron_tu",),
    "Third Person Singular": ("pron_ele",),
    "First Person Plural": ("pron_nos",),
    "Second Person Plural": ("pron_vos",),
    # The study's sheet labels third persons plural by their dictionary readings, tense by tense.
    "Third Person Plural": ("V:P3p", "V:I3p", "V:Q3p", "V:F3p", "V:C3p"),
}
_TENSES = {
    "Present Indicative": ("Indicativo presente",),
    "Past Indicative": ("Indicativo pretérito perfeito simples",),
    "Pluperfect Indicative": ("Indicativo Pretérito Mais que Perfeito Simples",),
    "Future Indicative": ("Indicativo Futuro do Presente Simples",),
    "Past Tense Future Indicative": ("Condicional Futuro do Pretérito Simples",),
    "Imperfect Indicative": ("Indicativo pretérito imperfeito",),
}
# What Table 5 calls the future subjunctive is the conditional (choveria).
_CONDITIONAL = "Past Tense Future Indicative"
_IMPERSONAL_TENSES = {
    case: tuple(
        f"{tense.split()[0]}/{tense}"
        for tense in _TENSES[_CONDITIONAL if case == "Future Subjunctive" else case]
    )
    for case in PRINTED["Table 5"]
}
_PRONOUNS = {case: tuple(case.lower().split("/")) for case in PRINTED["Table 10"]}


@dataclass(frozen=True, slots=True)
class GrammarTable:
    """How one of the tables is made.

    Attributes:
        number: of the table.
        title: what it is about.
        aggregation: ``micro`` pools candidates, ``macro`` is the mean over templates.
        note: the rule in words.
        dimension: the test whose candidates it is about; empty for all.
        key: what a row is grouped by; None leaves it out.
        cases: case to the values of the key that it pools.
    """

    number: int
    title: str
    aggregation: Literal["micro", "macro"]
    note: str
    dimension: str
    key: Callable[[JudgedCandidate], str | None]
    cases: Mapping[str, Sequence[str]]

    @property
    def printed(self) -> Printed:
        """Case to the paper's P@1 and P@10."""
        return PRINTED[f"Table {self.number}"]


_group = methodcaller("column", "group")
_case, _tense = attrgetter("instance.case"), attrgetter("instance.tense")


def _pronoun(row: JudgedCandidate) -> str | None:
    labeled = row.instance.case is not None and row.instance.case.startswith("pron_")
    return row.column("seed").lower() if labeled else None


TABLES: Mapping[int, GrammarTable] = {
    table.number: table
    for table in (
        GrammarTable(
            4, "Impersonal verbs: verb types", "macro",
            "Mean over templates, three of each type; the type is the template's group.",
            "impersonal_verbs", _group,
            {"Meteorological Verbs": ("1",), "Existential Verbs": ("2",)},
        ),
        GrammarTable(
            5, "Impersonal verbs: tense and mode", "micro",
            "By the seed's category; what the paper calls future subjunctive is the conditional.",
            "impersonal_verbs", _tense, _IMPERSONAL_TENSES,
        ),
        GrammarTable(
            6, "Subject agreement: expected person and number", "micro",
            "By the labels of the study's sheet, which are wrong for some forms; see `person`.",
            "subject_agreement", _case, _PERSONS,
        ),
        GrammarTable(
            7, "Subject agreement: tense and mode", "micro",
            "By the seed's category without number; a form in two categories counts in the last.",
            "subject_agreement", _tense, _TENSES,
        ),
        GrammarTable(
            8, "Nominal agreement: gender and number", "micro",
            "By the seed's gender and number; a candidate that was not judged is left out.",
            "nominal_agreement", _case, _GENDER_NUMBER,
        ),
        GrammarTable(
            9, "Verb agreement: expected tense and mode", "macro",
            "Mean over templates; the expected form is the template's group.",
            "verb_agreement", _group,
            {case: (str(number),) for number, case in enumerate(PRINTED["Table 9"], start=1)},
        ),
        GrammarTable(
            10, "Verb agreement: pronouns", "micro",
            "Instances whose seed is the pronoun and whose label begins with pron_.",
            "verb_agreement", _pronoun, _PRONOUNS,
        ),
        GrammarTable(
            11, "Connectors", "micro",
            "The released data have three sentences for each connector, the paper says five.",
            "connectors", lambda row: row.column("group").lower(),
            {case: (case.lower(),) for case in PRINTED["Table 11"]},
        ),
        GrammarTable(
            12, "Passive: gender and number", "micro",
            "By the gender and number of the subject; see `clusters` for shared base sentences.",
            "passive", _case, _GENDER_NUMBER,
        ),
        GrammarTable(
            13, "The six tests of grammar", "macro",
            "Mean over the templates of a test; `micro` has the pooled shares.",
            "", methodcaller("column", "dimension"),
            {case: (dimension,) for case, dimension in DIMENSIONS.items()},
        ),
    )
}  # fmt: skip


def grammar_table(data: StudyData, number: int, states: Sequence[State]) -> Json:
    """One of Tables 4 to 13, computed on some states of the data beside what is printed.

    Args:
        data: the released files.
        number: of the table.
        states: ``snapshot``, ``release`` or both.
    """
    table = TABLES[number]
    groups = {state: rows_by_case(table, data.rows(state)) for state in states}
    cells: list[Json] = []
    for case, (p1, p10) in table.printed.items():
        cell: Json = {"case": case, "paper": {"p1": p1, "p10": p10}}
        for state in states:
            cell[state] = precisions(groups[state][case], table.aggregation)
        for state in states:
            shares = cell[state]
            equal = [shares["p1"]["pct"] == p1, shares["p10"]["pct"] == p10]
            cell[f"{state}_equals_paper"] = equal
        cells.append(cell)
    result: Json = {
        "table": number,
        "title": table.title,
        "aggregation": table.aggregation,
        "note": table.note,
        "cells": cells,
        "intervals": [
            {
                "case": case,
                **{state: intervals(groups[state][case], table.aggregation) for state in states},
            }
            for case in table.printed
        ],
    }
    if not table.dimension:
        result["micro"] = {
            case: {state: precisions(groups[state][case]) for state in states}
            for case in table.cases
        }
    return result


def share_json(share: Share) -> Json:
    """A share with its counts and its rounded percentage."""
    return {"correct": share.correct, "n": share.n, "pct": share.percent}


def rows_by_case(
    table: GrammarTable, rows: Sequence[JudgedCandidate]
) -> dict[str, list[JudgedCandidate]]:
    """The rows of each case of a table."""
    case_of = {value: case for case, values in table.cases.items() for value in values}
    by_case: dict[str, list[JudgedCandidate]] = {case: [] for case in table.cases}
    for row in rows:
        if table.dimension and row.column("dimension") != table.dimension:
            continue
        case = case_of.get(table.key(row) or "")
        if case is not None:
            by_case[case].append(row)
    return by_case


def precisions(rows: Sequence[JudgedCandidate], aggregation: str = "micro") -> Json:
    """P@1 and P@10 of rows, pooled (``micro``) or as a mean over templates (``macro``)."""
    return {
        "p1": _precision([row for row in rows if row.first], aggregation),
        "p10": _precision(rows, aggregation),
    }


def _precision(rows: Sequence[JudgedCandidate], aggregation: str) -> Json:
    if aggregation == "micro":
        return share_json(micro(row.candidate for row in rows))
    mean = macro(_shares(rows))
    return {"templates": mean.groups, "value": mean.value, "pct": mean.percent}


def weights_of(rows: Sequence[JudgedCandidate], aggregation: str) -> list[float]:
    """What each candidate counts in a rate, together one: pooled, or as a mean over templates."""
    if aggregation == "micro":
        return [1 / len(rows) for _ in rows]
    templates = [row.column("template") for row in rows]
    sizes = Counter(templates)
    return [1 / (len(sizes) * sizes[template]) for template in templates]


def intervals(rows: Sequence[JudgedCandidate], aggregation: str) -> Json:
    """The intervals of `precisions`, in percent."""
    return {
        "p1": _interval([row for row in rows if row.first], aggregation),
        "p10": _interval(rows, aggregation),
    }


def _interval(rows: Sequence[JudgedCandidate], aggregation: str) -> Json:
    """What the templates of a case, whose sentences belong together, say of others like them."""
    if aggregation == "micro":
        return pooled_interval(rows)
    shares = [share.value for share in _shares(rows) if share.value is not None]
    return interval_json(bounded_mean(shares, Design.independent(len(shares)), seed=0))


def pooled_interval(rows: Sequence[JudgedCandidate]) -> Json:
    """The interval of the pooled proportion of some rows, whose templates belong together."""
    template = {row.candidate.item: row.column("template") for row in rows}
    candidates = [row.candidate for row in rows]
    return interval_json(precision_interval(candidates, lambda candidate: template[candidate.item]))


def interval_json(interval: Interval) -> Json:
    """An interval in percent with two decimals, or why there is none."""
    low, high = (
        None if end is None else round(100 * end, 2) for end in (interval.low, interval.high)
    )
    return {"low": low, "high": high, "method": interval.method, "reason": interval.reason}


def by_template(rows: Iterable[JudgedCandidate]) -> dict[str, list[JudgedCandidate]]:
    """The rows of each template."""
    return group_by(rows, lambda row: row.column("template"))


def _shares(rows: Sequence[JudgedCandidate]) -> list[Share]:
    """The proportion of each template."""
    return [micro(row.candidate for row in group) for group in by_template(rows).values()]


JUDGED_BY_RULE = (
    "connectors", "impersonal_verbs", "nominal_agreement", "passive", "verb_agreement",
)  # fmt: skip
NO_READING = frozenset({"OOD", "bert_tk"})
"""Tags of the released table for what the dictionary does not have, and for pieces of words."""

PUNCTUATION_TAG = "punct"

_GENDERS = {"f": "Fem", "m": "Masc"}
_NUMBERS = {"sg": "Sing", "pl": "Plur"}
_PERSON_OF: Mapping[str, tuple[str, str]] = {
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
    result: Json = {}
    for dimension in JUDGED_BY_RULE:
        rows = [row for row in data.release if row.column("dimension") == dimension]
        wanted = {
            instance.item.id: expectation_of(instance)
            for instance in data.instances
            if instance.item.columns["dimension"] == dimension
        }
        result[dimension] = _compared(rows, wanted)
    return result


def expectation_of(instance: Instance) -> Expectation:
    """What an instance expects, by its test and its labels."""
    columns = instance.item.columns
    dimension = columns["dimension"]
    if dimension == "connectors":
        return parse_expectation("CONJ or CCONJ or SCONJ or ADV")
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


def instance_expectations(instances: Collection[Instance]) -> dict[str, Expectation]:
    """What instances expect: what they say themselves, else what their test and labels say."""
    expected = expectations({instance.item.id: instance.item.columns for instance in instances})
    for instance in instances:
        dimension = instance.item.columns["dimension"]
        needs_label = dimension in ("nominal_agreement", "passive")
        has_rule = dimension in JUDGED_BY_RULE and (instance.case or not needs_label)
        if instance.item.id not in expected and has_rule:
            expected[instance.item.id] = expectation_of(instance)
    return expected


def _verb(group: str, seed: str) -> Expectation:
    forms = _VERB_GROUPS[group]
    if group not in _NOT_FINITE:
        person, number = _PERSON_OF[seed.split(" ", maxsplit=1)[0].lower()]
        forms = [f"{form}|Person={person}|Number={number}" for form in forms]
    return parse_expectation(" or ".join(f"VERB {form}" for form in forms))


def readings(candidate: Candidate) -> list[WordReading]:
    """The readings that the released tags of a candidate say it has."""
    word_readings = []
    for tag in candidate.tags:
        if tag == PUNCTUATION_TAG:
            word_readings.append(WordReading(candidate.text, "", "PUNCT", "", tag))
        elif tag not in NO_READING:
            pos, features = from_delaf(tag)
            word_readings.append(
                WordReading(candidate.text, "", pos, format_features(features), tag)
            )
    return word_readings


def _compared(rows: Sequence[JudgedCandidate], wanted: Mapping[str, Expectation]) -> Json:
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
        "auto_p1": micro(candidate for candidate in rule if candidate.rank == 1).percent,
    }
