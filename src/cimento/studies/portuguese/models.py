"""The tables of the study for other models: published rows above, candidates judged as they can be.

The multiword tables need nobody's judgment. In the tests of grammar a candidate is judged by a
dictionary, as far as it can, and by the judgments of earlier candidates of the same sentence, where
there are some; an estimate takes both and the dictionary's errors into account.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.corpus.morphology.dictionaries import dictionary_for
from cimento.errors import UsageError
from cimento.paradigms.cloze.detecting import MULTIWORD, SHEET
from cimento.paradigms.cloze.judgments import (
    Expectation,
    Fits,
    dictionary_readings,
    human_judgments,
    read_judged_candidates,
    reuse_judgments,
)
from cimento.paradigms.cloze.portuguese import RECORDED_MODEL, Instance
from cimento.paradigms.cloze.requests import Candidate, ClozeAnswers
from cimento.paradigms.cloze.shares import Ranks, accuracy_at, groups_hit_by_none, is_hit
from cimento.report.cells import PERCENT, Shown, count, printed
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell
from cimento.studies.portuguese.accuracy import (
    Compared,
    accuracy_table,
    compared,
    judge_errors,
    shipped,
)
from cimento.studies.portuguese.coverage import BOUNDS_NOTE, covered
from cimento.studies.portuguese.data import JudgedCandidate, StudyData
from cimento.studies.portuguese.estimate import ESTIMATE_NOTE, Errors, Verdicts, estimated
from cimento.studies.portuguese.grammar import (
    PRINTED,
    TABLES,
    GrammarTable,
    Json,
    instance_expectations,
    rows_by_case,
)
from cimento.studies.portuguese.judge import Readings, dictionary_verdict
from cimento.studies.portuguese.multiword import (
    TOP,
    WORDS,
    accuracy_interval,
    expressions,
    mcnemar_tests,
    ranks_of,
)
from cimento.suites.cloze import ClozeItem

if TYPE_CHECKING:
    from cimento.corpus.morphology import WordReading
    from cimento.kinds.run import Run

MULTIWORD_STARTER = "pt-idioms"
GRAMMAR_STARTER = "pt-grammar-templates"
PUBLISHED = "(published)"
_NONE = "none"
DICTIONARY, PEOPLE, ESTIMATED = "dictionary", "people", "estimate"

_VERB_GROUPS: Mapping[str, str] = {
    "past indicative": "1", "present indicative": "2", "future indicative": "2",
    "infinitive": "3", "gerund": "4", "present subjunctive": "5", "past subjunctive": "6",
    "future subjunctive": "7",
}  # fmt: skip
"""What the starter templates of verb agreement expect, to the study's group."""

_PERSONS: Mapping[str, str] = {
    "1sg": "pron_eu", "2sg": "pron_tu", "3sg": "pron_ele",
    "1pl": "pron_nos", "2pl": "pron_vos", "3pl": "V:P3p",
}  # fmt: skip
_TENSES: Mapping[str, str] = {
    "presente": "Indicativo presente",
    "imperfeito": "Indicativo pretérito imperfeito",
    "perfeito": "Indicativo pretérito perfeito simples",
    "maisqueperfeito": "Indicativo Pretérito Mais que Perfeito Simples",
    "futuro": "Indicativo Futuro do Presente Simples",
    "condicional": "Condicional Futuro do Pretérito Simples",
}
_WEATHER = ("chov", "vent", "trovej", "nev")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswers:
    """The candidates of one model for both halves of the study.

    Attributes:
        model: its label.
        multiwords: items with a masked word of an expression.
        hits: candidates for them.
        instances: of the tests of grammar.
        candidates: candidates for them.
        expected: what each of these expects, as far as it says so.
        people: what annotators of the run said of them.
        warnings: what should be known of the multiword items, as sentences.
    """

    model: str
    multiwords: Sequence[ClozeItem] = ()
    hits: Sequence[Candidate] = ()
    instances: Sequence[Instance] = ()
    candidates: Sequence[Candidate] = ()
    expected: Mapping[str, Expectation]
    people: Fits = field(default_factory=dict)
    warnings: Sequence[str] = ()


