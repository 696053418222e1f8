"""Items x respondents: outcomes of runs of any kind, and answers of people, as one table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from cimento.compare.families import families_among, families_given, family_of
from cimento.errors import InputError, UsageError, did_you_mean, need_known
from cimento.io.clusters import CROSSED
from cimento.io.tables import REQUESTS
from cimento.io.tables import TOKENS as TOKENS_TABLE
from cimento.io.values import grouped
from cimento.kinds.surveyor import NOT_COMPARED
from cimento.measures.normalizing import zipf_frequencies
from cimento.paired.item_outcomes import distinct_names, item_outcomes, judged_on_measure
from cimento.records.outcomes import GROUP
from cimento.statistics.design import Floats, Integers, codes
from cimento.suites.derived import Frequency
from cimento.suites.letters import one_spelling
from cimento.suites.stimuli import count_words

if TYPE_CHECKING:
    from cimento.judgments import Judgment
    from cimento.kinds.run import Run

Key: TypeAlias = tuple[str, str]
"""A suite and an item of it."""
TieRule: TypeAlias = Literal["judged", "half"]
"""Whether a tie counts as the run judged it, or as half a correct answer."""
Columns: TypeAlias = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Suite to column to item to cell."""

TOKENS = "tokens"
"""The covariate that counts tokens."""
PERSON = "person"
"""The kind of respondents that are people."""
_WHERE = "cimento analyze items"
_PHENOMENON = "phenomenon"
_TO_JUDGE = "Give runs of suites with predictions, targets or tiers."


@dataclass(frozen=True, slots=True, kw_only=True)
class Respondent:
    """One column of the table: a model or a person.

    Attributes:
        name: its label.
        kind: of the model, or ``person``.
        family: what models that may answer alike have in common; of one alone, its name.
        answers: item to 1 for right, 0 for wrong, and between them a tie.
        ties: number of ties.
        undefined: number of items that were asked and count neither way.
    """

    name: str
    kind: str
    family: str
    answers: Mapping[Key, float]
    ties: int = 0
    undefined: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTable:
    """Items x respondents, with what is known of the items.

    Attributes:
        keys: suite and id of each item.
        respondents: the columns.
        right: items x respondents; NaN where undefined or not asked.
        phenomena: of each item; of one that occurs in several languages, with the language.
        languages: of each item; empty where its suite states none.
        clusters: of each item, the source that it shares with others; None where it stands alone.
        covariates: name to a number for each item.
        texts: item to its conditions and their sentences.
    """

    keys: tuple[Key, ...]
    respondents: tuple[Respondent, ...]
    right: Floats
    phenomena: tuple[str, ...]
    languages: tuple[str, ...]
    clusters: tuple[Key | None, ...]
    covariates: Mapping[str, Floats]
    texts: Mapping[Key, Mapping[str, str]]

    @property
    def phenomenon_codes(self) -> tuple[Integers, list[str]]:
        """The number of each item's phenomenon, and their names in order."""
        return codes(self.phenomena)[0], list(dict.fromkeys(self.phenomena))

    @property
    def cluster_codes(self) -> Integers:
        """The number of each item's cluster; -1 where it stands alone."""
        alone = np.array([cluster is None for cluster in self.clusters], dtype=bool)
        return np.where(alone, -1, codes(self.clusters)[0])


