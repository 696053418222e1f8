"""What ``cimento run`` prints of stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cimento.stories.compare import Comparison
from cimento.stories.records import TIERS
from cimento.stories.text import Rows, at, flow_rows, grouping_rows, number, shown
from cimento.suites.model import JsonValue


def run_tables(summary: Mapping[str, JsonValue]) -> dict[str, Rows]:
    """The tables of one run, by their titles.

    Args:
        summary: as `cimento.stories.summary.summarize` gives it.
    """
    asked = summary.get("questions")
    if isinstance(asked, list):
        return {"Questions beside the tiers": question_rows(asked)}
    return {
        "Right at this tier and all before, beside constant answers and chance": grouping_rows(
            summary
        ),
        "Each tier by itself, all stories that have an answer there": tier_rows(summary),
        "Flow of implausible stories through the tiers": flow_rows(summary),
    }


def tier_rows(summary: Mapping[str, JsonValue]) -> Rows:
    """Accuracy of each tier whatever came before, with ties, unread and unscored answers."""
    rows: Rows = [("tier", "accuracy", "Wilson 95", "n", "ties", "greedy", "unread", "unscored")]
    for tier in TIERS:
        rate, here = at(summary, "untiered", tier), at(summary, "per_task", tier)
        count, ends = at(rate, "count"), at(rate, "wilson95")
        unscored = at(here, "unscored")
        rows.append(
            (
                tier,
                shown(number(rate, "value"), 3),
                _interval(ends) if ends else str(at(rate, "reason") or "-"),
                str(count[1]) if isinstance(count, list) else "-",
                shown(number(here, "n_ties_at_max"), 0),
                shown(number(here, "any_choice_greedy_rate"), 2),
                shown(number(here, "invalid"), 0),
                str(len(unscored)) if isinstance(unscored, Mapping) else "-",
            )
        )
    return rows


def question_rows(found: Sequence[JsonValue]) -> Rows:
    """How often questions beside the tiers are right."""
    rows: Rows = [("", "share", "Wilson 95", "right", "n", "chance")]
    for each in found:
        rows.append(
            (
                str(at(each, "name")),
                shown(number(each, "value"), 3),
                _interval(at(each, "wilson95")),
                shown(number(each, "right"), 0),
                shown(number(each, "n"), 0),
                shown(number(each, "chance"), 2),
            )
        )
    return rows


def _interval(ends: JsonValue) -> str:
    return "[" + ", ".join(f"{end:.3f}" for end in ends) + "]" if isinstance(ends, list) else "-"


def comparison_rows(compared: Sequence[Comparison]) -> Rows:
    """Models against each other."""
    rows: Rows = [("models", "n", "only first", "only second", "McNemar exact p", "Holm p")]
    rows += [
        (
            f"{each.first} vs {each.second}",
            str(each.n),
            str(each.only_first_correct),
            str(each.only_second_correct),
            each.reason if each.p is None else f"{each.p:.3g}",
            "-" if each.p_holm is None else f"{each.p_holm:.3g}",
        )
        for each in compared
    ]
    return rows
