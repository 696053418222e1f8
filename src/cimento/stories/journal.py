"""What was answered, line by line, so that a run that was stopped asks nothing twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import UnionType

from cimento.errors import StorageError
from cimento.parsing import parse_json
from cimento.stories.asking import Record, TierAsk

Key = tuple[str, int, str]


class Journal:
    """A file of answers, one JSON object a line, written as they come.

    Args:
        path: the file; need not exist. None keeps answers in memory.

    Raises:
        StorageError: it cannot be read.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[Key, Record] = {}
        if path is not None and path.exists():
            for record in _read(path):
                self._known[_key(record)] = record

    def __contains__(self, ask: TierAsk) -> bool:
        """Whether the very prompt was answered."""
        return ask.key in self._known

    def of(self, ask: TierAsk) -> Record:
        """The answer to a prompt that was answered."""
        return self._known[ask.key]

    def keep(self, records: Iterable[Record]) -> Iterator[Record]:
        """Write answers down; each is handed on once it is on the disk.

        Raises:
            StorageError: the file cannot be written.
        """
        for record in records:
            self._known[_key(record)] = record
            if self._path is not None:
                _append(record, self._path)
            yield record


def _key(record: Record) -> Key:
    row = record.get("doc")
    return (
        str(record.get("task")),
        row if isinstance(row, int) else 0,
        str(record.get("prompt_sha256")),
    )


def _read(path: Path) -> Iterator[Record]:
    """The whole lines; a last one that was cut short is passed over."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise _failure(path, error) from error
    for line in text.split("\n"):
        try:
            record = parse_json(line)
        except ValueError:
            continue
        if isinstance(record, dict) and _is_whole(record):
            yield record


def _is_whole(record: Record) -> bool:
    """Whether the values of a record are such as are written; a damaged one is asked again."""
    said = (record.get(name) for name in ("label", "reply", "reason"))
    texts = all(isinstance(each, str | None) for each in said)
    nats, tokens, options = (record.get(name) for name in ("nats", "tokens", "options"))
    if nats is None:
        return texts
    return (
        texts
        and isinstance(nats, list)
        and isinstance(tokens, list)
        and isinstance(options, list)
        and isinstance(record.get("greedy"), list | None)
        and len(nats) == len(tokens) == len(options)
        and all(_holds(row, int | float) for row in nats)
        and all(_holds(row, str) for row in tokens)
    )


def _holds(row: object, kind: type | UnionType) -> bool:
    return isinstance(row, list) and all(isinstance(each, kind) for each in row)


def _append(record: Record, path: Path) -> None:
    # A line of its own even after one that was cut short.
    text = "\n" + json.dumps(record, ensure_ascii=False)
    try:
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise _failure(path, error) from error


def _failure(path: Path, error: OSError) -> StorageError:
    return StorageError(
        where=str(path),
        seen=f"cannot be used ({error.strerror or error})",
        todo="Choose another folder with --output, or free some space.",
    )
