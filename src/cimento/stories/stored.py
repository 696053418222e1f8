"""Stored runs of stories, opened again: which model, asked how, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import TableError, UsageError
from cimento.runs.store import RunFolder, find_runs
from cimento.stories.readers import read_stories
from cimento.stories.records import STORY, Tier
from cimento.stories.responses import read_responses
from cimento.stories.summary import Judged, judge_stories
from cimento.stories.variation import Condition, Ranking, Variation, ranking, variation
from cimento.suites.model import JsonValue

ANSWERS = "answers.jsonl"
STORIES = "stories.jsonl"
_KIND = "stories"
_PLAIN_STYLE: Mapping[str, JsonValue] = {
    "definitions": None,
    "newlines": "recorded",
    "numbering": 0,
    "order": "paper",
}
_PLAIN = {"answer": "loglik", "norm": "sum", "protocol": "native"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredStories:
    """One stored run of stories.

    Attributes:
        suite: name of the stories.
        sha256: of the stories.
        model: label of the model.
        condition: how it was asked.
        judged: its answers with what came of them.
    """

    suite: str
    sha256: str
    model: str
    condition: Condition
    judged: Judged


def open_story_runs(paths: Iterable[Path]) -> list[StoredStories]:
    """Every run of stories in some folders; runs of other kinds are passed over.

    Raises:
        TableError: there is none, or one cannot be read.
        SuiteError: the answers of a run do not fit its stories.
    """
    found = []
    named = []
    for path in paths:
        named.append(str(path))
        for folder in find_runs(path):
            manifest = folder.manifest()
            if manifest.get("kind") == _KIND:
                found.append(_opened(folder, manifest))
    if not found:
        raise TableError(
            where=", ".join(named),
            seen="there is no run of stories here",
            todo="Run a suite of stories first, such as it-stories.",
        )
    return found


def vary(
    runs: Sequence[StoredStories], *, tier: Tier = STORY
) -> tuple[dict[str, Variation], Ranking | None]:
    """How much each model varies over prompts and seeds, and whether the ranking is stable.

    Args:
        runs: of one suite.
        tier: right at this tier and all before.

    Returns:
        Model to its variation, and the ranking where there are several models.

    Raises:
        UsageError: the runs are of different stories, or two are of the same model asked alike.
    """
    if len({run.sha256 for run in runs}) > 1:
        names = ", ".join(sorted({run.suite for run in runs}))
        raise UsageError(
            where="runs",
            seen=f"they are of different stories ({names})",
            todo="Give the runs of one suite.",
        )
    models: dict[str, dict[Condition, StoredStories]] = {}
    for run in runs:
        known = models.setdefault(run.model, {})
        if run.condition in known:
            raise UsageError(
                where="runs",
                seen=f"{run.model} was asked twice with {run.condition.prompt} and the seed"
                f" {run.condition.seed}",
                todo="Leave one of the two out.",
            )
        known[run.condition] = run
    found = {
        model: result
        for model, known in models.items()
        if (
            result := variation(
                {condition: run.judged.chained for condition, run in known.items()}, tier=tier
            )
        )
    }
    order = ranking({model: each.rates for model, each in found.items()})
    return found, order if len(found) > 1 else None


def _opened(folder: RunFolder, manifest: Mapping[str, JsonValue]) -> StoredStories:
    folder.verify(manifest)
    stories = read_stories(folder.path / STORIES).stories
    answers = read_responses(folder.path / ANSWERS, stories=stories).answers
    suite = _mapping(manifest.get("suite"))
    return StoredStories(
        suite=str(suite.get("name", "")),
        sha256=str(suite.get("sha256", "")),
        model=str(manifest.get("label", folder.path.name)),
        condition=_condition(manifest),
        judged=judge_stories(stories, answers),
    )


def _condition(manifest: Mapping[str, JsonValue]) -> Condition:
    """The prompt with all that is unusual about it, and the seed of the examples."""
    settings, prompt = _mapping(manifest.get("stories")), _mapping(manifest.get("prompt"))
    style, shots = _mapping(settings.get("style")), _mapping(settings.get("shots"))
    words = [str(prompt.get("id", "?"))]
    words += [
        f"{name}={style[name]}"
        for name, plain in _PLAIN_STYLE.items()
        if name in style and style[name] != plain
    ]
    if style.get("order") == "shuffled":
        words.append(f"order_seed={style.get('order_seed')}")
    words += [f"{n}={settings[n]}" for n, plain in _PLAIN.items() if settings.get(n) != plain]
    words.append(f"shots={shots.get('n')}/{shots.get('mode')}")
    seed = shots.get("seed")
    return Condition(" ".join(words), seed if isinstance(seed, int) else 0)


def _mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    return value if isinstance(value, Mapping) else {}
