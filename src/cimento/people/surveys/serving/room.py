"""One link for people in a room: everyone who opens it gets a link of their own."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.people.surveys.design import SurveyDesign
from cimento.people.surveys.serving import storage
from cimento.people.surveys.serving.participants import Pages
from cimento.people.surveys.serving.security import (
    ForbiddenError,
    RateLimits,
    digest,
    is_signed,
    read_form,
    redirect,
    same,
    sign,
)

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

COOKIE = "cimento_room"
COOKIE_SECONDS = 86400
MOST_PEOPLE = 1000


LOCAL, EVERYWHERE = "127.0.0.1", "0.0.0.0"  # noqa: S104  # people in a room have to reach it
_ELSEWHERE = ("192.0.2.1", 9)
"""An address of documentation (RFC 5737), to which nothing is sent."""


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
        pages: what is shown.
        pace: limit on how often one address may ask; people in a room often share one.
    """

    design: SurveyDesign
    path: Path
    key: bytes
    most: int
    pages: Pages
    pace: RateLimits

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
        return self.pages.room(room_place(self.key), sign(self.key, "join"))

    async def join(self, request: Request) -> Response:
        """A link of one's own, in the survey that has the fewest people."""
        if refusal := self._refusal(request):
            return refusal
        if token := await self._known(request):
            return redirect(f"/p/{token}")
        try:
            fields = await read_form(request)
        except ForbiddenError:
            return self.pages.notice("stale", status=403)
        if not is_signed(self.key, fields.get("form", ""), "join"):
            return self.pages.notice("stale", status=403)
        token = await asyncio.to_thread(self._invited)
        if not token:
            return self.pages.notice("full", status=403)
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
            return self.pages.notice("slow", status=429)
        if not same(f"/room/{request.path_params['code']}", room_place(self.key)):
            return self.pages.notice("unknown", status=404)
        return None

    async def _known(self, request: Request) -> str:
        """The token that this browser has already; empty if it has none that works."""
        token = request.cookies.get(COOKIE, "")
        if not token:
            return ""
        return token if await asyncio.to_thread(self._works, token) else ""

    def _works(self, token: str) -> bool:
        with storage.opened(self.path) as connection:
            return storage.find(connection, digest(token)) is not None

    def _invited(self) -> str:
        """The token of a new participant; empty where there are as many as may join."""
        if len(storage.participants(self.path)) >= self.most:
            return ""
        ((_, token),) = storage.invite_participants(self.path, self.design, 1)
        return token
