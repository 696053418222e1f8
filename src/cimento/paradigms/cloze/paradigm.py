"""Cloze suites, written out or made of templates: what belongs in a blank?

A model finds candidates for each blank and scores the options of its item there. It is judged in
three ways: whether the target is among the first candidates (``hit@k``), how many of them fit, as
people or a dictionary say (``fits@k``), and which option is the most probable (``choice``).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.engine.requests import Requests
from cimento.errors import Fault, InputError, UsageError, counted
from cimento.io.files import expanded
from cimento.kinds.asker import Asker
from cimento.kinds.base import AppliedJudgments, MethodFacts, SuiteReading, SurveyItems, SurveyTask
from cimento.kinds.clusters import refuse_unusable
from cimento.kinds.judge import Judge
from cimento.kinds.paradigm import Paradigm
from cimento.kinds.plain import PlainPresenter
from cimento.kinds.reader import SuiteReader
from cimento.kinds.surveyor import Surveyor
from cimento.models.recorded import is_log
from cimento.paradigms.cloze.cluster_checks import cluster_faults
from cimento.paradigms.cloze.detecting import is_cloze, is_released
from cimento.paradigms.cloze.estimates import cloze_estimates, cloze_methods
from cimento.paradigms.cloze.files import (
    check_cloze,
    choice_task,
    read_cloze,
    write_cloze,
)
from cimento.paradigms.cloze.judging import (
    HIT,
    NOT_NEXT,
    UNREACHABLE,
    asked,
    cloze_outcomes,
    dictionary_of,
    refuse_unknown_columns,
)
from cimento.paradigms.cloze.judgments import human_judgments
from cimento.paradigms.cloze.reading import folder_files
from cimento.paradigms.cloze.recording import logged_options, read_recorded_candidates
from cimento.paradigms.cloze.requests import (
    FITS,
    NAME,
    ClozeAnswers,
    ClozeOptions,
    blank_requests,
    check_candidates,
)
from cimento.records.blanks import EXPECTED_TABLE, FORCED_CHOICE
from cimento.records.outcomes import Estimate
from cimento.suites.cloze import ClozeSuite, cluster_of, expand_suite
from cimento.suites.formats.lm_eval import ChoiceTask
from cimento.suites.limits import PHENOMENA, ItemGroups

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.requests import Answers, Recording
    from cimento.judgments import Judgment
    from cimento.kinds.base import AskedModel
    from cimento.kinds.named import TableSettings
    from cimento.kinds.run import Run
    from cimento.models.settings import Asking
    from cimento.report import SuiteReport
    from cimento.report.grid import Grid


class ClozeReader(SuiteReader[ClozeSuite]):
    """The reader of cloze suites, written out or made of templates."""

    def detect(self, path: Path) -> bool:
        """Whether a path is a file of the Brazilian study, or a table of blanks."""
        return is_cloze(path)

    def read(self, path: Path) -> SuiteReading[ClozeSuite]:
        """A suite folder, its suite.toml, or a table of items that stands alone.

        Raises:
            InputError: the path does not exist or may not be read.
        """
        return read_cloze(path)

    def files(self, path: Path) -> Sequence[Path]:
        """suite.toml and the tables of a folder."""
        return () if is_released(path) else folder_files(path)

    def owns(self, suite: object) -> bool:
        """Whether an object is a cloze suite."""
        return isinstance(suite, ClozeSuite)

    def write(self, suite: ClozeSuite, folder: Path) -> None:
        """Write a suite as a folder of the native format.

        Raises:
            StorageError: the folder cannot be written.
        """
        write_cloze(suite, folder)

    def check(self, suite: ClozeSuite) -> Sequence[Fault]:
        """Every fault of a suite."""
        return check_cloze(suite)

    def groups(self, suite: ClozeSuite) -> ItemGroups:
        """The items, of whatever they are made, by phenomenon and template."""
        items = expand_suite(suite).items
        return ItemGroups(
            [item.id for item in items],
            {name: [item.columns.get(name) for item in items] for name in PHENOMENA},
        )

    def selected(self, suite: ClozeSuite, items: Collection[str]) -> ClozeSuite:
        """The suite with some of its items, of whatever they are made."""
        return replace(suite, only=frozenset(items))

    def holds(self, suite: ClozeSuite) -> str:
        """The numbers of items, and of those with an expected answer, in words."""
        items = expand_suite(suite).items
        targets = sum(bool(item.targets) for item in items)
        return f"{counted(len(items), 'item')}, {targets} with an expected answer"


class ClozeAsker(Asker[ClozeSuite, ClozeOptions]):
    """The asker for candidates of blanks and for probabilities of options."""

    def requests(
        self,
        suite: ClozeSuite,
        options: ClozeOptions,
        *,
        scoring: Asking,  # noqa: ARG002  # the same for every way of scoring
        model: AskedModel,  # noqa: ARG002  # every model is asked the same
        answers: Answers,
    ) -> Requests | None:
        """One blank for each distinct text, with the options of all its items.

        Raises:
            UsageError: a context is to come before the texts, or an option cannot be used.
            InputError: the suite has no item, or a dictionary or judgments cannot be used.
        """
        if answers.n:
            return None
        items = expand_suite(suite).items
        if not items:
            raise InputError(where="suite", seen="there is no item to ask", todo="Add one.")
        # What cannot be judged should be known before a model is asked for hours.
        refuse_unknown_columns(items, options.by)
        if options.judgments:
            human_judgments(None, options.judgments)
        if options.dictionary:
            from cimento.corpus.morphology.dictionaries import dictionary_for

            dictionary_for(options.dictionary, suite.meta.language)
        return blank_requests(items, options.policy, suite=suite.name)

    def recording(self, name: str, suite: ClozeSuite, *, scoring: Asking) -> Recording:  # noqa: ARG002  # nothing is scored
        """Recorded candidates, JSON lines or a table, or options that lm-eval scored.

        Raises:
            InputError: the file cannot be used.
        """
        if is_log(path := expanded(name)):
            return logged_options(path, expand_suite(suite).items)
        return read_recorded_candidates(name)


class ClozeJudge(Judge["Run"]):
    """The judge of hits, of candidates that fit, and of forced choices."""

    def outcomes(self, run: Run) -> pl.DataFrame:
        """Hits, candidates that fit, and forced choices.

        Raises:
            UsageError: no item has a column that results are to be broken down by.
            InputError: a dictionary, judgments or an expectation cannot be used.
        """
        return cloze_outcomes(ClozeAnswers(run))

    def estimates(self, run: Run) -> Sequence[Estimate]:
        """hit@1 to hit@k, P@1 and P@k, and the forced choices, also by the columns of ``by``."""
        return cloze_estimates(ClozeAnswers(run))

    def clustered(self, suite: ClozeSuite, columns: Sequence[str]) -> ClozeSuite:
        """The suite with other clusters than it declares.

        Raises:
            UsageError: there are no such columns, or an item has nothing in one.
        """
        chosen = replace(suite, cluster=columns)
        faults = [fault.seen for fault in cluster_faults(chosen)]
        known = dict.fromkeys(name for item in expand_suite(suite).items for name in item.columns)
        refuse_unusable(columns, faults, suite=suite.name, known=known)
        return chosen

    def clusters(self, suite: ClozeSuite) -> Mapping[str, Hashable]:
        """What each item belongs to, by its id."""
        items = expand_suite(suite).items
        return {item.id: cluster_of(item, suite.cluster) for item in items}


class ClozePresenter(PlainPresenter[ClozeSuite]):
    """The presenter of cloze suites and of their runs."""

    tables = (EXPECTED_TABLE,)

    def describe(self, suite: ClozeSuite, items: int) -> str:
        """The suite in a few lines, and its first items."""
        from cimento.paradigms.cloze.text import describe_cloze

        return describe_cloze(suite, items)

    def record(self, suite: ClozeSuite, items: int) -> dict[str, object]:
        """The facts of a suite, and its first items, those of templates included."""
        made = expand_suite(suite).items
        return {
            "kind": suite.kind,
            "n_items": len(made),
            "items": [
                {
                    "id": item.id,
                    "text": item.text,
                    "options": [asdict(option) for option in item.options],
                    "columns": dict(item.columns),
                }
                for item in made[:items]
            ],
        }

    def choice_tasks(self, suite: ClozeSuite) -> Sequence[ChoiceTask]:
        """A task of the blanks that have options; see `choice_task`."""
        return [choice_task(suite)]

    def methods(self, run: Run) -> MethodFacts:
        """The methods by which blanks were filled, and what counts as a hit."""
        return cloze_methods(ClozeAnswers(run))

    def warnings(self, run: Run) -> Sequence[str]:
        """Candidates that are missing or not judged, and answers that cannot be found."""
        answers = ClozeAnswers(run)
        noted = [
            f"{method}: {text}" for method in answers.methods for text in _noted(answers, method)
        ]
        from cimento.corpus.morphology.dictionaries import faults_of

        return (*noted, *faults_of(dictionary_of(answers)))

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """Hits, choices, figures, and the items with what was in their blanks."""
        from cimento.paradigms.cloze.sections import cloze_sections

        return cloze_sections(runs)

    def text(self, runs: Sequence[Run], *, brief: bool = False) -> str:  # noqa: ARG002
        """One block for each suite and model: hits, candidates that fit, forced choices."""
        from cimento.paradigms.cloze.text import cloze_text

        return cloze_text(runs)

    def table(self, name: str, runs: Sequence[Run], settings: TableSettings) -> Grid:  # noqa: ARG002
        """The expected answer of each item, what the model put there, and which word it chose.

        Raises:
            UsageError: the runs are of no suite with expected answers, or of several.
        """
        from cimento.paradigms.cloze.filled import expected_grid, filled_blanks

        suites = {run.suite.name for run in runs}
        filled = [(run.model, filled_blanks(ClozeAnswers(run))) for run in runs]
        made = expected_grid(filled) if len(suites) == 1 else None
        if made is None:
            seen = f"{len(suites)} suites have it" if len(suites) > 1 else "no answer is expected"
            todo = "Give the runs of one suite with blanks and expected words."
            raise UsageError(where=f"--table={name}", seen=seen, todo=todo)
        return made


class ClozeSurveyor(Surveyor[ClozeSuite, "Run"]):
    """The surveyor of blanks, and of what models put into them."""

    question = FORCED_CHOICE

    def survey_items(
        self, suite: ClozeSuite, task: SurveyTask | None, *, run: Run | None = None
    ) -> SurveyItems:
        """Its blanks, or what a model put into them."""
        from cimento.paradigms.cloze.people import blank_items

        return blank_items(suite, task, run=run)

    def apply_judgments(
        self,
        suite: ClozeSuite,
        judgments: Sequence[Judgment],
        folder: Path,
        *,
        scale: tuple[float, float] | None = None,  # noqa: ARG002
    ) -> AppliedJudgments:
        """A copy, with the number of people who chose each option."""
        from cimento.paradigms.cloze.people import judged_blanks

        return judged_blanks(suite, judgments, folder)

    def verdicts(
        self, suite: ClozeSuite, judgments: Sequence[Judgment]
    ) -> tuple[Mapping[str, Mapping[str, str]], str]:
        """Whether each person chose the target, by item."""
        from cimento.paradigms.cloze.people import verdicts_on_blanks

        return verdicts_on_blanks(suite, judgments)


CLOZE = Paradigm(
    name=NAME,
    kinds=("cloze", "templates"),
    options=ClozeOptions,
    reader=ClozeReader(),
    asker=ClozeAsker(),
    judge=ClozeJudge(),
    presenter=ClozePresenter(),
    surveyor=ClozeSurveyor(),
)
"""The paradigm of suites of the kinds ``cloze`` and ``templates``."""


# --- Warnings


def _noted(answers: ClozeAnswers, method: str) -> Iterator[str]:
    """Warnings about the candidates of one method."""
    estimates = [one for one in answers.run.estimates() if one.method == method]
    cannot = asked(answers.run.outcomes(), f"{HIT}{answers.options.k}", method)
    for reason, place in ((UNREACHABLE, "at one mask"), (NOT_NEXT, "as the next token")):
        items = cannot.filter(cannot["reason"] == reason)["item"]
        if len(items):
            yield (
                f"{counted(len(items), 'answer is', 'answers are')} several tokens and cannot be"
                f" found {place}; the first is that of item {items[0]}"
            )
    k = None if method.startswith(("beam-", "complete", "sentinel")) else answers.options.k
    judged = [c for c in answers.judged(method) if c.rank <= answers.options.k]
    yield from check_candidates(judged, items=[item.id for item in answers.items], k=k)
    if not any(estimate.question.startswith((HIT, FITS)) for estimate in estimates):
        yield (
            "nothing to judge by. Judge with `cimento annotate candidates`, or give"
            " --set dictionary=... where items say what they expect"
        )
