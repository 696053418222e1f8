"""The protocol of a paradigm, that is, a kind of test: its requests, its judging, its reports.

Everything else is written once for all paradigms: the engine answers the requests, the store keeps
the run, and every command reads the outcomes and the estimates. A package provides its own paradigm
under the entry point ``cimento.paradigms`` (docs/paradigms.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from cimento.errors import Fault
from cimento.suites.model import JsonValue, Meta

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.replay import Recording
    from cimento.engine.requests import Answers, Requests
    from cimento.io.tables import Column
    from cimento.models.base import ModelCard
    from cimento.models.settings import Asking
    from cimento.people.judgments.records import Judgment
    from cimento.report.records import SuiteReport
    from cimento.runs.outcomes import Estimate
    from cimento.runs.run import Run
    from cimento.runs.store import Manifest, RunFolder


class TestSuite(Protocol):
    """A suite of any paradigm."""

    @property
    def name(self) -> str:
        """The name of the suite."""

    @property
    def meta(self) -> Meta:
        """The suite's metadata, such as author, subject and license."""


# Because of its name, pytest would take the class for tests. Set inside the class, the attribute
# would be required of every suite.
TestSuite.__test__ = False  # type: ignore[attr-defined]

SuiteT = TypeVar("SuiteT", bound=TestSuite)