def model_answers(model: str, runs: Sequence[Run], released: StudyData | None) -> ModelAnswers:
    """What a model gave, from its runs of the two suites of the study.

    Args:
        model: its label.
        runs: of it.
        released: the authors' files, with the labels of their sentences; None for our own.
    """
    multi = next((run for run in runs if _is_multiword(run)), None)
    grammar = next((run for run in runs if not _is_multiword(run)), None)
    words, tests = (ClozeAnswers(run) if run else None for run in (multi, grammar))
    known = {instance.item.id: instance for instance in released.instances} if released else {}
    items = tests.items if tests else ()
    instances = [known.get(item.id) or starter_instance(item) for item in items]
    return ModelAnswers(
        model=model,
        multiwords=words.items if words else (),
        hits=words.candidates(words.methods[0]) if words else (),
        instances=instances,
        candidates=tests.candidates(tests.methods[0]) if tests else (),
        expected=instance_expectations(instances),
        people=human_judgments(grammar.folder) if grammar else {},
        warnings=multi.warnings if multi else (),
    )


def _is_multiword(run: Run) -> bool:
    return "expression" in ClozeAnswers(run).items[0].columns


def starter_instance(item: ClozeItem) -> Instance:
    """A starter item of `GRAMMAR_STARTER` with the labels that the study's tables group by."""
    columns, category = item.columns, item.columns.get("category", "")
    dimension = columns.get("phenomenon", "").replace(" ", "_")
    seed = columns.get("seed", "")
    parts = [part.partition("_") for part in category.split("; ") if part]
    tense = _TENSES.get(parts[-1][0]) if parts else None
    persons = {person for _, _, person in parts}
    case: str | None = category
    group = ""
    if dimension == "verb_agreement":
        group, case = _VERB_GROUPS[columns["tense"]], f"pron_{seed}"
    elif dimension == "subject_agreement":
        # A form of two persons belongs to none of the rows of Table 6.
        case = _PERSONS.get(persons.pop()) if len(persons) == 1 else None
    elif dimension == "impersonal_verbs":
        group = "1" if seed.startswith(_WEATHER) else "2"
        tense = f"{tense.split()[0]}/{tense}" if tense else None
    elif dimension == "connectors":
        group = columns["template"].rpartition("-")[2]
    kept = {**columns, "dimension": dimension, "group": group, "seed": seed}
    asked = ClozeItem(item.id, item.before, item.after, item.options, columns=kept)
    return Instance(asked, categories=tuple(category.split("; ")), case=case, tense=tense)


def asked_suites(data: Path | None) -> list[str]:
    """The suites for models: the authors' sentences if available, otherwise our own.

    Args:
        data: the authors' folder as released, or one file of it; None for our own sentences.

    Raises:
        UsageError: neither file of sentences is there.
    """
    if data is None:
        return [MULTIWORD_STARTER, GRAMMAR_STARTER]
    folder = data.parent if data.is_file() else data
    names = [data.name] if data.is_file() else [MULTIWORD, SHEET]
    paths = [str(folder / name) for name in (MULTIWORD, SHEET) if name in names]
    paths = [path for path in paths if Path(path).is_file()]
    if not paths:
        raise UsageError(
            where=f"--data {data}",
            seen=f"neither {MULTIWORD} nor {SHEET} is there, whose sentences are asked",
            todo="Give the folder as the authors released it, or leave --data out.",
        )
    return paths


def earlier_candidates(released: StudyData | None, tables: Iterable[Path]) -> list[Candidate]:
    """The candidates that people judged before, the released ones first.

    Args:
        released: the authors' files; None without them.
        tables: further tables of judged candidates.
    """
    candidates = [row.candidate for row in released.judged] if released else []
    return candidates + [one for path in tables for one in read_judged_candidates(path)]


