"""How stories are asked of models: everything that ``--set`` can change."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from cimento.errors import UsageError, did_you_mean
from cimento.stories.chat import ShotRule
from cimento.stories.options import Norm, find_norm
from cimento.stories.prompts import PAPER, PromptStyle, find_prompt
from cimento.stories.shots import PAPER as PAPER_SHOTS
from cimento.stories.shots import Shots

Protocol: TypeAlias = Literal["native", "paper"]
TaskRule: TypeAlias = Literal["tiers", "pair", "attributes"]
AnswerRule: TypeAlias = Literal["loglik", "generate", "constrained"]
ChatRule: TypeAlias = Literal["auto", "yes", "no"]
SystemSetting: TypeAlias = Literal["auto", "folded"]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "task": ("tiers", "pair", "attributes"),
    "protocol": ("native", "paper"),
    "answer": ("loglik", "generate", "constrained"),
    "chat": ("auto", "yes", "no"),
    "system": ("auto", "folded"),
    "shots_as": ("turns", "text"),
    "definitions": ("auto", "yes", "no"),
}
_NUMBERS = ("shots", "shots_seed", "order_seed", "numbering", "max_tokens")
_NAMES = ("prompt", "shots_mode", "order", "norm", "newlines", "corrections")
KEYS = (*_CHOICES, *_NUMBERS, *_NAMES)


@dataclass(frozen=True, slots=True, kw_only=True)
class StorySettings:
    """How stories are asked.

    Attributes:
        task: the three ``tiers``; which story of a ``pair`` is plausible; or which value the
            physical ``attributes`` have that the conflict is about.
        protocol: ``native``: answers follow the prompt as the template renders it, and every
            tier is asked of all implausible stories; ``paper``: as the study did, with a blank
            before answers even after a chat template, examples drawn its way, and later tiers
            asked of survivors only.
        prompt: id of the wording; empty for the first one in the suite's language.
        style: what varies in a wording.
        shots: how worked examples are chosen.
        answer: ``loglik``: each option is scored; ``generate``: the model writes and the reply
            is read; ``constrained``: it writes, and can write nothing but an option.
        norm: what options are compared by, see `cimento.stories.options`.
        chat: whether the chat template is used; ``auto``: where there is one.
        system: ``folded`` puts the instruction into the first user turn whatever the template.
        shots_as: worked examples as turns or as one text.
        max_tokens: of a generated reply.
        corrections: name of a set of corrections to the stories; empty for none.
    """

    task: TaskRule = "tiers"
    protocol: Protocol = "native"
    prompt: str = ""
    style: PromptStyle = field(default_factory=PromptStyle)
    shots: Shots = field(default_factory=Shots)
    answer: AnswerRule = "loglik"
    norm: Norm = "sum"
    chat: ChatRule = "auto"
    system: SystemSetting = "auto"
    shots_as: ShotRule = "turns"
    max_tokens: int = 32
    corrections: str = ""

    def digest(self) -> str:
        """A short name for these settings: eight hexadecimal digits."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]


def parse_story_settings(options: Mapping[str, str]) -> StorySettings:
    """What ``--set KEY=VALUE`` says.

    Raises:
        UsageError: there is no such key, or its value is none that it takes.
    """
    for name in options:
        if name not in KEYS:
            raise UsageError(
                where=f"--set {name}",
                seen="runs of stories have no such option",
                todo=did_you_mean(name, KEYS),
            )
    chosen = {name: _choice(name, options) for name in _CHOICES if name in options}
    paper = chosen.get("protocol") == "paper"
    style = PromptStyle(
        order=options.get("order", "paper"),
        order_seed=_number("order_seed", options, 0),
        numbering=_number("numbering", options, 0),
        definitions={"yes": True, "no": False}.get(chosen.pop("definitions", "auto")),
        newlines=options.get("newlines", "recorded"),
    )
    shots = Shots(
        n=_number("shots", options, Shots().n),
        mode=options.get("shots_mode", PAPER_SHOTS if paper else Shots().mode),
        seed=_number("shots_seed", options, Shots().seed),
    )
    prompt = options.get("prompt", PAPER if paper else "")
    if prompt:
        find_prompt(prompt)
    return StorySettings(
        prompt=prompt,
        style=style,
        shots=shots,
        norm=find_norm(options.get("norm", "sum")),
        max_tokens=_number("max_tokens", options, StorySettings().max_tokens),
        corrections=options.get("corrections", ""),
        # Seen above to be among those that each takes.
        task=cast("TaskRule", chosen.get("task", "tiers")),
        protocol=cast("Protocol", chosen.get("protocol", "native")),
        answer=cast("AnswerRule", chosen.get("answer", "loglik")),
        chat=cast("ChatRule", chosen.get("chat", "auto")),
        system=cast("SystemSetting", chosen.get("system", "auto")),
        shots_as=cast("ShotRule", chosen.get("shots_as", "turns")),
    )


def _choice(name: str, options: Mapping[str, str]) -> str:
    value = options[name]
    if value not in _CHOICES[name]:
        raise UsageError(
            where=f"--set {name}", seen=f"got {value!r}", todo=did_you_mean(value, _CHOICES[name])
        )
    return value


def _number(name: str, options: Mapping[str, str], default: int) -> int:
    value = options.get(name)
    if value is None:
        return default
    if not value.strip().isdigit():
        raise UsageError(
            where=f"--set {name}", seen=f"got {value!r}", todo="Write a whole number, 0 or more."
        )
    return int(value)
