"""The pages of a site: records of the board, filled into templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cimento._version import __version__
from cimento.documents import methods_of
from cimento.documents.findings import designs_of, findings_among
from cimento.errors import UsageError
from cimento.io.values import grouped
from cimento.records.outcomes import missing
from cimento.records.wrong_side import DD
from cimento.report import NamedGrid, SuiteReport
from cimento.report.figures import lacking_figures
from cimento.report.findings import (
    NOTHING_JUDGED,
    NOTHING_SAID,
    Findings,
    Headline,
    findings,
    heading_of,
    kind_of,
)
from cimento.report.findings_designs import DesignResult, Designs
from cimento.report.formatting import bits, number, short_model_names
from cimento.report.html import (
    Drawing,
    Page,
    asset,
    drawing_of,
    drawings_of,
    html_page,
    minus,
    notes_together,
    page_environment,
    provenance,
    security_policy,
)
from cimento.site.board import effects_on, link, slug

if TYPE_CHECKING:
    from jinja2 import Environment

    from cimento.site.board import Entry, ItemAcross, Result, SideBySide, SuitePart

BOARD = "index.html"
RUNS = "runs.html"
MOST_DRAWN = 4
"""Most runs of a suite whose figures its page draws; more would make pictures nobody can read."""
_LONGEST_STIMULUS = 120


@dataclass(frozen=True, slots=True)
class SiteLook:
    """What all pages of a site share.

    Attributes:
        title: name of the site.
    """

    title: str

    def page(self, template: str, path: str, *, title: str, script: str = "", **values: Any) -> str:  # noqa: ANN401
        """One page.

        Args:
            template: name of the template.
            path: path of the page, from the root of the site.
            title: title of the page.
            script: the page's own script; empty for none.
            values: what else the template shows.
        """
        sheet = "item.css" if template == "item.html" else "site.css"
        style = asset(*(("base.css",) if sheet == "item.css" else ("base.css", "report.css")))
        style = f"{style}\n{asset(sheet, package=PACKAGE)}"
        values.setdefault("links", self.links(path))
        return (
            _templates()
            .get_template(template)
            .render(
                cimento=__version__,
                site=self.title,
                title=title,
                style=style,
                script=script,
                policy=security_policy(style, script),
                to=partial(link, path),
                phenomenon_page=phenomenon_page,
                reasons=_reasons,
                effects_on=effects_on,
                shows=lambda effect: effect.shown,
                **values,
            )
        )

    def links(self, path: str, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """The way back from a page to the board.

        Args:
            path: path of the page.
            more: paths and texts of pages between them.
        """
        return tuple((link(path, page), text) for page, text in ((BOARD, self.title), *more))


PACKAGE = "cimento.site"


def _templates() -> Environment:
    environment = page_environment(PACKAGE, "cimento.report")
    environment.filters.update(
        above=above_chance,
        bits=lambda value: minus(number(value, digits=2, absent="–")),
        could_be_first=could_be_first,
        signed=lambda value: minus(bits(value, absent="–")),
    )
    return environment


def above_chance(side: SideBySide) -> tuple[Result, ...]:
    """The models whose whole interval is above chance, and above every constant answer."""
    return tuple(
        one
        for one in side.results
        if Headline(one.entry.label, one.estimate, one.constant).standing == "above"
    )


def could_be_first(side: SideBySide) -> tuple[Result, ...]:
    """The models that no other one is surely above."""
    return tuple(one for one in side.results if one.rank and one.rank.best == 1)


def phenomenon_page(side: SideBySide) -> str:
    """The path of the page about a phenomenon."""
    return f"phenomena/{slug(side.phenomenon)}.html"


def _reasons(side: SideBySide) -> tuple[str, ...]:
    estimates = (one.estimate for one in side.results)
    return missing((one.value, one.low, one.reason) for one in estimates)


def board_page(
    look: SiteLook,
    parts: Sequence[SuitePart],
    *,
    files: Sequence[tuple[str, str]],
    records: Sequence[tuple[str, str]],
    dataset: str,
    means: Sequence[NamedGrid],
    together: str = "",
) -> str:
    """The first page: models by suites, phenomena and languages.

    Args:
        look: what all pages share.
        parts: the suites.
        files: paths and names of the tables to download.
        records: likewise of the records for other sites.
        dataset: the site described as a schema.org Dataset, in JSON.
        means: tables of means over suites, and of the differences of models over them.
        together: path of the page about all items and models; empty if there is none.
    """
    rows = _rows(parts)
    across = len(parts) > len(rows)
    languages = sorted({part.whole.language for part in parts} - {""})
    return look.page(
        "board.html",
        BOARD,
        title=look.title,
        script=asset("site.js", package=PACKAGE),
        links=(),
        findings=_said(parts),
        parts=parts,
        rows=rows,
        across=across,
        noun="suite" if across else "model",
        columns=[label for label, *_ in rows] if across else [part.name for part in parts],
        kinds=_by_kind(parts),
        n_models=len({entry.model for part in parts for entry in part.entries}),
        n_runs=sum(len(part.entries) for part in parts),
        languages=languages,
        by_language=[
            (code, [part for part in parts if part.whole.language == code]) for code in languages
        ],
        phenomena=_phenomena(parts),
        files=files,
        records=records,
        dataset=dataset,
        means=means,
        together=together,
    )


def _phenomena(parts: Sequence[SuitePart]) -> list[SideBySide]:
    """The phenomena of all suites by language and name."""
    phenomena = [side for part in parts for side in part.phenomena]
    return sorted(phenomena, key=lambda side: (side.language, side.phenomenon, side.suite))


def _said(parts: Sequence[SuitePart]) -> Findings:
    """What the runs of some suites show."""
    results = [
        (part.name, one)
        for part in parts
        for one in sorted(part.whole.results, key=lambda one: one.entry.label)
    ]
    short = short_model_names(dict.fromkeys(one.entry.label for _, one in results))
    effects = [(one.entry.run, one.entry.effects) for _, one in results]
    designs = designs_of([(run, some) for run, some in effects if some], short)
    return findings_among(
        [
            Headline(short[one.entry.label], replace(one.estimate, suite=name), one.constant)
            for name, one in results
            if not one.entry.effects
        ],
        {part.name: part.whole.places for part in parts if part.name not in designs.suites},
        short,
        designs=designs,
    )


def _by_kind(parts: Sequence[SuitePart]) -> dict[str, list[int]]:
    """The numbers of the suites by what their estimates are."""
    return grouped((heading_of(_kind(part.whole)), number) for number, part in enumerate(parts))


def _kind(side: SideBySide) -> str:
    if any(one.entry.effects for one in side.results):
        return DD
    return kind_of(side.first) if side.first else NOTHING_JUDGED


def _rows(
    parts: Sequence[SuitePart],
) -> list[tuple[str, str, list[tuple[Result, ...]]]]:
    """The rows of the board: model, its page, and its results on each suite."""
    first_entries: dict[str, Entry] = {}
    for entry in (entry for part in parts for entry in part.entries):
        first_entries.setdefault(entry.model, entry)
    models = sorted(first_entries.values(), key=lambda one: (one.family, one.step or 0, one.model))
    by_model = [grouped((one.entry.model, one) for one in part.whole.results) for part in parts]
    return [
        (one.model, one.model_page, [tuple(cells.get(one.model, ())) for cells in by_model])
        for one in models
    ]


def model_page(
    look: SiteLook,
    entries: Sequence[Entry],
    parts: Sequence[SuitePart],
    *,
    files: Sequence[tuple[str, str]],
) -> str:
    """The page of a model.

    Args:
        look: what all pages share.
        entries: its runs.
        parts: the suites.
        files: paths and names of the tables to download.
    """
    first = entries[0]
    pages = {entry.page for entry in entries}
    lines = [
        (part.whole, one, part.page)
        for part in parts
        for one in part.whole.results
        if one.entry.page in pages
    ]
    judged = {one.entry.page for _, one, _ in lines}
    return look.page(
        "model.html",
        first.model_page,
        title=first.model,
        entries=entries,
        family=first.family if first.step is not None else "",
        lines=lines,
        silent=[entry for entry in entries if entry.page not in judged],
        phenomena=[
            (side, one)
            for part in parts
            if len(part.phenomena) > 1
            for side in part.phenomena
            for one in side.results
            if one.entry.page in pages
        ],
        notes=_notes_of(entries),
        provenance=provenance([entry.reports[0] for entry in entries if entry.reports])[0],
        files=files,
    )


def _notes_of(entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """The cautions on a model's runs, each once, with the suites."""
    suites = grouped(
        (note, entry.suite)
        for entry in entries
        for report in entry.reports
        for note in report.notes
    )
    return [(note, ", ".join(dict.fromkeys(named))) for note, named in suites.items()]


