"""The questions that people were asked, found by any name that their answers have for them."""

from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cimento.errors import InputError, counted, did_you_mean
from cimento.intake.scale_ends import without_scale
from cimento.judgments import NOT_OF_SUITE, finite
from cimento.suites.letters import one_spelling

_TAG = re.compile(r"<[^<>]*>")
_BRACKETED = re.compile(r".*\[(?P<row>[^\[\]]+)\]\s*")
"""The heading of a column of a grid in form programs: the question, its row in brackets."""

_NUMBER = re.compile(r"\(?[A-Za-z]{0,2}[0-9]{1,3}\s?[.):]\s*")
"""The number that a form or its author wrote before a question: ``1. ``, ``2)``, ``Q3: ``."""


GRID_DASH = " - "
"""What Qualtrics writes between the question of a grid and its row."""

_SHOWN_NAMES = 3
_NEAR = 0.8
"""Least ratio of matching characters (difflib's) of a heading that is named beside a sentence."""


class AnswerValue(NamedTuple):
    """An answer as a file has it, as it is kept, and the condition that it prefers."""

    given: str
    value: str
    condition: str = ""


@dataclass(frozen=True, slots=True)
class AskedItem:
    """A question of a suite, or of the design of a survey, which has the fields from `trial` on.

    Attributes:
        suite: name of the suite.
        item: id of the item.
        condition: of the item; empty for blanks.
        text: what was shown.
        trial: id of the question in the design.
        question: what the judgments table calls it; empty where the answers say it.
        candidate: what is judged; empty for the text.
        expected: the correct answer of an attention check; empty for every other question.
        scale: ends of the scale, the worst first; empty where there is none.
        answers: that can be given; empty for any.
        surveys: that ask it.
    """

    suite: str
    item: str
    condition: str
    text: str
    trial: str = ""
    question: str = ""
    candidate: str = ""
    expected: str = ""
    scale: str = ""
    answers: tuple[AnswerValue, ...] = ()
    surveys: tuple[str, ...] = ()

    def answer(self, text: str) -> AnswerValue | None:
        """An answer as it is kept; None where nobody could give it."""
        if not self.answers:
            return AnswerValue(text, text)
        number = finite(text)
        for shown in (text, "" if number is None else f"{number:g}"):
            key = comparable_text(shown).casefold()
            for answer in self.answers:
                if key and comparable_text(answer.given).casefold() == key:
                    return answer
        return None

    def in_place(self, choice: int) -> AnswerValue | None:
        """The answer in a place, from 0; where none are named, that of a scale from 1.

        Args:
            choice: place among the answers that could be given.

        Returns:
            None where there is no such place.
        """
        if not self.answers:
            return AnswerValue(str(choice), str(choice + 1))
        by_value = {answer.value: answer for answer in reversed(self.answers)}
        values = list(dict.fromkeys(answer.value for answer in self.answers))
        return by_value[values[choice]] if choice < len(values) else None