class ParadigmOptions(BaseModel):
    """The options of a paradigm; undeclared options are refused.

    Attributes:
        ASKED: names of the options that change the requests to a model. They are part of the name
            of a run's folder; all others only change how its answers are judged.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ASKED: ClassVar[frozenset[str]] = frozenset()

    def asked(self) -> dict[str, JsonValue]:
        """The options that change the requests to a model, as plain values."""
        plain: dict[str, JsonValue] = self.model_dump(mode="json", include=set(self.ASKED))
        return plain

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the tokens table that judging needs, in addition to those requested.

        Raises:
            UsageError: an option names something unknown.
        """
        return ()

    def inputs(self, suite: Any, scoring: Asking) -> dict[str, JsonValue]:  # noqa: ANN401, ARG002
        """The other settings on which it depends whether a stored run has the answers needed here.

        Args:
            suite: suite of the paradigm.
            scoring: rules by which its texts are scored.
        """
        return {}

    def chosen(self, suite: Any | None) -> str:  # noqa: ANN401, ARG002
        """The part of a suite that is judged, which separates its runs; empty for the whole suite.

        Args:
            suite: suite of the paradigm; None if only the options are known.
        """
        return ""

    def digest(self) -> str:
        """A short hash of `asked`: eight hexadecimal digits; empty if there are no such options."""
        if not self.ASKED:
            return ""
        text = json.dumps(self.asked(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


OptionsT = TypeVar("OptionsT", bound=ParadigmOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReading(Generic[SuiteT]):
    """The result of reading a suite, with every fault found.

    Attributes:
        suite: the suite; None if the source could not be read as one.
        faults: errors, which make the suite unusable, and warnings.
        sha256: sha256 of the bytes read, hexadecimal.
        path: path of the file or folder.
        format: name of the format.
        language: language given separately because the file states none; otherwise empty.
    """

    suite: SuiteT | None
    faults: tuple[Fault, ...]
    sha256: str
    path: Path
    format: str = "native"
    language: str = ""


@dataclass(frozen=True, slots=True)
class SuiteAudit:
    """The content and the faults of a suite, as ``suites check`` reports them.

    Attributes:
        faults: all faults; if one is an error, the exit code is 2.
        record: content and faults of the suite, for ``--json``.
        holds: content of the suite in words; empty if the suite is unusable.
        needs: options that a run of the suite needs, as on the command line; empty for none.
    """

    faults: tuple[Fault, ...]
    record: JsonValue
    holds: str = ""
    needs: str = ""

    @classmethod
    def of_faults(cls, reading: SuiteReading[Any]) -> SuiteAudit:
        """The audit of a suite about which only the faults are known."""
        plain: list[JsonValue] = [asdict(fault) for fault in reading.faults]
        return cls(reading.faults, {"suite": reading.path.name, "faults": plain})


SurveyTask: TypeAlias = Literal["likert", "yesno", "choice", "cloze", "candidate", "story"]
"""The tasks of surveys, see docs/surveys.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyItem:
    """A survey question about an item of a suite, or about one of its conditions.

    Attributes:
        item: id of the item.
        condition: name of the condition; empty if the question is about the whole item.
        lines: text to show: a sentence, a text with a blank, the sentences of a story; empty if
            only the options are shown.
        judged: sentence or candidate that an answer is about; empty for a choice.
        mark: first and end character of the highlighted part of the first line.
        options: answers to choose among, each with its condition, if it is one; empty if the
            answers are the same for all items.
        none: whether "none of the options" is an answer.
        columns: free columns of the item.
        apart: group of items of which nobody sees two.
        names: other names for the item in answers, besides its id and its text.
    """

    item: str
    condition: str = ""
    lines: tuple[str, ...] = ()
    judged: str = ""
    mark: tuple[int, int] | None = None
    options: tuple[tuple[str, str], ...] = ()
    none: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    apart: str = ""
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text to show, in one line."""
        return " ".join(self.lines)


@dataclass(frozen=True, slots=True)
class SurveyItems:
    """The survey questions about a suite.

    Attributes:
        task: task of the survey.
        items: items in the order of the suite.
    """

    task: SurveyTask
    items: tuple[SurveyItem, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """The count of people's answers that were put into a copy of their suite.

    Attributes:
        used: number of answers in the copy.
        without: items of the suite that nobody answered.
        passed: number of answers left out, by reason.
    """

    used: int
    without: int
    passed: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFacts:
    """Facts for the methods paragraph that only the run's paradigm knows.

    Sentences mark citations in pandoc's syntax, ``[@key; @other]``, with the keys of
    ``cite/references.toml`` and of the sources of the measures.

    Attributes:
        counted: number and kind of what was asked: ``24 items in 4 conditions``.
        design: design of the suite, as a sentence; empty if there is nothing to say.
        sentences: sentences on asking, judging and testing, in order.
        brief: the main facts in a sentence or two, for a paper; the rest is for its appendix.
        together: common property of items that belong together, if any: ``items of one verb``.
        measures: names of the measures of sentences.
    """

    counted: str
    design: str = ""
    sentences: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()
    together: str = ""
    measures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(Generic[SuiteT, OptionsT]):
    """The parts of a stored run that its paradigm reads.

    Attributes:
        suite: function that reads the copy of the suite, as far as it was asked.
        options: options of the run.
        tables: tables by name; empty for those in the folder, which are read when needed. Version
            0.1 stored some tables in another form.
    """

    suite: Callable[[], SuiteT]
    options: OptionsT
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)


class AskedModel(Protocol):
    """A model, or a recording of one, as a paradigm sees it while it writes requests."""

    @property
    def card(self) -> ModelCard:
        """The model card; for a recording, its kind is ``replay``."""

    @property
    def recorded(self) -> frozenset[str]:
        """The names of the tables in a recording; empty for a model."""

    def chat(self, messages: Sequence[tuple[str, str]]) -> str | None:
        """Turns, given as (role, content), in the model's chat template; None if it has none."""

    @property
    def takes_messages(self) -> bool:
        """Whether the model renders turns itself, as servers do."""


class Paradigm(Protocol[SuiteT, OptionsT]):
    """A kind of test.

    Attributes:
        name: name of the paradigm, which is in every manifest.
        kinds: values of ``kind`` in suite.toml for its suites.
        options: model of its options; any other option is an error.
        scoring: names of the scoring options that it supports in addition to those of every model
            (``context``, ``all_tokens``, ``columns``, ``spec``, ``recorded_unit``).
    """

    name: str
    kinds: tuple[str, ...]
    options: type[OptionsT]
    scoring: frozenset[str]

    def detect(self, path: Path) -> bool:
        """Whether a path that states no kind contains a suite of this paradigm."""

    def read(self, path: Path) -> SuiteReading[SuiteT]:
        """A suite, with every fault in it.

        Raises:
            InputError: the path does not exist or is not readable.
        """

    def files(self, path: Path) -> Sequence[Path]:
        """The files that `read` reads, if their names and bytes alone determine its result.

        Their sha256, one after the other, is then that of the reading. The list is empty if `read`
        may use other sources.
        """

    def owns(self, suite: object) -> bool:
        """Whether an object made in Python is a suite of this paradigm."""

    def write(self, suite: SuiteT, folder: Path) -> None:
        """Write a suite in the form that `read` reads.

        Raises:
            StorageError: the folder cannot be written.
        """

    def check(self, suite: SuiteT) -> Sequence[Fault]:
        """Every fault of a suite made in Python."""

    def limited(self, suite: SuiteT, limit: int) -> SuiteT:
        """The first items of a suite; the suite itself if it has no more."""

    def describe(self, suite: SuiteT, items: int) -> str:
        """The text that ``suites show`` prints about a suite and its first items."""

    def audit(self, reading: SuiteReading[SuiteT]) -> SuiteAudit:
        """The content and the faults of a suite that was read."""

    def survey_items(
        self, suite: SuiteT, task: SurveyTask | None, *, run: Run | None = None
    ) -> SurveyItems:
        """The survey questions about a suite, or about a model's answers to it.

        Args:
            suite: suite of the questions.
            task: task of the survey; None for the usual one.
            run: run whose answers are judged; None for the suite itself.

        Raises:
            UsageError: suites of this paradigm have no surveys, or not this task.
        """

    def apply_judgments(
        self,
        suite: SuiteT,
        judgments: Sequence[Judgment],
        folder: Path,
        *,
        scale: tuple[float, float] | None = None,
    ) -> Applied:
        """Write a copy of a suite with people's judgments.

        Args:
            suite: the suite that people were asked about.
            judgments: judgments; those of other suites, and attention checks, are skipped and
                counted.
            folder: folder of the copy.
            scale: ends of the rating scale, the worst first; None for the suite's own.

        Raises:
            InputError: no answer is about the suite, or a rating is off the scale.
            UsageError: suites of this paradigm cannot contain judgments, or the scale is unknown.
            StorageError: the copy cannot be written.
        """

    def requests(
        self,
        suite: SuiteT,
        options: OptionsT,
        *,
        scoring: Asking,
        model: AskedModel,
        answers: Answers,
    ) -> Requests | None:
        """The next round of requests; None after the last one.

        Args:
            suite: the suite.
            options: options of the paradigm.
            scoring: rules by which texts are scored.
            model: the model.
            answers: answers to all rounds so far.

        Raises:
            CimentoError: the suite cannot be asked this way.
        """

    def later(self, suite: SuiteT, options: OptionsT) -> int:
        """Most requests after the first round; 0 if there is only one round."""

    def recording(self, name: str, suite: SuiteT, *, scoring: Asking) -> Recording:
        """A recording of the answers to a suite.

        Args:
            name: the part after ``replay:``: a file, and after ``#`` the name of one of several
                models in it.
            suite: the recorded suite.
            scoring: its ``spec`` and ``recorded_unit``; options that a recording cannot follow are
                refused.

        Raises:
            InputError: the file cannot be read.
            UsageError: suites of this paradigm have no recordings, or an option is refused.
            TableError: the file is not a recording of this suite.
        """

    def restore(self, folder: RunFolder, manifest: Manifest) -> Stored[SuiteT, OptionsT]:
        """The content of a run's folder, whichever version stored it.

        Raises:
            TableError: the folder cannot be read.
        """

    def judge(self, run: Run) -> pl.DataFrame:
        """The outcomes table of a run, a pure function of its suite, tables and options.

        Raises:
            CimentoError: the answers cannot be judged this way.
        """

    def estimate(self, run: Run) -> Sequence[Estimate]:
        """The estimates from the outcomes of a run."""

    def scores(self, run: Run) -> pl.DataFrame | None:
        """The score of every condition of every item; None if conditions have no scores.

        Columns: ``item``, ``condition``, ``measure``, ``unit``, ``score`` (more is better; null if
        undefined). Suites that cross two factors also have ``phenomenon``, ``first_factor``,
        ``second_factor``, the level of each factor (``first_level`` ...) and its code
        (``first``, ``second``), 1/2 or -1/2, so that the sum of ``4 * first * second * score``
        over the four conditions of an item is its difference of differences.
        """

    def methods(self, run: Run) -> MethodFacts:
        """The facts about a run that only the paradigm knows."""

    def warnings(self, run: Run) -> Sequence[str]:
        """Warnings for readers of a run, in addition to those of its manifest."""

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """The sections of a report on some runs of this paradigm, one for each suite."""

    def text(self, runs: Sequence[Run]) -> str:
        """The text that ``run`` prints for some runs of this paradigm."""


AnyParadigm: TypeAlias = "Paradigm[Any, Any]"
