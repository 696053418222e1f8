"""From stories to files: GITA4CALAMITA JSONL, GITA v1 JSON, and lines of a suite folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from cimento.errors import InputError
from cimento.io.files import write_text
from cimento.stories.readers import ITEMS, KIND, TOML, V1_TOP
from cimento.stories.records import Nested, SentenceStates, Story, StorySuite
from cimento.suites.model import JsonValue, Meta


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
    blocks: list[JsonValue] = [_block(block) for block in story.sentence_states]
    written: dict[str, JsonValue] = {
        "story_id": story.story_id,
        "worker_id": story.worker_id,
        "type": story.type,
        "idx": story.idx,
        "aug": story.aug,
        "actor": story.actor,
        "location": story.location,
        "objects": story.objects,
        "sentences": list(story.sentences),
        "length": story.length,
        "example_id": story.example_id,
        "plausible": story.plausible,
        "breakpoint": story.breakpoint,
        "confl_sents": _lists(story.confl_sents),
        "confl_pairs": _lists(story.confl_pairs),
        "states": blocks if v1 else story.state,
    }
    if blocks and not v1:
        written["sentence_states"] = blocks
    if story.domain:
        written["domain"] = story.domain
    return {**written, **story.extra}


def _block(block: SentenceStates) -> JsonValue:
    return {
        attribute: [[entity, code] for entity, code in entries]
        for attribute, entries in block.entries.items()
    }


def _lists(nested: Sequence[Nested]) -> list[JsonValue]:
    return [each if isinstance(each, int) else _lists(each) for each in nested]


def write_folder(stories: Sequence[Story], folder: Path, *, name: str, language: str) -> Path:
    """Write a suite folder of the kind ``stories``, to be completed by hand.

    Raises:
        StorageError: the folder cannot be written.
    """
    import tomli_w

    settings = {
        "kind": KIND,
        "meta": {"name": name, "version": "0.1.0", "language": language, "licence": ""},
    }
    write_text(tomli_w.dumps(settings), folder / TOML)
    write_jsonl(stories, folder / ITEMS)
    return folder


def meta_table(meta: Meta) -> dict[str, JsonValue]:
    """``[meta]`` of suite.toml: what is known of a suite."""
    known = {name: value for name, value in asdict(meta).items() if name != "extra" and value}
    tags: dict[str, JsonValue] = {"tags": list(meta.tags)} if meta.tags else {}
    return {**known, **tags, **meta.extra}


def write_suite(suite: StorySuite, folder: Path) -> Path:
    """Write a suite folder of the kind ``stories``.

    Raises:
        StorageError: the folder cannot be written.
    """
    import tomli_w

    write_text(tomli_w.dumps({"kind": KIND, "meta": meta_table(suite.meta)}), folder / TOML)
    write_jsonl(suite.stories, folder / ITEMS)
    return folder


def lost_in_v1(stories: Sequence[Story]) -> int:
    """How many stories have a state of the whole story, which GITA v1 cannot hold."""
    return sum(bool(story.state) for story in stories)
