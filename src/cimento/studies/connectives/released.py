"""Statistics of released data that can be beside the connectives resource, which is not public.

AcCompl-it, DisCoTEX, Lau et al. 2020, BLiMP's human answers, ItaCoLA's players and the surprisals
of Britton et al. 2024, each from the files that are in a folder, found under the names of its
release. What has no file is left out and named.
"""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cimento.errors import InputError
from cimento.intake.decoding import open_text
from cimento.intake.tables import open_table
from cimento.io.files import file_digest
from cimento.io.values import group_by
from cimento.paradigms.ratings.people import read_forced_choices
from cimento.studies import equals_printed, first_below, same_decimals
from cimento.suites import JsonValue
from cimento.suites.formats.ratings import PRINTED_MEAN, read_rated
from cimento.suites.ratings import RatedSentence, RatedSet


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedSet:
    """Files that were released together.

    Attributes:
        names: of the files, each of which is found in the folder or below it.
        where: they are released.
        what: they are.
        also: another name of each, where there is one, with ``*`` for anything.
    """

    names: tuple[str, ...]
    where: str
    what: str
    also: Mapping[str, str]


ACCEPTABILITY = ("ACCEPT-Corpus-training.tsv", "acceptability-set-test.tsv")
COMPLEXITY = ("COMPL-Corpus-training.tsv", "complexity-set-test.tsv")
DISCOTEX = ("discotex_2_train_clean_release.tsv", "discotex_2_test_set_release.tsv")
LAU = ("context-none-ratings.csv", "context-real-ratings.csv")
BRITTON = "Italian_LM_data.csv"
BLIMP = "blimp_human_validation_rawMTurk.csv"
PUBLISHED_BLIMP = "human_validation_summary.csv"
ITACOLA = "ItaCoLA_dataset.tsv"
PLAYERS = "acceptability_dataset_non-expertannotations.tsv"

SETS: tuple[ReleasedSet, ...] = (
    ReleasedSet(
        names=(*ACCEPTABILITY, *COMPLEXITY),
        where="sites.google.com/view/accompl-it",
        what="AcCompl-it (EVALITA 2020), ratings of Italian sentences",
        also={name: f"*_{name}" for name in (*ACCEPTABILITY, *COMPLEXITY)},
    ),
    ReleasedSet(
        names=DISCOTEX,
        where="github.com/davidecolla/DisCoTex",
        what="DisCoTEX (EVALITA 2023), coherence of Italian texts",
        also={},
    ),
    ReleasedSet(
        names=LAU,
        where="github.com/jhlau/acceptability-prediction-in-context",
        what="ratings of Lau et al. 2020",
        also={name: f"*_{name}" for name in LAU},
    ),
    ReleasedSet(
        names=(BRITTON,),
        where="github.com/yancong222/LMs-discourse-connectives-Surprisals",
        what="surprisals of Britton et al. 2024",
        also={},
    ),
    ReleasedSet(
        names=(BLIMP, PUBLISHED_BLIMP),
        where="raw_results of github.com/alexwarstadt/blimp",
        what="BLiMP's human answers",
        also={PUBLISHED_BLIMP: f"*_{PUBLISHED_BLIMP}"},
    ),
    ReleasedSet(
        names=(ITACOLA, PLAYERS),
        where="github.com/dhfbk/ItaCoLA-dataset",
        what="ItaCoLA, and answers of players",
        also={PLAYERS: "ItaCoLA_dataset_non-expertannotations.tsv"},
    ),
)

_TREEBANKS = (
    "it_isdt-ud-*.conllu, it_postwita-ud-*.conllu, it_twittiro-ud-*.conllu: Table 6, release 2.5,"
    " 2.6 or 2.7 of universaldependencies.org"
)
_WITHOUT = (
    "Without any, `cimento study connectives` checks the printed tables, and -m MODEL asks our own"
    " items and sets the printed rows above"
)


def _find_released(folder: Path, name: str) -> Path | None:
    """A released file in a folder or below it; None where it is not there."""
    other = next((dataset.also[name] for dataset in SETS if name in dataset.also), None)
    return first_below(folder, name) or (first_below(folder, other) if other else None)


def nothing_there(folder: Path) -> InputError:
    """The error of a folder with none of the files; it says what is looked for, and where it is."""
    looked = [f"{', '.join(dataset.names)}: {dataset.what}, {dataset.where}" for dataset in SETS]
    return InputError(
        where=str(folder),
        seen="none of the released files is there or below",
        todo=f"Looked for are these, each as released. {'; '.join([*looked, _TREEBANKS])}."
        f" {_WITHOUT}. Your copy of the resource itself is for --own.",
    )