def answer_table(
    runs: Sequence[Run],
    *,
    people: Sequence[Respondent] = (),
    measure: str = "",
    phenomenon: str = "",
    covariates: Sequence[str] = (),
    ties: TieRule = "judged",
    families: Sequence[str] = (),
) -> AnswerTable:
    """The outcomes of runs by their headline questions, as one table.

    Args:
        runs: of any kinds.
        people: further columns.
        measure: to judge on, where there is a choice; empty for that of each run.
        phenomenon: the column of suites that names the phenomenon of an item; empty for a column
            ``phenomenon``, else the phenomenon of the suite, else its name.
        covariates: ``length`` (words), ``tokens`` (of the critical regions, over models),
            ``frequency`` (mean Zipf), or columns with numbers.
        ties: whether a tie counts as it was judged, or half.
        families: of models, each as ``NAME=MODEL,MODEL``; empty for those that names propose.

    Raises:
        UsageError: nothing was judged in the runs, a family names no model, no suite has the
            column of phenomena, or an item lacks a covariate.
        MissingDependencyError: frequencies are wanted, and wordfreq is not installed.
    """
    judged = judged_on_measure(runs, measure)
    models = _in_families(_models(judged, ties), families)
    respondents = (*models, *people)
    if not models or not any(one.answers for one in respondents):
        raise UsageError(where=_WHERE, seen="nothing was judged in these runs", todo=_TO_JUDGE)
    keys = tuple(dict.fromkeys(key for one in models for key in one.answers))
    first_runs = {run.suite_name: run for run in reversed(judged)}
    columns = {name: _columns(run) for name, run in first_runs.items()}
    _need_column(phenomenon, columns)
    texts = {key: text for run in first_runs.values() for key, text in _texts(run).items()}
    languages = tuple(first_runs[suite].suite.meta.language for suite, _ in keys)
    clusters = {key: name for run in first_runs.values() for key, name in _clusters(run).items()}
    return AnswerTable(
        keys=keys,
        respondents=respondents,
        right=np.array([[one.answers.get(key, math.nan) for key in keys] for one in respondents]).T,
        phenomena=_phenomena(keys, first_runs, columns, phenomenon),
        languages=languages,
        clusters=tuple(clusters.get(key) for key in keys),
        covariates={name: _covariate(name, keys, judged, columns, texts) for name in covariates},
        texts=texts,
    )


def has_column(runs: Iterable[Run], name: str) -> bool:
    """Whether a suite of some runs, or its outcomes, have a column."""
    return any(name in _columns(run) for run in runs)


def are_judged(runs: Iterable[Run]) -> bool:
    """Whether some item of some runs is right or wrong; ratings, say, are only correlated."""
    return any(one.outcomes()["right"].is_not_null().any() for one in runs if item_outcomes([one]))


def respondents_of(
    judgments: Sequence[Judgment], runs: Sequence[Run], *, ties: TieRule = "judged"
) -> list[Respondent]:
    """People as respondents, by their choices and ratings of the sentences of suites.

    Args:
        judgments: of any suites; people are told apart by the column ``annotator``.
        runs: of the suites that were asked about.
        ties: whether equal ratings count as wrong, or half.

    Raises:
        InputError: no answer can be used, with the reason for each suite.
    """
    answers: dict[str, dict[Key, float]] = {}
    tied: Counter[str] = Counter()
    reasons = []
    for run in {run.suite_name: run for run in runs}.values():
        surveyor = run.paradigm.surveyor
        verdicts, reason = (
            ({}, NOT_COMPARED) if surveyor is None else surveyor.verdicts(run.suite, judgments)
        )
        if reason:
            reasons.append(f"{run.suite_name}: {reason}")
        for person, by_item in verdicts.items():
            held = answers.setdefault(person, {})
            for item, verdict in by_item.items():
                tie = verdict == "tie"
                tied[person] += tie
                if verdict != "unscored":
                    half = 0.5 if tie and ties == "half" else float(verdict == "pass")
                    held[run.suite_name, item] = half
    if not answers:
        raise InputError(
            where="--judgments",
            seen=f"no answer can be used ({'; '.join(reasons)})",
            todo="Give answers to which of two sentences is better, or ratings of both.",
        )
    return [
        Respondent(name=person, kind=PERSON, family="people", answers=held, ties=tied[person])
        for person, held in answers.items()
    ]


