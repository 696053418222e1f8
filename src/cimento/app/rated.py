"""Ratings in words, and the ends of a scale: what answers from elsewhere do not say themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from nicegui import ui

from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded, heading
from cimento.app.parts import number_field, number_in, refused, table_of
from cimento.errors import InputError
from cimento.intake.rating_words import numbers_of_words
from cimento.judgments import SCALE, Judgment
from cimento.judgments.summaries import is_rated, rating_of
from cimento.suites.ratings import rating_as_text

ENDS = ("worst", "best")
"""The ends of a scale."""

_SHOWN = 5
"""Ratings beyond the scale that are named."""

Scale = tuple[float, float]
"""The ends of a scale, the worst first."""


def words_of(judgments: Sequence[Judgment]) -> Counter[str]:
    """The ratings that are words, with the number of each."""
    rated = (one for one in judgments if one.counts and is_rated(one.question))
    return Counter(one.value or "" for one in rated if rating_of(one) is None)


def ratings_of(judgments: Sequence[Judgment]) -> list[float]:
    """The ratings that are numbers."""
    rated = (rating_of(one) for one in judgments if one.counts and is_rated(one.question))
    return [value for value in rated if value is not None]


def scale_of(judgments: Sequence[Judgment]) -> Scale | None:
    """The ends of the scale that the answers have with them; None without one, or with several."""
    scales = {one.scale for one in judgments if one.counts and is_rated(one.question)}
    ends = SCALE.fullmatch(next(iter(scales)) or "") if len(scales) == 1 else None
    return (float(ends[1]), float(ends[2])) if ends else None


def on_scale(judgments: Sequence[Judgment], scale: Scale) -> list[Judgment]:
    """The answers, with the ends of the scale of all ratings."""
    ends = "{:g} to {:g}".format(*scale)
    return [
        replace(one, scale=ends) if one.counts and is_rated(one.question) else one
        for one in judgments
    ]


def inverted(judgments: Sequence[Judgment], scale: Scale) -> list[Judgment]:
    """The answers with all ratings on a scale turned round: its best becomes its worst."""
    return [
        replace(one, value=rating_as_text(sum(scale) - rating))
        if one.counts and is_rated(one.question) and (rating := rating_of(one)) is not None
        else one
        for one in judgments
    ]


INVERTED = (
    "The ratings are inverted, as somebody said: in the file {:g} is the best, {:g} the worst."
)
"""What is said of such answers."""


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
        if len({*numbers.values()}) < (len(ENDS) if self._is_all else 1):
            seen = self._say("people.words-two" if self._is_all else "people.words-some-what")
            raise InputError(where=self._say("people.of-number"), seen=seen)
        await self._take(numbers)


class ScaleForm:
    """The ends of the scale that ratings are on.

    Args:
        visit: what the page is built for.
        judgments: the answers, of which some are ratings in numbers.
        take: what is done with the ends, the lower first, and whether the lower one is the best.
        rows_of: gives the rows of a file in which an answer is; none where the file is not known.
        is_inverted: whether the ratings were turned round before.
    """

    def __init__(
        self,
        visit: Visit,
        judgments: Sequence[Judgment],
        take: Callable[[Scale, bool], Awaitable[None]],
        rows_of: Callable[[Judgment], Sequence[int]],
        *,
        is_inverted: bool,
    ) -> None:
        self._visit, self._say, self._take = visit, visit.say, take
        self._judgments, self._rows_of = judgments, rows_of
        self._known, self._ratings = scale_of(judgments), ratings_of(judgments)
        self._is_inverted = is_inverted

    def build(self) -> None:
        """Build the form in the place where it is called."""
        say, known = self._say, self._known or (None, None)
        least, most = (say.number(end(self._ratings), ",g") for end in (min, max))
        with ui.element("div").classes("scale" if self._known else "mend"):
            Text(say("people.scale-known" if self._known else "people.scale-ask"))
            Text(say("people.scale-seen", least=least, most=most)).classes("small")
            with ui.element("div").classes("tools"):
                self._fields = [
                    number_field(say(f"people.{name}"), value=end).classes("end")
                    for name, end in zip(ENDS, known, strict=True)
                ]
                button(say("people.scale-do"), guarded(self._visit, self.keep), icon="check")
            self._invert = ui.checkbox(say("people.scale-invert")).mark("invert")
            self._invert.set_visibility(not self._is_inverted)

    async def keep(self) -> None:
        """Keep the ends with the answers, if they are new.

        Raises:
            InputError: an end is missing, or a rating is beyond one.
        """
        worst, best = map(self._end, self._fields)
        invert = bool(self._invert.value)
        if worst == best or (worst > best and not invert):
            raise refused(self._fields[1], self._say("people.ends-order"))
        # With the box, the ends are clear in either order.
        low, high = sorted((worst, best))
        of_low, of_high = self._fields if worst < best else self._fields[::-1]
        for field, is_beyond in (
            (of_low, lambda rating: rating < low),
            (of_high, lambda rating: rating > high),
        ):
            if shown := self._beyond(is_beyond):
                raise refused(field, self._say("people.off-scale", ratings=shown))
        if invert or (low, high) != self._known:
            self._known = low, high
            await self._take((low, high), invert)

    def _beyond(self, is_beyond: Callable[[float], bool]) -> str:
        """The ratings beyond an end, each with its person and sentence; empty for none."""
        say = self._say
        found = [
            say("people.off-scale-one", rating=say.number(rating, ",g"), person=one.annotator or "",
                sentence=one.candidate or one.item) + self._place(one)
            for one in self._judgments
            if one.counts and is_rated(one.question)
            and (rating := rating_of(one)) is not None and is_beyond(rating)
        ]  # fmt: skip
        return "; ".join([*found[:_SHOWN], *(["..."] if len(found) > _SHOWN else [])])

    def _place(self, judgment: Judgment) -> str:
        """The rows of the file that has an answer, behind its text; nothing where it is unknown."""
        rows = ", ".join(map(str, self._rows_of(judgment)))
        return f" ({self._say('people.off-scale-rows', rows=rows)})" if rows else ""

    def _end(self, field: ui.input) -> float:
        end = number_in(field, self._say)
        if end is None:
            raise refused(field, self._say("people.both-ends"))
        return end
