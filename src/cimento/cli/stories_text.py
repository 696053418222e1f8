"""What ``cimento run`` prints of stories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cimento.report.wording import interval, p_number, signed
from cimento.stories.compare import Comparison
from cimento.stories.records import TIERS
from cimento.stories.text import (
    Rows,
    at,
    flow_rows,
    grouping_rows,
    interval_notes,
    interval_text,
    mapping,
    number,
    shown,
)
from cimento.suites.model import JsonValue
from cimento.verdicts.kinds import rates_only


def run_tables(summary: Mapping[str, JsonValue]) -> dict[str, Rows]:
    """The tables of one run, by their titles.

    Args:
        summary: as `cimento.stories.summary.summarize` gives it.
    """
    asked = summary.get("questions")
    if isinstance(asked, list):
        return {"Questions beside the tiers": question_rows(asked)}
    return {
        "Right at this tier and all before, beside constant answers and chance (counted, so"
        " without intervals)": grouping_rows(summary),
        "Each tier by itself, all stories that have an answer there; greedy: without interval": (
            tier_rows(summary)
        ),
        "Flow of implausible stories through the tiers, without intervals": flow_rows(summary),
    }


def tier_rows(summary: Mapping[str, JsonValue]) -> Rows:
    """Accuracy of each tier whatever came before, with ties, unread and unscored answers."""
    rows: Rows = [("tier", "accuracy", "95 %", "n", "ties", "greedy", "unread", "unscored")]
    for tier in TIERS:
        rate, here = at(summary, "untiered", tier), at(summary, "per_task", tier)
        count = at(rate, "count")
        unscored = at(here, "unscored")
        rows.append(
            (
                tier,
                shown(number(rate, "value"), 3),
                str(at(rate, "reason") or interval_text(rate)),
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
    rows: Rows = [("", "share", "95 %", "right", "n", "chance")]
    for each in found:
        rows.append(
            (
                str(at(each, "name")),
                shown(number(each, "value"), 3),
                interval_text(each),
                shown(number(each, "right"), 0),
                shown(number(each, "n"), 0),
                shown(number(each, "chance"), 2),
            )
        )
    return rows


def run_notes(summary: Mapping[str, JsonValue]) -> list[str]:
    """How the intervals of a run were made, and why some are not there."""
    asked = summary.get("questions")
    if isinstance(asked, list):
        return interval_notes(asked)
    groupings = mapping(at(summary, "rates")).values()
    return interval_notes(
        rate for rates in (at(summary, "untiered"), *groupings) for rate in mapping(rates).values()
    )


def comparison_rows(compared: Sequence[Comparison]) -> Rows:
    """Models against each other."""
    several = len(compared) > 1
    rows: Rows = [
        ("first", "second", "n", "only first", "only second", "change", "95 %", "p")
        + (("Holm p",) if several else ())
    ]
    for each in compared:
        head = (each.first, each.second, str(each.n))
        if each.change is None or each.test is None:
            rows.append((*head, each.reason, *("-" for _ in rows[0][4:])))
            continue
        change = each.change
        row = (
            *head,
            str(each.only_first_correct),
            str(each.only_second_correct),
            signed(change.estimate, digits=3),
            interval(change.low, change.high),
            p_number(each.test.p),
        )
        rows.append((*row, p_number(each.p_holm)) if several else row)
    return rows


def comparison_notes(compared: Sequence[Comparison], kinds: Iterable[str]) -> list[str]:
    """How the tests were made, and what must be known of the models.

    Args:
        compared: every pair of models of one suite.
        kinds: of these models.
    """
    tests = [each.test for each in compared if each.test is not None]
    family = f"; Holm over these {len(compared)} pairs" if len(compared) > 1 else ""
    notes = [f"p: {', '.join(dict.fromkeys(test.method for test in tests))}{family}."]
    missing = [test.reason for test in tests]
    missing += [each.change.reason for each in compared if each.change is not None]
    notes += [f"Not there: {reason}." for reason in dict.fromkeys(missing) if reason]
    tied = max((each.tied for each in compared), default=0)
    if tied:
        notes.append(f"A tie is not right here (up to {tied} stories of a pair of models).")
    note = rates_only(kinds)
    return [*(notes if tests else []), *([note] if note else [])]
