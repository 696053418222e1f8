"""From suites of every kind to questions, those together that nobody may see two of."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import InputError, UsageError, did_you_mean
from cimento.judgments.records import NONE
from cimento.runs.store import MANIFEST
from cimento.suites.kinds import ACCEPTABILITY, kind_of
from cimento.surveys.design import Choice, Question, Source, Task
from cimento.surveys.wording import words

if TYPE_CHECKING:
    from cimento.suites.model import Item, Meta

GROUPS = ("phenomenon", "connective", "category", "dimension", "expression", "domain")
"""Columns that surveys are balanced over, unless another is named; the first that is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How questions are made.

    Attributes:
        task: what people do; empty for what is usual with that kind of suite.
        language: of the texts around; empty for that of the suite.
        balance: column that surveys are balanced over; empty for the first usual one.
        apart: column: of rows that share a value in it, nobody sees two.
        none: whether people can answer that nothing fits; None for as the suite says.
        limit: only the first items; None for all.
        seed: of the order of options.
    """

    task: Task | None = None
    language: str = ""
    balance: str = ""
    apart: str = ""
    none: bool | None = None
    limit: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What can be asked of a suite.

    Attributes:
        source: where it is from.
        language: of the texts around.
        task: what people do.
        sets: the questions; of those of one set nobody may see two.
        each: whether every member of a set is asked; if not, one of them is.
        none: whether people can answer that nothing fits.
        longest: lines of the longest question.
    """

    source: Source
    language: str
    task: Task
    sets: tuple[tuple[Question, ...], ...]
    each: bool = True
    none: bool = False

    @property
    def longest(self) -> int:
        """Lines of the longest question."""
        return max(len(each.lines) for members in self.sets for each in members)


_FEWEST = 2

_Sets: TypeAlias = list[tuple[Question, ...]]
_Joined: TypeAlias = tuple[tuple[Question, ...], ...]


def read_material(path: Path, wanted: Wanted) -> Material:
    """The questions of a suite, or of the candidates of a run of a cloze suite.

    Raises:
        InputError: it cannot be read, or holds nothing to ask.
        UsageError: it has no such column, or the task is not one for it.
    """
    from cimento.acceptability.suites import is_rated_table
    from cimento.stories.readers import is_stories

    if (path / MANIFEST).is_file():
        found = _candidates(path, wanted)
    elif kind_of(path) in {"cloze", "templates"}:
        found = _cloze(path, wanted)
    elif is_stories(path):
        found = _stories(path, wanted)
    else:
        rated = kind_of(path) == ACCEPTABILITY or is_rated_table(path)
        found = _sentences(path, wanted, rated=rated)
    if not found.sets:
        raise InputError(where=str(path), seen="there is nothing to ask", todo="Is it empty?")
    return replace(found, sets=_numbered(found.sets))


def _sentences(path: Path, wanted: Wanted, *, rated: bool) -> Material:
    """Ratings of each condition, or the choice between those of an item."""
    from cimento.acceptability.suites import load_rated
    from cimento.requests import stimulus_text
    from cimento.suites.load import LoadedSuite, load_suite

    loaded = load_rated(path).suite if rated else load_suite(path)
    suite = loaded.suite if isinstance(loaded, LoadedSuite) else loaded
    task = _task(wanted, "likert", "yesno", "choice")
    items = suite.items[: wanted.limit]
    rows = [condition.columns for item in items for condition in item.conditions]
    columns = _Columns(rows, wanted)
    sets: _Sets = []
    for item in items:
        texts = {each.name: stimulus_text(each, rule=suite.join) for each in item.conditions}
        if task == "choice":
            turns = _choice(item, texts, columns, where=f"{path}, item {item.id}")
            # Where sets are joined, an item has a fixed order: each member of a set is asked.
            fixed = len(sets) % len(turns)
            sets.append(turns[fixed : fixed + 1] if wanted.apart else turns)
        else:
            sets.append(_ratings(item, texts, columns))
    return Material(
        source=_source(suite.meta, loaded.sha256 if isinstance(loaded, LoadedSuite) else ""),
        language=_language(wanted, suite.meta.language),
        task=task,
        sets=_joined(sets),
        each=task != "choice" or bool(wanted.apart),
    )


def _ratings(item: Item, texts: Mapping[str, str], columns: _Columns) -> tuple[Question, ...]:
    """One question for each condition of an item."""
    return tuple(
        Question(
            id="",
            item=item.id,
            condition=each.name,
            candidate=texts[each.name],
            lines=(texts[each.name],),
            members=columns.members(each.columns, item.id),
            group=columns.group(each.columns),
        )
        for each in item.conditions
    )


def _choice(
    item: Item, texts: Mapping[str, str], columns: _Columns, *, where: str
) -> tuple[Question, ...]:
    """The choice between the conditions of an item, beginning with each of them in turn."""
    choices = tuple(Choice(text, text, name) for name, text in texts.items())
    _refuse_equal(choices, where)
    cells = item.conditions[0].columns
    return tuple(
        Question(
            id="",
            item=item.id,
            lines=(),
            choices=choices[turn:] + choices[:turn],
            members=columns.members(cells, item.id),
            group=columns.group(cells),
        )
        for turn in range(len(choices))
    )


