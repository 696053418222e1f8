"""Wilkens, Zilio and Villavicencio 2023 (doi:10.1007/s10579-023-09664-1): all that is printed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cimento.errors import UsageError, need_known
from cimento.io.values import group_by
from cimento.paradigms.cloze.detecting import MULTIWORD, SHEET, SYNTACTIC
from cimento.paradigms.cloze.portuguese import RECORDED_MODEL, SNAPSHOT, Instance
from cimento.paradigms.cloze.shares import (
    accuracy_at,
    clustering,
    exact_percent,
    micro,
    not_expected,
)
from cimento.statistics.differences import MCNEMAR
from cimento.studies import equals_printed
from cimento.studies.portuguese.data import WHERE, JudgedCandidate, State, StudyData
from cimento.studies.portuguese.grammar import (
    DIMENSIONS,
    PRINTED,
    TABLES,
    Json,
    automatic_evaluation,
    by_template,
    grammar_table,
    pooled_interval,
    precisions,
    share_json,
)
from cimento.studies.portuguese.multiword import (
    BASE,
    LARGE,
    TOP,
    WORDS,
    count_pair,
    hits_at_k,
    hits_per_expression,
    mcnemar_tests,
    ranks_of,
    table_1,
    table_2,
    table_3,
)
from cimento.suites import JsonValue

OUT_OF_DICTIONARY = "OOD"

# The notebook's profiles are of the last category that its loop came to. Categories are released
# in alphabetical order, which is the loop's order in all templates but this one.
_LAST_CATEGORY = {"concordância nominal_1d": "pl"}


def per_template(data: StudyData) -> Json:
    """P@1 and P@10 of each template, on the release."""
    return {name: precisions(rows) for name, rows in by_template(data.release).items()}


def _mean_probabilities(data: StudyData) -> Json:
    """The mean probability of candidates that fit and of those that do not, by template."""
    return {
        name: {
            "mean_score_s": _mean_probability(rows, fits=True),
            "mean_score_n": _mean_probability(rows, fits=False),
        }
        for name, rows in by_template(data.release).items()
    }


def profiles(data: StudyData) -> Json:
    """How often each dictionary tag occurs among the candidates of a template's last category."""
    counted: list[Json] = []
    templates = by_template(data.release)
    for template in data.templates:
        category = _LAST_CATEGORY.get(template.id, template.seeds[-1].category)
        rows = [
            row for row in templates.get(template.id, []) if category in row.instance.categories
        ]
        tags = Counter(tag for row in rows for tag in row.candidate.tags)
        unknown = sorted(
            {row.candidate.text for row in rows if OUT_OF_DICTIONARY in row.candidate.tags}
        )
        counted.append(
            {
                "template": template.id,
                "category": category,
                "tags": dict(tags.most_common()),
                "ood": [*unknown],
            }
        )
    return {RECORDED_MODEL: counted}


def by_person(data: StudyData) -> Json:
    """Subject agreement by the persons that the verb forms really have, on the release."""
    return {
        "note": "Release, pooled. A form that is first and third person has a class of its own.",
        "person": _by_reading(data, lambda reading: reading.partition(".")[2]),
    }


def by_tense(data: StudyData) -> Json:
    """Subject agreement by the tenses that the verb forms really have, on the release."""
    return {
        "note": "Release, pooled. A form that belongs to two tenses has a class of its own.",
        "tense": _by_reading(data, lambda reading: reading.partition(".")[0]),
    }


def clusters(data: StudyData) -> Json:
    """Base sentences that the cases of Tables 8 and 12 share, and intervals that respect them."""
    result: Json = {}
    for dimension in ("nominal_agreement", "passive"):
        rows = [row for row in data.release if row.column("dimension") == dimension]
        cases = group_by(rows, lambda row: row.instance.case)
        result[dimension] = {case: _clustered(some) for case, some in cases.items() if case}
    return result


