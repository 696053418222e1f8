"""A dialogue of fields: defaults, checks, a step back, undo, and going on another day.

What was typed is all there is: the state of a dialogue is what its lines make of it. Undoing is
leaving the last line out, and going on is reading the log of lines again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from cimento.people.annotate.decisions import Log
from cimento.suites.model import JsonValue

Values: TypeAlias = Mapping[str, JsonValue]

BACK, UNDO, QUIT, HELP, SHOW = ":back", ":undo", ":quit", ":help", ":show"
COMMANDS: Mapping[str, str] = {
    BACK: "goes to the field before",
    UNDO: "takes back what was typed last",
    SHOW: "shows what has been given so far",
    QUIT: "stops; next time you continue here",
    HELP: "says this",
}
HELP_TEXT = "\n".join(f"{name:<8}{meaning}" for name, meaning in COMMANDS.items())

LONGEST_PAUSE_S = 300.0
"""Longer silences are no work, and are not counted."""


class RefusedError(Exception):
    """A typed line is refused; the message says why, and the field is asked again."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The reading of a typed line by a field.

    Attributes:
        value: its value now.
        finished: whether the next field is asked.
        message: what is shown about it.
    """

    value: JsonValue
    finished: bool = True
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueField:
    """One field of a dialogue.

    Attributes:
        name: of the value.
        question: what is shown.
        read: from what was typed and what was given before to a value; refuses what it cannot be.
        default: what an empty line stands for; None where something must be typed.
    """

    name: str
    question: str
    read: Callable[[str, Values], Taken]
    default: Callable[[Values], str | None] = lambda _values: None


@dataclass(frozen=True, slots=True)
class DialogueState:
    """The state of a dialogue.

    Attributes:
        values: what was given.
        at: number of the field that is asked.
        message: what is to be shown about the last line.
    """

    values: Values = field(default_factory=dict)
    at: int = 0
    message: str = ""


ReadPrompt: TypeAlias = Callable[[str], str]
"""From a prompt to the next line, of a terminal or a recorded dialogue; EOFError at the end."""


def step(fields: Sequence[DialogueField], state: DialogueState, line: str) -> DialogueState:
    """The state of a dialogue after one more line.

    Raises:
        RefusedError: the line cannot be taken.
    """
    if line.strip() == BACK:
        if state.at == 0:
            raise RefusedError("This is the first field.")
        return replace(state, at=state.at - 1, message="")
    asked = fields[state.at]
    typed = line.strip()
    if not typed:
        default = _default(asked, state.values)
        if default is None:
            raise RefusedError("Something must be typed here.")
        typed = default
    taken = asked.read(typed, state.values)
    values = {**state.values, asked.name: taken.value}
    return DialogueState(values, state.at + taken.finished, taken.message)


def _default(asked: DialogueField, values: Values) -> str | None:
    """The value of an empty line: the one given before a step back, else the proposed one.

    What was given may be wrong by now, where a field before it has changed.
    """
    given = values.get(asked.name)
    proposed = asked.default(values)
    is_nested = isinstance(given, list) and any(isinstance(part, dict | list) for part in given)
    if asked.name not in values or is_nested:
        return proposed
    before = json.dumps(given, ensure_ascii=False)
    try:
        asked.read(before, values)
    except RefusedError:
        return proposed
    return before


@dataclass(frozen=True, slots=True)
class Typed:
    """A line and when it was typed, in seconds since 1970."""

    text: str
    at: float


class DialogueSession:
    """A dialogue about one record, written down as it goes.

    Args:
        fields: what is asked, in order.
        path: where lines are kept until the record is done; None keeps them in memory.
        clock: seconds since 1970.

    Raises:
        InputError: the file of lines cannot be read.
    """

    def __init__(
        self,
        fields: Sequence[DialogueField],
        *,
        path: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._fields = fields
        self._log = None if path is None else Log(path)
        self._clock = clock
        self._started = clock()
        self.lines: list[Typed] = []
        self.state = DialogueState()
        if self._log is not None:
            for line in self._log.read(
                _typed,
                name="line of a dialogue that was left",
                todo="Delete the file to start again.",
            ):
                self._take(line)
            self.state = self._replayed()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        return self.state.at >= len(self._fields)

    @property
    def asked(self) -> DialogueField:
        """The field that is asked now."""
        return self._fields[self.state.at]

    @property
    def prompt(self) -> str:
        """The prompt shown before a line is typed."""
        default = _default(self.asked, self.state.values)
        return self.asked.question + (f" [{default}]" if default is not None else "") + ": "

    @property
    def seconds(self) -> float:
        """The working time, without long silences."""
        times = [line.at for line in self.lines]
        gaps = (later - earlier for earlier, later in pairwise(times))
        first = max(0.0, times[0] - self._started) if times else 0.0
        return min(first, LONGEST_PAUSE_S) + sum(min(gap, LONGEST_PAUSE_S) for gap in gaps)

    def feed(self, text: str) -> str:
        """Take a line; what is to be shown about it is returned.

        Raises:
            RefusedError: the line cannot be taken; nothing has changed.
        """
        if text.strip() == UNDO:
            if not self.lines:
                raise RefusedError("There is nothing to take back.")
            self._keep(text)
            self.state = self._replayed()
            return "Taken back."
        self.state = step(self._fields, self.state, text)
        self._keep(text)
        return self.state.message

    def forget(self) -> None:
        """Delete the log of lines, once the record is stored elsewhere."""
        if self._log is not None:
            self._log.path.unlink(missing_ok=True)

    def _replayed(self) -> DialogueState:
        state = DialogueState()
        for line in self.lines:
            try:
                state = step(self._fields, state, line.text)
            # What could be taken then cannot now (another record took the id): it is asked again.
            except RefusedError as error:
                return replace(state, message=str(error))
        return state

    def _keep(self, text: str) -> None:
        line = Typed(text, self._clock())
        self._take(line)
        if self._log is not None:
            self._log.append([line.text, line.at])

    def _take(self, line: Typed) -> None:
        if line.text.strip() != UNDO:
            self.lines.append(line)
        elif self.lines:
            self.lines.pop()


def converse(session: DialogueSession, read: ReadPrompt, show: Callable[[str], object]) -> bool:
    """Ask until the dialogue is done; False where it was left before that.

    Args:
        session: the dialogue; what it has already is not asked again.
        read: gives the next line.
        show: shows something.
    """
    while not session.done:
        try:
            text = read(session.prompt)
        except EOFError:
            return False
        command = text.strip()
        if command == QUIT:
            return False
        if command in (HELP, SHOW):
            show(HELP_TEXT if command == HELP else _shown(session.state.values))
            continue
        try:
            message = session.feed(text)
        except RefusedError as error:
            show(str(error))
            continue
        if message:
            show(message)
    return True


def _shown(values: Values) -> str:
    parts = (
        f"{name}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in values.items()
        if not isinstance(value, list) or not any(isinstance(part, dict) for part in value)
    )
    return "\n".join(parts) or "Nothing yet."


def _typed(record: Sequence[Any]) -> Typed:
    text, at = record
    return Typed(str(text), float(at))
