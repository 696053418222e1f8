"""The options of a run of stories: prompts, norms, corrections, and groups.

Norms are those by which the options of a question are compared. Corrections of published files are
data, applied when asked for and named in the output. Order, cloze and plausible stories are told
apart in three ways, of which the output always says which one it is.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, cast, get_args

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from cimento.errors import InputError, UsageError, need_known
from cimento.io.parsing import whole_number
from cimento.kinds.clusters import ClusteredOptions
from cimento.kinds.prompting import Prompting, ShotRule
from cimento.paradigms.stories.prompts import (
    PAPER,
    PromptStyle,
    PromptWording,
    Shots,
    default_prompt,
    find_prompt,
)
from cimento.paradigms.stories.prompts import PAPER_DRAWS as PAPER_SHOTS
from cimento.suites import JsonValue
from cimento.suites.stories import Story, StorySuite

if TYPE_CHECKING:
    from cimento.models.settings import Asking

_FILE = Path(__file__).parents[2] / "data" / "stories" / "corrections.json"


@dataclass(frozen=True, slots=True)
class StoryCorrection:
    """The errors of one story and their corrections.

    Attributes:
        row: row of the story.
        example_id: id of the story before correction, which must be found there.
        changes: field to its right value.
        reason: reason for the correction.
        leave_out: whether the story is left out of recorded answers, because its questions
            depended on the error.
    """

    row: int
    example_id: str
    changes: Mapping[str, JsonValue]
    reason: str
    leave_out: bool = False

    @property
    def name(self) -> str:
        """The id and the row, such as ``18 (doc 54)``."""
        return f"{self.example_id} (doc {self.row})"


def corrections(name: str) -> tuple[StoryCorrection, ...]:
    """The corrections of a set.

    Raises:
        UsageError: there is no such set.
    """
    known = _load()
    seen = f"there is no set of corrections called {name!r}"
    need_known(name, known, where="--corrections", seen=seen)
    return known[name]


def applicable(stories: Sequence[Story]) -> str | None:
    """The set of corrections whose stories are all found in their rows; None where none is."""
    for name, entries in _load().items():
        if all(_fits(correction, stories) for correction in entries):
            return name
    return None


def correct(stories: Sequence[Story], name: str) -> tuple[Story, ...]:
    """The stories with a set of corrections applied.

    Raises:
        UsageError: there is no such set.
        InputError: the set was made for another file.
    """
    changed = list(stories)
    for correction in corrections(name):
        if not _fits(correction, stories):
            row_id = stories[correction.row].example_id if correction.row < len(stories) else None
            raise InputError(
                where=f"corrections {name}",
                seen=f"row {correction.row} holds {row_id!r} and not {correction.example_id!r}",
                todo="These corrections were made for another file; leave them out.",
            )
        # The names and types of the fields are those of our own data file, held by a test.
        changes = cast("dict[str, Any]", dict(correction.changes))
        changed[correction.row] = replace(changed[correction.row], **changes)
    return tuple(changed)


def correct_suite(suite: StorySuite, name: str) -> StorySuite:
    """A suite with a set of corrections applied, and saying so.

    Raises:
        UsageError: there is no such set.
        InputError: the set was made for another file.
    """
    done = (*suite.corrections, name)
    return replace(suite, stories=correct(suite.stories, name), corrections=done)


def left_out(name: str) -> frozenset[int]:
    """The rows that a set of corrections leaves out where recorded answers are scored."""
    return frozenset(correction.row for correction in corrections(name) if correction.leave_out)


def _fits(correction: StoryCorrection, stories: Sequence[Story]) -> bool:
    return (
        correction.row < len(stories)
        and stories[correction.row].example_id == correction.example_id
    )


@cache
def _load() -> dict[str, tuple[StoryCorrection, ...]]:
    sets = json.loads(_FILE.read_text(encoding="utf-8"))
    return {
        name: tuple(StoryCorrection(**entry) for entry in content["corrections"])
        for name, content in sets.items()
    }


GroupingName: TypeAlias = Literal["type", "paper_code", "corrected"]
"""The name of a grouping of stories, see `Grouping`."""
Group: TypeAlias = Literal["order", "cloze", "plausible"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """A division of stories.

    Attributes:
        name: ``type`` goes by the field of that name; ``paper_code`` by letters in the ids, as
            the paper's code; ``corrected`` by type after corrections.
        groups: row to its group; rows that are not in it are left out.
        implausible: rows that count at the later tiers.
        corrections: name of the set of corrections; empty for the other two.
    """

    name: GroupingName
    groups: Mapping[int, str]
    implausible: frozenset[int]
    corrections: str = ""

    @property
    def label(self) -> str:
        """The name in tables."""
        return self.name.replace("_", " ")

    def rows(self, group: str | None = None, *, later: bool = False) -> list[int]:
        """The rows of a group, or all.

        Args:
            group: name of the group; None for all.
            later: only those that count at the second and third tier.
        """
        return [
            row
            for row, label in self.groups.items()
            if (group is None or label == group) and (not later or row in self.implausible)
        ]


def by_type(stories: Sequence[Story]) -> Grouping:
    """By the field ``type``; stories without one are plausible."""
    return Grouping(
        name="type",
        groups={story.row: story.type or "plausible" for story in stories},
        implausible=_implausible(stories),
    )


def by_paper_code(stories: Sequence[Story]) -> Grouping:
    """By a letter O, else C, anywhere in the id; else plausible: as the paper's code did."""
    return Grouping(
        name="paper_code",
        groups={story.row: code_group(story.example_id) for story in stories},
        implausible=_implausible(stories),
    )


