"""``cimento stories prompts`` and ``prompt``: the wordings, and one prompt as a model reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.console import show
from cimento.io.inline_markup import columns

if TYPE_CHECKING:
    from cimento.paradigms.stories.options import StoryOptions
    from cimento.paradigms.stories.requests import PromptFormat, StoryPrompt


def prompts() -> None:
    """The wordings of the story tasks: id, version, language, and how the first tier is asked."""
    from cimento.paradigms.stories.prompts import PromptStyle, TierPrompt
    from cimento.paradigms.stories.prompts import prompts as all_prompts
    from cimento.paradigms.stories.suite import STORY

    rows: list[tuple[str, ...]] = [("prompt", "version", "language", "first tier")]
    for prompt in all_prompts().values():
        instruction = TierPrompt(STORY, prompt, PromptStyle()).instruction.replace("\n", " ")
        rows.append((prompt.id, prompt.version, prompt.language, instruction))
    show(columns(rows))


def prompt(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="Stories: a file or a suite.")],
    row: Annotated[int, options.option("--row", min=0, help="Row of the story, from 0.")] = 0,
    *,
    model: Annotated[
        str, options.option("-m", "--model", help="Whose chat template is used; flat without.")
    ] = "",
    set_: options.Settings = None,
) -> None:
    """One story at every tier it has an answer to: the prompt, its options, and the right one.

    Takes the options of `cimento run` for stories (--set prompt=it-3), see docs/stories-prompts.md.
    """
    from cimento.errors import UsageError
    from cimento.options import checked, parse_settings
    from cimento.paradigms.stories.answers import asked_suite
    from cimento.paradigms.stories.formats import read_stories
    from cimento.paradigms.stories.options import StoryOptions, prompt_for
    from cimento.paradigms.stories.requests import tier_prompts
    from cimento.paradigms.stories.suite import TIERS
    from cimento.suites.builtin import find_suite

    chosen = checked(StoryOptions, parse_settings(set_ or ()), written="--set")
    file = asked_suite(read_stories(find_suite(suite)), chosen)
    if row >= len(file.stories):
        raise UsageError(
            where=f"--row {row}", seen=f"{file.name} has {len(file.stories)} stories, from 0"
        )
    voice, story = _voice(model, chosen), file.stories[row]
    for tier in TIERS:
        if story.gold(tier) is None or (story.plausible and tier != TIERS[0]):
            continue
        [ask, *_] = tier_prompts(
            tier,
            [story],
            file.stories,
            prompt=prompt_for(chosen, file),
            options=chosen,
            voice=voice,
        )
        _show(ask, right=ask.labels.index(str(story.gold(tier))))


def _voice(model: str, chosen: StoryOptions) -> PromptFormat:
    """How a model is spoken to; flat text without one."""
    from cimento.engine.handle import ModelHandle
    from cimento.models.registry import Asking
    from cimento.paradigms.stories.requests import PromptFormat, find_format

    return find_format(ModelHandle(model, Asking()), chosen) if model else PromptFormat()


def _show(ask: StoryPrompt, *, right: int) -> None:
    asked = ask.choose()
    listed = ", ".join(repr(option) for option in asked.options)
    show(f"--- {ask.tier}, examples {list(ask.shots)}, sha256 {ask.prompt_sha256}")
    show(asked.prompt)
    show(f"--- options: {listed}\n--- right: {asked.options[right]!r}\n")
