"""The options of a run that a paradigm honors, and refusals of those that none does."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.engine.handle import ModelHandle
from cimento.errors import UsageError, did_you_mean
from cimento.kinds.base import ParadigmOptions, TestSuite
from cimento.kinds.judging import GIVEN_AS
from cimento.kinds.paradigm import AnyParadigm
from cimento.kinds.registry import own_paradigms, parse_options
from cimento.kinds.run import Run
from cimento.models.settings import Asking
from cimento.options import NO_KEYWORDS, JudgingOptions, RunOptions
from cimento.records.store import RunFolder

if TYPE_CHECKING:
    from pathlib import Path

    from cimento.kinds.registry import LoadedSuite


SCORING_OPTIONS = {
    "context": "context",
    "all_tokens": "all_tokens",
    "store": "columns",
    "spec": "spec",
    "recorded_unit": "recorded_unit",
}
"""Options of scoring that not every paradigm has, and the setting of `Asking` that each is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveOptions:
    """The options of a run that apply to suites of one paradigm.

    Attributes:
        options: options of the paradigm.
        scoring: the settings of scoring.
    """

    options: ParadigmOptions
    scoring: Asking

    def folder(
        self,
        output: Path,
        name: str,
        content: str,
        model: str,
        *,
        suite: TestSuite | None,
    ) -> RunFolder:
        """The folder of the run of a suite by a model.

        Args:
            output: folder of runs.
            name: name of the suite.
            content: digest of the suite's content.
            model: label of the model.
            suite: the suite; None where only the options are known.
        """
        scoring, parts = self.scoring, [self.options.chosen(suite)]
        if scoring.precision is not None:
            parts.insert(0, f"adaptive {scoring.precision:g} {scoring.order_seed}")
        if scoring.limit is not None:
            parts.insert(0, str(scoring.limit))
        return RunFolder.named(
            output,
            suite=name,
            content=content,
            model=model,
            policy=" ".join(filter(None, (scoring.digest(), self.options.digest()))),
            part=" ".join(filter(None, parts)),
        )


def honored(
    paradigm: AnyParadigm, run_options: RunOptions, model: ModelHandle | None
) -> EffectiveOptions:
    """The options of a run that a paradigm honors, as if no others had been given.

    `refuse_unused` refuses an option that none of the suites of a run honors.

    Args:
        paradigm: the paradigm of the suite.
        run_options: the options as they were given.
        model: the model, with its number format; None for a recording.

    Raises:
        UsageError: an option has a value that the paradigm does not know.
    """
    known, plain = paradigm.options.model_fields, Asking()
    given = {name: value for name, value in run_options.given.items() if name in known}
    without = {
        setting: getattr(plain, setting)
        for name, setting in SCORING_OPTIONS.items()
        if name not in paradigm.asker.scoring
    }
    scoring = run_options.scoring.settled()
    if model is not None:
        scoring = dataclasses.replace(scoring, policy=model.scoring.policy)
    return EffectiveOptions(
        options=parse_options(paradigm, given),
        scoring=dataclasses.replace(scoring, **without),
    )


def refuse_unused(paradigms: Iterable[AnyParadigm], options: JudgingOptions) -> None:
    """Refuse an option that was given and that no suite of the run honors.

    Args:
        paradigms: the paradigms of the suites.
        options: the options of running, or of judging again.

    Raises:
        UsageError: no paradigm honors one of the options.
    """
    several = list(dict.fromkeys(paradigms))
    asks = isinstance(options, RunOptions)
    scoring = {name for paradigm in several for name in paradigm.asker.scoring if asks}
    own = {name for paradigm in several for name in paradigm.options.model_fields}
    fields = {GIVEN_AS.get(name, name) for name in own}
    for name in _given(options):
        if several and not any(_has(paradigm, name) for paradigm in several):
            named = " and ".join(repr(paradigm.name) for paradigm in several)
            lack = "are not asked with it" if name in SCORING_OPTIONS else "have no such option"
            others = {*JudgingOptions.model_fields, *SCORING_OPTIONS} - scoring
            known = fields | scoring | (type(options).model_fields.keys() - others)
            near = did_you_mean(name, known - NO_KEYWORDS, listed=fields | scoring)
            if not near.startswith("Did"):
                near = f"{near} Those of every run: `cimento run --help-all`.".strip()
            owners = [one.name for one in own_paradigms() if name in one.options.model_fields]
            if owners:
                near = f"It belongs to suites of {' and '.join(owners)}."
            flag = f"It is an option of its own: --{name.replace('_', '-')}, without --set."
            raise UsageError(
                where=f"option {name}",
                seen=f"suites of the kind{'s' if len(several) > 1 else ''} {named} {lack}",
                todo=flag if name in known else near,
            )


def unused_options(suites: Iterable[LoadedSuite | Run], options: JudgingOptions) -> Iterator[str]:
    """Remarks, as sentences, on suites that do not use an option which others of the run use.

    Args:
        suites: the suites, or their runs.
        options: the options of running, or of judging again.
    """
    several = list(suites)
    for name in _given(options):
        without = [loaded for loaded in several if not _has(loaded.paradigm, name)]
        if 0 < len(without) < len(several):
            names = ", ".join(dict.fromkeys(loaded.suite.name for loaded in without))
            yield f"option {name} is not used by {names}."


def is_used_by_all(paradigms: Iterable[AnyParadigm], run_options: RunOptions) -> bool:
    """Whether every paradigm honors every option that was given, so that no remark is needed.

    Args:
        paradigms: the paradigms of the suites.
        run_options: the options of the run.
    """
    return all(_has(paradigm, name) for paradigm in paradigms for name in _given(run_options))


def _given(options: JudgingOptions) -> list[str]:
    """The names of the options that were given and that not all paradigms honor."""
    if not isinstance(options, RunOptions):
        return list(options.given)
    scoring = {
        "context": options.context or options.context_column,
        "all_tokens": options.all_tokens,
        "store": options.store or options.layers,
        "spec": options.spec,
        "recorded_unit": options.recorded_unit != Asking().recorded_unit,
    }
    return [*options.given, *(name for name in SCORING_OPTIONS if scoring[name])]


def _has(paradigm: AnyParadigm, name: str) -> bool:
    return name in paradigm.options.model_fields or name in paradigm.asker.scoring