def _clustered(rows: Sequence[JudgedCandidate]) -> Json:
    first = [row for row in rows if row.first]
    shared = clustering(row.column("template") for row in first)
    return {
        "instances": shared.items,
        "base_sentences": shared.clusters,
        "largest": shared.largest,
        "in_largest": shared.in_largest,
        "p1": _with_interval(first),
        "p10": _with_interval(rows),
    }


def _with_interval(rows: Sequence[JudgedCandidate]) -> Json:
    return {**share_json(micro(row.candidate for row in rows)), **pooled_interval(rows)}


def dimension_rows(rows: Iterable[JudgedCandidate], case: str) -> list[JudgedCandidate]:
    """The rows of one of the six tests, by its name in Table 13."""
    return [row for row in rows if row.column("dimension") == DIMENSIONS[case]]


def _mean_probability(rows: Sequence[JudgedCandidate], *, fits: bool) -> float | None:
    scores = [
        row.candidate.probability
        for row in rows
        if row.candidate.fits is fits and row.candidate.probability is not None
    ]
    return math.fsum(scores) / len(scores) if scores else None


def _by_reading(data: StudyData, part: Callable[[str], str]) -> Json:
    def name_of(row: JudgedCandidate) -> str:
        return "/".join(sorted({part(reading) for reading in verb_readings(row.instance)}))

    classes = group_by(dimension_rows(data.release, "Subject Agreement"), name_of)
    return {name: precisions(classes[name]) for name in sorted(classes)}


_TENSES = {
    "Condicional Futuro do Pretérito Simples": "cond",
    "Indicativo Futuro do Presente Simples": "fut",
    "Indicativo Pretérito Mais que Perfeito Simples": "plup",
    "Indicativo presente": "pres",
    "Indicativo pretérito imperfeito": "impf",
    "Indicativo pretérito perfeito simples": "perf",
}
_PERSONS: Mapping[str, Sequence[tuple[str, str]]] = {
    "": (("mos", "1pl"),),
    "perf": (
        ("stes", "2pl"), ("ste", "2sg"), ("ram", "3pl"), ("ou", "3sg"), ("iu", "3sg"),
        ("eve", "3sg"), ("foi", "3sg"), ("", "1sg"),
    ),
    "fut": (("eis", "2pl"), ("s", "2sg"), ("ão", "3pl"), ("ei", "1sg"), ("", "3sg")),
    "pres": (
        ("ais", "2pl"), ("eis", "2pl"), ("ois", "2pl"), ("ís", "2pl"), ("s", "2sg"), ("m", "3pl"),
        ("ão", "3pl"), ("o", "1sg"), ("ou", "1sg"), ("", "3sg"),
    ),
    **dict.fromkeys(
        ("cond", "impf", "plup"), (("eis", "2pl"), ("s", "2sg"), ("m", "3pl"), ("", "1sg 3sg"))
    ),
}  # fmt: skip
"""Tense to endings of the verb forms that the study asked about, and the persons they have.

The first that fits counts; those of the empty name come before all.
"""


def verb_readings(instance: Instance) -> tuple[str, ...]:
    """Tense and person of a verb form of the study, all readings, such as ``impf.1sg``."""
    form = instance.item.columns["seed"]
    forms = []
    for category in instance.categories:
        tense = _TENSES[category.rpartition("_")[0]]
        endings = (*_PERSONS[""], *_PERSONS[tense])
        persons = next(persons for ending, persons in endings if form.endswith(ending))
        forms += [f"{tense}.{person}" for person in persons.split()]
    return tuple(forms)


EQUAL, DIFFERS = "equal", "differs"
NOT_THE_SUBJECT = ("sujeito oculto", "sujeito indeterminado", "não sujeito")
NOT_THE_VERB = ("não verbo", "sujeito oculto")
NOT_A_CONNECTOR = "não conector"
NOT_A_PARTICIPLE = "não particípio"
NOT_AN_ADJECTIVE = "não adjetivo"
WRONG_AGREEMENT = "erro de concordância nominal"
SMALL_INITIAL = "inicial minúscula"


