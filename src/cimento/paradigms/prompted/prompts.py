"""The prompts about sentences: three questions, and the design that varies how they are put.

Each question is put in several wordings, with several pairs of answers, and with either answer
first. The three are crossed (``full``), or crossed in a Latin square (``latin``: every item gets
every wording and every pair of answers, and every four items all their combinations), or rotate
over the items (``rotated``: one wording with one pair of answers an item). Whatever the design,
each combination is asked with both orders, so that a mere preference for what comes first cancels
out within each item.
"""

from __future__ import annotations

import functools
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from cimento.errors import UsageError
from cimento.paradigms import ClusteredOptions, Item, Prompting, Suite, stimulus_texts
from cimento.paradigms.regions import find_contrast

Form: TypeAlias = Literal["choice", "yesno", "rating"]
Task: TypeAlias = Literal["auto", "all", "choice", "yesno", "rating"]
Balance: TypeAlias = Literal["latin", "full", "rotated"]

KIND = "prompted"
SUFFIX = "-prompted"
"""What the name of a prompted suite ends in, so that no run of it meets one of its source."""
SOURCE = "asked_about"
"""The key in suite.toml under which a prompted suite names the suite that its sentences are of."""

CHOICE, YES_NO, RATING = "forced choice by prompt", "yes or no by prompt", "rating by prompt"
"""The questions, which no measure of probability shares."""

QUESTIONS: Mapping[Form, str] = MappingProxyType(
    {"choice": CHOICE, "yesno": YES_NO, "rating": RATING}
)
FORMS: tuple[Form, ...] = ("choice", "yesno", "rating")
LETTERS, DIGITS = ("A", "B"), ("1", "2")
WORDS, LETTERED = "words", "letters"
_WORDINGS = Path(__file__).parents[2] / "data" / "prompts"
ORDERS = 2


class PromptedOptions(ClusteredOptions):
    """How a model is asked about sentences.

    Attributes:
        task: the question: ``choice`` between the two sentences of each pair; ``yesno``: is each
            sentence acceptable?; ``rating`` of each sentence on a scale; ``all`` that apply to
            the suite; ``auto``: choice where the suite makes predictions, else rating.
        answer: ``generate``: the reply in words, read strictly; ``loglik``: the log-probabilities
            of the possible answers after the prompt.
        balance: the design of wordings, pairs of answers and orders: ``latin``, ``full`` or
            ``rotated``.
        seed: seed of the order in which items take their places in the design.
        language: language of the prompt; empty for that of the suite, or English.
        points: number of points of the rating scale, which begins at 1.
        max_tokens: most tokens of a reply.
        chat: whether a chat template is used: ``auto`` where there is one.
    """

    ASKED: ClassVar[frozenset[str]] = frozenset(
        {"task", "answer", "balance", "seed", "language", "points", "max_tokens", "chat"}
    )

    task: Task = "auto"
    answer: Literal["generate", "loglik"] = "generate"
    balance: Balance = "latin"
    seed: Annotated[int, Field(ge=0)] = 0
    language: str = ""
    points: Annotated[int, Field(ge=2, le=9)] = 7
    max_tokens: Annotated[int, Field(ge=1, le=1000)] = 8
    chat: Literal["auto", "yes", "no"] = "auto"

    @model_validator(mode="after")
    def _points_of_ratings(self) -> Self:
        if self.task in {"choice", "yesno"}:
            self.refuse_points(self.task)
        return self

    def refuse_points(self, task: str) -> None:
        """Refuse points that were given where no rating is asked for.

        Args:
            task: what is asked.

        Raises:
            UsageError: points were given.
        """
        if "points" in self.model_fields_set:
            raise UsageError(
                where=f"--set points={self.points}",
                seen=f"it is the scale of ratings, and the question is {task}",
                todo="Leave it out, or say task=rating or task=all.",
            )

    def forms_of(self, suite: Suite) -> tuple[Form, ...]:
        """The questions that are put about a suite.

        Raises:
            UsageError: a choice is wanted, and the suite has no pairs.
        """
        if self.task == "all":
            return FORMS if suite.predictions else ("yesno", "rating")
        if self.task == "auto":
            return ("choice",) if suite.predictions else ("rating",)
        if self.task == "choice" and not suite.predictions:
            raise UsageError(
                where="--set task=choice",
                seen=f"the suite {suite.name!r} has no predictions, so nothing says which pairs"
                " there are",
                todo="Say task=yesno or task=rating.",
            )
        return (self.task,)

    @property
    def prompting(self) -> Prompting:
        """How prompts are put to a model."""
        return Prompting(answer=self.answer, max_tokens=self.max_tokens, chat=self.chat)