_OFTEN = 20
_FAST_SECONDS = 30
_ROUNDED = 1e-6


@dataclass(frozen=True, slots=True)
class ReleasedStatistics:
    """What was computed, and what could not be.

    Attributes:
        values: name of a data set to its statistics.
        absent: files that were not there.
    """

    values: dict[str, JsonValue]
    absent: tuple[str, ...]


def released(folder: Path) -> ReleasedStatistics:
    """Every statistic that the files of a folder allow.

    Args:
        folder: with the files in it or below, under the names of their releases.

    Raises:
        InputError: a file is there and cannot be used.
    """
    of_blimp = partial(_blimp, published=_find_released(folder, PUBLISHED_BLIMP))
    accomplit = (*ACCEPTABILITY, *COMPLEXITY)
    parts: tuple[tuple[str, tuple[str, ...], Callable[[Sequence[Path]], JsonValue]], ...] = (
        ("lau2020_none", LAU[:1], _lau),
        ("lau2020_real", LAU[1:], _lau),
        ("lau2020_none_vs_real", LAU, _lau_contexts),
        ("lau2020_none_vs_whitespace_length", LAU[:1], _lau_length),
        ("britton2024_lm", (BRITTON,), _britton),
        ("itacola_nonexpert", (PLAYERS,), _players),
        ("itacola", (ITACOLA,), _itacola),
        ("blimp_human", (BLIMP,), of_blimp),
        *((f"accomplit_{name}", (name,), _accomplit) for name in accomplit),
        ("accomplit_acceptability", ACCEPTABILITY, _accomplit_together),
        ("accomplit_complexity", COMPLEXITY, _accomplit_together),
        ("accomplit_shared_ids", accomplit, _accomplit_shared),
        *((name, (name,), _discotex) for name in DISCOTEX),
    )
    paths = {
        name: path
        for name in dict.fromkeys(name for _, names, _ in parts for name in names)
        if (path := _find_released(folder, name)) is not None
    }
    values = {
        part: compute([paths[name] for name in names])
        for part, names, compute in parts
        if paths.keys() >= set(names)
    }
    absent = dict.fromkeys(name for _, names, _ in parts for name in names if name not in paths)
    return ReleasedStatistics(values, tuple(absent))


def correlations(x: Sequence[float], y: Sequence[float]) -> dict[str, JsonValue]:
    """Three coefficients, each with its p, which allows for nothing that rows may share."""
    from cimento.statistics.correlation import coefficient

    coefficients: dict[str, JsonValue] = {"n": len(x)}
    for kind, name in (("spearman", "spearman"), ("pearson", "pearson"), ("kendall", "kendall_b")):
        correlation = coefficient(x, y, kind=kind)
        coefficients[name] = [correlation.r, correlation.p_asymptotic]
    coefficients["p"] = "asymptotic, of rows taken as independent, not adjusted"
    return coefficients


def _lau(paths: Sequence[Path]) -> JsonValue:
    from cimento.statistics.agreement import krippendorff_alpha

    rated = read_rated(paths[0])
    lists = [[rating.value for rating in sentence.ratings] for sentence in rated.sentences]
    flat = [value for values in lists for value in values]
    means = _means(rated.sentences)
    groups = group_by(rated.sentences, lambda sentence: sentence.columns["translated"])
    return {
        "file": paths[0].name,
        "sha256": file_digest(paths[0]),
        "items": len(lists),
        "ratings": len(flat),
        "min_per_item": min(map(len, lists)),
        "max_per_item": max(map(len, lists)),
        "scale": [min(flat), max(flat)],
        "grand_mean_of_item_means": _mean(means),
        "sd_of_item_means_ddof1": _sd(means),
        "mean_of_item_sds_ddof1": _mean([sentence.sd or 0.0 for sentence in rated.sentences]),
        "max_abs_dev_from_mean_ratings_column": max(
            abs(float(sentence.columns[PRINTED_MEAN]) - mean)
            for sentence, mean in zip(rated.sentences, means, strict=True)
        ),
        "alpha": {
            level: krippendorff_alpha(lists, scale=level).value
            for level in ("nominal", "ordinal", "interval")
        },
        "by_translated": {
            name: {"n": len(group), "mean": _mean(_means(group)), "sd": _sd(_means(group))}
            for name, group in groups.items()
        },
    }


def _lau_contexts(paths: Sequence[Path]) -> JsonValue:
    return _correlated(*([read_rated(path)] for path in paths))


def _lau_length(paths: Sequence[Path]) -> JsonValue:
    sentences = read_rated(paths[0]).sentences
    return correlations(_means(sentences), _lengths(sentences))


