"""The paradigm "stories": tiered commonsense stories, and two questions beside the tiers.

Is a story plausible? Which two of its sentences conflict? Which physical state explains it? After
Storks et al. 2021 (TRIP, doi:10.18653/v1/2021.findings-emnlp.422) and Pensa et al. 2024
(CEUR-WS Vol-3878, paper 127).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from cimento.errors import Fault, InputError, SuiteError, TableError
from cimento.paradigms.base import MethodFacts, Stored, SuiteAudit, SuiteReading
from cimento.paradigms.plain import PlainParadigm
from cimento.runs.outcomes import outcomes_table
from cimento.stories.audit import audit, story_names
from cimento.stories.audit_record import audit_record
from cimento.stories.describe import suite_text
from cimento.stories.earlier import earlier_options, earlier_tables
from cimento.stories.estimating import question_estimates, tier_estimates
from cimento.stories.judging import (
    answered_questions,
    asked_of,
    judged_run,
    question_outcomes,
    tier_outcomes,
    tier_warnings,
)
from cimento.stories.methods import story_methods
from cimento.stories.printing import runs_text
from cimento.stories.readers import ITEMS, KIND, TOML, is_stories, read_stories
from cimento.stories.records import StorySuite
from cimento.stories.responses import recorded_answers
from cimento.stories.rounds import next_round
from cimento.stories.settings import StoryOptions
from cimento.stories.writers import write_suite

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.replay import Recording
    from cimento.engine.requests import Answers, Requests
    from cimento.models.registry import Asking
    from cimento.paradigms.base import AskedModel, SurveyItems, SurveyTask
    from cimento.report.records import SuiteReport
    from cimento.runs.estimates import Estimate
    from cimento.runs.run import Run
    from cimento.runs.store import Manifest, RunFolder


class Stories(PlainParadigm[StorySuite, StoryOptions]):
    """Suites of stories; see `cimento.paradigms.base.Paradigm`."""

    name = KIND
    kinds = (KIND,)
    options = StoryOptions

    def detect(self, path: Path) -> bool:
        """Whether a path holds stories: a folder of that kind, or a file with their fields."""
        return is_stories(path)

    def read(self, path: Path) -> SuiteReading[StorySuite]:
        """A suite as it is, with whatever is wrong in it: published files have faults.

        `audit` says what that is; it keeps no story from being asked, and one that has no right
        answer at a tier is unscored there.

        Raises:
            InputError: the path does not exist or may not be read.
        """
        try:
            suite = read_stories(path)
        except SuiteError as error:
            return SuiteReading(suite=None, faults=tuple(error.faults), sha256="", path=path)
        return SuiteReading(
            suite=suite, faults=(), sha256=suite.sha256, path=path, format=suite.format
        )

    def files(self, path: Path) -> Sequence[Path]:
        """suite.toml and the stories of a folder; published files may be packed."""
        return tuple(file for name in (TOML, ITEMS) if (file := path / name).is_file())

    def owns(self, suite: object) -> TypeGuard[StorySuite]:
        """Whether it is a suite of stories."""
        return isinstance(suite, StorySuite)

    def later(self, suite: StorySuite, options: StoryOptions) -> int:  # noqa: ARG002
        """How many requests follow the first tier at most: two for a story, and two without one."""
        n_stories = len(suite.stories) if suite.limit is None else suite.limit
        return 2 * (n_stories + 1)

    def write(self, suite: StorySuite, folder: Path) -> None:
        """Write a suite folder, all stories of it.

        Raises:
            StorageError: the folder cannot be written.
        """
        write_suite(suite, folder)

    def check(self, suite: StorySuite) -> Sequence[Fault]:
        """Everything that is wrong with the stories."""
        file, names = suite.path.name or suite.name, story_names(suite)
        return [finding.fault(file=file, names=names) for finding in audit(suite)]

    def audit(self, reading: SuiteReading[StorySuite]) -> SuiteAudit:
        """Everything that is wrong with the stories, and counts of what is in the file."""
        if reading.suite is None:
            return SuiteAudit.of_faults(reading)
        return SuiteAudit(tuple(self.check(reading.suite)), audit_record(reading.suite))

    def limited(self, suite: StorySuite, limit: int) -> StorySuite:
        """The first stories are asked about; worked examples come from all of them."""
        return replace(suite, limit=limit)

    def describe(self, suite: StorySuite, items: int) -> str:
        """What is in a file of stories, and its first stories."""
        return suite_text(suite, items)

    def survey_items(
        self, suite: StorySuite, task: SurveyTask | None, *, run: Run | None = None
    ) -> SurveyItems:
        """Each story; nobody sees two variants of one.

        Raises:
            UsageError: the task is another one, or a run is given.
        """
        from cimento.stories.surveying import story_items

        return story_items(suite, task, run=run)

    def requests(
        self,
        suite: StorySuite,
        options: StoryOptions,
        *,
        scoring: Asking,  # noqa: ARG002  # nothing of it changes what is asked
        model: AskedModel,
        answers: Answers,
    ) -> Requests | None:
        """One tier a round, or all questions beside the tiers in one.

        Raises:
            UsageError: the model cannot be asked so, there are too few stories for the examples,
                or no story has what is asked about.
            ModelError: its chat template cannot render a prompt.
        """
        return next_round(suite, options, model=model, answers=answers)

    def recording(self, name: str, suite: StorySuite, *, scoring: Asking) -> Recording:  # noqa: ARG002
        """Recorded answers, one line for each story and tier; see docs/stories.md.

        Raises:
            InputError: the file does not exist or may not be read.
            SuiteError: it is empty, or lines cannot be used.
        """
        return recorded_answers(Path(name).expanduser(), suite)

    def restore(self, folder: RunFolder, manifest: Manifest) -> Stored[StorySuite, StoryOptions]:
        """The stories of a run and its options; of runs of version 0.1 also the tables.

        Raises:
            TableError: it cannot be read.
        """
        from pydantic import ValidationError

        is_earlier = "paradigm" not in manifest
        try:
            options = (
                earlier_options(manifest)
                if is_earlier
                else StoryOptions.model_validate(manifest.get("options"))
            )
        except ValidationError as error:
            raise _unreadable(folder, error) from error
        if not is_earlier:
            return Stored(suite=lambda: _stored_suite(folder, manifest), options=options)
        suite = _stored_suite(folder, manifest)
        if options.corrections:
            # Version 0.1 stored the stories as they were asked.
            suite = replace(suite, corrections=(options.corrections,))
        tables = earlier_tables(folder, suite, options)
        return Stored(suite=lambda: suite, options=options, tables=tables)

    def judge(self, run: Run) -> pl.DataFrame:
        """Every story at every tier, and right at a tier and all before; or every question.

        Raises:
            UsageError: the norm needs what was not asked.
            TableError: the tables are not those of the suite.
        """
        suite, options = asked_of(run)
        if options.task == "tiers":
            return outcomes_table(suite.name, tier_outcomes(judged_run(run)))
        return outcomes_table(suite.name, question_outcomes(answered_questions(run), suite))

    def estimate(self, run: Run) -> Sequence[Estimate]:
        """Accuracy, consistency, verifiability; detection, bias, calibration, partial credit."""
        is_tiers = asked_of(run)[1].task == "tiers"
        return tier_estimates(run) if is_tiers else question_estimates(run)

    def methods(self, run: Run) -> MethodFacts:
        """How stories were asked about, and how the answers were judged."""
        return story_methods(run)

    def warnings(self, run: Run) -> Sequence[str]:
        """Prompts after which the model would write no option, and replies that were not read."""
        if asked_of(run)[1].task != "tiers":
            return ()
        return tuple(tier_warnings(judged_run(run)))

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """Tiers, flow, confusions, calibration, and every story with its answers."""
        from cimento.stories.reporting import story_sections

        return story_sections(runs)

    def text(self, runs: Sequence[Run]) -> str:
        """The tables of each run."""
        return runs_text(runs)


def _stored_suite(folder: RunFolder, manifest: Manifest) -> StorySuite:
    """The copy of the suite, limited as it was.

    Raises:
        TableError: it cannot be read.
    """
    try:
        suite = read_stories(folder.suite_folder)
    except (InputError, SuiteError) as error:
        raise _unreadable(folder, error) from error
    inputs = manifest.get("inputs")
    limit = inputs.get("limit") if isinstance(inputs, dict) else None
    return replace(suite, limit=limit if isinstance(limit, int) else None)


def _unreadable(folder: RunFolder, error: Exception) -> TableError:
    return TableError(where=str(folder.path), seen=f"cannot be read ({error})", todo="Run again.")


STORIES = Stories()