@functools.cache
def judgment_wording(language: str) -> Mapping[str, Any]:
    """The questions about sentences in a language: ``id``, ``version``, a table for each form.

    In English where there are none in it.
    """
    files = {path.stem: path for path in _WORDINGS.glob("*.toml")}
    content = tomllib.loads(files.get(language, files["en"]).read_text(encoding="utf-8"))
    questions: Mapping[str, Any] = content["judgments"]
    return questions


@dataclass(frozen=True, slots=True)
class PromptCell:
    """One cell of the design.

    Attributes:
        wording: number of the wording, from 0.
        labels: number of the pair of answers, from 0.
        order: 0 where what is better comes first: the better sentence, the answer that means
            acceptable, or a scale on which the highest number is the best; 1 where it does not.
    """

    wording: int
    labels: int
    order: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt about sentences.

    Attributes:
        item: the item that it is about.
        form: which of the three questions.
        conditions: of the sentences that are shown: of a choice the better one, then its rival.
        instruction: comes before the sentences.
        body: the sentences.
        answers: the possible ones, the first named or shown first.
        good: the answer that names the better sentence, that means acceptable, or that is the best
            point of the scale.
        kind: of a yes/no question, whether its answers are `WORDS` or `LETTERED`; else empty.
        labels: the pair of answers as the tables name it.
        cell: its place in the design.
    """

    item: str
    form: Form
    conditions: tuple[str, ...]
    instruction: str
    body: str
    answers: tuple[str, ...]
    good: str
    kind: str = ""
    labels: str
    cell: PromptCell

    @property
    def asked(self) -> str:
        """All that the model reads; prompts that are equal in it are asked once."""
        return f"{self.instruction}\n\n{self.body}"

    @property
    def place(self) -> str:
        """The place in the requests table: condition, question, and the cell of the design."""
        what = {"choice": "choice", "yesno": "yes or no", "rating": "rating"}[self.form]
        about = " or ".join(self.conditions)
        first = "better first" if self.cell.order == 0 else "better second"
        return f"{about}, {what}, wording {self.cell.wording + 1}, {self.labels}, {first}"


def prompt_cells(labels: int, n_wordings: int, *, balance: Balance, shift: int) -> list[PromptCell]:
    """The cells in which one item is asked, both orders of each combination side by side.

    Args:
        labels: number of pairs of answers.
        n_wordings: number of wordings, a multiple of that.
        balance: the design.
        shift: place of the item in the design, from 0.
    """
    if balance == "rotated":
        place = shift % (labels * n_wordings)
        wording = place % n_wordings
        chosen = [(wording, (place + place // n_wordings) % labels)]
    elif balance == "latin":
        chosen = [(wording, (wording + shift) % labels) for wording in range(n_wordings)]
    else:
        chosen = [(wording, label) for wording in range(n_wordings) for label in range(labels)]
    return [
        PromptCell(wording, label, order) for wording, label in chosen for order in range(ORDERS)
    ]


def shifts(items: int, seed: int) -> list[int]:
    """The place of each item in the design: all places in turn, by a random order of the items."""
    order = list(range(items))
    random.Random(seed).shuffle(order)  # noqa: S311  # a design, not a secret
    places = [0] * items
    for place, item in enumerate(order):
        places[item] = place
    return places


def prompted_suite(suite: Suite) -> Suite:
    """A suite of sentences as one of the same sentences that models are asked about by prompt.

    Raises:
        UsageError: its predictions do not say which of two sentences is the better one, or it is
            a prompted suite itself.
    """
    if suite.extra.get("kind") == KIND:
        raise UsageError(
            where=f"the suite {suite.name!r}",
            seen="models are asked about it by prompt already",
            todo=f"Run it as it is, or give the suite of its sentences, {source_name(suite)!r}.",
        )
    if suite.predictions:
        find_contrast(suite, regions=(1,))
    meta = replace(suite.meta, name=suite.name + SUFFIX)
    return replace(suite, meta=meta, extra={**suite.extra, "kind": KIND, SOURCE: suite.name})


def source_name(suite: Suite) -> str:
    """The name of the suite that the sentences of a prompted suite are of."""
    return str(suite.extra.get(SOURCE) or suite.name.removesuffix(SUFFIX))


def rivals_of(suite: Suite) -> tuple[str, tuple[str, ...]]:
    """The better condition of a suite and its rivals; nothing where it makes no predictions.

    Raises:
        UsageError: its predictions do not say which of two sentences is the better one.
    """
    if not suite.predictions:
        return "", ()
    # Whole sentences are shown: which region the predictions name does not matter.
    contrast = find_contrast(suite, regions=(1,))
    return contrast.target, contrast.alternatives


def prompts_of(suite: Suite, options: PromptedOptions) -> Iterator[Prompt]:
    """All prompts about a suite, item by item.

    Raises:
        UsageError: its predictions do not say which of two sentences is the better one.
    """
    wording = judgment_wording(options.language or suite.meta.language)
    forms = options.forms_of(suite)
    target, rivals = rivals_of(suite)
    sentences_of = stimulus_texts(suite)
    for item, shift in zip(suite.items, shifts(len(suite.items), options.seed), strict=True):
        texts = {
            condition.name: sentences_of[item.id, condition.name]
            for condition in item.conditions
            if not rivals or condition.name in {target, *rivals}
        }
        for form in forms:
            design = prompt_cells(
                len(_label_pairs(form, wording)),
                len(wording[form]["wordings"]),
                balance=options.balance,
                shift=shift,
            )
            pairs = [(target, rival) for rival in rivals]
            for names in pairs if form == "choice" else [(name,) for name in texts]:
                sentences = tuple(texts[name] for name in names)
                yield from (
                    _prompt(wording, form, (item, names, sentences), cell, options.points)
                    for cell in design
                )


def _label_pairs(form: Form, wording: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The pairs of answers of a form.

    Of a choice: for the first and the second sentence. Of yes or no: for acceptable and not. Of a
    rating: the end of the scale that is named first.
    """
    if form == "choice":
        return LETTERS, LETTERS[::-1], DIGITS, DIGITS[::-1]
    if form == "yesno":
        yes, verdict = (tuple(wording[name]) for name in ("yes", "verdict"))
        return yes, verdict, LETTERS, LETTERS[::-1]
    return ("low", "high"), ("high", "low")


