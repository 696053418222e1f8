"""What form programs write around people's answers: headings, times, addresses, trial runs.

The headings are those that the programs give, in the languages of the app: Google Forms' column of
times; Microsoft Forms' *Start time*; LimeSurvey's, as codes and as texts; Qualtrics', with the
texts of the questions in its second row and ``{"ImportId": ...}`` in its third. Where Qualtrics
exports numbers, bit 1 of the status is a preview, bit 2 a test and bit 8 spam. A survey of
LimeSurvey that nobody submitted has no ``submitdate``, one of Qualtrics has ``Finished`` false.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from cimento.intake.table import Row, Table
from cimento.io.parsing import parse_json
from cimento.judgments.form_table import FormTable
from cimento.judgments.participants import STAMPS

QUALTRICS: Final = "Qualtrics"
LIMESURVEY: Final = "LimeSurvey"
MICROSOFT: Final = "Microsoft Forms"
GOOGLE: Final = "Google Forms"

_NUMBERED: Mapping[str, frozenset[str]] = {
    QUALTRICS: frozenset({"responseid"}),
    LIMESURVEY: frozenset({
        "id", "responseid", "idrisposta", "ididellarisposta", "idderespuesta", "idrespuesta",
        "iddelarespuesta", "iddaresposta", "idresposta", "idответа",
    }),
    MICROSOFT: frozenset({"id", "идентификатор"}),
    GOOGLE: frozenset(),
}  # fmt: skip
"""How each program heads the number of a submission, without capitals, blanks and marks."""

_SUBMITTED = frozenset({
    "submitdate", "datesubmitted", "datainvio", "datadiinvio", "fechadeenvío", "fechadeenvio",
    "datadeenvio", "датаотправки",
})  # fmt: skip
"""How LimeSurvey heads the time when a survey was submitted."""

_WRITTEN: Mapping[str, frozenset[str]] = {
    QUALTRICS: frozenset({
        "startdate", "enddate", "status", "ipaddress", "progress", "durationinseconds", "finished",
        "recordeddate", "recipientlastname", "recipientfirstname", "recipientemail",
        "externalreference", "externaldatareference", "locationlatitude", "locationlongitude",
        "distributionchannel", "userlanguage", "qrecaptchascore", "qrelevantidduplicate",
        "qrelevantidduplicatescore", "qrelevantidfraudscore", "qballotboxstuffing", "qlanguage",
        "qtotalduration",
    }),
    LIMESURVEY: _SUBMITTED | frozenset({
        "lastpage", "startlanguage", "seed", "token", "accesscode", "startdate", "datestarted",
        "datestamp", "datelastaction", "ipaddr", "ipaddress", "refurl", "referrerurl",
        "interviewtime", "totaltime", "ultimapagina", "linguainiziale", "datadiinizio",
        "datadellultimaazione", "indirizzoip", "últimapágina", "idiomainicial", "lenguajeinicial",
        "fechadeinicio", "fechadelaúltimaacción", "direcciónip", "datadeinício", "dataúltimaação",
        "datadaúltimaação", "endereçoip", "последняястраница", "начальныйязык", "датаначала",
        "датапоследнегодействия", "ipадрес",
    }),
    MICROSOFT: frozenset({
        "starttime", "completiontime", "lastmodifiedtime", "email", "name", "oradiinizio",
        "oradicompletamento", "oradellultimamodifica", "postaelettronica", "nome", "horadeinicio",
        "horadefinalización", "horadelaúltimamodificación", "correoelectrónico", "nombre",
        "horadeinício", "horadeconclusão", "horadaúltimamodificação", "времяначала",
        "времявыполнения", "времязавершения", "времяпоследнегоизменения",
        "адресэлектроннойпочты", "имя",
    }),
    GOOGLE: frozenset({
        "emailaddress", "username", "score", "indirizzoemail", "nomeutente", "punteggio",
        "direccióndecorreoelectrónico", "nombredeusuario", "puntuación", "endereçodeemail",
        "nomedeusuário", "pontuação", "адресэлектроннойпочты", "имяпользователя", "баллы",
    }) | frozenset(re.sub(r"\W+", "", stamp) for stamp in STAMPS),
}  # fmt: skip
"""What each program writes besides, likewise."""

_OF_A_QUESTION = re.compile(r"QID\d", re.IGNORECASE)
_BESIDE_ONE = re.compile(
    r"_(FIRST_CLICK|LAST_CLICK|PAGE_SUBMIT|CLICK_COUNT|BROWSER|VERSION|OS|RESOLUTION|"
    r"First Click|Last Click|Page Submit|Click Count|Browser|Version|Operating System|Resolution)$"
)
"""Ends of Qualtrics' ids of times and browsers, which stand among the questions."""
_TRIAL_RUN = re.compile(r"\b(preview|test|spam)\b", re.IGNORECASE)
_STATUS = re.compile(r"[0-9]{1,3}")
_TRIAL_BITS = 1 | 2 | 8
_LEAST_ALIKE = 3
_HEADING_ROWS = 3
_NO = ("false", "0", "no")
WHOLE = 100.0


