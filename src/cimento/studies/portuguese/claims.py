"""Numbers that the paper's text claims, computed from what was released."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from cimento.cloze.judging.hits import accuracy_at
from cimento.cloze.judging.precision import not_expected, percent
from cimento.statistics.differences import MCNEMAR
from cimento.studies.portuguese.data import Row, StudyData
from cimento.studies.portuguese.details import dimension_rows
from cimento.studies.portuguese.grammar import Json
from cimento.studies.portuguese.multiword import BASE, LARGE, TOP, WORDS, count_pair, ranks_of
from cimento.studies.printed import equals_printed
from cimento.suites.model import JsonValue

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