def by_corrected(stories: Sequence[Story], corrections: str) -> Grouping:
    """By type and plausibility after a set of corrections, without the stories it leaves out.

    Raises:
        UsageError: there is no such set.
        InputError: the set was made for another file.
    """
    out = left_out(corrections)
    kept = [story for story in correct(stories, corrections) if story.row not in out]
    return Grouping(
        name="corrected",
        groups={
            story.row: "plausible" if story.plausible else story.type or "plausible"
            for story in kept
        },
        implausible=_implausible(kept),
        corrections=corrections,
    )


def _implausible(stories: Sequence[Story]) -> frozenset[int]:
    return frozenset(story.row for story in stories if not story.plausible)


def code_group(example_id: str) -> str:
    """The group of a story by the letters in its id, as the paper's code finds it."""
    if "O" in example_id:
        return "order"
    return "cloze" if "C" in example_id else "plausible"


Norm: TypeAlias = Literal["sum", "token", "char", "pmi", "prior"]
"""What options are compared by: ln P, the same per token or character, or relative to a prior."""


def normalized(
    nats: Sequence[float], norm: Norm, *, n_tokens: Sequence[int | None], words: Sequence[str]
) -> tuple[float, ...]:
    """The values by which options are compared, as far as one prompt tells.

    Args:
        nats: log-probability of each option.
        norm: ``sum``: ln P (what the study did); ``token``, ``char``: divided by the number of
            tokens, of characters (Brown et al. 2020, doi:10.48550/arXiv.2005.14165, section 2.4,
            for tokens); ``pmi`` and ``prior`` start from the sum.
        n_tokens: of each option; None where that was not kept.
        words: the options as they are written, without the blank before them.

    Raises:
        UsageError: the numbers of tokens are needed and were not kept.
    """
    if norm == "token":
        counts = [count for count in n_tokens if count is not None]
        if len(counts) < len(nats):
            raise UsageError(
                where="norm=token",
                seen="the numbers of tokens of these answers were not kept",
                todo="Compare them by another norm, or ask the model again.",
            )
        return tuple(value / count for value, count in zip(nats, counts, strict=True))
    if norm == "char":
        return tuple(value / len(word) for value, word in zip(nats, words, strict=True))
    return tuple(nats)


def prior_corrections(values: Sequence[Sequence[float]], labels: Sequence[str]) -> dict[str, float]:
    """Logarithm of the mean probability of each label over all scored prompts of a tier.

    Batch calibration, Zhou et al. 2024, doi:10.48550/arXiv.2309.17249: what a model prefers on
    average is not an answer to any story. It depends on all stories of the run.

    Args:
        values: ln P of the options, one row for each prompt.
        labels: of the options.
    """
    totals: dict[str, float] = {}
    scored = 0
    for row in values:
        best = max(row)
        if not math.isfinite(best) or any(map(math.isnan, row)):
            continue
        scored += 1
        weights = [math.exp(value - best) for value in row]
        whole = math.fsum(weights)
        for label, weight in zip(labels, weights, strict=True):
            totals[label] = totals.get(label, 0.0) + weight / whole
    smallest = 1e-300
    return {label: math.log(max(total, smallest) / scored) for label, total in totals.items()}


def _whole(value: object, info: ValidationInfo) -> int:
    """A whole number, from 0, also as ``--set`` gives it."""
    text = str(value).strip()
    if isinstance(value, bool) or whole_number(text) is None:
        raise UsageError(
            where=f"--set {info.field_name}",
            seen=f"got {value!r}",
            todo="Write a whole number, 0 or more.",
        )
    return int(text)


Whole = Annotated[int, BeforeValidator(_whole)]
"""A whole number, 0 or more."""