def claims(data: StudyData) -> Json:
    """Every claim with the printed and the computed number, and the rule."""
    answers = {**_sizes(data), **_subjects(data), **_deviations(data), **_multiwords(data)}
    stated: Json = {}
    for name, (claim, paper) in PRINTED["text"].items():
        answer = answers[name]
        equal = answer.computed == paper if answer.equal is None else answer.equal
        stated[name] = {
            "claim": claim,
            "paper": paper,
            "computed": answer.computed,
            "verdict": EQUAL if equal else DIFFERS,
            "how": answer.note,
        }
    return stated


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was computed for a claim.

    Attributes:
        computed: the number, or the numbers in the order of the claim.
        note: the rule, where the claim leaves it open.
        equal: whether it is what is printed; None to compare the two as they are.
    """

    computed: JsonValue
    note: str = ""
    equal: bool | None = None


def _paper(claim: str) -> Any:  # noqa: ANN401  # a number, or several
    """What is printed of a claim."""
    return PRINTED["text"][claim][1]


def _sizes(data: StudyData) -> dict[str, _Answer]:
    templates = Counter(instance.item.columns["template"] for instance in data.instances)
    distinct = {(instance.item.columns["seed"], instance.item.text) for instance in data.instances}
    sizes = Counter(instance.item.columns["dimension"] for instance in data.instances)
    base = "concordância nominal_2a"
    passive = [name for name in templates if name.startswith("voz passiva")]
    connectors = dimension_rows(data.release, "Connectors")
    rows, least = len(data.judged), int(_paper("items").removeprefix(">"))
    return {
        "instances": _Answer(len(distinct), "distinct seed and sentence"),
        "items": _Answer(rows, equal=rows > least),
        "base_sentence_41": _Answer(templates[base], base),
        "passive_size": _Answer([len(passive), sizes["passive"]]),
        "connector_size": _Answer(
            [sizes["connectors"], len(connectors)], "three sentences a connector were released"
        ),
    }


def _subjects(data: StudyData) -> dict[str, _Answer]:
    rows = dimension_rows(data.release, "Subject Agreement")
    hidden = not_expected([row.candidate for row in rows], remarks=NOT_THE_SUBJECT)
    real = [
        row.candidate
        for row in rows
        if row.candidate.fits and set(row.candidate.remarks) <= {SMALL_INITIAL}
    ]
    above = sum((candidate.probability or 0) > hidden.threshold for candidate in real)
    return {
        "hidden_subject": _Answer(
            [hidden.of_judged.correct, hidden.of_judged.percent, hidden.above],
            "fits, with a remark that it is a hidden, an indeterminate or no subject; one row less"
            " would give the printed ones",
        ),
        "real_subject": _Answer(
            [len(real), exact_percent(Fraction(len(real), len(rows))), above],
            "fits, with no remark but that of a small initial",
        ),
        "second_person": _Answer(_second_person(data), "Table 6 has the same, printed as 64.81"),
    }


def _second_person(data: StudyData) -> float:
    """P@1 of the second person singular in percent, of the judgments that the paper used."""
    cells = grammar_table(data, 6, ("snapshot",))["cells"]
    [cell] = [cell for cell in cells if cell["case"] == "Second Person Singular"]
    return float(cell["snapshot"]["p1"]["pct"])


def _deviations(data: StudyData) -> dict[str, _Answer]:
    connectors = dimension_rows(data.release, "Connectors")
    verbs = dimension_rows(data.release, "Verb Agreement")
    nouns = dimension_rows(data.release, "Nominal Agreement")
    passive = dimension_rows(data.release, "Passive")
    first = [row.candidate for row in connectors if row.first]
    cohesive = sum(
        bool(candidate.fits) and NOT_A_CONNECTOR not in candidate.remarks for candidate in first
    )
    adjectives = [
        row for row in nouns if row.candidate.fits and NOT_AN_ADJECTIVE in row.candidate.remarks
    ]
    errors = [row.candidate for row in passive if row.candidate.fits is False]
    wrong = sum(WRONG_AGREEMENT in error.remarks for error in errors)
    wrong_share = [wrong, len(errors), exact_percent(Fraction(wrong, len(errors)))]
    return {
        "verb_deviant": _share(
            "verb_deviant",
            _among_fitting(verbs, NOT_THE_VERB),
            "fits, with the remark that it is not a verb or leaves the subject out; one row less"
            " would"
            " give the printed one",
        ),
        "connectors_deviant": _share(
            "connectors_deviant", _among_fitting(connectors, (NOT_A_CONNECTOR,))
        ),
        "connectors_top1": _Answer(
            exact_percent(Fraction(cohesive, len(first))),
            "fits, without the remark that it is not a connector",
        ),
        "nominal_deviant": _Answer([len(adjectives), len(nouns)]),
        "passive_wrong_agreement": _share("passive_wrong_agreement", wrong_share),
        "passive_deviant": _share("passive_deviant", _among_fitting(passive, (NOT_A_PARTICIPLE,))),
    }


def _share(claim: str, computed: Sequence[float | None], note: str = "") -> _Answer:
    """A share with its counts, of which the paper prints the share alone."""
    return _Answer([*computed], note, computed[-1] == _paper(claim))


def _among_fitting(rows: Sequence[JudgedCandidate], remarks: Sequence[str]) -> list[float | None]:
    share = not_expected([row.candidate for row in rows], remarks=remarks).of_fitting
    return [share.correct, share.n, share.percent]


def _multiwords(data: StudyData) -> dict[str, _Answer]:
    means = [accuracy_at(ranks_of(data, LARGE), k).percent for k in (1, TOP)]
    return {
        "mwe_large_mean": _Answer([*means], equal=_as_printed(means, _paper("mwe_large_mean"))),
        "mwe_gain_base": _gain(data, BASE, _paper("mwe_gain_base")),
        "mwe_gain_large": _gain(data, LARGE, _paper("mwe_gain_large")),
        "mcnemar_w1": _mcnemar(data, "1", paper=_paper("mcnemar_w1"), decimals=4),
        "mcnemar_w2": _mcnemar(data, "2", paper=_paper("mcnemar_w2"), decimals=3),
    }


def _as_printed(computed: Sequence[float | None], paper: Sequence[float]) -> bool:
    """Whether all of some numbers equal the printed ones to the last digit."""
    pairs = zip(computed, paper, strict=True)
    return all(value is not None and equals_printed(value, str(text)) for value, text in pairs)


def _gain(data: StudyData, model: str, paper: Sequence[float]) -> _Answer:
    """What the paper subtracts may be rounded percentages, so that the last digit may be off."""
    gains: list[float | None] = []
    rounded: list[float | None] = []
    for word in WORDS:
        ranks = ranks_of(data, model, [word])
        first, top = accuracy_at(ranks, 1), accuracy_at(ranks, TOP)
        gains.append(exact_percent(Fraction(top.correct - first.correct, top.n)))
        rounded.append((top.percent or 0) - (first.percent or 0))
    equal, note = _as_printed(gains, paper), "difference of the counts"
    if not equal and _as_printed(rounded, paper):
        note += "; that of the rounded percentages would give the printed ones"
    return _Answer([*gains], note, equal)


def _mcnemar(data: StudyData, word: str, *, paper: float, decimals: int) -> _Answer:
    """The variant of the test that gives the printed p; the exact one where none does."""
    pair = count_pair(data, BASE, LARGE, 1, [word])
    p_values = {name: p for name in MCNEMAR if (p := pair.p(name)) is not None}
    same = [name for name, p in p_values.items() if round(p, decimals) == paper]
    chosen = same[0] if same else "exact"
    note = f"{chosen}; rounds to what is printed: {', '.join(same) or 'no variant'}"
    return _Answer(p_values[chosen], note, bool(same))


_MULTIWORD: Mapping[int, Callable[[StudyData], Json]] = {
    1: table_1,
    2: table_2,
    3: table_3,
}

NUMBERS = (*_MULTIWORD, *TABLES)
"""The numbers of the paper's tables of results."""

