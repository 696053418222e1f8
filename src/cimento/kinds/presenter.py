"""The presenter of a kind of suites: suites and runs in words, tables and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cimento.errors import UsageError
from cimento.kinds.base import RunT_contra, SuiteT_contra
from cimento.suites import Meta

if TYPE_CHECKING:
    from cimento.kinds.base import MethodFacts
    from cimento.kinds.named import FigureSettings, TableSettings
    from cimento.records.effects import DesignEffect
    from cimento.report import SuiteReport
    from cimento.report.figures import Figure
    from cimento.report.grid import Grid
    from cimento.suites.formats.lm_eval import ChoiceTask


class Presenter(Protocol[SuiteT_contra, RunT_contra]):
    """The presenter of a kind of suites; `PlainPresenter` shows those of any kind.

    One that derives from `PlainPresenter` need not have any method of its own.

    Attributes:
        tables: names of the tables that ``report --table`` asks for, beside those of its sections,
            of which some may be among them.
        figures: names of the figures that ``figure`` asks for, beside those of its sections.
    """

    tables: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()

    def describe(self, suite: SuiteT_contra, items: int) -> str:
        """The text that ``suites show`` prints about a suite and its first items."""

    def record(self, suite: SuiteT_contra, items: int) -> dict[str, object]:
        """The facts, besides its metadata, and first items that ``suites show --json`` prints."""

    def choice_tasks(self, suite: SuiteT_contra) -> Sequence[ChoiceTask]:
        """Tasks of lm-evaluation-harness that ask what a run asks; empty if there are none.

        Raises:
            InputError: there is nothing to choose among.
        """

    def methods(self, run: RunT_contra) -> MethodFacts:
        """The facts about a run, for the methods paragraph, that only the paradigm knows."""

    def warnings(self, run: RunT_contra) -> Sequence[str]:
        """Warnings for readers of a run, beside those of its manifest."""

    def remarks(self, run: RunT_contra) -> Sequence[str]:
        """What must be beside the estimates of a run wherever they are shown.

        Unlike `warnings` it is stored nowhere, since it follows from the estimates.
        """

    def design_effects(
        self,
        run: RunT_contra,  # noqa: ARG002
        *,
        of_people: bool = False,  # noqa: ARG002
    ) -> Sequence[DesignEffect]:
        """The DDs by which a run of a factorial design is reported; by default there are none.

        Args:
            run: the run.
            of_people: whether they are those of people's ratings of the same sentences, if there
                are any, in place of the model's.

        Raises:
            InputError: the declaration of factors, or a rating, cannot be used.
        """
        return ()

    def sections(self, runs: Sequence[RunT_contra]) -> Sequence[SuiteReport]:
        """The sections of a report on some runs of this paradigm, one for each suite."""

    def text(self, runs: Sequence[RunT_contra], *, brief: bool = False) -> str:
        """The text that ``show`` prints.

        Args:
            runs: the runs.
            brief: whether about a screen for each suite is wanted, as ``run`` prints it.
        """

    def table(self, name: str, runs: Sequence[RunT_contra], settings: TableSettings) -> Grid:  # noqa: ARG002
        """One of `tables`; by default there are none.

        Args:
            name: name of the figure or table.
            runs: the runs, possibly of several kinds that share the table.
            settings: what was asked of it.

        Raises:
            UsageError: these runs have no such table.
        """
        raise UsageError(where=f"table {name}", seen="there is none of that name")

    def drawable(self, runs: Sequence[RunT_contra]) -> Sequence[str]:  # noqa: ARG002
        """The names of those of `figures` that these runs can be drawn as."""
        return ()

    def figure(self, name: str, runs: Sequence[RunT_contra], settings: FigureSettings) -> Figure:  # noqa: ARG002
        """One of `figures`; by default there are none, and arguments are as for `table`.

        Raises:
            UsageError: these runs cannot be drawn so.
        """
        raise UsageError(where=f"figure {name}", seen="there is none of that name")


def described(meta: Meta, facts: Mapping[str, str], *, phenomenon: str = "") -> list[str]:
    """What is known about a suite, one fact a line below its name; empty facts are left out.

    Args:
        meta: metadata of the suite.
        facts: further facts, by label.
        phenomenon: its phenomena, if the metadata name none.
    """
    reviewers = meta.extra.get("reviewed_by", [])
    known = {
        "language": meta.language,
        "phenomenon": meta.phenomenon or phenomenon,
        "version": meta.version,
        "license": meta.license,
        "status": meta.status,
        "reviewers": ", ".join(map(str, reviewers if isinstance(reviewers, list) else [reviewers])),
        "citation": meta.citation,
        **facts,
    }
    return [meta.name, *(f"  {label:<11}{value}" for label, value in known.items() if value)]
