"""``cimento stories``: prompts, other formats, and the variation of results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from cimento.cli.console import in_columns, note, show, show_json
from cimento.cli.flags import StoredOptions, command_of
from cimento.errors import UsageError
from cimento.io.declared import Options, Settings, checked, option
from cimento.io.inline_markup import columns
from cimento.options import run_option
from cimento.paradigms.stories.formats import (
    lost_in_v1,
    read_stories,
    write_folder,
    write_jsonl,
    write_v1,
)
from cimento.paradigms.stories.options import StoryOptions, correct_suite, prompt_for
from cimento.paradigms.stories.options import corrections as known
from cimento.paradigms.stories.prompts import PromptStyle, TierPrompt
from cimento.paradigms.stories.prompts import prompts as all_prompts
from cimento.paradigms.stories.suite import STORY, TIERS, with_states
from cimento.suites.builtin import find_suite

if TYPE_CHECKING:
    from cimento.paradigms.stories.requests import PromptFormat
    from cimento.paradigms.stories.suite import Story, StorySuite
    from cimento.paradigms.stories.variation import PromptRanking, Variation


def prompts() -> None:
    """List the prompts of the story tasks: id, version, language, form of the first tier."""
    rows = [
        (
            one.id,
            one.version,
            one.language,
            TierPrompt(STORY, one, PromptStyle()).instruction.replace("\n", " "),
        )
        for one in all_prompts().values()
    ]
    show(in_columns(("prompt", "version", "language", "first tier"), rows))


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
    docs/stories-prompts.md.
    """
    from cimento.paradigms.stories.answers import asked_suite

    chosen, row = checked(StoryOptions, options.set, prefix="--set "), options.row
    file = asked_suite(read_stories(find_suite(options.suite)), chosen)
    if row >= len(file.stories):
        raise UsageError(
            where=f"--row {row}", seen=f"{file.name} has {len(file.stories)} stories, from 0"
        )
    story = file.stories[row]
    tiers = list(_tiers(file, story, chosen, _voice(options.model, chosen)))
    if options.as_json:
        show_json({"suite": file.name, "story": row, "id": story.example_id, "prompts": tiers})
        return
    for printed in tiers:
        listed = ", ".join(map(repr, printed.options))
        show(f"--- {printed.tier}, examples {printed.examples}, sha256 {printed.prompt_sha256}")
        show(printed.prompt)
        show(f"--- options: {listed}\n--- right: {printed.right!r}\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class _TierPrompt:
    """One tier of a story as it is printed."""

    tier: str
    examples: list[int]
    prompt_sha256: str
    prompt: str
    options: list[str]
    right: str


def _tiers(
    file: StorySuite, story: Story, chosen: StoryOptions, voice: PromptFormat
) -> Iterator[_TierPrompt]:
    """The prompts of the tiers that a story has."""
    from cimento.paradigms.stories.requests import tier_prompts

    for tier in TIERS:
        if story.gold(tier) is None or (story.plausible and tier != TIERS[0]):
            continue
        [ask, *_] = tier_prompts(
            tier,
            [story],
            file.stories,
            prompt=prompt_for(chosen, file),
            options=chosen,
            prompt_format=voice,
        )
        asked = ask.choose()
        yield _TierPrompt(
            tier=ask.tier,
            examples=list(ask.shots),
            prompt_sha256=ask.prompt_sha256,
            prompt=asked.prompt,
            options=list(asked.options),
            right=asked.options[ask.labels.index(str(story.gold(tier)))],
        )


def _voice(model: str, chosen: StoryOptions) -> PromptFormat:
    """The prompt format of a model; flat text without a model."""
    from cimento.engine.handle import ModelHandle
    from cimento.models.settings import Asking
    from cimento.paradigms.stories.requests import PromptFormat, find_format

    return find_format(ModelHandle(model, Asking()), chosen) if model else PromptFormat()


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
        file = correct_suite(file, options.corrections)
        for correction in known(options.corrections):
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
    from cimento.paradigms.stories.variation import open_story_runs, variation_of

    variations, order = variation_of(open_story_runs(options.runs), tier=options.tier)
    if options.as_json:
        show_json(_as_json(variations, order), indent=1)
        return
    for model, of_model in variations.items():
        show(f"{model}\n{columns(_variation_rows(of_model), indent=2)}\n")
    if order is not None:
        show(f"Order of models\n{columns(_ranking_rows(order), indent=2)}")


def _variation_rows(of_model: Variation) -> list[tuple[str, ...]]:
    shares = of_model.shares.shares
    rows: list[tuple[str, ...]] = [
        (str(c.prompt), f"seed {c.seed}", f"{rate:.3f}") for c, rate in of_model.rates.items()
    ]
    facts = {
        "mean": of_model.mean,
        "lowest": of_model.low,
        "highest": of_model.high,
        "standard deviation": of_model.sd,
        "same throughout": of_model.same_throughout,
        "kappa": of_model.kappa,
        **{f"variance: {name}": share for name, share in (shares or {}).items()},
    }
    rows += [(name, "", "-" if value is None else f"{value:.3f}") for name, value in facts.items()]
    if shares is None:
        rows.append(("variance", "", str(of_model.shares.reason)))
    return rows


def _ranking_rows(order: PromptRanking) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [
        (f"{condition.prompt}, seed {condition.seed}", " > ".join(models))
        for condition, models in order.orders.items()
    ]
    rows.append(
        ("mean Kendall tau", order.reason if order.mean_tau is None else f"{order.mean_tau:.3f}")
    )
    rows += [
        (f"{one} before {other}", f"{share:.3f}") for (one, other), share in order.kept.items()
    ]
    return rows


def _as_json(variations: dict[str, Variation], order: PromptRanking | None) -> dict[str, object]:
    common = ("mean", "low", "high", "sd", "n_common", "same_throughout", "kappa")
    models = {
        model: {
            "rates": [
                {"prompt": condition.prompt, "seed": condition.seed, "rate": rate}
                for condition, rate in of_model.rates.items()
            ],
            **{name: getattr(of_model, name) for name in common},
            "variance": {"shares": of_model.shares.shares, **_reason(of_model.shares.reason)},
            **_reason(of_model.reason),
        }
        for model, of_model in variations.items()
    }
    if order is None:
        return {"models": models}
    orders = [
        {"prompt": condition.prompt, "seed": condition.seed, "models": names}
        for condition, names in order.orders.items()
    ]
    kept = [
        {"first": one, "second": other, "ahead": share}
        for (one, other), share in order.kept.items()
    ]
    return {
        "models": models,
        "ranking": {
            "orders": orders,
            "mean_tau": order.mean_tau,
            "same_best": order.same_best,
            "kept": kept,
            **_reason(order.reason),
        },
    }


def _reason(reason: str | None) -> dict[str, str]:
    """The reason why something is missing; empty where none is given."""
    return {"reason": reason} if reason else {}
