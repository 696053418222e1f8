"""Step 4, Read: the report in the page, comparisons, figures, tables, methods and references."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar
from urllib.parse import quote, urlencode

from nicegui import ui

from cimento.app.blanks import in_language
from cimento.app.breakdowns import measures_said, parts_of
from cimento.app.conclusions import RunResult, results_beside
from cimento.app.csv_files import frame_csv
from cimento.app.frame import (
    CommandLine,
    Text,
    Visit,
    copy,
    english,
    guarded,
    heading,
    local_time,
    problem,
)
from cimento.app.grids import download, grid_files, in_page_language, show_grid
from cimento.app.language_answers import answered_languages, delete_answer, runs_about
from cimento.app.parts import ask_deletion, delete_button, say_csv, table_of
from cimento.app.report_page import page_language, report_page
from cimento.app.shown import (
    FIGURE_FORMS,
    SANDBOX,
    Results,
    compared,
    figure_file,
    results_of,
    shown_figures,
)
from cimento.app.summaries import PARTS_ID, show_result, show_summaries
from cimento.app.words import Words
from cimento.app.workspace import StoredRun
from cimento.cite import Cited, cite
from cimento.documents import REPORT_FORMS, estimates_of, version_digits
from cimento.errors import CimentoError
from cimento.evaluation.planning import run_folders
from cimento.io.parsing import whole_number
from cimento.kinds.sections import runs_by_suite
from cimento.records.blanks import EXPECTED_TABLE
from cimento.report import NamedGrid
from cimento.report.figures import Figure
from cimento.report.language import Told

SENT_S = 0.05
"""Seconds in which what a page shows reaches the browser."""

T = TypeVar("T")

PARTS = ("report", "compare", "figures", "tables", "methods")


async def build(visit: Visit) -> None:
    """Build the page."""
    say = visit.say
    heading(say("read.heading"), level=1)
    Text(say("read.lead")).classes("lead")
    runs, answers = visit.workspace.runs(), answered_languages(visit.workspace)
    if answers:
        _answers(visit, answers)
    if not runs:
        if answers:
            return
        Text(say("read.nothing"))
        ui.link(say("run.title"), visit.address("run"))
        return
    of_job = await _of_job(visit) if visit.query.get("job") else ()
    chosen = _choice(visit, runs, of_job)
    if visit.query.get("job") and not of_job:
        Text(say("read.not_there")).props("role=status")
    with ui.element("div").classes("buttons"):
        button = ui.button(say("read.go")).props("no-caps unelevated").mark("read")
        delete = ui.button(say("read.delete")).props("no-caps flat").mark("delete")
    place = ui.element("div").mark("results")

    def names_of_chosen() -> dict[str, str]:
        """What the chosen runs are called, by their paths."""
        return {name: box.props["aria-label"] for name, box in chosen.items() if box.value}

    async def show() -> None:
        names = list(names_of_chosen())
        place.clear()
        with place:
            Text(say("read.waiting")).props("role=status").classes("small")
        try:
            results = await asyncio.to_thread(results_of, visit.workspace, names)
        except CimentoError as error:
            place.clear()
            with place:
                problem(visit, error)
            return
        place.clear()
        with place:
            _Parts(visit, names, results)

    button.on_click(guarded(visit, show))
    delete.on_click(lambda: _ask_deletion(visit, names_of_chosen()))
    if of_job:  # from the queue, where somebody asked for these results
        ui.timer(0, guarded(visit, show), once=True)


async def _of_job(visit: Visit) -> tuple[str, ...]:
    """The paths of the stored runs of the job in the queue that the address names."""
    number = whole_number(visit.query["job"])
    job = next((job for job in visit.queue.jobs() if job.number == number), None)
    if job is None or job.wanted.budget is not None:
        return ()
    try:
        options = job.wanted.checked(visit.workspace).options(visit.workspace)
        folders = {path.resolve() for path in await asyncio.to_thread(run_folders, options)}
    except CimentoError:  # a suite or a model that is not there any more
        return ()
    return tuple(run.name for run in visit.workspace.runs() if run.path.resolve() in folders)


def _answers(visit: Visit, codes: Sequence[str]) -> None:
    """What models know of languages, each in a part that opens; the one asked for is open."""
    say = visit.say
    with ui.element("section"):
        heading(say("read.answers"))
        for code in codes:
            title = say.named("language", code)
            with ui.element("details").mark(f"answer {code}") as part:
                part.props("open" if visit.query.get("answer") == code else "")
                Text(title, "summary")
                english(say)
                address = f"/answer?{urlencode({'language': code})}"
                _framed(visit, address, title)
                with ui.element("div").classes("buttons"):
                    ui.link(say("read.alone"), address, new_tab=True)
                    delete_button(visit, title, partial(_ask_answer, visit, code))
                _runs_about(visit, code)


def _runs_about(visit: Visit, code: str) -> None:
    """The runs behind an answer, each with a link to its report."""
    say = visit.say
    runs = runs_about(visit.workspace, code)
    Text(say("read.runs_about", count=say.number(len(runs))))
    names = (say(f"read.{name}") for name in ("suite", "model", "result", "kind", "created"))
    with ui.element("div").classes("scroll"), table_of(names, "runs"):
        for run, result in _with_results(runs):
            with ui.element("tr"):
                with ui.element("th").props("scope=row"):
                    ui.link(run.suite, _report([run.name], say), new_tab=True)
                _cells(say, run, result)


def _with_results(runs: Sequence[StoredRun]) -> Iterator[tuple[StoredRun, RunResult]]:
    """Runs, each with its result beside the others."""
    return zip(runs, results_beside([run.path for run in runs]), strict=True)


def _cells(say: Words, run: StoredRun, result: RunResult) -> None:
    """The cells of a run: its model, its number with what follows from it, its kind, its time.

    The kind is what step 1 calls it, such as pairs of sentences.
    """
    Text(run.model, "td")
    with ui.element("td").classes("num"):
        show_result(result, say)
    for cell in (say.named("kind", result.form or run.paradigm), local_time(run.created)):
        Text(cell, "td")


def _report(names: Sequence[str], say: Words) -> str:
    """The address of the report of some runs in the language of the page."""
    asked = [*(("run", name) for name in names), ("words", say.language)]
    return f"/report?{urlencode(asked, quote_via=quote)}"


def _ask_answer(visit: Visit, code: str) -> None:
    """Ask whether an answer is to be deleted with its runs, and delete it."""
    say, workspace = visit.say, visit.workspace

    def delete() -> None:
        delete_answer(workspace, code)
        ui.navigate.to(visit.address("read"))

    models = dict.fromkeys(run.model for run in runs_about(workspace, code))
    language, count = say.named("language", code), say.number(len(runs_about(workspace, code)))
    ask_deletion(visit, say("read.answer_ask", language=language, count=count), [*models], delete)


def _framed(visit: Visit, address: str, title: str) -> None:
    """A page that cannot reach the app, in a frame."""
    frame = ui.element("iframe").classes("report")
    frame.props["src"] = visit.root + address
    frame.props["sandbox"] = SANDBOX
    frame.props["title"] = title
    frame.props["loading"] = "lazy"


def _ask_deletion(visit: Visit, names: Mapping[str, str]) -> None:
    """Ask whether runs are to be deleted, and delete them."""
    say = visit.say
    if not names:
        ui.notify(say("read.choose_first"))
        return

    def delete() -> None:
        for name in names:
            visit.workspace.delete_run(name)
        ui.navigate.to(visit.address("read"))

    question = say("read.delete_ask", count=len(names))
    ask_deletion(visit, question, list(names.values()), delete)


def _choice(
    visit: Visit, runs: Sequence[StoredRun], asked: Collection[str]
) -> Mapping[str, ui.checkbox]:
    """The runs, each with a box; those of a suite or of a job are chosen, or the only one.

    Args:
        visit: what the page is built for; its address may name a suite.
        runs: the runs.
        asked: the paths of those of a job.
    """
    say, suite = visit.say, visit.query.get("suite", "")
    is_alone = len(runs) == 1 and not visit.query.get("job")
    titles = _titles(runs, say)
    boxes: dict[str, ui.checkbox] = {}
    names = (say(f"read.{name}") for name in ("suite", "model", "result", "kind", "created"))
    with ui.element("div").classes("scroll"), table_of(names, "runs"):
        for run, result in _with_results(runs):
            is_chosen = run.suite == suite if suite else is_alone or run.name in asked
            with ui.element("tr"):
                with ui.element("th").props("scope=row"):
                    title = titles[run.name]
                    box = ui.checkbox(title, value=is_chosen).props("dense")
                    boxes[run.name] = box.mark(f"choose {run.name}")
                    box.props["aria-label"] = f"{title}, {run.model}"
                _cells(say, run, result)
    return boxes


def _titles(runs: Sequence[StoredRun], say: Words) -> dict[str, str]:
    """The suite of each run, by its path; with its version where there are several.

    Versions are numbered in the order in which they were first run: the last is the corrected one.
    """
    versions: dict[str, list[str]] = {}
    shown = version_digits((run.version, run.sha256) for run in runs)
    for run in sorted(runs, key=lambda run: run.created):
        known = versions.setdefault(run.suite, [])
        known += [run.version] if run.version not in known else []
    titles = dict[str, str]()
    for run in runs:
        several = versions[run.suite]
        titles[run.name] = run.suite
        if run.version and len(several) > 1:
            number = several.index(run.version) + 1
            key = "read.version-last" if number == len(several) else "read.version"
            told = say(key, number=number, count=len(several), digits=shown[run.version])
            titles[run.name] = f"{run.suite} ({told})"
    return titles


_LOOKS_OF_TABS = "no-caps align=left outside-arrows mobile-arrows"


class _Parts:
    """The parts of the results in tabs, each made when it is first opened.

    Args:
        visit: what the page is built for.
        names: paths of the runs from the workspace.
        results: what is shown.
    """

    def __init__(self, visit: Visit, names: Sequence[str], results: Results) -> None:
        self._visit, self._names, self._results = visit, tuple(names), results
        builders: Mapping[str, Callable[[], Awaitable[None] | None]] = {
            "report": self._report,
            "compare": self._compare,
            "figures": self._figures,
            "tables": self._tables,
            "methods": self._methods,
        }
        paths = (visit.workspace.plain(name) for name in names)
        show_summaries(visit, [*zip(paths, results.runs, strict=True)])
        with ui.tabs().props(f'id="{PARTS_ID}" {_LOOKS_OF_TABS}') as tabs:
            for name in PARTS:
                ui.tab(name, visit.say(f"read.{name}")).mark(f"tab-{name}")
        with ui.tab_panels(tabs, value=PARTS[0]).classes("panels").props("transition-prev=none"):
            panels = {name: ui.tab_panel(name) for name in PARTS}
        made: set[str] = set()

        async def opened(name: str) -> None:
            if name in made:
                return
            made.add(name)
            with panels[name]:
                try:
                    built = builders[name]()
                    if built is not None:
                        await built
                except CimentoError as error:
                    problem(visit, error)

        async def changed() -> None:
            await opened(str(tabs.value))

        tabs.on_value_change(changed)
        with panels[PARTS[0]]:
            self._report()
        made.add(PARTS[0])

    def _report(self) -> None:
        say = self._visit.say
        address = _report(self._names, say)
        _framed(self._visit, address, say("read.report"))
        english(say, "read.files_english")
        with ui.element("div").classes("buttons"):
            ui.link(say("read.alone"), address, new_tab=True)
            for form in (".html", ".md", ".csv", ".json"):
                download(
                    self._visit, say("read.report"), form, f"report{form}", self._document(form)
                )
            say_csv(say)
        CommandLine(self._visit, ["report", *self._names, "-o", "report.html"])

    def _document(self, form: str) -> Callable[[], bytes]:
        runs, code = self._results.runs, self._visit.say.language
        if form == ".html":
            return lambda: report_page(runs, code).encode()
        if form == ".csv":
            return lambda: frame_csv(estimates_of(runs), code)
        return lambda: REPORT_FORMS[form](runs).encode()

    async def _wait(self, message: str, make: Callable[[], T]) -> T:
        """What a function makes; until it is there the page says what is being made."""
        waiting = Text(message).props("role=status").classes("waiting")
        try:
            await asyncio.sleep(SENT_S)  # what is computed next leaves the server little time
            return await asyncio.to_thread(make)
        finally:
            waiting.delete()

    async def _compare(self) -> None:
        say, runs = self._visit.say, self._results.runs
        named = ", ".join(f"{run.suite_name} ({run.model})" for run in runs)
        made = await self._wait(
            say("read.comparing", runs=named), lambda: compared(self._names, runs)
        )
        if not made.grids:
            Text(say("read.two"))
            return
        for title in made.alone:
            Text(say("read.alone_here", run=title))
        for name, grid in made.grids.items():
            self._table(NamedGrid(name, grid), f"compare-{name.replace(' ', '-')}")
        heading(say("read.methods"), level=3)
        english(say)
        Text(made.methods, "pre").classes("cited").props("lang=en")
        CommandLine(self._visit, ["compare", *made.names, "-o", "comparison"])

    async def _figures(self) -> None:
        if self._results.lacking:
            Text(self._results.lacking)
            return
        say = self._visit.say
        drawn = await self._wait(
            say("read.drawing"), lambda: list(shown_figures(self._results, say))
        )
        if not drawn:
            Text(say("read.no_figures"))
        for figure, svg in drawn:
            self._figure(figure, svg)

    def _figure(self, figure: Figure, svg: str) -> None:
        with ui.element("figure"):
            image = ui.element("img").classes("drawing")
            image.props["src"] = f"data:image/svg+xml,{quote(svg)}"
            image.props["alt"] = figure.title
            Text(figure.title, "figcaption").classes("small")
        with ui.element("div").classes("buttons"):
            for form in FIGURE_FORMS:
                download(
                    self._visit, figure.title, form, f"{figure.name}{form}",
                    lambda form=form: figure_file(figure, form, self._visit.say),  # type: ignore[misc]
                )  # fmt: skip
            say_csv(self._visit.say)
        CommandLine(
            self._visit,
            ["report", *self._names, "--figure", figure.name, "-o", f"{figure.name}.svg"],
        )

    def _tables(self) -> None:
        say, runs = self._visit.say, self._results.runs
        for of_suite in runs_by_suite(runs):
            suite = of_suite[0].suite.name
            for number, grid in enumerate(parts_of(of_suite, say), start=1):
                self._table(NamedGrid("parts", grid), f"{number}", suite)
        cells = [cell for _, one in self._results.tables for row in one.grid.text for cell in row]
        if names := measures_said(cells, runs, say):
            heading(say("read.measures"), level=3)
            for line in names:
                Text(line).classes("small")
        for suite, table in self._results.tables:
            if table.name == EXPECTED_TABLE:
                table = replace(table, grid=in_language(table.grid, say))  # noqa: PLW2901
            self._table(table, table.name, suite)
            CommandLine(
                self._visit,
                ["report", *self._names, "--table", table.name, "-o", f"{table.name}.tex"],
            )

    def _table(self, table: NamedGrid, name: str, suite: str = "") -> None:
        """Show a table and give its files; both name its suite, where that is given."""
        language = page_language(self._visit.say.language)
        grid = language.told(table.grid).compact()
        of_suite = f"{suite}. " if suite else ""
        title = heading(f"{of_suite}{language.plain(grid.title)}", level=3)
        in_page_language(title, grid.title, language)
        show_grid(grid, language, self._visit.say)
        named = f"{of_suite}{table.grid.title}"
        is_told = isinstance(table.grid.title, Told)
        titled = replace(table.grid, title=Told(named) if is_told else named)
        grid_files(self._visit, titled, f"{suite}-{name}" if suite else name)
        if not is_told:
            english(self._visit.say, "read.tables_english")

    async def _methods(self) -> None:
        say = self._visit.say
        english(say)
        asked: Sequence[tuple[str, Cited, tuple[str, ...]]] = (
            ("paragraph", "methods", ("--methods",)),
            ("protocol", "appendix", ("--appendix",)),
            ("references", "bibtex", ()),
        )
        runs = list(self._results.runs)
        texts = await self._wait(
            say("read.citing"), lambda: [cite(runs, what) for _, what, _ in asked]
        )
        for (name, _, words), text in zip(asked, texts, strict=True):
            heading(say(f"read.{name}"), level=3)
            Text(text, "pre").classes("cited").props("lang=en")
            with ui.element("div").classes("buttons"):
                button = ui.button(say("frame.copy"), on_click=partial(copy, text, say))
                button.props(
                    f'no-caps flat dense aria-label="{say("frame.copy")}: {say(f"read.{name}")}"'
                )
            CommandLine(self._visit, ["cite", *self._names, *words])
