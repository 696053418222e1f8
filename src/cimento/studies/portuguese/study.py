"""Everything that the study's command prints, by number or by name: tables, details, claims."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from cimento.errors import UsageError, did_you_mean
from cimento.paradigms.cloze.shares import (
    accuracy_at,
    clustering,
    micro,
    not_expected,
    percent,
    precision_interval,
)
from cimento.statistics.differences import MCNEMAR
from cimento.studies.portuguese.data import Row, State, StudyData
from cimento.studies.portuguese.grammar import (
    DIMENSIONS,
    TABLES,
    Json,
    automatic_evaluation,
    grammar_table,
    interval_json,
    precision_json,
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
from cimento.studies.record import equals_printed
from cimento.suites.model import JsonValue

RECORDED_MODEL = "bertimbau-large"
"""The only model whose candidates for the tests of grammar were released."""

OUT_OF_DICTIONARY = "OOD"

# The notebook's profiles are of the last category that its loop came to. Categories are released
# in alphabetical order, which is the loop's order in all templates but this one.
_LAST_CATEGORY = {"concordância nominal_1d": "pl"}


def per_template(data: StudyData) -> Json:
    """P@1 and P@10 of each template, on the release."""
    return {name: precision_json(rows) for name, rows in _templates(data.release).items()}


def confidence(data: StudyData) -> Json:
    """The mean probability of candidates that fit and of those that do not, by template."""
    return {
        name: {
            "mean_score_s": _mean_probability(rows, fits=True),
            "mean_score_n": _mean_probability(rows, fits=False),
        }
        for name, rows in _templates(data.release).items()
    }


def profiles(data: StudyData) -> Json:
    """How often each dictionary tag occurs among the candidates of a template's last category."""
    found: list[JsonValue] = []
    by_template = _templates(data.release)
    for template in data.templates:
        category = _LAST_CATEGORY.get(template.id, template.seeds[-1].category)
        rows = [
            row for row in by_template.get(template.id, []) if category in row.instance.categories
        ]
        tags = Counter(tag for row in rows for tag in row.candidate.tags)
        unknown = sorted(
            {row.candidate.text for row in rows if OUT_OF_DICTIONARY in row.candidate.tags}
        )
        found.append(
            {
                "template": template.id,
                "category": category,
                "tags": dict(tags.most_common()),
                "ood": [*unknown],
            }
        )
    return {RECORDED_MODEL: found}


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
    found: Json = {}
    for dimension in ("nominal_agreement", "passive"):
        cases: dict[str, list[Row]] = {}
        for row in data.release:
            if row.column("dimension") == dimension and row.instance.case:
                cases.setdefault(row.instance.case, []).append(row)
        found[dimension] = {case: _clustered(rows) for case, rows in cases.items()}
    return found


def _clustered(rows: Sequence[Row]) -> Json:
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


def _with_interval(rows: Sequence[Row]) -> Json:
    template = {row.candidate.item: row.column("template") for row in rows}
    candidates = [row.candidate for row in rows]
    interval = precision_interval(candidates, lambda each: template[each.item])
    return {**share_json(micro(candidates)), **interval_json(interval)}


def dimension_rows(rows: Iterable[Row], case: str) -> list[Row]:
    """The rows of one of the six tests, by its name in Table 13."""
    return [row for row in rows if row.column("dimension") == DIMENSIONS[case]]


def _templates(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.column("template"), []).append(row)
    return found


def _mean_probability(rows: Sequence[Row], *, fits: bool) -> float | None:
    scores = [
        row.candidate.probability
        for row in rows
        if row.candidate.fits is fits and row.candidate.probability is not None
    ]
    return math.fsum(scores) / len(scores) if scores else None


def _by_reading(data: StudyData, part: Callable[[str], str]) -> Json:
    classes: dict[str, list[Row]] = {}
    for row in dimension_rows(data.release, "Subject Agreement"):
        name = "/".join(sorted({part(reading) for reading in row.instance.readings}))
        classes.setdefault(name, []).append(row)
    return {name: precision_json(classes[name]) for name in sorted(classes)}


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
    return {**_sizes(data), **_subjects(data), **_deviations(data), **_multiwords(data)}


def _claim(claim: str, paper: JsonValue, computed: JsonValue, verdict: str, how: str = "") -> Json:
    return {"claim": claim, "paper": paper, "computed": computed, "verdict": verdict, "how": how}


def _verdict(paper: JsonValue, computed: JsonValue) -> str:
    return EQUAL if paper == computed else DIFFERS


def _compared(claim: str, paper: JsonValue, computed: JsonValue, how: str = "") -> Json:
    return _claim(claim, paper, computed, _verdict(paper, computed), how)


