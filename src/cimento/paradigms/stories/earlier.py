"""Runs of stories that version 0.1 stored, read as tables of requests and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.errors import TableError
from cimento.io.files import read_bytes
from cimento.io.parsing import faults_of
from cimento.io.tables import (
    CHOICES,
    REPLIES,
    REQUESTS,
    STORY_CHOICES,
    STORY_REPLIES,
    find_table,
)
from cimento.paradigms.stories.answers import AnswerOptions, tier_options
from cimento.paradigms.stories.options import StoryOptions
from cimento.paradigms.stories.rounds import questions_of
from cimento.suites import JsonValue
from cimento.suites.stories import TIERS, StorySuite, Tier

if TYPE_CHECKING:
    import polars as pl

    from cimento.records.store import RunFolder

QUESTIONS = "questions.jsonl"


@dataclass(slots=True)
class _Tables:
    """Requests and answers of a suite as they are read."""

    suite: str
    requests: list[tuple[object, ...]] = field(default_factory=list)
    choices: list[tuple[object, ...]] = field(default_factory=list)
    replies: list[tuple[object, ...]] = field(default_factory=list)

    def request(self, item: str | None, condition: str) -> int:
        """The number of a further request; version 0.1 did not keep the prompts."""
        number = len(self.requests)
        self.requests.append((number, self.suite, item, condition, 1, "", "", 0, 0, True))
        return number

    def frames(self) -> dict[str, pl.DataFrame]:
        """The requests, and the choices and replies if there are any."""
        import polars as pl

        tables = ((REQUESTS, self.requests), (CHOICES, self.choices), (REPLIES, self.replies))
        return {
            schema.name: pl.DataFrame(rows, schema=schema.polars(), orient="row")
            for schema, rows in tables
            if rows or schema is REQUESTS
        }


def earlier_tables(
    folder: RunFolder, suite: StorySuite, options: StoryOptions
) -> dict[str, pl.DataFrame]:
    """The tables of a run of version 0.1.

    Args:
        folder: of the run.
        suite: that was asked about, as far as it was.
        options: how it was asked.

    Raises:
        TableError: they cannot be read.
    """
    tables = _Tables(suite.name)
    if (folder.path / QUESTIONS).is_file():
        _questions(folder, suite, options, tables)
        return tables.frames()
    choices, replies = (
        find_table(STORY_CHOICES, folder.path),
        find_table(STORY_REPLIES, folder.path),
    )
    by_key = choices.rows_by_key(["item", "condition"], named=True) if choices is not None else {}
    for tier in TIERS:
        known = tier_options(tier, suite, options)
        items = [(item, rows) for (item, condition), rows in by_key.items() if condition == tier]
        for item, rows in items:
            _chosen(tables.request(item, tier), rows, known, tables)
        if items and options.norm == "pmi":
            _without_story(items[0][1], tier, known, tables)
    for row in replies.iter_rows(named=True) if replies is not None else ():
        number = tables.request(row["item"], row["condition"])
        tables.replies.append((number, row["text"], row["stop_reason"]))
    return tables.frames()


def _chosen(
    number: int, rows: list[dict[str, object]], known: AnswerOptions, tables: _Tables
) -> None:
    by_label = {row["option"]: row for row in rows}
    for option, label in enumerate(known.labels):
        row = by_label.get(label)
        if row is None:
            raise TableError(
                where="choices.parquet", seen=f"there is no option {label!r}", todo="Run again."
            )
        values = (row[name] for name in ("word", "logprob_nats", "n_tokens", "is_greedy"))
        tables.choices.append((number, option, *values))


def _without_story(
    rows: list[dict[str, object]], tier: Tier, known: AnswerOptions, tables: _Tables
) -> None:
    """The answer to the question without a story, by which every value was corrected."""
    number = tables.request(None, tier)
    by_label = {row["option"]: row for row in rows}
    for option, (label, word) in enumerate(zip(known.labels, known.words, strict=True)):
        row = by_label[label]
        nats, value = row["logprob_nats"], row["value_nats"]
        difference = nats - value if isinstance(nats, float) and isinstance(value, float) else None
        tables.choices.append((number, option, word, difference, None, None))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLine:
    """An answer to an additional question, as far as version 0.1 kept it.

    Attributes:
        about: what of the story, see `cimento.paradigms.stories.rounds.Question`.
        logprobs_nats: what options were compared by; None where the model wrote a reply.
        reply: what it wrote.
    """

    about: str
    logprobs_nats: tuple[float, ...] | None = None
    reply: str | None = None


def read_question_lines(path: Path) -> list[QuestionLine]:
    """The answers to additional questions that version 0.1 kept.

    Raises:
        InputError: the file may not be read.
        TableError: it is damaged.
    """
    from pydantic import TypeAdapter, ValidationError

    adapter = TypeAdapter(QuestionLine)
    lines = []
    for number, line in enumerate(read_bytes(path).splitlines(), start=1):
        try:
            lines.append(adapter.validate_json(line))
        except ValidationError as error:
            place, message = faults_of(error)[0]
            where = f"{path} line {number} {place}".rstrip()
            raise TableError(
                where=where, seen=f"cannot be read ({message})", todo="Run again."
            ) from error
    return lines


def _questions(
    folder: RunFolder, suite: StorySuite, options: StoryOptions, tables: _Tables
) -> None:
    """The additional questions; of their options only the values compared were kept."""
    path = folder.path / QUESTIONS
    lines = read_question_lines(path)
    questions = questions_of(suite.asked, suite, options)
    known = [(question.about, len(question.words)) for question in questions]
    if known != [
        (line.about, len(question.words if line.logprobs_nats is None else line.logprobs_nats))
        for line, question in zip(lines, questions, strict=False)
    ] or len(lines) != len(known):
        raise TableError(
            where=str(path), seen="it is not about the stories of the run", todo="Run again."
        )
    for line, question in zip(lines, questions, strict=True):
        number = tables.request(str(question.story.row), question.about)
        if line.logprobs_nats is None:
            tables.replies.append((number, line.reply, None))
            continue
        for option, (value, word) in enumerate(
            zip(line.logprobs_nats, question.words, strict=True)
        ):
            # By characters, the sum can be had back; by tokens, it counts as that of one token.
            nats = value * (len(word) if options.norm == "char" else 1)
            n_tokens = 1 if options.norm == "token" else None
            tables.choices.append((number, option, word, nats, n_tokens, None))


def earlier_options(manifest: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The options of a run that version 0.1 stored, under the names that they have now."""
    stored = _table(manifest.get("stories"))
    style, shots = _table(stored.get("style")), _table(stored.get("shots"))
    prompt, judging = _table(manifest.get("prompt")), _table(manifest.get("options"))
    names = ("task", "protocol", "answer", "norm", "chat", "system", "shots_as", "max_tokens")
    defined = style.get("definitions")
    definitions = ("yes" if defined else "no") if isinstance(defined, bool) else None
    given: dict[str, JsonValue | None] = {
        **{name: stored.get(name) for name in (*names, "corrections")},
        **{name: style.get(name) for name in ("order", "order_seed", "numbering", "newlines")},
        "definitions": definitions,
        "shots": shots.get("n"),
        "shots_mode": shots.get("mode"),
        "shots_seed": shots.get("seed"),
        "prompt": prompt.get("id"),
        "seed": judging.get("seed"),
    }
    return {name: value for name, value in given.items() if value is not None}


def _table(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, dict) else {}
