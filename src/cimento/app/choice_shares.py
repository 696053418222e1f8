"""How often each sentence was chosen, or called acceptable: on the page, and as tables."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

from cimento.app.answer_tables import Labels, condition_shown, shown_apart
from cimento.app.frame import Text, Visit, heading
from cimento.app.incoming import asked_about
from cimento.app.labels import suite_of
from cimento.app.parts import table
from cimento.app.words import Words, percent, reason_of
from cimento.errors import CimentoError
from cimento.intake.words import apart_from, told_cell, told_side, told_tie
from cimento.io.values import grouped
from cimento.judgments import ACCEPTABLE, BETTER, BOTH, NONE, Judgment
from cimento.judgments.effects import SentenceShare, condition_shares
from cimento.people.surveys import SurveyDesign
from cimento.report.cells import count
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.statistics.intervals import wilson

Options: TypeAlias = Mapping[tuple[str, str], Sequence[tuple[str, str]]]
"""Suite and item to the conditions and sentences that could be chosen."""

_SIDES = ("good", "bad")
_OF_SHARES = (BETTER, ACCEPTABLE)


async def options_about(
    visit: Visit, judgments: Sequence[Judgment], design: SurveyDesign | None
) -> Options:
    """The sentences that people could choose, as far as a survey or a test has them.

    Args:
        visit: what the page is built for.
        judgments: the answers.
        design: of the survey; None where there is none, and then the tests are looked for.
    """
    if design is not None:
        return grouped(
            ((design.source.suite, question.item), (choice.condition, choice.value))
            for question in design.questions
            for choice in question.choices
        )
    found: dict[tuple[str, str], Sequence[tuple[str, str]]] = {}
    for suite in dict.fromkeys(one.suite for one in judgments if one.question == BETTER):
        with contextlib.suppress(CimentoError):
            places = asked_about(await asyncio.to_thread(suite_of, visit, suite))
            asked = await asyncio.to_thread(partial(places, stored=False))
            found |= {
                place: [(one.condition, one.text) for one in sentences]
                for place, sentences in asked.alternatives().items()
            }
    return found


def has_ties(judgments: Sequence[Judgment]) -> bool:
    """Whether somebody chose both sentences of an item, or neither."""
    return any(one.question == BETTER and one.value in (BOTH, NONE) for one in judgments)


def show_shares(shares: Sequence[SentenceShare], labels: Labels, say: Words) -> None:
    """Show how often each sentence was chosen, in the place where the page is being built.

    Args:
        shares: of the sentences; nothing is shown where there are none.
        labels: of the sentences.
        say: the words of the page.
    """
    _show(shares, labels, say, title="shares", n="chosen")
    if any(one.sentence in (BOTH, NONE) for one in shares):
        Text(say("people.ties-what")).classes("small")


def show_accepted(shares: Sequence[SentenceShare], labels: Labels, say: Words) -> None:
    """Show how often each sentence was called acceptable; see `show_shares`."""
    _show(shares, labels, say, title="accepted", n="yes")


def _show(
    shares: Sequence[SentenceShare], labels: Labels, say: Words, *, title: str, n: str
) -> None:
    if not shares:
        return
    heading(say(f"people.{title}"), level=3)
    own = labels.columns(_places(shares))
    of = shown_apart(("item", "condition", "sentence", n, "share", "wilson"), own, say)
    columns = {
        of["item"]: [one.item for one in shares],
        of["condition"]: [_condition(one.condition, say) for one in shares],
        of["sentence"]: [told_tie(one.sentence, say.language) for one in shares],
        **own,
        of[n]: [f"{say.number(one.n)}/{say.number(one.of)}" for one in shares],
        of["share"]: [percent(100 * one.n / one.of, say) for one in shares],
        of["wilson"]: [_percents(*wilson(one.n / one.of, one.of), say) for one in shares],
    }
    if len({one.condition for one in shares}) == 1:  # no test says what they are, or a list does
        del columns[of["condition"]]
    table([*columns], [list(row) for row in zip(*columns.values(), strict=True)])


def _percents(low: float | None, high: float | None, say: Words) -> str:
    """Both ends of the interval of a proportion, in percent."""
    if low is None or high is None:
        return ""
    return f"{percent(100 * low, say)} – {percent(100 * high, say)}"


def show_overall(judgments: Sequence[Judgment], say: Words) -> None:
    """Show the proportions of all choices and of all answers yes, by condition, with intervals.

    Args:
        judgments: the answers; choices of which no test says what was chosen are left out.
        say: the words of the page.
    """
    shares = [one for one in condition_shares(judgments) if one.question in _OF_SHARES]
    if not shares:
        return
    heading(say("people.overall"), level=3)
    titles = ["question", "condition", "judgments", "share", "ci-sentences", "ci-people"]
    rows = [
        [
            say.named("question", one.question),
            told_tie(_condition(one.condition, say), say.language),
            say.number(one.n),
            percent(100 * one.share, say),
            _percents(one.these.low, one.these.high, say) or "–",
            _percents(one.others.low, one.others.high, say) or "–",
        ]
        for one in shares
    ]
    if len(shares) == 1:  # of a list, whose sentences have one name for all
        del titles[1], rows[0][1]
    table([say(f"people.of-{name}") for name in titles], rows)
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for one in shares:
        for name, interval in (("ci-sentences", one.these), ("ci-people", one.others)):
            if interval.low is None:
                why = reason_of(interval.reason, say)
                shown = told_tie(_condition(one.condition, say), say.language)
                reasons.setdefault((name, why), {})[shown] = None
    for (name, why), of_reason in reasons.items():
        Text(
            say("people.labels-none", interval=say(f"people.of-{name}"), reason=why,
                labels=", ".join(of_reason))
        ).classes("small")  # fmt: skip
    Text(say("people.overall-what")).classes("small")


def _condition(condition: str, say: Words) -> str:
    """A condition; that of the sentences of pairs says which of them is good."""
    if condition in _SIDES:
        return say(f"people.side-{condition}")
    return condition_shown(condition, say)


def _places(shares: Sequence[SentenceShare]) -> list[tuple[str, str, str]]:
    return [(one.suite, one.item, one.condition) for one in shares]


def shares_grid(
    shares: Sequence[SentenceShare], labels: Labels, language: str, *, title: str = "shares"
) -> Grid:
    """How often each sentence was chosen, or called acceptable, as a table with 95% intervals.

    The intervals are Wilson's (1927, doi:10.1080/01621459.1927.10502953), for other people.

    Args:
        shares: of the sentences.
        labels: of the sentences, which have a column for each name.
        language: of the headings, ISO 639-1.
        title: ``shares`` or ``accepted``.
    """
    texts = ("suite", "item", "condition", "sentence")
    numbers = (
        "chosen_n" if title == "shares" else "yes_n",
        "of_n",
        "share",
        "share_low",
        "share_high",
    )
    own = labels.names
    return Grid(
        title=title,
        header=(
            *(apart_from(name, language, own) for name in texts), *own,
            *(apart_from(name, language, own) for name in numbers),
        ),
        labels=len(texts) + len(labels.names),
        rows=tuple(
            (
                one.suite, one.item,
                told_side(told_cell(one.condition, language), language),
                told_tie(one.sentence, language), *labels.of(one.suite, one.item, one.condition),
                count(one.n), count(one.of),
                *(
                    number(value, digits=4)
                    for value in (one.n / one.of, *wilson(one.n / one.of, one.of))
                ),
            )
            for one in shares
        ),
    )  # fmt: skip