def _sizes(data: StudyData) -> Json:
    templates = Counter(each.item.columns["template"] for each in data.instances)
    distinct = {(each.item.columns["seed"], each.item.text) for each in data.instances}
    sizes = Counter(each.item.columns["dimension"] for each in data.instances)
    base = "concordância nominal_2a"
    passive = [name for name in templates if name.startswith("voz passiva")]
    connectors = dimension_rows(data.release, "Connectors")
    rows = len(data.judged)
    many = 12_000
    return {
        "instances": _compared(
            "instances of the tests of grammar", 1232, len(distinct), "distinct seed and sentence"
        ),
        "items": _claim(
            "candidates judged by hand", f">{many}", rows, EQUAL if rows > many else DIFFERS
        ),
        "base_sentence_41": _compared("uses of one base sentence", 41, templates[base], base),
        "passive_size": _compared(
            "base sentences and instances of the passive",
            [13, 175],
            [len(passive), sizes["passive"]],
        ),
        "connector_size": _compared(
            "sentences and candidates of connectors",
            [60, 600],
            [sizes["connectors"], len(connectors)],
            "three sentences a connector were released",
        ),
    }


def _subjects(data: StudyData) -> Json:
    rows = dimension_rows(data.release, "Subject Agreement")
    found = not_expected([row.candidate for row in rows], remarks=NOT_THE_SUBJECT)
    hidden: list[JsonValue] = [
        found.of_judged.correct, found.of_judged.percent, found.above,
    ]  # fmt: skip
    real = [
        row.candidate
        for row in rows
        if row.candidate.fits and set(row.candidate.remarks) <= {SMALL_INITIAL}
    ]
    above = sum((each.probability or 0) > found.threshold for each in real)
    subjects: list[JsonValue] = [len(real), percent(Fraction(len(real), len(rows))), above]
    return {
        "hidden_subject": _compared(
            "candidates that fit and are not the subject asked for, their share, those above .5",
            [1450, 52.54, 37],
            hidden,
            "fits, with a remark that it is a hidden, an indeterminate or no subject; one row less"
            " would give the printed ones",
        ),
        "real_subject": _compared(
            "candidates that are subjects, their share, those above .5",
            [792, 28.7, 79],
            subjects,
            "fits, with no remark but that of a small initial",
        ),
    }


def _deviations(data: StudyData) -> Json:
    connectors = dimension_rows(data.release, "Connectors")
    first = [row.candidate for row in connectors if row.first]
    cohesive = sum(bool(each.fits) and NOT_A_CONNECTOR not in each.remarks for each in first)
    return {
        "verb_deviant": _share_claim(
            "verb agreement: share of fitting candidates that are not the verb asked for",
            5.0,
            _among_fitting(dimension_rows(data.release, "Verb Agreement"), NOT_THE_VERB),
            "fits, with the remark that it is no verb or leaves the subject out; one row less would"
            " give the printed one",
        ),
        "connectors_deviant": _share_claim(
            "connectors: share of fitting candidates that are no conjunctions",
            10.77,
            _among_fitting(connectors, (NOT_A_CONNECTOR,)),
        ),
        "connectors_top1": _compared(
            "first candidates that are cohesive, in per cent",
            100.0,
            percent(Fraction(cohesive, len(first))),
            "fits, without the remark that it is no connector",
        ),
        "nominal_deviant": _compared(
            "nominal agreement: candidates that fit and are no adjectives, of all",
            [1, 1640],
            _of_all(dimension_rows(data.release, "Nominal Agreement"), NOT_AN_ADJECTIVE),
        ),
        **_passive(dimension_rows(data.release, "Passive")),
    }


def _passive(rows: Sequence[Row]) -> Json:
    errors = [row.candidate for row in rows if row.candidate.fits is False]
    wrong = sum(WRONG_AGREEMENT in each.remarks for each in errors)
    return {
        "passive_wrong_agreement": _share_claim(
            "passive: share of errors that are participles with the wrong agreement",
            44.99,
            [wrong, len(errors), percent(Fraction(wrong, len(errors)))],
        ),
        "passive_deviant": _share_claim(
            "passive: share of fitting candidates that are adjectives",
            5.07,
            _among_fitting(rows, (NOT_A_PARTICIPLE,)),
        ),
    }


def _share_claim(claim: str, paper: float, computed: list[JsonValue], how: str = "") -> Json:
    return _claim(claim, paper, computed, _verdict(paper, computed[-1]), how)


def _among_fitting(rows: Sequence[Row], remarks: Sequence[str]) -> list[JsonValue]:
    found = not_expected([row.candidate for row in rows], remarks=remarks).of_fitting
    return [found.correct, found.n, found.percent]


def _of_all(rows: Sequence[Row], remark: str) -> list[JsonValue]:
    fitting = [row for row in rows if row.candidate.fits and remark in row.candidate.remarks]
    return [len(fitting), len(rows)]


