"""The frame of every page: the steps, the languages, and parts that several pages have."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any, ParamSpec
from urllib.parse import urlencode

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from cimento.app.jobs import Queue
from cimento.app.words import LANGUAGES, USUAL, Words, message_of
from cimento.app.workspace import Workspace
from cimento.errors import CimentoError
from cimento.suites.load import MAX_FILE_BYTES

if TYPE_CHECKING:
    from nicegui.events import UploadEventArguments

log = logging.getLogger("cimento.app")

STEPS = ("start", "edit", "run", "read", "people")
"""The steps in the order of work; each is the last part of an address and a table of words."""

STYLE = Path(__file__).with_name("app.css")

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Visit:
    """What a page is built for.

    Attributes:
        workspace: the folder of files.
        say: the words of the visitor's language.
        step: which of `STEPS` is shown.
        query: what the address says after its question mark, such as ``suite``.
        queue: the runs that are made.
        root: the beginning of every address, which the framework adds to links but not to frames.
        notices: the errors that are shown on the page.
        frames: the page itself, which stays whatever becomes of its parts.
    """

    workspace: Workspace
    say: Words
    step: str
    query: Mapping[str, str]
    queue: Queue
    root: str = ""
    notices: list[ui.notification] = field(default_factory=list)
    frames: list[ui.element] = field(default_factory=list)

    def address(self, step: str, **query: str) -> str:
        """The address of a step in the same language, for `ui.navigate.to` and links."""
        return address(self.say.language, step, **query)


def address(language: str, step: str, **query: str) -> str:
    """The address of a step, without the token, which the framework adds."""
    given = {name: value for name, value in query.items() if value}
    return f"/{language}/{step}" + (f"?{urlencode(given)}" if given else "")


@contextmanager
def framed(visit: Visit) -> Iterator[None]:
    """A context in which the content of a page is built, inside its frame."""
    say = visit.say
    ui.page_title(f"{say(f'{visit.step}.title')} - {say('frame.title')}")
    dark = ui.dark_mode(value=None)
    with ui.header(elevated=False).classes("head"):
        # The framework puts the head before all else, and a skip link has to come first.
        ui.link(say("frame.skip"), "#content").classes("skip")
        ui.link(say("frame.title"), visit.address("start")).classes("mark")
        with ui.element("nav").props(f'aria-label="{say("frame.steps")}"').classes("steps"):
            for number, step in enumerate(STEPS, start=1):
                link = ui.link(f"{number} {say(f'{step}.title')}", visit.address(step))
                if step == visit.step:
                    link.props("aria-current=page")
        with ui.element("nav").props(f'aria-label="{say("frame.language")}"').classes("tongues"):
            for code, name in LANGUAGES.items():
                link = ui.link(code, address(code, visit.step, **visit.query))
                link.props(f'lang={code} hreflang={code} aria-label="{code}, {name}"')
                if code == say.language:
                    link.props("aria-current=true")
        lamp = ui.button(icon="contrast", on_click=lambda: _turn(dark)).props("flat round dense")
        lamp.props(f'aria-label="{say("frame.dark")}"')
    with ui.element("div").props("id=content tabindex=-1").classes("page") as page:
        visit.frames.append(page)
        yield
        ui.label(say("frame.folder", folder=visit.workspace.folder)).classes("small")


def _turn(dark: ui.dark_mode) -> None:
    """From what the system prefers to dark, to light and back."""
    dark.value = {None: True, True: False, False: None}[dark.value]


def local_time(moment: str) -> str:
    """A moment in UTC as a clock on this machine shows it; as it is if it is not a moment."""
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return moment


class Text(TextElement):
    """An element with one text, which may be a heading, a paragraph or code.

    Args:
        text: what it says, as plain text.
        tag: of HTML, such as ``p``.
    """

    def __init__(self, text: str = "", tag: str = "p") -> None:
        super().__init__(tag=tag, text=text)


def heading(text: str, *, level: int = 2) -> Text:
    """A heading of a page or of one of its parts.

    Args:
        text: what it says.
        level: 1 for the page, 2 for a part, 3 for a part of that.
    """
    return Text(text, f"h{level}")


def english(say: Words, key: str = "frame.english") -> None:
    """Say that what comes next is in English, on a page that is not.

    Args:
        say: the words of the page.
        key: the text that says it.
    """
    if say.language != USUAL:
        Text(say(key)).classes("small")


def copy(text: str, say: Words) -> None:
    """Put a text on the clipboard, and say so."""
    ui.clipboard.write(text)
    ui.notify(say("frame.copied"))


class CommandLine:
    """The command that does the same as a part of a page, to copy.

    Args:
        visit: what the page is built for.
        arguments: the words of the command after ``cimento``.
    """

    def __init__(self, visit: Visit, arguments: Sequence[str] = ()) -> None:
        say = visit.say
        with ui.element("details").classes("command") as self._shown:
            Text(say("frame.command"), "summary").classes("small")
            with ui.element("div").classes("line"):
                self._text = Text(tag="code")
                self._button = ui.button(say("frame.copy"), on_click=lambda: copy(self.text, say))
                self._button.props("flat dense no-caps icon=content_copy")
        self.show(arguments)

    def show(self, arguments: Sequence[str], *, before: str = "", whole: bool = True) -> None:
        """Show another command.

        Args:
            arguments: the words of the command after ``cimento``.
            before: what comes before it, such as another command and a pipe.
            whole: whether the command would work; it is hidden until then.
        """
        self._shown.set_visibility(whole)
        self._text.text = before + join(["cimento", *arguments])

    @property
    def text(self) -> str:
        """The command as a shell takes it."""
        return str(self._text.text)


_PICK = "() => document.querySelector('#c%d input[type=file]').click()"


def file_choice(visit: Visit, take: Callable[[UploadEventArguments], Awaitable[None]]) -> ui.upload:
    """A place where a file of one's own is dropped, with a button that chooses one.

    Args:
        visit: what the page is built for.
        take: what is done with the file.
    """
    say = visit.say

    async def taken(event: UploadEventArguments) -> None:
        try:
            await take(event)
        finally:
            # The browser refuses a file that is still in its list, such as one that is tried again.
            upload.reset()

    upload = ui.upload(
        label=say("start.upload"), auto_upload=True, max_file_size=MAX_FILE_BYTES,
        on_upload=guarded(visit, taken),
        on_rejected=lambda: ui.notify(say("start.too_large", megabytes=MAX_FILE_BYTES // 10**6)),
    ).props("flat bordered").classes("upload").mark("upload")  # fmt: skip
    with upload.add_slot("list"), ui.element("div").classes("drop"):
        # The button of the framework has no name, and keys do not reach it: the style hides it.
        choose = ui.button(say("start.choose_file"), icon="upload_file").props("no-caps unelevated")
        choose.on("click", js_handler=_PICK % upload.id)
        Text(say("start.upload"), "span")
    return upload


_ATTEND = """setTimeout(() => {
  const shown = getHtmlElement(%d);
  shown.scrollIntoView({block: 'nearest'});
  shown.focus({preventScroll: true});
}, 50)"""


def attend(element: ui.element) -> None:
    """Go to what an action has made: scroll it into view, and have the next key begin there."""
    element.props("tabindex=-1")
    ui.run_javascript(_ATTEND % element.id)


def problem(visit: Visit, error: CimentoError) -> None:
    """Show an error of cimento in the place where the page is being built."""
    with ui.element("div").props("role=alert").classes("problem"):
        ui.label(visit.say("frame.failed")).classes("problem-title")
        ui.label(message_of(error, visit.say.language)).classes("problem-text")


def guarded(
    visit: Visit, action: Callable[P, Awaitable[None] | None]
) -> Callable[P, Awaitable[None]]:
    """An action of a button, whose error of cimento is shown as a notice until the next action.

    Args:
        visit: what the page is built for.
        action: the function, which may be a coroutine.
    """

    @functools.wraps(action)
    async def run(*args: Any, **values: Any) -> None:  # noqa: ANN401  # as the action has them
        withdraw(visit)
        try:
            result = action(*args, **values)
            if inspect.isawaitable(result):
                await result
        except CimentoError as error:
            tell(visit, message_of(error, visit.say.language))
        except Exception as error:  # else nothing would happen on the page
            log.exception("an action of the page failed")
            tell(visit, visit.say("frame.fault", error=f"{type(error).__name__}: {error}"))

    return run


def in_page(visit: Visit) -> AbstractContextManager[object]:
    """The place for what is said of an action: what was pressed may be gone with its part."""
    return visit.frames[-1] if visit.frames else nullcontext()


def tell(visit: Visit, message: str) -> None:
    """Show a message until it is closed or withdrawn, and have screen readers say it."""
    if any(notice.message == message and not notice.is_deleted for notice in visit.notices):
        return
    withdraw(visit)
    with in_page(visit):
        notice = ui.notification(
            message,
            type="negative",
            timeout=None,
            multi_line=True,
            close_button=visit.say("frame.close"),
            classes="notice",
        )
    visit.notices.append(notice)


def withdraw(visit: Visit) -> None:
    """Take away what `tell` has shown: something was changed, or is tried again."""
    for notice in visit.notices:
        if not notice.is_deleted:
            notice.dismiss()
    visit.notices.clear()
