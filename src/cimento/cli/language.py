"""``cimento run``, ``plan`` and ``cluster prefetch`` without suites: all sets of a language."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cimento.cli.console import in_columns, note, show, show_json
from cimento.cli.evaluating import PART_MISSING, evaluate_with_progress, report_failures
from cimento.cli.run_file import CallOptions, LanguageOptions
from cimento.documents.language_answer import SetSources, language_answer
from cimento.documents.language_training import has_many_steps
from cimento.engine.engines import Engine, parse_share
from cimento.errors import CimentoError, UsageError, counted
from cimento.evaluation.budget import AskedPart, asked_part, parse_budget
from cimento.evaluation.language_suites import (
    LanguageSuites,
    SetSettings,
    bring,
    fitting,
    lacks_said,
    language_suites,
    obstacle,
)
from cimento.export.junit import write_junit
from cimento.io.files import need_writable
from cimento.suites.language_sets import (
    GENERATED,
    OWN,
    LanguageSet,
    accept_licenses,
    language_name,
    languages_of,
    own_parts,
    refuse_no_sets,
    sets_of,
)
from cimento.suites.registry_file import read_registry

if TYPE_CHECKING:
    from pathlib import Path

    from cimento.cli.plan import PrefetchOptions
    from cimento.documents.language_answer import LanguageAnswer
    from cimento.evaluation import Failure
    from cimento.evaluation.language_plan import LanguagePlan
    from cimento.evaluation.planning import SuitePlan
    from cimento.kinds.registry import LoadedSuite
    from cimento.kinds.run import Run
    from cimento.options import RunOptions
    from cimento.suites import JsonValue

_ONE_BY_ONE = (
    "sensitivity", "fail_under", "log_samples", "adaptive", "limit", "columns",
)  # fmt: skip
"""Options of single suites, which say nothing about a language."""
_MEGABYTE = 1_000_000


def run_languages(options: CallOptions) -> int:
    """Ask models about every available set of some languages, and print what they know."""
    from cimento.records.progress import seconds_between_lines

    # What is wrong is refused before anything is fetched.
    seconds_between_lines()
    _refuse_single(options)
    if options.share is not None:
        if options.junit is not None:
            raise UsageError(
                where="--junit",
                seen="it needs whole runs, and --share makes a part of one",
                todo="Leave it out.",
            )
        return _do_share(options, parse_share(options.share))
    if options.junit is not None:
        need_writable(options.junit)
    answered = _answer_languages(options, ask=True)
    if options.junit is not None:
        made = [(run, "") for run in answered.runs]
        note(f"JUnit XML: {write_junit(made, options.junit, failures=answered.failures)}")
    return answered.code


def collect_languages(options: LanguageOptions) -> int:
    """Merge what the jobs of an array did, and print what models know; no model is asked."""
    _refuse_timed(options)
    return _answer_languages(options, ask=False).code


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsAsk:
    """What the jobs of an array ask, of named suites or of one language.

    Attributes:
        suites: the suites.
        options: of their runs.
        without_sets: the language, if sets of it are asked for and none can be used; otherwise
            empty.
    """

    suites: Sequence[LoadedSuite]
    options: RunOptions
    without_sets: str = ""


def asked_in_languages(options: LanguageOptions) -> list[JobsAsk]:
    """The suites that the jobs of an array ask in each language, with the options of their runs.

    Raises:
        UsageError: the jobs would not ask the same ones.
    """
    _refuse_timed(options)
    found = []
    for language, part, here in _asked(options):
        asked = part.asked
        for line in lacks_said((one.name, one.reason, one.todo) for one in asked.missing):
            note(line)
        is_without = bool(asked.missing) and not any(one.set and one.suites for one in asked.sets)
        found.append(
            JobsAsk(
                suites=asked.suites,
                options=here,
                without_sets=language_name(language) if is_without else "",
            )
        )
    return found


def _asked(options: LanguageOptions) -> Iterator[tuple[str, AskedPart, RunOptions]]:
    """Each language with what is asked in it, and with the options of its runs."""
    parse_budget(options.budget)
    chosen, settings = _chosen(options)
    for language, sets in chosen.items():
        asked = language_suites(
            sets, settings, language=language, own=_own(options), seed=options.seed or 0, note=note
        )
        here = _in_language(options, language)
        yield language, _part(_fitting(asked, here), here, options), here


def _do_share(options: LanguageOptions, share: tuple[int, int]) -> int:
    """Do one share of the units of every language, and merge nothing."""
    engine = Engine(name=options.engine, workers=options.workers, share=share)
    failures: list[Failure] = []
    for one in asked_in_languages(options):
        if one.suites:
            failures += evaluate_with_progress(
                one.suites, options.models, one.options, engine=engine
            )[1]
    return report_failures([share], failures)


@dataclass(slots=True)
class _Answered:
    """What came of some languages: the exit code, the runs, and those that failed."""

    code: int = 0
    runs: list[Run] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def _answer_languages(options: LanguageOptions, *, ask: bool) -> _Answered:
    """Evaluate models in every language, or only merge what is there, and print the answers."""
    from cimento.documents.language_page import write_answer

    found = _Answered()
    for _, part, here in _asked(options):
        runs: list[Run] = []
        failures: list[Failure] = []
        if part.asked.suites:
            engine = Engine(name=options.engine, workers=options.workers)
            runs, failures = evaluate_with_progress(
                part.asked.suites, options.models, here, engine=engine, ask=ask
            )
        answer = language_answer(runs, part, failures=failures, seed=options.seed or 0)
        if options.as_json:
            show(answer.to_json())
        elif runs:
            _show_answer(answer, here.output)
        elif not failures:
            _note_missing(answer)
        found.runs += runs
        found.failures += failures
        code = _code_of(answer, runs, failures, misfit=bool(part.asked.unfit))
        if here.output is not None and runs:
            paths = write_answer(answer, here.output)
            note(f"Written to {here.output}: {', '.join(path.name for path in paths)}")
        found.code = max(found.code, code)
    if not found.runs:
        found.code = max(found.code, 1)
    return found


def _code_of(
    answer: LanguageAnswer, runs: Sequence[Run], failures: Sequence[Failure], *, misfit: bool
) -> int:
    """The exit code of one language, with notes on what failed and on sets that are missing.

    Without any usable published set it is the same whether suites of cimento itself ran or nothing.
    """
    code = report_failures(runs, failures)
    if not runs and (misfit or failures):
        return max(code, _WRONG_OPTION) if misfit else code
    if not answer.missing or any(one.n_items for one in answer.used):
        return code
    if runs:
        note(
            f"cimento: only suites of cimento itself ran; no published set of"
            f" {language_name(answer.language)} could be used. --sets {','.join(OWN)} asks for them"
            " alone."
        )
    return max(code, PART_MISSING)


def _show_answer(answer: LanguageAnswer, folder: Path | None) -> None:
    from cimento.documents.language_page import answer_text

    show(answer_text(answer) + "\n")
    if has_many_steps(answer):
        note(f"The curve: {shlex.join(['cimento', 'compare', str(folder or 'runs')])}")


_WRONG_OPTION = 2
"""The exit code where nothing could be judged as the options say."""


def _fitting(asked: LanguageSuites, here: RunOptions) -> LanguageSuites:
    """The suites that can be judged as the options say; those that cannot are named."""
    fit = fitting(asked, here)
    for one in fit.unfit:
        note(str(one))
    return fit


def _note_missing(answer: LanguageAnswer) -> None:
    """Say which sets were not available in a language in which nothing was asked."""
    note(f"Nothing could be asked in {language_name(answer.language)}.")
    for line in lacks_said((one.name, one.reason, one.todo) for one in answer.missing):
        note(line)


def _refuse_single(options: CallOptions) -> None:
    """Refuse options that are about single suites.

    Raises:
        UsageError: there is one.
    """
    for name in _ONE_BY_ONE:
        if getattr(options, name) != CallOptions.model_fields[name].default:
            raise UsageError(
                where=f"--{name.replace('_', '-')}",
                seen="it is about suites, and the published sets of a language are asked for",
                todo="Leave it out, or name the suites. --budget asks a part of all sets; a gate is"
                " `cimento compare BEFORE AFTER --fail-if-worse 0.02` over two such runs.",
            )


def _refuse_timed(options: LanguageOptions) -> None:
    """Refuse a budget of time without a speed, since each job would time and draw for itself.

    Raises:
        UsageError: there is one.
    """
    budget = parse_budget(options.budget)
    if budget is not None and budget.seconds and options.speed is None:
        raise UsageError(
            where=f"--budget={options.budget}",
            seen="each job would time the models, and draw another part",
            todo="Give a number of items, or --speed N too.",
        )


def _refuse_several(options: LanguageOptions) -> None:
    """Refuse JSON of several languages.

    Raises:
        UsageError: it is asked for.
    """
    if options.as_json and (options.all_languages or "," in options.language):
        raise UsageError(
            where="--json",
            seen="it prints one document, and there are several languages",
            todo="Give one language, or leave it out: a run writes answer.json for each.",
        )


def _chosen(
    options: LanguageOptions,
) -> tuple[dict[str, tuple[LanguageSet, ...]], SetSettings]:
    """The sets of each language, and where they come from.

    Raises:
        CimentoError: there is no such set, or no set of a language.
    """
    _refuse_several(options)
    registry = read_registry(options.registry)
    languages = languages_of("" if options.all_languages else options.language, registry.values())
    only, without = _names(options.sets), _names(options.without)
    chosen = {
        language: sets_of(language, registry.values(), only=only, without=without)
        for language in languages
    }
    for language, sets in chosen.items():
        refuse_no_sets(language, sets, but=bool({*OWN} & {*only}))
        if options.accept_license and (new := accept_licenses(sets)):
            note(f"Used from now on without a stated license: {', '.join(new)}")
    settings = SetSources(folder=options.sets_folder, lock=options.lock).settings(())
    return chosen, settings


def _names(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (name.strip() for name in text.split(","))))


def _own(options: LanguageOptions) -> tuple[str, ...]:
    """The parts of cimento's own suites that are asked too."""
    return own_parts(_names(options.sets), _names(options.without))


