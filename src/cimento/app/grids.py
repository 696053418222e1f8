"""Tables of results on a page, in its language, with the files of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath

from nicegui import ui

from cimento.app.csv_files import grid_csv
from cimento.app.frame import Text, Visit, guarded
from cimento.app.parts import save, say_csv
from cimento.app.words import USUAL, Words
from cimento.documents import grid_file
from cimento.report.grid import Grid
from cimento.report.language import PageLanguage

TABLE_FORMS = (".docx", ".xlsx", ".tex", ".csv", ".md")
MOST_ROWS = 200
"""The number of rows of a table that are shown; files have all of them."""

_FEW_WORDS = 4
"""Words of a text up to which a column needs no room of its own."""

PROGRAMS: Mapping[str, str] = {".xlsx": "Excel", ".docx": "Word", ".tex": "LaTeX"}
"""The programs by whose names people know a form of files."""


def grid_files(visit: Visit, grid: Grid, name: str, forms: Sequence[str] = TABLE_FORMS) -> None:
    """Buttons for a table as files, in the place where the page is being built.

    Args:
        visit: what the page is built for.
        grid: the table.
        name: of the files, without an ending.
        forms: their endings.
    """
    with ui.element("div").classes("buttons"):
        for form in forms:
            make = partial(_grid_file, grid, form, visit.say.language)
            download(visit, grid.title, form, f"{name}{form}", make)
        if ".csv" in forms:
            say_csv(visit.say)


def _grid_file(grid: Grid, form: str, language: str) -> bytes:
    return grid_csv(grid, language) if form == ".csv" else grid_file(grid, form)


def download(visit: Visit, title: str, form: str, name: str, make: Callable[[], bytes]) -> None:
    """A button that makes a file and has the browser save it.

    Args:
        visit: what the page is built for.
        title: what the file is of.
        form: its ending.
        name: its name.
        make: makes its content.
    """
    give = partial(save, PurePosixPath(name).name, make)
    suffix = form.removeprefix(".").upper()
    program = PROGRAMS.get(form)
    label = f"{program} ({suffix.lower()})" if program else suffix
    button = ui.button(label, on_click=guarded(visit, give)).props("no-caps flat dense")
    button.props["aria-label"] = f"{visit.say('frame.download')} {label}: {title}"
    button.mark(f"file-{name}")


def in_page_language(element: ui.element, text: str, language: PageLanguage) -> None:
    """Mark an element as English where its text is not known in the language of the page.

    Args:
        element: shows the text.
        text: in English.
        language: that of the page.
    """
    if language.code != USUAL and language.known(text) is None:
        element.props(f"lang={USUAL}")


_OURS = frozenset({"right is", "of", "scale", "question"})
"""Columns whose texts may be those of cimento; texts of the other columns are names."""


def show_grid(grid: Grid, language: PageLanguage, say: Words) -> None:
    """Show a table with its notes, in the place where the page is being built.

    Args:
        grid: the table.
        language: that of the page.
        say: the words of the page.
    """
    with ui.element("div").classes("scroll"), ui.element("table").classes("grid"):
        with ui.element("thead"):
            if any(grid.groups):
                with ui.element("tr"):
                    for group, size in grid.spans:
                        text = language.named(group)
                        Text(text, "th").props(f"colspan={size} scope=colgroup")
            with ui.element("tr"):
                for column, name in enumerate(grid.header):
                    kind = "text" if grid.is_text(column) else "num"
                    Text(language.header(name), "th").props("scope=col").classes(kind)
        with ui.element("tbody"):
            for row in grid.text[:MOST_ROWS]:
                with ui.element("tr"):
                    for column, cell in enumerate(row):
                        is_text = grid.is_text(column)
                        is_ours = grid.header[column] in _OURS
                        shown = cell if is_text and not is_ours else language.cell(cell)
                        is_long = is_text and len(shown.split()) > _FEW_WORDS
                        of_text = "text long" if is_long else "text"
                        Text(shown, "td").classes(of_text if is_text else "num")
    if len(grid.text) > MOST_ROWS:
        Text(say("read.more", count=len(grid.text) - MOST_ROWS)).classes("small")
    for note in grid.footnotes:
        in_page_language(Text(language.plain(note)).classes("small"), note, language)
