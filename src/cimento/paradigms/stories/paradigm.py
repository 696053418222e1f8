"""The paradigm "stories": tiered commonsense stories, and two additional questions.

Is a story plausible? Which two of its sentences conflict? Which physical state explains it? After
Storks et al. 2021 (TRIP, doi:10.18653/v1/2021.findings-emnlp.422) and Pensa et al. 2024
(CEUR-WS Vol-3878, paper 127).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from cimento.errors import Fault, SuiteError, UsageError, counted
from cimento.intake.reading import TableReading
from cimento.io.files import expanded
from cimento.kinds.asker import Asker
from cimento.kinds.base import (
    MethodFacts,
    SuiteAudit,
    SuiteReading,
    SurveyItem,
    SurveyItems,
    SurveyTask,
)
from cimento.kinds.clusters import refuse_unusable
from cimento.kinds.judge import Judge
from cimento.kinds.paradigm import Paradigm
from cimento.kinds.plain import PlainPresenter
from cimento.kinds.reader import SuiteReader
from cimento.kinds.surveyor import Surveyor, answers_about, chosen_task, refuse_run
from cimento.paradigms.stories.checks import (
    UNKNOWN_STATE,
    audit,
    has_unknown_state,
    notation_faults,
    story_names,
)
from cimento.paradigms.stories.estimates import question_estimates, tier_estimates
from cimento.paradigms.stories.judging import (
    answered_questions,
    asked_of,
    judged_run,
    question_outcomes,
    tier_outcomes,
    tier_warnings,
)
from cimento.paradigms.stories.options import (
    StoryOptions,
    prompt_for,
)
from cimento.paradigms.stories.prompts import PAPER_DRAWS, Shots
from cimento.paradigms.stories.recordings import recorded_answers
from cimento.paradigms.stories.requests import choice_tasks
from cimento.paradigms.stories.rounds import next_round
from cimento.paradigms.stories.text import audit_record, runs_text, suite_text
from cimento.records.outcomes import outcomes_table
from cimento.suites.checks.wording import letter_faults
from cimento.suites.formats.lm_eval import ChoiceTask
from cimento.suites.formats.stories import (
    ITEMS,
    KIND,
    is_stories,
    read_stories,
    write_suite,
)
from cimento.suites.limits import ItemGroups
from cimento.suites.reading import TOML
from cimento.suites.stories import STORY, StoryFormat, StorySuite
from cimento.suites.story_clusters import (
    columns_of,
    in_story_clusters,
    second_story_factors,
)

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.requests import Answers, Recording, Requests
    from cimento.judgments import Judgment
    from cimento.kinds.base import AskedModel
    from cimento.kinds.run import Run
    from cimento.models.settings import Asking
    from cimento.records.outcomes import Estimate
    from cimento.report import SuiteReport


_NORMS = {
    "sum": "their log-probability",
    "token": "their log-probability by token [@brown2020]",
    "char": "their log-probability by character [@lm-evaluation-harness]",
    "pmi": "their log-probability minus that without the story (domain-conditional PMI)"
    " [@holtzman2021]",
    "prior": "their log-probability minus the log of their mean probability over all stories"
    " (batch calibration) [@zhou2024]",
}
_ANSWERS = {
    "generate": "The model wrote its answer (greedily, at most {max_tokens} tokens); an answer that"
    " names none of the options counts as wrong.",
    "constrained": "The model wrote its answer, restricted to the options.",
}
_METRICS = (
    "Accuracy is the proportion of stories right at the first tier, consistency the share of"
    " implausible stories right at the first two, and verifiability at all three"
    " [@storks2021; @pensa2024]."
)


_FORMS: Mapping[StoryFormat, str] = {
    "gita4calamita": "GITA4CALAMITA JSONL",
    "gita-v1": "GITA v1 JSON",
    "native": "stories",
}
"""What the forms of stories are called, as their readings say it."""


class StoryReader(SuiteReader[StorySuite]):
    """The reader of suites of stories."""

    together = ("story",)

    def detect(self, path: Path) -> bool:
        """Whether a path holds stories: a folder of that kind, or a file with their fields."""
        return is_stories(path)

    def read(self, path: Path) -> SuiteReading[StorySuite]:
        """A suite as it is, with whatever is wrong in it: published files have faults.

        `audit` says what that is, and runs repeat it as warnings: a story that has no correct
        answer at a tier is asked and unscored there. Only a state that no answer can be keeps a
        suite from being run.

        Raises:
            InputError: the path does not exist or may not be read.
        """
        try:
            suite = read_stories(path)
        except SuiteError as error:
            return SuiteReading(suite=None, faults=tuple(error.faults), sha256="", path=path)
        unknown = has_unknown_state(suite)
        faults = tuple(
            fault if unknown and fault.code == UNKNOWN_STATE else replace(fault, severity="warning")
            for fault in self.check(suite)
        )
        read = TableReading(
            shape=_FORMS[suite.format],
            roles={},
            n_items=len(suite.stories),
            what="story",
            several="stories",
        )
        return SuiteReading(
            suite=suite,
            faults=faults,
            sha256=suite.sha256,
            path=path,
            format=suite.format,
            table=read,
        )

    def files(self, path: Path) -> Sequence[Path]:
        """suite.toml and the stories of a folder; published files may be packed."""
        return tuple(file for name in (TOML, ITEMS) if (file := path / name).is_file())

    def owns(self, suite: object) -> TypeGuard[StorySuite]:
        """Whether it is a suite of stories."""
        return isinstance(suite, StorySuite)

    def write(self, suite: StorySuite, folder: Path) -> None:
        """Write a suite folder, all stories of it.

        Raises:
            StorageError: the folder cannot be written.
        """
        write_suite(suite, folder)

    def check(self, suite: StorySuite) -> Sequence[Fault]:
        """Everything that is wrong with the stories."""
        file, names = suite.path.name or suite.name, story_names(suite)
        faults = [finding.fault(file=file, names=names) for finding in audit(suite)]
        for story, name in zip(suite.stories, names, strict=True):
            text = " ".join(story.sentences)
            faults += letter_faults(text, f"{file} story {name}")
        return [*faults, *notation_faults(suite), *second_story_factors(suite)]

    def audit(self, reading: SuiteReading[StorySuite]) -> SuiteAudit:
        """Everything that is wrong with the stories, and counts of what is in the file."""
        if reading.suite is None:
            return SuiteAudit.of_faults(reading)
        suite, faults = reading.suite, tuple(self.check(reading.suite))
        needs = "" if _has_examples(suite) else "--set shots=0"
        return SuiteAudit(faults, audit_record(suite), self.holds(suite), needs)

    def holds(self, suite: StorySuite) -> str:
        """The number of stories, and whether they suffice for the usual worked examples."""
        stories = counted(len(suite.stories), "story", "stories")
        if _has_examples(suite):
            return stories
        return f"{stories}, too few for {Shots().n} worked examples in the prompt"

    def groups(self, suite: StorySuite) -> ItemGroups:
        """The stories by their type: plausible, or with a cloze or order variant."""
        asked = suite.asked
        return ItemGroups(
            [str(story.row) for story in asked], {"type": [story.type for story in asked]}
        )

    def selected(self, suite: StorySuite, items: Collection[str]) -> StorySuite:
        """Some stories are asked about; worked examples come from all of them."""
        return replace(suite, only=frozenset(items))


class StoryAsker(Asker[StorySuite, StoryOptions]):
    """The asker about stories, tier by tier."""

    def requests(
        self,
        suite: StorySuite,
        options: StoryOptions,
        *,
        scoring: Asking,
        model: AskedModel,
        answers: Answers,
    ) -> Requests | None:
        """One tier per round, or all additional questions in one.

        Raises:
            UsageError: the model cannot be asked so, there are too few stories for the examples,
                or no story has what is asked about.
            ModelError: its chat template cannot render a prompt.
        """
        if scoring.precision is not None:
            _refuse_together(suite, options)
        return next_round(suite, options, model=model, answers=answers)

    def later(self, suite: StorySuite, options: StoryOptions) -> int:  # noqa: ARG002
        """The most requests after the first tier: two for a story, and two without one."""
        return 2 * (len(suite.asked) + 1)

    def recording(self, name: str, suite: StorySuite, *, scoring: Asking) -> Recording:  # noqa: ARG002
        """Recorded answers, one line for each story and tier; see docs/stories.md.

        Raises:
            InputError: the file does not exist or may not be read.
            SuiteError: it is empty, or lines cannot be used.
        """
        return recorded_answers(expanded(name), suite)


class StoryJudge(Judge["Run"]):
    """The judge of the answers at each tier, or to each question."""

    def outcomes(self, run: Run) -> pl.DataFrame:
        """Every story at every tier, and right at a tier and all before; or every question.

        Raises:
            UsageError: the norm needs what was not asked.
            TableError: the tables are not those of the suite.
        """
        suite, options = asked_of(run)
        if options.task == "tiers":
            return outcomes_table(suite.name, tier_outcomes(judged_run(run)))
        return outcomes_table(suite.name, question_outcomes(answered_questions(run), suite))

    def estimates(self, run: Run) -> Sequence[Estimate]:
        """Accuracy, consistency, verifiability; detection, bias, calibration, partial credit."""
        is_tiers = asked_of(run)[1].task == "tiers"
        return tier_estimates(run) if is_tiers else question_estimates(run)

    def clustered(self, suite: StorySuite, columns: Sequence[str]) -> StorySuite:
        """The suite with other clusters than it declares; variants of a story stay together.

        Raises:
            UsageError: no story has such a column.
        """
        refuse_unusable(columns, (), suite=suite.name, known=columns_of(suite.stories))
        return in_story_clusters(suite, columns)

    def clusters(self, suite: StorySuite) -> Mapping[str, Hashable]:
        """What each story belongs to, by its row."""
        return {str(story.row): story.belongs_to for story in suite.stories}


class StoryPresenter(PlainPresenter[StorySuite]):
    """The presenter of suites of stories and of their runs."""

    def describe(self, suite: StorySuite, items: int) -> str:
        """The content of a file of stories, and its first stories."""
        return suite_text(suite, items)

    def record(self, suite: StorySuite, items: int) -> dict[str, object]:
        """The facts of a suite, and its first stories."""
        return {
            "n_items": len(suite.stories),
            "items": [
                {
                    "row": story.row,
                    "id": story.example_id,
                    "sentences": list(story.sentences),
                    "plausible": story.plausible,
                    "type": story.type,
                    "conflict": None if story.pair is None else list(story.pair),
                    "state": story.state or None,
                }
                for story in suite.stories[:items]
            ],
        }

    def choice_tasks(self, suite: StorySuite) -> Sequence[ChoiceTask]:
        """A task for each tier; see `cimento.paradigms.stories.requests.choice_tasks`."""
        return choice_tasks(suite)

    def methods(self, run: Run) -> MethodFacts:
        """The methods by which stories were asked about and answers judged."""
        suite, options = asked_of(run)
        prompt = prompt_for(options, suite)
        answered = _ANSWERS.get(options.answer, f"Options were compared by {_NORMS[options.norm]}.")
        asked = (
            f"Questions about stories used the prompt {prompt.id} (version {prompt.version}) with"
            f" {counted(options.shots, 'worked example')} ({options.shots_mode}, seed"
            f" {options.shots_seed}), the protocol {options.protocol}, and the chat template"
            f" {options.chat}."
        )
        is_recorded = run.model_kind == "replay"
        sentences = ["The answers were recorded."] if is_recorded else [asked]
        answered = answered.replace("{max_tokens}", str(options.max_tokens))
        sentences.append(answered)
        if options.task == "tiers":
            sentences.append(_METRICS)
        if suite.corrections:
            names = ", ".join(suite.corrections)
            sentences.append(f"The stories were corrected: {names}.")
        sentences.append("Ties, in which options are exactly equal, count as failures.")
        return MethodFacts(
            counted=counted(len(suite.asked), "story", "stories"),
            sentences=tuple(sentences),
            brief=(
                answered,
                *([_METRICS] if options.task == "tiers" else []),
            ),
            together="a story and its variants",
        )

    def warnings(self, run: Run) -> Sequence[str]:
        """Prompts after which the model would write no option, and replies that were not read."""
        if asked_of(run)[1].task != "tiers":
            return ()
        return tuple(tier_warnings(judged_run(run)))

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """Tiers, flow, confusions, calibration, and every story with its answers."""
        from cimento.paradigms.stories.sections import story_sections

        return story_sections(runs)

    def text(self, runs: Sequence[Run], *, brief: bool = False) -> str:  # noqa: ARG002
        """The tables of each run."""
        return runs_text(runs)


class StorySurveyor(Surveyor[StorySuite, "Run"]):
    """The surveyor of whole stories."""

    def survey_items(
        self, suite: StorySuite, task: SurveyTask | None, *, run: Run | None = None
    ) -> SurveyItems:
        """Each story; nobody sees two variants of one.

        Raises:
            UsageError: the task is another one, or a run is given.
        """
        refuse_run(run, suite)
        return SurveyItems(
            chosen_task(task, "story"),
            tuple(
                SurveyItem(
                    item=str(story.row),
                    lines=story.sentences,
                    columns={"domain": story.domain, "type": story.type or "plausible"},
                    apart=str(story.story_id),
                )
                for story in suite.asked
            ),
        )

    def verdicts(
        self, suite: StorySuite, judgments: Sequence[Judgment]
    ) -> tuple[Mapping[str, Mapping[str, str]], str]:
        """Whether each person says rightly of each story if it is plausible, by its row."""
        about, _ = answers_about(judgments, suite.name, (STORY,))
        right = {str(story.row): story.gold(STORY) for story in suite.asked}
        verdicts: dict[str, dict[str, str]] = {}
        for judgment in about:
            if judgment.annotator is not None and right.get(judgment.item):
                held = verdicts.setdefault(judgment.annotator, {})
                held[judgment.item] = "pass" if judgment.value == right[judgment.item] else "fail"
        return verdicts, "" if verdicts else "nobody said whether its stories are plausible"


STORIES = Paradigm(
    name=KIND,
    options=StoryOptions,
    reader=StoryReader(),
    asker=StoryAsker(),
    judge=StoryJudge(),
    presenter=StoryPresenter(),
    surveyor=StorySurveyor(),
)
"""The paradigm of stories."""


def _has_examples(suite: StorySuite) -> bool:
    """Whether there are enough other stories for the usual worked examples."""
    return len({story.story_id for story in suite.stories}) > Shots().n


def _refuse_together(suite: StorySuite, options: StoryOptions) -> None:
    """Refuse to ask stories one by one where a question depends on others that are asked about.

    Raises:
        UsageError: it does.
    """
    seen = ""
    if options.task != "tiers":
        seen = f"the questions of task={options.task} are about several stories together"
    elif options.examples.mode == PAPER_DRAWS:
        seen = "the study drew its worked examples for all stories in their order"
    if seen:
        todo = "Leave --adaptive out, or ask the tiers with other examples."
        raise UsageError(where=f"suite {suite.name!r}, --adaptive", seen=seen, todo=todo)
