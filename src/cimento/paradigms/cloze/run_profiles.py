"""The profiles of stored runs, with what people and a dictionary say of the candidates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.errors import InputError, need_known
from cimento.intake.tables import open_table
from cimento.paradigms.cloze.figures import dimensions_figure, expressions_figure
from cimento.paradigms.cloze.judging import judged_by
from cimento.paradigms.cloze.judgments import (
    JudgmentComparison,
    compare_judgments,
    human_judgments,
    read_judged_candidates,
    reuse_judgments,
    with_remarks,
)
from cimento.paradigms.cloze.people import PeopleReport, compare_with_people, read_option_counts
from cimento.paradigms.cloze.profile import (
    Profile,
    Profiling,
    as_record,
    choose_expressions,
    open_cloze_runs,
    profile,
    without_hits,
)
from cimento.paradigms.cloze.requests import Candidate, ClozeAnswers, check_candidates
from cimento.paradigms.cloze.text import (
    compared_text,
    comparison_text,
    people_text,
    profile_text,
)
from cimento.records.blanks import of_method, reach_notes, reach_of
from cimento.suites.cells import need_columns

if TYPE_CHECKING:
    from cimento.report.figures import Figure
    from cimento.suites import JsonValue
    from cimento.suites.cloze import ClozeItem


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSettings:
    """What profiles of runs are made of; see the options of ``cimento analyze profile``.

    Attributes:
        by: the column whose values are the dimensions, or several with commas between.
        k: candidates that count.
        method: how the candidates were found; empty for the first method of each run.
        dictionary: name of the dictionary that judges candidates; empty for none.
        judgments: a table of judged candidates; None for none.
        not_expected: remarks that say that a candidate is not what was asked for.
        threshold: probability above which candidates are counted apart.
        top_p: probability that candidates reach together; None for none.
        frequency: whether hits are related to the frequency of their targets.
        ratings: a table with expressions and ratings; None for all expressions.
        at_most: the highest rating of an expression that counts.
        people: a table of what people chose; None for none.
        rule: the rule by which options were scored; empty for the last one.
        cluster: columns by which items belong together; empty for those of each suite.
    """

    by: str = ""
    k: int = 10
    method: str = ""
    dictionary: str = ""
    judgments: Path | None = None
    not_expected: tuple[str, ...] = ()
    threshold: float = 0.5
    top_p: float | None = None
    frequency: bool = False
    ratings: Path | None = None
    at_most: float = 1.0
    people: Path | None = None
    rule: str = ""
    cluster: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledRun:
    """One run, with all of its results.

    Attributes:
        answers: the run.
        method: how its candidates were found.
        items: the items that count.
        candidates: their candidates, judged as well as may be.
        comparison: the dictionary beside people; None without a dictionary.
        profile: the profile.
        people: people's choices beside the scores of the options; None without them.
    """

    answers: ClozeAnswers
    method: str
    items: Sequence[ClozeItem]
    candidates: Sequence[Candidate]
    comparison: JudgmentComparison | None
    profile: Profile
    people: PeopleReport | None


@dataclass(frozen=True, slots=True)
class RunProfiles:
    """The profiles of some runs.

    Attributes:
        runs: the runs with their results.
        k: candidates that count.
    """

    runs: tuple[ProfiledRun, ...]
    k: int

    def figure(self, name: str | None) -> Figure:
        """A figure: ``heat`` of expressions, or ``dimensions``; None for the first there is."""
        profiles = [(result.answers.run.model, result.profile) for result in self.runs]
        has_expressions = any(shown.heat for _, shown in profiles)
        if name == "heat" or (name is None and has_expressions):
            return expressions_figure(profiles)
        return dimensions_figure(profiles)

    def plain(self) -> JsonValue:
        """The profiles as JSON."""
        profiles: list[JsonValue] = [
            {
                "suite": result.answers.suite.name,
                "model": result.answers.run.model,
                "method": result.method,
                **cast("dict[str, JsonValue]", as_record(result.profile)),
                "dictionary_and_people": as_record(result.comparison),
                "people": as_record(result.people),
            }
            for result in self.runs
        ]
        return {"profiles": profiles}

    def text(self) -> str:
        """The profile of each run, then a comparison of the models on each suite."""
        texts = []
        suites: dict[str, list[ProfiledRun]] = {}
        for result in self.runs:
            name, comparison = result.answers.suite.name, result.comparison
            parts = [
                profile_text(name, result.answers.run.model, result.method, result.profile),
                *reach_notes(of_method(result.answers.run.estimates(), result.method)),
                comparison_text(comparison) if comparison else "",
                people_text(result.people) if result.people else "",
            ]
            texts.append("\n".join(filter(None, parts)))
            if not _finds_none(result.answers, result.method):
                suites.setdefault(name, []).append(result)
        for name, group in suites.items():
            if len(group) > 1:
                asked = {
                    result.answers.run.model: (result.items, result.candidates) for result in group
                }
                kinds = [result.answers.run.model_kind for result in group]
                texts.append(
                    compared_text(
                        name, asked, self.k, cluster=group[0].answers.suite.cluster, kinds=kinds
                    )
                )
        return "\n\n".join(texts)


def profile_runs(
    folders: Iterable[Path],
    settings: ProfileSettings,
    *,
    remark: Callable[[str], None] = lambda _text: None,
) -> RunProfiles:
    """The profiles of the runs of cloze suites in some folders.

    Args:
        folders: folders of runs, or of single ones.
        settings: what the profiles are made of.
        remark: is told what is missing, and which earlier judgments were used.

    Raises:
        TableError: a folder holds no such run, or one that cannot be read.
        InputError: a table cannot be used.
        UsageError: no item has a column, or a run has no such candidates or options.
    """
    rated = _ratings(settings.ratings) if settings.ratings else None
    runs = open_cloze_runs(folders, cluster=settings.cluster)
    return RunProfiles(
        tuple(_profiled(answers, settings, rated, remark) for answers in runs), settings.k
    )


def _profiled(
    answers: ClozeAnswers,
    settings: ProfileSettings,
    rated: Mapping[str, float] | None,
    remark: Callable[[str], None],
) -> ProfiledRun:
    """The profile of one run."""
    items: Sequence[ClozeItem] = answers.items
    if rated is not None:
        items = choose_expressions(items, rated, at_most=settings.at_most)
    method = settings.method or (answers.methods[0] if answers.methods else "")
    candidates, comparison = _judged(answers, items, method, settings, remark)
    language, frequency = answers.suite.meta.language, None
    if settings.frequency:
        from cimento.measures.normalizing import zipf_frequencies

        frequency = zipf_frequencies(language, purpose="--frequency")
        if frequency is None:
            remark(f"warning: there are no frequencies for the language {language!r}")
    profiling = Profiling(
        k=settings.k,
        by=settings.by,
        cluster=answers.suite.cluster,
        remarks=settings.not_expected,
        threshold=settings.threshold,
        frequency=frequency,
        top_p=settings.top_p,
    )
    made = profile(items, candidates, profiling)
    return ProfiledRun(
        answers=answers,
        method=method,
        items=items,
        candidates=candidates,
        comparison=comparison,
        profile=without_hits(made) if _finds_none(answers, method) else made,
        people=_people(answers, items, settings),
    )


def _finds_none(answers: ClozeAnswers, method: str) -> bool:
    """Whether no expected answer can be found in some way."""
    reach = reach_of(of_method(answers.run.estimates(), method))
    return reach is not None and not reach.found


def _people(
    answers: ClozeAnswers, items: Sequence[ClozeItem], settings: ProfileSettings
) -> PeopleReport | None:
    """People's choices next to the run's scores of the settings."""
    if settings.people is None:
        return None
    if rule := settings.rule:
        seen = f"{answers.run.folder or answers.run.model} has no options scored by it"
        need_known(rule, answers.choices, where=f"--rule {rule}", seen=seen)
    offered_by_item = answers.by_rule(rule or answers.choices[-1]) if answers.choices else {}
    scores = {
        item: {candidate.text: candidate.logprob_nats for candidate in offered}
        for item, offered in offered_by_item.items()
    }
    return compare_with_people(items, read_option_counts(settings.people, items), scores)


def _judged(
    answers: ClozeAnswers,
    items: Sequence[ClozeItem],
    method: str,
    settings: ProfileSettings,
    remark: Callable[[str], None],
) -> tuple[list[Candidate], JudgmentComparison | None]:
    """The candidates of the chosen items, with people's and the dictionary's judgments."""
    need_known(
        method,
        answers.methods,
        where=f"--method {method}",
        seen=f"{answers.run.folder or answers.run.model} has no such candidates",
    )
    ids = {item.id for item in items}
    said = human_judgments(answers.run.folder)
    plain = judged_by(answers, method, people=said, dictionary=None)
    chosen = [candidate for candidate in plain if candidate.item in ids]
    person = _with_people(answers, chosen, settings.judgments, remark)
    judged = person
    comparison = None
    if settings.dictionary:
        from cimento.corpus.morphology.dictionaries import dictionary_for, faults_of

        opened = dictionary_for(settings.dictionary, answers.suite.meta.language)
        for fault in faults_of(opened):
            remark(f"warning: {fault}")
        alone = judged_by(answers, method, people={}, dictionary=opened)
        rule = [candidate for candidate in alone if candidate.item in ids]
        compared = compare_judgments(
            rule,
            person,
            cluster_of=lambda candidate: answers.belongs_to[candidate.item],
        )
        comparison = compared if compared.n else None
        judged = [
            by_person
            if by_person.fits is not None
            else dataclasses.replace(by_person, fits=by_rule.fits)
            for by_person, by_rule in zip(person, rule, strict=True)
        ]
    for warning in check_candidates(judged, items=[item.id for item in items]):
        remark(f"warning: {answers.suite.name}: {warning}")
    return judged, comparison


def _with_people(
    answers: ClozeAnswers,
    candidates: Sequence[Candidate],
    judgments: Path | None,
    remark: Callable[[str], None],
) -> list[Candidate]:
    """The candidates with remarks, and with earlier judgments if there are any."""
    remarked = with_remarks(answers.run.folder, candidates)
    if judgments is None:
        return remarked
    reused = reuse_judgments(remarked, read_judged_candidates(judgments))
    remark(f"Earlier judgments used: {reused.taken}; candidates that are new: {len(reused.new)}.")
    return list(reused.candidates)


def _ratings(path: Path) -> dict[str, float]:
    table = open_table(path)
    need_columns(table, ("expression", "rating"))
    values = {}
    for row in table.rows:
        text = row.cells["rating"].strip()
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(
                where=table.where(row), seen=f"no number: {text!r}", todo="Correct it."
            )
        values[row.cells["expression"].strip()] = value
    return values
