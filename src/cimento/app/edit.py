"""Step 2, edit: the suite as a grid, with the checks beside its rows as one types."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import events, ui

from cimento.app import columns, findings, pairing, proposed_language, proposing, table, views
from cimento.app.checking import Finding, Note, Report, check_grid
from cimento.app.describing import describe
from cimento.app.editing import (
    MOST_PASTED,
    Grid,
    History,
    add_item,
    delete_rows,
    insert_rows,
    remove_titles,
    workbook_of,
)
from cimento.app.findings import STYLE, button
from cimento.app.frame import CommandLine, Visit, guarded, heading, problem, tell, withdraw
from cimento.app.marked import unmarked
from cimento.app.opening import digest_of, open_grid, save_grid, zipped_folder
from cimento.app.parts import save
from cimento.app.pasting import paste_dialog
from cimento.app.words import said
from cimento.app.workspace import SUITES, superseded_by
from cimento.errors import CimentoError
from cimento.faults import NO_PREDICTIONS
from cimento.intake.shapes import BLANKS
from cimento.suites.builtin import find_suite
from cimento.suites.checks.notation import MARKED, NUMBERED
from cimento.suites.workbook_words import HOW_TO, ITEMS, sheet_called


async def build(visit: Visit) -> None:
    """Build the page: the grid of a suite, or a choice of suites."""
    ui.add_css(STYLE.read_text(encoding="utf-8"))
    name = visit.query.get("suite", "")
    heading(visit.say("edit.title"), level=1)
    if not name:
        _choice(visit)
        return
    try:
        place = visit.workspace.suite(name)
        path = place if isinstance(place, Path) else find_suite(place)
        opened = await asyncio.to_thread(
            open_grid, path, language=visit.say.language, words=visit.say.language
        )
    except CimentoError as error:
        problem(visit, error)
        _choice(visit)
        return
    editor = Editor(visit, opened.grid, opened.notes, path if isinstance(place, Path) else None)
    if isinstance(place, Path):
        await proposing.lead_to_answers(visit, place, name)
    editor.build()
    await editor.check()


def _choice(visit: Visit) -> None:
    """The suites of the workspace, to choose one."""
    say = visit.say
    suites = visit.workspace.suites()
    ui.label(say("edit.choose") if suites else say("edit.none")).classes("lead")
    with ui.element("ul").classes("plain-list"):
        for suite in suites:
            with ui.element("li"):
                ui.link(suite.name, visit.address("edit", suite=suite.name))
    ui.link(say("edit.to-start"), visit.address("start"))


class Editor:
    """The editor of one suite in one browser tab.

    Args:
        visit: what the page is built for.
        grid: the suite as it was opened.
        notes: faults of its file, as `open_grid` gives them.
        path: where it was opened; None for a suite that comes with cimento.
    """

    def __init__(self, visit: Visit, grid: Grid, notes: Sequence[Note], path: Path | None) -> None:
        self._visit, self._say, self._act = visit, visit.say, partial(guarded, visit)
        self._notes, self._path = notes, path
        self._digest = digest_of(path) if path is not None else ""
        self.history = History(grid)
        self._saved = grid
        self.report = Report(())
        self._read_last = self.report.read
        self._sheet, self._wide = ITEMS, False
        self._rounds = 0
        self._asked: object = None

    @property
    def grid(self) -> Grid:
        """The suite as it is now."""
        return self.history.present

    @property
    def view(self) -> views.View:
        """What the grid shows of it."""
        return views.view_of(self.grid, self._sheet, wide=self._wide)

    # --- Building

    def build(self) -> None:
        """Build the page in the place where it is called."""
        say = self._say
        self._title = ui.label(self.grid.name).classes("suite-name")
        with ui.element("div").props("role=status").classes("summary") as self._status:
            self._summary = ui.label(say("edit.checking"))
            self._holds = ui.label().classes("small")
            self._read = ui.label().classes("small")
        with ui.element("div").classes("bare") as self._describe:
            known = proposed_language.proposed(self._visit.workspace, self.grid, say)
            proposing.ask_language(say, known, done=self._act(self._described))
        self._question = ui.element("div").classes("bare")
        with (
            ui.element("div")
            .props(f'role=toolbar aria-label="{say("edit.tools")}"')
            .classes("tools")
        ):
            self._build_tools()
        ui.label(say("edit.open-cell")).classes("small")
        self._told_roles = ui.label(say("edit.roles-told")).classes("small")
        self._bar = ui.element("div").classes("tools")
        self._names: list[str] = []
        self._build_sheets()
        self._legend = ui.element("div").classes("legend")
        self._holder = ui.element("div").classes("grid-holder")
        self._holder.on("keydown", lambda e: self._step(e.args), js_handler=table.PRESSED)
        with self._holder:
            self._build_grid()
        with ui.element("section"):
            heading(say("edit.findings"))
            self._findings = ui.element("div")
        with ui.element("section") as self._shortcuts:
            heading(say("edit.audit"))
            ui.label(say("edit.audit-what")).classes("lead")
            shown = ui.element("div")
            button(say("edit.audit-do"), guarded(self._visit, lambda: self._audit(shown)))
        with ui.element("section"):
            heading(say("edit.save"))
            self._build_save()
        self._refresh()

    def _build_tools(self) -> None:
        say, act = self._say, self._act
        self._undo = button(say("edit.undo"), lambda: self._step("undo"), icon="undo")
        self._redo = button(say("edit.redo"), lambda: self._step("redo"), icon="redo")
        button(say("edit.add"), act(self._add), icon="add")
        button(say("edit.delete"), act(self._delete), icon="delete_outline")
        named = act(lambda: columns.columns_dialog(self.grid, self._sheet, say, done=self.change))
        button(say("edit.columns"), named, icon="view_column")
        button(say("edit.paste"), self._paste_below, icon="content_paste")
        self._untitle = button(
            say("edit.untitle"), act(self._remove_titles), icon="vertical_align_top"
        )
        unmark = act(lambda: self._answer(unmarked))
        self._unmark = button(say("edit.unmark"), unmark, icon="backspace")
        insist = act(lambda: self.change(columns.insisted(self.grid)))
        self._insist = button(say("edit.role-insist"), insist, icon="rule")

    def _build_sheets(self) -> None:
        """The choice of the sheet and of the view; a bare table has one sheet."""
        say = self._say
        names = [name for name in self.grid.sheets if name != HOW_TO]
        if names == self._names:
            return
        self._names = names
        if self._sheet not in names:
            self._sheet = ITEMS
        self._bar.clear()
        with self._bar:
            if len(names) > 1:
                shown = {name: findings.sheet_title(name, say) for name in names}
                self._tabs = ui.toggle(shown, value=self._sheet)
                self._tabs.on_value_change(lambda e: self._show(e.value))
                self._tabs.props(f'aria-label="{say("edit.sheets")}" no-caps unelevated')
            self._switch = ui.switch(say("edit.wide"), value=self._wide)
            self._switch.on_value_change(lambda e: self._show(self._sheet, wide=e.value))

    def _build_grid(self) -> None:
        self._shape = self._shape_now()
        self._element = ui.aggrid(self._options(), auto_size_columns=False).classes("suite-grid")
        element = self._element
        label = f"{self.grid.name}: {self._sheet}"
        named = table.NAMED % (element.id, json.dumps(label))
        element.on("gridReady", lambda: ui.run_javascript(named), args=[])
        element.on(
            "cellValueChanged",
            guarded(self._visit, self._edited),
            args=["rowId", "colId", "newValue"],
        )
        self._holder.on("role", guarded(self._visit, self._role), js_handler=columns.CHOSEN)
        self._holder.on("paste", self._pasted, js_handler=table.PASTED % element.id)
        self._holder.on("copy", js_handler=table.COPIED % element.id)

    def _heads(self) -> tuple[columns.Head, ...]:
        return columns.heads_of(self.grid, self.view, self._read_last)

    def _shape_now(self) -> object:
        return table.shape(self.view), self._heads()

    def _options(self) -> dict[str, Any]:
        view = self.view
        options = table.options(view, views.marks(view, self.report.findings), self._say)
        return columns.with_heads(options, self._heads(), self._say)

    def _build_save(self) -> None:
        say = self._say
        with ui.element("div").classes("tools"):
            self._name = ui.input(say("edit.name"), value=self.grid.name).classes("short")
            self._name.on_value_change(lambda: withdraw(self._visit))
            for name, action, icon in (
                ("save-here", self._save, "save"),
                ("download-xlsx", self._download, "download"),
                ("download-folder", self._download_folder, "folder_zip"),
            ):
                button(say(f"edit.{name}"), guarded(self._visit, action), icon=icon)
        self._command = CommandLine(self._visit, ["suites", "check", self._place()])
        self._unsaved = ui.label(say("edit.save-first")).classes("small")
        self._beside = ui.label().classes("small").props("role=status")
        self._sheets_said = ui.label().classes("small")
        with ui.element("div").classes("tools"):
            self._next = [
                ui.link(say(f"edit.to-{step}"), self._visit.address(step, suite=self._place()))
                for step in ("run", "people")
            ]

    def _place(self) -> str:
        """The suite's name for commands and other pages."""
        if self._path is None:
            return self.grid.name
        return self._visit.workspace.name_of(self._path)

    # --- Showing

    def _show(self, sheet: str, *, wide: bool | None = None) -> None:
        self._sheet = sheet
        self._wide = self._wide if wide is None else wide
        self._refresh()

    def _refresh(self) -> None:
        """Show the suite as it is now."""
        self._build_sheets()  # undo can bring back other sheets
        say, grid, view = self._say, self.grid, self.view
        self._undo.set_enabled(bool(self.history.past))
        self._redo.set_enabled(bool(self.history.future))
        self._switch.set_visibility(self._sheet == ITEMS and views.has_conditions(grid))
        asked = self._ask()
        is_open = columns.is_known(grid, self.report.findings) and not asked
        self._describe.set_visibility(is_open and not grid.settings().get("language"))
        had_menus = any(not earlier.described for earlier in self.history.past)
        self._told_roles.set_visibility(grid.described and had_menus)
        self._untitle.set_visibility(grid.sheets[self._sheet].head > 0)
        codes = {finding.code for finding in self.report.findings}
        self._unmark.set_visibility(not codes.isdisjoint({MARKED, NUMBERED}))
        self._insist.set_visibility(bool(grid.roles) and columns.MISFIT in codes)
        dirty = grid != self._saved
        read = self.report.read
        self._shortcuts.set_visibility(read is None or read.shape != BLANKS.name)
        self._title.text = f"{grid.name}{' *' if dirty else ''}"
        self._unsaved.set_visibility(dirty)
        names = ", ".join(sheet_called(name, grid.words) for name in self._names)
        self._sheets_said.text = say("edit.sheet-names", names=names)
        self._sheets_said.set_visibility(grid.described)
        kept = "(event) => { event.preventDefault(); }" if dirty else "null"
        ui.run_javascript(f"window.onbeforeunload = {kept}")
        marked = views.marks(view, self.report.findings)
        if (shape := self._shape_now()) != self._shape:
            self._shape = shape
            self._element.options = self._options()
        else:
            self._send(table.rows(view, marked, say))
        self._show_legend()

    def _ask(self) -> bool:
        """Ask what is unclear, and say whether it is about what the columns are."""
        question = proposing.question_of(self.grid, self.report.findings)
        asked = question, self.grid.items.rows[: pairing.FIRST_ROWS + 1]
        if question is not None and asked != self._asked:
            self._asked = asked
            self._question.clear()
            with self._question:
                proposing.ask(self.grid, question, self._say, done=self._act(self._answer))
        self._question.set_visibility(question is not None)
        return question is not None and not proposing.is_beside(question)

    def _send(self, rows: list[dict[str, Any]]) -> None:
        """Send the browser the rows that have changed, or all where some came or went."""
        before = self._element.options["rowData"]
        with self._element.props.suspend_updates():
            self._element.options["rowData"] = rows
        if [row["id"] for row in before] == [row["id"] for row in rows]:
            changed = [new for old, new in zip(before, rows, strict=True) if old != new]
            self._element.run_grid_method("applyTransaction", {"update": changed})
        else:
            self._element.run_grid_method("setGridOption", "rowData", rows)
        # Marks are not values of cells, which alone would be drawn again.
        self._element.run_grid_method("refreshCells", {"force": True})

    def _show_legend(self) -> None:
        """The names of the regions, in their colors."""
        names = views.region_names(self.grid) if self._sheet == ITEMS else ()
        self._legend.clear()
        self._legend.set_visibility(len(names) > 1)
        with self._legend:
            ui.label(self._say("edit.regions"))
            for number, name in enumerate(names):
                ui.label(name).classes(f"region region-{number % 6}")

    async def check(self) -> None:
        """Check the suite, and show what is marked unless it was edited meanwhile."""
        self._rounds += 1
        this = self._rounds
        report = await asyncio.to_thread(check_grid, self.grid, self._notes)
        if this != self._rounds:
            return
        self.report = report
        self._read_last = report.read or self._read_last  # one wrong choice changes no other menu
        errors = sum(finding.severity == "error" for finding in report.findings)
        warnings = len(report.findings) - errors
        key = "edit.faulty" if errors else "edit.usable" if warnings else "edit.sound"
        if not errors and any(one.code == NO_PREDICTIONS for one in report.findings):
            key = "edit.unpredicted"
        if is_for_people := proposing.suits_people(self.grid, report.findings):
            key = "edit.for-people"
        self._summary.text = self._say(key, errors=errors, warnings=warnings)
        unheeded = columns.unheeded(self.grid, report.read, self._say)
        self._read.text = f"{columns.read_line(report.read, self._say)} {unheeded}".strip()
        self._holds.text = said(report.holds, self._say.language) or report.holds
        is_faulty = errors and not is_for_people
        self._status.classes(replace=f"summary {'faulty' if is_faulty else 'sound'}")
        self._refresh()
        self._findings.clear()
        with self._findings:
            findings.show_findings(
                report.findings, self._say, go=self._go, is_for_people=is_for_people
            )

    def _go(self, finding: Finding) -> None:
        """Show the first row of a finding, and put the cursor there."""
        if self._sheet != finding.sheet:
            self._tabs.value = finding.sheet
        view = self.view
        places = [n for n, row in enumerate(view.rows) if set(row.rows) & set(finding.rows)]
        if not places:
            return
        columns = [
            n for n, cells in enumerate(view.rows[places[0]].places)
            if any(column == finding.column for _, column in cells)
        ]  # fmt: skip
        self._element.run_grid_method("ensureIndexVisible", places[0], "middle")
        field = f"c{columns[0]}" if columns else "number"
        self._element.run_grid_method("setFocusedCell", places[0], field)

    # --- Editing

    async def change(self, grid: Grid) -> None:
        """Make an edit: show it, and check it."""
        withdraw(self._visit)
        self.history = self.history.do(grid)
        self._refresh()
        await self.check()

    async def _answer(self, edit: Callable[[Grid], Grid]) -> None:
        with self._holder:  # the button that answers may give way to the next question
            await self.change(edit(self.grid))

    async def _step(self, direction: str) -> None:
        """Undo or redo."""
        withdraw(self._visit)
        self.history = self.history.undo() if direction == "undo" else self.history.redo()
        self._refresh()
        await self.check()

    async def _edited(self, event: events.GenericEventArguments) -> None:
        """A cell was edited in the browser."""
        view = self.view
        row = table.row_with(view, str(event.args.get("rowId")))
        column = table.number_of(event.args.get("colId"))
        if row is None or column is None or column >= len(view.columns):
            return
        await self.change(
            views.edit_cell(self.grid, view, row, column, str(event.args.get("newValue") or ""))
        )

    async def _role(self, event: events.GenericEventArguments) -> None:
        """A role was chosen in the menu above a column."""
        column, view = table.number_of(event.args.get("column")), self.view
        if column is not None and column < len(view.columns):
            name, role = view.columns[column].name.strip(), str(event.args.get("role") or "")
            shape = self._shape
            await self.change(columns.with_role(self.grid, name, role))
            if self._shape is shape:  # the menu shows what holds, not what was chosen
                self._element.options = self._options()
            if not role and (still := columns.still_read(self.report.read, name, self._say)):
                tell(self._visit, still)

    async def _pasted(self, event: events.GenericEventArguments) -> None:
        """Cells were pasted at the cursor."""
        column = table.number_of(event.args.get("column")) or 0
        await self._paste(int(event.args["row"]), column, str(event.args["text"]))

    async def _paste(self, row: int, column: int, text: str) -> None:
        try:
            pasted = views.paste_cells(self.grid, self.view, row, column, text)
        except ValueError:
            tell(self._visit, self._say("edit.too-many", most=self._say.number(MOST_PASTED)))
            return
        await self.change(pasted)

    def _paste_below(self) -> None:
        paste_dialog(self._say, done=lambda text: self._paste(len(self.view.rows), 0, text))

    async def _add(self) -> None:
        """An item at the end, or a row in another sheet."""
        grid, sheet = self.grid, self._sheet
        end = len(grid.sheets[sheet].rows)
        is_item = sheet == ITEMS
        await self.change(add_item(grid) if is_item else insert_rows(grid, sheet, end, [[""]]))

    async def _delete(self) -> None:
        """The rows that are selected."""
        chosen = await self._element.get_selected_rows()
        view = self.view
        ids = {str(row["id"]) for row in chosen}
        rows = [part for row in view.rows if str(row.rows[0]) in ids for part in row.rows]
        if not rows:
            ui.notify(self._say("edit.select-first"))
            return
        await self.change(delete_rows(self.grid, self._sheet, rows))

    async def _remove_titles(self) -> None:
        await self.change(remove_titles(self.grid, self._sheet))

    async def _described(self, language: str) -> None:
        """Give a bare table a description."""
        before = self.grid
        described = partial(describe, before, language=language, path=self._path)
        await self.change(await asyncio.to_thread(described))
        proposed_language.remember(self._visit.workspace, language)
        if made := columns.made_line(before, self.grid, self._say):
            tell(self._visit, made)

    # --- Saving

    async def _with_roles(self) -> None:
        """Give a table whose columns were chosen a description, which names them."""
        if self.grid.roles and self.report.usable:
            await self._described(self.grid.settings().get("language", ""))

    async def _save(self) -> None:
        """Save over the file that was opened, or under another name as a new workbook."""
        await self._with_roles()
        say, grid, opened = self._say, self.grid, self._place()
        name = str(self._name.value or "").strip() or grid.name
        if self._path is not None and name == grid.name:
            if digest_of(self._path) != self._digest:
                tell(self._visit, say("edit.changed"))
                return
            path = await asyncio.to_thread(save_grid, grid, self._path)
        else:
            path = self._visit.workspace.new(SUITES, f"{name}.xlsx")
            path = await asyncio.to_thread(save_grid, grid, path)
        self._path, self._digest, self._saved = path, digest_of(path), grid
        self._command.show(["suites", "check", self._place()])
        for step, link in zip(("run", "people"), self._next, strict=True):
            link.props["href"] = self._visit.address(step, suite=self._place())
        ui.notify(say("edit.saved", file=self._place()))
        if self._place() == superseded_by(opened):  # the file in another form stays as it was
            self._beside.text = say("start.superseded", name=opened, new=self._place())
        self._refresh()

    async def _download(self) -> None:
        await self._with_roles()
        await save(f"{self.grid.name}.xlsx", partial(workbook_of, self.grid))

    async def _download_folder(self) -> None:
        self.report.refuse_errors(self.grid.name, self._say)
        await save(f"{self.grid.name}.zip", partial(zipped_folder, self.grid))

    async def _audit(self, shown: ui.element) -> None:
        shown.clear()
        self.report.refuse_errors(self.grid.name, self._say)
        await findings.show_shortcuts(self.grid, shown, self._say)
