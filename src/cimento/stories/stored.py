"""Stored runs of stories under several prompts and seeds: how much each model varies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cimento.errors import TableError, UsageError
from cimento.runs.run import Run, open_run, paradigm_name
from cimento.runs.store import find_runs
from cimento.stories.judging import asked_of, judged_run
from cimento.stories.readers import KIND
from cimento.stories.records import STORY, Tier
from cimento.stories.settings import StoryOptions, prompt_for
from cimento.stories.variation import Condition, Ranking, Variation, ranking, variation

_UNUSUAL = ("definitions", "newlines", "numbering", "order", "answer", "norm", "protocol")
"""Options that are named where they are not as they usually are."""


def open_story_runs(paths: Iterable[Path]) -> list[Run]:
    """Every run of the three tiers in some folders; other runs are passed over.

    Raises:
        TableError: there is none, or one cannot be read.
    """
    named = list(paths)
    folders = (folder for path in named for folder in find_runs(path))
    runs = [
        open_run(folder.path)
        for folder in folders
        if paradigm_name(folder, folder.manifest()) == KIND
    ]
    found = [run for run in runs if asked_of(run)[1].task == "tiers"]
    if not found:
        raise TableError(
            where=", ".join(map(str, named)),
            seen="there is no run of stories here",
            todo="Run a suite of stories first, such as it-stories.",
        )
    return found


def vary(runs: Sequence[Run], *, tier: Tier = STORY) -> tuple[dict[str, Variation], Ranking | None]:
    """How much each model varies over prompts and seeds, and whether the ranking is stable.

    Args:
        runs: of one suite.
        tier: right at this tier and all before.

    Returns:
        Model to its variation, and the ranking where there are several models.

    Raises:
        UsageError: the runs are of different stories, or two are of the same model asked alike.
    """
    if len({_sha256(run) for run in runs}) > 1:
        names = ", ".join(sorted({run.suite.name for run in runs}))
        raise UsageError(
            where="runs",
            seen=f"they are of different stories ({names})",
            todo="Give the runs of one suite.",
        )
    models: dict[str, dict[Condition, Run]] = {}
    for run in runs:
        known, condition = models.setdefault(run.model, {}), condition_of(run)
        if condition in known:
            raise UsageError(
                where="runs",
                seen=f"{run.model} was asked twice with {condition.prompt} and the seed"
                f" {condition.seed}",
                todo="Leave one of the two out.",
            )
        known[condition] = run
    found = {
        model: result
        for model, known in models.items()
        if (
            result := variation(
                {condition: judged_run(run).chained for condition, run in known.items()}, tier=tier
            )
        )
    }
    order = ranking({model: each.rates for model, each in found.items()})
    return found, order if len(found) > 1 else None


def condition_of(run: Run) -> Condition:
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
    return Condition(" ".join(words), options.shots_seed)


def _sha256(run: Run) -> str:
    suite = run.manifest.get("suite")
    return str(suite.get("sha256", "")) if isinstance(suite, Mapping) else ""
