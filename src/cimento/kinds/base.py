"""The records that paradigms take and return: options, suites as read, surveys, stored runs."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    Protocol,
    Self,
    TypeAlias,
    TypeVar,
)

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from cimento.errors import Fault
from cimento.intake.reading import TableReading
from cimento.io.plugins import blamed_for
from cimento.suites import JsonValue, Meta

if TYPE_CHECKING:
    from cimento.io.tables import Column
    from cimento.models.base import ModelCard
    from cimento.models.settings import Asking


class TestSuite(Protocol):
    """A suite of any kind."""

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
SuiteT_contra = TypeVar("SuiteT_contra", bound=TestSuite, contravariant=True)
RunT_contra = TypeVar("RunT_contra", contravariant=True)


def option_names(value: object) -> object:
    """A list of names as an option has it; a text is split at its commas."""
    if not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    return tuple(filter(None, (name.strip() for name in value.split(","))))


_OPTION_METHODS = (
    "asked", "columns", "measure_names", "inputs", "chosen", "refuse_unfit", "digest",
)  # fmt: skip


class ParadigmOptions(BaseModel):
    """The options of a paradigm; undeclared options are refused.

    Attributes:
        ASKED: names of the options that change the requests to a model. They are part of the name
            of a run's folder; all others only change how its answers are judged.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ASKED: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __pydantic_init_subclass__(cls, **_kwargs: object) -> None:
        """Have the methods of a class of another package blame its plug-in when they fail."""
        if _is_own(cls):
            return
        for name in _OPTION_METHODS:
            match inspect.getattr_static(cls, name):
                case FunctionType() as method:
                    setattr(cls, name, _blaming(method))
                case property(fget=FunctionType() as method):
                    setattr(cls, name, property(_blaming(method)))

    @model_validator(mode="wrap")
    @classmethod
    def _blame(cls, data: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        """Check values, and blame a plug-in if its own checks fail with anything but a fault."""
        if _is_own(cls):
            return validate(data)
        with blamed_for("cimento.paradigms", cls, but=ValidationError):
            return validate(data)

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

    @property
    def measure_names(self) -> tuple[str, ...]:
        """The names of the measures that answers are judged by, so far as options name them."""
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

    def refuse_unfit(self, suite: Any) -> None:  # noqa: ANN401
        """Refuse values that are right in themselves, but not for a suite.

        Args:
            suite: suite of the paradigm.

        Raises:
            CimentoError: the suite lacks what an option names.
        """

    def digest(self) -> str:
        """A short hash of `asked`: eight hexadecimal digits; empty if there are no such options."""
        if not self.ASKED:
            return ""
        text = json.dumps(self.asked(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


def _is_own(options: type[ParadigmOptions]) -> bool:
    return options.__module__.partition(".")[0] == "cimento"


def _blaming(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: ParadigmOptions, *args: object, **kwargs: object) -> object:
        with blamed_for("cimento.paradigms", type(self)):
            return method(self, *args, **kwargs)

    return call


OptionsT = TypeVar("OptionsT", bound=ParadigmOptions)
OptionsT_contra = TypeVar("OptionsT_contra", bound=ParadigmOptions, contravariant=True)


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
        content: digest of the content of the whole suite, where only a part of it is asked about.
        table: what the file was read as; None where there is no file, or nothing was read.
        columns: the columns of the table by their roles, as they were chosen.
    """

    suite: SuiteT | None
    faults: Sequence[Fault]
    sha256: str
    path: Path
    format: str = "native"
    language: str = ""
    content: str = ""
    table: TableReading | None = None
    columns: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SuiteAudit:
    """The content and the faults of a suite, as ``suites check`` reports them.

    Attributes:
        faults: all faults; if one is an error, the exit code is 2.
        record: content and faults of the suite, for ``--json``.
        holds: content of the suite in words; empty if the suite is unusable.
        needs: options that a run of the suite needs, as on the command line; empty for none.
        read: what its file was read as; None where nothing was read.
    """

    faults: tuple[Fault, ...]
    record: JsonValue
    holds: str = ""
    needs: str = ""
    read: TableReading | None = None

    def with_table(self, table: TableReading | None) -> SuiteAudit:
        """The audit with what the suite's file was read as."""
        if table is None or not isinstance(self.record, dict):
            return self
        record: JsonValue = {**self.record, "read": table.said()}
        return replace(self, read=table, record=record)

    @classmethod
    def of_faults(cls, reading: SuiteReading[Any]) -> SuiteAudit:
        """The audit of a suite about which only the faults are known."""
        plain: list[JsonValue] = [asdict(fault) for fault in reading.faults]
        return cls(tuple(reading.faults), {"suite": reading.path.name, "faults": plain})


SurveyTask: TypeAlias = Literal[
    "likert", "yesno", "choice", "cloze", "candidate", "story", "reading", "maze"
]
"""The tasks of surveys, see docs/people.md."""

TIMED_TASKS: tuple[SurveyTask, ...] = ("reading", "maze")
"""Those in which sentences are read word by word and each word is timed."""


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
        regions: name of the region that each word of the sentence begins in; empty where there is
            only one.
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
    regions: tuple[str, ...] = ()

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
class AppliedJudgments:
    """The count of people's answers that were put into a copy of their suite.

    Attributes:
        used: number of answers in the copy.
        without: items of the suite that nobody answered.
        passed: number of answers left out, by reason.
        unrated: sentences of the suite without a rating, if its sentences were rated.
        earlier: sentences of which the suite had people's ratings already.
        kept: those of them that nobody answered, whose ratings stay.
        suite: name of the suite, under which runs of the copy are stored.
        asked_as: name of the suite in the answers, if it is another one.
    """

    used: int
    without: int
    passed: Mapping[str, int]
    unrated: int = 0
    earlier: int = 0
    kept: int = 0
    suite: str = ""
    asked_as: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFacts:
    """Facts for the methods paragraph that only the run's paradigm knows.

    Sentences mark citations in pandoc's syntax, ``[@key; @other]``, with the keys of
    ``cite/references.toml`` and of the sources of the measures.

    Attributes:
        counted: number and kind of what was asked: ``24 items in 4 conditions``.
        design: what the items do by design, such as ``cross the factors a and b``; empty if there
            is nothing to say.
        sentences: sentences on asking, judging and testing, in order.
        brief: the main facts in a sentence or two, for a paper; the rest is for its appendix.
        together: common property of items that belong together, if any: ``items of one verb``.
        measures: names of the measures of sentences.
        counts: question and method of the proportions whose verdicts and chance are stated; empty
            for all of them.
        one_by_one: whether nothing sums up the questions, so that the rate of each is stated.
        scores_texts: whether whole texts were scored, so that the rule of their tokens is stated; a
            masked model that fills blanks has no pseudo-log-likelihoods.
    """

    counted: str
    design: str = ""
    sentences: tuple[str, ...] = ()
    brief: tuple[str, ...] = ()
    together: str = ""
    measures: tuple[str, ...] = ()
    counts: tuple[tuple[str, str], ...] = ()
    one_by_one: bool = False
    scores_texts: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Restatement:
    """What the questions of a run ask in another way, so that `compare` can put them side by side.

    Attributes:
        suite: name of the suite that the same items are of.
        questions: question of the run to the question of a run of that suite which it asks again;
            empty for the question that sums such a run up.
    """

    suite: str
    questions: Mapping[str, str]


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
