"""Parts that pages are made of: tables, dialogs, and the question before something is deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from nicegui import ui

from cimento.app.frame import Text, Visit, guarded
from cimento.app.words import USUAL, Words
from cimento.errors import InputError
from cimento.judgments import finite
from cimento.models.hf.names import DEMO_MODELS
from cimento.suites.languages import NAMES


@contextmanager
def table_of(names: Iterable[str], kind: str) -> Iterator[None]:
    """A table in whose body rows are built.

    Args:
        names: the names of its columns.
        kind: its class, of which its style depends.
    """
    with ui.element("table").classes(kind):
        with ui.element("thead"), ui.element("tr"):
            for name in names:
                Text(name, "th").props("scope=col")
        with ui.element("tbody"):
            yield


def plain_table(
    names: Iterable[str], rows: Iterable[Iterable[str]], kind: str = "plain-table"
) -> None:
    """A table of texts, row by row."""
    with table_of(names, kind):
        for row in rows:
            with ui.element("tr"):
                for cell in row:
                    Text(cell, "td")


_MOST_WHOLE = 40
"""Rows of the longest table that is shown at its full height."""
_MOST_ROOMY = 8
"""Columns of the widest table that is set as large as the text."""


def table(names: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> None:
    """A table of texts, in the place where the page is being built; a long one scrolls by itself.

    Args:
        names: the names of the columns.
        rows: the cells of each row.
        kind: a further class, of which its style depends.
    """
    is_long = len(rows) > _MOST_WHOLE
    with ui.element("div").classes("table-holder long" if is_long else "table-holder") as holder:
        holder.props("tabindex=0")
        if len(names) > _MOST_ROOMY:
            holder.classes("wide")
        plain_table(names, rows, f"plain-table {kind}".rstrip())


def show_demo(models: Iterable[str], say: Words) -> None:
    """Say that the numbers of a demo model mean nothing, where there is one.

    Args:
        models: the labels of models, with their revision behind an ``@``.
        say: the words of the page.
    """
    if any(model.partition("@")[0] in DEMO_MODELS for model in models):
        Text(say("read.demo")).classes("mend").mark("demo")


@contextmanager
def opened_dialog(kind: str = "form") -> Iterator[ui.dialog]:
    """A dialog that is open, in which its content is built; it is deleted when it is closed."""
    with ui.dialog() as dialog, ui.card().classes(kind):
        yield dialog
    dialog.on("hide", dialog.delete)
    dialog.open()


def ask_deletion(
    visit: Visit,
    question: str,
    names: Sequence[str],
    delete: Callable[[], Awaitable[None] | None],
    *,
    remark: str = "",
) -> None:
    """Ask whether something is to be deleted, and delete it.

    Args:
        visit: what the page is built for.
        question: what is asked.
        names: what would be deleted.
        delete: deletes it and shows what is left; may be a coroutine.
        remark: what is said below the names; empty for nothing.
    """
    say = visit.say

    def agreed() -> Awaitable[None] | None:
        dialog.close()
        return delete()

    with opened_dialog() as dialog:
        Text(question)
        with ui.element("ul"):
            for name in names:
                Text(name, "li")
        if remark:
            Text(remark)
        with ui.element("div").classes("buttons"):
            ui.button(say("frame.delete"), on_click=guarded(visit, agreed)).props(
                "no-caps unelevated color=negative"
            ).mark("delete-do")
            ui.button(say("frame.cancel"), on_click=dialog.close).props("no-caps flat")


def delete_button(
    visit: Visit, name: str, ask: Callable[[], None], *, label: str = ""
) -> ui.button:
    """A button that asks before something is deleted.

    Args:
        visit: what the page is built for.
        name: what would be deleted, for screen readers.
        ask: asks.
        label: what the button says, if it should say of what.
    """
    delete = label or visit.say("frame.delete")
    made = ui.button(delete, on_click=guarded(visit, ask)).props("no-caps flat dense")
    made.props["aria-label"] = f"{delete}: {name}"
    return made.mark(f"delete {name}")


async def save(name: str, make: Callable[[], bytes | str]) -> None:
    """Have the browser save a file.

    Args:
        name: name of the file.
        make: makes its content, in a thread of its own.
    """
    ui.download.content(await asyncio.to_thread(make), name)


def say_csv(say: Words) -> None:
    """Say beside the buttons of files what parts cells and decimals in CSV."""
    Text(say("frame.csv")).classes("small").mark("csv-how")


def named_languages(say: Words) -> dict[str, str]:
    """The codes of all languages that suites may be in, in the order of their names."""
    named = {code: say.named("language", code) for code in NAMES}
    return dict(sorted(named.items(), key=lambda name: name[1]))


_FIRST = """(value) => setTimeout(() => {
  const made = getElement(%d);
  const field = made.$refs.qRef;
  const typed = String(value ?? '').trim().toLocaleLowerCase();
  const isHere = field.$el.contains(document.activeElement);
  if (!isHere || !typed || !made.filteredOptions.length) return;
  const begun = (one) => String(one.label).toLocaleLowerCase().startsWith(typed);
  field.setOptionIndex(Math.max(made.filteredOptions.findIndex(begun), 0));
}, 0)"""
"""Marks what Enter takes while somebody types: what begins so, or the first that is left.

What is chosen at first is put into the field too, when nobody is there and no list is open.
"""


def searched(options: Mapping[str, str], *, label: str, value: str | None = None) -> ui.select:
    """A field of one of many choices, which are searched by typing; Enter takes the one marked.

    Args:
        options: what is shown of each choice.
        label: its name.
        value: the choice at first.
    """
    field = ui.select(dict(options), label=label, value=value, with_input=True)
    return field.on("input-value", js_handler=_FIRST % field.id)


def number_field(
    label: str, *, value: float | None = None, hint: str = "", bare: bool = False
) -> ui.input:
    """A field for a number, with a decimal comma or point whatever the browser's language is.

    Args:
        label: its name.
        value: what is in it at first.
        hint: what is said below it; empty for nothing.
        bare: whether only screen readers have its name, as in a table.
    """
    field = ui.input(None if bare else label, value="" if value is None else f"{value:g}")
    field.props("inputmode=decimal autocomplete=off dense" if bare else "inputmode=decimal")
    field.props["aria-label"] = label
    if hint:
        field.props["hint"] = hint
    field.on_value_change(lambda: setattr(field, "error", None))
    return field


def number_in(field: ui.input, say: Words) -> float | None:
    """The number in a field; None if it is empty.

    Raises:
        InputError: there is something else in it, which is marked.
    """
    text = str(field.value or "").strip()
    number = finite(text.replace(",", ".").replace("\N{MINUS SIGN}", "-"))
    if text and number is None:
        raise refused(field, say("frame.no-number"))
    return number


def refused(field: ui.input | ui.select | ui.number, message: str) -> InputError:
    """The error of what is in a field, which is marked, until it is changed.

    Args:
        field: the field.
        message: what is wrong.
    """
    field.error = message
    field.run_method("focus")
    return InputError(
        where=str(field.props.get("aria-label") or field.props.get("label")), seen=message
    )


def ends(low: float | None, high: float | None, say: Words, form: str = ".2f") -> str:
    """Both ends of an interval; where commas begin decimals, a semicolon parts them.

    Args:
        low: the lower end.
        high: the upper one; without both, the text is empty.
        say: the words of the page.
        form: of numbers, as for `Words.number`.
    """
    if low is None or high is None:
        return ""
    mark = "," if say.language == USUAL else ";"
    return f"[{say.number(low, form)}{mark} {say.number(high, form)}]"
