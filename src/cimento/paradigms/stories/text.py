"""The tables that ``run`` prints of runs of stories, in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cimento.io.inline_markup import columns
from cimento.paradigms.stories.classification import choices
from cimento.paradigms.stories.estimates import BASELINE, question_of
from cimento.paradigms.stories.grouping import Grouping
from cimento.paradigms.stories.judging import Judged, asked_of, judge_stories, judged_run
from cimento.paradigms.stories.outcomes import Step, flow
from cimento.paradigms.stories.rates import METRICS, constant_answers, majority_labels
from cimento.paradigms.stories.suite import TIERS
from cimento.report.formatting import interval, reasons_together
from cimento.runs.outcomes import Estimate

if TYPE_CHECKING:
    from cimento.runs.run import Run

UNKNOWN = "-"

Rows: TypeAlias = "list[tuple[str, ...]]"


def runs_text(runs: Sequence[Run]) -> str:
    """The tables of some runs, one run after the other."""
    return "\n\n".join(_run_text(run) for run in runs) + "\n"


def _run_text(run: Run) -> str:
    estimates = run.estimates()
    if asked_of(run)[1].task != "tiers":
        tables = {"Questions beside the tiers": question_rows(estimates)}
    else:
        judged = judged_run(run)
        tables = {
            "Right at this tier and all before, beside constant answers and chance (counted, so"
            " without intervals)": metric_rows(estimates, judged.groupings),
            "Each tier by itself, all stories that have an answer there; greedy: without interval":
            tier_rows(estimates, judged),
            "Flow of implausible stories through the tiers, without intervals": flow_rows(judged),
        }  # fmt: skip
    shown = [f"{title}\n{columns(rows, indent=2)}" for title, rows in tables.items()]
    notes = "\n".join([*interval_notes(estimates), *(f"Note: {text}" for text in run.warnings)])
    return "\n\n".join([f"{run.suite.name}  {run.model}", *shown, *([notes] if notes else [])])


def metric_rows(estimates: Sequence[Estimate], groupings: Sequence[Grouping]) -> Rows:
    """Each metric by grouping, with its interval and baselines that need no knowledge."""
    known = {
        (estimate.question, estimate.method, estimate.group, estimate.level): estimate
        for estimate in estimates
        if estimate.statistic == "accuracy"
    }
    first = groupings[0].label
    methods = dict.fromkeys(estimate.method for estimate in estimates)
    without = [method for method in methods if method.startswith(BASELINE)]
    names = (method.removeprefix(BASELINE) for method in without)
    rows: Rows = [("metric", "n", *(grouping.label for grouping in groupings), *names, "chance")]
    for name, (tier, group) in METRICS.items():
        question, level = question_of(tier), group or ""
        whole = known[question, "", "", ""]
        row = [known.get((question, "", grouping.label, level), whole) for grouping in groupings]
        beside = [known[question, method, first, level] for method in without]
        rows.append(
            (
                name,
                ", ".join(map(str, sorted({cell.n for cell in row if cell.value is not None}))),
                *map(_with_interval, row),
                *(shown(baseline.value, 3) for baseline in beside),
                shown(row[0].chance, 3),
            )
        )
    return rows


def tier_rows(estimates: Sequence[Estimate], judged: Judged) -> Rows:
    """Accuracy of each tier whatever came before, with ties, unread and unscored answers."""
    known = {
        estimate.question: estimate for estimate in reversed(estimates) if estimate.role != "detail"
    }
    answers = {tier: choices(judged.outcomes, tier) for tier in TIERS}
    return [
        ("tier", "accuracy", "95 % interval", "n", "ties", "greedy", "unread", "unscored"),
        *(
            (
                tier,
                shown(known[tier].value, 3),
                interval(known[tier].low, known[tier].high),
                str(known[tier].n) if known[tier].value is not None else UNKNOWN,
                str(at_tier.n_ties_at_max),
                shown(at_tier.any_choice_greedy_rate.value, 2),
                str(at_tier.invalid),
                str(sum(at_tier.unscored.values())),
            )
            for tier, at_tier in answers.items()
        ),
    ]


def flow_rows(judged: Judged) -> Rows:
    """The implausible stories that reach and pass each tier, next to constant answers."""
    steps = flow(judged.stories, judged.chained)
    return [
        ("tier", "reached", "unscored", "passed", "share", "constant"),
        *(
            (
                step.tier, shown(step.reached, 0), str(step.unscored), shown(step.passed, 0),
                shown(share_of(step), 3), shown(share_of(constant), 3),
            )
            for step, constant in zip(steps, constant_flow(judged), strict=True)
        ),
    ]  # fmt: skip


def constant_flow(judged: Judged) -> tuple[Step, ...]:
    """The flow of one answer for all stories: the majority label at every tier."""
    answers = constant_answers(judged.stories, majority_labels(judged.stories))
    constant = judge_stories(judged.stories, answers)
    return flow(constant.stories, constant.chained)


def share_of(step: Step) -> float | None:
    """The share of the scored stories that pass a step; None where none is known."""
    scored = None if step.reached is None else step.reached - step.unscored
    return None if not scored or step.passed is None else step.passed / scored


def question_rows(estimates: Iterable[Estimate]) -> Rows:
    """The shares of additional questions that are right."""
    return [
        ("", "share", "95 % interval", "right", "n", "chance"),
        *(
            (
                estimate.question, shown(estimate.value, 3), interval(estimate.low, estimate.high),
                str(estimate.right or 0), str(estimate.n), shown(estimate.chance, 2),
            )
            for estimate in estimates
        ),
    ]  # fmt: skip


def interval_notes(estimates: Sequence[Estimate]) -> list[str]:
    """Notes on how intervals of rates were made and why some are missing, one sentence each."""
    known = [rate for rate in estimates if rate.is_share and rate.value is not None and rate.n]
    rates = [rate for rate in known if rate.statistic in ("accuracy", "share of answers")]
    made = dict.fromkeys(rate.interval_method for rate in rates if rate.low is not None)
    missing = reasons_together(rate.reason for rate in rates if rate.low is None)
    notes = [f"Intervals (95 %): {'; '.join(filter(None, made))}."] if made else []
    return [*notes, *([f"No interval where there is a dash ({missing})."] if missing else [])]


def shown(value: float | None, digits: int) -> str:
    """A number to read."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def _with_interval(estimate: Estimate) -> str:
    if estimate.value is None:
        return UNKNOWN
    return f"{estimate.value:.3f} {interval(estimate.low, estimate.high)}"