def _in_language(options: LanguageOptions, language: str) -> RunOptions:
    """The options of the runs in one language, which are stored in a folder of its own."""
    output = None if options.output is None else options.output / language
    return options.model_copy(update={"output": output, "language": ""})


def _part(asked: LanguageSuites, here: RunOptions, options: LanguageOptions) -> AskedPart:
    """The part of the sets that is asked, which is said where a budget decides."""
    budget = parse_budget(options.budget)
    if budget is not None and budget.seconds and options.speed is None:
        note(f"Timing {counted(len(options.models), 'model')} on a few items")
    part = asked_part(
        asked, options.models, here, budget=budget, speed=options.speed, seed=options.seed or 0
    )
    _note_part(part, options)
    return part


def _note_part(part: AskedPart, options: LanguageOptions) -> None:
    """Say which part of the sets a budget is enough for."""
    if part.sample is not None:
        note(" ".join(part.sample.sentences()))
    elif options.budget and part.of_items:
        note(f"The budget is enough for all {part.of_items:,} items.")


def plan_languages(options: LanguageOptions) -> int:
    """Report which sets a run would use, what it would fetch, and its time and memory."""
    from cimento.cli.plan import code_of_plan, plan_text
    from cimento.evaluation.language_plan import plan_language

    chosen, settings = _chosen(options)
    budget = parse_budget(options.budget)
    code = 0
    for language, sets in chosen.items():
        plan = plan_language(
            language, sets, settings, _in_language(options, language),
            budget=budget, speed=options.speed, own=_own(options),
        )  # fmt: skip
        for unfit in plan.part.asked.unfit:
            note(str(unfit))
        here = code_of_plan(plan.runs, options)
        if plan.sets and all(row["reason"] for row in plan.sets):
            here = here or PART_MISSING
        # 1, that no model can be asked, is more than that some part cannot.
        code = 1 if 1 in {code, here} else max(code, here)
        if plan.is_drawn:
            _note_part(plan.part, options)
        if budget and plan.part.of_items and any(row["is_fetched"] for row in plan.sets):
            note("That is of the sets that are here; a run fetches the others and draws from all.")
        if options.as_json:
            show_json(
                {
                    "plan": 2,
                    "language": language,
                    "sets": list(plan.sets),
                    "suites": [suite.plain() for suite in plan.runs.suites],
                    "models": [model.plain() for model in plan.runs.models],
                    "unused": list(plan.runs.unused),
                }
            )
            continue
        show(f"Sets of {language_name(language)}\n")
        show(_sets_table(plan.sets))
        if plan.runs.suites:
            show("\nSuites that are here, those of cimento itself last\n")
            shown = replace(plan.runs, suites=_drafts_as_one(plan))
            show(plan_text(shown, priced=options.prices is not None))
        if not plan.is_drawn:
            show(
                "\n--budget with a time: the run first times each model; with --speed N, the plan"
                " has the part that is asked."
            )
    return code


