"""From files to stories: GITA4CALAMITA JSONL, GITA v1 JSON, and suite folders of kind stories."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import Fault, InputError, SuiteError
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json, parse_toml, unpack_gzip
from cimento.stories.records import Nested, SentenceStates, Story, StoryFormat, StorySuite
from cimento.suites.faults import errors, fault
from cimento.suites.kinds import kind_of
from cimento.suites.model import Meta
from cimento.suites.reading import decode, sha256_of, unusable
from cimento.suites.schema import plain

if TYPE_CHECKING:
    from cimento.stories.schema import Block, StoryRow


KIND = "stories"
TOML = "suite.toml"
ITEMS = "items.jsonl"
V1_TOP = "test"
_TEXTS = tuple(each.name for each in fields(Meta) if each.name not in ("tags", "extra"))
_SMALLEST = 1 << 16
_FIRST_KEYS = (b'"sentences"', b'"plausible"')


def is_stories(path: Path) -> bool:
    """Whether a path holds stories: a folder of that kind, or a file with their fields."""
    folder = path.parent if path.name in {TOML, ITEMS} else path
    if kind_of(folder) == KIND:
        return True
    if not path.is_file() or not _suffixes(path) & {".json", ".jsonl"}:
        return False
    head = _content(path)[:_SMALLEST]
    return all(key in head for key in _FIRST_KEYS)


def read_stories(path: Path) -> StorySuite:
    """Read stories as they are, with whatever is wrong in them; `audit` says what that is.

    Args:
        path: GITA4CALAMITA JSONL, GITA v1 JSON (either may be gzipped), a suite folder with
            ``kind = "stories"``, or a file in such a folder.

    Raises:
        InputError: the file does not exist or may not be read.
        SuiteError: a record lacks a field, or has one of the wrong kind.
    """
    folder = path.parent if path.name in {TOML, ITEMS} else path
    if folder.is_dir():
        if (folder / TOML).is_file():
            return _read_folder(folder)
        raise InputError(
            where=str(path), seen=f"is a folder without {TOML}", todo="Name a file of stories."
        )
    data = _content(path)
    text, faults = decode(data, name=path.name)
    if text is None:
        raise unusable(path, faults)
    if ".jsonl" in _suffixes(path):
        places, records = _lines(text, path=path)
        format_: StoryFormat = "gita4calamita"
        keys = [""] * len(records)
    else:
        keys, records = _keyed(text, path=path)
        format_, places = "gita-v1", [f"record {key!r}" for key in keys]
    return StorySuite(
        meta=Meta(path.name.split(".")[0]),
        stories=_stories(records, keys=keys, places=places, path=path),
        format=format_,
        path=path,
        sha256=sha256_of(data),
        places=tuple(places),
    )


def _read_folder(folder: Path) -> StorySuite:
    toml, data = read_bytes(folder / TOML), read_bytes(folder / ITEMS)
    try:
        settings = parse_toml(toml.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise unusable(
            folder, [fault("CIM-S002", where=TOML, seen=f"Not TOML: {error}.", todo="Correct it.")]
        ) from error
    text, faults = decode(data, name=ITEMS)
    if text is None:
        raise unusable(folder, faults)
    places, records = _lines(text, path=folder / ITEMS)
    return StorySuite(
        meta=_meta(settings.get("meta"), name=folder.name),
        stories=_stories(records, keys=[""] * len(records), places=places, path=folder / ITEMS),
        format="native",
        path=folder,
        sha256=sha256_of(toml, data),
        places=tuple(places),
    )


def _meta(table: object, *, name: str) -> Meta:
    """``[meta]`` of suite.toml; what is no text where one should stand is kept as it is."""
    found = plain(table) if isinstance(table, dict) else {}
    meta = found if isinstance(found, dict) else {}
    texts = {key: meta[key] for key in _TEXTS if isinstance(meta.get(key), str)}
    tags = meta.get("tags")
    known = {"name": name, **texts, "tags": tuple(map(str, tags)) if isinstance(tags, list) else ()}
    rest = {key: value for key, value in meta.items() if key not in known}
    return Meta(**known, extra=rest)  # type: ignore[arg-type]  # texts, seen above


def _suffixes(path: Path) -> set[str]:
    return {suffix.lower() for suffix in path.suffixes}


def _content(path: Path) -> bytes:
    data = read_bytes(path)
    if ".gz" not in _suffixes(path):
        return data
    return unpack_gzip(data, where=str(path))


def _lines(text: str, *, path: Path) -> tuple[list[str], list[object]]:
    """The records of JSONL and where each stands."""
    places, records = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(parse_json(line))
        except ValueError as error:
            seen = f"The line is not JSON: {error}."
            where = f"{path.name} line {number}"
            raise unusable(path, [fault("CIM-S002", where=where, seen=seen)]) from error
        places.append(f"line {number}")
    if not records:
        raise unusable(path, [fault("CIM-S005", where=path.name, seen="There are no stories.")])
    return places, records


def _keyed(text: str, *, path: Path) -> tuple[list[str], list[object]]:
    """The records of ``{"test": {key: record}}`` and their keys."""
    try:
        parsed = parse_json(text)
    except ValueError as error:
        seen = f"The file is not JSON: {error}."
        raise unusable(path, [fault("CIM-S002", where=path.name, seen=seen)]) from error
    records = parsed.get(V1_TOP) if isinstance(parsed, dict) else None
    if not isinstance(records, dict) or not records:
        seen = f'The file is not of the form {{"{V1_TOP}": {{key: record, ...}}}}.'
        todo = "GITA v1 has this form; GITA4CALAMITA is a .jsonl file."
        raise unusable(path, [fault("CIM-S003", where=path.name, seen=seen, todo=todo)])
    return list(records), list(records.values())


def _stories(
    records: Sequence[object], *, keys: Sequence[str], places: Sequence[str], path: Path
) -> tuple[Story, ...]:
    from cimento.stories.schema import StoryRow
    from cimento.suites.schema import validate

    stories: list[Story] = []
    faults: list[Fault] = []
    for row, (record, key, place) in enumerate(zip(records, keys, places, strict=True)):
        checked, found = validate(StoryRow, record, where=f"{path.name} {place}")
        faults += found
        if checked is not None:
            stories.append(_story(checked, row=row, key=key))
    if errors(faults):
        raise SuiteError(where=str(path), faults=faults)
    return tuple(stories)


def _story(record: StoryRow, *, row: int, key: str) -> Story:
    label = record.states if isinstance(record.states, str) else ""
    blocks = record.sentence_states if isinstance(record.states, str) else record.states
    return Story(
        row=row,
        story_id=record.story_id,
        type=record.type,
        example_id=record.example_id,
        sentences=tuple(record.sentences),
        plausible=record.plausible,
        breakpoint=record.breakpoint,
        confl_sents=_nested(record.confl_sents),
        confl_pairs=_nested(record.confl_pairs),
        state=label,
        sentence_states=tuple(_block(block) for block in blocks),
        idx=record.idx,
        aug=record.aug,
        actor=record.actor,
        location=record.location,
        objects=record.objects,
        length=record.length,
        worker_id=record.worker_id,
        domain=record.domain,
        key=key,
        extra=record.rest(),
    )


def _block(block: Block) -> SentenceStates:
    return SentenceStates({attribute: tuple(entries) for attribute, entries in block.items()})


def _nested(values: Sequence[object]) -> tuple[Nested, ...]:
    """Nested lists of whole numbers as tuples; what is no number is left out."""
    return tuple(_numbers(values))


def _numbers(values: Sequence[object]) -> Iterator[Nested]:
    for value in values:
        if isinstance(value, list):
            yield tuple(_numbers(value))
        elif isinstance(value, int) and not isinstance(value, bool):
            yield value
