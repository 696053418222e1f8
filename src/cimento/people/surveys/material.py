"""Tasks of surveys, and questions made from suites of every kind.

Questions are in sets, of which nobody may see two members.
"""

from __future__ import annotations

import itertools
import random
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

from cimento.errors import InputError, UsageError, counted, need_known
from cimento.faults import UNUSABLE_NAME
from cimento.judgments import (
    ACCEPTABILITY,
    ACCEPTABLE,
    BETTER,
    COMPREHENSION,
    FITS,
    MAZE,
    NONE,
    READING,
    WHICH_FITS,
)
from cimento.kinds.base import TIMED_TASKS, SurveyItem, SurveyItems, SurveyTask
from cimento.kinds.paradigm import surveyor_of
from cimento.kinds.registry import LoadedSuite, load_suite, read_all
from cimento.kinds.run import open_run
from cimento.people.surveys import (
    AnswerChoice,
    SuiteSource,
    SurveyField,
    SurveyQuestion,
)
from cimento.people.surveys.labels import fillers_apart, labels_of_items
from cimento.people.surveys.plan import SurveyPlan
from cimento.records.store import MANIFEST
from cimento.suites.checks.asides import judgment_marks
from cimento.suites.languages import language_code
from cimento.suites.ratings import points_of, suite_from_ratings
from cimento.suites.sentence_list import sentence_list
from cimento.suites.stories import CONFLICT, FALSE, STATE, STATES, STORY, TRUE, pair_label

_FOLDER = Path(__file__).parents[2] / "data" / "surveys"

Words: TypeAlias = Mapping[str, Mapping[str, str]]