def _drafts_as_one(plan: LanguagePlan) -> tuple[SuitePlan, ...]:
    """The plans of suites, those of all generated suites that can be asked as one."""
    origins = plan.part.asked.origins
    drafts = [
        one
        for one in plan.runs.suites
        if origins.get(one.suite, ("", ""))[0] == GENERATED and not one.problem
    ]
    if len(drafts) < 2:  # noqa: PLR2004
        return plan.runs.suites
    requests: Counter[str] = Counter()
    for one in drafts:
        requests.update(one.requests)
    whole = replace(
        drafts[0],
        suite=f"generated: {counted(len(drafts), 'suite')}, drafts",
        items=sum(one.items for one in drafts),
        stored=tuple(model for one in drafts for model in one.stored),
        requests=requests,
        new=sum(one.new for one in drafts),
        later=sum(one.later for one in drafts),
    )
    return (*(one for one in plan.runs.suites if one not in drafts), whole)


def _sets_table(rows: Sequence[dict[str, JsonValue]]) -> str:
    """The sets as a table, and below it what is fetched in all and what is in the way."""
    shown = [(row["set"], row["license"], row["size"], _state(row)) for row in rows]
    lines = [in_columns(("set", "license", "size", "files"), shown), ""]
    sizes = [row["download_bytes"] for row in rows if row["is_fetched"]]
    if sizes:
        known = [size for size in sizes if isinstance(size, int)]
        n = len(sizes) - len(known)
        parts = [f"{sum(known) / _MEGABYTE:.1f} MB"] * bool(known)
        parts += [f"{n or ''} of unknown size".strip()] * bool(n)
        lines.append(
            f"To fetch: {counted(len(sizes), 'set')}, {' and '.join(parts)}; their items and times"
            " are planned once they are here."
        )
    lines += lacks_said(
        (str(row["set"]), str(row["reason"]), str(row["todo"])) for row in rows if row["reason"]
    )
    return "\n".join(lines)