PARTS: Mapping[str, Callable[[StudyData], Json | list[Json]]] = {
    "mcnemar": mcnemar_tests,
    "claims": claims,
    "profiles": profiles,
    "auto": automatic_evaluation,
    "confidence": _mean_probabilities,
    "per-template": per_template,
    "hits": hits_at_k,
    "per-mwe": hits_per_expression,
    "person": by_person,
    "tense": by_tense,
    "clusters": clusters,
}
"""What else can be asked for, by name."""


_LABELED = frozenset({SNAPSHOT})
_NEEDED: Mapping[int | str, frozenset[str]] = {
    **dict.fromkeys((*_MULTIWORD, "mcnemar", "hits", "per-mwe"), frozenset({MULTIWORD})),
    **dict.fromkeys(TABLES, _LABELED),
    **dict.fromkeys((4, 9, 11, 13), frozenset()),
    **dict.fromkeys(("confidence", "per-template"), frozenset({SHEET})),
    **dict.fromkeys(("auto", "clusters"), frozenset({SHEET, SNAPSHOT})),
    **dict.fromkeys(("profiles", "person", "tense"), frozenset({SHEET, SYNTACTIC})),
    "claims": frozenset({SHEET, SNAPSHOT, MULTIWORD}),
}
"""A table, or what else is asked for, to the files without which it cannot be computed.

Tables without any need judgments: the sheet, or else its snapshot.
"""


