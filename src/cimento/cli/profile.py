"""``cimento profile``: the results of models by dimension of a cloze suite, from stored runs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from cimento.cli.console import note, show, show_json
from cimento.cli.flags import SheetOptions, command_of
from cimento.cli.resources import open_named
from cimento.errors import InputError, need_known
from cimento.io.declared import Texts, option
from cimento.options import run_option
from cimento.paradigms.ratings.cells import need_columns

if TYPE_CHECKING:
    from cimento.paradigms.cloze.judgments import JudgmentComparison
    from cimento.paradigms.cloze.people import PeopleReport
    from cimento.paradigms.cloze.profile import Profile
    from cimento.paradigms.cloze.requests import Candidate, ClozeAnswers
    from cimento.paradigms.cloze.suite import ClozeItem
    from cimento.report.figures import Figure
    from cimento.suites import JsonValue

FigureName: TypeAlias = Literal["heat", "dimensions"]


class ProfileOptions(SheetOptions):
    """The runs, the dimensions, and the sources of comparison."""

    runs: tuple[Path, ...] = option(..., "Runs of cloze suites, or folders of.", argument="RUN...")
    by: str = option("", "A column whose values are dimensions; or several: a,b.")
    k: int = option(
        10,
        "Candidates that count.",
        flags=(
            "-k",
            "--top",
        ),
        ge=1,
    )
    method: str = option("", "Candidates of this protocol; else of the first.")
    dictionary: str = option("", "Judges by what items expect: delaf:FILE, rules:pt, pymorphy3.")
    judgments: Path | None = option(None, "A table of judged candidates.")
    not_expected: Texts = option(
        (), "A remark that says that a candidate is not what was asked for. May be repeated."
    )
    threshold: float = option(0.5, "Candidates above it are counted.", ge=0, le=1)
    top_p: float | None = option(
        None, "Is the target among the candidates that together reach this?", ge=0, le=1
    )
    frequency: bool = option(default=False, help="Relate hits to the frequency of their targets.")
    ratings: Path | None = option(None, "A table with expression and rating (0: an idiom).")
    at_most: float = option(1.0, "Leave expressions with a higher rating out.")
    people: Path | None = option(None, "A table of what people chose: item, option, count.")
    rule: str = option("", "Options as scored by this rule; else by the last.")
    output: Path | None = option(
        None, "Also a figure: .svg, .png, .pdf, .csv or .json.", flags=("-o",)
    )
    figure: FigureName | None = option(
        None, "heat: expressions; dimensions. The first that there is."
    )
    seed: int = option(0, "Seed of the simulated chance levels.")
    as_json: bool = run_option("as_json")


@command_of
def profile(options: ProfileOptions) -> None:
    """Print the profile of each run: hits and fitting shares by dimension, confidence, calibration.

    Also: if the options are among the candidates, the hits of each expression; the relation to word
        frequency; and for several runs of a suite, the items that one hits and another does not.
    """
    from cimento.paradigms.cloze.profile import open_cloze_runs

    rated = _ratings(options.ratings) if options.ratings else None
    results = [_found(answers, options, rated) for answers in open_cloze_runs(options.runs)]
    if options.output is not None:
        drawn = _draw(results, options.figure).write(options.output)
        options.neutralize(drawn)
        note(f"Written: {drawn}")
    if options.as_json:
        show_json(_plain(results))
    else:
        show(_as_text(results, options.k))


@dataclass(frozen=True, slots=True, kw_only=True)
class _RunResults:
    """One run, with all of its results.

    The candidates are known as well as may be; the comparison is of the dictionary with people.
    """

    answers: ClozeAnswers
    method: str
    items: Sequence[ClozeItem]
    candidates: Sequence[Candidate]
    comparison: JudgmentComparison | None
    profile: Profile
    people: PeopleReport | None


def _found(
    answers: ClozeAnswers, options: ProfileOptions, rated: Mapping[str, float] | None
) -> _RunResults:
    """The profile of one run."""
    from cimento.paradigms.cloze.profile import Profiling, choose_expressions
    from cimento.paradigms.cloze.profile import profile as compute

    items: Sequence[ClozeItem] = answers.items
    if rated is not None:
        items = choose_expressions(items, rated, at_most=options.at_most)
    method = options.method or (answers.methods[0] if answers.methods else "")
    candidates, comparison = _judged(answers, items, method, options)
    language, frequency = answers.suite.meta.language, None
    if options.frequency:
        from cimento.measures.normalizing import zipf_frequencies

        frequency = zipf_frequencies(language, purpose="--frequency")
        if frequency is None:
            note(f"warning: there are no frequencies for the language {language!r}")
    profiling = options.named_in(
        Profiling,
        remarks=options.not_expected,
        cluster=answers.suite.cluster,
        frequency=frequency,
    )
    return _RunResults(
        answers=answers,
        method=method,
        items=items,
        candidates=candidates,
        comparison=comparison,
        profile=compute(items, candidates, profiling),
        people=_people(answers, items, options),
    )


def _draw(results: Sequence[_RunResults], figure: FigureName | None) -> Figure:
    from cimento.paradigms.cloze.sections import dimensions_figure, expressions_figure

    profiles = [(result.answers.run.model, result.profile) for result in results]
    has_expressions = any(shown.heat for _, shown in profiles)
    if figure == "heat" or (figure is None and has_expressions):
        return expressions_figure(profiles)
    return dimensions_figure(profiles)


def _plain(results: Sequence[_RunResults]) -> JsonValue:
    from cimento.paradigms.cloze.profile import as_record

    profiles: list[JsonValue] = [
        {
            "suite": result.answers.suite.name,
            "model": result.answers.run.model,
            "method": result.method,
            **cast("dict[str, JsonValue]", as_record(result.profile)),
            "dictionary_and_people": as_record(result.comparison),
            "people": as_record(result.people),
        }
        for result in results
    ]
    return {"profiles": profiles}


def _as_text(results: Sequence[_RunResults], k: int) -> str:
    """The profile of each run, then a comparison of the models on each suite."""
    from cimento.paradigms.cloze.text import (
        compared_text,
        comparison_text,
        people_text,
        profile_text,
    )

    texts = []
    suites: dict[str, list[_RunResults]] = {}
    for result in results:
        name, comparison = result.answers.suite.name, result.comparison
        parts = [
            profile_text(name, result.answers.run.model, result.method, result.profile),
            comparison_text(comparison) if comparison else "",
            people_text(result.people) if result.people else "",
        ]
        texts.append("\n".join(filter(None, parts)))
        suites.setdefault(name, []).append(result)
    for name, group in suites.items():
        if len(group) > 1:
            asked = {
                result.answers.run.model: (result.items, result.candidates) for result in group
            }
            kinds = [result.answers.run.model_kind for result in group]
            texts.append(
                compared_text(name, asked, k, cluster=group[0].answers.suite.cluster, kinds=kinds)
            )
    return "\n\n".join(texts)


def _people(
    answers: ClozeAnswers, items: Sequence[ClozeItem], options: ProfileOptions
) -> PeopleReport | None:
    """People's choices next to the run's scores of the options."""
    from cimento.paradigms.cloze.people import compare_with_people, read_option_counts

    if options.people is None:
        return None
    if rule := options.rule:
        seen = f"{answers.run.folder or answers.run.model} has no options scored by it"
        need_known(rule, answers.choices, where=f"--rule {rule}", seen=seen)
    offered_by_item = answers.by_rule(rule or answers.choices[-1]) if answers.choices else {}
    scores = {
        item: {candidate.text: candidate.logprob_nats for candidate in offered}
        for item, offered in offered_by_item.items()
    }
    return compare_with_people(items, read_option_counts(options.people, items), scores)


def _judged(
    answers: ClozeAnswers,
    items: Sequence[ClozeItem],
    method: str,
    options: ProfileOptions,
) -> tuple[list[Candidate], JudgmentComparison | None]:
    """The candidates of the chosen items, with people's and the dictionary's judgments."""
    from cimento.paradigms.cloze.judging import judged_by
    from cimento.paradigms.cloze.judgments import compare_judgments, human_judgments
    from cimento.paradigms.cloze.requests import check_candidates

    need_known(
        method,
        answers.methods,
        where=f"--method {method}",
        seen=f"{answers.run.folder or answers.run.model} has no such candidates",
    )
    ids = {item.id for item in items}
    said = human_judgments(answers.run.folder)
    plain = judged_by(answers, method, people=said, dictionary=None)
    person = _with_people(
        answers, [candidate for candidate in plain if candidate.item in ids], options.judgments
    )
    judged = person
    comparison = None
    if options.dictionary:
        opened = open_named(options.dictionary, language=answers.suite.meta.language)
        alone = judged_by(answers, method, people={}, dictionary=opened)
        rule = [candidate for candidate in alone if candidate.item in ids]
        compared = compare_judgments(
            rule,
            person,
            cluster_of=lambda candidate: answers.cluster_of[candidate.item] or candidate.item,
        )
        comparison = compared if compared.n else None
        judged = [
            by_person
            if by_person.fits is not None
            else dataclasses.replace(by_person, fits=by_rule.fits)
            for by_person, by_rule in zip(person, rule, strict=True)
        ]
    for warning in check_candidates(judged, items=[item.id for item in items]):
        note(f"warning: {answers.suite.name}: {warning}")
    return judged, comparison


def _with_people(
    answers: ClozeAnswers, candidates: Sequence[Candidate], judgments: Path | None
) -> list[Candidate]:
    """The candidates with remarks, and with earlier judgments if there are any."""
    from cimento.paradigms.cloze.judgments import (
        read_judged_candidates,
        reuse_judgments,
        with_remarks,
    )

    remarked = with_remarks(answers.run.folder, candidates)
    if judgments is None:
        return remarked
    reused = reuse_judgments(remarked, read_judged_candidates(judgments))
    note(f"Earlier judgments used: {reused.taken}; candidates that are new: {len(reused.new)}.")
    return list(reused.candidates)


def _ratings(path: Path) -> dict[str, float]:
    from cimento.suites.tables import open_table

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