def _multiwords(data: StudyData) -> Json:
    means = [accuracy_at(ranks_of(data, LARGE), k).percent for k in (1, TOP)]
    return {
        "mwe_large_mean": _claim(
            "best model: accuracy at 1 and among ten over both words",
            [52, 66],
            [*means],
            _as_printed(means, ["52", "66"]),
        ),
        "mwe_gain_base": _gain(data, BASE, ["17.58", "18.79"]),
        "mwe_gain_large": _gain(data, LARGE, ["12.72", "15.75"]),
        "mcnemar_w1": _mcnemar(data, "1", paper=0.0001, decimals=4),
        "mcnemar_w2": _mcnemar(data, "2", paper=0.034, decimals=3),
    }


def _as_printed(computed: Sequence[float | None], paper: Sequence[str]) -> str:
    """Whether all of some numbers equal the printed ones to the last digit."""
    pairs = zip(computed, paper, strict=True)
    equal = all(value is not None and equals_printed(value, text) for value, text in pairs)
    return EQUAL if equal else DIFFERS


def _gain(data: StudyData, model: str, paper: list[str]) -> Json:
    """What the paper subtracts may be rounded percentages, so that the last digit may be off."""
    gains: list[float | None] = []
    rounded: list[float | None] = []
    for word in WORDS:
        ranks = ranks_of(data, model, [word])
        first, top = accuracy_at(ranks, 1), accuracy_at(ranks, TOP)
        gains.append(percent(Fraction(top.correct - first.correct, top.n)))
        rounded.append((top.percent or 0) - (first.percent or 0))
    verdict, how = _as_printed(gains, paper), "difference of the counts"
    if verdict == DIFFERS and _as_printed(rounded, paper) == EQUAL:
        how += "; that of the rounded percentages would give the printed ones"
    return _claim(
        f"{model}: gain from 1 to ten candidates, by word",
        [float(text) for text in paper],
        [*gains],
        verdict,
        how,
    )


def _mcnemar(data: StudyData, word: str, *, paper: float, decimals: int) -> Json:
    """The variant of the test that gives the printed p; the exact one where none does."""
    pair = count_pair(data, BASE, LARGE, 1, [word])
    p_values = {name: p for name in MCNEMAR if (p := pair.p(name)) is not None}
    same = [name for name, p in p_values.items() if round(p, decimals) == paper]
    chosen = same[0] if same else "exact"
    return _claim(
        f"McNemar, BERTimbau Base and Large, W{word}",
        paper,
        p_values[chosen],
        EQUAL if same else DIFFERS,
        f"{chosen}; rounds to what is printed: {', '.join(same) or 'no variant'}",
    )


_MULTIWORD: Mapping[int, Callable[[StudyData], Json]] = {
    1: table_1,
    2: table_2,
    3: table_3,
}

NUMBERS = (*_MULTIWORD, *TABLES)
"""The numbers of the paper's tables of results."""

PARTS: Mapping[str, Callable[[StudyData], JsonValue]] = {
    "mcnemar": mcnemar_tests,
    "claims": claims,
    "profiles": profiles,
    "auto": automatic_evaluation,
    "confidence": confidence,
    "per-template": per_template,
    "hits": hits_at_k,
    "per-mwe": hits_per_expression,
    "person": by_person,
    "tense": by_tense,
    "clusters": clusters,
}
"""What else can be asked for, by name."""


_OF_THE_SHEET: Mapping[str, frozenset[int | str]] = {
    "table": frozenset({4, 9, 11, 13}),
    "what": frozenset({"confidence", "per-template"}),
}
"""What can be computed from the released sheet alone."""

_OF_RECORDED_CANDIDATES = frozenset({"mcnemar", "hits", "per-mwe"})


def numbers_of(data: StudyData) -> tuple[int, ...]:
    """The numbers of the tables that can be computed from some data."""
    known = _OF_THE_SHEET["table"] if data.sheet_only else NUMBERS
    return tuple(number for number in NUMBERS if number in known)


def _refuse_missing(data: StudyData, option: str, asked: int | str) -> None:
    if data.sheet_only and asked not in _OF_THE_SHEET[option]:
        known = ", ".join(map(str, sorted(_OF_THE_SHEET[option], key=str)))
        raise UsageError(
            where=f"--{option} {asked}",
            seen="the sheet of judgments alone does not have what it needs",
            todo=f"Give a folder with all files, see docs/cloze.md; the sheet has {known}.",
        )


def of_judgments(number: int | None, name: str | None) -> bool:
    """Whether a table, or what else is asked for, is made from people's judgments."""
    return number not in _MULTIWORD and name not in _OF_RECORDED_CANDIDATES


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


def part(data: StudyData, name: str) -> JsonValue:
    """Something behind the tables, by its name in `PARTS`.

    Raises:
        UsageError: there is no such thing, or the data do not have what it needs.
    """
    if name not in PARTS:
        raise UsageError(
            where="--what", seen=f"there is no {name!r}", todo=did_you_mean(name, PARTS)
        )
    _refuse_missing(data, "what", name)
    return PARTS[name](data)
