"""``cimento stories prompts`` and ``prompt``: the wordings, and one prompt as a model reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cimento.cli import options
from cimento.cli.console import show
from cimento.markup import columns

if TYPE_CHECKING:
    from cimento.stories.asking import TierAsk, Voice
    from cimento.stories.settings import StorySettings


def prompts() -> None:
    """The wordings of the story tasks: id, version, language, and how the first tier is asked."""
    from cimento.stories.prompts import PromptStyle, TierPrompt
    from cimento.stories.prompts import prompts as all_prompts
    from cimento.stories.records import STORY

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
    from cimento.cli.kinds import parse_settings
    from cimento.errors import UsageError
    from cimento.stories.asking import tier_asks
    from cimento.stories.corrections import correct_file
    from cimento.stories.readers import read_stories
    from cimento.stories.records import TIERS
    from cimento.stories.running import prompt_for
    from cimento.stories.settings import parse_story_settings
    from cimento.suites.builtin import find_suite

    settings = parse_story_settings(parse_settings(set_ or ()))
    file = read_stories(find_suite(suite))
    if settings.corrections:
        file = correct_file(file, settings.corrections)
    if row >= len(file.stories):
        raise UsageError(
            where=f"--row {row}", seen=f"{file.name} has {len(file.stories)} stories, from 0"
        )
    voice, story = _voice(model, settings), file.stories[row]
    for tier in TIERS:
        if story.gold(tier) is None or (story.plausible and tier != TIERS[0]):
            continue
        [ask, *_] = tier_asks(
            tier,
            [story],
            file.stories,
            prompt=prompt_for(settings, file),
            settings=settings,
            voice=voice,
        )
        _show(ask, right=ask.labels.index(str(story.gold(tier))))


def _voice(model: str, settings: StorySettings) -> Voice:
    """How a model is spoken to; flat text without one."""
    from cimento.sources import Asking, open_scorer
    from cimento.stories.asking import Voice, find_voice
    from cimento.stories.talking import render_of

    if not model:
        return Voice()
    return find_voice(render_of(open_scorer(model, Asking())), settings, name=model)


def _show(ask: TierAsk, *, right: int) -> None:
    asked = ask.option_ask()
    listed = ", ".join(repr(option) for option in asked.options)
    show(f"--- {ask.tier}, examples {list(ask.shots)}, sha256 {ask.prompt_sha256}")
    show(asked.prompt)
    show(f"--- options: {listed}\n--- right: {asked.options[right]!r}\n")
