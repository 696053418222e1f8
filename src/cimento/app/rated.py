"""Ratings in words, and the numbers that they stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from nicegui import ui

from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded, heading
from cimento.app.parts import number_field, number_in, table_of
from cimento.errors import InputError
from cimento.intake.rating_words import numbers_of_words
from cimento.judgments import Judgment
from cimento.judgments.summaries import is_rated, rating_of
from cimento.suites.ratings import rating_as_text

_LEAST = 2
"""Numbers of a scale that is told by its words alone."""


def words_of(judgments: Sequence[Judgment]) -> Counter[str]:
    """The ratings that are words, with the number of each."""
    rated = (one for one in judgments if one.counts and is_rated(one.question))
    return Counter(one.value or "" for one in rated if rating_of(one) is None)


def ratings_of(judgments: Sequence[Judgment]) -> list[float]:
    """The ratings that are numbers."""
    rated = (rating_of(one) for one in judgments if one.counts and is_rated(one.question))
    return [value for value in rated if value is not None]


def in_numbers(judgments: Sequence[Judgment], numbers: Mapping[str, float]) -> list[Judgment]:
    """The answers, with numbers in place of the words of ratings."""
    return [
        replace(one, value=rating_as_text(numbers[one.value]))
        if one.counts and is_rated(one.question) and one.value is not None and one.value in numbers
        else one
        for one in judgments
    ]


class WordsForm:
    """The words of ratings, each with the number that it stands for, to be confirmed.

    Args:
        visit: what the page is built for.
        words: the words and how often each was chosen.
        is_all: whether there are no ratings in numbers beside them.
        take: what is done with the numbers.
    """

    def __init__(
        self,
        visit: Visit,
        words: Counter[str],
        take: Callable[[Mapping[str, float]], Awaitable[None]],
        *,
        is_all: bool,
    ) -> None:
        self._visit, self._say, self._words, self._take = visit, visit.say, words, take
        self._is_all = is_all

    def build(self) -> None:
        """Build the form in the place where it is called."""
        # Beside numbers, the order of words does not say which of these they stand for.
        say, proposed = self._say, numbers_of_words(self._words) if self._is_all else {}
        order = list(proposed) or [word for word, _ in self._words.most_common()]
        with ui.element("div").classes("mend").mark("rating-words"):
            heading(say("people.words" if self._is_all else "people.words-some"), level=3)
            if not self._is_all:
                Text(say("people.words-some-what"))
            else:
                Text(say("people.words-proposed" if proposed else "people.words-unknown"))
            titles = [say(f"people.of-{name}") for name in ("word", "judgments", "number")]
            self._fields: dict[str, ui.input] = {}
            with table_of(titles, "plain-table"):
                for word in order:
                    with ui.element("tr"):
                        Text(word, "td")
                        Text(say.number(self._words[word]), "td")
                        with ui.element("td"):
                            number = proposed.get(word)
                            self._fields[word] = number_field(
                                say("people.number-for", word=word), value=number, bare=True
                            )
            Text(say("people.words-empty")).classes("small")
            button(say("people.words-do"), guarded(self._visit, self._confirm), icon="check")

    async def _confirm(self) -> None:
        """Take the numbers that are given.

        Raises:
            InputError: there is none, or all are the same.
        """
        given = {word: number_in(field, self._say) for word, field in self._fields.items()}
        numbers = {word: number for word, number in given.items() if number is not None}
        if len({*numbers.values()}) < (_LEAST if self._is_all else 1):
            seen = self._say("people.words-two" if self._is_all else "people.words-some-what")
            raise InputError(where=self._say("people.of-number"), seen=seen)
        await self._take(numbers)