class AskedItems:
    """The index of the questions of suites by all names that answers may use.

    Args:
        named: each place with its names: an id, an id with its condition, the text.
        complete: whether all that people were asked is there: of a design, attention checks too.
    """

    def __init__(
        self, named: Iterable[tuple[AskedItem, Iterable[str]]], *, complete: bool = False
    ) -> None:
        self.complete = complete
        self._by_name: dict[str, set[AskedItem]] = {}
        self._by_trial: dict[str, set[AskedItem]] = {}
        self._hints: dict[str, str] = {}
        self._alternatives: dict[tuple[str, str], list[AskedItem]] | None = None
        for place, names in named:
            if place.trial:
                self._by_trial.setdefault(place.trial, set()).add(place)
            for name in names:
                if key := comparable_text(name):
                    self._by_name.setdefault(key, set()).add(place)

    def __bool__(self) -> bool:
        """Whether there is any place."""
        return bool(self._by_name)

    def sizes(self) -> Mapping[str, int]:
        """The number of questions of each survey of a design; attention checks do not count."""
        asked = {place for places in self._by_name.values() for place in places}
        trials = {
            (survey, place.trial)
            for place in asked
            if not place.expected and place.question not in NOT_OF_SUITE
            for survey in place.surveys
        }
        return Counter(survey for survey, _ in trials)

    def unanswered(self, trials: Collection[str], surveys: Collection[str]) -> list[AskedItem]:
        """The questions of a design that some surveys ask and that have no answer.

        Args:
            trials: ids of the questions that were answered.
            surveys: that somebody answered.
        """
        return [
            place
            for trial, (place, *_) in ((trial, [*p]) for trial, p in self._by_trial.items())
            if trial not in trials
            and place.question not in NOT_OF_SUITE
            and not {*place.surveys}.isdisjoint(surveys)
        ]

    def alternatives(self) -> Mapping[tuple[str, str], Sequence[AskedItem]]:
        """The sentences of each item that has several, by suite and item."""
        if self._alternatives is None:
            found: dict[tuple[str, str], list[AskedItem]] = {}
            for place in dict.fromkeys(p for places in self._by_name.values() for p in places):
                if place.text and place.condition:
                    found.setdefault((place.suite, place.item), []).append(place)
            self._alternatives = {
                item: sorted(places, key=lambda place: place.condition)
                for item, places in found.items()
                if len(places) > 1
            }
        return self._alternatives

    def shown_in(self, suites: Collection[str]) -> list[AskedItem]:
        """The questions of some suites that show a text, in order."""
        return [
            *dict.fromkeys(
                place
                for places in self._by_name.values()
                for place in sorted(places, key=lambda place: (place.item, place.condition))
                if place.text and place.suite in suites
            )
        ]

    def find(self, *names: str, where: str) -> AskedItem | None:
        """The place of the first known name; None where none is known.

        Raises:
            InputError: a name means more than one place.
        """
        for name in (variant for shown in names for variant in _variants(shown)):
            meant = self._by_name.get(name, set())
            if len(meant) > 1:
                shown = ", ".join(sorted(f"{p.item} {p.condition}".strip() for p in meant)[:3])
                raise InputError(
                    where=where,
                    seen=f"{name!r} may be any of {shown} ...",
                    todo="Say which by the item's id and its condition.",
                )
            if meant:
                return next(iter(meant))
        for shown in names:
            # A heading such as "q7. Which sentence is better?" begins with the question's id.
            first = comparable_text(shown).partition(" ")[0].rstrip(".:)")
            if len(meant := self._by_trial.get(first, set())) == 1:
                return next(iter(meant))
        return None

    def only_without(self, plain: Callable[[str], str], *names: str) -> bool:
        """Whether a question is known only without what a form writes beside its sentence.

        Args:
            plain: gives a text without that.
            names: what the question may be called.
        """
        parts = [part for name in names for part in _parts(comparable_text(name))]
        if not self._by_name.keys().isdisjoint(parts):
            return False
        return any(
            plain(part) != part and not self._by_name.keys().isdisjoint(_bare(part))
            for part in parts
        )

    def hint(self, name: str) -> str:
        """A hint for an unknown name: similar names, else the first known ones."""
        if name not in self._hints:
            key, known = comparable_text(name), self._by_name
            close = difflib.get_close_matches(key, known, n=1)
            examples = ", ".join(map(repr, itertools.islice(known, _SHOWN_NAMES)))
            self._hints[name] = (
                did_you_mean(key, known)
                if close
                else f"Is it the suite that was asked? Its items are called {examples} ..."
            )
        return self._hints[name]


def without_number(name: str) -> str:
    """The text of a question without the number before it; the same text if there is none.

    >>> without_number("12) Il treno parte."), without_number("12")
    ('Il treno parte.', '12')
    """
    match = _NUMBER.match(name)
    rest = name[match.end() :] if match else ""
    return rest if any(map(str.isalpha, rest)) else name


def numbers_before(names: Sequence[str]) -> dict[str, str]:
    """The texts of questions that their form numbers, each with its text without the number.

    One sentence may begin with a number; where all do, each with another one, they are numbered.

    Args:
        names: the texts of the questions of one table.

    Returns:
        Nothing where one of them has no number, or the numbers tell apart what is otherwise alike.
    """
    plain = {name: without_number(name) for name in names}
    numbers = {name.removesuffix(text).strip() for name, text in plain.items()}
    are_numbered = len(names) > 1 and "" not in numbers and len(numbers) == len(names)
    return plain if are_numbered and len({*plain.values()}) == len(names) else {}


def kept_without(beside: str, plain: Mapping[str, str]) -> Iterator[str]:
    """What is said of questions that are kept without what their form writes beside them.

    Args:
        beside: what that is, and on which side: ``number before``, ``scale after``.
        plain: the questions, each with its sentence; nothing is said of none.
    """
    if plain:
        first = next(iter(plain))
        n = counted(len(plain), "question is", "questions are")
        yield f"{n} kept without the {beside} the sentence, such as {first!r}."


def comparable_text(text: str) -> str:
    """A text as places are compared: in one spelling, without tags, with single blanks."""
    return " ".join(one_spelling(_TAG.sub(" ", text)).split())


def nearest(text: str, headings: Iterable[str]) -> str:
    """The heading, or row of a grid, that is nearly a text; empty if none is."""
    known = {variant: heading for heading in headings for variant in _variants(heading)}
    close = difflib.get_close_matches(comparable_text(text), known, n=1, cutoff=_NEAR)
    return known[close[0]] if close else ""


def _variants(name: str) -> Iterator[str]:
    plain = list(_parts(comparable_text(name)))
    yield from plain
    for part in plain:
        yield from _bare(part)


def _bare(part: str) -> set[str]:
    """A text without the number before it, without the scale behind it, and without either."""
    unnumbered = without_number(part)
    return {unnumbered, without_scale(part), without_scale(unnumbered)}


def _parts(whole: str) -> Iterator[str]:
    """The heading of a column, the row of a grid in it, and what follows each dash."""
    if whole:
        yield whole
    if match := _BRACKETED.fullmatch(whole):
        yield comparable_text(match["row"])
    tail = whole
    while GRID_DASH in tail:
        tail = tail.partition(GRID_DASH)[2]
        # Not a lone number, which may be the id of some item.
        if any(char.isalpha() for char in tail):
            yield tail
