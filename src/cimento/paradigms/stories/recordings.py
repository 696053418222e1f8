"""Recorded answers, one line for each story and tier, and the recording made from them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from cimento.engine.requests import Choose, Recording, Reply, Request, Requests
from cimento.errors import Fault, InputError, SuiteError, UsageError
from cimento.faults import errors, fault
from cimento.intake.decoding import decode, unusable
from cimento.io.files import read_bytes
from cimento.io.parsing import parse_json
from cimento.io.tables import CHOICES, REPLIES
from cimento.models.base import ModelCard
from cimento.models.recorded import ModelLog, Sample, TaskLog, is_log, one_log, read_logs
from cimento.paradigms.stories.answers import RECORDED, read_reply
from cimento.paradigms.stories.checks import refuse_unknown_states
from cimento.paradigms.stories.options import StoryOptions
from cimento.paradigms.stories.requests import numbered_requests
from cimento.suites import Meta
from cimento.suites.formats.stories import stories_of
from cimento.suites.letters import one_spelling
from cimento.suites.reading import sha256_of
from cimento.suites.schema import Open, validate
from cimento.suites.stories import (
    OPTIONS,
    STORY,
    TIERS,
    Story,
    StorySuite,
    Task,
    Tier,
    TierAnswer,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedAnswers:
    """The recorded answers of one model.

    Attributes:
        model: name of the model.
        answers: answers in the order of the file.
        sha256: sha256 of the file, hexadecimal.
    """

    model: str
    answers: tuple[TierAnswer, ...]
    sha256: str = ""

    def at(self, tier: Tier) -> Mapping[int, TierAnswer]:
        """The answers at a tier, by row of the story."""
        return {answer.row: answer for answer in self.answers if answer.tier == tier}


class _AnswerLine(Open):
    """A line of recorded answers."""

    doc: int
    task: Literal["story_class", "conflict_detec", "physical_state"]
    ll: list[float | None] | None = None
    options: list[str] | None = None
    greedy: list[Literal[0, 1]] | None = None
    label: str | None = None
    reply: str | None = None
    reason: str = ""
    correct: bool | Literal[0, 1] | None = None
    shots: list[int] | None = None
    prompt_sha256: str | None = None


def read_responses(path: Path, *, stories: Sequence[Story]) -> RecordedAnswers:
    """Read recorded answers: JSONL with ``doc``, ``task`` and ``ll``, ``label`` or ``correct``.

    Log-probabilities are in nats, one for each option of the tier (`OPTIONS`), in that
    order unless the line has its own ``options``.

    Args:
        path: the file; the model is named after it.
        stories: what was asked about; ``doc`` is a row of them.

    Raises:
        InputError: the file does not exist or may not be read.
        SuiteError: lines cannot be used; the error says which and why.
    """
    data = read_bytes(path)
    text, faults = decode(data, name=path.name)
    if text is None:
        raise unusable(path, faults)
    answers: list[TierAnswer] = []
    seen: set[tuple[int, Task]] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        answer, wrong = _answer(line, where=f"{path.name} line {number}", n_stories=len(stories))
        faults += wrong
        if answer is None:
            continue
        if (answer.row, answer.tier) in seen:
            message = f"Story {answer.row} is answered twice at {answer.tier}."
            where = f"{path.name} line {number}"
            faults.append(fault("CIM-S010", where=where, seen=message, todo="Remove one of them."))
        seen.add((answer.row, answer.tier))
        answers.append(answer)
    if errors(faults):
        raise SuiteError(where=str(path), faults=faults)
    return RecordedAnswers(model=path.stem, answers=tuple(answers), sha256=sha256_of(data))


def logged_responses(log: ModelLog, *, stories: Sequence[Story]) -> RecordedAnswers:
    """The answers that lm-eval logged of one model, wherever its tasks are the tiers.

    A task is the tier whose options it has; its documents are found among the stories by what
    they say, since later tiers were asked about some of them.

    Args:
        log: of the model, which is named as on the hub, without its owner.
        stories: what was asked about.

    Raises:
        InputError: no task is one of the tiers, or a document is none of the stories.
    """
    rows: dict[object, int] = {}
    texts: dict[str, int] = {}
    for story in stories:
        key = (story.example_id, story.sentences, story.plausible, story.breakpoint)
        rows.setdefault(key, story.row)
        texts.setdefault(_as_read(" ".join(story.sentences)), story.row)
    answers: list[TierAnswer] = []
    for task in log.tasks:
        tier = _tier_of(task)
        for sample in task.samples if tier is not None else ():
            row = rows.get(_content(sample))
            if row is None or tier is None:
                raise InputError(
                    where=f"{task.path.parent / sample.where}",
                    seen="its document is none of the stories",
                    todo="Were these answers given for another file of stories?",
                )
            answers.append(_logged_answer(sample, texts, row=row, tier=tier))
    if not answers:
        raise InputError(
            where=str(log.folder),
            seen=f"it has no task with the options of a tier: {', '.join(log.names)}",
            todo="A tier has false and true, ten pairs such as 0 and 1, or fourteen states.",
        )
    return RecordedAnswers(
        model=log.model.rpartition("/")[2], answers=tuple(answers), sha256=log.sha256
    )


def logged_stories(log: ModelLog) -> tuple[Story, ...]:
    """The stories that lm-eval asked about at the first tier, in the order of the log.

    Raises:
        SuiteError: a document is not a story.
    """
    tasks = [task for task in log.tasks if _tier_of(task) == STORY]
    samples = [sample for task in tasks for sample in task.samples]
    return stories_of(
        [sample.doc for sample in samples],
        keys=[""] * len(samples),
        places=[sample.where for sample in samples],
        path=log.folder,
    )


def recorded_stories(
    paths: Sequence[Path], suite: StorySuite | None = None
) -> tuple[StorySuite, list[RecordedAnswers]]:
    """The recorded answers of some models, and the stories that they are about.

    Args:
        paths: folders of lm-eval's logs, and files of recorded answers of one model.
        suite: the stories; None for those of the logs.

    Raises:
        UsageError: the logs do not hold the stories, or two models share a name.
        InputError: a file cannot be read.
        SuiteError: a story has a state that no answer can be.
    """
    by_path = {path: read_logs(path) for path in paths if is_log(path)}
    logs = [log for some in by_path.values() for log in some]
    if suite is None:
        logged = next(filter(None, map(logged_stories, logs)), None)
        if logged is None:
            raise UsageError(
                where="--responses", seen="they do not hold the stories", todo="Give --data."
            )
        meta = Meta("gita4calamita", language="it")
        suite = StorySuite(meta=meta, stories=logged, format="gita4calamita")
    refuse_unknown_states(suite)
    models = [logged_responses(log, stories=suite.stories) for log in logs]
    names = Counter(model.model for model in models)
    models = [
        replace(model, model=f"{model.model} ({log.folder.parent.name})")
        if names[model.model] > 1
        else model
        for model, log in zip(models, logs, strict=True)
    ]
    others = [path for path in paths if path not in by_path]
    models += [read_responses(path, stories=suite.stories) for path in others]
    twice = [name for name, n in Counter(model.model for model in models).items() if n > 1]
    if twice:
        raise UsageError(
            where="--responses",
            seen=f"two files are called {min(twice)!r}",
            todo="Models are named after their files or folders; rename one.",
        )
    return suite, models


def _logged_answer(sample: Sample, texts: Mapping[str, int], *, row: int, tier: Tier) -> TierAnswer:
    """The answer in a sample; texts tell its examples from the story that it is about."""
    prompt = sample.contexts[0]
    return TierAnswer(
        row=row,
        tier=tier,
        logprobs_nats=sample.logprobs_nats,
        options=tuple(option.strip() for option in sample.options),
        greedy=() if None in sample.greedy else tuple(map(bool, sample.greedy)),
        shots=_examples(prompt, texts)[:-1],
        prompt_sha256=sha256_of(prompt.encode()),
    )


def _tier_of(task: TaskLog) -> Tier | None:
    asked = {option.strip() for sample in task.samples[:1] for option in sample.options}
    return next((tier for tier in TIERS if asked == set(OPTIONS[tier])), None)


def _content(sample: Sample) -> tuple[object, ...]:
    """The fields that tell a document from all others; its id may appear twice."""
    doc, sentences = sample.doc, sample.doc.get("sentences")
    texts = tuple(sentences) if isinstance(sentences, list) else ()
    return (doc.get("example_id"), texts, doc.get("plausible"), doc.get("breakpoint"))


_NUMBER = re.compile(r"^\d+\. ", re.MULTILINE)


def _as_read(text: str) -> str:
    """A text without the numbers of its lines, with single blanks and in one spelling."""
    return " ".join(_NUMBER.sub("", one_spelling(text)).split())


def _examples(prompt: str, texts: Mapping[str, int]) -> tuple[int, ...]:
    """The rows of the stories in a prompt, in its order; the last is what is asked about."""
    read = _as_read(prompt)
    places = ((read.rfind(text), row) for text, row in texts.items() if text in read)
    return tuple(row for _, row in sorted(places))


def _answer(text: str, *, where: str, n_stories: int) -> tuple[TierAnswer | None, list[Fault]]:
    try:
        parsed = parse_json(text)
    except ValueError as error:
        return None, [fault("CIM-S002", where=where, seen=f"The line is not JSON: {error}.")]
    row, faults = validate(_AnswerLine, parsed, where=where)
    if row is None:
        return None, faults
    problem = _problem(row, n_stories=n_stories)
    if problem:
        todo = "Were these answers given for another file of stories?"
        return None, [fault("CIM-S003", where=where, seen=problem, todo=todo)]
    return _from_row(row), []


def _problem(row: _AnswerLine, *, n_stories: int) -> str:
    """The reason why a line is unusable, as a sentence; empty where it is usable."""
    options = row.options or OPTIONS[row.task]
    nothing = row.ll is None and row.label is None and row.reply is None and row.correct is None
    problems = {
        f"doc is {row.doc}, and there are {n_stories} stories (counted from 0).": not (
            0 <= row.doc < n_stories
        ),
        f"The options are not those of {row.task}: {', '.join(options)}.": (
            sorted(options) != sorted(OPTIONS[row.task])
        ),
        f"ll has {len(row.ll or ())} values for {len(options)} options.": (
            row.ll is not None and len(row.ll) != len(options)
        ),
        f"greedy has {len(row.greedy or ())} values for {len(options)} options.": (
            bool(row.greedy) and len(row.greedy or ()) != len(options)
        ),
        f"The label {row.label!r} is none of {', '.join(options)}.": (
            row.label is not None and row.label not in options
        ),
        "There is no answer: ll, label, reply and correct are all missing.": (
            nothing and not row.reason
        ),
    }
    return next((sentence for sentence, wrong in problems.items() if wrong), "")


def _from_row(row: _AnswerLine) -> TierAnswer:
    values = None
    if row.ll is not None:
        values = tuple(math.nan if value is None else value for value in row.ll)
    return TierAnswer(
        row=row.doc,
        tier=row.task,
        logprobs_nats=values,
        options=tuple(row.options or OPTIONS[row.task]),
        greedy=tuple(map(bool, row.greedy or ())),
        label=row.label,
        reply=row.reply,
        reason=row.reason,
        correct=None if row.correct is None else bool(row.correct),
        shots=tuple(row.shots or ()),
        prompt_sha256=row.prompt_sha256 or "",
    )


def recorded_requests(suite: StorySuite, options: StoryOptions, recording: Recording) -> Requests:
    """The requests and answers of a recording for the stories that are asked about."""
    if options.task != "tiers":
        raise UsageError(
            where=f"--set task={options.task}",
            seen="recorded answers are to the three tiers",
            todo="Give a model.",
        )
    wanted = {str(story.row) for story in suite.asked}
    asked: list[Request] = []
    places: list[tuple[str | None, str, str]] = []
    requests: dict[str, Request] = {
        CHOICES.name: Choose(prompt="", options=()),
        REPLIES.name: Reply(),
    }
    for name, table in recording.tables.items():
        for item, condition in table.select("item", "condition").unique(maintain_order=True).rows():
            if item in wanted:
                asked.append(requests[name])
                places.append((item, condition, ""))
    if not asked:
        raise UsageError(
            where=f"recording {recording.card.name!r}",
            seen="it has no answer about the stories that are asked about",
            todo="Leave --limit out, or give another recording.",
        )
    return numbered_requests(suite, asked, places)


def recorded_answers(path: Path, suite: StorySuite) -> Recording:
    """Recorded answers (`read_responses`) as a recording of the suite.

    Args:
        path: the file, after which the model is named, or lm-eval's logs of one model.
        suite: that was asked about.

    Raises:
        InputError: the file does not exist or may not be read.
        SuiteError: lines cannot be used.
    """
    import polars as pl

    if is_log(path):
        recording = logged_responses(one_log(path), stories=suite.stories)
    else:
        recording = read_responses(path, stories=suite.stories)
    choices: list[tuple[object, ...]] = []
    replies: list[tuple[object, ...]] = []
    for answer in recording.answers:
        key = (str(answer.row), answer.tier)
        known = RECORDED[answer.tier]
        is_reply = answer.reply is not None and answer.logprobs_nats is None
        label = read_reply(answer.tier, answer.reply or "", known, StoryOptions())[0]
        # A label that we would not read from the reply is the recorder's, and is kept as such.
        if (is_reply and label == answer.label) or (
            answer.logprobs_nats is None and answer.label is None and answer.correct is None
        ):
            replies.append((*key, answer.reply, None))
        else:
            choices += [(*key, *row) for row in _options(answer, suite.stories[answer.row])]
    keys = {"item": pl.String(), "condition": pl.String()}
    tables = {
        schema.name: pl.DataFrame(
            rows,
            schema=keys | {k: v for k, v in schema.polars().items() if k != "request"},
            orient="row",
        )
        for schema, rows in ((CHOICES, choices), (REPLIES, replies))
        if rows
    }
    card = ModelCard(name=recording.model, kind="replay", revision=recording.sha256, tokenizer="")
    inputs = {"revision": recording.sha256}
    return Recording(card=card, tables=tables, inputs=inputs, named=f"replay:{path.resolve()}")


def _options(answer: TierAnswer, story: Story) -> list[tuple[object, ...]]:
    """The options of a recorded answer in the order of the tier, as rows of the choices table.

    Where only a label was recorded, it is what the model would write; where only that the answer
    was wrong, all that is known is that it would not write the correct one.
    """
    values = dict(zip(answer.options, answer.logprobs_nats or (), strict=False))
    greedy = dict(zip(answer.options, answer.greedy, strict=False))
    chosen = answer.label
    gold = story.gold(answer.tier)
    if answer.correct and chosen is None:
        chosen = gold
    rows: list[tuple[object, ...]] = []
    for option, label in enumerate(RECORDED[answer.tier].labels):
        is_greedy = greedy.get(label)
        if answer.logprobs_nats is None:
            only_wrong = False if label == gold else None
            is_greedy = label == chosen if chosen is not None else only_wrong
        rows.append((option, label, values.get(label), None, is_greedy))
    return rows
