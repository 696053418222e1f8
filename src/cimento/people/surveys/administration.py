"""The administrator's pages, behind the secret, and the results they give out.

Retention of personal data: all that is stored of somebody, deletion, and its date.
"""

from __future__ import annotations

import asyncio
import functools
import io
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cimento.errors import CimentoError, StorageError, UsageError
from cimento.judgments import (
    BETTER,
    FILLER,
    NOT_OF_SUITE,
    Judgment,
    csv_of,
    judgments_to_parquet,
    table_of,
    write_judgments,
)
from cimento.people.surveys import PARTICIPANT_COLUMNS, SurveyDesign, SurveyQuestion, storage
from cimento.people.surveys.exports import page, safe_csv
from cimento.people.surveys.orders import turned
from cimento.people.surveys.retention import StillInFileError, delete_participant
from cimento.people.surveys.security import (
    ForbiddenError,
    RateLimits,
    digest,
    new_token,
    read_form,
    read_signed,
    redirect,
    same,
    sign,
)
from cimento.people.surveys.storage import Participant, StoredAnswer

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute


def background(path: Path) -> dict[tuple[str, str], str]:
    """Answers of participants about themselves, by their code and the name of the question."""
    with storage.opened_database(path) as connection:
        rows = connection.execute("SELECT participant, name, value FROM background")
        return {(code, name): value for code, name, value in rows}


@contextmanager
def _fitting_answers(path: Path) -> Iterator[None]:
    """StorageError where answers belong to no question, or times are none."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            where=str(path),
            seen=f"the answers in it do not fit its survey ({error})",
            todo="Was the file damaged or edited? Take a copy from before.",
        ) from error


def judgments_in(path: Path, *, with_fillers: bool = False) -> list[Judgment]:
    """The judgments in a file, survey by survey, in the order of its pages.

    Args:
        path: of the file.
        with_fillers: whether answers to fillers are there too, to the question `FILLER`.

    Raises:
        InputError: there is no such file.
        StorageError: it cannot be read, or its answers do not fit its survey.
    """
    left_out = NOT_OF_SUITE - {FILLER} if with_fillers else NOT_OF_SUITE
    with _fitting_answers(path):
        design = storage.stored_design(path)
        people = {participant.id: participant for participant in storage.participants(path)}
        places = {
            (person.id, question): place
            for person in people.values()
            for place, question in enumerate(person.questions, start=1)
        }
        judgments = [
            _judgment(design, answer, people[answer.participant], places)
            for answer in storage.answers(path)
            # Somebody may have been deleted between the two queries.
            # Practice and fillers are asked, but not about the suite.
            if answer.participant in people and answer.field not in left_out
        ]
        order = {person: number for number, person in enumerate(people)}
        fields = {field.name: number for number, field in enumerate(design.fields)}
        last = len(fields)
        return sorted(
            judgments,
            key=lambda j: (order[j.annotator or ""], j.position or 0, fields.get(j.question, last)),
        )


def judgments_csv(path: Path) -> str:
    """The judgments as CSV that a spreadsheet can open."""
    return csv_of(table_of(judgments_in(path)))


def people_csv(path: Path) -> str:
    """The participants and their progress, as CSV.

    Raises:
        InputError: there is no such file.
        StorageError: it cannot be read, or its answers do not fit its survey.
    """
    with _fitting_answers(path):
        design = storage.stored_design(path)
        names = [question.name for question in design.background]
        of_people = background(path)
        lines = [[*PARTICIPANT_COLUMNS, *names]]
        for one in standings(path):
            person, seconds = one.person, session_seconds(one.person)
            lines.append(
                [
                    person.id, person.survey, person.created_at, person.consent or "",
                    person.consented_at or "", person.finished_at or "",
                    "" if seconds is None else f"{seconds:.3f}", str(one.answered),
                    str(one.questions), str(one.checks), str(one.passed),
                    *(of_people.get((person.id, name), "") for name in names),
                ]
            )  # fmt: skip
        return safe_csv(lines)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a participant is.

    Attributes:
        person: the participant.
        answered: number of questions answered.
        questions: number of questions of the participant's list.
        checks: number of attention checks among them.
        passed: number of those answered correctly.
    """

    person: Participant
    answered: int
    questions: int
    checks: int
    passed: int


