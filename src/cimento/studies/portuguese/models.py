"""The tables of the study for other models: published rows above, candidates judged as they can be.

The multiword tables need nobody's judgment. In the tests of grammar a candidate is judged by a
dictionary, as far as it can, and by the judgments of earlier candidates of the same sentence, where
there are some; an estimate takes both and the dictionary's errors into account.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from operator import itemgetter

from cimento.paradigms.cloze.portuguese import RECORDED_MODEL
from cimento.paradigms.cloze.shares import Ranks, accuracy_at, groups_hit_by_none, is_hit
from cimento.report.cells import PERCENT, Shown, count, printed
from cimento.report.grid import BLANK, EstimateCell, Grid, GridCell
from cimento.studies.portuguese.accuracy import (
    accuracy_table,
)
from cimento.studies.portuguese.asked import ModelAnswers
from cimento.studies.portuguese.coverage import BOUNDS_NOTE, covered
from cimento.studies.portuguese.data import StudyData
from cimento.studies.portuguese.estimate import ESTIMATE_NOTE, estimated
from cimento.studies.portuguese.grammar import (
    PRINTED,
    TABLES,
    GrammarTable,
    Json,
    rows_by_case,
)
from cimento.studies.portuguese.judging import ESTIMATED, PEOPLE, JudgedModels
from cimento.studies.portuguese.multiword import (
    TOP,
    WORDS,
    accuracy_interval,
    expressions,
    mcnemar_tests,
    ranks_of,
)

PUBLISHED = "(published)"
_NONE = "none"


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