def _prompt(
    wording: Mapping[str, Any],
    form: Form,
    about: tuple[Item, tuple[str, ...], tuple[str, ...]],
    cell: PromptCell,
    points: int,
) -> Prompt:
    """The prompt of one cell about one sentence or pair."""
    item, names, sentences = about
    table = wording[form]
    pair = _label_pairs(form, wording)[cell.labels]
    question = table["wordings"][cell.wording]
    kind = ""
    answers: Sequence[str]
    if form == "choice":
        answers, good = pair, pair[cell.order]
        instruction = question["instruction"].format(one=answers[0], two=answers[1])
        first, second = sentences[:: 1 if cell.order == 0 else -1]
        body = table["body"].format(one=pair[0], two=pair[1], first=first, second=second)
        labels = "/".join(pair)
    elif form == "yesno":
        kind = LETTERED if pair in (LETTERS, LETTERS[::-1]) else WORDS
        answers, good = pair[:: 1 if cell.order == 0 else -1], pair[0]
        meanings = wording["verdict"][:: 1 if cell.order == 0 else -1]
        values = {
            "one": answers[0], "two": answers[1],
            "meaning_one": meanings[0], "meaning_two": meanings[1],
        }  # fmt: skip
        instruction = f"{question['instruction']} {table[kind].format(**values)}"
        body = table["body"].format(sentence=sentences[0])
        labels = f"{pair[0]}/{pair[1]}"
    else:
        answers, good, instruction = _scale(table, question["instruction"], cell, points)
        body = table["body"].format(sentence=sentences[0])
        labels = f"{answers[0]}-{answers[-1]}"
    return Prompt(
        item=item.id, form=form, conditions=names,
        instruction=instruction, body=f"{body}\n{question['ask']}", answers=tuple(answers),
        good=good, kind=kind, labels=labels, cell=cell,
    )  # fmt: skip


def _scale(
    table: Mapping[str, Any], instruction: str, cell: PromptCell, points: int
) -> tuple[Sequence[str], str, str]:
    """The points in the order in which they are named, the best of them, and the instruction."""
    numbers = [str(point) for point in range(1, points + 1)]
    meaning = {numbers[0]: table["low"], numbers[-1]: table["high"]}
    good = numbers[-1]
    if cell.order == 1:
        meaning = {numbers[0]: table["high"], numbers[-1]: table["low"]}
        good = numbers[0]
    named = numbers if cell.labels == 0 else numbers[::-1]
    one, two = named[0], named[-1]
    text = instruction.format(one=one, two=two, meaning_one=meaning[one], meaning_two=meaning[two])
    return named, good, text
