"""The administrator's pages, in English, behind the secret."""

from __future__ import annotations

import asyncio
import functools
import io
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import CimentoError
from cimento.people.surveys.design import SurveyDesign
from cimento.people.surveys.exports import environment
from cimento.people.surveys.serving import results, storage
from cimento.people.surveys.serving.security import (
    ForbiddenError,
    RateLimits,
    digest,
    is_signed,
    new_token,
    read_form,
    same,
    sign,
)

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

COOKIE = "cimento_admin"
SESSION_SECONDS = 12 * 3600
MOST_LINKS = 1000

_Handler: TypeAlias = Callable[["Request", str], Awaitable["Response"]]


@dataclass(frozen=True, slots=True)
class Administration:
    """The routes of the administrator.

    Attributes:
        design: what is asked.
        path: the file of the answers.
        key: forms are signed with it.
        secret: who knows it is the administrator.
        attempts: how often one address may try to sign in.
        sessions: hash of a session's cookie to when it ends; in memory only.
    """

    design: SurveyDesign
    path: Path
    key: bytes
    secret: str
    attempts: RateLimits
    sessions: dict[str, float] = field(default_factory=dict)

    def routes(self) -> list[BaseRoute]:
        """All of them."""
        from starlette.routing import Route

        files = {
            "judgments.csv": self.judgments_csv,
            "judgments.parquet": self.judgments_parquet,
            "participants.csv": self.participants_csv,
        }
        return [
            Route("/admin/login", self.login, methods=["GET", "POST"]),
            Route("/admin/logout", self._signed_in(self.logout), methods=["POST"]),
            Route("/admin", self._signed_in(self.overview)),
            Route("/admin/links", self._signed_in(self.links), methods=["POST"]),
            Route("/admin/delete", self._signed_in(self.confirm), methods=["GET"]),
            Route("/admin/delete", self._signed_in(self.delete), methods=["POST"]),
            *(Route(f"/admin/{name}", self._signed_in(file)) for name, file in files.items()),
        ]

    async def login(self, request: Request) -> Response:
        """Sign in with the secret."""
        if request.method == "GET":
            return self._page("admin_login.html", wrong=False)
        if not self.attempts.allow(request.client.host if request.client else ""):
            return self._page("admin_login.html", wrong=True, status=429)
        try:
            fields = await read_form(request)
        except ForbiddenError:
            return self._page("admin_login.html", wrong=True, status=403)
        if not same(fields.get("secret", ""), self.secret):
            return self._page("admin_login.html", wrong=True, status=403)
        session, moment = new_token(), time.monotonic()
        for each in [each for each, end in self.sessions.items() if end < moment]:
            del self.sessions[each]
        self.sessions[digest(session)] = moment + SESSION_SECONDS
        response = _to("/admin")
        response.set_cookie(
            COOKIE, session, path="/admin", httponly=True, samesite="strict",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return response

    async def logout(self, request: Request, session: str) -> Response:
        """End the session."""
        await self._form(request, session, "logout")
        self.sessions.pop(digest(session), None)
        response = _to("/admin/login")
        response.delete_cookie(COOKIE, path="/admin")
        return response

    async def overview(self, request: Request, session: str) -> Response:  # noqa: ARG002  # as all
        """Who is how far."""
        people = await asyncio.to_thread(storage.participants, self.path)
        answers = await asyncio.to_thread(storage.answers, self.path)
        given = Counter(
            participant for participant, _ in {(a.participant, a.question) for a in answers}
        )
        return self._page(
            "admin.html",
            people=people,
            given=given,
            totals={name: len(each) for name, each in self.design.by_survey.items()},
            form=sign(self.key, "links", session),
            logout=sign(self.key, "logout", session),
            most=MOST_LINKS,
        )

    async def links(self, request: Request, session: str) -> Response:
        """Make links, which are shown this once."""
        fields = await self._form(request, session, "links")
        number = fields.get("number", "")
        if not (number.isascii() and number.isdecimal() and 1 <= int(number) <= MOST_LINKS):
            raise ForbiddenError
        made = await asyncio.to_thread(
            storage.invite_participants, self.path, self.design, int(number)
        )
        base = str(request.base_url).rstrip("/")
        return self._page(
            "admin_links.html", links=[(each, f"{base}/p/{token}") for each, token in made]
        )

    async def confirm(self, request: Request, session: str) -> Response:
        """Ask whether somebody's answers are to be deleted."""
        participant = request.query_params.get("participant", "")
        form = sign(self.key, "delete", session)
        return self._page("admin_delete.html", participant=participant, form=form)

    async def delete(self, request: Request, session: str) -> Response:
        """Delete somebody's answers."""
        fields = await self._form(request, session, "delete")
        await asyncio.to_thread(
            storage.delete_participant, self.path, fields.get("participant", "")
        )
        return _to("/admin")

    async def judgments_csv(self, request: Request, session: str) -> Response:  # noqa: ARG002  # as all
        """The judgments table as CSV."""
        text = await asyncio.to_thread(results.judgments_csv, self.path)
        return _file(text.encode(), "judgments.csv", "text/csv; charset=utf-8")

    async def judgments_parquet(self, request: Request, session: str) -> Response:  # noqa: ARG002  # as all
        """The judgments table as Parquet."""
        data = await asyncio.to_thread(_parquet, self.path)
        return _file(data, "judgments.parquet", "application/vnd.apache.parquet")

    async def participants_csv(self, request: Request, session: str) -> Response:  # noqa: ARG002  # as all
        """The participants as CSV."""
        text = await asyncio.to_thread(results.people_csv, self.path)
        return _file(text.encode(), "participants.csv", "text/csv; charset=utf-8")

    def _signed_in(self, handler: _Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler that only the administrator gets to, with the session's cookie."""

        @functools.wraps(handler)
        async def checked(request: Request) -> Response:
            session = request.cookies.get(COOKIE, "")
            if self.sessions.get(digest(session), 0.0) < time.monotonic():
                return _to("/admin/login")
            try:
                return await handler(request, session)
            except ForbiddenError:
                return self._page("admin_notice.html", text="This form cannot be used.", status=403)
            except CimentoError as error:
                return self._page("admin_notice.html", text=str(error), status=400)

        return checked

    async def _form(self, request: Request, session: str, action: str) -> dict[str, str]:
        fields = await read_form(request)
        if not is_signed(self.key, fields.get("form", ""), action, session):
            raise ForbiddenError
        return fields

    def _page(self, template: str, *, status: int = 200, **values: object) -> Response:
        from starlette.responses import HTMLResponse

        html = environment().get_template(template).render(design=self.design, **values)
        return HTMLResponse(html, status_code=status)


def _parquet(path: Path) -> bytes:
    from cimento.people.judgments.records import judgments_to_parquet, table_of

    file = io.BytesIO()
    judgments_to_parquet(table_of(results.judgments(path)), file)
    return file.getvalue()


def _file(data: bytes, name: str, kind: str) -> Response:
    from starlette.responses import Response

    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=kind, headers=headers)


def _to(path: str) -> Response:
    from starlette.responses import RedirectResponse

    return RedirectResponse(path, status_code=303)
