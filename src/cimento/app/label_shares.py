"""Choices between sentences by what their pairs are called, such as *agreement*: proportions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cimento.app.answer_tables import Labels, condition_shown
from cimento.app.frame import Text, heading
from cimento.app.parts import table
from cimento.app.words import Words, percent, reason_of
from cimento.io.values import grouped
from cimento.judgments import BETTER, Judgment
from cimento.judgments.effects import ConditionShare, condition_shares
from cimento.statistics.intervals import Interval
from cimento.suites import BAD, GOOD


@dataclass(frozen=True, slots=True)
class LabelShare:
    """How often one condition was chosen in the items with a label.

    Attributes:
        label: of the items.
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
    found = {}
    for number, name in enumerate(labels.names):
        by_label = grouped(
            (labels.of(one.suite, one.item, one.condition)[number], one) for one in chosen
        )
        by_label.pop("", None)
        if len(by_label) > 1:
            found[name] = [
                LabelShare(label, len({(one.suite, one.item) for one in answers}), share)
                for label, answers in by_label.items()
                for share in condition_shares(answers)
                if share.condition != BAD
            ]
    return found


def show_label_shares(judgments: Sequence[Judgment], labels: Labels, say: Words) -> None:
    """Show the proportions by label, in the place where the page is being built.

    Args:
        judgments: the answers.
        labels: of the items; nothing is shown where they have none.
        say: the words of the page.
    """
    found = label_shares(judgments, labels)
    names = ("condition", "items", "judgments", "share", "ci-items", "ci-people")
    for name, shares in found.items():
        heading(say("people.label-shares", name=name), level=3)
        titles = [name, *(say(f"people.of-{one}") for one in names)]
        table(titles, [_row(one, say) for one in shares])
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


def _row(one: LabelShare, say: Words) -> list[str]:
    share, condition = one.share, one.share.condition
    shown = say("people.side-good") if condition == GOOD else condition_shown(condition, say)
    return [
        one.label, shown, say.number(one.items), say.number(share.n),
        percent(100 * share.share, say), _ends(share.these, say), _ends(share.others, say),
    ]  # fmt: skip


def _ends(interval: Interval, say: Words) -> str:
    """Both ends of the interval of a proportion in percent, or a dash."""
    if interval.low is None or interval.high is None:
        return "–"
    return f"{percent(100 * interval.low, say)} – {percent(100 * interval.high, say)}"