def numbers_of(data: StudyData) -> tuple[int, ...]:
    """The numbers of the tables that can be computed from some data."""
    return tuple(number for number in NUMBERS if not _lacking(data, number))


def _lacking(data: StudyData, asked: int | str) -> list[str]:
    """The files that are missing for what is asked."""
    missing = sorted(_NEEDED[asked] - data.files)
    return missing if missing or _NEEDED[asked] or data.states else [SHEET]


def _refuse_missing(data: StudyData, option: str, asked: int | str) -> None:
    if missing := _lacking(data, asked):
        raise UsageError(
            where=f"--{option} {asked}",
            seen=f"it needs {' and '.join(missing)}, which is not in the folder",
            todo=f"Get it from {WHERE}.",
        )


def of_judgments(number: int | None, name: str | None) -> bool:
    """Whether a table, or what else is asked for, is made from people's judgments."""
    asked = number if name is None else name
    return asked is None or _NEEDED.get(asked) != frozenset({MULTIWORD})


def table(data: StudyData, number: int, states: Sequence[State] | None = None) -> Json:
    """One of the paper's tables, computed beside printed.

    Args:
        data: the released files.
        number: of the table.
        states: of the judgments, all that there are by default; Tables 1 to 3 are about recorded
            candidates and have one.

    Raises:
        UsageError: there is no such table, or the data do not have what it needs.
    """
    if number in NUMBERS:
        _refuse_missing(data, "table", number)
    if number in _MULTIWORD:
        return _MULTIWORD[number](data)
    if number not in TABLES:
        raise UsageError(
            where="--table",
            seen=f"there is no table {number}",
            todo=f"The tables are {NUMBERS[0]} to {NUMBERS[-1]}.",
        )
    return grammar_table(data, number, data.states if states is None else states)


def part(data: StudyData, name: str) -> Json | list[Json]:
    """Something behind the tables, by its name in `PARTS`.

    Raises:
        UsageError: there is no such thing, or the data do not have what it needs.
    """
    need_known(name, PARTS, where="--what", seen=f"there is no {name!r}")
    _refuse_missing(data, "what", name)
    return PARTS[name](data)
