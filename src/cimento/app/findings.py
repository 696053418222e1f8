"""What stands beside the grid: findings of the checks, shortcuts of the audit, and one question.

Findings have links to the rows and to the pages of the checks; shortcuts are what makes a suite
easier, or harder, than it seems. The question is for a table whose column names say nothing: which
column has the good sentences, and which the bad? A name with a typo is no reason to refuse a
beginner's table; the page asks, with its guess chosen.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from nicegui import ui

from cimento.app.checking import Finding, page_of
from cimento.app.editing import Grid, Sheet, rename_column, workbook_of
from cimento.app.frame import Text, english
from cimento.app.views import letters
from cimento.app.words import USUAL, Words, said, words
from cimento.errors import InputError, MissingDependencyError
from cimento.io.files import write_bytes
from cimento.paradigms.registry import load_suite
from cimento.suites import Suite
from cimento.suites.headers import HEADERS, without_noun
from cimento.suites.reading import CHECKS
from cimento.suites.suite_workbook import ITEMS

if TYPE_CHECKING:
    from cimento.paradigms.regions.audit import Audit

STYLE = Path(__file__).with_name("edit.css")
"""The style of steps 2 and 5."""

MOST_FINDINGS = 100
"""Findings that are listed one by one."""
MOST_ROWS_OF_ONE = 5
KNOWN_SHEETS = ("about", "items", "predictions", "seeds")
MOST_ITEMS = 12
SIDES = ("good", "bad")
_OTHER_TEXTS = ("text", "sentence", "condition")
_MOST_LOOKED_AT = 200
_LEAST_LIKE = 0.7
_CLEARLY = 0.5
"""How much better names must fit the other way round; the good sentences stand first otherwise."""
_SAME = 0.85
_PREFIXES = ("a", "in", "im", "s", "un", "не")
_ALSO_NAMED = {
    "good": {"bien", "ben", "bem", "bueno", "buenos", "buono", "buoni", "bom", "ok", "match"},
    "bad": {
        "mal", "male", "malo", "malos", "cattivo", "cattivi", "mau", "errónea", "erróneas",
        "erronea", "erróneo", "erróneos", "errônea", "violata", "mismatch",
    },
}  # fmt: skip
"""Words for the sides that are too short or too rare to be names of columns by themselves."""
_WITH_ERRORS = re.compile(r"\b(?:(?P<with>con|com|with|с)|sin|senza|sem|without|без) (?:err|ошиб)")
_NEGATING = frozenset({"no", "non", "não", "not", "не"})
_CELLS = 4
"""Columns of sentences that are the cells of a design, and no longer pairs with a column more."""


def button(
    text: str, action: Callable[[], Any], *, icon: str | None = None, flat: bool = False
) -> ui.button:
    """A button in the style of the pages.

    Args:
        text: what it says.
        action: what it does.
        icon: name of an icon; None for none.
        flat: whether it looks like a link.
    """
    made = ui.button(text, on_click=action, icon=icon)
    return made.props("no-caps unelevated " + ("flat dense" if flat else "outline"))


def sheet_title(sheet: str, say: Words) -> str:
    """The title of a sheet; one that only this suite has keeps its name."""
    return say(f"edit.sheet-{sheet}") if sheet in KNOWN_SHEETS else sheet


def show_findings(
    findings: Sequence[Finding], say: Words, *, go: Callable[[Finding], None]
) -> None:
    """List findings in the place where the page is being built.

    Args:
        findings: the findings, the most severe first.
        say: the words of the page.
        go: shows the rows of a finding.
    """
    if not findings:
        ui.label(say("edit.no-findings"))
        return
    with ui.element("ul").classes("findings"):
        for finding in findings[:MOST_FINDINGS]:
            with ui.element("li").classes(f"finding {finding.severity}"):
                _show(finding, say, go)
    if len(findings) > MOST_FINDINGS:
        ui.label(say("edit.more", count=len(findings) - MOST_FINDINGS))


def _show(finding: Finding, say: Words, go: Callable[[Finding], None]) -> None:
    """One finding."""
    with ui.element("div").classes("finding-head"):
        ui.label(say(f"edit.{finding.severity}")).classes("severity")
        if finding.rows:
            rows = ", ".join(str(row + 1) for row in finding.rows[:MOST_ROWS_OF_ONE])
            rows += " ..." if len(finding.rows) > MOST_ROWS_OF_ONE else ""
            place = say("edit.go", sheet=sheet_title(finding.sheet, say), rows=rows)
            button(place, lambda: go(finding), flat=True)
        if finding.code:
            code = button(finding.code, lambda: explain(finding.code, say), flat=True)
            code.props(f'aria-label="{say("edit.explain", code=finding.code)}"')
    if title := title_of(finding.code, say):
        ui.label(title).classes("check-title")
    show_said(finding.seen, say).classes("seen")
    show_advice(finding.code, finding.todo, say)


def show_advice(code: str, todo: str, say: Words) -> None:
    """Show what to do about a fault: the advice of its check, or closer advice of its own.

    Closer advice names what is in the file. The advice of the check stands before it where the page
    is not in English, in which closer advice replaces it.

    Args:
        code: code of the check; empty for other faults.
        todo: advice of the fault.
        say: the words of the page.
    """
    check = CHECKS.get(code)
    usual = words(USUAL).texts.get(f"advice.{code}", "")
    closer = "" if todo in {usual, check.todo if check else usual} else todo
    if usual and not (closer and say.language == USUAL):
        ui.label(say(f"advice.{code}")).classes("small")
    if closer:
        show_said(closer, say).classes("small")


def show_said(text: str, say: Words, *, where: str = "") -> ui.element:
    """A text of cimento in the language of the page, and below it a formula with a mark under it.

    Where it is not known in that language it is shown in English, as a screen reader has to know.

    Args:
        text: the text in English.
        say: the words of the page.
        where: the place that it is about, which stands before it.
    """
    translated = said(text, say.language)
    place = where if translated is None else said(where, say.language) or where
    first, *formula = (text if translated is None else translated).split("\n")
    with ui.element("div") as shown:
        ui.label(f"{place}: {first}" if place else first)
        if formula:
            Text(dedent("\n".join(formula)), "pre").classes("formula")
    return shown if translated is not None else shown.props(f"lang={USUAL}")


def title_of(code: str, say: Words) -> str:
    """The title of a check in the language of the page; empty for other faults."""
    key = f"check.{code}"
    return say(key) if key in say.texts else ""


def explain(code: str, say: Words) -> None:
    """Show the page of a check in a dialog."""
    with ui.dialog() as dialog, ui.card().classes("check-page"):
        english(say, "frame.english_text")
        with ui.element("div").props("lang=en"):
            ui.markdown(page_of(code) or code)
        button(say("frame.close"), dialog.close)
    dialog.on("hide", dialog.delete)
    dialog.open()


async def show_shortcuts(grid: Grid, shown: ui.element, say: Words) -> None:
    """Audit a suite of sentences, and show what is found.

    Args:
        grid: a grid without errors.
        shown: the element to show it in.
        say: the words of the page.

    Raises:
        InputError: the suite is of another kind, whose checks are all that there is.
    """
    audit = await asyncio.to_thread(audited, grid)
    if audit is None:
        raise InputError(where=grid.name, seen=say("edit.audit-kind"))
    with shown:
        _conditions(audit, say)
        with ui.element("ul").classes("plain-list"):
            for line in lines(audit, say):
                with ui.element("li"):
                    ui.label(line)


def audited(grid: Grid) -> Audit | None:
    """The audit of a suite of sentences; None for a suite of another kind."""
    from cimento.measures.normalising import zipf_frequencies
    from cimento.paradigms.regions.audit import audit_suite

    with TemporaryDirectory(prefix="cimento-") as temporary:
        path = write_bytes(workbook_of(grid), Path(temporary) / f"{grid.name}.xlsx")
        suite = load_suite(path).suite
    if not isinstance(suite, Suite):
        return None
    try:
        frequency = zipf_frequencies(suite.meta.language, purpose="frequencies of words")
    except MissingDependencyError:
        frequency = None
    return audit_suite(suite, frequency=frequency)


def lines(audit: Audit, say: Words) -> list[str]:
    """What an audit found, a line for each kind of finding that there is."""
    from cimento.paradigms.regions.audit import remarks

    made = []
    for name, items in remarks(audit).items():
        if items:
            listed = ", ".join(items[:MOST_ITEMS]) + (" ..." if len(items) > MOST_ITEMS else "")
            made.append(say(f"edit.audit-{name}", count=len(items), items=listed))
    made += [
        say(
            "edit.audit-solved",
            name=_said(baseline.name, say),
            solved=len(baseline.solved),
            count=baseline.n,
        )
        for baseline in audit.baselines
        if not baseline.reason
    ]
    made += [
        say("edit.audit-confound", condition=confound.condition, region=confound.region_name,
            detail=_said(confound.detail, say), count=len(confound.items))
        for confound in audit.confounds or ()
    ]  # fmt: skip
    return made or [say("edit.audit-nothing")]


def _said(text: str, say: Words) -> str:
    """What an audit names, in the language of the page."""
    return said(text, say.language) or text


def _conditions(audit: Audit, say: Words) -> None:
    """The mean length of the sentences of each condition."""
    with ui.element("table").classes("plain-table"):
        with ui.element("thead"), ui.element("tr"):
            for name in ("condition", "words", "characters"):
                with ui.element("th").props("scope=col"):
                    ui.label(say(f"edit.audit-{name}"))
        with ui.element("tbody"):
            for facts in audit.conditions:
                with ui.element("tr"):
                    for cell in (
                        facts.condition,
                        say.number(facts.words, ".2f"),
                        say.number(facts.characters, ".2f"),
                    ):
                        with ui.element("td"):
                            ui.label(cell)


def sentence_columns(sheet: Sheet) -> tuple[int, ...]:
    """The columns in which most cells have several words."""
    columns = []
    for column in range(sheet.width):
        cells = [cell for cell in sheet.values(column)[:_MOST_LOOKED_AT] if cell.strip()]
        if 2 * sum(" " in cell.strip() for cell in cells) > len(cells):
            columns.append(column)
    return tuple(columns)


def guess_pair(grid: Grid) -> tuple[int, int] | None:
    """The columns that may be those of the good and the bad sentences.

    Returns:
        The two, or None where the names say already what the columns are, or there are no two.
    """
    sheet = grid.items
    known = {name for name in (*SIDES, *_OTHER_TEXTS) if sheet.column(name) is not None}
    if grid.described or known >= set(SIDES) or known.intersection(_OTHER_TEXTS):
        return None
    columns = sentence_columns(sheet)
    if not len(SIDES) <= len(columns) < _CELLS:
        return None
    names = sheet.columns
    first, second = sorted(
        max(permutations(columns, 2), key=lambda pair: _likes(*(names[n] for n in pair)))
    )
    orders = (first, second), (second, first)
    # What says most comes first; where it says the same of both columns, the next is asked.
    signs: tuple[Callable[[int, int], bool], ...] = (
        lambda n, m: _is_named_bad(names[n], names[m]),
        lambda n, m: _is_negated(names[n], names[m]),
        lambda n, _: _is_starred(sheet, n),
    )
    for is_bad in signs:
        bad_first, bad_second = (is_bad(*order) for order in orders)
        if bad_first != bad_second:
            return orders[bad_first]
    fit, fit_swapped = (_likes(names[n], names[m]) for n, m in orders)
    return orders[fit_swapped > fit + _CLEARLY]


def _is_named_bad(name: str, other: str) -> bool:
    """Whether a name says that its column is the bad one, or the other that it is the good one."""
    return _side(name) == "bad" or _side(other) == "good"


def _side(name: str) -> str:
    """The side that a name or one of its words says outright; empty where none or both do."""
    named = name.casefold()
    words = {without_noun(name), *re.findall(r"\w+", named)}
    sides = {side for side in SIDES if words & {side, *HEADERS[side], *_ALSO_NAMED[side]}}
    if match := _WITH_ERRORS.search(named):
        sides = {"bad" if match["with"] else "good"}
    return sides.pop() if len(sides) == 1 else ""


def _is_negated(name: str, other: str) -> bool:
    """Whether a name is another one with a negating word or prefix, give or take a typo."""
    words, others = (re.findall(r"\w+", text.casefold()) for text in (name, other))
    if _NEGATING.intersection(words) and not _NEGATING.intersection(others):
        return True
    own = " ".join(word for word in words if word not in others)
    rest = " ".join(word for word in others if word not in words)
    ratio = SequenceMatcher(None, own, rest).ratio()
    return any(
        SequenceMatcher(None, own.removeprefix(prefix), rest).ratio() > max(ratio, _SAME)
        for prefix in _PREFIXES
        if own.startswith(prefix)
    )


def _is_starred(sheet: Sheet, column: int) -> bool:
    """Whether most sentences of a column begin with an asterisk."""
    cells = [cell for cell in sheet.values(column)[:_MOST_LOOKED_AT] if cell.strip()]
    return 2 * sum(cell.lstrip().startswith("*") for cell in cells) > len(cells)


def _likes(good: str, bad: str) -> float:
    """How much two names are like those of the good and the bad sentences, from 0 to 2."""
    return _likeness(good, "good") + _likeness(bad, "bad")


def _likeness(name: str, side: str) -> float:
    """How much a name is like one of the known names of a side, from 0 to 1; 0 if but a little."""
    word = without_noun(name)
    ratio = max(SequenceMatcher(None, word, known).ratio() for known in (side, *HEADERS[side]))
    return ratio if ratio > _LEAST_LIKE else 0.0


def named_pair(grid: Grid, good: int, bad: int) -> Grid:
    """The grid with its columns named ``good`` and ``bad``.

    A first row that is a pair itself gets the names above it.
    """
    sheet = grid.items
    if good in (columns := _of_sentences(sheet)) and bad in columns:
        empty = ("",) * sheet.width
        rows = (*sheet.rows[: sheet.head], empty, *sheet.rows[sheet.head :])
        grid = replace(grid, sheets={**grid.sheets, ITEMS: replace(sheet, rows=rows)})
    for column, name in ((good, "good"), (bad, "bad")):
        grid = rename_column(grid, ITEMS, column, name)
    return grid


def _of_sentences(sheet: Sheet) -> set[int]:
    """The columns whose name is a whole sentence."""
    marks = (".", "!", "?")
    return {
        n for n, name in enumerate(sheet.columns) if " " in name and name.strip().endswith(marks)
    }


def ask_pair(
    grid: Grid, guess: tuple[int, int], say: Words, *, done: Callable[[int, int], object]
) -> None:
    """Ask which column is which, in the place where the page is being built.

    Args:
        grid: the suite.
        guess: the columns that are chosen at first.
        say: the words of the page.
        done: called with the columns of the good and the bad sentences.
    """
    columns = grid.items.columns
    names = {n: columns[n].strip() or letters(n) for n in sentence_columns(grid.items)}
    ui.label(say("edit.pair-what"))
    with ui.element("div").classes("tools"):
        good, bad = (
            ui.select(names, label=say(f"edit.pair-{side}"), value=column).classes("short")
            for side, column in zip(SIDES, guess, strict=True)
        )
        button(say("edit.pair-do"), lambda: done(int(good.value), int(bad.value)))
