"""What a participant can ask for: each route begins with the token of the participant's link."""

from __future__ import annotations

import functools
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from cimento.surveys.design import Design, Question
from cimento.surveys.serving import storage
from cimento.surveys.serving.pages import LONGEST_REMARK, Pages, Shown
from cimento.surveys.serving.security import Limits, RefusedError, digest, read_form, signed
from cimento.surveys.serving.storage import Participant
from cimento.surveys.serving.writing import Writer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

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
        pages: what is shown.
        pace: how often one participant may ask.
        strangers: how often one address may ask for links that do not exist.
    """

    design: Design
    key: bytes
    reader: sqlite3.Connection
    writer: Writer
    pages: Pages
    pace: Limits
    strangers: Limits

    def routes(self) -> list[BaseRoute]:
        """All of them."""
        from starlette.routing import Route

        return [
            Route("/p/{token}", self._known(self.enter), name="enter"),
            Route("/p/{token}/consent", self._known(self.consent), methods=["POST"]),
            Route("/p/{token}/guidelines", self._known(self.guidelines)),
            Route("/p/{token}/done", self._known(self.done)),
            Route("/p/{token}/{position:int}", self._known(self.ask), methods=["GET"]),
            Route("/p/{token}/{position:int}", self._known(self.answer), methods=["POST"]),
        ]

    async def enter(self, request: Request, person: Participant) -> Response:
        """The link itself: consent first, then where the participant stopped."""
        token = request.path_params["token"]
        if person.consent is None:
            return self.pages.consent(token)
        if person.finished_at is not None:
            return _to(f"/p/{token}/done")
        return _to(f"/p/{token}/guidelines")

    async def consent(self, request: Request, person: Participant) -> Response:
        """The participant agrees, or does not, of which nothing is kept."""
        token = request.path_params["token"]
        fields = await read_form(request)
        if not signed(self.key, fields.get("form", ""), "consent", token):
            raise RefusedError
        if fields.get("answer") != "agree":
            return self.pages.notice("declined", status=200)
        await self.writer.write(
            functools.partial(storage.store_consent, participant=person.id, design=self.design)
        )
        return _to(f"/p/{token}/guidelines")

    async def guidelines(self, request: Request, person: Participant) -> Response:
        """What to do."""
        token = request.path_params["token"]
        if person.consent is None:
            return _to(f"/p/{token}")
        return self.pages.guidelines(token, position=min(self._first(person), self._last(person)))

    async def ask(self, request: Request, person: Participant) -> Response:
        """One question; not one beyond the first that waits for an answer."""
        token, position = request.path_params["token"], request.path_params["position"]
        if person.consent is None:
            return _to(f"/p/{token}")
        if not 1 <= position <= min(self._first(person), self._last(person)):
            return _to(f"/p/{token}/guidelines")
        question = self.design.by_survey[person.survey][position - 1]
        known = storage.answer_to(self.reader, person.id, question.id)
        shown = Shown({each.field: each.value for each in known}, known[0].remark if known else "")
        return self.pages.question(token, person, position, shown)

    async def answer(self, request: Request, person: Participant) -> Response:
        """An answer; it is on the disk before the next page is named."""
        token, position = request.path_params["token"], request.path_params["position"]
        fields = await read_form(request)
        questions = self.design.by_survey[person.survey]
        if person.consent is None or not 1 <= position <= len(questions):
            raise RefusedError
        question = questions[position - 1]
        moment = fields.get("moment", "")
        if not signed(self.key, fields.get("form", ""), "answer", token, question.id, moment):
            raise RefusedError
        seconds = time.time() - float(moment)
        remark = fields.get("remark", "").strip()[:LONGEST_REMARK] if self.design.remarks else ""
        values = self._values(question, fields)
        if values is None:
            return self.pages.question(token, person, position, Shown(fields, remark, missing=True))
        await self.writer.write(
            functools.partial(
                storage.store_answer,
                participant=person.id,
                question=question.id,
                values=values,
                remark=remark,
                seconds=round(seconds, 3) if 0 <= seconds < _OLDEST_FORM else None,
                asked=[each.id for each in questions],
            )
        )
        return _to(
            f"/p/{token}/{position + 1}" if position < len(questions) else f"/p/{token}/done"
        )

    async def done(self, request: Request, person: Participant) -> Response:
        """The last page, for those who have answered everything."""
        token = request.path_params["token"]
        if person.consent is None or self._first(person) <= self._last(person):
            return _to(f"/p/{token}")
        return self.pages.done(token, person)

    def _known(self, handler: _Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler that gets the participant whose link it is."""

        @functools.wraps(handler)
        async def found(request: Request) -> Response:
            token = request.path_params["token"]
            hashed = digest(token)
            if not self.pace.allow(hashed):
                return self.pages.notice("slow", status=429)
            person = storage.find(self.reader, hashed) if len(token) < _LONGEST_TOKEN else None
            if person is None:
                address = request.client.host if request.client else ""
                if not self.strangers.allow(address):
                    return self.pages.notice("slow", status=429)
                return self.pages.notice("unknown", status=404)
            try:
                return await handler(request, person)
            except (RefusedError, storage.GoneError):
                return self.pages.notice("stale", status=403)
            except sqlite3.Error:
                return self.pages.notice("busy", status=503)

        return found

    def _first(self, person: Participant) -> int:
        """Position of the first question that waits for an answer; one beyond the last if none."""
        done = storage.answered(self.reader, person.id)
        questions = self.design.by_survey[person.survey]
        waiting = (n for n, each in enumerate(questions, start=1) if each.id not in done)
        return next(waiting, len(questions) + 1)

    def _last(self, person: Participant) -> int:
        return len(self.design.by_survey[person.survey])

    def _values(self, question: Question, fields: Mapping[str, str]) -> dict[str, str] | None:
        """What was answered, by field; None where something is missing or is no answer."""
        found: dict[str, str] = {}
        for number, field in enumerate(self.design.fields_of(question)):
            if field.when and next(iter(found.values())) != field.when:
                continue
            value = fields.get(f"field-{number}", "")
            if value not in {choice.value for choice in field.choices}:
                return None
            found[field.name] = value
        return found


def _to(path: str) -> Response:
    from starlette.responses import RedirectResponse

    return RedirectResponse(path, status_code=303)