def _britton(paths: Sequence[Path]) -> JsonValue:
    """Surprisals of two models of the same 800 items; the first column has no name."""
    rows = _rows(paths[0])
    models = ("ita_surp_GePpeTto", "ita_surp_GroNLP")
    try:
        columns = [[float(row[name]) for row in rows] for name in models]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            where=str(paths[0]),
            seen=f"the columns {' and '.join(models)} are not numbers in every row",
            todo="Is it the file of Britton et al. 2024?",
        ) from error
    return {
        "sha256": file_digest(paths[0]),
        "rows": len(rows),
        "geppetto_vs_gronlp": correlations(*columns),
    }


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file of which a column may have no name."""
    try:
        return list(csv.DictReader(io.StringIO(open_text(path), newline="")))
    except csv.Error as error:
        raise InputError(
            where=str(path), seen=f"is not CSV ({error})", todo="Save it so."
        ) from error


def _players(paths: Sequence[Path]) -> JsonValue:
    from cimento.statistics.agreement import krippendorff_alpha

    rated = read_rated(paths[0])
    lists = [[rating.value for rating in sentence.ratings] for sentence in rated.sentences]
    people = Counter(rating.participant for one in rated.sentences for rating in one.ratings)
    majority = [_majority(values) for values in lists]
    experts = [float(sentence.label == "acceptable") for sentence in rated.sentences]
    column = [float(sentence.columns["players"]) for sentence in rated.sentences]
    return {
        "sha256": file_digest(paths[0]),
        "items": len(lists),
        "judgements": sum(map(len, lists)),
        "annotators": len(people),
        "annotators_with_at_least_20": sum(count >= _OFTEN for count in people.values()),
        "min_per_item": min(map(len, lists)),
        "max_per_item": max(map(len, lists)),
        "ties": sum(vote is None for vote in majority),
        "num_annotations_mismatch": sum(
            int(float(sentence.columns["printed_n"])) != len(sentence.ratings)
            for sentence in rated.sentences
        ),
        "majority_equals_column": _equal_shares(majority, column),
        "majority_equals_expert": _equal_shares(majority, experts),
        "column_equals_expert": _equal_shares(column, experts),
        "alpha_nominal": krippendorff_alpha(lists).value,
    }


def _itacola(paths: Sequence[Path]) -> JsonValue:
    sentences = read_rated(paths[0]).sentences
    return {
        "sha256": file_digest(paths[0]),
        "rows": len(sentences),
        "by_split": _counts(sentence.columns["split"] for sentence in sentences),
        "by_label": _counts(str(int(sentence.label == "acceptable")) for sentence in sentences),
    }


def _blimp(paths: Sequence[Path], published: Path | None) -> JsonValue:
    from cimento.paradigms.ratings.people import attentive, preference_by_paradigm
    from cimento.statistics.agreement import krippendorff_alpha

    choices = read_forced_choices(paths[0])
    kept = [choice for choice in attentive(choices) if choice.chose_good is not None]
    seconds = {choice.sheet: choice.seconds for choice in choices}
    means = preference_by_paradigm(kept)
    pairs = group_by(kept, lambda choice: (choice.good, choice.bad)).values()
    items = [[float(bool(choice.chose_good)) for choice in pair] for pair in pairs]
    majority = [_majority(values) for values in items]
    return {
        "sha256": file_digest(paths[0]),
        "hits": len(seconds),
        "failed_attention": len(seconds) - len({choice.sheet for choice in attentive(choices)}),
        "hits_under_30_seconds": sum((second or 0) < _FAST_SECONDS for second in seconds.values()),
        "annotators": len({choice.annotator for choice in choices}),
        "judgements_kept": len(kept),
        "paradigms": len(means),
        **_beside_published(means, published),
        "item_majority_correct": sum(vote == 1 for vote in majority),
        "item_ties": sum(vote is None for vote in majority),
        "items": len(items),
        "alpha_nominal": krippendorff_alpha(items).value,
    }


def _beside_published(means: Mapping[str, float], path: Path | None) -> dict[str, JsonValue]:
    """BLiMP's published means beside these; nothing where its summary is not at hand.

    One paradigm has answers and no published mean; it is in no number here.
    """
    if path is None:
        return {}
    try:
        rows = _rows(path)
        texts = same_decimals(row["total_mean"] for row in rows)
        printed = {row["Condition"]: text for row, text in zip(rows, texts, strict=True)}
        values = {name: float(text) for name, text in printed.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            where=str(path),
            seen="the column total_mean is not a number in every row, or there is no Condition",
            todo="Is it the summary of BLiMP's human validation?",
        ) from error
    shared = [name for name in printed if name in means]
    return {
        "published_paradigms": len(printed),
        "exactly_reproduced": sum(equals_printed(means[name], printed[name]) for name in shared),
        "worst_difference": max((abs(means[name] - values[name]) for name in shared), default=0.0),
        "macro_mean": _mean([means[name] for name in shared]),
    }


def _accomplit(paths: Sequence[Path]) -> JsonValue:
    rated = read_rated(paths[0])
    sentences = rated.sentences
    numbers = [sentence.n or 0 for sentence in sentences]
    cells = [cell for sentence in sentences for cell in (sentence.n, sentence.mean, sentence.sd)]
    scale = rated.scale
    return {
        "sha256": file_digest(paths[0]),
        "rows": len(sentences),
        "columns": _columns(paths[0]),
        "bad_cells": sum(cell is None for cell in cells),
        "means_outside_1_7": sum(not scale.holds(m) for m in _means(sentences)) if scale else None,
        "N_min": min(numbers),
        "N_max": max(numbers),
        "mean_of_means": _mean(_means(sentences)),
        "se_equals_sd_over_sqrtN": sum(map(_se_is_right, sentences)),
        "by_reference": _counts(sentence.columns["reference"] for sentence in sentences),
        "mean_vs_whitespace_length": correlations(_means(sentences), _lengths(sentences)),
    }


def _accomplit_together(paths: Sequence[Path]) -> JsonValue:
    sentences = [sentence for path in paths for sentence in read_rated(path).sentences]
    numbers = [sentence.n or 0 for sentence in sentences]
    return {
        "sentences": len(sentences),
        "distinct_ids": len({sentence.id for sentence in sentences}),
        "total_judgements": sum(numbers),
        "mean_N": sum(numbers) / len(numbers),
    }


def _accomplit_shared(paths: Sequence[Path]) -> JsonValue:
    """Sentences rated for both: ids that are in both tasks."""
    half = len(ACCEPTABILITY)
    correlated = _correlated(*(map(read_rated, part) for part in (paths[:half], paths[half:])))
    return {"n": correlated["n"], "acceptability_vs_complexity": correlated}


def _discotex(paths: Sequence[Path]) -> JsonValue:
    sentences = read_rated(paths[0]).sentences
    means = _means(sentences)
    return {
        "sha256": file_digest(paths[0]),
        "rows": len(means),
        "columns": _columns(paths[0]),
        "mean": _mean(means),
        "sd_ddof1": _sd(means),
        "min": min(means),
        "max": max(means),
        "score_vs_whitespace_length": correlations(means, _lengths(sentences)),
    }


def _means(sentences: Iterable[RatedSentence]) -> list[float]:
    return [sentence.mean for sentence in sentences if sentence.mean is not None]


def _lengths(sentences: Iterable[RatedSentence]) -> list[float]:
    """Lengths in maximal runs without white space."""
    return [float(len(sentence.text.split())) for sentence in sentences]


def _correlated(one: Iterable[RatedSet], other: Iterable[RatedSet]) -> dict[str, JsonValue]:
    """The means of sentences that are in both of two collections, by their ids, correlated."""
    first, second = (
        {sentence.id: sentence for rated in sets for sentence in rated.sentences}
        for sets in (one, other)
    )
    ids = [id_ for id_ in first if id_ in second]
    return correlations(*(_means([scores[id_] for id_ in ids]) for scores in (first, second)))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _sd(values: Sequence[float]) -> float | None:
    """With n - 1; None of fewer than two values."""
    return statistics.stdev(values) if len(values) > 1 else None


def _majority(values: Sequence[float]) -> float | None:
    """The more frequent of 0 and 1; None for a tie."""
    half = sum(values) / len(values)
    return None if half == 0.5 else float(half > 0.5)  # noqa: PLR2004  # a half is a tie


def _equal_shares(first: Sequence[float | None], second: Sequence[float | None]) -> int:
    return sum(a == b for a, b in zip(first, second, strict=True))


def _counts(values: Iterable[str]) -> dict[str, JsonValue]:
    return {**Counter(values)}


def _se_is_right(sentence: RatedSentence) -> bool:
    """Whether the printed standard error is sd / sqrt(N), to the digits printed."""
    if sentence.sd is None or not sentence.n:
        return False
    return abs(float(sentence.columns["se"]) - sentence.sd / math.sqrt(sentence.n)) < _ROUNDED


def _columns(path: Path) -> list[JsonValue]:
    return list(open_table(path).columns)
