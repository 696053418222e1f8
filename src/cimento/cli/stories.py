"""What is only there for stories: prompts, the formats of GITA, and the variation of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cimento.cli.console import in_columns, note, show, show_json
from cimento.cli.flags import StoredOptions, command_of
from cimento.errors import UsageError
from cimento.io.declared import Options, Settings, checked, option
from cimento.options import run_option
from cimento.paradigms import stories
from cimento.suites.builtin import WORKBOOK, find_suite
from cimento.suites.formats.stories import (
    ITEMS,
    is_stories,
    lost_in_v1,
    read_stories,
    write_folder,
    write_jsonl,
    write_v1,
)
from cimento.suites.reading import TOML
from cimento.suites.stories import with_states

if TYPE_CHECKING:
    from cimento.cli.suites import ConvertOptions
    from cimento.kinds.prompting import PromptFormat
    from cimento.suites.stories import StorySuite


class PromptOptions(Options):
    """The story, the model, and the options of stories."""

    suite: str = option("", "Stories: a file or a suite.", argument="SUITE")
    row: int = option(0, "Row of the story, from 0.", ge=0)
    model: str = option(
        "", "Model whose chat template is used; by default plain text.", flags=("-m",)
    )
    set: Settings = run_option("set")
    as_json: bool = option(default=False, help="Print the prompts as JSON.", flags=("--json",))


@command_of
def prompts(options: PromptOptions) -> None:
    """List the prompts of the story tasks, or print those of one story of a suite.

    Without SUITE: id, version, language, and form of the first tier of each prompt. With it: what a
    model reads for each tier of a story, with the options and the correct answer. It takes the
    options of `cimento run` for stories (--set prompt=it-3), see the page "Stories".
    """
    if options.suite:
        _print_story(options)
        return
    if options.row or options.model or options.set:
        raise UsageError(
            where="cimento suites prompts",
            seen="no suite is given, and these options are about a story of one",
            todo="Such as: cimento suites prompts it-stories --row 2",
        )
    header, rows = ("prompt", "version", "language", "first tier"), stories.listed_prompts()
    if options.as_json:
        names = [name.replace(" ", "_") for name in header]
        show_json({"prompts": [dict(zip(names, row, strict=True)) for row in rows]})
        return
    show(in_columns(header, rows))


def _print_story(options: PromptOptions) -> None:
    """Print the prompts of one story for each of its tiers."""
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


TierName = Literal["story_class", "conflict_detec", "physical_state"]


def are_converted_here(options: ConvertOptions, path: Path) -> bool:
    """Whether a conversion concerns stories alone: their formats, corrections, or a bare file.

    Args:
        options: of `cimento suites convert`.
        path: the suite to convert.
    """
    if options.to in _FORMATS or options.corrections or options.states is not None:
        return True
    is_bare = options.to == "native" and path.is_file() and path.name not in {TOML, ITEMS}
    return is_bare and path.suffix.lower() != WORKBOOK and is_stories(path)


_FORMATS = ("gita4calamita", "gita-v1")


def convert_stories(options: ConvertOptions, path: Path) -> None:
    """Write stories in another format, with corrections if requested.

    Args:
        options: of `cimento suites convert`.
        path: the stories.

    Raises:
        UsageError: the options do not go together, or the format would lose states.
    """
    output, to = options.output, options.to
    if to not in (*_FORMATS, "native"):
        raise UsageError(
            where=f"--to={to}",
            seen="stories are corrected only in formats of their own",
            todo=f"Give --to native, {' or '.join(_FORMATS)}.",
        )
    if ignored := [name for name in ("from_", "columns") if getattr(options, name)]:
        raise UsageError(
            where=f"--{ignored[0].removesuffix('_')}",
            seen="has no effect on stories",
            todo="Leave it out.",
        )
    file = _completed(read_stories(path), options)
    lost = lost_in_v1(file.stories)
    if to == "gita-v1" and lost and not options.allow_loss:
        raise UsageError(
            where="--to=gita-v1",
            seen=f"{lost} stories have a state of the whole story, which it cannot hold",
            todo="Choose another format, or say --allow-loss.",
        )
    if to == "native":
        language = options.language or file.meta.language
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
