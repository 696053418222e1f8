"""The page of a site about all its suites together: items, models and phenomena on one scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cimento.compare.analysis import Analysis, analyse_table
from cimento.compare.answer_table import answer_table
from cimento.compare.item_outcomes import without_restated
from cimento.errors import UsageError
from cimento.report.analysis import analysis_section
from cimento.report.figures import lacking_figures
from cimento.report.grid import as_csv
from cimento.report.html import drawing_of
from cimento.site.board import slug

if TYPE_CHECKING:
    from cimento.site.board import SuitePart
    from cimento.site.pages import SiteLook

TOGETHER = "analysis.html"
FEWEST_ITEMS, FEWEST_MODELS = 20, 2


def analysis_of(parts: Sequence[SuitePart]) -> Analysis | None:
    """The analysis of all runs of a site; None where items or models are too few for one.

    Runs by prompt are only in it where there are no others.

    Args:
        parts: the suites.
    """
    runs, _ = without_restated([entry.run for part in parts for entry in part.entries])
    if len({run.model for run in runs}) < FEWEST_MODELS:
        return None
    try:
        table = answer_table(runs)
    except UsageError:
        return None  # nothing is right or wrong in these suites
    if len(table.keys) < FEWEST_ITEMS or len(table.respondents) < FEWEST_MODELS:
        return None
    analysis = analyse_table(table)
    return None if analysis.reason else analysis


def together_files(look: SiteLook, analysis: Analysis) -> Iterator[tuple[str, str]]:
    """The page, and its tables.

    Args:
        look: what all pages share.
        analysis: of all runs.
    """
    section = analysis_section(analysis)
    for table in section.tables:
        yield _csv(table.name), as_csv(table.grid)
    figures = () if lacking_figures() else section.figures
    yield (
        TOGETHER,
        look.page(
            "together.html",
            TOGETHER,
            title=section.heading,
            analysis=analysis,
            drawings=[drawing_of(figure, f"figure-{n}") for n, figure in enumerate(figures, 1)],
            tables=section.tables,
            csv_of=_csv,
        ),
    )


def _csv(name: str) -> str:
    return f"tables/analysis/{slug(name)}.csv"