def languages() -> list[str]:
    """Codes of the languages that there are words in."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


@cache
def words(language: str) -> Words:
    """Section to name to text; paragraphs are joined by line breaks.

    Raises:
        UsageError: there are no words in that language.
    """
    if language not in languages():
        raise UsageError(
            where="--language",
            seen=f"there are no guidelines in {language!r}"
            if language
            else "the suite does not say its language, so it has to be given",
            todo=f"Choose one of: {', '.join(languages())}.",
        )
    sections = tomllib.loads((_FOLDER / f"{language}.toml").read_text(encoding="utf-8"))
    return {
        section: {
            name: "\n".join(text) if isinstance(text, list) else text
            for name, text in texts.items()
        }
        for section, texts in sections.items()
    }


YES, NO = "yes", "no"


ANSWER, CHOICES = f"{COMPREHENSION}_answer", f"{COMPREHENSION}_choices"
"""Columns beside the one called ``comprehension``: the correct answer, and all of them."""


def comprehension_of(
    cells: Mapping[str, str], texts: Words, *, where: str
) -> tuple[str, tuple[AnswerChoice, ...], str]:
    """The question after a sentence, its answers, and the correct one; empty where none is asked.

    Args:
        cells: of the columns ``comprehension``, ``comprehension_answer``, and
            ``comprehension_choices`` with bars between; without choices, answers are yes and no.
        texts: words of the survey's language.
        where: place of the row, for messages.

    Raises:
        InputError: the correct answer is none of the answers, or there is one without a question.
    """
    asked, correct, listed = (cells.get(n, "").strip() for n in (COMPREHENSION, ANSWER, CHOICES))
    if not asked:
        if correct or listed:
            raise InputError(
                where=where,
                seen=f"there is an answer, and the column {COMPREHENSION} is empty",
                todo="Write the question there.",
            )
        return "", (), ""
    names = [part.strip() for part in listed.split("|") if part.strip()]
    choices = tuple(AnswerChoice(name, name) for name in dict.fromkeys(names)) or tuple(
        AnswerChoice(value, texts["answers"][value]) for value in (YES, NO)
    )
    known = {name.casefold(): c.value for c in choices for name in (c.label, c.value)}
    if correct and correct.casefold() not in known:
        raise InputError(
            where=where,
            seen=f"{correct!r} is none of the answers ({', '.join(c.label for c in choices)})",
            todo=f"Write one of them into {ANSWER}, or others into {CHOICES}, with | between them.",
        )
    return asked, choices, known[correct.casefold()] if correct else ""


def fields_for(
    task: SurveyTask, words: Words, *, scale: int = 5, length: int = 0
) -> tuple[SurveyField, ...]:
    """The fields of a task.

    Args:
        task: what people do.
        words: of the survey's language.
        scale: points of the scale, for ratings.
        length: sentences of the longest story, for stories.
    """
    prompt, texts = words[task]["prompt"], words["answers"]
    both = (AnswerChoice(YES, texts["yes"]), AnswerChoice(NO, texts["no"]))
    if task == "likert":
        points = tuple(AnswerChoice(str(n), str(n)) for n in range(1, scale + 1))
        return (SurveyField(ACCEPTABILITY, prompt, points, texts["low"], texts["high"]),)
    if task == "story":
        return _story_fields(words, prompt, length)
    questions = {
        "yesno": ACCEPTABLE, "choice": BETTER, "cloze": WHICH_FITS, "candidate": FITS,
        "reading": READING, "maze": MAZE,
    }  # fmt: skip
    choices = both if task in ("yesno", "candidate") else ()
    return (SurveyField(questions[task], prompt, choices),)


def guidelines(
    task: SurveyTask, words: Words, fields: Iterable[SurveyField], *, none: bool
) -> tuple[str, ...]:
    """The paragraphs that say what to do.

    Args:
        task: what people do.
        words: of the survey's language.
        fields: what is asked; the first gives the ends of a scale.
        none: whether people can answer that nothing fits.
    """
    first = next(iter(fields))
    texts = words[task]["guidelines"].split("\n")
    if first.low:
        ends = {"low": first.choices[0].label, "high": first.choices[-1].label}
        ends |= {"low_label": first.low, "high_label": first.high}
        texts[0] = texts[0].format(**ends)
    if none:
        texts.append(words[task]["none_note"].format(none=words["answers"]["none"]))
    return tuple(texts)


def _story_fields(words: Words, prompt: str, length: int) -> tuple[SurveyField, ...]:
    texts, story = words["answers"], words["story"]
    pairs = tuple(
        AnswerChoice(pair_label(a, b), story["pair"].format(first=a + 1, second=b + 1))
        for a, b in itertools.combinations(range(length), 2)
    )
    states = tuple(AnswerChoice(state, words["states"][state]) for state in STATES)
    return (
        SurveyField(
            STORY, prompt, (AnswerChoice(TRUE, texts["yes"]), AnswerChoice(FALSE, texts["no"]))
        ),
        SurveyField(CONFLICT, story["conflict"], pairs, when=FALSE),
        SurveyField(STATE, story["state"], states, when=FALSE),
    )


GROUPS = ("phenomenon", "connective", "category", "dimension", "expression", "domain")
"""Columns that surveys are balanced over, unless another is named; the first that is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyMaterial:
    """The questions that a suite offers.

    Attributes:
        source: where it is from.
        language: of the texts around.
        task: what people do.
        sets: the questions; of those of one set nobody may see two.
        asks_all: whether every member of a set is asked; if not, one of them is.
        none: whether people can answer that nothing fits.
        points: points of the scale that the suite's own ratings are on; None where there is none.
        fillers: sentences of the suite that are asked in between, and are not of the test.
    """

    source: SuiteSource
    language: str
    task: SurveyTask
    sets: tuple[tuple[SurveyQuestion, ...], ...]
    asks_all: bool = True
    none: bool = False
    points: int | None = None
    fillers: tuple[SurveyQuestion, ...] = ()

    @property
    def longest(self) -> int:
        """Lines of the longest question."""
        return max(len(member.lines) for members in self.sets for member in members)


_FEWEST = 2