class StoryOptions(ClusteredOptions):
    """How stories are asked, and how the answers are judged."""

    ASKED: ClassVar[frozenset[str]] = frozenset(
        {
            "task", "protocol", "prompt", "order", "order_seed", "numbering", "definitions",
            "newlines", "shots", "shots_mode", "shots_seed", "shots_as", "answer", "chat",
            "system", "max_tokens", "corrections",
        }
    )  # fmt: skip

    task: Literal["tiers", "pair", "attributes"] = Field(
        default="tiers",
        description="tiers: the three tiers; pair: which story of a pair is plausible; attributes:"
        " which value the physical attributes have that the conflict is about",
    )
    protocol: Literal["native", "paper"] = Field(
        default="native",
        description="native: answers follow the prompt as the template renders it, and every tier"
        " is asked of all implausible stories; paper: as the study did, with a blank before"
        " answers even after a chat template, examples drawn its way, and later tiers asked of"
        " survivors only",
    )
    prompt: str = Field(
        default="", description="id of the wording; empty for the first one in the suite's language"
    )
    order: str = Field(default="paper", description="order of the options")
    order_seed: Whole = Field(default=0, description="seed of the shuffled order")
    numbering: Whole = Field(default=0, description="number of the first sentence, 0 or 1")
    definitions: Literal["auto", "yes", "no"] = Field(
        default="auto", description="whether the states are defined; auto: as the wording was made"
    )
    newlines: str = Field(
        default="recorded", description="line breaks after the study's instruction"
    )
    shots: Whole = Field(
        default=Shots().n, description="worked examples before the story; 0 for none"
    )
    shots_mode: str = Field(default=Shots().mode, description="how worked examples are chosen")
    shots_seed: Whole = Field(
        default=Shots().seed, description="seed of the choice of worked examples"
    )
    shots_as: ShotRule = Field(
        default="turns", description="worked examples as turns of the chat or as one text"
    )
    answer: Literal["loglik", "generate", "constrained"] = Field(
        default="loglik",
        description="loglik: each option is scored; generate: the model writes and the reply is"
        " read; constrained: it writes, and can write nothing but an option",
    )
    norm: Norm = Field(default="sum", description="what options are compared by")
    chat: Literal["auto", "yes", "no"] = Field(
        default="auto", description="whether the chat template is used; auto: where there is one"
    )
    system: Literal["auto", "folded"] = Field(
        default="auto",
        description="where the instruction goes: folded puts it into the first user turn",
    )
    max_tokens: Whole = Field(default=32, description="most tokens of a reply")
    corrections: str = Field(
        default="", description="name of a set of corrections to the stories; empty for none"
    )
    seed: Whole = Field(default=0, description="seed of the division into folds")

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, given: Any) -> Any:  # noqa: ANN401  # as pydantic hands it over
        """The settings with those of ``protocol=paper`` filled in, checked for unknown choices."""
        if not isinstance(given, dict):
            return given
        for name, field in cls.model_fields.items():
            known = get_args(field.annotation) if name in given else ()
            if known and isinstance(known[0], str):
                where = name if name == "norm" else f"--set {name}"
                need_known(str(given[name]), known, where=where, seen=f"got {given[name]!r}")
        if given.get("protocol") == "paper":
            return {"prompt": PAPER, "shots_mode": PAPER_SHOTS, **given}
        return given

    @model_validator(mode="after")
    def _known(self) -> StoryOptions:
        """See that what is named is there.

        Raises:
            UsageError: there is no such wording, order, choice of examples or set of corrections.
        """
        _ = self.style, self.examples
        if self.prompt:
            find_prompt(self.prompt)
        if self.corrections:
            corrections(self.corrections)
        return self

    @property
    def style(self) -> PromptStyle:
        """The style of a wording."""
        return PromptStyle(
            order=self.order,
            order_seed=self.order_seed,
            numbering=self.numbering,
            definitions={"yes": True, "no": False}.get(self.definitions),
            newlines=self.newlines,
        )

    @property
    def examples(self) -> Shots:
        """The choice of worked examples."""
        return Shots(n=self.shots, mode=self.shots_mode, seed=self.shots_seed)

    @property
    def prompting(self) -> Prompting:
        """How prompts are put to a model; the study had a blank before answers in chats too."""
        return Prompting(
            answer=self.answer,
            chat=self.chat,
            system=self.system,
            shots_as=self.shots_as,
            max_tokens=self.max_tokens,
            before_answer=" " if self.protocol == "paper" else "",
        )

    def inputs(self, suite: StorySuite, scoring: Asking) -> dict[str, JsonValue]:  # noqa: ARG002
        """The wording and its version: one that was changed is another question."""
        prompt = prompt_for(self, suite)
        return {"prompt": [prompt.id, prompt.version]}


def prompt_for(options: StoryOptions, suite: StorySuite) -> PromptWording:
    """The wording that is asked for, or the first one in the language of the stories.

    Raises:
        UsageError: there is no such wording.
    """
    if options.prompt:
        return find_prompt(options.prompt)
    # The published files are Italian.
    return default_prompt(suite.meta.language or "it")


def refuse_norm(options: StoryOptions) -> None:
    """Check that options of additional questions can be compared in the given way.

    Raises:
        UsageError: the norm is for the three tiers.
    """
    if options.norm not in ("sum", "token", "char"):
        raise UsageError(
            where=f"--set norm={options.norm}",
            seen="it is for the three tiers, whose options are the same for all stories",
            todo="Say sum, token or char.",
        )
