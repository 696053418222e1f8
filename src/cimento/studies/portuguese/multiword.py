"""Tables 1 to 3 and the tests behind them: multiword expressions, masked word by word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cimento.cloze.judging.hits import (
    PairedHits,
    Ranks,
    accuracy_at,
    compare_pairs,
    curve,
    grouped,
    groups_better,
    groups_hit_by_none,
    hit_ranks,
)
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.studies.portuguese import printed
from cimento.studies.portuguese.data import StudyData
from cimento.studies.portuguese.grammar import Json, interval_json
from cimento.suites.model import JsonValue

BASE, LARGE = "bertimbau-base", "bertimbau-large"
TOP = 10
WORDS = ("1", "2")


def ranks_of(data: StudyData, model: str, words: Sequence[str] = WORDS) -> Ranks:
    """The rank of the hit in each multiword item whose masked word is one of `words`."""
    cells = [cell for cell in data.cells if cell.columns["word"] in words]
    wanted = {cell.id for cell in cells}
    return hit_ranks(cells, [each for each in data.predictions[model] if each.item in wanted])


def table_1(data: StudyData) -> Json:
    """Accuracy of each model for each word, with the first candidate and among ten."""
    cells: list[JsonValue] = []
    intervals: list[JsonValue] = []
    for (model, word), paper in printed.TABLE_1.items():
        ranks = ranks_of(data, model, [str(word)])
        first, top = accuracy_at(ranks, 1), accuracy_at(ranks, TOP)
        intervals.append({f"k{k}": _interval(data, ranks, k) for k in (1, TOP)})
        equal: list[JsonValue] = [first.percent == paper[0], top.percent == paper[1]]
        cells.append(
            {
                "model": model,
                "word": word,
                "n": first.n,
                "hits1": first.correct,
                "acc": first.percent,
                "hits10": top.correct,
                "acc10": top.percent,
                "paper": list(paper),
                "equals_paper": equal,
            }
        )
    return {
        "table": 1,
        "title": "Multiword expressions: accuracy for the first and the second word",
        "note": "A hit is a candidate that is the word that was there, capitals aside.",
        "cells": cells,
        "intervals": intervals,
    }


def _interval(data: StudyData, ranks: Ranks, k: int) -> Json:
    """The interval of an accuracy; the five sentences of an expression belong together."""
    held = [rank is not None and rank <= k for rank in ranks.values()]
    return interval_json(share_interval(held, Design.of(ranks, _expressions(data))))


def table_2(data: StudyData) -> Json:
    """The printed lists of Table 2 beside hits, since no rule gives these lists."""
    found: Json = {
        "table": 2,
        "title": "Expressions predicted by BERTimbau Large and not by Base",
        "reproducible": False,
        "note": "No rule on hits gives the printed lists; the hits at 1 and among ten are below.",
        "paper": {word: list(names) for word, names in printed.TABLE_2.items()},
    }
    better: Json = {}
    worse: Json = {}
    hits: Json = {}
    for word in WORDS:
        key = _expressions(data)
        base, large = ranks_of(data, BASE, [word]), ranks_of(data, LARGE, [word])
        better[f"W{word}"] = list(groups_better(large, base, key, 1))
        worse[f"W{word}"] = list(groups_better(base, large, key, TOP))
        hits[f"W{word}"] = _hits_of_both(base, large, key)
    return {
        **found,
        "large_gt_base_at1": better,
        "large_lt_base_at10": worse,
        "hits": hits,
    }


def table_3(data: StudyData) -> Json:
    """The expressions that neither BERTimbau model hits among ten in any sentence."""
    paper: dict[str, JsonValue] = {}
    computed: dict[str, JsonValue] = {}
    for word in WORDS:
        models = [ranks_of(data, model, [word]) for model in (BASE, LARGE)]
        names = groups_hit_by_none(models, _expressions(data), TOP)
        paper[f"W{word}"] = [*sorted(printed.TABLE_3[f"W{word}"])]
        computed[f"W{word}"] = [*sorted(names)]
    return {
        "table": 3,
        "title": "Expressions predicted by neither BERTimbau model",
        "note": "No hit among ten in any sentence; the paper calls gatos pingados gato pingado.",
        "paper": paper,
        "computed": computed,
        "equals_paper": {word: paper[word] == computed[word] for word in paper},
    }


def hits_at_k(data: StudyData) -> Json:
    """Hits at 1, 2 and so on up to ten, for each model and word."""
    return {
        f"{model}/W{word}": [share.correct for share in curve(ranks_of(data, model, [word]), TOP)]
        for model in data.predictions
        for word in WORDS
    }


def hits_per_expression(data: StudyData) -> Json:
    """Hits at 1 and among ten of each expression, for each model and word."""
    found: Json = {}
    for model in data.predictions:
        for word in WORDS:
            groups = grouped(ranks_of(data, model, [word]), _expressions(data))
            found[f"{model}/W{word}"] = {name: _two(ranks) for name, ranks in groups.items()}
    return found


def mcnemar_tests(data: StudyData) -> list[JsonValue]:
    """McNemar's test for every pair of models, at 1 and among ten, by word and for both."""
    found: list[JsonValue] = []
    for k in (1, TOP):
        for pair in pairs(data, k, WORDS[:1]):
            names = {pair.first, pair.second}
            for words in (WORDS[:1], WORDS[1:], WORDS):
                chosen = next(
                    each for each in pairs(data, k, words) if {each.first, each.second} == names
                )
                found.append(_test(chosen, words))
    return found


def pairs(data: StudyData, k: int, words: Sequence[str]) -> tuple[PairedHits, ...]:
    """The models in pairs, on the items of some words."""
    return compare_pairs({model: ranks_of(data, model, words) for model in data.predictions}, k)


def _test(pair: PairedHits, words: Sequence[str]) -> Json:
    tests = pair.tests
    return {
        "k": pair.k,
        "a": pair.first,
        "b": pair.second,
        "words": "both" if len(words) > 1 else f"W{words[0]}",
        "only_b": pair.only_second,
        "only_a": pair.only_first,
        "n": pair.n,
        "p_exact": tests["exact"].p,
        "p_chi2_cc": tests["chi-square-corrected"].p,
        "p_chi2": tests["chi-square"].p,
    }


def _expressions(data: StudyData) -> dict[str, str]:
    return {cell.id: cell.columns["expression"] for cell in data.cells}


def _two(ranks: Ranks) -> list[JsonValue]:
    return [accuracy_at(ranks, 1).correct, accuracy_at(ranks, TOP).correct]


def _hits_of_both(base: Ranks, large: Ranks, key: Mapping[str, str]) -> Json:
    ours, theirs = grouped(base, key), grouped(large, key)
    return {name: {"base": _two(ours[name]), "large": _two(theirs[name])} for name in ours}