def read_material(path: Path, wanted: SurveyPlan) -> SurveyMaterial:
    """The questions of a suite, or of the candidates of a run of a cloze suite.

    Raises:
        InputError: it cannot be read, or holds nothing to ask.
        UsageError: people are not asked about such a suite, it has no such column, or the task is
            not one for it.
    """
    run = open_run(path) if (path / MANIFEST).is_file() else None
    if run is not None:
        suite, sentences, sha256 = run.suite, run.sentences, ""
        surveyor = surveyor_of(run.paradigm, suite)
        asked = surveyor.survey_items(suite, wanted.task, run=run)
    else:
        loaded = load_material(path, language=wanted.language)
        suite, sentences, sha256 = loaded.suite, loaded.sentences, loaded.reading.sha256
        asked = surveyor_of(loaded.paradigm, suite).survey_items(suite, wanted.task)
    ids = list(dict.fromkeys(item.item for item in asked.items))[: wanted.limit]
    if not ids:
        raise InputError(where=str(path), seen="there is nothing to ask", todo="Is it empty?")
    _refuse_marks(asked.items, where=str(path))
    by_item: dict[str, list[SurveyItem]] = {item: [] for item in ids}
    for item in asked.items:
        if item.item in by_item:
            by_item[item.item].append(item)
    meta = suite.meta
    language = wanted.language or language_code(meta.language)
    made = _Questions(asked, wanted, words=words(language), where=str(path))
    asked_of = [questions for items in by_item.values() for questions in made.sets(items)]
    sets, fillers = fillers_apart(asked_of, wanted.filler_label, where=str(path))
    return SurveyMaterial(
        source=SuiteSource(
            meta.name, meta.version, sha256, meta.license, meta.citation, meta.status
        ),
        language=language,
        task=asked.task,
        sets=_joined(sets),
        asks_all=asked.task != "choice" or bool(wanted.apart),
        none=made.has_none,
        points=None if sentences is None else points_of(sentences),
        fillers=fillers,
    )


def load_material(path: Path, *, language: str = "") -> LoadedSuite:
    """The suite in a path, or the sentences of a list as a suite without ratings.

    Args:
        path: a suite, or a list of sentences.
        language: ISO 639-1 code of sentences that do not say their own.

    Raises:
        CimentoError: it cannot be read.
    """
    try:
        loaded = _load_to_ask(path)
        says_none = language and not loaded.suite.meta.language
        return _load_to_ask(path, language=language) if says_none else loaded
    except InputError:
        if (listed := sentence_list(path, language=language)) is None:
            raise
        return load_suite(suite_from_ratings(listed))


def _load_to_ask(path: Path, *, language: str = "") -> LoadedSuite:
    """A suite whose conditions may have names that formulas cannot use: people see none."""
    loaded = read_all(path, language, {}, without=UNUSABLE_NAME)
    return loaded[0] if len(loaded) == 1 else load_suite(path)  # which refuses several


def _refuse_marks(items: Iterable[SurveyItem], *, where: str) -> None:
    """Refuse sentences with the judgments that people are asked for; ``#`` may be a hashtag's."""
    marked: dict[str, str] = {}
    for item in items:
        for text in (*item.lines, *(text for _, text in item.options)):
            if any(mark.strip("#%") for mark in judgment_marks(text)):
                marked.setdefault(item.item, text)
    for id_, text in itertools.islice(marked.items(), 1):
        raise InputError(
            where=f"{where}, item {id_}",
            seen=f"{text!r} has a judgment mark, which people would see; such sentences are"
            f" in {counted(len(marked), 'item')}",
            todo="Delete the marks.",
        )