@dataclass(frozen=True, kw_only=True)
class JudgedModels:
    """The candidates of some models for the tests of grammar, judged in several ways.

    Attributes:
        rows: model and judge to what was judged.
        verdicts: model to what the dictionary said of its candidates.
        compared: the dictionary beside the linguist; empty where they cannot be compared.
        said: how many candidates were judged, as sentences.
    """

    rows: Mapping[tuple[str, str], Sequence[JudgedCandidate]]
    verdicts: Mapping[str, Verdicts]
    compared: Sequence[Compared]
    said: Sequence[str] = ()

    @cached_property
    def errors(self) -> Errors:
        """The errors of the dictionary; empty where they are not known."""
        return judge_errors(self.compared)


def judged(
    models: Sequence[ModelAnswers],
    *,
    dictionary: str,
    readings: Readings,
    earlier: Sequence[Candidate],
    released: StudyData | None = None,
) -> JudgedModels:
    """The candidates of the tests of grammar, judged by a dictionary and by people.

    Args:
        models: with their candidates.
        dictionary: its name, as ``rules:pt`` or ``delaf:FILE``.
        readings: in it; see `known_readings`.
        earlier: candidates of the same sentences that people judged, besides those of the runs.
        released: the authors' files; without them only the default dictionary's errors are known.
    """
    rows: dict[tuple[str, str], list[JudgedCandidate]] = {}
    verdicts: dict[str, dict[tuple[str, int], bool | None]] = {}
    said = []
    for model in models:
        if not model.candidates:
            continue
        by_dictionary = dictionary_judged(model, readings)
        verdicts[model.model] = {(one.item, one.rank): one.fits for one in by_dictionary}
        rows[model.model, DICTIONARY] = joined(model, by_dictionary)
        candidates = [replace(one, fits=model.people.get(one.key)) for one in model.candidates]
        reused = reuse_judgments(candidates, earlier)
        n, new = len(candidates), len(reused.new)
        if n > new:
            rows[model.model, PEOPLE] = joined(model, reused.candidates)
            judged_by_people = f"{n - new} of {n} candidates are judged by people; {new} are new"
            said.append(f"{model.model}: {judged_by_people}")
        rows[model.model, ESTIMATED] = joined(model, reused.candidates)
    if released is not None and released.judged:
        pairs = compared(released, readings, dictionary)
    else:
        pairs = shipped(dictionary)
    return JudgedModels(rows=rows, verdicts=verdicts, compared=pairs, said=said)


def known_readings(dictionary: str) -> Readings:
    """The readings of candidates in a dictionary; each word is looked up once."""
    look_up = dictionary_readings(dictionary_for(dictionary, "pt"))
    known: dict[str, tuple[WordReading, ...]] = {}

    def readings(candidate: Candidate) -> tuple[WordReading, ...]:
        if candidate.text not in known:
            known[candidate.text] = look_up(candidate)
        return known[candidate.text]

    return readings


def dictionary_judged(model: ModelAnswers, readings: Readings) -> list[Candidate]:
    """The candidates of a model for the tests of grammar, as far as a dictionary can judge them."""
    instances = {one.item.id: one for one in model.instances}
    return [
        replace(
            one,
            fits=dictionary_verdict(
                instances[one.item], one, model.expected.get(one.item), readings
            ),
        )
        for one in model.candidates
    ]


def joined(answers: ModelAnswers, candidates: Sequence[Candidate]) -> list[JudgedCandidate]:
    """Candidates of a model beside their instances."""
    instances = {instance.item.id: instance for instance in answers.instances}
    return [
        JudgedCandidate(instances[candidate.item], candidate, candidate.rank == 1)
        for candidate in candidates
    ]


