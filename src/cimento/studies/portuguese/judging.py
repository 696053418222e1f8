"""The candidates of models for the tests of grammar, judged by a dictionary and by people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.corpus.morphology.dictionaries import dictionary_for
from cimento.paradigms.cloze.judgments import (
    dictionary_readings,
    read_judged_candidates,
    reuse_judgments,
)
from cimento.paradigms.cloze.requests import Candidate
from cimento.studies.portuguese.accuracy import (
    Compared,
    compared,
    judge_errors,
    shipped,
)
from cimento.studies.portuguese.asked import ModelAnswers
from cimento.studies.portuguese.data import JudgedCandidate, StudyData
from cimento.studies.portuguese.estimate import Errors, Verdicts
from cimento.studies.portuguese.judge import Readings, dictionary_verdict

if TYPE_CHECKING:
    from cimento.corpus.morphology import WordReading

DICTIONARY, PEOPLE, ESTIMATED = "dictionary", "people", "estimate"
"""Who judged."""


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
            # Treebanks call some verbs auxiliaries, dictionaries none.
            known[candidate.text] = tuple(
                replace(reading, pos="VERB") if reading.pos == "AUX" else reading
                for reading in look_up(candidate)
            )
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
