"""The options of a run of stories, and the norms that the options of a question are compared by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from cimento.errors import UsageError, need_known
from cimento.paradigms.base import ParadigmOptions
from cimento.paradigms.stories.grouping import corrections as known_corrections
from cimento.paradigms.stories.prompts import (
    PAPER,
    Prompt,
    PromptStyle,
    ShotRule,
    Shots,
    default_prompt,
    find_prompt,
)
from cimento.paradigms.stories.prompts import PAPER_DRAWS as PAPER_SHOTS
from cimento.paradigms.stories.suite import StorySuite
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    from cimento.models.settings import Asking


Norm: TypeAlias = Literal["sum", "token", "char", "pmi", "prior"]


def normalised(
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
    average is no answer to any story. It depends on all stories of the run.

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
    if isinstance(value, bool) or not text.isdecimal():
        raise UsageError(
            where=f"--set {info.field_name}",
            seen=f"got {value!r}",
            todo="Write a whole number, 0 or more.",
        )
    return int(text)


Whole = Annotated[int, BeforeValidator(_whole)]


class StoryOptions(ParadigmOptions):
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
        description="the three tiers; which story of a pair is plausible; or which value the"
        " physical attributes have that the conflict is about",
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
    order_seed: Whole = Field(default=0, description="of the shuffled order")
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
    shots_seed: Whole = Field(default=Shots().seed, description="of the choice of worked examples")
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
        default="auto", description="folded: the instruction goes into the first user turn"
    )
    max_tokens: Whole = Field(default=32, description="of a reply, tokens")
    corrections: str = Field(
        default="", description="name of a set of corrections to the stories; empty for none"
    )
    seed: Whole = Field(default=0, description="of the division into folds")

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
            known_corrections(self.corrections)
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

    def inputs(self, suite: StorySuite, scoring: Asking) -> dict[str, JsonValue]:  # noqa: ARG002
        """The wording and its version: one that was changed is another question."""
        prompt = prompt_for(self, suite)
        return {"prompt": [prompt.id, prompt.version]}


def prompt_for(options: StoryOptions, suite: StorySuite) -> Prompt:
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