def portuguese_tables(
    models: Sequence[ModelAnswers],
    judgments: JudgedModels,
    notes: Sequence[str],
    *,
    of_grammar: Sequence[str] = (),
) -> dict[str, Grid]:
    """The study's tables in the paper's layout, by the names of their files.

    Args:
        models: in their order.
        judgments: as `judged` gives them.
        notes: sentences below all tables.
        of_grammar: sentences below the tables of grammar.
    """
    tables: dict[str, Grid] = {}
    asked = [model for model in models if model.hits]
    if asked:
        data = _as_data(asked)
        warnings = dict.fromkeys(text for answers in asked for text in answers.warnings)
        tables["table-1"] = _table_1(data, tuple(warnings))
        tables["table-2"] = _table_2(data)
        tables["table-3"] = _table_3(data)
        footnote = _footnote_11(data)
        tables |= {"footnote-11": footnote} if footnote.rows else {}
    if judgments.rows:
        tables |= {
            f"table-{number}": _grammar_grid(table, judgments, of_grammar)
            for number, table in TABLES.items()
        }
    if judgments.rows and judgments.compared:
        tables["dictionary"] = accuracy_table(judgments.compared)
    return {name: replace(table, notes=(*table.notes, *notes)) for name, table in tables.items()}


def _as_data(models: Sequence[ModelAnswers]) -> StudyData:
    """The multiword half as the study's own files hold it."""
    return StudyData(
        templates=(),
        instances=(),
        judged=(),
        cells=models[0].multiwords,
        predictions={model.model: model.hits for model in models},
        files=frozenset(),
    )


def _table_1(data: StudyData, notes: tuple[str, ...]) -> Grid:
    rows: list[tuple[GridCell, ...]] = [
        (f"{model} {PUBLISHED}", word, *(printed(f"{one:.2f}", unit=PERCENT) for one in paper[:2]))
        for model, words in PRINTED["Table 1"].items()
        for word, paper in words.items()
    ]
    published = len(rows)
    for model in data.predictions:
        for word in WORDS:
            ranks = ranks_of(data, model, [word])
            cells = (_accuracy(data, ranks, k) for k in (1, TOP))
            rows.append((model, word, *cells))
    return Grid(
        title="Table 1. Multiword expressions: accuracy for the first and the second word",
        header=("Model", "Word", "ACC", "ACC@10"),
        rows=tuple(rows),
        rules=frozenset({published}),
        labels=2,
        notes=("A hit is a candidate that is the word that was there, capitals aside.", *notes),
    )


def _accuracy(data: StudyData, ranks: Ranks, k: int) -> EstimateCell:
    share = accuracy_at(ranks, k)
    return _estimate(share.percent, accuracy_interval(data, ranks, k), share.n)


def _estimate(percent: float | None, ends: Json, n: int) -> EstimateCell:
    low, high = ends["low"], ends["high"]
    reason = ends["reason"]
    return EstimateCell(
        value=percent, low=low, high=high, n=n, reason=reason, digits=2, unit=PERCENT
    )


def _table_2(data: StudyData) -> Grid:
    rows: list[tuple[str, ...]] = [
        ("bertimbau-large, not bertimbau-base (published)", word, ", ".join(names))
        for word, names in PRINTED["Table 2"].items()
    ]
    published = len(rows)
    for one, other in permutations(data.predictions, 2):
        for word in WORDS:
            hit, missed = (_hit(data, model, word) for model in (one, other))
            names = [name for name in hit if name not in missed]
            rows.append((f"{one}, not {other}", f"W{word}", ", ".join(names) or _NONE))
    return _lists(
        "Table 2. Expressions predicted by one model and not by another",
        rows,
        published,
        "Of our models: a hit among ten in a sentence by the one, in none by the other. No rule"
        " gives the published lists.",
    )


def _hit(data: StudyData, model: str, word: str) -> list[str]:
    """The expressions that a model hits among ten in some sentence."""
    key, ranks = expressions(data), ranks_of(data, model, [word])
    return sorted({key[item] for item, rank in ranks.items() if is_hit(rank, TOP)})


