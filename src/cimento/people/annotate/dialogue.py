"""A dialogue of fields: defaults, checks, a step back, undo, and going on another day.

What was typed is all there is: the state of a dialogue is what its lines make of it. Undoing is
leaving the last line out, and going on is reading the log of lines again. The physical states of a
story's sentences have an editor of their own, with few words and a block for each sentence.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from cimento.errors import did_you_mean
from cimento.io.parsing import whole_number
from cimento.people.annotate import Log
from cimento.suites.stories import ATTRIBUTES, PhysicalAttribute, bearers

Values: TypeAlias = Mapping[str, Any]
"""The values given so far, as their fields read them: texts, numbers, lists, blocks of states."""

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
"""Longer silences are not work, and are not counted."""
StateBlock: TypeAlias = dict[str, dict[str, int]]
"""The codes of one sentence: attribute to entity to code."""

DONE = "done"
USAGE = (
    "SENTENCE ATTRIBUTE ENTITY CODE sets a code (1 open frigo 4); sentences count from 0.\n"
    "codes ATTRIBUTE says what its codes mean; attributes lists them all.\n"
    "show [SENTENCE] shows what is set; copy FROM TO copies a sentence's codes.\n"
    "trip gives every entity TRIP's defaults (conscious, exist, functional, moveable: 2).\n"
    "done ends it."
)


class RefusedError(Exception):
    """A typed line is refused; the message says why, and the field is asked again."""


@dataclass(frozen=True, slots=True)
class FieldReading:
    """The reading of a typed line by a field.

    Attributes:
        value: its value now.
        finished: whether the next field is asked.
        message: what is shown about it.
    """

    value: object
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
    read: Callable[[str, Values], FieldReading]
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


class TypedLine(NamedTuple):
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
        self.lines: list[TypedLine] = []
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
            return "FieldReading back."
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
        line = TypedLine(text, self._clock())
        self._take(line)
        if self._log is not None:
            self._log.append(line)

    def _take(self, line: TypedLine) -> None:
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


def _typed(record: Sequence[Any]) -> TypedLine:
    text, at = record
    return TypedLine(str(text), float(at))


def _fresh_block(values: Values, *, trip: bool = False) -> StateBlock:
    """The block of a sentence, every entity with every attribute it can have.

    Args:
        values: what was given, who acts and what is there among it.
        trip: codes are TRIP's defaults and not 0.
    """
    names = {"actor": _names(values, "actor"), "object": _names(values, "objects")}
    return {
        attribute.name: dict.fromkeys(names[attribute.bearer], attribute.default if trip else 0)
        for attribute in ATTRIBUTES.values()
    }


def edit(line: str, values: Values) -> FieldReading:
    """The blocks after one line of the editor; see `USAGE`.

    Raises:
        RefusedError: the line is not a command, or names what is not there.
    """
    blocks = blocks_of(values)
    words = line.split()
    if words == [DONE]:
        return FieldReading(blocks)
    match words:
        case ["attributes"]:
            message = _attributes()
        case ["codes", name]:
            message = _codes(_attribute(name))
        case ["show", *chosen]:
            message = _shown_blocks(blocks, chosen)
        case ["trip"]:
            blocks, message = _with_trip(blocks, values), "TRIP's defaults are set."
        case ["copy", source, target]:
            blocks[_sentence(target, blocks)] = blocks[_sentence(source, blocks)]
            message = f"{source} is copied to {target}."
        case [number, attribute, *entity, code] if entity:
            message = _set(_sentence(number, blocks), attribute, " ".join(entity), code, blocks)
        case _:
            raise RefusedError(f"This is none of the commands.\n{USAGE}")
    return FieldReading(blocks, finished=False, message=message)


def blocks_of(values: Values) -> list[StateBlock]:
    """The blocks as they are, or empty ones."""
    n = len(values["sentences"])
    known: list[StateBlock] = [*(values.get("states") or ()), *({} for _ in range(n))]
    # After a step back the story may have other sentences or entities.
    return [
        {
            name: {entity: block.get(name, {}).get(entity, 0) for entity in entities}
            for name, entities in _fresh_block(values).items()
        }
        for block in known[:n]
    ]


def _with_trip(blocks: Sequence[StateBlock], values: Values) -> list[StateBlock]:
    """TRIP's defaults, except for codes set by hand."""
    tripped = _fresh_block(values, trip=True)
    return [
        {
            name: {entity: code or tripped[name][entity] for entity, code in codes.items()}
            for name, codes in block.items()
        }
        for block in blocks
    ]


def _set(number: int, name: str, entity: str, code: str, blocks: list[StateBlock]) -> str:
    """Set one code, and return its meaning."""
    attribute = _attribute(name)
    codes = blocks[number][attribute.name]
    if entity not in codes:
        listed = ", ".join(codes) or "there are none"
        raise RefusedError(f"{attribute.name} is about {attribute.bearer}s: {listed}.")
    chosen = whole_number(code)
    if chosen is None or chosen not in attribute.codes:
        raise RefusedError(f"{code!r} is not a code of {attribute.name}.\n{_codes(attribute)}")
    # A copied sentence shares its block with the other one.
    blocks[number] = {**blocks[number], attribute.name: {**codes, entity: chosen}}
    return f"Sentence {number}: {entity}, {attribute.name}: {attribute.codes[chosen]}."


def _sentence(word: str, blocks: Sequence[StateBlock]) -> int:
    number = whole_number(word)
    if number is None or number >= len(blocks):
        raise RefusedError(f"There is no sentence {word!r}: they are 0 to {len(blocks) - 1}.")
    return number


def _attribute(name: str) -> PhysicalAttribute:
    if name not in ATTRIBUTES:
        raise RefusedError(f"There is no attribute {name!r}. {did_you_mean(name, ATTRIBUTES)}")
    return ATTRIBUTES[name]


def _codes(attribute: PhysicalAttribute) -> str:
    lines = (f"  {code}  {meaning}" for code, meaning in attribute.codes.items())
    return "\n".join((f"{attribute.name} ({attribute.bearer}s)", *lines))


def _attributes() -> str:
    return "\n".join(
        f"{bearer}s: {', '.join(attribute.name for attribute in bearers(bearer))}"
        for bearer in ("actor", "object")
    )


def _shown_blocks(blocks: Sequence[StateBlock], words: Sequence[str]) -> str:
    chosen = [_sentence(word, blocks) for word in words] or range(len(blocks))
    lines = [
        f"{number}  {entity}, {name}: {code} ({ATTRIBUTES[name].codes[code]})"
        for number in chosen
        for name, codes in blocks[number].items()
        for entity, code in codes.items()
        if code
    ]
    return "\n".join(lines) or "Every code is 0."


def _names(values: Values, name: str) -> list[str]:
    return [part.strip() for part in values[name].split(",") if part.strip()]
