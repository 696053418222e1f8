"""Files of stories written in a dialogue: each story whole, and the time that it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.io.files import read_bytes, write_bytes
from cimento.io.log import Log
from cimento.io.parsing import parse_json
from cimento.paradigms.stories.formats import line, read_stories
from cimento.paradigms.stories.suite import Story
from cimento.people.annotate.dialogue import DialogueSession, RefusedError, Values
from cimento.people.annotate.stories import enough, finished, story_fields


@dataclass(frozen=True, slots=True)
class Recorded:
    """A dialogue that was written down: field by field, as it was typed."""

    name: str
    typed: tuple[tuple[str, str], ...]


def known_stories(path: Path) -> tuple[Story, ...]:
    """The stories of a file; none where it is not there yet.

    Raises:
        CimentoError: the file is no file of stories.
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
    """Write down how long a story took, beside the stories.

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
    """Where the times of a file of stories stand."""
    return path.with_name(path.stem + ".timing.jsonl")


def story_session_file(path: Path) -> Path:
    """Where a dialogue stands that was left before its end."""
    return path.with_name(path.stem + ".unfinished.jsonl")


def read_recorded(path: Path) -> list[Recorded]:
    """Dialogues out of a file: ``{"name": {"typed": [[field, line], ...]}, ...}``.

    Raises:
        InputError: it is no such file.
    """
    try:
        content = parse_json(read_bytes(path))
    except ValueError as error:
        raise InputError(where=str(path), seen=f"is not JSON ({error})") from error
    found = []
    for name, entry in content.items() if isinstance(content, dict) else ():
        typed = entry.get("typed") if isinstance(entry, dict) else None
        if typed is None:
            continue
        try:
            lines = tuple((str(field), str(text)) for field, text in typed)
        except (TypeError, ValueError) as error:
            raise InputError(
                where=f"{path}, dialogue {name!r}",
                seen="`typed` is no list of pairs",
                todo="Write [field, line] for each line.",
            ) from error
        found.append(Recorded(str(name), lines))
    if not found:
        raise InputError(
            where=str(path),
            seen="there is no dialogue in it",
            todo='Write {"name": {"typed": [["actor", "Marco"], ...]}}.',
        )
    return found


def play(recorded: Recorded, known: Sequence[Story]) -> Story:
    """The story that a recorded dialogue makes.

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
    return _whole(session.state.values, recorded.name, row=len(known))


def _whole(values: Values, name: str, *, row: int) -> Story:
    if not enough(values):
        raise InputError(
            where=f"dialogue {name!r}",
            seen="it ends before the story is whole",
            todo="Go on up to the conflicting sentence.",
        )
    return finished(values, row=row)