def suite_page(
    look: SiteLook,
    part: SuitePart,
    *,
    tables: Sequence[NamedGrid],
    curves: Sequence[NamedGrid],
    files: Sequence[tuple[str, str]],
) -> str:
    """The page of a suite.

    Args:
        look: what all pages share.
        part: the suite.
        tables: tables of all its runs.
        curves: tables of checkpoints.
        files: paths and names of the tables to download.
    """
    reports = [report for section in part.sections for report in section.runs]
    judged = {one.entry.page for one in part.whole.results}
    drawn = part.sections if len(part.entries) <= MOST_DRAWN and not lacking_figures() else ()
    figures = [figure for section in drawn for figure in section.figures]
    return look.page(
        "suite.html",
        part.page,
        title=part.name,
        script=asset("site.js", package=PACKAGE),
        findings=_said([part]),
        part=part,
        paradigm=part.entries[0].run.paradigm.name,
        claims=reports[0].claims if reports else (),
        about=reports[0].about if reports else (),
        notes=notes_together(reports),
        silent=[entry for entry in part.entries if entry.page not in judged],
        training=_training(part),
        curves=curves,
        drawings=drawings_of(figures, "figure"),
        tables=tables,
        csv_of=lambda name: f"tables/{part.folder}/{slug(name)}.csv",
        shown=_stimulus,
        files=files,
    )