def _table_3(data: StudyData) -> Grid:
    rows: list[tuple[str, ...]] = [
        ("neither BERTimbau model (published)", word, ", ".join(names))
        for word, names in PRINTED["Table 3"].items()
    ]
    for word in WORDS:
        ranks = [ranks_of(data, model, [word]) for model in data.predictions]
        names = groups_hit_by_none(ranks, expressions(data), TOP)
        who = f"none of {', '.join(data.predictions)}"
        rows.append((who, f"W{word}", ", ".join(names) or _NONE))
    return _lists(
        "Table 3. Expressions that no model predicts",
        rows,
        len(PRINTED["Table 3"]),
        "No hit among ten in any sentence.",
    )


def _lists(title: str, rows: Sequence[tuple[str, ...]], published: int, note: str) -> Grid:
    return Grid(
        title=title,
        header=("models", "masked", "expressions"),
        rows=tuple(rows),
        rules=frozenset({published}),
        labels=2,
        remarks=1,
        notes=(note,),
    )


def _footnote_11(data: StudyData) -> Grid:
    """McNemar's test of every pair of models; the exact one is beside the corrected one."""
    columns: Mapping[str, Callable[[Json], str]] = {
        "models": lambda test: f"{test['a']} and {test['b']}",
        "masked": lambda test: test["words"],
        "k": lambda test: count(test["k"]),
        "only first": lambda test: count(test["only_a"]),
        "only second": lambda test: count(test["only_b"]),
        "n": lambda test: count(test["n"]),
        "p exact": lambda test: Shown(f"{test['p_exact']:.4g}", test["p_exact"]),
        "p corrected": lambda test: Shown(f"{test['p_chi2_cc']:.4g}", test["p_chi2_cc"]),
    }
    tests = mcnemar_tests(data)
    return Grid.of(
        (test for test in tests if None not in (test["p_exact"], test["p_chi2_cc"])),
        columns,
        title="Footnote 11. Models against each other: McNemar's test, item by item",
        labels=2,
        notes=("It takes sentences of one expression for independent, as the paper does.",),
    )


def _grammar_grid(table: GrammarTable, judgments: JudgedModels, notes: Sequence[str]) -> Grid:
    """One of Tables 4 to 13, each case with the published numbers above those of the models."""
    by_case = {key: rows_by_case(table, some) for key, some in judgments.rows.items()}
    written: list[tuple[GridCell, ...]] = []
    for case, (p1, p10) in table.printed.items():
        both_printed = (printed(f"{one:.2f}", unit=PERCENT) for one in (p1, p10))
        above = (f"{RECORDED_MODEL} {PUBLISHED}", "linguist", *both_printed)
        written.append((case, *above, BLANK, BLANK, BLANK, BLANK))
        for (model, judge), groups in by_case.items():
            some = groups[case]
            if judge == ESTIMATED:
                verdicts = judgments.verdicts[model]
                known = estimated(
                    some, table.aggregation, verdicts=verdicts, errors=judgments.errors
                )
            else:
                known = covered(some, table.aggregation, by_people=judge == PEOPLE)
            both = known.values()
            counts = (*(one.n for one in both), *(one.bounds for one in both))
            written.append((case, model, judge, *(one.cell for one in both), *counts))
    names = ["Case name", "model", "judged by", "P@1", "P@10", "judged@1", "judged@10"]
    has_bounds = any(row[-1] != BLANK or row[-2] != BLANK for row in written)
    names += ["bounds@1", "bounds@10"] if has_bounds else []
    told = [BOUNDS_NOTE] if has_bounds else []
    return Grid.of(
        written,
        {name: itemgetter(place) for place, name in enumerate(names)},
        title=f"Table {table.number}. {table.title}",
        labels=3,
        grouped=1,
        notes=(f"{table.aggregation}: {table.note}", *told, ESTIMATE_NOTE, *notes),
    )
