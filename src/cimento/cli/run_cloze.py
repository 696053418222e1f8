"""``cimento run`` for suites of the kinds ``cloze`` and ``templates``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.answers import VERDICTS, write_table
from cimento.api import Failure
from cimento.cli.cloze_text import summary_text
from cimento.cli.console import note, show
from cimento.cli.evaluating import opened_cache, progress_bars, report_failures
from cimento.cli.kinds import keep_options
from cimento.cloze.asking import open_fills
from cimento.cloze.comparing import compare_runs
from cimento.cloze.load import LoadedCloze, load_cloze
from cimento.cloze.running import ClozeEvaluation, ClozeRun
from cimento.cloze.said import read_said
from cimento.cloze.summary import ClozeJudging, summarise, verdict_table
from cimento.errors import CimentoError, StorageError, UsageError, did_you_mean
from cimento.files import write_text
from cimento.models.fill import CHOICE_RULES, OPEN_RULES, ChoiceRule, FillPolicy, OpenRule
from cimento.requests import NO_CONTEXT
from cimento.results import SUMMARY
from cimento.runs.store import RunFolder
from cimento.sources import shown_name
from cimento.suites.builtin import find_suite
from cimento.suites.load import suite_paths

if TYPE_CHECKING:
    from cimento.cli.kinds import KindRun
    from cimento.cloze.outcomes import ClozeSummary

OPTIONS = ("k", "protocol", "masks", "choice", "by", "dictionary", "judgments")


@dataclass(frozen=True, slots=True)
class Judged:
    """A run with what it says."""

    run: ClozeRun
    summary: ClozeSummary


def run_cloze(suites: Sequence[str], models: Sequence[str], how: KindRun) -> int:
    """Ask cloze suites of models, judge and store the answers; return the exit code.

    Raises:
        CimentoError: a suite or an option cannot be used.
    """
    policy = fill_policy(how.options)
    _say_what_is_not_used(how)
    found = [load_cloze(path) for name in suites for path in suite_paths(find_suite(name))]
    judged: list[Judged] = []
    failures: list[Failure] = []
    for outcome in _evaluated(found, models, how, policy):
        if isinstance(outcome, Failure):
            failures.append(outcome)
        else:
            judged.append(_judged(outcome, how.options, policy))
    for each in judged:
        if each.run.folder is not None:
            RunFolder(each.run.folder).tell(summary_text([each.summary]))
            keep_options(each.run.folder, how)
    seed = how.evaluation.judging.seed
    if how.as_json:
        show(as_json(judged, failures, seed=seed))
    elif judged:
        show(summary_text([each.summary for each in judged], seed=seed))
        note(f"Stored in {how.evaluation.output}.")
    return report_failures(judged, failures)


def _say_what_is_not_used(how: KindRun) -> None:
    """Options that mean something for suites of regions only.

    Raises:
        UsageError: a context is given, which would change what is asked.
    """
    if how.evaluation.asking.context != NO_CONTEXT:
        raise UsageError(
            where="--context",
            seen="what stands before a blank is written in a cloze suite itself",
            todo="Leave it out.",
        )
    judging = how.evaluation.judging
    given = {
        "--measure": bool(how.measures),
        "--metric": judging.metric is not None,
        "--prediction": bool(judging.predictions),
        "--all-tokens": how.evaluation.asking.all_tokens,
    }
    for option, there in given.items():
        if there:
            note(f"cimento: {option} means nothing for blanks and is not used.")


def as_json(judged: Sequence[Judged], failures: Sequence[Failure] = (), *, seed: int = 0) -> str:
    """What some runs say, as JSON."""
    missing = [{"suite": f.suite, "model": f.model, "message": str(f.error)} for f in failures]
    summaries = [each.summary for each in judged]
    plain = {
        "cloze": [each.plain() for each in summaries],
        "comparisons": [each.plain() for each in compare_runs(summaries, seed=seed)],
        "missing": missing,
    }
    return json.dumps(plain, ensure_ascii=False, indent=2)


def fill_policy(options: Mapping[str, str]) -> FillPolicy:
    """How blanks are asked for, as ``--set`` says.

    Raises:
        UsageError: there is no such option, or not this value of it.
    """
    for name in options:
        if name not in OPTIONS:
            raise UsageError(
                where=f"--set {name}",
                seen="cloze suites have no such option",
                todo=did_you_mean(name, OPTIONS),
            )
    protocol = options.get("protocol", "auto")
    _one_of("protocol", protocol, OPEN_RULES)
    choice = _listed(options.get("choice", ""))
    for rule in choice:
        _one_of("choice", rule, CHOICE_RULES)
    return FillPolicy(
        k=_whole("k", options.get("k", "10")),
        masks=_whole("masks", options.get("masks", "3")),
        protocol=cast("OpenRule", protocol),
        choice=tuple(cast("ChoiceRule", rule) for rule in choice),
    )


def cloze_stored(paths: Sequence[str], model: str, how: KindRun) -> list[bool]:
    """Whether the runs of cloze suites with a model are stored.

    Raises:
        CimentoError: a suite, an option or the model cannot be used.
    """
    policy = fill_policy(how.options)
    evaluation = _evaluation(how, policy)
    source = open_fills(model, asking=how.evaluation.asking, policy=policy)
    return [evaluation.is_stored(load_cloze(Path(path)), source) for path in paths]


def _evaluation(how: KindRun, policy: FillPolicy) -> ClozeEvaluation:
    own = how.evaluation
    return ClozeEvaluation(asking=own.asking, policy=policy, output=own.output, force=own.force)


def _evaluated(
    suites: Sequence[LoadedCloze], models: Sequence[str], how: KindRun, policy: FillPolicy
) -> Iterator[ClozeRun | Failure]:
    evaluation = _evaluation(how, policy)
    with progress_bars() as progress, opened_cache(keep_answers=how.keep_answers) as cache:
        for name in models:
            shown = shown_name(name)
            try:
                source = open_fills(name, asking=how.evaluation.asking, policy=policy)
            except CimentoError as error:
                yield from (Failure(each.suite.name, shown, error) for each in suites)
                continue
            for each in suites:
                told = progress(each.suite.name, shown) if progress else None
                try:
                    yield evaluation.run(each, source, cache=cache, progress=told)
                except StorageError:
                    raise
                except CimentoError as error:
                    yield Failure(each.suite.name, shown, error)


def _judged(run: ClozeRun, options: Mapping[str, str], policy: FillPolicy) -> Judged:
    """A run judged, and what came of it stored beside its tables."""
    judging = judging_of(run, options, k=policy.k)
    summary = summarise(run, judging)
    if run.folder is not None:
        write_table(verdict_table(run, summary), VERDICTS, run.folder)
        text = json.dumps(summary.plain(), ensure_ascii=False, indent=2)
        write_text(text + "\n", run.folder / SUMMARY)
    return Judged(run, summary)


def judging_of(run: ClozeRun, options: Mapping[str, str], *, k: int) -> ClozeJudging:
    """How a run is judged, as ``--set`` says; judgments made on it are found by themselves.

    Raises:
        CimentoError: the dictionary or the judgments cannot be used.
    """
    from cimento.cli.dictionaries import open_named

    name = options.get("dictionary", "")
    language = run.suite.meta.language
    given = options.get("judgments", "")
    return ClozeJudging(
        k=k,
        by=tuple(_listed(options.get("by", ""))),
        dictionary=open_named(name, language=language) if name else None,
        judged=read_said(run.folder, Path(given).expanduser() if given else None),
    )


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(
            where=f"--set {name}", seen=f"got {value!r}", todo=did_you_mean(value, known)
        )


def _whole(name: str, value: str) -> int:
    if not value.strip().isdecimal():
        raise UsageError(where=f"--set {name}", seen=f"got {value!r}", todo="Write a whole number.")
    return int(value)
