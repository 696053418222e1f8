"""Blanks with options, and stories, as multiple-choice tasks of lm-evaluation-harness.

Every row has a prompt and the texts that may follow it, exactly as cimento scores flat text, and
the harness compares the summed log-probabilities of these texts. Of a blank the prompt is what
stands before it, and a text is an option with what stands after it, so that the order of the texts
is that of the filled sentences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.errors import InputError
from cimento.io.files import write_text
from cimento.paradigms.cloze.suite import ClozeSuite, expand_suite
from cimento.paradigms.stories.options import StoryOptions, prompt_for
from cimento.paradigms.stories.requests import WITHOUT_STORY, PromptFormat, tier_prompts
from cimento.paradigms.stories.suite import STORY, TIERS, StorySuite
from cimento.suites.formats.lm_eval import write_task
from cimento.suites.model import JsonValue


@dataclass(frozen=True, slots=True)
class ChoiceTask:
    """A multiple-choice task.

    Attributes:
        name: as the harness is to call it.
        rows: the data, one object each: ``prompt``, ``choices``, ``gold`` (from 0), and others.
    """

    name: str
    rows: tuple[dict[str, JsonValue], ...]


def choice_tasks(suite: object) -> list[ChoiceTask]:
    """The tasks of a suite; none for suites of sentences.

    Raises:
        InputError: no blank has options with a target among them.
    """
    if isinstance(suite, ClozeSuite):
        return [_blanks(suite)]
    return _stories(suite) if isinstance(suite, StorySuite) else []


def write_choice_tasks(tasks: Sequence[ChoiceTask], folder: Path, *, version: str) -> Path:
    """Write a folder with a YAML file and JSON lines for each task.

    Raises:
        StorageError: a file cannot be written.
    """
    for task in tasks:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in task.rows)
        data = write_text("".join(lines), folder / f"{task.name}.jsonl")
        write_task(data, about="Written by cimento", asks=_ASKS, version=version)
    return folder


_ASKS = {
    "doc_to_text": '"{{prompt}}"',
    "doc_to_choice": "choices",
    "doc_to_target": "gold",
    "target_delimiter": '""',
}


def _named(*parts: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "_", "_".join(parts))


def _blanks(suite: ClozeSuite) -> ChoiceTask:
    rows: list[dict[str, JsonValue]] = []
    for item in expand_suite(suite).items:
        roles = [option.role for option in item.options]
        if len(roles) > 1 and roles.count("target") == 1:
            prompt = item.before.rstrip()
            blank = item.before[len(prompt) :]
            choices = [f"{blank}{option.text}{item.after}" for option in item.options]
            rows.append(
                {
                    **item.columns,
                    "item": item.id,
                    "prompt": prompt,
                    "choices": [*choices],
                    "gold": roles.index("target"),
                }
            )
    if not rows:
        raise InputError(
            where=f"suite {suite.name!r}",
            seen="no blank has one target and other options, so there is nothing to choose among",
            todo="Add options; the harness cannot ask for open candidates.",
        )
    return ChoiceTask(_named(suite.name), tuple(rows))


def _stories(suite: StorySuite) -> list[ChoiceTask]:
    """The three tiers, the later ones of all implausible stories, with their worked examples."""
    options = StoryOptions()
    tasks = []
    for tier in TIERS:
        items = [
            story
            for story in suite.asked
            if tier == STORY or (story.gold(tier) and not story.plausible)
        ]
        asked = tier_prompts(
            tier,
            items,
            suite.stories,
            prompt=prompt_for(options, suite),
            options=options,
            prompt_format=PromptFormat(),
        )
        by_row = {story.row: story for story in items}
        rows: list[dict[str, JsonValue]] = []
        for prompt in asked:
            if prompt.row != WITHOUT_STORY:
                story, request = by_row[prompt.row], prompt.choose()
                rows.append(
                    {
                        "item": str(prompt.row),
                        "story": story.example_id,
                        "prompt": request.prompt,
                        "choices": [*request.options],
                        "gold": prompt.labels.index(str(story.gold(tier))),
                    }
                )
        tasks.append(ChoiceTask(_named(suite.name, tier), tuple(rows)))
    return tasks
