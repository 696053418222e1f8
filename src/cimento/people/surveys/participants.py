"""The participants' pages, which need no script, and the one link for people in a room.

Routes begin with a link's token. Everyone who opens the link of a room gets a link of their own.
"""

from __future__ import annotations

import asyncio
import functools
import json
import socket
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cimento.judgments import PRACTICE
from cimento.people.surveys import SurveyDesign, SurveyField, SurveyQuestion, storage
from cimento.people.surveys.exports import page
from cimento.people.surveys.orders import turned
from cimento.people.surveys.security import (
    ForbiddenError,
    RateLimits,
    digest,
    is_signed,
    read_form,
    read_signed,
    redirect,
    same,
    sign,
)
from cimento.people.surveys.storage import Participant
from cimento.people.surveys.timed import page_of, read_times
from cimento.people.surveys.writer import Writer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, Response
    from starlette.routing import BaseRoute

LONGEST_REMARK = 2000
LONGEST_BACKGROUND = 300
COOKIE = "cimento_room"
COOKIE_SECONDS = 86400
MOST_PEOPLE = 1000


LOCAL, EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104  # people in a room have to reach it
_ELSEWHERE = ("192.0.2.1", 9)
"""An address of documentation (RFC 5737), to which nothing is sent."""


def notice(design: SurveyDesign, name: str, *, status: int) -> HTMLResponse:
    """A page that says one thing, such as that a link is unknown."""
    return page("notice.html", design, status=status, name=name)


def is_practice(design: SurveyDesign, person: Participant, position: int) -> bool:
    """Whether the question at a place of a participant's order is for practice."""
    question: SurveyQuestion = design.by_id[person.questions[position - 1]]
    return question.kind == PRACTICE


def shown_fields(
    design: SurveyDesign, question: SurveyQuestion, person: Participant
) -> tuple[SurveyField, ...]:
    """The fields of a question as a participant sees them, with the answers in their order."""
    first, *rest = design.fields_of(question)
    choices = turned(first.choices, person.turns.get(question.id, 0))
    return (replace(first, choices=choices), *rest)


_OLDEST_FORM = 7 * 86400
_LONGEST_TOKEN = 64

_Handler: TypeAlias = Callable[["Request", Participant], Awaitable["Response"]]