def standings(path: Path) -> list[Standing]:
    """How far each participant in a file is.

    Raises:
        InputError: there is no such file.
        StorageError: it cannot be read.
    """
    design, answers = storage.stored_design(path), storage.answers(path)
    given = _questions_answered(answers)
    passed = Counter(
        answer.participant
        for answer in answers
        if _expected(design, answer.question, answer.field) == answer.value
    )
    checks = {
        name: sum(bool(field.expected) for one in questions for field in design.fields_of(one))
        for name, questions in design.by_survey.items()
    }
    return [
        Standing(
            person,
            answered=given[person.id],
            questions=len(design.by_survey[person.survey]),
            checks=checks[person.survey],
            passed=passed[person.id],
        )
        for person in storage.participants(path)
    ]


def _questions_answered(answers: Iterable[StoredAnswer]) -> Counter[str]:
    """The number of questions answered by each participant, however many fields they have."""
    return Counter(who for who, _ in {(answer.participant, answer.question) for answer in answers})


def write_results(path: Path, output: Path) -> int:
    """Write the judgments table to a ``.parquet``, ``.csv`` or ``.tsv`` file.

    Returns:
        How many judgments there are.

    Raises:
        UsageError: the suffix is another one.
        InputError: there are no answers at that path.
        StorageError: the file cannot be written.
    """
    table = table_of(judgments_in(path))
    write_judgments(table, output)
    return table.height


def session_seconds(participant: Participant) -> float | None:
    """From the consent to the last answer; None for those who have not finished."""
    if participant.consented_at is None or participant.finished_at is None:
        return None
    started, ended = participant.consented_at, participant.finished_at
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds()


def _judgment(
    design: SurveyDesign,
    answer: StoredAnswer,
    person: Participant,
    places: dict[tuple[str, str], int],
) -> Judgment:
    question = design.by_id[answer.question]
    is_of_suite = answer.field != FILLER and not question.expected
    asked = question.candidate if is_of_suite else " ".join(question.lines)
    return Judgment(
        suite=design.source.suite,
        item=question.item,
        condition=_condition(question, answer),
        candidate=asked or None,
        annotator=person.id,
        question=answer.field,
        value=answer.value,
        remark=answer.remark or None,
        at=answer.at,
        survey=person.survey,
        position=places[(person.id, question.id)],
        answer_place=_answer_place(design, question, answer, person),
        seconds=answer.seconds,
        session_seconds=session_seconds(person),
        expected=_expected(design, question.id, answer.field) or None,
        scale=next((f.scale for f in design.fields if f.name == answer.field), "") or None,
    )


def _answer_place(
    design: SurveyDesign, question: SurveyQuestion, answer: StoredAnswer, person: Participant
) -> int | None:
    """The place of an answer on the page, from 1; None where nothing is chosen between texts."""
    if design.task != "choice":
        return None
    values = [choice.value for choice in question.choices]
    shown = turned(values, person.turns.get(question.id, 0))
    return shown.index(answer.value) + 1 if answer.value in shown else None


def _expected(design: SurveyDesign, question: str, field: str) -> str:
    """The correct answer to a field of a question; empty where there is none."""
    fields = design.fields_of(design.by_id[question])
    return next((asked.expected for asked in fields if asked.name == field), "")


