"""The protocol of a paradigm, a kind of test: what it asks, how it judges, what it reports.

Everything that is no part of it is written once for all paradigms: the engine asks the requests,
the store keeps the run, and every command reads the outcomes and the estimates. A package brings
a paradigm of its own under the entry point ``cimento.paradigms`` (docs/paradigms.md).
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
    from cimento.models.registry import Asking
    from cimento.people.judgments.records import Judgment
    from cimento.report.records import SuiteReport
    from cimento.runs.outcomes import Estimate
    from cimento.runs.run import Run
    from cimento.runs.store import Manifest, RunFolder


class TestSuite(Protocol):
    """A suite of any paradigm."""

    @property
    def name(self) -> str:
        """The suite's name."""

    @property
    def meta(self) -> Meta:
        """Who made it, about what, and on which terms."""


# The name tells pytest otherwise; inside the class it would be asked of every suite.
TestSuite.__test__ = False  # type: ignore[attr-defined]

SuiteT = TypeVar("SuiteT", bound=TestSuite)


class ParadigmOptions(BaseModel):
    """The options of a paradigm; what it does not declare is refused.

    Attributes:
        ASKED: names of the options that change what a model is asked. They are part of the name
            of a run's folder; all others only change how its answers are judged.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ASKED: ClassVar[frozenset[str]] = frozenset()

    def asked(self) -> dict[str, JsonValue]:
        """The options that change what a model is asked, in plain values."""
        plain: dict[str, JsonValue] = self.model_dump(mode="json", include=set(self.ASKED))
        return plain

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the tokens table that judging needs, besides those requested.

        Raises:
            UsageError: an option names what there is not.
        """
        return ()

    def inputs(self, suite: Any, scoring: Asking) -> dict[str, JsonValue]:  # noqa: ANN401, ARG002
        """What else decides whether a stored run holds the answers that these options need.

        Args:
            suite: of the paradigm.
            scoring: how its texts are scored.
        """
        return {}

    def chosen(self, suite: Any | None) -> str:  # noqa: ANN401, ARG002
        """The part of a suite that is judged, which keeps its runs apart; empty for the whole.

        Args:
            suite: of the paradigm; None where only the options are known.
        """
        return ""

    def digest(self) -> str:
        """A short name for `asked`: eight hexadecimal digits; empty where nothing is declared."""
        if not self.ASKED:
            return ""
        text = json.dumps(self.asked(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


OptionsT = TypeVar("OptionsT", bound=ParadigmOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteReading(Generic[SuiteT]):
    """What was read of a suite, with every fault that was found.

    Attributes:
        suite: None where nothing could be made of it.
        faults: errors, which keep it from being used, and warnings.
        sha256: of the bytes read, hexadecimal.
        path: file or folder.
        format: name of the format.
        language: that was given beside the file, which does not say it; else empty.
    """

    suite: SuiteT | None
    faults: tuple[Fault, ...]
    sha256: str
    path: Path
    format: str = "native"
    language: str = ""


@dataclass(frozen=True, slots=True)
class SuiteAudit:
    """What ``suites check`` says of a suite.

    Attributes:
        faults: every fault; one that is an error makes the exit code 2.
        record: what is in the suite and what is wrong with it, for ``--json``.
        holds: what is in the suite, in words; empty where it cannot be used.
    """

    faults: tuple[Fault, ...]
    record: JsonValue
    holds: str = ""

    @classmethod
    def of_faults(cls, reading: SuiteReading[Any]) -> SuiteAudit:
        """The audit of a suite of which there is nothing to say but its faults."""
        plain: list[JsonValue] = [asdict(fault) for fault in reading.faults]
        return cls(reading.faults, {"suite": reading.path.name, "faults": plain})


SurveyTask: TypeAlias = Literal["likert", "yesno", "choice", "cloze", "candidate", "story"]
"""What people can be asked to do, see docs/surveys.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyItem:
    """What people are asked about an item of a suite, or about one of its conditions.

    Attributes:
        item: its id.
        condition: of the item; empty where it is asked about whole.
        lines: what is shown: a sentence, a text with a blank, the sentences of a story; none where
            the options are all that is shown.
        judged: the sentence or candidate that an answer is about; empty where a choice is made.
        mark: the part of the first line, from and to which character, that is highlighted.
        options: what is chosen among, each with the condition that it is, if it is one; none where
            the answers are the same for all items.
        none: whether the suite lets people answer that none of the options fits.
        columns: its free columns.
        apart: of what shares it, nobody sees two.
        names: by which an answer may name it, besides its id and its text.
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
        """What is shown, in one line."""
        return " ".join(self.lines)


@dataclass(frozen=True, slots=True)
class SurveyItems:
    """What people are asked about a suite.

    Attributes:
        task: what they do.
        items: in the order of the suite.
    """

    task: SurveyTask
    items: tuple[SurveyItem, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """What of people's answers was put into a copy of the suite that they were asked.

    Attributes:
        used: answers that are in it.
        without: items of the suite that nobody answered.
        passed: why other answers are not, and how many.
    """

    used: int
    without: int
    passed: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFacts:
    """What only its paradigm knows of how a run was made; the methods paragraph says it.

    Sentences mark citations as pandoc does, ``[@key; @other]``, by the keys of
    ``citing/references.toml`` and of the sources of the measures.

    Attributes:
        counted: what was asked and how much of it: ``24 items in 4 conditions``.
        design: how the suite is built, as a sentence; empty where there is nothing to say.
        sentences: how it was asked, judged and tested, in order.
        brief: the same in a sentence or two, as a paper says it; the rest is for its appendix.
        together: which items belong together, where some do: ``items of one verb``.
        measures: names of the measures that sentences were given a value by.
    """

    counted: str
    design: str = ""
    sentences: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()
    together: str = ""
    measures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored(Generic[SuiteT, OptionsT]):
    """What a paradigm reads of the folder of a run.

    Attributes:
        suite: reads the copy of the suite, as far as it was asked.
        options: with which the run was made.
        tables: name of each table to the table; empty for the folder's own, read when they are
            needed. Version 0.1 stored some in another form.
    """

    suite: Callable[[], SuiteT]
    options: OptionsT
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)


class AskedModel(Protocol):
    """A model as a paradigm sees it while it writes requests, or a recording of one."""

    @property
    def card(self) -> ModelCard:
        """What is known about it; of a recording the kind is ``replay``."""

    @property
    def recorded(self) -> frozenset[str]:
        """Names of the tables that a recording holds; empty for a model."""

    def chat(self, messages: Sequence[tuple[str, str]]) -> str | None:
        """Turns, as (role, content), in its chat template; None where it has none."""

    @property
    def takes_messages(self) -> bool:
        """Whether it renders turns itself, as servers do."""


class Paradigm(Protocol[SuiteT, OptionsT]):
    """A kind of test.

    Attributes:
        name: of the paradigm; it stands in every manifest.
        kinds: what ``kind`` in suite.toml may say for its suites.
        options: what it honours; anything else that is given is an error.
        scoring: names of the scoring options that it honours besides those of every model
            (``context``, ``all_tokens``, ``columns``, ``spec``, ``recorded_unit``).
    """

    name: str
    kinds: tuple[str, ...]
    options: type[OptionsT]
    scoring: frozenset[str]

    def detect(self, path: Path) -> bool:
        """Whether a path that names no kind holds a suite of this paradigm."""

    def read(self, path: Path) -> SuiteReading[SuiteT]:
        """A suite, and every fault of it.

        Raises:
            InputError: the path does not exist or may not be read.
        """

    def files(self, path: Path) -> Sequence[Path]:
        """The files that `read` reads, where these alone, by names and bytes, decide what it gives.

        Their sha256, one after the other, is then that of the reading. None where it may look
        elsewhere.
        """

    def owns(self, suite: object) -> bool:
        """Whether an object that was made in Python is a suite of this paradigm."""

    def write(self, suite: SuiteT, folder: Path) -> None:
        """Write a suite as `read` reads it.

        Raises:
            StorageError: the folder cannot be written.
        """

    def check(self, suite: SuiteT) -> Sequence[Fault]:
        """Every fault of a suite that was made in Python."""

    def limited(self, suite: SuiteT, limit: int) -> SuiteT:
        """The first items of a suite; the suite itself where it has no more."""

    def describe(self, suite: SuiteT, items: int) -> str:
        """What ``suites show`` prints of a suite and its first items."""

    def audit(self, reading: SuiteReading[SuiteT]) -> SuiteAudit:
        """What is in a suite that was read, and what is wrong with it."""

    def survey_items(
        self, suite: SuiteT, task: SurveyTask | None, *, run: Run | None = None
    ) -> SurveyItems:
        """What people are asked about a suite, or about the answers of a model to it.

        Args:
            suite: that is asked about.
            task: what people do; None for what is usual.
            run: whose answers are judged; None for the suite itself.

        Raises:
            UsageError: people are not asked about suites of this paradigm, or not in this way.
        """

    def apply_judgments(
        self,
        suite: SuiteT,
        judgments: Sequence[Judgment],
        folder: Path,
        *,
        scale: tuple[float, float] | None = None,
    ) -> Applied:
        """Write a copy of a suite with what people said of it.

        Args:
            suite: that was asked.
            judgments: those of other suites, and attention checks, are skipped and counted.
            folder: of the copy.
            scale: ends of the scale of ratings, the worst first; None for those of the suite.

        Raises:
            InputError: nobody answered anything about the suite, or a rating is off the scale.
            UsageError: suites of this paradigm hold no answers of people, or the scale is unknown.
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
        """The next round of requests; None where all has been asked.

        Args:
            suite: what is asked about.
            options: how.
            scoring: how texts are scored.
            model: who is asked.
            answers: to all rounds so far.

        Raises:
            CimentoError: the suite cannot be asked in this way.
        """

    def later(self, suite: SuiteT, options: OptionsT) -> int:
        """How many requests follow the first round at most; 0 where all is asked at once."""

    def recording(self, name: str, suite: SuiteT, *, scoring: Asking) -> Recording:
        """What somebody recorded of the answers to a suite.

        Args:
            name: what stands after ``replay:``: a file, and after ``#`` the name of one of several
                models in it.
            suite: that was recorded.
            scoring: its ``spec`` and ``recorded_unit``; options that a recording cannot honour are
                refused.

        Raises:
            InputError: the file cannot be read.
            UsageError: suites of this paradigm have no recordings, or an option is refused.
            TableError: it is no recording of this suite.
        """

    def restore(self, folder: RunFolder, manifest: Manifest) -> Stored[SuiteT, OptionsT]:
        """What the folder of a run holds, whichever version stored it.

        Raises:
            TableError: it cannot be read.
        """

    def judge(self, run: Run) -> pl.DataFrame:
        """The outcomes table of a run: pure, from its suite, its tables and its options.

        Raises:
            CimentoError: the answers cannot be judged in this way.
        """

    def estimate(self, run: Run) -> Sequence[Estimate]:
        """What the outcomes of a run say about many items."""

    def scores(self, run: Run) -> pl.DataFrame | None:
        """The score of every condition of every item; None where conditions have no scores.

        Columns: ``item``, ``condition``, ``measure``, ``unit``, ``score`` (more is better; null
        where it is undefined); and of suites that cross two factors ``phenomenon``,
        ``first_factor``, ``second_factor``, the level of each (``first_level`` ...) and its code
        (``first``, ``second``), 1/2 or -1/2, so that the sum of ``4 * first * second * score``
        over the four conditions of an item is its difference of differences.
        """

    def methods(self, run: Run) -> MethodFacts:
        """How a run was made, as far as only the paradigm knows."""

    def warnings(self, run: Run) -> Sequence[str]:
        """Warnings for readers of a run, in addition to those of its manifest."""

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """What a report shows of some runs of this paradigm, one section a suite."""

    def text(self, runs: Sequence[Run]) -> str:
        """What ``run`` prints of some runs of this paradigm, in plain text."""


AnyParadigm: TypeAlias = "Paradigm[Any, Any]"
