"""The ends of the scale that ratings are on: what answers from elsewhere do not say themselves."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nicegui import ui

from cimento.app.findings import button
from cimento.app.frame import Text, Visit, guarded
from cimento.app.parts import number_field, number_in, refused
from cimento.app.rated import ratings_of
from cimento.judgments import (
    SCALE,
    Judgment,
    how_read,
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.judgments.summaries import is_rated, rating_of
from cimento.suites.ratings import rating_as_text

_ENDS = ("worst", "best")
"""The ends of a scale."""

_SHOWN = 5
"""Ratings beyond the scale that are named."""

Scale = tuple[float, float]
"""The ends of a scale, the lower first."""

INVERTED = (
    "The ratings are inverted, as somebody said: in the file {:g} is the best, {:g} the worst."
)
"""What is said of such answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleChoice:
    """What somebody says of the scale of some ratings.

    Attributes:
        ends: the lower one first.
        inverts: whether the lower one is the best, so that the ratings are turned round.
        leaves: whether the ratings beyond an end are left out.
    """

    ends: Scale
    inverts: bool = False
    leaves: bool = False

    def of(self, judgments: Sequence[Judgment]) -> tuple[list[Judgment], list[str]]:
        """The answers as they are kept, and what is said of them.

        Args:
            judgments: all answers, ratings or not.
        """
        said = []
        if self.leaves and (beyond := beyond_ends(judgments, self.ends)):
            judgments = [one for one in judgments if not _is_beyond(one, self.ends)]
            values = ", ".join(f"{rating:g}" for rating in ratings_of(beyond)[:_SHOWN])
            low, high = self.ends
            said.append(
                f"Left out, as somebody said: ratings off the scale from {low:g} to {high:g}"
                f" ({values}), {len(beyond)} in all."
            )
        if self.inverts:
            judgments = _inverted(judgments, self.ends)
            said.append(INVERTED.format(*self.ends))
        return _on_scale(judgments, self.ends), said

    def keep(self, place: Path) -> None:
        """Write answers in place of themselves as they are with the scale.

        Args:
            place: of their table.

        Raises:
            StorageError: it cannot be written.
        """
        judgments, said = self.of(judgments_of(read_judgments(place)))
        read = "\n".join([*how_read(place).splitlines(), *said])
        write_judgments(table_of(judgments), place, read=read)


def scale_of(judgments: Sequence[Judgment]) -> Scale | None:
    """The ends of the scale that the answers have with them; None without one, or with several."""
    scales = {one.scale for one in judgments if one.counts and is_rated(one.question)}
    ends = SCALE.fullmatch(next(iter(scales)) or "") if len(scales) == 1 else None
    return (float(ends[1]), float(ends[2])) if ends else None


def beyond_ends(judgments: Sequence[Judgment], scale: Scale) -> list[Judgment]:
    """The ratings that are beyond an end of a scale."""
    return [one for one in judgments if _is_beyond(one, scale)]


def _is_beyond(judgment: Judgment, scale: Scale) -> bool:
    """Whether an answer is a rating beyond an end of a scale."""
    return any(not scale[0] <= rating <= scale[1] for rating in ratings_of([judgment]))


def _on_scale(judgments: Sequence[Judgment], scale: Scale) -> list[Judgment]:
    ends = "{:g} to {:g}".format(*scale)
    return [
        replace(one, scale=ends) if one.counts and is_rated(one.question) else one
        for one in judgments
    ]


def _inverted(judgments: Sequence[Judgment], scale: Scale) -> list[Judgment]:
    return [
        replace(one, value=rating_as_text(sum(scale) - rating))
        if one.counts and is_rated(one.question) and (rating := rating_of(one)) is not None
        else one
        for one in judgments
    ]


