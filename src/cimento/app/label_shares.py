"""Choices between sentences by what their pairs are called, such as *agreement*: proportions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cimento.app.answer_tables import Labels, condition_shown, heading_of, shown_apart
from cimento.app.frame import Text, heading
from cimento.app.parts import table
from cimento.app.words import Words, percent, reason_of
from cimento.intake.words import told_cell, told_side
from cimento.io.values import grouped
from cimento.judgments import BETTER, Judgment
from cimento.judgments.effects import ConditionShare, condition_shares
from cimento.report.cells import count
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.statistics.intervals import Interval
from cimento.suites import BAD, GOOD


@dataclass(frozen=True, slots=True)
class LabelShare:
    """How often one condition was chosen in the items with a label, or by a person.

    Attributes:
        label: of the items, or the person.
        items: number of items.
        share: of the condition.
    """

    label: str
    items: int
    share: ConditionShare


def label_shares(judgments: Sequence[Judgment], labels: Labels) -> dict[str, list[LabelShare]]:
    """The proportions of choices in the items with each label, by column of labels.

    Of pairs it is the proportion of the good sentence. A column with one label has none.

    Args:
        judgments: the answers; those that are not choices between sentences are left out.
        labels: of the items.
    """
    chosen = [one for one in judgments if one.question == BETTER and one.counts]
    sides = _sides(chosen)
    found = {}
    for at, name in enumerate(labels.names):
        by_label = grouped(
            (labels.of(one.suite, one.item, one.condition)[at], one) for one in chosen
        )
        by_label.pop("", None)
        if len(by_label) > 1:
            found[name] = [
                LabelShare(label, _n_items(answers), share)
                for label, answers in by_label.items()
                for share in condition_shares(answers, options=sides)
                if share.condition != BAD
            ]
    return found


def _sides(chosen: Sequence[Judgment]) -> tuple[str, ...]:
    """The good sentence, where it was one of those to choose from; nobody may have chosen it."""
    return (GOOD,) if {one.condition for one in chosen} & {GOOD, BAD} else ()


def good_shares(judgments: Sequence[Judgment]) -> dict[str, LabelShare]:
    """How often each person chose the good sentence of a pair; empty without such choices.

    The label is the person.

    Args:
        judgments: the answers; those that are not choices between sentences are left out.
    """
    chosen = [one for one in judgments if one.question == BETTER and one.counts]
    if not (sides := _sides(chosen)):
        return {}
    return {
        person: LabelShare(person, _n_items(answers), share)
        for person, answers in grouped((one.annotator or "", one) for one in chosen).items()
        for share in condition_shares(answers, options=sides)
        if share.condition == GOOD
    }


def _n_items(answers: Sequence[Judgment]) -> int:
    return len({(one.suite, one.item) for one in answers})


def group_shares_grid(
    found: Mapping[str, Sequence[LabelShare]], people: Mapping[str, LabelShare], language: str
) -> Grid:
    """The proportions of choices by label and by person, as a table for spreadsheet programs.

    Args:
        found: those of the items with each label, by column of labels.
        people: those of each person, which are about nobody else and have no interval.
        language: of the headings, ISO 639-1.
    """
    person = heading_of("annotator", language)
    rows = [(name, one, _ends_of(one.share)) for name, shares in found.items() for one in shares]
    rows += [(person, one, (None,) * 4) for one in people.values()]
    names = (
        "column", "label", "condition", "items_n", "of_n", "share", "sentences_low",
        "sentences_high", "people_low", "people_high",
    )  # fmt: skip
    return Grid(
        title="group_shares",
        header=tuple(heading_of(name, language) for name in names),
        labels=3,
        rows=tuple(
            (
                column, one.label,
                told_side(told_cell(one.share.condition, language), language),
                count(one.items), count(one.share.n), number(one.share.share, digits=4),
                *(number(end, digits=4, absent="") for end in ends),
            )
            for column, one, ends in rows
        ),
    )  # fmt: skip


def _ends_of(share: ConditionShare) -> tuple[float | None, ...]:
    """The ends of the intervals for other items, and for other people too."""
    return (share.these.low, share.these.high, share.others.low, share.others.high)


def show_label_shares(found: Mapping[str, Sequence[LabelShare]], say: Words) -> None:
    """Show the proportions by label, in the place where the page is being built.

    Args:
        found: as `label_shares` gives them; nothing is shown where there are none.
        say: the words of the page.
    """
    names = ("condition", "items", "judgments", "share", "ci-items", "ci-people")
    for name, shares in found.items():
        heading(say("people.label-shares", name=name), level=3)
        if is_plain := {one.share.condition for one in shares} == {GOOD}:
            Text(say("people.label-shares-good")).classes("small")
        shown = names[1:] if is_plain else names
        titles = [name, *shown_apart(shown, (name,), say).values()]
        table(titles, [_row(one, say, with_condition=not is_plain) for one in shares])
        reasons = dict.fromkeys(
            reason_of(interval.reason, say)
            for one in shares
            for interval in (one.share.these, one.share.others)
            if interval.low is None
        )
        for reason in reasons:
            Text(say("people.label-shares-none", reason=reason)).classes("small")
    if found:
        Text(say("people.label-shares-what")).classes("small")


def _row(one: LabelShare, say: Words, *, with_condition: bool) -> list[str]:
    share, condition = one.share, one.share.condition
    shown = say("people.side-good") if condition == GOOD else condition_shown(condition, say)
    return [
        one.label, *([shown] if with_condition else []), say.number(one.items), say.number(share.n),
        percent(100 * share.share, say), _ends(share.these, say), _ends(share.others, say),
    ]  # fmt: skip


def _ends(interval: Interval, say: Words) -> str:
    """Both ends of the interval of a proportion in percent, or a dash."""
    if interval.low is None or interval.high is None:
        return "–"
    return f"{percent(100 * interval.low, say)} – {percent(100 * interval.high, say)}"
