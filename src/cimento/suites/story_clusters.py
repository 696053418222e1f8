"""Stories that belong together beside the variants of one: by writer, by place, by a free key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cimento.errors import Fault
from cimento.io.clusters import cluster_cells
from cimento.suites.checks.repeated_words import second_factors
from cimento.suites.stories import Story, StorySuite

_FIELDS = ("worker_id", "actor", "location", "domain")
"""The fields of a story by which different stories may belong together; all of `extra` may."""


def columns_of(stories: Iterable[Story]) -> list[str]:
    """The columns by which some of the stories may belong together."""
    several = tuple(stories)
    names = dict.fromkeys((*_FIELDS, *(key for story in several for key in story.extra)))
    return [name for name in names if any(_text(story, name) for story in several)]


def _text(story: Story, column: str) -> str:
    """The text of a story in a column; empty where it has none."""
    value = getattr(story, column) if column in _FIELDS else story.extra.get(column)
    return str(value) if isinstance(value, str | int) else ""


def second_story_factors(suite: StorySuite) -> list[Fault]:
    """The faults of fields that different stories share, where other clusters are declared."""
    bases = {story.story_id: story for story in reversed(suite.stories)}.values()
    columns = {name: [_text(story, name) for story in bases] for name in columns_of(suite.stories)}
    declared = {name: columns.pop(name) for name in suite.cluster if name in columns}
    others = {name: cells for name, cells in columns.items() if name in _FIELDS and all(cells)}
    return list(second_factors(declared, others, what="values"))


def in_story_clusters(suite: StorySuite, columns: Sequence[str]) -> StorySuite:
    """A suite whose stories have clusters.

    A story and its variants have the label of the first of them that has one: variants are not
    stories of their own, and belong to what their story belongs to. Without a label they are a
    cluster by themselves.

    Args:
        suite: the suite.
        columns: of its stories; two or more are crossed, and none leaves variants together.
    """
    labels: dict[tuple[int, str], str] = {}
    for story in suite.stories:
        for column in columns:
            if text := _text(story, column):
                labels.setdefault((story.story_id, column), text)

    def cell(story: Story) -> str:
        alone = f"story {story.story_id}"
        cells = [[labels.get((story.story_id, column), alone)] for column in columns]
        return cluster_cells(cells, 1)[0] or ""

    stories = tuple(replace(story, cluster=cell(story)) for story in suite.stories)
    return replace(suite, stories=stories, cluster=tuple(columns))