class ScaleForm:
    """The ends of the scale that ratings are on.

    Args:
        visit: what the page is built for.
        judgments: the answers, of which some are ratings in numbers.
        take: what is done with what somebody says of the scale.
        rows_of: gives the rows of a file in which an answer is; none where the file is not known.
        named: the ends that the headings of the file name, while nobody has confirmed them; None
            for none.
        is_inverted: whether the ratings were turned round before.
    """

    def __init__(
        self,
        visit: Visit,
        judgments: Sequence[Judgment],
        take: Callable[[ScaleChoice], Awaitable[None]],
        rows_of: Callable[[Judgment], Sequence[int]],
        *,
        named: Scale | None,
        is_inverted: bool,
    ) -> None:
        self._visit, self._say, self._take = visit, visit.say, take
        self._judgments, self._rows_of = judgments, rows_of
        self._known, self._ratings = scale_of(judgments), ratings_of(judgments)
        self._named = named
        self._is_inverted = is_inverted

    @property
    def waits(self) -> bool:
        """Whether nobody has said yet what is so of ratings beyond the scale in the headings."""
        return bool(self._named and beyond_ends(self._judgments, self._named))

    def build(self) -> None:
        """Build the form in the place where it is called."""
        say, ends = self._say, self._known or self._named or (None, None)
        least, most = (say.number(end(self._ratings), ",g") for end in (min, max))
        with ui.element("div").classes("scale" if self._known else "mend"):
            Text(self._asked())
            Text(say("people.scale-seen", least=least, most=most)).classes("small")
            if self._named and self.waits:
                told = self._told(beyond_ends(self._judgments, self._named))
                Text(say("people.scale-waits", ratings=told)).mark("scale-waits")
            with ui.element("div").classes("tools"):
                self._fields = [
                    number_field(say(f"people.{name}"), value=end).classes("end")
                    for name, end in zip(_ENDS, ends, strict=True)
                ]
                button(say("people.scale-do"), guarded(self._visit, self.keep), icon="check")
            leave = guarded(self._visit, self._leave)
            self._leaving = button(say("people.off-scale-leave"), leave, icon="block")
            self._leaving.set_visibility(self.waits)
            self._invert = ui.checkbox(say("people.scale-invert")).mark("invert")
            self._invert.set_visibility(not self._is_inverted)

    def _asked(self) -> str:
        if self._known:
            return self._say("people.scale-known")
        if self._named:
            least, most = (self._say.number(end, ",g") for end in self._named)
            return self._say("people.scale-named", least=least, most=most)
        return self._say("people.scale-ask")

    async def keep(self) -> None:
        """Keep the ends with the answers, if they are new.

        Raises:
            InputError: an end is missing, or a rating is beyond one.
        """
        ends, inverts = self._typed()
        low, high = ends
        of_low, of_high = sorted(self._fields, key=self._end)
        for field, side in ((of_low, (low, math.inf)), (of_high, (-math.inf, high))):
            if beyond := beyond_ends(self._judgments, side):
                self._leaving.set_visibility(True)
                raise refused(field, self._say("people.off-scale", ratings=self._told(beyond)))
        if inverts or ends != self._known:
            self._known = ends
            await self._take(ScaleChoice(ends=ends, inverts=inverts))

    async def _leave(self) -> None:
        """Go on without the ratings that are beyond the ends.

        Raises:
            InputError: an end is missing, or every rating is beyond one.
        """
        ends, inverts = self._typed()
        if len(beyond_ends(self._judgments, ends)) == len(self._ratings):
            raise refused(self._fields[1], self._say("people.off-scale-all"))
        self._known = ends
        await self._take(ScaleChoice(ends=ends, inverts=inverts, leaves=True))

    def _typed(self) -> tuple[Scale, bool]:
        """The ends that are typed, and whether the ratings are turned round.

        Raises:
            InputError: an end is missing, or they are in an order that is not clear.
        """
        worst, best = map(self._end, self._fields)
        inverts = bool(self._invert.value)
        if worst == best or (worst > best and not inverts):
            raise refused(self._fields[1], self._say("people.ends-order"))
        # With the box, the ends are clear in either order.
        return (min(worst, best), max(worst, best)), inverts

    def _told(self, beyond: Sequence[Judgment]) -> str:
        """Ratings beyond an end, each with its person and sentence."""
        say = self._say
        found = [
            say("people.off-scale-one", rating=say.number(rating, ",g"), person=one.annotator or "",
                sentence=one.candidate or one.item) + self._place(one)
            for one, rating in zip(beyond[:_SHOWN], ratings_of(beyond[:_SHOWN]), strict=True)
        ]  # fmt: skip
        return "; ".join([*found, *(["..."] if len(beyond) > _SHOWN else [])])

    def _place(self, judgment: Judgment) -> str:
        """The rows of the file that has an answer, behind its text; nothing where it is unknown."""
        rows = ", ".join(map(str, self._rows_of(judgment)))
        return f" ({self._say('people.off-scale-rows', rows=rows)})" if rows else ""

    def _end(self, field: ui.input) -> float:
        end = number_in(field, self._say)
        if end is None:
            raise refused(field, self._say("people.both-ends"))
        return end