def _state(row: dict[str, JsonValue]) -> str:
    if row["reason"]:
        return "not available"
    if row["is_here"]:
        return "here"
    size = row["download_bytes"]
    known = f"{size / _MEGABYTE:.1f} MB" if isinstance(size, int) else "size unknown"
    return f"to fetch, {known}" + (", newest commit" if row["is_locked_at_first_use"] else "")


def prefetch_languages(options: PrefetchOptions) -> int:
    """Download the sets of some languages, and models, for machines without a network."""
    from cimento.cli.plan import show_prefetched
    from cimento.evaluation.plan import prefetch

    chosen, settings = _chosen(options)
    folder = (options.into or settings.folders[-1]).absolute()
    settings = SetSettings(
        folders=(folder,), lock=settings.lock, accepted=settings.accepted, offline=settings.offline
    )
    prefetched = prefetch(options.models, (), into=options.into)
    failed = list(map(str, prefetched.failed.values()))
    had = 0
    for sets in chosen.values():
        for one in sets:
            if (lack := obstacle(one, settings)) is not None:
                note(f"{one.name}: {lack.reason}. {lack.todo}")
                continue
            try:
                bring(one, settings)
                had += 1
            except CimentoError as error:
                failed.append(str(error))
    for message in failed:
        note(f"cimento: {message}")
    if (options.models and not prefetched.models) or (any(chosen.values()) and not had):
        return 1
    show_prefetched(prefetched, options, {"sets_folder": str(folder)})
    return PART_MISSING if failed else 0