class _Questions:
    """The questions about the items of a suite, one after the other.

    Args:
        asked: what people are asked about.
        wanted: how questions are made.
        words: of the survey's language.
        where: the suite, for messages.
    """

    def __init__(self, asked: SurveyItems, wanted: SurveyPlan, *, words: Words, where: str) -> None:
        self._task = asked.task
        self._wanted = wanted
        self._words = words
        self._none = AnswerChoice(NONE, words["answers"]["none"])
        self._where = where
        names = list(dict.fromkeys(name for item in asked.items for name in item.columns))
        for flag, name in (("--balance", wanted.balance), ("--apart", wanted.apart)):
            if name:
                need_known(name, names, where=f"{flag} {name}", seen="the suite has no such column")
        if wanted.all_conditions:
            _refuse_all(asked.task, wanted)
        self._balance = wanted.balance or next((name for name in GROUPS if name in names), "")
        self._chance = random.Random(wanted.seed)  # noqa: S311  # no secret
        self._fixed = 0
        self._labels = labels_of_items(asked.items, others=(COMPREHENSION, ANSWER, CHOICES))
        self.has_none = False

    def sets(self, items: Sequence[SurveyItem]) -> Iterator[tuple[SurveyQuestion, ...]]:
        """The questions about one item of the suite, in sets of which nobody sees two."""
        if self._task == "choice":
            yield from map(self._turns, items)
        elif self._task in ("cloze", "candidate"):
            ask = self._drawn if self._task == "cloze" else self._question
            yield from ((ask(item),) for item in items)
        elif self._wanted.all_conditions:
            yield from ((self._for_everybody(self._question(item)),) for item in items)
        else:
            yield tuple(map(self._question, items))

    @staticmethod
    def _for_everybody(question: SurveyQuestion) -> SurveyQuestion:
        """A question that everybody is asked, not right before or after one of the same item."""
        alone = f"{question.item} {question.condition} {question.candidate}"
        return replace(question, members=alone, group=question.group or question.item)

    def _turns(self, item: SurveyItem) -> tuple[SurveyQuestion, ...]:
        """The choice between conditions, beginning with each of them in turn."""
        choices = tuple(AnswerChoice(text, text, condition) for text, condition in item.options)
        _refuse_equal(choices, self._place(item))
        turns = tuple(
            self._question(item, choices[turn:] + choices[:turn]) for turn in range(len(choices))
        )
        if not self._wanted.apart:
            return turns
        # Where sets are joined, an item has a fixed order: each member of a set is asked.
        fixed = self._fixed % len(turns)
        self._fixed += 1
        return turns[fixed : fixed + 1]

    def _drawn(self, item: SurveyItem) -> SurveyQuestion:
        """The choice among options, in an order drawn by chance."""
        if len(item.options) < _FEWEST:
            raise InputError(
                where=self._place(item),
                seen="there are no options to choose between",
                todo="Run the suite with a model, and make a survey of that run's candidates.",
            )
        choices = [AnswerChoice(text, text, condition) for text, condition in item.options]
        self._chance.shuffle(choices)
        if item.none if self._wanted.none is None else self._wanted.none:
            choices.append(self._none)
            self.has_none = True
        _refuse_equal(choices, self._place(item))
        return self._question(item, tuple(choices))

    def _question(self, item: SurveyItem, choices: tuple[AnswerChoice, ...] = ()) -> SurveyQuestion:
        asked, correct = "", ""
        if self._task in TIMED_TASKS:
            if len(item.text.split()) < _FEWEST:
                raise InputError(
                    where=self._place(item),
                    seen=f"{item.text!r} is one word: words are between blanks",
                    todo="Put blanks between the words that are shown one after the other.",
                )
            asked, choices, correct = comprehension_of(
                item.columns, self._words, where=self._place(item)
            )
        return SurveyQuestion(
            id="",
            item=item.item,
            condition=item.condition,
            candidate=item.judged,
            lines=item.lines,
            mark=item.mark,
            choices=choices,
            members=item.columns.get(self._wanted.apart, "") or item.apart,
            group=item.columns.get(self._balance, ""),
            comprehension=asked,
            correct=correct,
            regions=item.regions,
            labels=self._labels[item.item, item.condition],
        )

    def _place(self, item: SurveyItem) -> str:
        return f"{self._where}, item {item.item}"


def _joined(sets: Iterable[tuple[SurveyQuestion, ...]]) -> tuple[tuple[SurveyQuestion, ...], ...]:
    """Sets that share members as one, and their questions numbered."""
    by_member: dict[str, list[SurveyQuestion]] = {}
    for questions in sets:
        by_member.setdefault(questions[0].members, []).extend(questions)
    numbers = itertools.count(1)
    return tuple(
        tuple(replace(member, id=f"q{next(numbers)}") for member in members)
        for members in by_member.values()
    )


def _refuse_all(task: SurveyTask, wanted: SurveyPlan) -> None:
    """Refuse all conditions for everybody where a question has them all, or some must be apart."""
    if wanted.apart:
        seen, todo = f"nobody sees two rows with one value in {wanted.apart!r}", "one of the two"
    elif task in ("choice", "cloze", "candidate"):
        seen, todo = f"in the task {task} everybody is asked about every item", "the option"
    else:
        return
    raise UsageError(where="--all-conditions", seen=seen, todo=f"Leave {todo} out.")


def _refuse_equal(choices: Sequence[AnswerChoice], where: str) -> None:
    if len({choice.value for choice in choices}) < max(len(choices), _FEWEST):
        raise InputError(
            where=where,
            seen="there are not two different answers to choose from",
            todo="Correct the item, or choose another task.",
        )
