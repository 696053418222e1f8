"""``cimento annotate survey`` and ``serve``: surveys made from suites, and run in a browser."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cimento.cli.console import note, show
from cimento.cli.flags import command_of, refuse_file_name
from cimento.errors import InputError, UsageError, counted
from cimento.io.declared import Options, option
from cimento.io.files import read_bytes, write_text
from cimento.judgments import FILLER, PRACTICE
from cimento.people.surveys import DATABASE, read_design, storage
from cimento.people.surveys.exports import KEPT, write_survey
from cimento.people.surveys.links import (
    HEADER,
    LINKS_FILE,
    addresses_in,
    append_links,
    link_lines,
    refuse_other_file,
)
from cimento.people.surveys.participants import MOST_PEOPLE
from cimento.people.surveys.plan import SurveyPlan
from cimento.people.surveys.retention import data_of, delete_participant, inactive_participants

if TYPE_CHECKING:
    from cimento.people.surveys import SurveyDesign


class _SurveySource(Options):
    """The source of a survey, and the folder to write."""

    suite: str = option(
        ..., "A suite, a list of sentences, or a run whose candidates are judged.", argument="SUITE"
    )
    output: Path = option(Path("survey"), "Folder that is written.", flags=("-o",))


class BuildOptions(SurveyPlan, _SurveySource):
    """The questions of a survey, the participants, and the wording."""

    force: bool = option(default=False, help="Replace another design in that folder.")


@command_of
def build(options: BuildOptions) -> None:
    """Distribute the items of a suite over surveys; nobody sees two conditions of an item.

    A list of sentences (a text or table of one column) is asked for ratings, and stored beside the
    surveys as a suite, which takes the answers.
    The folder contains the design, which `cimento annotate serve` uses, and the same surveys as
    tables for forms, as pages to print, for jsPsych and for PCIbex.
    """
    from cimento.kinds.registry import save_suite
    from cimento.people.surveys.building import CONTACT_MISSING, build_design
    from cimento.people.surveys.material import load_material
    from cimento.suites.builtin import find_suite

    refuse_file_name(options.output, holds="surveys are")
    source = find_suite(options.suite)
    design = build_design(source, options)
    files = write_survey(design, options.output, force=options.force)
    if source.is_file() and (loaded := load_material(source, language=design.language)).is_made:
        made = options.output / f"{design.source.suite}.xlsx"
        if not made.exists():  # people may have added to it
            save_suite(loaded, made)
        note(f"{made} has the sentences as a suite.")
    show(survey_said(design))
    _note_kept(files)
    if options.consent is None and not options.contact:
        note(f"Remark: {CONTACT_MISSING}. Give --contact or --consent.")
    folder = options.output
    note(f"Everything is in {folder}. To ask in a browser: cimento annotate serve {folder}")


class RewriteOptions(Options):
    """The design, and where its files go."""

    design: Path = option(..., "A design, or its folder.", argument="DESIGN")
    output: Path = option(Path("survey"), "Folder to write.", flags=("-o",))
    force: bool = option(default=False, help="Replace another design in that folder.")


@command_of
def export_design(options: RewriteOptions) -> None:
    """Write all files that are made from a design, for example after editing it by hand."""
    refuse_file_name(options.output, holds="surveys are")
    files = write_survey(read_design(options.design), options.output, force=options.force)
    _note_kept(files)
    note(f"{counted(len(files), 'file')} in {options.output}.")


def _note_kept(files: Sequence[Path]) -> None:
    """Say what becomes of links and answers to the design that was in the folder."""
    for path in files:
        if path.name == KEPT:
            note(
                f"The links and answers in {path.with_name(DATABASE)} belong to the design that"
                f" is now {path}. To use them again, copy it over design.json; to collect answers"
                " to the new design, name another --database."
            )


def survey_said(design: SurveyDesign) -> str:
    """The surveys of a design, one line each."""
    lines = [f"{design.source.suite}: {design.task}, language {design.language}"]
    for survey, questions in design.by_survey.items():
        kinds = Counter("check" if asked.expected else asked.kind for asked in questions)
        counts = {
            "questions": kinds[""], "checks": kinds["check"],
            "fillers": kinds[FILLER], "practice": kinds[PRACTICE],
        }  # fmt: skip
        shown = [
            f"{n} {name}" for name, n in counts.items() if n or name in {"questions", "checks"}
        ]
        lines.append(f"survey {survey}: {', '.join(shown)}")
    return "\n".join(lines)


SECRET = "CIMENTO_ADMIN_SECRET"  # noqa: S105  # the name of a variable
SHORTEST_SECRET = 12


class AnswerOptions(Options):
    """The design of a survey, and its answers."""

    design: Path = option(..., "A design, or its folder.", argument="DESIGN")
    database: Path | None = option(
        None, "File of the answers; by default answers.sqlite in the design's folder."
    )

    @property
    def answers(self) -> Path:
        """The path of the database of answers.

        Raises:
            InputError: the design does not exist.
        """
        if not self.design.exists():
            raise InputError(
                where=str(self.design), seen="there is no such design", todo="Check the path."
            )
        folder = self.design if self.design.is_dir() else self.design.parent
        return self.database or folder / DATABASE


class StartOptions(AnswerOptions):
    """The survey, and how people get to it."""

    host: str = option("127.0.0.1", "Address to listen on; only this machine by default.")
    port: int = option(8000, "Port.", ge=1, le=65535)
    url: str = option("", "Public address, such as that of a web server in front.")
    room: int = option(
        0,
        "Print one link with which up to N people in a room can join.",
        ge=0,
        le=MOST_PEOPLE,
    )
    admin_secret_file: Path | None = option(
        None, f"File with the administrator's secret; by default ${SECRET}."
    )


@command_of
def start(options: StartOptions) -> None:
    """Run the surveys of a design as web pages, with one link for each participant.

    Every answer is on the disk before the next page is shown. If you give no secret, one is made
    and printed once. Before you open the survey to others, put a web server with TLS in front, and
    give its address as --url: requests for any other name are refused.
    """
    from cimento.people.surveys.server import listen, make_app, serve_surveys

    url = options.url
    _refuse_address(url)
    secret = _secret(options.admin_secret_file)
    path, wanted = options.answers, read_design(options.design)
    made = "" if secret else secrets.token_urlsafe(24)
    with listen(options.host, options.port) as listening:
        app = make_app(wanted, path, secret=secret or made, url=url, room=options.room)
        if made:
            note(f"The administrator's secret, printed this once: {made}")
        _announce(path, options)
        serve_surveys(app, listening, proxied=bool(url))


def _announce(path: Path, options: StartOptions) -> None:
    """Say where the survey is, and how people get to it."""
    from cimento.people.surveys.participants import EVERYWHERE, network_host, room_place

    host, port, url = options.host, options.port, options.url
    shown = network_host() if host == EVERYWHERE else host
    address = f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"
    note(f"The answers are in {path}. Administration: {address}/admin")
    if host not in {"127.0.0.1", "::1", "localhost"}:
        note("Others on the network can reach this, and without TLS in front also read it.")
    address = url.rstrip("/") or address
    if options.room:
        note(f"For people in the room: {address}{room_place(storage.signing_key(path))}")
    elif not storage.participants(path):
        note(
            f"Nobody has a link yet: cimento annotate serve invite {options.design}"
            f" --url {url or address}"
        )
    links = path.with_name(LINKS_FILE)
    known = {address} if url else {address, f"http://127.0.0.1:{port}", f"http://localhost:{port}"}
    if others := [other for other in addresses_in(links) if other not in known]:
        note(
            f"Links in {links} begin with {' or '.join(others)}, and the survey is at {address}:"
            " replace this beginning in links that you send (what follows stays as it is)."
        )


class InviteOptions(AnswerOptions):
    """The survey, and the links to make."""

    design: Path = option(..., "A design, or its folder.", argument="DESIGN")
    number: int = option(10, "Number of links.", flags=("-n", "--number"), ge=1, le=10000)
    url: str = option("http://127.0.0.1:8000", "Beginning of the links: the address of the survey.")
    output: Path | None = option(
        None, "File of the links; by default links.tsv beside the answers.", flags=("-o",)
    )


@command_of
def invite(options: InviteOptions) -> None:
    """Make links as a table: participant, survey, link.

    The table is printed and appended to links.tsv, which only you can read. It is the only copy:
    with the answers, only a hash of each link is stored.
    """
    wanted, path = read_design(options.design), options.answers
    file = options.output or path.with_name(LINKS_FILE)
    refuse_other_file(file)
    storage.prepare(path, wanted)
    made = storage.invite_participants(path, wanted, options.number)
    lines = link_lines(made, options.url.rstrip("/"))
    try:
        append_links(lines, file)
    finally:
        show("\n".join([HEADER, *lines]))
    note(f"The only copy of the links is in {file}; keep it separate from the answers.")


class ExportOptions(AnswerOptions):
    """The survey, and what is written of it."""

    design: Path = option(..., "A design, or its folder.", argument="DESIGN")
    output: Path | None = option(
        None, "A .parquet, .csv or .tsv file; judgments.parquet.", flags=("-o",)
    )
    person: str = option("", "Write everything stored about one participant, as .json.")
    people: Path | None = option(None, "Write the participants to this .csv.")


@command_of
def export_answers(options: ExportOptions) -> None:
    """Write all answers so far as the judgments table; the survey may continue meanwhile.

    With --person, write everything that is stored about one participant, including earlier answers
    and the consent text, for participants who ask to see it.
    """
    from cimento.people.surveys.administration import people_csv, write_results

    people, person = options.people, options.person
    if people is not None and people.suffix != ".csv":
        raise UsageError(
            where=f"--people {people}",
            seen="participants are written as .csv",
            todo=f"Name a file, such as {people.with_suffix('.csv')}.",
        )
    path = options.answers
    if person:
        target = write_text(data_of(path, person), options.output or Path(f"{person}.json"))
        note(f"All that is stored of {person} is in {target}.")
        return
    output = options.output or Path("judgments.parquet")
    count = write_results(path, output)
    note(f"{counted(count, 'judgment')} in {output}.")
    if people is not None:
        write_text(people_csv(path), people)
        note(f"The participants are in {people}.")


class LinksOptions(AnswerOptions):
    """The survey, and the links that are deleted with the answers."""

    design: Path = option(..., "A design, or its folder.", argument="DESIGN")
    links: Path | None = option(
        None, "File of the links to delete from; by default links.tsv beside the answers."
    )

    @property
    def links_file(self) -> Path:
        """The file of the links; by default the one beside the answers.

        Raises:
            InputError: the file that was given does not exist.
        """
        if self.links is not None and not self.links.exists():
            raise InputError(
                where=str(self.links), seen="there is no such file", todo="Check the path."
            )
        return self.links or self.answers.with_name(LINKS_FILE)


class DeleteOptions(LinksOptions):
    """The survey, and the participant to delete."""

    design: Path = option(..., "A design, or its folder.", argument="DESIGN")
    participant: str = option(..., "Such as P-0a1b2c3d4e.", argument="PARTICIPANT")


@command_of
def delete(options: DeleteOptions) -> None:
    """Delete one participant with all answers, consent and link, permanently.

    The files of the answers and of the links are rewritten and searched for the deleted data. If
    another program that reads a file prevents overwriting, this is reported.
    """
    path, participant = options.answers, options.participant
    storage.stored_design(path)
    file = options.links_file
    note(f"{participant} is deleted (answers: {delete_participant(path, participant, file)}).")
    _note_missing_links(file)


class ExpireOptions(LinksOptions):
    """The survey, and how long its answers are kept."""

    design: Path = option(..., "A design, or its folder.", argument="DESIGN")
    keep_days: int = option(..., "Days for which answers are kept.", ge=1, le=36500)
    dry_run: bool = option(default=False, help="List who would be deleted, without deleting.")


@command_of
def expire(options: ExpireOptions) -> None:
    """Delete participants with no activity for --keep-days: link, consent, answers.

    Export the answers first. Run this daily (cron, a systemd timer) to keep the promise of the
    consent text.
    """
    path, dry_run = options.answers, options.dry_run
    storage.stored_design(path)
    file = options.links_file
    old = inactive_participants(path, options.keep_days)
    for participant in old:
        show(participant)
        if not dry_run:
            delete_participant(path, participant, file)
    note(f"Participants {'who would be ' if dry_run else ''}deleted: {len(old)}.")
    if old and not dry_run:
        _note_missing_links(file)


def _note_missing_links(file: Path) -> None:
    """Say what is left to do if the links are in a file elsewhere."""
    if not file.exists():
        note(
            f"There is no {file}. If you keep the links elsewhere, delete there too: give --links."
        )


def _refuse_address(url: str) -> None:
    """Refuse an address that names no host."""
    from cimento.people.surveys.security import host_of

    if url and not (url.startswith(("http://", "https://")) and host_of(url)):
        raise UsageError(
            where=f"--url {url}",
            seen="is not an address",
            todo="Write https://survey.example.org, say.",
        )


def _secret(file: Path | None) -> str:
    """The administrator's secret, from a file or the environment; empty if there is none.

    Raises:
        InputError: the file cannot be read, or is not text.
        UsageError: the secret is too short.
    """
    try:
        given = os.environ.get(SECRET, "") if file is None else read_bytes(file).decode().strip()
    except UnicodeDecodeError as error:
        raise InputError(
            where=str(file), seen="is not text", todo="Write the secret in it."
        ) from error
    if (given or file is not None) and len(given) < SHORTEST_SECRET:
        raise UsageError(
            where=str(file or SECRET),
            seen="the secret is too short",
            todo=f"Give at least {SHORTEST_SECRET} characters that nobody can guess.",
        )
    return given