def _models(runs: Sequence[Run], ties: TieRule) -> list[Respondent]:
    """One respondent for each model, with its answers to all suites."""
    import polars as pl

    answers: dict[str, dict[Key, float]] = {}
    facts: dict[str, tuple[str, str]] = {}
    tied: Counter[str] = Counter()
    undefined: Counter[str] = Counter()
    for run, name in zip(runs, distinct_names(runs), strict=True):
        for one in item_outcomes([run]):
            rows = run.outcomes().filter(pl.col("question") == one.question)
            rows = rows.filter(rows["method"] == rows["method"][0]) if len(rows) else rows
            facts.setdefault(name, (one.kind, _named(run)))
            held = answers.setdefault(name, {})
            for item, verdict, right in rows.select("item", "verdict", "right").iter_rows():
                tie = verdict == "tie"
                tied[name] += tie
                if tie and ties == "half":
                    held[run.suite_name, item] = 0.5
                elif right is not None:
                    held[run.suite_name, item] = float(right)
                else:
                    undefined[name] += 1
    return [
        Respondent(
            name=name,
            kind=facts[name][0],
            family=facts[name][1],
            answers=held,
            ties=tied[name],
            undefined=undefined[name],
        )
        for name, held in answers.items()
    ]


def _need_column(name: str, columns: Columns) -> None:
    if not name:
        return
    known = dict.fromkeys(column for of_suite in columns.values() for column in of_suite)
    need_known(name, known, where=f"--phenomenon={name}", seen="no suite has such a column")


def _named(run: Run) -> str:
    return family_of(str(run.manifest.get("named") or run.model))


def _in_families(models: Sequence[Respondent], texts: Sequence[str]) -> list[Respondent]:
    """The models with the families that were given, or else those that they proposed."""
    proposed = {one.name: one.family for one in models}
    families = families_among(proposed, families_given(texts, list(proposed)))
    return [replace(one, family=families[one.name]) for one in models]


def _columns(run: Run) -> dict[str, dict[str, str]]:
    """Column to item to cell, of the groups of outcomes and the free columns of the suite."""
    outcomes = run.outcomes()
    columns: dict[str, dict[str, str]] = {}
    suite: Any = run.suite
    if hasattr(suite, "item_cells"):
        ids = suite.columns.ids
        for name in suite.column_names:
            cells = zip(ids, suite.item_cells(name), strict=True)
            columns[name] = {item: cell for item, cell in cells if cell is not None}
    for name in outcomes.columns:
        if name.startswith(GROUP):
            rows = outcomes.filter(outcomes[name].is_not_null())
            cells = zip(rows["item"].to_list(), rows[name].to_list(), strict=True)
            columns[name.removeprefix(GROUP)] = dict(cells)
    return columns


def _clusters(run: Run) -> dict[Key, Key]:
    """The cluster of each item that has one; clusters are those of their suite.

    The model of items has one effect of sources: of crossed clusters, the first factor counts.
    """
    rows = run.outcomes().select("item", "cluster").drop_nulls().unique(maintain_order=True)
    name = run.suite_name
    return {(name, item): (name, cell.split(CROSSED)[0]) for item, cell in rows.iter_rows()}


def _tokens(keys: Sequence[Key], runs: Sequence[Run]) -> Floats:
    """The mean number of tokens of each item's critical regions, over conditions and models.

    Critical are the regions that predictions need; of a suite without regions, whole sentences.

    Raises:
        UsageError: no model's tokens are known of an item.
    """
    counts = grouped(
        ((run.suite_name, item), tokens)
        for run in runs
        if {TOKENS_TABLE.name, REQUESTS.name} <= run.tables.keys()
        for item, tokens in _tokens_of(run)
    )
    missing = next((key for key in keys if key not in counts), None)
    if missing is not None:
        raise UsageError(
            where=f"--covariate={TOKENS}",
            seen=f"no model's tokens are known of item {missing[1]} of {missing[0]}",
            todo="Leave it out, or take length, in words.",
        )
    return np.array([_mean(counts[key]) for key in keys])


