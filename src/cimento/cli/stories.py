"""``cimento stories``: prompts, other formats, and the variation of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from cimento.cli.console import in_columns, note, show, show_json
from cimento.cli.flags import StoredOptions, command_of
from cimento.errors import UsageError
from cimento.io.declared import Options, Settings, checked, option
from cimento.options import run_option
from cimento.paradigms import stories
from cimento.suites.builtin import find_suite
from cimento.suites.formats.stories import (
    lost_in_v1,
    read_stories,
    write_folder,
    write_jsonl,
    write_v1,
)
from cimento.suites.stories import with_states

if TYPE_CHECKING:
    from cimento.kinds.prompting import PromptFormat
    from cimento.suites.stories import StorySuite


def prompts() -> None:
    """List the prompts of the story tasks: id, version, language, form of the first tier."""
    show(in_columns(("prompt", "version", "language", "first tier"), stories.listed_prompts()))


class PromptOptions(Options):
    """The story, the model, and the options of stories."""

    suite: str = option(..., "Stories: a file or a suite.", argument="SUITE")
    row: int = option(0, "Row of the story, from 0.", ge=0)
    model: str = option(
        "", "Model whose chat template is used; by default plain text.", flags=("-m",)
    )
    set: Settings = run_option("set")
    as_json: bool = option(default=False, help="Print the prompts as JSON.", flags=("--json",))


@command_of
def prompt(options: PromptOptions) -> None:
    """Print the prompts of one story for each of its tiers, with the options and the right answer.

    It takes the options of `cimento run` for stories (--set prompt=it-3), see
    docs/stories.md.
    """
    chosen = checked(stories.StoryOptions, options.set, prefix="--set ")
    voice = _voice(options.model, chosen)
    story = stories.printed_story(
        read_stories(find_suite(options.suite)), options.row, chosen, voice
    )
    if options.as_json:
        show_json({"suite": story.suite, "story": options.row, "id": story.id,
                   "prompts": story.prompts})  # fmt: skip
        return
    for printed in story.prompts:
        listed = ", ".join(map(repr, printed.options))
        show(f"--- {printed.tier}, examples {printed.examples}, sha256 {printed.prompt_sha256}")
        show(printed.prompt)
        show(f"--- options: {listed}\n--- right: {printed.right!r}\n")


def _voice(model: str, chosen: stories.StoryOptions) -> PromptFormat:
    """The prompt format of a model; flat text without a model."""
    from cimento.engine.handle import ModelHandle
    from cimento.kinds.prompting import PromptFormat, find_format
    from cimento.models.settings import Asking

    if not model:
        return PromptFormat()
    return find_format(ModelHandle(model, Asking()), chosen.prompting)


app = typer.Typer(help="Convert stories, and compare runs of them.", no_args_is_help=True)
app.command("prompts", short_help="Print the wordings of the story tasks.")(prompts)
app.command("prompt", short_help="Print one story as a model reads it.")(prompt)

TierName = Literal["story_class", "conflict_detec", "physical_state"]
StoryTarget = Literal["native", "gita4calamita", "gita-v1"]


class ConvertOptions(Options):
    """The stories, the format to write, and what is changed in them."""

    source: str = option(..., "Stories: a file or a suite.", argument="FILE")
    output: Path = option(..., "File or folder to write.", flags=("-o",))
    to: StoryTarget = option("native", "Format to write.")
    corrections: str = option("", "Corrections to apply, such as gita4calamita.")
    states: str | None = option(None, "File with the states of each sentence.")
    allow_loss: bool = option(default=False, help="Write even if the format loses information.")


@app.command("convert")
@command_of
def convert(options: ConvertOptions) -> None:
    """Write stories in another format, with corrections if requested.

    GITA v1 cannot contain the state of a whole story; these labels are lost only with
    ``--allow-loss``.
    """
    output, to = options.output, options.to
    file = _completed(read_stories(find_suite(options.source)), options)
    lost = lost_in_v1(file.stories)
    if to == "gita-v1" and lost and not options.allow_loss:
        raise UsageError(
            where="--to gita-v1",
            seen=f"{lost} stories have a state of the whole story, which it cannot hold",
            todo="Choose another format, or say --allow-loss.",
        )
    if to == "native":
        language = file.meta.language
        write_folder(file.stories, output, name=output.name, language=language)
    elif to == "gita-v1":
        write_v1(file.stories, output)
    else:
        write_jsonl(file.stories, output)
    note(f"Written: {output}")


def _completed(file: StorySuite, options: ConvertOptions) -> StorySuite:
    """The stories of a file with the requested corrections and states, and a note about them."""
    if options.corrections:
        file = stories.correct_suite(file, options.corrections)
        for correction in stories.corrections(options.corrections):
            note(f"corrected: {correction.name}: {correction.reason}")
    if options.states is not None:
        stated = read_stories(find_suite(options.states)).stories
        file = replace(file, stories=with_states(file.stories, stated))
        n_with_states = sum(bool(story.sentence_states) for story in file.stories)
        note(f"states per sentence: {n_with_states} of {len(file.stories)} stories")
    return file


class VariationOptions(StoredOptions):
    """The runs, and the tier to count."""

    tier: TierName = option("story_class", "Tier to count: right at it and at all tiers before.")
    as_json: bool = run_option("as_json")


@app.command("variation")
@command_of
def variation(options: VariationOptions) -> None:
    """Report how much results depend on prompt and seed, and whether models keep their order.

    Run the same stories with ``--set prompt=...`` and ``--set shots_seed=...`` first.
    """
    found = stories.variation_of(stories.open_story_runs(options.runs), tier=options.tier)
    if options.as_json:
        show_json(found.plain(), indent=1)
    else:
        show(found.text())
