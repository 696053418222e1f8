"""What people are asked about stories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.paradigms.base import SurveyItem, SurveyItems, SurveyTask
from cimento.paradigms.people import chosen_task, refuse_run

if TYPE_CHECKING:
    from cimento.runs.run import Run
    from cimento.stories.records import StorySuite


def story_items(
    suite: StorySuite, task: SurveyTask | None, *, run: Run | None = None
) -> SurveyItems:
    """Each story; nobody sees two variants of one.

    Raises:
        UsageError: the task is another one, or a run is given.
    """
    refuse_run(run)
    return SurveyItems(
        chosen_task(task, "story"),
        tuple(
            SurveyItem(
                item=str(story.row),
                lines=story.sentences,
                columns={"domain": story.domain, "type": story.type or "plausible"},
                apart=str(story.story_id),
            )
            for story in suite.asked
        ),
    )
