"""The paradigm of judgments by prompt: which of two sentences is better, or how good is one?

What a model answers about sentences is another thing than how probable it finds them, and the two
often disagree (Hu and Levy 2023, doi:10.48550/arXiv.2305.13264). So these suites have names,
questions and runs of their own; nothing puts them beside accuracies by probability. A suite is one
of sentences, pairs or rated ones, whose ``kind`` is ``prompted``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.engine.requests import NO_ANSWERS, Answers, Choose, Request, Requests
from cimento.errors import Fault, counted
from cimento.io.tables import REQUESTS
from cimento.paradigms.base import MethodFacts, SuiteReading
from cimento.paradigms.paradigm import Paradigm
from cimento.paradigms.prompted.judging import (
    KIND,
    RATING,
    PromptedOptions,
    answers_of,
    choices,
    correlated,
    judgment_wording,
    prompts_of,
    ratings,
    unread,
)
from cimento.paradigms.ratings.paradigm import RATINGS
from cimento.paradigms.stories.prompts import Dialogue
from cimento.paradigms.stories.requests import StoryPrompt, find_format, rendered
from cimento.runs.outcomes import Estimate, Role, outcomes_table, rate
from cimento.suites.model import Suite

if TYPE_CHECKING:
    import polars as pl

    from cimento.models.settings import Asking
    from cimento.paradigms.base import AskedModel
    from cimento.runs.run import Run

NOT_PROBABILITIES = (
    "these are answers to prompts about sentences (metalinguistic judgments), not probabilities of"
    " the sentences: do not set them beside accuracies by probability as if they were the same"
)

_SHOWN = 30
_COEFFICIENTS: Mapping[str, Role] = {"spearman": "headline", "pearson": "main"}
_CHANCE = {"generate": (0.25, "two guesses, one for each order"), "loglik": (0.5, "by lot")}
_HOW = {
    ("generate", "choice"): "A pair counts as right if the better one was named both times.",
    ("generate", "rating"): "The rating is the number that was written.",
    ("loglik", "choice"): "A pair counts as right if the answers that name the better one have"
    " more than half of the probability of both answers, over both orders.",
    ("loglik", "rating"): "The rating is the mean of the scale, each number weighted by its"
    " probability after the prompt.",
}


class Prompted(Paradigm[Suite, PromptedOptions]):
    """Forced choice and ratings by prompt."""

    name = KIND
    kinds = (KIND,)
    options = PromptedOptions

    def read(self, path: Path) -> SuiteReading[Suite]:
        """A folder of the kind, read as one of rated sentences is, and every fault of it.

        Raises:
            InputError: it cannot be read, or a rating or the scale is not what it should be.
        """
        return RATINGS.read(path)

    def files(self, path: Path) -> Sequence[Path]:
        """As of all suites of sentences."""
        return RATINGS.files(path)

    def owns(self, suite: object) -> bool:
        """Whether a suite made in Python declares this kind."""
        return isinstance(suite, Suite) and suite.extra.get("kind") == KIND

    def write(self, suite: Suite, folder: Path) -> None:
        """As all suites of sentences.

        Raises:
            StorageError: the folder cannot be written.
        """
        RATINGS.write(suite, folder)

    def check(self, suite: Suite) -> Sequence[Fault]:
        """Every fault of a suite; that single sentences predict nothing is none."""
        return RATINGS.check(suite)

    def holds(self, suite: Suite) -> str:
        """The numbers of items, conditions and predictions."""
        return RATINGS.holds(suite)

    def limited(self, suite: Suite, limit: int) -> Suite:
        """The first items of a suite."""
        return RATINGS.limited(suite, limit)

    def selected(self, suite: Suite, items: Collection[str]) -> Suite:
        """The suite with some of its items."""
        return RATINGS.selected(suite, items)

    def describe(self, suite: Suite, items: int) -> str:
        """The text of ``suites show`` for a suite and its first items."""
        return RATINGS.describe(suite, items)

    def record(self, suite: Suite, items: int) -> dict[str, object]:
        """The facts of a suite, its predictions, and its first items."""
        return {**RATINGS.record(suite, items), "paradigm": self.name}

    def requests(
        self,
        suite: Suite,
        options: PromptedOptions,
        *,
        scoring: Asking,  # noqa: ARG002  # prompts are no texts to be scored
        model: AskedModel,
        answers: Answers,
    ) -> Requests | None:
        """One round: each pair once in each order, or each sentence.

        Raises:
            UsageError: the suite says of no two sentences which is the better one.
            ModelError: the model's chat template cannot render a prompt.
        """
        import polars as pl

        if answers is not NO_ANSWERS:
            return None
        prompting = options.prompting
        # Servers list the most probable tokens of what they write in a chat.
        prompt_format = find_format(model, prompting.model_copy(update={"answer": "generate"}))
        is_listed = prompt_format.remote and options.answer == "loglik"
        numbers: dict[str, int] = {}
        requests: list[Request] = []
        rows: list[tuple[object, ...]] = []
        for prompt in prompts_of(suite, options):
            parts = Dialogue(prompt.instruction, "\n\n", (), prompt.body)
            written = StoryPrompt(
                row=len(rows),
                tier="judgment",
                labels=prompt.answers,
                words=prompt.answers,
                rendered=rendered(parts, prompting, prompt_format),
            )
            number = numbers.setdefault(prompt.asked, len(numbers))
            if number == len(requests):
                turns = written.rendered.messages
                listed = Choose(prompt="", options=prompt.answers, messages=turns)
                requests.append(listed if is_listed else written.request(prompting))
            region = (1, written.shown, "", 0, len(written.shown), True)
            rows.append((number, suite.name, prompt.item, prompt.condition, *region))
        places = pl.DataFrame(rows, schema=REQUESTS.polars(), orient="row")
        return Requests(asked=requests, places=places)

    def judge(self, run: Run) -> pl.DataFrame:
        """Pairs pass, fail or tie over both orders; a rating stands beside the mean of people."""
        suite, answers = cast("Suite", run.suite), answers_of(run)
        made = choices if _task(run) == "choice" else ratings
        return outcomes_table(suite.name, made(suite, answers))

    def estimate(self, run: Run) -> Sequence[Estimate]:
        """The rate of choices of the better sentence, or the correlation with ratings."""
        outcomes, answer = run.outcomes(), _options(run).answer
        like = Estimate(suite=run.suite.name, model=run.model, question=RATING)
        if _task(run) == "rating":
            return [
                correlated(outcomes, dataclasses.replace(like, statistic=kind, role=role))
                for kind, role in _COEFFICIENTS.items()
            ]
        questions = outcomes["question"].unique(maintain_order=True).to_list()
        return [
            rate(
                outcomes.filter(outcomes["question"] == question),
                dataclasses.replace(
                    like,
                    question=question,
                    role="main" if number else "headline",
                    description=_HOW[answer, "choice"],
                    chance=_CHANCE[answer][0],
                    chance_method=_CHANCE[answer][1],
                ),
            )
            for number, question in enumerate(questions)
        ]

    def methods(self, run: Run) -> MethodFacts:
        """The methods by which answers were asked for and read, which are no probabilities."""
        options, is_choice = _options(run), _task(run) == "choice"
        wording = judgment_wording(options.language or run.suite.meta.language)
        what = (
            "was shown the two sentences of each pair, once in each order, and asked which of them"
            " was better"
            if is_choice
            else "was shown each sentence and asked how acceptable it was, on a scale from 1 to"
            f" {options.points}; its ratings were compared with the mean ratings of people"
        )
        sentences = _HOW[options.answer, _task(run)]
        if options.answer == "generate":
            sentences += (
                " Replies that were not just an answer count neither way"
                f" ({len(unread(run)) or 'there were none'})."
            )
        brief = (
            f"The model {what}.",
            sentences,
            "Such metalinguistic judgments are not probabilities of the sentences [@hu2023].",
        )
        n = run.outcomes()["item"].n_unique()
        return MethodFacts(
            counted=counted(n, "pair" if is_choice else "sentence"),
            sentences=(*brief, f"The prompt was {wording['id']}, version {wording['version']}."),
            brief=brief,
        )

    def warnings(self, run: Run) -> Sequence[str]:
        """Notes on what the numbers are, and the number of replies that could not be read."""
        lost = unread(run)
        if not lost:
            return (NOT_PROBABILITIES,)
        shown = lost[0] if len(lost[0]) <= _SHOWN else f"{lost[0][:_SHOWN]}..."
        unclear = counted(len(lost), "reply names", "replies name")
        return (NOT_PROBABILITIES, f"{unclear} no answer, counted neither way, such as {shown!r}")


PROMPTED = Prompted()


def _options(run: Run) -> PromptedOptions:
    return cast("PromptedOptions", run.options)


def _task(run: Run) -> str:
    return _options(run).task_of(cast("Suite", run.suite))