def form_table(table: Table, *, unsubmitted: bool = False) -> FormTable:
    """A table as a form program wrote it, understood; any other table as it is.

    Args:
        table: of answers, a person in each row.
        unsubmitted: whether answers that were never submitted are kept.
    """
    rows, headings, ids = _second_headings(table)
    program = QUALTRICS if headings or ids else _program(table)
    written = _written(table, program, ids)
    passed = Counter[str]()
    people, columns = [], _judged_by(table, program)
    for row in rows:
        why = _nobody(row.cells, columns, program, unsubmitted=unsubmitted)
        if why:
            passed[why] += 1
        else:
            people.append(row)
    numbered = _first(table, _NUMBERED.get(program, frozenset()))
    kept = replace(
        table,
        numbers=[row.number for row in people],
        cells={name: [row.cells[name] for row in people] for name in table.columns},
    )
    return FormTable(kept, program, headings, written, numbered, dict(passed))


def squashed(name: str) -> str:
    """A heading without capitals, blanks and marks."""
    return re.sub(r"[\W_]+", "", name.casefold())


def _first(table: Table, names: Iterable[str]) -> str:
    known = {*names}
    return next((name for name in table.columns if squashed(name) in known), "")


def _second_headings(table: Table) -> tuple[list[Row], dict[str, str], dict[str, str]]:
    """The rows below all headings, the texts of the questions, and Qualtrics' ids of columns."""
    rows = list(table.rows)
    for place, row in enumerate(rows[:_HEADING_ROWS]):
        ids = {name: _import_id(cell) for name, cell in row.cells.items() if cell.strip()}
        if ids and all(ids.values()):
            texts = rows[place - 1].cells if place else {}
            return rows[place + 1 :], _texts(texts), ids
    written = _WRITTEN[QUALTRICS] | _NUMBERED[QUALTRICS]
    if rows:
        same = [
            name
            for name, cell in rows[0].cells.items()
            if squashed(name) in written and squashed(cell) == squashed(name)
        ]
        if len(same) >= _LEAST_ALIKE:
            return rows[1:], _texts(rows[0].cells), {}
    return rows, {}, {}


def _texts(cells: Mapping[str, str]) -> dict[str, str]:
    return {name: " ".join(cell.split()) for name, cell in cells.items() if cell.strip()}


def _import_id(cell: str) -> str:
    """The id in a cell such as ``{"ImportId": "QID1"}``; empty where it is none."""
    if not cell.lstrip().startswith("{"):
        return ""
    try:
        content = parse_json(cell)
    except ValueError:
        return ""
    found = content.get("ImportId") if isinstance(content, dict) else None
    return found if isinstance(found, str) else ""


def _program(table: Table) -> str:
    """The program whose headings a table has: two of them, or Google's only one."""
    known = {squashed(name) for name in table.columns}
    if {name.casefold().strip() for name in table.columns} & STAMPS:
        return GOOGLE
    counts = {
        program: len(known & names) + len(known & _NUMBERED[program])
        for program, names in _WRITTEN.items()
        # An id, a name and an address may be those of any table.
        if known & (names - {"email", "name", "nome", "nombre", "имя", "token", "seed", "status"})
    }
    best = max(counts, key=lambda program: counts[program], default="")
    return best if counts.get(best, 0) > 1 else ""


def _written(table: Table, program: str, ids: Mapping[str, str]) -> frozenset[str]:
    """The columns that the program fills."""
    if ids:
        return frozenset(
            name
            for name in table.columns
            if not _OF_A_QUESTION.match(ids.get(name, "")) or _BESIDE_ONE.search(ids.get(name, ""))
        )
    names = _WRITTEN.get(program, frozenset()) | _NUMBERED.get(program, frozenset())
    return frozenset(
        name
        for name in table.columns
        if squashed(name) in names or (program == QUALTRICS and _BESIDE_ONE.search(name))
    )


def _judged_by(table: Table, program: str) -> dict[str, str]:
    """The columns that say whether a row is of a person, by what they say."""
    names: Mapping[str, Iterable[str]] = {
        "status": ("status",),
        "channel": ("distributionchannel",),
        "finished": ("finished",),
        "progress": ("progress",),
    }
    names = names if program == QUALTRICS else {"submitted": _SUBMITTED}
    found = {what: _first(table, headings) for what, headings in names.items()}
    return {what: column for what, column in found.items() if column}


def _nobody(
    cells: Mapping[str, str], columns: Mapping[str, str], program: str, *, unsubmitted: bool
) -> str:
    """Why a row is of nobody; empty where it is of a person."""
    said = {what: cells[column].strip() for what, column in columns.items()}
    if program == QUALTRICS:
        status, channel = said.get("status", ""), said.get("channel", "")
        bits = int(status) & _TRIAL_BITS if _STATUS.fullmatch(status) else 0
        if bits or _TRIAL_RUN.search(status) or channel.casefold() in ("preview", "test"):
            kind = status if _TRIAL_RUN.search(status) else "a preview, a test or spam"
            return f"{QUALTRICS} calls the row {kind}, which is no person's"
        finished = said.get("finished", "").casefold()
        ended = finished not in _NO if finished else _percent(said.get("progress")) >= WHOLE
        return "" if ended or unsubmitted else _UNSUBMITTED
    if program == LIMESURVEY and not unsubmitted and said.get("submitted") in ("", "N/A"):
        return _UNSUBMITTED
    return ""


def _percent(text: str | None) -> float:
    """Progress in percent; a table without it has whole ones."""
    try:
        return float(text) if text else WHOLE
    except ValueError:
        return WHOLE


_UNSUBMITTED = "the answers in the row were never submitted (--unsubmitted keep reads them)"
