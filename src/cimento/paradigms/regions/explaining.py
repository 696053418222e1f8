"""The two methods of explanation, by interchanges and by gradients, and what comes of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from cimento.io.explained import ATTRIBUTIONS, EXPLANATIONS
from cimento.paradigms.regions.attributions import (
    ContributionMean,
    attributed,
    attributions_table,
    contributions_of,
    item_contributions,
)
from cimento.paradigms.regions.contribution_tables import contribution_figure, contribution_grids
from cimento.paradigms.regions.explanation_tables import explanation_figures, explanation_grids
from cimento.paradigms.regions.explanations import InterchangeMean, explanations_table, means_of
from cimento.paradigms.regions.interchanges import interchanges
from cimento.paradigms.regions.lens import lens_of
from cimento.paradigms.regions.swaps import Contrasts, ExplainSettings, contrasts_of, margins_of

if TYPE_CHECKING:
    import polars as pl

    from cimento.engine.requests import Answers, Request
    from cimento.io.tables import TableSchema
    from cimento.kinds.run import Run
    from cimento.models.questions import BaselineRule, Part
    from cimento.report.figures import Figure
    from cimento.report.grid import Grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What carries the predictions of a run.

    Attributes:
        run: the run.
        table: the explanations table; see docs/parts/tables.md.
        means: the mean effects over items.
        notes: why some predictions are not explained, as sentences.
        twins: what twins there are, and which items have none, as sentences.
    """

    run: Run
    table: pl.DataFrame
    means: tuple[InterchangeMean, ...]
    notes: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()

    def _of(self, part: Part) -> list[InterchangeMean]:
        return [mean for mean in self.means if mean.part == part]

    def grids(self, part: Part) -> list[Grid]:
        """The tables of the effects of one part of layers."""
        return explanation_grids(self._of(part), lens=lens_of(self.run))

    def figures(self, part: Part) -> Sequence[Callable[[], Figure]]:
        """The makers of the figures of one part of layers."""
        run, lens = self.run, lens_of(self.run)
        return explanation_figures(self._of(part), model=run.model, suite=run.suite_name, lens=lens)

    def plain(self, part: Part) -> dict[str, object]:
        """The means of one part of layers, as JSON."""
        return {
            "part": part,
            "swaps": sorted(set(self.table["swap"])),
            "means": [mean.plain() for mean in self._of(part)],
            "twins": self.twins,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """What the tokens of the compared sentences contribute to the margins of a run.

    Attributes:
        run: the run.
        table: the attributions table; see docs/parts/tables.md.
        means: the mean contributions of regions over items.
        baseline: the embedding from which contributions count; zero for gradient x input.
        notes: why some predictions are not explained, as sentences.
    """

    run: Run
    table: pl.DataFrame
    means: tuple[ContributionMean, ...]
    baseline: BaselineRule
    notes: tuple[str, ...] = ()

    @property
    def twins(self) -> tuple[str, ...]:
        """Nothing: no twins are needed."""
        return ()

    def grids(self, _part: Part) -> list[Grid]:
        """The tables of the contributions."""
        return contribution_grids(self.means)

    def figures(self, _part: Part) -> Sequence[Callable[[], Figure]]:
        """The makers of the figures."""
        run, items = self.run, item_contributions(self.run, self.table)
        return [partial(contribution_figure, items, model=run.model, suite=run.suite_name)]

    def plain(self, _part: Part) -> dict[str, object]:
        """The means as JSON."""
        return {
            "baseline": self.baseline,
            "contributions": [mean.plain() for mean in self.means],
        }


def explanation_of(
    run: Run, table: pl.DataFrame, compared: Contrasts, _settings: ExplainSettings
) -> Explanation:
    """The explanation that follows from the answers to interchanges."""
    return Explanation(
        run=run,
        table=table,
        means=means_of(run, table),
        notes=compared.unexplained,
        twins=tuple(compared.notes()),
    )


def attribution_of(
    run: Run, table: pl.DataFrame, compared: Contrasts, settings: ExplainSettings
) -> Attribution:
    """The contributions that follow from gradients."""
    return Attribution(
        run=run,
        table=table,
        means=contributions_of(run, table),
        baseline=settings.baseline,
        notes=compared.unexplained,
    )


class ExplainRequests(Protocol):
    """The requests of a method of explanation."""

    @property
    def asked(self) -> Mapping[Request, int]:
        """The requests, all in one round, each with its number."""

    def places(self) -> Mapping[int, tuple[str, str]]:
        """The item and the condition of each request, by its number."""


AskedT = TypeVar("AskedT", bound=ExplainRequests)
ExplainedT = TypeVar("ExplainedT", Explanation, Attribution)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainMethod(Generic[AskedT, ExplainedT]):
    """A method of explanation: what it compares, what it asks, and the table that follows.

    Attributes:
        compare: finds the comparisons of a run's predictions.
        ask: makes the requests about them.
        tabulate: makes the table of the answers.
        schema: the schema of the table.
        keys: the columns that tell which earlier rows a new table replaces.
        explained: makes the record of the results.
    """

    compare: Callable[[Run, ExplainSettings], Contrasts]
    ask: Callable[..., AskedT]
    tabulate: Callable[[Run, Contrasts, AskedT, Answers, ExplainSettings], pl.DataFrame]
    schema: TableSchema
    keys: tuple[str, ...]
    explained: Callable[[Run, pl.DataFrame, Contrasts, ExplainSettings], ExplainedT]


INTERCHANGES = ExplainMethod(
    compare=contrasts_of,
    ask=interchanges,
    tabulate=explanations_table,
    schema=EXPLANATIONS,
    keys=("part", "question", "item"),
    explained=explanation_of,
)
"""The method of `cimento.explain` that exchanges hidden states."""
GRADIENTS = ExplainMethod(
    compare=margins_of,
    ask=attributed,
    tabulate=attributions_table,
    schema=ATTRIBUTIONS,
    keys=("rule", "baseline", "question", "item"),
    explained=attribution_of,
)
"""The method of `cimento.explain` that attributes scores to tokens by gradients."""
