"""The paradigm, that is, a kind of test: five parts, one for each who calls it.

Everything else is written once for all paradigms: the engine answers the requests, the store keeps
the run, and every command reads the outcomes and the estimates. A package provides its own paradigm
under the entry point ``cimento.paradigms`` (docs/extending.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from cimento.errors import UsageError
from cimento.faults import errors
from cimento.intake.reading import TableReading
from cimento.kinds.asker import Asker
from cimento.kinds.base import OptionsT, SuiteReading, SuiteT, TestSuite
from cimento.kinds.judge import Judge
from cimento.kinds.presenter import Presenter
from cimento.kinds.reader import SuiteReader
from cimento.kinds.surveyor import Surveyor

RunT = TypeVar("RunT")


# Two paradigms are equal only if they are the same object, whatever their parts say of themselves.
@dataclass(frozen=True, kw_only=True, eq=False)
class Paradigm(Generic[SuiteT, OptionsT, RunT]):
    """A kind of test, made of five parts; docs/extending.md writes one.

    Attributes:
        name: name of the paradigm, which is in every manifest.
        kinds: values of ``kind`` in suite.toml for its suites; only the name if none are given.
        options: model of its options; any other option is an error.
        reader: the reader of its suites.
        asker: the asker, which writes the requests to a model.
        judge: the judge of the answers.
        presenter: the presenter of suites and runs.
        surveyor: the surveyor, which asks people about its suites; None if they are not asked.
    """

    name: str
    kinds: tuple[str, ...] = ()
    options: type[OptionsT]
    reader: SuiteReader[SuiteT]
    asker: Asker[SuiteT, OptionsT]
    judge: Judge[RunT]
    presenter: Presenter[SuiteT, RunT]
    surveyor: Surveyor[SuiteT, RunT] | None = None

    def __post_init__(self) -> None:
        if not self.kinds:
            object.__setattr__(self, "kinds", (self.name,))


AnyParadigm: TypeAlias = Paradigm[Any, Any, Any]
"""A paradigm with suites, options and runs of any kind."""


def with_form(paradigm: AnyParadigm, reading: SuiteReading[Any]) -> SuiteReading[Any]:
    """A reading that says what it was read as, which paradigms of other packages need not say."""
    if reading.suite is None or reading.table is not None or errors(reading.faults):
        return reading
    count = paradigm.presenter.record(reading.suite, 0).get("n_items")
    form = TableReading(
        shape=f"a suite of the kind {paradigm.name}",
        roles={},
        n_items=count if isinstance(count, int) else None,
    )
    return replace(reading, table=form)


def surveyor_of(paradigm: AnyParadigm, suite: TestSuite) -> Surveyor[Any, Any]:
    """The surveyor of a suite's paradigm.

    Args:
        paradigm: paradigm of the suite.
        suite: the suite, for the message.

    Raises:
        UsageError: people are not asked about suites of the paradigm.
    """
    if paradigm.surveyor is None:
        raise UsageError(
            where=f"suite {suite.name!r}",
            seen=f"people are not asked about suites of the kind {paradigm.name!r}",
            todo="Give a suite of sentences, of blanks or of stories.",
        )
    return paradigm.surveyor