def _condition(question: SurveyQuestion, answer: StoredAnswer) -> str:
    """The condition of the question, or of the sentence that was preferred."""
    if answer.field != BETTER:
        return question.condition
    return next((c.condition for c in question.choices if c.value == answer.value), "")


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
        url: the address that links begin with; empty for that of the request.
        attempts: limit on how often one address may try to sign in.
        language: ISO 639-1 code of the pages' words; empty for that of the survey.
        sessions: hash of a session's cookie to when it ends; in memory only.
    """

    design: SurveyDesign
    path: Path
    key: bytes
    secret: str
    url: str
    attempts: RateLimits
    language: str = ""
    sessions: dict[str, float] = field(default_factory=dict)

    def routes(self) -> list[BaseRoute]:
        """The routes, for the application."""
        from starlette.routing import Route

        return [
            Route("/admin/login", self.login, methods=["GET", "POST"]),
            Route("/admin/logout", self._signed_in(self.logout), methods=["POST"]),
            Route("/admin", self._signed_in(self.overview)),
            Route("/admin/links", self._signed_in(self.links), methods=["POST"]),
            Route("/admin/delete", self._signed_in(self.confirm), methods=["GET"]),
            Route("/admin/delete", self._signed_in(self.delete), methods=["POST"]),
            *(Route(f"/admin/{name}", self._signed_in(self._download(name))) for name in _FILES),
        ]

    async def login(self, request: Request) -> Response:
        """Sign in with the secret."""
        if request.method != "POST":
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
        for ended in [name for name, end in self.sessions.items() if end < moment]:
            del self.sessions[ended]
        self.sessions[digest(session)] = moment + SESSION_SECONDS
        response = redirect("/admin")
        response.set_cookie(
            COOKIE, session, path="/admin", httponly=True, samesite="strict",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return response

    async def logout(self, request: Request, session: str) -> Response:
        """End the session."""
        await read_signed(request, self.key, "logout", session)
        self.sessions.pop(digest(session), None)
        response = redirect("/admin/login")
        response.delete_cookie(COOKIE, path="/admin")
        return response

    async def overview(self, request: Request, session: str) -> Response:  # noqa: ARG002  # as all
        """The overview of the participants' progress."""
        return self._page(
            "admin.html",
            people=await asyncio.to_thread(standings, self.path),
            form=sign(self.key, "links", session),
            logout=sign(self.key, "logout", session),
            most=MOST_LINKS,
        )

    async def links(self, request: Request, session: str) -> Response:
        """Make links, which are shown this once."""
        fields = await read_signed(request, self.key, "links", session)
        number = fields.get("number", "")
        written = number.isascii() and number.isdecimal() and len(number) <= len(str(MOST_LINKS))
        if not (written and 1 <= int(number) <= MOST_LINKS):
            raise ForbiddenError
        made = await asyncio.to_thread(
            storage.invite_participants, self.path, self.design, int(number)
        )
        base = (self.url or str(request.base_url)).rstrip("/")
        return self._page(
            "admin_links.html",
            links=[(person, f"{base}/p/{token}") for person, token in made],
        )

    async def confirm(self, request: Request, session: str) -> Response:
        """Ask whether somebody's answers are to be deleted."""
        participant = request.query_params.get("participant", "")
        form = sign(self.key, "delete", session)
        return self._page("admin_delete.html", participant=participant, form=form)

    async def delete(self, request: Request, session: str) -> Response:
        """Delete somebody's answers."""
        fields = await read_signed(request, self.key, "delete", session)
        await asyncio.to_thread(delete_participant, self.path, fields.get("participant", ""))
        return redirect("/admin")

    def _page(self, template: str, *, status: int = 200, **values: object) -> Response:
        return page(template, self.design, status=status, language=self.language, **values)

    def _download(self, name: str) -> _Handler:
        """The handler that gives out one of the files."""
        make, kind = _FILES[name]

        async def download(request: Request, session: str) -> Response:  # noqa: ARG001  # as all
            from starlette.responses import Response

            data = await asyncio.to_thread(make, self.path)
            headers = {"content-disposition": f'attachment; filename="{name}"'}
            return Response(data, media_type=kind, headers=headers)

        download.__name__ = name.replace(".", "_")  # as the log has it
        return download

    def _signed_in(self, handler: _Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler that only the administrator gets to, with the session's cookie."""

        @functools.wraps(handler)
        async def checked(request: Request) -> Response:
            session = request.cookies.get(COOKIE, "")
            if self.sessions.get(digest(session), 0.0) < time.monotonic():
                return redirect("/admin/login")
            try:
                return await handler(request, session)
            except ForbiddenError:
                why, status = "stale", 403
            except UsageError:  # of the code of a participant
                why, status = "unknown", 400
            except StillInFileError:
                why, status = "in_use", 400
            except CimentoError:
                why, status = "failed", 400
            return self._page("admin_notice.html", why=why, status=status)

        return checked


def _parquet(path: Path) -> bytes:
    file = io.BytesIO()
    judgments_to_parquet(table_of(judgments_in(path)), file)
    return file.getvalue()


_FILES: Mapping[str, tuple[Callable[[Path], str | bytes], str]] = {
    "judgments.csv": (judgments_csv, "text/csv; charset=utf-8"),
    "judgments.parquet": (_parquet, "application/vnd.apache.parquet"),
    "participants.csv": (people_csv, "text/csv; charset=utf-8"),
}
"""The downloads, with their media types."""
