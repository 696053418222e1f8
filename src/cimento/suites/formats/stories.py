"""The files of stories: GITA4CALAMITA JSONL, GITA v1 JSON, and suite folders, read and written."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field
from pydantic import JsonValue as AnyJson

from cimento.errors import Fault, InputError, SuiteError, did_you_mean
from cimento.faults import errors, fault
from cimento.intake.decoding import decode, unusable
from cimento.io.clusters import columns_said
from cimento.io.files import read_bytes, write_text
from cimento.io.parsing import parse_json, parse_toml, unpack_gzip
from cimento.suites import JsonValue, Meta
from cimento.suites.builtin import kind_of
from cimento.suites.formats.native import meta_table
from cimento.suites.load import unfolded
from cimento.suites.reading import TOML, sha256_of
from cimento.suites.schema import Open, as_json_value
from cimento.suites.settings import META_KEYS, key_faults
from cimento.suites.stories import Nested, SentenceStates, Story, StoryFormat, StorySuite
from cimento.suites.story_clusters import columns_of, in_story_clusters


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Entry = Annotated[tuple[str, int], BeforeValidator(_tuple)]


def _numbers_only(value: object) -> object:
    """Refuse what is not a whole number in nested lists."""
    if isinstance(value, list) and not all(map(_is_number, value)):
        raise ValueError("Whole numbers should be here, in lists")
    return value


def _is_number(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_number, value))
    return isinstance(value, int) and not isinstance(value, bool)


NestedNumbers = Annotated[list[AnyJson], BeforeValidator(_numbers_only)]
Block = dict[str, list[Entry]]
_Record = Mapping[str, JsonValue]


class StoryRow(Open):
    """A record of GITA4CALAMITA or of GITA v1."""

    story_id: int
    worker_id: str = ""
    type: Literal["order", "cloze"] | None
    idx: int | None = None
    aug: bool = False
    actor: str = ""
    location: str = ""
    objects: str = ""
    sentences: list[str]
    length: int = 5
    example_id: str
    plausible: bool
    breakpoint: int
    confl_sents: NestedNumbers = Field(default_factory=list)
    confl_pairs: NestedNumbers = Field(default_factory=list)
    states: str | list[Block] = ""
    sentence_states: list[Block] = Field(default_factory=list)
    domain: str = ""


KIND = "stories"
ITEMS = "items.jsonl"
V1_TOP = "test"
_SAME = (
    "story_id", "type", "idx", "aug", "actor", "location", "objects", "length", "example_id",
    "plausible", "breakpoint", "worker_id", "domain",
)  # fmt: skip
"""Fields of a record that a story has as they are."""
_WRITTEN = (
    "story_id", "worker_id", "type", "idx", "aug", "actor", "location", "objects", "sentences",
    "length", "example_id", "plausible", "breakpoint",
)  # fmt: skip
"""The first fields of the published files, in their order."""
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
            ``kind = "stories"``, a file in such a folder, or a workbook that stands for one.

    Raises:
        InputError: the file does not exist or may not be read.
        SuiteError: a record lacks a field, or has one of the wrong kind.
    """
    with unfolded(path) as place:
        if place != path:
            return replace(_read_folder(place), path=path)
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
        stories=stories_of(records, keys=keys, places=places, path=path),
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
    faults += key_faults(settings)
    if text is None or errors(faults):
        raise unusable(folder, faults)
    places, records = _lines(text, path=folder / ITEMS)
    suite = StorySuite(
        meta=_meta(settings.get("meta"), name=folder.name),
        stories=stories_of(records, keys=[""] * len(records), places=places, path=folder / ITEMS),
        format="native",
        path=folder,
        sha256=sha256_of(toml, data),
        places=tuple(places),
    )
    return _in_declared_clusters(suite, settings)


def _in_declared_clusters(suite: StorySuite, settings: Mapping[str, object]) -> StorySuite:
    """The suite with the clusters of ``[options]`` of suite.toml.

    Raises:
        SuiteError: no story has such a column.
    """
    options = settings.get("options")
    declared = options.get("cluster") if isinstance(options, dict) else None
    columns = [str(name) for name in declared] if isinstance(declared, list) else []
    columns = [declared] if isinstance(declared, str) and declared else columns
    known = columns_of(suite.stories)
    for name in columns:
        if name not in known:
            seen, todo = f"The stories have no key {name!r}.", did_you_mean(name, known)
            raise unusable(suite.path, [fault("CIM-S032", where=TOML, seen=seen, todo=todo)])
    return in_story_clusters(suite, columns) if columns else suite


def _meta(table: object, *, name: str) -> Meta:
    """``[meta]`` of suite.toml; what is not text where one should stand is kept as it is."""
    content = as_json_value(table) if isinstance(table, dict) else {}
    meta = content if isinstance(content, dict) else {}
    texts = {key: meta[key] for key in META_KEYS if isinstance(meta.get(key), str)}
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