def _training(part: SuitePart) -> Iterator[Drawing]:
    """The curves of checkpoints, drawn, if they can be."""
    if not part.whole.curves or lacking_figures():
        return
    from cimento.report.figures_rates import training_figure, training_frame

    statistic = part.whole.results[0].estimate.statistic
    frame = training_frame(
        (name, one.entry.step, one.entry.label, one.estimate)
        for name, steps in part.whole.curves
        for one in steps
    )
    try:
        figure = training_figure(frame, of=statistic)
    except UsageError:
        return
    yield drawing_of(figure, "training")


def _stimulus(item: ItemAcross) -> str:
    """The first stimulus of an item, cut if it is long."""
    text = next((strip.text for strip in item.first.strips), "")
    return text if len(text) <= _LONGEST_STIMULUS else f"{text[:_LONGEST_STIMULUS]} ..."


def phenomenon_pages(look: SiteLook, parts: Sequence[SuitePart]) -> Iterator[tuple[str, str]]:
    """The page of each phenomenon, with its path.

    Args:
        look: what all pages share.
        parts: the suites.
    """
    by_page = grouped(
        (phenomenon_page(side), (side, part.page)) for part in parts for side in part.phenomena
    )
    for page, sides in by_page.items():
        title = sides[0][0].phenomenon
        yield page, look.page("phenomenon.html", page, title=title, sides=sides, files=())


def run_page(look: SiteLook, part: SuitePart, entry: Entry) -> str:
    """The page of a run: the report on it, without figures and tables, which its suite has.

    Args:
        look: what all pages share.
        part: its suite.
        entry: the run.
    """
    methods, works = methods_of([entry.run])
    ways = (part.page, part.name), (entry.model_page, entry.model)
    return html_page(
        Page(
            cimento=__version__,
            findings=_said_of(entry),
            suites=(SuiteReport(runs=entry.reports),) if entry.reports else (),
            methods=methods,
            references=works,
            links=look.links(entry.page, *ways),
        )
    )


def _said_of(entry: Entry) -> Findings:
    """What one run shows."""
    if entry.headline is None:
        return NOTHING_SAID
    (name,) = short_model_names([entry.label]).values()
    if entry.effects:
        people = {entry.suite: entry.reports[0].people} if entry.reports else {}
        return findings([], designs=Designs((DesignResult(name, entry.effects),), people=people))
    return findings([Headline(name, entry.headline, entry.constant)])


def by_model(parts: Iterable[SuitePart]) -> Mapping[str, list[Entry]]:
    """The runs of each model."""
    return grouped((entry.model, entry) for part in parts for entry in part.entries)