@dataclass(frozen=True, slots=True)
class Participants:
    """The routes of participants.

    Attributes:
        design: what is asked.
        key: forms are signed with it.
        reader: a connection for reading, used by the event loop only.
        writer: through which everything is written.
        pace: limit on how often one participant may ask.
        strangers: limit on how often one address may ask for links that do not exist.
        is_trial: whether answers are not kept.
    """

    design: SurveyDesign
    key: bytes
    reader: sqlite3.Connection
    writer: Writer
    pace: RateLimits
    strangers: RateLimits
    is_trial: bool = False

    def routes(self) -> list[BaseRoute]:
        """The routes, for the application."""
        from starlette.routing import Route

        return [
            Route("/p/{token}", self._known(self.enter), name="enter"),
            Route("/p/{token}/consent", self._known(self.consent), methods=["POST"]),
            Route("/p/{token}/background", self._known(self.background), methods=["GET"]),
            Route("/p/{token}/background", self._known(self.tell), methods=["POST"]),
            Route("/p/{token}/pause/{position:int}", self._known(self.pause)),
            Route("/p/{token}/guidelines", self._known(self.guidelines)),
            Route("/p/{token}/done", self._known(self.done)),
            Route("/p/{token}/{position:int}", self._known(self.ask), methods=["GET"]),
            Route("/p/{token}/{position:int}", self._known(self.answer), methods=["POST"]),
        ]

    async def enter(self, request: Request, person: Participant) -> Response:
        """The link itself: consent first, then where the participant stopped."""
        token = request.path_params["token"]
        if person.consent is None:
            form = sign(self.key, "consent", token)
            return self._page("consent.html", token=token, form=form)
        if self._waits(person):
            return redirect(f"/p/{token}/background")
        if person.finished_at is not None:
            return redirect(f"/p/{token}/done")
        return redirect(f"/p/{token}/guidelines")

    async def consent(self, request: Request, person: Participant) -> Response:
        """The participant agrees, or does not, of which nothing is kept."""
        token = request.path_params["token"]
        fields = await read_signed(request, self.key, "consent", token)
        if fields.get("answer") != "agree":
            return notice(self.design, "declined", status=200)
        await self.writer.write(
            functools.partial(storage.store_consent, participant=person.id, design=self.design)
        )
        return redirect(
            f"/p/{token}/background" if self._waits(person) else f"/p/{token}/guidelines"
        )

    async def background(self, request: Request, person: Participant) -> Response:
        """The questions about the participant; once only."""
        token = request.path_params["token"]
        if person.consent is None or not self._waits(person):
            return redirect(f"/p/{token}")
        form = sign(self.key, "background", token)
        return self._page("background.html", token=token, form=form, longest=LONGEST_BACKGROUND)

    async def tell(self, request: Request, person: Participant) -> Response:
        """What the participant says of themselves; all of it may be left out."""
        token = request.path_params["token"]
        fields = await read_signed(request, self.key, "background", token)
        values = {}
        for number, asked in enumerate(self.design.background):
            value = fields.get(f"field-{number}", "").strip()[:LONGEST_BACKGROUND]
            values[asked.name] = value if not asked.choices or value in asked.choices else ""
        await self.writer.write(
            functools.partial(storage.store_background, participant=person.id, values=values)
        )
        return redirect(f"/p/{token}/guidelines")

    async def pause(self, request: Request, person: Participant) -> Response:
        """A break, or the end of practice, after a question that was answered."""
        token, position = request.path_params["token"], request.path_params["position"]
        if not self._pauses(person, position) or position >= self._first(person):
            return redirect(f"/p/{token}")
        return self._page(
            "pause.html",
            token=token,
            position=position,
            total=len(person.questions),
            practiced=is_practice(self.design, person, position),
        )

    async def guidelines(self, request: Request, person: Participant) -> Response:
        """The guidelines."""
        token = request.path_params["token"]
        if person.consent is None or self._waits(person):
            return redirect(f"/p/{token}")
        position = min(self._first(person), len(person.questions))
        return self._page("guidelines.html", token=token, position=position)

    async def ask(self, request: Request, person: Participant) -> Response:
        """One question; not one beyond the first that waits for an answer."""
        token, position = request.path_params["token"], request.path_params["position"]
        if person.consent is None or self._waits(person):
            return redirect(f"/p/{token}")
        first = self._first(person)
        # A sentence whose words were timed is not read again.
        least = first if self.design.is_timed else 1
        if not least <= position <= min(first, len(person.questions)):
            return redirect(f"/p/{token}/guidelines")
        question = self.design.by_id[person.questions[position - 1]]
        known = storage.answer_to(self.reader, person.id, question.id)
        values = {stored.field: stored.value for stored in known}
        remark = known[0].remark if known else ""
        return self._question(token, person, position, values, remark)

    async def answer(self, request: Request, person: Participant) -> Response:
        """An answer; it is on the disk before the next page is named."""
        token, position = request.path_params["token"], request.path_params["position"]
        fields = await read_form(request)
        if person.consent is None or not 1 <= position <= len(person.questions):
            raise ForbiddenError
        question = self.design.by_id[person.questions[position - 1]]
        moment = fields.get("moment", "")
        if not is_signed(self.key, fields.get("form", ""), "answer", token, question.id, moment):
            raise ForbiddenError
        seconds = time.time() - float(moment)
        remark = fields.get("remark", "").strip()[:LONGEST_REMARK] if self.design.remarks else ""
        values = self._values(question, fields)
        if values is None:
            return self._question(token, person, position, fields, remark, missing=True)
        await self.writer.write(
            functools.partial(
                storage.store_answer,
                first_counts=self.design.is_timed,
                participant=person.id,
                question=question.id,
                values=values,
                remark=remark,
                seconds=round(seconds, 3) if 0 <= seconds < _OLDEST_FORM else None,
                asked=person.questions,
            )
        )
        if position == len(person.questions):
            return redirect(f"/p/{token}/done")
        pauses = self._pauses(person, position)
        return redirect(f"/p/{token}/pause/{position}" if pauses else f"/p/{token}/{position + 1}")

    async def done(self, request: Request, person: Participant) -> Response:
        """The last page, for those who have answered everything."""
        token = request.path_params["token"]
        if person.consent is None or self._first(person) <= len(person.questions):
            return redirect(f"/p/{token}")
        total = len(person.questions)
        return self._page("done.html", token=token, person=person, total=total)

    def _page(self, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
        """A page of the survey, which says so where it is a trial."""
        spoken, shown = self.design.language, {"is_trial": self.is_trial, **values}
        return page(template, self.design, status=status, language=spoken, **shown)

    def _question(
        self, token: str, person: Participant, position: int, values: Mapping[str, str],
        remark: str, *, missing: bool = False,
    ) -> HTMLResponse:  # fmt: skip
        """The page of one question.

        Args:
            token: of the link.
            person: whose link it is.
            position: of the question in their order.
            values: what was answered before, by field.
            remark: what was added to it.
            missing: whether something has to be answered before going on.
        """
        question = self.design.by_id[person.questions[position - 1]]
        fields = shown_fields(self.design, question, person)
        moment = f"{time.time():.3f}"
        timed = self.design.is_timed
        return self._page(
            "reading.html" if timed else "question.html",
            sentence=json.dumps(page_of(self.design, question)) if timed else "",
            status=422 if missing else 200,
            token=token,
            question=question,
            fields=fields,
            opens=next((asked.when for asked in fields if asked.when), ""),
            position=position,
            total=len(person.questions),
            values=values,
            remark=remark,
            missing=missing,
            moment=moment,
            form=sign(self.key, "answer", token, question.id, moment),
            longest_remark=LONGEST_REMARK,
        )

    def _known(self, handler: _Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler that receives the participant of the link."""

        @functools.wraps(handler)
        async def known(request: Request) -> Response:
            token = request.path_params["token"]
            hashed = digest(token)
            if not self.pace.allow(hashed):
                return notice(self.design, "slow", status=429)
            person = (
                storage.find_participant(self.reader, hashed)
                if len(token) < _LONGEST_TOKEN
                else None
            )
            if person is None:
                address = request.client.host if request.client else ""
                if not self.strangers.allow(address):
                    return notice(self.design, "slow", status=429)
                return notice(self.design, "unknown", status=404)
            try:
                return await handler(request, person)
            except (ForbiddenError, storage.GoneError):
                return notice(self.design, "stale", status=403)
            except sqlite3.Error:
                return notice(self.design, "busy", status=503)

        return known

    def _first(self, person: Participant) -> int:
        """Position of the first question that waits for an answer; one beyond the last if none."""
        done = storage.answered(self.reader, person.id)
        asked = enumerate(person.questions, start=1)
        waiting = (place for place, question in asked if question not in done)
        return next(waiting, len(person.questions) + 1)

    def _waits(self, person: Participant) -> bool:
        """Whether the questions about the participant still wait for an answer."""
        return bool(self.design.background) and person.background_at is None

    def _pauses(self, person: Participant, position: int) -> bool:
        """Whether a break or the end of practice comes after a question."""
        if not 1 <= position < len(person.questions):
            return False
        if is_practice(self.design, person, position):
            return not is_practice(self.design, person, position + 1)
        every = self.design.break_every
        practice = sum(self.design.by_id[one].kind == PRACTICE for one in person.questions)
        # A break just before the end would only keep people.
        left = len(person.questions) - position
        return every > 0 and (position - practice) % every == 0 and 4 * left >= every and left > 1

    def _values(self, question: SurveyQuestion, fields: Mapping[str, str]) -> dict[str, str] | None:
        """The answers by field; None where one is missing or invalid."""
        values: dict[str, str] = {}
        asked_all = self.design.fields_of(question)
        if self.design.is_timed:
            times, asked_all = asked_all[0], asked_all[1:]
            values[times.name] = fields.get("field-0", "")
            try:
                read = read_times(values[times.name], question)
            except ValueError:
                return None
            if read.times[-1].is_end:
                return values
        for number, asked in enumerate(asked_all, start=len(values)):
            if asked.when and next(iter(values.values())) != asked.when:
                continue
            value = fields.get(f"field-{number}", "")
            if value not in {choice.value for choice in asked.choices}:
                return None
            values[asked.name] = value
        return values


def network_host() -> str:
    """The address of this machine in its network, for links; that of the machine alone if none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ELSEWHERE)  # of a datagram socket, this only chooses the way out
        except OSError:
            return LOCAL
        return str(probe.getsockname()[0])


def room_place(key: bytes) -> str:
    """The path of the room's link, which stays the same for a file of answers.

    Args:
        key: the key with which forms of this file are signed.
    """
    return f"/room/{sign(key, 'room')[:20]}"


@dataclass(frozen=True, slots=True)
class Room:
    """The routes of the link for people in a room.

    Nobody is counted who only opens it: a link of one's own is made on a click, and a browser that
    has one is led back to it.

    Attributes:
        design: what is asked.
        path: the file of the answers.
        key: forms are signed with it.
        most: number of participants in the file, from which on nobody can join.
        pace: limit on how often one address may ask; people in a room often share one.
        is_trial: whether answers are not kept.
    """

    design: SurveyDesign
    path: Path
    key: bytes
    most: int
    pace: RateLimits
    is_trial: bool = False

    def routes(self) -> list[BaseRoute]:
        """The routes, for the application."""
        from starlette.routing import Route

        return [
            Route("/room/{code}", self.enter, methods=["GET"], name="room"),
            Route("/room/{code}", self.join, methods=["POST"], name="join"),
        ]

    async def enter(self, request: Request) -> Response:
        """The page with one button, or the way back to one's own link."""
        if refusal := self._refusal(request):
            return refusal
        if token := await self._known(request):
            return redirect(f"/p/{token}")
        place, form = room_place(self.key), sign(self.key, "join")
        return page("room.html", self.design, place=place, form=form, is_trial=self.is_trial)

    async def join(self, request: Request) -> Response:
        """A link of one's own, in the survey that has the fewest people."""
        if refusal := self._refusal(request):
            return refusal
        if token := await self._known(request):
            return redirect(f"/p/{token}")
        try:
            await read_signed(request, self.key, "join")
        except ForbiddenError:
            return notice(self.design, "stale", status=403)
        token = await asyncio.to_thread(self._invited)
        if not token:
            return notice(self.design, "full", status=403)
        response = redirect(f"/p/{token}")
        response.set_cookie(
            COOKIE, token, max_age=COOKIE_SECONDS, path="/room", httponly=True, samesite="lax",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return response

    def _refusal(self, request: Request) -> Response | None:
        """The page for those who ask too often or for another room."""
        address = request.client.host if request.client else ""
        if not self.pace.allow(address):
            return notice(self.design, "slow", status=429)
        if not same(f"/room/{request.path_params['code']}", room_place(self.key)):
            return notice(self.design, "unknown", status=404)
        return None

    async def _known(self, request: Request) -> str:
        """The token that this browser has already; empty if it has none that works."""
        token = request.cookies.get(COOKIE, "")
        if not token:
            return ""
        return token if await asyncio.to_thread(self._works, token) else ""

    def _works(self, token: str) -> bool:
        with storage.opened_database(self.path) as connection:
            return storage.find_participant(connection, digest(token)) is not None

    def _invited(self) -> str:
        """The token of a new participant; empty where there are as many as may join."""
        if len(storage.participants(self.path)) >= self.most:
            return ""
        ((_, token),) = storage.invite_participants(self.path, self.design, 1)
        return token
