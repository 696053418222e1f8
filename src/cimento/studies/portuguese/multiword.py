"""Tables 1 to 3 and the tests behind them: multiword expressions, masked word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from cimento.paradigms.cloze.shares import (
    Ranks,
    accuracy_at,
    curve,
    groups_better,
    groups_hit_by_none,
    hit_by_only,
    hit_ranks,
    is_hit,
    ranks_by_key,
)
from cimento.statistics.design import Design
from cimento.statistics.differences import mcnemar
from cimento.statistics.intervals import share_interval
from cimento.studies.portuguese.data import StudyData
from cimento.studies.portuguese.grammar import PRINTED, Json, interval_json

BASE, LARGE = "bertimbau-base", "bertimbau-large"
TOP = 10
WORDS = ("1", "2")


def ranks_of(data: StudyData, model: str, words: Sequence[str] = WORDS) -> Ranks:
    """The rank of the hit in each multiword item whose masked word is one of `words`."""
    cells = [cell for cell in data.cells if cell.columns["word"] in words]
    wanted = {cell.id for cell in cells}
    return hit_ranks(
        cells, [candidate for candidate in data.predictions[model] if candidate.item in wanted]
    )


def table_1(data: StudyData) -> Json:
    """Accuracy of each model for each word, with the first candidate and among ten."""
    cells: list[Json] = []
    intervals: list[Json] = []
    cases = (
        (model, word, paper)
        for model, words in PRINTED["Table 1"].items()
        for word, paper in words.items()
    )
    for model, word, paper in cases:
        ranks = ranks_of(data, model, [word])
        first, top = accuracy_at(ranks, 1), accuracy_at(ranks, TOP)
        intervals.append({f"k{k}": accuracy_interval(data, ranks, k) for k in (1, TOP)})
        cells.append(
            {
                "model": model,
                "word": int(word),
                "n": first.n,
                "hits1": first.correct,
                "acc": first.percent,
                "hits10": top.correct,
                "acc10": top.percent,
                "paper": list(paper),
                "equals_paper": [first.percent == paper[0], top.percent == paper[1]],
            }
        )
    return {
        "table": 1,
        "title": "Multiword expressions: accuracy for the first and the second word",
        "note": "A hit is a candidate that is the word that was there, capitals aside.",
        "cells": cells,
        "intervals": intervals,
    }


def accuracy_interval(data: StudyData, ranks: Ranks, k: int) -> Json:
    """The interval of an accuracy; the five sentences of an expression belong together."""
    held = [is_hit(rank, k) for rank in ranks.values()]
    return interval_json(share_interval(held, Design.of(ranks, expressions(data))))


def table_2(data: StudyData) -> Json:
    """The printed lists of Table 2 beside hits, since no rule gives these lists."""
    better: Json = {}
    worse: Json = {}
    hits: Json = {}
    key = expressions(data)
    for word in WORDS:
        base, large = ranks_of(data, BASE, [word]), ranks_of(data, LARGE, [word])
        better[f"W{word}"] = list(groups_better(large, base, key, 1))
        worse[f"W{word}"] = list(groups_better(base, large, key, TOP))
        ours, theirs = ranks_by_key(base, key), ranks_by_key(large, key)
        hits[f"W{word}"] = {
            name: {"base": _two(ours[name]), "large": _two(theirs[name])} for name in ours
        }
    return {
        "table": 2,
        "title": "Expressions predicted by BERTimbau Large and not by Base",
        "reproducible": False,
        "note": "No rule on hits gives the printed lists; the hits at 1 and among ten are below.",
        "paper": {word: list(names) for word, names in PRINTED["Table 2"].items()},
        "large_gt_base_at1": better,
        "large_lt_base_at10": worse,
        "hits": hits,
    }


def table_3(data: StudyData) -> Json:
    """The expressions that neither BERTimbau model hits among ten in any sentence."""
    paper: Json = {}
    computed: Json = {}
    for word in WORDS:
        models = [ranks_of(data, model, [word]) for model in (BASE, LARGE)]
        names = groups_hit_by_none(models, expressions(data), TOP)
        paper[f"W{word}"] = [*sorted(PRINTED["Table 3"][f"W{word}"])]
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
    result: Json = {}
    for model in data.predictions:
        for word in WORDS:
            groups = ranks_by_key(ranks_of(data, model, [word]), expressions(data))
            result[f"{model}/W{word}"] = {name: _two(ranks) for name, ranks in groups.items()}
    return result


@dataclass(frozen=True, slots=True)
class PairCounts:
    """Two models on the same items, as the paper compares them: item by item.

    Attributes:
        first: name of a model.
        second: name of the other.
        only_first: items that only the first hits.
        only_second: items that only the second hits.
        n: all items.
    """

    first: str
    second: str
    only_first: int
    only_second: int
    n: int

    def p(self, variant: str) -> float | None:
        """McNemar's test in a variant (`statistics.paired.mcnemar`)."""
        return mcnemar(self.only_first, self.only_second, variant=variant).p


def mcnemar_tests(data: StudyData) -> list[Json]:
    """McNemar's test for every pair of models, at 1 and among ten, by word and for both."""
    rows: list[Json] = []
    for k in (1, TOP):
        for first, second in combinations(data.predictions, 2):
            for words in (WORDS[:1], WORDS[1:], WORDS):
                pair = count_pair(data, first, second, k, words)
                rows.append(
                    {
                        "k": k,
                        "a": first,
                        "b": second,
                        "words": "both" if len(words) > 1 else f"W{words[0]}",
                        "only_b": pair.only_second,
                        "only_a": pair.only_first,
                        "n": pair.n,
                        "p_exact": pair.p("exact"),
                        "p_chi2_cc": pair.p("chi-square-corrected"),
                        "p_chi2": pair.p("chi-square"),
                    }
                )
    return rows


def count_pair(
    data: StudyData, first: str, second: str, k: int, words: Sequence[str]
) -> PairCounts:
    """Two models on the items of some words, at a rank."""
    one, other = ranks_of(data, first, words), ranks_of(data, second, words)
    return PairCounts(
        first,
        second,
        len(hit_by_only(one, other, k)),
        len(hit_by_only(other, one, k)),
        len(one),
    )


def expressions(data: StudyData) -> dict[str, str]:
    """Item to the expression that it is about."""
    return {cell.id: cell.columns["expression"] for cell in data.cells}


def _two(ranks: Ranks) -> list[int]:
    return [accuracy_at(ranks, 1).correct, accuracy_at(ranks, TOP).correct]
