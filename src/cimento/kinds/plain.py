"""The plain presenter: suites and runs of any kind, in words, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cimento.kinds.base import MethodFacts, SuiteT_contra
from cimento.kinds.presenter import Presenter
from cimento.kinds.run import Run

if TYPE_CHECKING:
    from cimento.report import SuiteReport
    from cimento.suites.formats.lm_eval import ChoiceTask


class PlainPresenter(Presenter[SuiteT_contra, Run]):
    """The presenter of a kind that shows nothing of its own; others derive from it.

    It makes everything from the metadata of a suite, and from the outcomes and estimates of a run.
    """

    def describe(self, suite: SuiteT_contra, items: int) -> str:  # noqa: ARG002
        """The suite's name and its subject, in one line."""
        meta = suite.meta
        return "  ".join(filter(None, (meta.name, meta.version, meta.language, meta.phenomenon)))

    def record(self, suite: SuiteT_contra, items: int) -> dict[str, object]:  # noqa: ARG002
        """No facts beyond the metadata."""
        return {}

    def choice_tasks(self, suite: SuiteT_contra) -> Sequence[ChoiceTask]:  # noqa: ARG002
        """No tasks."""
        return ()

    def methods(self, run: Run) -> MethodFacts:
        """The number of items."""
        return MethodFacts(counted=f"{run.outcomes()['item'].n_unique()} items")

    def warnings(self, run: Run) -> Sequence[str]:  # noqa: ARG002
        """No warnings."""
        return ()

    def remarks(self, run: Run) -> Sequence[str]:  # noqa: ARG002
        """No remarks."""
        return ()

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """The rates, a table of the estimates, and the items, worst first."""
        from cimento.kinds.sections import plain_sections

        return plain_sections(runs)

    def text(self, runs: Sequence[Run], *, brief: bool = False) -> str:  # noqa: ARG002
        """The table of the estimates, with the warnings below."""
        from cimento.kinds.sections import estimates_grid
        from cimento.report.terminal import on_terminal

        estimates = [
            estimate for run in runs for estimate in run.estimates() if estimate.role != "detail"
        ]
        notes = [f"{run.model}: {note}" for run in runs for note in run.warnings]
        suites = ", ".join(dict.fromkeys(run.suite.name for run in runs))
        grid = estimates_grid(estimates, title=suites, notes=notes, in_percent=False)
        return on_terminal(grid)
