"""Which items of a stored run belong together, as its suite declares."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from cimento.citing.facts import STORIES, STORIES_FILE
from cimento.runs.store import RunFolder
from cimento.suites.kinds import ACCEPTABILITY, REGIONS


def clusters_of_run(folder: RunFolder, kind: str) -> Mapping[str, Hashable]:
    """Item to what it belongs to; empty where each stands alone.

    Args:
        folder: of a run of any kind.
        kind: of its suite.

    Raises:
        CimentoError: the copy of its suite cannot be read.
    """
    if kind == STORIES:
        from cimento.stories.readers import read_stories

        stories = read_stories(folder.path / STORIES_FILE).stories
        return {str(story.row): story.story_id for story in stories}
    if kind in {REGIONS, ACCEPTABILITY}:
        from cimento.suites.load import load_suite
        from cimento.verdicts.accuracy import clusters_of

        suite = load_suite(folder.suite_folder).suite
        return clusters_of(suite) if suite.cluster else {}
    from cimento.cloze.answers import ClozeAnswers
    from cimento.runs.run import open_run

    clusters = ClozeAnswers(open_run(folder.path)).cluster_of
    return {item: ("cluster", value) for item, value in clusters.items() if value}