def _cloze(path: Path, wanted: Wanted) -> Material:
    """The choice among the options of each item, in an order drawn by chance."""
    from cimento.cloze.load import load_cloze
    from cimento.cloze.templates import expand_suite

    loaded = load_cloze(path)
    items = expand_suite(loaded.suite).items[: wanted.limit]
    task = _task(wanted, "cloze")
    language = _language(wanted, loaded.suite.meta.language)
    none = Choice(NONE, words(language)["answers"]["none"])
    chance = random.Random(wanted.seed)  # noqa: S311  # no secret
    columns = _Columns([each.columns for each in items], wanted)
    sets: _Sets = []
    for item in items:
        if len(item.options) < _FEWEST:
            raise InputError(
                where=f"{path}, item {item.id}",
                seen="there are no options to choose between",
                todo="Run the suite with a model, and make a survey of that run's candidates.",
            )
        choices = [Choice(option.text, option.text) for option in item.options]
        chance.shuffle(choices)
        if item.none_option if wanted.none is None else wanted.none:
            choices.append(none)
        _refuse_equal(choices, f"{path}, item {item.id}")
        question = Question(
            id="",
            item=item.id,
            lines=(item.text,),
            choices=tuple(choices),
            members=columns.members(item.columns, item.id),
            group=columns.group(item.columns),
        )
        sets.append((question,))
    return Material(
        source=_source(loaded.suite.meta, loaded.sha256),
        language=language,
        task=task,
        sets=_joined(sets),
        none=any(none in question.choices for members in sets for question in members),
    )


def _stories(path: Path, wanted: Wanted) -> Material:
    """Stories; a story and its variants are members of one set."""
    from cimento.stories.readers import read_stories
    from cimento.suites.languages import language_code

    file = read_stories(path)
    stories = file.stories[: wanted.limit]
    rows = [{"domain": each.domain, "type": each.type or "plausible"} for each in stories]
    columns = _Columns(rows, wanted)
    sets: _Sets = [
        (
            Question(
                id="",
                item=str(story.row),
                lines=story.sentences,
                members=columns.members(row, str(story.story_id)),
                group=columns.group(row),
            ),
        )
        for story, row in zip(stories, rows, strict=True)
    ]
    return Material(
        source=_source(file.meta, file.sha256),
        language=_language(wanted, language_code(file.meta.language)),
        task=_task(wanted, "story"),
        sets=_joined(sets),
    )


def _candidates(path: Path, wanted: Wanted) -> Material:
    """What a model put into the blanks of a suite, each candidate of an item once."""
    from cimento.cloze.answers import ClozeAnswers
    from cimento.runs.run import open_run

    answers = ClozeAnswers(open_run(path))
    by_item = answers.by_method(next(iter(answers.methods), ""))
    items = answers.items[: wanted.limit]
    columns = _Columns([each.columns for each in items], wanted)
    sets: _Sets = [
        (
            Question(
                id="",
                item=item.id,
                candidate=text,
                lines=(item.filled(text),),
                mark=(len(item.before), len(item.before) + len(text)),
                members=columns.members(item.columns, f"{item.id}/{text}"),
                group=columns.group(item.columns),
            ),
        )
        for item in items
        for text in dict.fromkeys(each.text for each in by_item.get(item.id, []))
    ]
    return Material(
        source=_source(answers.suite.meta, ""),
        language=_language(wanted, answers.suite.meta.language),
        task=_task(wanted, "candidate"),
        sets=_joined(sets),
    )


class _Columns:
    """The free columns of a suite: what surveys are balanced over, and what is kept apart."""

    def __init__(self, rows: Sequence[Mapping[str, str]], wanted: Wanted) -> None:
        names = list(dict.fromkeys(name for row in rows for name in row))
        for flag, name in (("--balance", wanted.balance), ("--apart", wanted.apart)):
            if name and name not in names:
                raise UsageError(
                    where=f"{flag} {name}",
                    seen="the suite has no such column",
                    todo=did_you_mean(name, names),
                )
        usual = next((name for name in GROUPS if name in names), "")
        self._balance = wanted.balance or usual
        self._apart = wanted.apart

    def group(self, row: Mapping[str, str]) -> str:
        return row.get(self._balance, "")

    def members(self, row: Mapping[str, str], otherwise: str) -> str:
        return row.get(self._apart, "") or otherwise


def _joined(sets: Iterable[tuple[Question, ...]]) -> _Joined:
    """Sets that share members as one."""
    found: dict[str, list[Question]] = {}
    for questions in sets:
        found.setdefault(questions[0].members, []).extend(questions)
    return tuple(tuple(questions) for questions in found.values())


def _numbered(sets: Iterable[tuple[Question, ...]]) -> tuple[tuple[Question, ...], ...]:
    numbered = []
    count = 0
    for members in sets:
        numbered.append(
            tuple(replace(each, id=f"q{count + n}") for n, each in enumerate(members, start=1))
        )
        count += len(members)
    return tuple(numbered)


def _task(wanted: Wanted, *possible: Task) -> Task:
    if wanted.task is None:
        return possible[0]
    if wanted.task not in possible:
        raise UsageError(
            where=f"--task {wanted.task}",
            seen="it is not a task for this kind of suite",
            todo=f"Choose {' or '.join(possible)}.",
        )
    return wanted.task


def _language(wanted: Wanted, language: str) -> str:
    """The language of the texts around; UsageError where there are no words in it."""
    chosen = wanted.language or language
    words(chosen)
    return chosen


def _refuse_equal(choices: Sequence[Choice], where: str) -> None:
    if len({each.value for each in choices}) < max(len(choices), _FEWEST):
        raise InputError(
            where=where,
            seen="there are not two different answers to choose from",
            todo="Correct the item, or choose another task.",
        )


def _source(meta: Meta, sha256: str) -> Source:
    return Source(meta.name, meta.version, sha256, meta.licence, meta.citation, meta.status)