def _tokens_of(run: Run) -> Iterator[tuple[str, float]]:
    """The mean number of tokens in the regions of each item that predictions need."""
    import polars as pl

    places = run.rows(REQUESTS.name).filter(pl.col("needed")).collect()
    tokens = run.rows(TOKENS_TABLE.name).select("request", "end").collect()
    joined = places.join(tokens, on="request", suffix="_token")
    # A token belongs to the region in which it ends; it may begin with the blank before it.
    within = (pl.col("end_token") > pl.col("start")) & (pl.col("end_token") <= pl.col("end"))
    by_condition = joined.filter(within).group_by("item", "condition").len()
    by_item = by_condition.group_by("item", maintain_order=True).agg(pl.col("len").mean())
    yield from by_item.iter_rows()


def _phenomenon(
    key: Key,
    runs: Mapping[str, Run],
    columns: Columns,
    column: str,
) -> str:
    suite, item = key
    cell = columns[suite].get(column or _PHENOMENON, {}).get(item, "")
    return cell or (suite if column else runs[suite].suite.meta.phenomenon or suite)


def _phenomena(
    keys: Sequence[Key], runs: Mapping[str, Run], columns: Columns, column: str
) -> tuple[str, ...]:
    """The phenomenon of each item; one in several languages counts as one in each.

    A model may know one of the languages better.
    """
    told = [
        (_phenomenon(key, runs, columns, column), runs[key[0]].suite.meta.language) for key in keys
    ]
    shared = {name for name, some in grouped(told).items() if len(set(some)) > 1}
    return tuple(
        f"{name} ({language})" if name in shared and language else name for name, language in told
    )


def _texts(run: Run) -> dict[Key, dict[str, str]]:
    """Item to condition to the first text that was asked about it."""
    if REQUESTS.name not in run.tables:
        return {}
    rows = run.rows(REQUESTS.name).select("item", "condition", "text").collect()
    texts: dict[Key, dict[str, str]] = {}
    for item, condition, text in rows.iter_rows():
        if item is not None and text:
            texts.setdefault((run.suite_name, item), {}).setdefault(condition or "", text)
    return texts


def _covariate(
    name: str,
    keys: Sequence[Key],
    judged: Sequence[Run],
    columns: Columns,
    texts: Mapping[Key, Mapping[str, str]],
) -> Floats:
    """A number for each item.

    Raises:
        UsageError: there is no such column, or it is not a number somewhere.
    """
    if name == TOKENS:
        return _tokens(keys, judged)
    if name == "length":
        return np.array([_mean(map(count_words, texts.get(k, {}).values())) for k in keys])
    if name == "frequency":
        languages = {run.suite_name: run.suite.meta.language for run in reversed(judged)}
        tables = {
            suite: zipf_frequencies(language, purpose="--covariate=frequency")
            for suite, language in languages.items()
        }
        missing = [suite for suite, table in tables.items() if table is None]
        if missing:
            raise UsageError(
                where="--covariate=frequency",
                seen=f"no frequencies are known for the language of {', '.join(missing)}",
                todo="Leave it out, or leave these suites out.",
            )
        return np.array([_mean_frequency(texts.get(k, {}), tables[k[0]]) for k in keys])
    numbers = []
    for suite, item in keys:
        cell = columns[suite].get(name, {}).get(item)
        try:
            numbers.append(float(cell or ""))
        except ValueError:
            known = [c for c, cells in columns[suite].items() if _all_numbers(cells.values())]
            raise UsageError(
                where=f"--covariate={name}",
                seen=f"item {item} of {suite} has {'no number there' if cell else 'no such column'}"
                + (f" but {cell!r}" if cell else ""),
                todo=did_you_mean(name, ("length", "tokens", "frequency", *known)),
            ) from None
    return np.array(numbers)


def _all_numbers(cells: Iterable[str]) -> bool:
    try:
        return bool([float(cell) for cell in cells])
    except ValueError:
        return False


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 0.0


def _mean_frequency(texts: Mapping[str, str], frequency: Frequency | None) -> float:
    words = [word for text in texts.values() for word in one_spelling(text).lower().split()]
    bare = [word.strip(".,;:!?\"'()[]«»“”") for word in words]
    return _mean(frequency(word) for word in bare if word) if frequency else 0.0
