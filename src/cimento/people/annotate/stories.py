"""The dialogue for writing a story field by field, and the files of stories.

The fields and their order are those of Appendix B of the GITA4CALAMITA paper (Pensa et al. 2024,
CEUR-WS Vol-3878, paper 127). What can be known from what was typed before is proposed, and what
cannot be is refused and asked again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from cimento.errors import InputError, counted, did_you_mean
from cimento.io.files import write_bytes
from cimento.io.parsing import parse_json, read_json
from cimento.people.annotate import Log
from cimento.people.annotate.dialogue import (
    USAGE,
    DialogueField,
    DialogueSession,
    FieldReading,
    RefusedError,
    Values,
    blocks_of,
    edit,
)
from cimento.suites.formats.stories import line, read_stories
from cimento.suites.stories import (
    STATES,
    SentenceStates,
    Story,
    StoryType,
    is_replacement,
    is_swap,
)
from cimento.suites.story_variants import TYPE_LETTERS

LENGTH = 5
INSIST = "!"
"""A line that begins with this is taken although it breaks a rule of how stories are made."""

_KEY = re.compile(r"(\d+)(?:-([OC])(\d+))?")
_TYPES: dict[str | None, StoryType | None] = {"O": "order", "C": "cloze", None: None}
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")

ReadValue: TypeAlias = Callable[[str, Values], object]
Propose: TypeAlias = Callable[[Values], str | None]


def _field(
    name: str, question: str, read: ReadValue, default: Propose | str | None = None
) -> DialogueField:
    return DialogueField(
        name=name,
        question=question,
        read=lambda line, values: FieldReading(read(_text(line), values)),
        default=default if callable(default) else lambda _values: default,
    )


def story_fields(known: Sequence[Story]) -> tuple[DialogueField, ...]:
    """The fields of a story, in order.

    Args:
        known: stories that are there already: ids may not come twice, and variants are compared
            with their plausible story.
    """
    last = known[-1] if known else None
    return (
        _field("actor", "actor(s)", _read_names, last.actor if last else None),
        _field("objects", "objects", _read_names, last.objects if last else None),
        _field("story_number", "story number (key)", lambda t, _: _read_key(t, known)),
        _field("story_id", "story id", _read_story_id, lambda v: _parts(v)[0]),
        _field("worker_id", "worker id", _read_text, last.worker_id if last else None),
        _field("type", "type (null, order, cloze)", _read_type, lambda v: _parts(v)[1] or "null"),
        _field("idx", "idx (null or number)", _read_idx, lambda v: _parts(v)[2] or "null"),
        _field("aug", "aug (true, false)", _read_bool, "false"),
        _field("location", "location", _read_text, last.location if last else None),
        DialogueField(
            name="sentences", question="sentences (tab or | between)",
            read=lambda line, values: FieldReading(_read_sentences(line, values, known)),
        ),
        _field("length", "length", _read_length, lambda v: str(len(v["sentences"]))),
        _field("example_id", "example id", lambda t, v: _read_id(t, v, known), _proposed_id),
        _field(
            "plausible", "plausible (true, false)", _read_plausible,
            lambda v: json.dumps(v["type"] is None),
        ),
        _field(
            "breakpoint", "breakpoint", _read_breakpoint,
            lambda v: "-1" if v["plausible"] else None,
        ),
        _field(
            "confl_sents", "conflicting sentence", _read_conflict,
            lambda v: "[]" if v["plausible"] else None,
        ),
        DialogueField(
            name="states", question="states (? for help)", read=_edit, default=lambda _: "done"
        ),
        _field("state", "physical state of the conflict (- for none)", _read_state, "-"),
    )  # fmt: skip


_AS_GIVEN = (
    "story_id", "type", "aug", "actor", "location", "objects", "length", "example_id",
    "plausible", "breakpoint", "worker_id",
)  # fmt: skip
"""Fields that a story has as the dialogue has them."""


def finished(values: Values, *, row: int) -> Story:
    """The story made from the values of a dialogue.

    Args:
        values: what was given; states and their label may be missing.
        row: in the file it is for.
    """
    conflict = tuple(values["confl_sents"])
    return Story(
        **{name: values[name] for name in _AS_GIVEN},
        row=row,
        idx=None if values["type"] is None else values["idx"],
        sentences=tuple(values["sentences"]),
        confl_sents=conflict,
        confl_pairs=(*conflict, values["breakpoint"]) if conflict else (),
        state=values.get("state", ""),
        sentence_states=tuple(
            SentenceStates({name: tuple(codes.items()) for name, codes in block.items()})
            for block in blocks_of(values)
        ),
        key=values["story_number"],
    )


def _edit(line: str, values: Values) -> FieldReading:
    if line in ("?", "help"):
        return FieldReading(values.get("states"), finished=False, message=USAGE)
    return edit(line, values)


def _text(typed: str) -> str:
    """The typed text, without the quotation marks that the first scripts required."""
    typed = typed.strip()
    if len(typed) > 1 and typed[0] == typed[-1] == '"':
        typed = typed[1:-1].strip()
    if not typed:
        raise RefusedError("Nothing is between the quotation marks.")
    return typed


def _read_text(text: str, _values: Values) -> str:
    return text


def _read_names(text: str, _values: Values) -> str:
    """Names with commas between; without any comma, one a word."""
    parts = text.split(",") if "," in text else text.split()
    names = [" ".join(part.split()) for part in parts if part.strip()]
    if len(set(names)) < len(names):
        raise RefusedError("A name comes twice.")
    return ", ".join(names)


def _read_key(key: str, known: Sequence[Story]) -> str:
    if not _KEY.fullmatch(key):
        raise RefusedError("Write a number, with -O0 for an order and -C0 for a cloze variant.")
    if key in {story.key or story.example_id for story in known}:
        raise RefusedError(f"There is a story {key!r} already.")
    return key


def _parts(values: Values) -> tuple[str | None, str | None, str | None]:
    """Number, type and variant, as the key says."""
    match = _KEY.fullmatch(values["story_number"])
    if match is None:
        return None, None, None
    return match[1], _TYPES[match[2]], match[3]


def _read_story_id(text: str, values: Values) -> int:
    number = _whole(text)
    expected = _parts(values)[0]
    if expected is not None and int(expected) != number:
        raise RefusedError(f"The key says that it is story {expected}.")
    return number


def _read_type(text: str, values: Values) -> str | None:
    value = None if text in ("null", "none") else text
    if value not in (None, "order", "cloze"):
        raise RefusedError(f"A type is null, order or cloze. {did_you_mean(text, TYPE_LETTERS)}")
    if value != _parts(values)[1]:
        raise RefusedError(f"The key {values['story_number']!r} says another type.")
    return value


def _read_idx(text: str, values: Values) -> int | None:
    if values["type"] is None:
        if text not in ("null", "none"):
            raise RefusedError("A plausible story has no variants: write null.")
        return None
    number = _whole(text)
    if _parts(values)[2] != str(number):
        raise RefusedError(f"The key {values['story_number']!r} says another variant.")
    return number


def _read_bool(text: str, _values: Values) -> bool:
    answer = {"true": True, "false": False}.get(text.lower())
    if answer is None:
        raise RefusedError("Write true or false.")
    return answer


def _read_sentences(typed: str, values: Values, known: Sequence[Story]) -> list[str]:
    insists = typed.startswith(INSIST)
    sentences = _split(typed.removeprefix(INSIST).strip())
    if len(sentences) != LENGTH:
        raise RefusedError(
            f"That is {counted(len(sentences), 'sentence')}, and a story has {LENGTH}."
        )
    if len(set(sentences)) < len(sentences):
        raise RefusedError("A sentence comes twice.")
    bare = [sentence for sentence in sentences if sentence[-1] not in '.!?…»”"']
    broken = f"{bare[0]!r} has no full stop." if bare else _broken_rule(values, sentences, known)
    if broken and not insists:
        raise RefusedError(f"{broken} Begin the line with {INSIST} to have it so.")
    return sentences


def _split(text: str) -> list[str]:
    """Sentences with tabs or bars between, as a JSON list, or one after another."""
    if text.startswith("["):
        try:
            content = parse_json(text)
        except ValueError as error:
            raise RefusedError("This is not a list in JSON.") from error
        parts = [str(part) for part in content]
    elif "\t" in text or "|" in text:
        parts = re.split(r"[\t|]", text)
    else:
        parts = _SENTENCE_END.split(text)
    return [part.strip() for part in parts if part.strip()]


def _broken_rule(values: Values, sentences: Sequence[str], known: Sequence[Story]) -> str:
    """The rule for variants that the sentences break; empty if they break none."""
    kind, number = values["type"], values["story_id"]
    base = next((s for s in known if s.story_id == number and s.plausible), None)
    if kind is None or base is None:
        return ""
    variant = replace(base, sentences=tuple(sentences))
    if any(s.story_id == number and s.sentences == variant.sentences for s in known):
        return "There is a variant with these very sentences."
    if kind == "order" and not is_swap(variant, base):
        return f"An order variant swaps two sentences of {base.example_id!r} and changes no other."
    if kind == "cloze" and not is_replacement(variant, base):
        return f"A cloze variant replaces one sentence of {base.example_id!r}."
    return ""


def _read_length(text: str, values: Values) -> int:
    number = _whole(text)
    if number != len(values["sentences"]):
        raise RefusedError(f"The story has {counted(len(values['sentences']), 'sentence')}.")
    return number


def _proposed_id(values: Values) -> str:
    letter = TYPE_LETTERS.get(values["type"])
    return f"{values['story_id']}" + (f"-{letter}{values['idx']}" if letter else "")


def _read_id(text: str, values: Values, known: Sequence[Story]) -> str:
    if text != _proposed_id(values):
        raise RefusedError(f"Story, type and variant make it {_proposed_id(values)!r}.")
    if text in {story.example_id for story in known}:
        raise RefusedError(f"There is a story {text!r} already.")
    return text


def _read_plausible(text: str, values: Values) -> bool:
    plausible = _read_bool(text, values)
    if plausible != (values["type"] is None):
        raise RefusedError("Stories without type are plausible, variants are not.")
    return plausible


def _read_breakpoint(text: str, values: Values) -> int:
    number = _whole(text, signed=True)
    n = len(values["sentences"])
    if values["plausible"]:
        if number != -1:
            raise RefusedError("A plausible story has no breakpoint: write -1.")
    elif not 0 < number < n:
        raise RefusedError(
            f"The sentence where the conflict shows is one of 1 to {n - 1}, counted from 0."
        )
    return number


def _read_conflict(text: str, values: Values) -> list[int]:
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    if not re.fullmatch(r"[\[\]\s,\d]*", text):
        raise RefusedError("Write the number of a sentence, or [].")
    if values["plausible"]:
        if numbers:
            raise RefusedError("In a plausible story nothing conflicts: write [].")
        return []
    if len(numbers) != 1 or not numbers[0] < values["breakpoint"]:
        raise RefusedError(f"Write one sentence before {values['breakpoint']}, the breakpoint.")
    return numbers


def _read_state(text: str, _values: Values) -> str:
    if text == "-":
        return ""
    if text not in STATES:
        raise RefusedError(f"There is no state {text!r}. {did_you_mean(text, STATES)}")
    return text


def _whole(text: str, *, signed: bool = False) -> int:
    if not re.fullmatch(r"-?\d+" if signed else r"\d+", text):
        raise RefusedError(f"{text!r} is not a whole number.")
    return int(text)


@dataclass(frozen=True, slots=True)
class StoryDialogue:
    """A recorded dialogue: field by field, as it was typed."""

    name: str
    typed: tuple[tuple[str, str], ...]


def known_stories(path: Path) -> tuple[Story, ...]:
    """The stories of a file; none where it is not there yet.

    Raises:
        CimentoError: the file is not a file of stories.
    """
    return read_stories(path).stories if path.exists() and path.stat().st_size else ()


def append(story: Story, path: Path) -> None:
    """Add a story to a file of JSONL, whole or not at all.

    Raises:
        StorageError: the file cannot be written.
    """
    before = path.read_bytes() if path.exists() else b""
    if before and not before.endswith(b"\n"):
        before += b"\n"
    write_bytes(before + line(story).encode(), path)


def append_timing(story: Story, session: DialogueSession, path: Path, *, annotator: str) -> None:
    """Record the time spent on a story, next to the stories.

    Raises:
        StorageError: the file cannot be written.
    """
    Log(timing_file(path)).append(
        {
            "example_id": story.example_id,
            "annotator": annotator,
            "seconds": round(session.seconds, 1),
            "lines": len(session.lines),
        }
    )


def timing_file(path: Path) -> Path:
    """The file of working times next to a file of stories."""
    return path.with_name(path.stem + ".timing.jsonl")


def story_session_file(path: Path) -> Path:
    """The log of an unfinished dialogue next to a file of stories."""
    return path.with_name(path.stem + ".unfinished.jsonl")


def read_recorded(path: Path) -> list[StoryDialogue]:
    """Dialogues out of a file: ``{"name": {"typed": [[field, line], ...]}, ...}``.

    Raises:
        InputError: it is no such file.
    """
    content = read_json(path)
    recorded = []
    for name, entry in content.items() if isinstance(content, dict) else ():
        typed = entry.get("typed") if isinstance(entry, dict) else None
        if typed is None:
            continue
        try:
            lines = tuple((str(field), str(text)) for field, text in typed)
        except (TypeError, ValueError) as error:
            raise InputError(
                where=f"{path}, dialogue {name!r}",
                seen="`typed` is not a list of pairs",
                todo="Write [field, line] for each line.",
            ) from error
        recorded.append(StoryDialogue(str(name), lines))
    if not recorded:
        raise InputError(
            where=str(path),
            seen="there is no dialogue in it",
            todo='Write {"name": {"typed": [["actor", "Marco"], ...]}}.',
        )
    return recorded


def play(recorded: StoryDialogue, known: Sequence[Story]) -> Story:
    """The story of a recorded dialogue.

    Args:
        recorded: what was typed.
        known: the stories that are there already.

    Raises:
        InputError: a line is refused, or a field is missing or out of order.
    """
    session = DialogueSession(story_fields(known))
    for field, text in recorded.typed:
        where = f"dialogue {recorded.name!r}, field {field!r}"
        if session.done or session.asked.name != field:
            asked = "nothing more" if session.done else repr(session.asked.name)
            raise InputError(where=where, seen=f"{asked} is asked here")
        try:
            session.feed(text)
        except RefusedError as error:
            raise InputError(where=where, seen=f"{text!r} is refused: {error}") from error
    if "confl_sents" not in session.state.values:
        raise InputError(
            where=f"dialogue {recorded.name!r}",
            seen="it ends before the story is whole",
            todo="Go on up to the conflicting sentence.",
        )
    return finished(session.state.values, row=len(known))
