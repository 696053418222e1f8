"""How often each sentence was chosen: on the page, and as a table for spreadsheet programs."""

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
from cimento.app.words import Words, percent
from cimento.errors import CimentoError
from cimento.intake.words import apart_from, told_cell, told_tie
from cimento.io.values import grouped
from cimento.judgments import BETTER, BOTH, NONE, Judgment
from cimento.judgments.effects import SentenceShare
from cimento.people.surveys import SurveyDesign
from cimento.report.cells import count
from cimento.report.formatting import number
from cimento.report.grid import Grid
from cimento.statistics.intervals import wilson

Options: TypeAlias = Mapping[tuple[str, str], Sequence[tuple[str, str]]]
"""Suite and item to the conditions and sentences that could be chosen."""

_SIDES = ("good", "bad")


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
    if not shares:
        return
    heading(say("people.shares"), level=3)
    own = labels.columns(_places(shares))
    of = shown_apart(("item", "condition", "sentence", "chosen", "share"), own, say)
    columns = {
        of["item"]: [one.item for one in shares],
        of["condition"]: [_condition(one.condition, say) for one in shares],
        of["sentence"]: [told_tie(one.sentence, say.language) for one in shares],
        **own,
        of["chosen"]: [f"{say.number(one.n)}/{say.number(one.of)}" for one in shares],
        of["share"]: [percent(100 * one.n / one.of, say) for one in shares],
    }
    if not any(one.condition for one in shares):  # no test says what they are
        del columns[of["condition"]]
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    table([*columns], rows)
    if any(one.sentence in (BOTH, NONE) for one in shares):
        Text(say("people.ties-what")).classes("small")


def _condition(condition: str, say: Words) -> str:
    """A condition; that of the sentences of pairs says which of them is good."""
    if condition in _SIDES:
        return say(f"people.side-{condition}")
    return condition_shown(condition, say)


def _places(shares: Sequence[SentenceShare]) -> list[tuple[str, str, str]]:
    return [(one.suite, one.item, one.condition) for one in shares]


def shares_grid(shares: Sequence[SentenceShare], labels: Labels, language: str) -> Grid:
    """How often each sentence was chosen as a table, with 95% intervals.

    The intervals are Wilson's (1927, doi:10.1080/01621459.1927.10502953), for other people.

    Args:
        shares: of the sentences.
        labels: of the sentences, which have a column for each name.
        language: of the headings, ISO 639-1.
    """
    texts = ("suite", "item", "condition", "sentence")
    own = labels.names
    numbers = ("chosen_n", "of_n", "share", "share_low", "share_high")
    return Grid(
        title="shares",
        header=(
            *(apart_from(name, language, own) for name in texts), *own,
            *(apart_from(name, language, own) for name in numbers),
        ),
        labels=len(texts) + len(labels.names),
        rows=tuple(
            (
                one.suite, one.item, told_cell(one.condition, language),
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
