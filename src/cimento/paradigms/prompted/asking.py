"""Questions about sentences for models: options, wordings, and the prompts of a suite."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from cimento.paradigms.base import ParadigmOptions
from cimento.paradigms.ratings.suite import rated_of
from cimento.paradigms.regions.contrast import find_contrast
from cimento.paradigms.stories.options import StoryOptions
from cimento.paradigms.stories.prompts import FOLDER, fill
from cimento.suites.model import Suite
from cimento.suites.stimuli import stimulus_text

KIND = "prompted"
SUFFIX = "-prompted"
"""What the name of a prompted suite ends in, so that no run of it meets one of its source."""

CHOICE, RATING = "forced choice by prompt", "rating by prompt"
"""The questions, which no measure of probability shares."""

LETTERS = ("A", "B")


class PromptedOptions(ParadigmOptions):
    """How a model is asked about sentences.

    Attributes:
        task: ``choice`` between the two sentences of each pair, once in each order; ``rating`` of
            each sentence on a scale; ``auto``: choice where the suite makes predictions.
        answer: ``generate``: the reply in words, read strictly; ``loglik``: the log-probabilities
            of the possible answers after the prompt.
        language: of the prompt; empty for that of the suite, or English.
        points: of the scale, from 1.
        max_tokens: of a reply.
        chat: whether a chat template is used: ``auto`` where there is one.
    """

    ASKED: ClassVar[frozenset[str]] = frozenset(
        {"task", "answer", "language", "points", "max_tokens", "chat"}
    )

    task: Literal["auto", "choice", "rating"] = "auto"
    answer: Literal["generate", "loglik"] = "generate"
    language: str = ""
    points: Annotated[int, Field(ge=2, le=9)] = 7
    max_tokens: Annotated[int, Field(ge=1, le=1000)] = 8
    chat: Literal["auto", "yes", "no"] = "auto"

    def task_of(self, suite: Suite) -> Literal["choice", "rating"]:
        """The task for a suite."""
        if self.task == "auto":
            return "choice" if suite.predictions else "rating"
        return self.task

    @property
    def prompting(self) -> StoryOptions:
        """The same options for the prompts of stories, whose code puts these together."""
        return StoryOptions(answer=self.answer, max_tokens=self.max_tokens, chat=self.chat)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgmentWording:
    """The wording of questions about sentences in one language.

    Attributes:
        id: such as ``it-judgments``.
        version: raised whenever a letter of it changes.
        choice: which of two is the better one: ``instruction`` and ``body``.
        rating: how acceptable one is: the same.
    """

    id: str
    version: str
    choice: Mapping[str, str]
    rating: Mapping[str, str]


@functools.cache
def judgment_wording(language: str) -> JudgmentWording:
    """The questions about sentences in a language; in English where they are not written in it."""
    path = FOLDER / f"{language}.toml"
    if not path.is_file():
        path = FOLDER / "en.toml"
    return JudgmentWording(**tomllib.loads(path.read_text(encoding="utf-8"))["judgments"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt about sentences.

    Attributes:
        item: the item, or the sentence, that it is about.
        condition: of the sentence that is to be chosen; empty for a rating.
        question: what is asked.
        instruction: stands before it.
        body: the sentences.
        answers: the possible ones.
        right: the answer that names the better sentence; empty for a rating.
    """

    item: str
    condition: str = ""
    question: str
    instruction: str
    body: str
    answers: tuple[str, ...]
    right: str = ""

    @property
    def asked(self) -> str:
        """All that the model reads; prompts that are equal in it are asked once."""
        return f"{self.instruction}\n\n{self.body}"


def prompted_suite(suite: Suite) -> Suite:
    """A suite of sentences as one of the same sentences that models are asked about by prompt.

    Raises:
        UsageError: its predictions do not say which of two sentences is the better one.
    """
    if suite.predictions:
        find_contrast(suite, regions=(1,))
    meta = dataclasses.replace(suite.meta, name=suite.name + SUFFIX)
    return dataclasses.replace(suite, meta=meta, extra={**suite.extra, "kind": KIND})


def prompts_of(suite: Suite, options: PromptedOptions) -> Iterator[Prompt]:
    """Each pair of a suite, once in each order; or each sentence.

    Raises:
        UsageError: its predictions do not say which of two sentences is the better one.
    """
    wording = judgment_wording(options.language or suite.meta.language)
    if options.task_of(suite) == "rating":
        points = tuple(str(point) for point in range(1, options.points + 1))
        for sentence in rated_of(suite).sentences:
            yield Prompt(
                item=sentence.id,
                question=RATING,
                instruction=fill(wording.rating["instruction"], points=points[-1]),
                body=fill(wording.rating["body"], sentence=sentence.text),
                answers=points,
            )
        return
    # Whole sentences are shown: which region the predictions name does not matter.
    contrast = find_contrast(suite, regions=(1,))
    for item in suite.items:
        texts = {
            condition.name: stimulus_text(condition, rule=suite.join)
            for condition in item.conditions
        }
        for rival in contrast.alternatives:
            pair = (texts[contrast.target], texts[rival])
            several = len(contrast.alternatives) > 1
            for right, (first, second) in zip(LETTERS, (pair, pair[::-1]), strict=True):
                yield Prompt(
                    item=item.id,
                    condition=contrast.target,
                    question=f"{CHOICE}: {contrast.target}, not {rival}" if several else CHOICE,
                    instruction=wording.choice["instruction"],
                    body=fill(wording.choice["body"], first=first, second=second),
                    answers=LETTERS,
                    right=right,
                )