def stories_of(
    records: Sequence[object], *, keys: Sequence[str], places: Sequence[str], path: Path
) -> tuple[Story, ...]:
    """The stories that records of a file are.

    Args:
        records: as JSON has them.
        keys: by which the file names each; empty where it names none.
        places: where each is in the file, for messages.
        path: of the file.

    Raises:
        SuiteError: a record lacks a field, or has one of the wrong kind.
    """
    from cimento.suites.schema import validate

    stories: list[Story] = []
    faults: list[Fault] = []
    for row, (record, key, place) in enumerate(zip(records, keys, places, strict=True)):
        checked, row_faults = validate(StoryRow, record, where=f"{path.name} {place}")
        faults += row_faults
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
        key=key,
        sentences=tuple(record.sentences),
        confl_sents=_nested(record.confl_sents),
        confl_pairs=_nested(record.confl_pairs),
        state=label,
        sentence_states=tuple(
            SentenceStates({name: tuple(entries) for name, entries in block.items()})
            for block in blocks
        ),
        extra=record.rest(),
        **{name: getattr(record, name) for name in _SAME},
    )


def _nested(values: Sequence[Any]) -> tuple[Nested, ...]:
    return tuple(_nested(value) if isinstance(value, list) else value for value in values)


def write_jsonl(stories: Sequence[Story], path: Path) -> Path:
    """Write GITA4CALAMITA JSONL, one story a line; states per sentence as ``sentence_states``.

    Raises:
        StorageError: the file cannot be written.
    """
    return write_text("".join(line(story) for story in stories), path)


def write_v1(stories: Sequence[Story], path: Path) -> Path:
    """Write GITA v1 JSON: ``{"test": {key: record}}``, with the states of each sentence.

    Raises:
        InputError: two stories would have the same key, so that one would be lost.
        StorageError: the file cannot be written.
    """
    records: dict[str, JsonValue] = {}
    for story in stories:
        key = story.key or story.example_id
        if key in records:
            raise InputError(
                where=f"story in row {story.row}",
                seen=f"the key {key!r} is already taken by another story",
                todo="Give every story an example_id of its own, or write JSONL.",
            )
        records[key] = record(story, v1=True)
    text = json.dumps({V1_TOP: records}, ensure_ascii=False)
    return write_text(text, path)


def line(story: Story) -> str:
    """One story as a line of JSONL."""
    return json.dumps(record(story), ensure_ascii=False) + "\n"


def record(story: Story, *, v1: bool = False) -> dict[str, JsonValue]:
    """One story with the fields of the published files, in their order.

    Args:
        story: what to write.
        v1: write the states of each sentence as ``states``, as GITA v1 does, and no label.
    """
    blocks: list[JsonValue] = [
        {name: [[*entry] for entry in entries] for name, entries in block.entries.items()}
        for block in story.sentence_states
    ]
    written: dict[str, JsonValue] = {name: getattr(story, name) for name in _WRITTEN}
    written |= {
        "sentences": list(story.sentences),
        "confl_sents": _lists(story.confl_sents),
        "confl_pairs": _lists(story.confl_pairs),
        "states": blocks if v1 else story.state,
    }
    if blocks and not v1:
        written["sentence_states"] = blocks
    if story.domain:
        written["domain"] = story.domain
    return {**written, **story.extra}


def _lists(nested: Sequence[Nested]) -> list[JsonValue]:
    return [part if isinstance(part, int) else _lists(part) for part in nested]


def write_folder(stories: Sequence[Story], folder: Path, *, name: str, language: str) -> Path:
    """Write a suite folder of the kind ``stories``, to be completed by hand.

    Raises:
        StorageError: the folder cannot be written.
    """
    meta: JsonValue = {"name": name, "version": "0.1.0", "language": language, "license": ""}
    return _write({"meta": meta}, stories, folder)


def write_suite(suite: StorySuite, folder: Path) -> Path:
    """Write a suite folder of the kind ``stories``.

    Raises:
        StorageError: the folder cannot be written.
    """
    settings: dict[str, JsonValue] = {"meta": {**meta_table(suite.meta), **suite.meta.extra}}
    if suite.cluster:
        settings["options"] = {"cluster": cast("JsonValue", columns_said(suite.cluster))}
    return _write(settings, suite.stories, folder)


def _write(settings: _Record, stories: Sequence[Story], folder: Path) -> Path:
    import tomli_w

    write_text(tomli_w.dumps({"kind": KIND, **settings}), folder / TOML)
    write_jsonl(stories, folder / ITEMS)
    return folder


def lost_in_v1(stories: Sequence[Story]) -> int:
    """The number of stories with a state of the whole story, which GITA v1 cannot hold."""
    return sum(bool(story.state) for story in stories)
