"""How stories are asked and judged: everything that ``--set`` can change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, get_args

from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from cimento.errors import UsageError, did_you_mean
from cimento.paradigms.base import ParadigmOptions
from cimento.stories.corrections import corrections as known_corrections
from cimento.stories.options import Norm, find_norm
from cimento.stories.prompts import PAPER, Prompt, PromptStyle, default_prompt, find_prompt
from cimento.stories.records import StorySuite
from cimento.stories.shots import PAPER as PAPER_SHOTS
from cimento.stories.shots import ShotRule, Shots
from cimento.suites.model import JsonValue

if TYPE_CHECKING:
    from cimento.models.registry import Asking

Protocol: TypeAlias = Literal["native", "paper"]
TaskRule: TypeAlias = Literal["tiers", "pair", "attributes"]
AnswerRule: TypeAlias = Literal["loglik", "generate", "constrained"]
ChatRule: TypeAlias = Literal["auto", "yes", "no"]
SystemSetting: TypeAlias = Literal["auto", "folded"]
Definitions: TypeAlias = Literal["auto", "yes", "no"]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "task": get_args(TaskRule),
    "protocol": get_args(Protocol),
    "answer": get_args(AnswerRule),
    "chat": get_args(ChatRule),
    "system": get_args(SystemSetting),
    "shots_as": get_args(ShotRule),
    "definitions": get_args(Definitions),
}


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

    task: TaskRule = Field(
        default="tiers",
        description="the three tiers; which story of a pair is plausible; or which value the"
        " physical attributes have that the conflict is about",
    )
    protocol: Protocol = Field(
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
    definitions: Definitions = Field(
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
    answer: AnswerRule = Field(
        default="loglik",
        description="loglik: each option is scored; generate: the model writes and the reply is"
        " read; constrained: it writes, and can write nothing but an option",
    )
    norm: Norm = Field(default="sum", description="what options are compared by")
    chat: ChatRule = Field(
        default="auto", description="whether the chat template is used; auto: where there is one"
    )
    system: SystemSetting = Field(
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
        """What ``protocol=paper`` brings with it; a choice that there is not is named here."""
        if not isinstance(given, dict):
            return given
        for name, known in _CHOICES.items():
            if name in given and given[name] not in known:
                raise UsageError(
                    where=f"--set {name}",
                    seen=f"got {given[name]!r}",
                    todo=did_you_mean(str(given[name]), known),
                )
        if "norm" in given:
            find_norm(str(given["norm"]))
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
        """What varies in a wording."""
        return PromptStyle(
            order=self.order,
            order_seed=self.order_seed,
            numbering=self.numbering,
            definitions={"yes": True, "no": False}.get(self.definitions),
            newlines=self.newlines,
        )

    @property
    def examples(self) -> Shots:
        """How worked examples are chosen."""
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
