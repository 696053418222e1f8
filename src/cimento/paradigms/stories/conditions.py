"""The prompts under which runs of stories were asked, and names that tell such runs apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cimento.paradigms.stories.judging import asked_of
from cimento.paradigms.stories.options import StoryOptions, prompt_for

if TYPE_CHECKING:
    from cimento.kinds.run import Run

_UNUSUAL = (
    "definitions", "newlines", "numbering", "order", "answer", "norm", "protocol", "chat",
    "system", "shots_as", "max_tokens", "corrections",
)  # fmt: skip
"""Options that are named where they are not as they usually are."""


@dataclass(frozen=True, slots=True, order=True)
class PromptCondition:
    """One way of asking: a prompt and the seed of its examples."""

    prompt: str
    seed: int


def condition_of(run: Run) -> PromptCondition:
    """The prompt with all that is unusual about it, and the seed of the examples."""
    suite, options = asked_of(run)
    usual = StoryOptions().model_dump()
    words = [prompt_for(options, suite).id]
    words += [
        f"{name}={value}" for name in _UNUSUAL if (value := getattr(options, name)) != usual[name]
    ]
    if options.order == "shuffled":
        words.append(f"order_seed={options.order_seed}")
    words.append(f"shots={options.shots}/{options.shots_mode}")
    return PromptCondition(" ".join(words), options.shots_seed)


def names_of(runs: Sequence[Run]) -> list[str]:
    """Names of runs: their models, with what tells two runs of one model apart.

    Args:
        runs: runs of one suite.
    """
    conditions = [condition_of(run) for run in runs]
    words = [
        [*condition.prompt.split(), f"shots_seed={condition.seed}"] for condition in conditions
    ]
    names = []
    for run, settings in zip(runs, words, strict=True):
        twins = [
            theirs for twin, theirs in zip(runs, words, strict=True) if twin.model == run.model
        ]
        differing = [word for word in settings if not all(word in theirs for theirs in twins)]
        if len(twins) > 1 and not differing and run.folder is not None:
            differing = [run.folder.name.rpartition("--")[2]]
        names.append(f"{run.model} ({', '.join(differing)})" if len(twins) > 1 else run.model)
    return names
