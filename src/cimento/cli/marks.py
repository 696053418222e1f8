"""What stored runs of any kind of suite got right, item by item."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.answers import VERDICTS, find_table
from cimento.citing.facts import CHOICE
from cimento.cli.reports import EARLIER_ROAD
from cimento.cli.run_clusters import clusters_of_run
from cimento.errors import TableError
from cimento.runs.run import open_run, paradigm_name
from cimento.runs.store import find_runs
from cimento.standings import Marks, step_of
from cimento.suites.kinds import ACCEPTABILITY, REGIONS, kind_of

if TYPE_CHECKING:
    import polars as pl

    from cimento.runs.store import Manifest, RunFolder

TOGETHER = "all predictions"
_HIT = " hit@"


def read_marks(
    paths: Iterable[Path],
    *,
    measure: str = "",
    every_question: bool = False,
    needed: bool = True,
) -> list[Marks]:
    """What the runs in some folders got right, suite by suite and question by question.

    Args:
        paths: run folders, or folders of runs.
        measure: what suites of regions are judged on; empty for as they are stored.
        every_question: also single predictions, where a suite has several.
        needed: whether it is an error that nothing was judged.

    Raises:
        TableError: a run cannot be read, or none was judged and marks are needed.
    """
    folders = [folder for path in paths for folder in find_runs(path)]
    found = [
        each
        for folder in folders
        for each in _marks(folder, measure=measure, every_question=every_question)
    ]
    if not found and needed:
        raise TableError(
            where=", ".join(str(folder.path) for folder in folders),
            seen="nothing was judged in these runs, so nothing can be right or wrong",
            todo="Give runs of suites with predictions, targets or tiers.",
        )
    return found


def _marks(folder: RunFolder, *, measure: str, every_question: bool) -> list[Marks]:
    manifest = folder.manifest()
    kind = str(manifest.get("kind") or kind_of(folder.suite_folder))
    if paradigm_name(folder, manifest) not in EARLIER_ROAD:
        return _marks_of_outcomes(folder)
    regions = kind in {REGIONS, ACCEPTABILITY}
    rows = find_table(VERDICTS, folder.path)
    if rows is None:
        return []
    by_question: dict[str, dict[str, bool]] = {}
    ties_pass = regions and _ties_pass(manifest)
    if regions and measure:
        rows = _judged_on(folder, measure)
    names = _first_ways(rows)
    columns = rows.select("item", "condition", "prediction", "verdict").iter_rows()
    for item, condition, number, verdict in columns:
        name = _together(number) if regions else names.setdefault(condition, str(condition))
        own = by_question.setdefault(name, {})
        if verdict != "unscored":
            own[item] = verdict == "pass" or (verdict == "tie" and ties_pass)
    if regions and not every_question:
        by_question = {name: own for name, own in by_question.items() if name == TOGETHER}
    family, step = step_of(str(manifest.get("named") or manifest.get("label")))
    suite, clusters = _suite_name(manifest, folder), clusters_of_run(folder, kind)
    model = manifest.get("model")
    model_kind = str(model.get("kind", "")) if isinstance(model, dict) else ""
    return [
        Marks(
            suite=suite,
            question=question,
            model=str(manifest.get("label")),
            family=family,
            step=step,
            right=right,
            clusters=clusters,
            kind=model_kind,
        )
        for question, right in by_question.items()
    ]


def _marks_of_outcomes(folder: RunFolder) -> list[Marks]:
    """What the outcomes of a run say, by its first way of asking each question."""
    run = open_run(folder.path)
    family, step = step_of(str(run.manifest.get("named") or run.model))
    marks = []
    for (question,), rows in run.outcomes().group_by("question", maintain_order=True):
        first = rows.filter(rows["method"] == rows["method"][0])
        scored = first.filter(first["right"].is_not_null())
        clustered = first.filter(first["cluster"].is_not_null())
        marks.append(
            Marks(
                suite=run.suite.name,
                question=str(question),
                model=run.model,
                family=family,
                step=step,
                right=dict(scored.select("item", "right").iter_rows()),
                clusters={
                    item: ("cluster", cluster)
                    for item, cluster in clustered.select("item", "cluster").iter_rows()
                },
                kind=run.model_kind,
            )
        )
    return marks


def _first_ways(rows: pl.DataFrame) -> dict[str | None, str]:
    """Names of hits and choices that do not say how they were asked for, by their condition.

    Models of different kinds are asked in different ways; each is compared by its first.
    """
    names: dict[str | None, str] = {}
    method, rule = "", ""
    for condition in rows["condition"].drop_nulls().unique(maintain_order=True).to_list():
        asked, hit, k = str(condition).partition(_HIT)
        if hit and asked == (method := method or asked):
            names[condition] = f"{_HIT.strip()}{k}"
        chosen = str(condition).removeprefix(CHOICE)
        if chosen != condition and chosen == (rule := rule or chosen):
            names[condition] = CHOICE.rstrip(":")
    return names


def _judged_on(folder: RunFolder, measure: str) -> pl.DataFrame:
    """The verdicts of a run on a measure of sentences."""
    from cimento.measures import find_measure
    from cimento.results import Run

    run = Run.open(folder)
    return run.judge(replace(run.judging, measure=find_measure(measure).name)).verdicts()


def _together(number: int | None) -> str:
    return TOGETHER if number is None else f"prediction {number}"


def _ties_pass(manifest: Manifest) -> bool:
    judging = manifest.get("judging")
    return isinstance(judging, dict) and judging.get("ties") == "pass"


def _suite_name(manifest: Manifest, folder: RunFolder) -> str:
    suite = manifest.get("suite")
    told = suite.get("name") if isinstance(suite, dict) else None
    return str(told or folder.path.parent.name)
