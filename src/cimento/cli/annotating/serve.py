"""``cimento annotate serve``: a design as web pages, the links to them, and the answers."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup

from cimento.cli import options
from cimento.cli.console import note, show

if TYPE_CHECKING:
    from typer._click import Context

SECRET = "CIMENTO_ADMIN_SECRET"  # noqa: S105  # the name of a variable
DATABASE = "answers.sqlite"
SHORTEST_SECRET = 12


class ServeGroup(TyperGroup):
    """A group that serves where no other of its commands is named: ``serve DESIGN``."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """The arguments, with the usual command in front where none is named."""
        if args and args[0] not in self.commands and args[0] not in {"-h", "--help"}:
            args = ["start", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=ServeGroup, help="Ask people in a browser: serve DESIGN.", no_args_is_help=True
)

DesignPath = Annotated[
    Path, typer.Argument(metavar="DESIGN", help="A design, or the folder that holds it.")
]
Database = Annotated[
    Path | None,
    options.option("--database", help="File of the answers; answers.sqlite beside the design."),
]


@app.command("start", short_help="Ask; stop with Ctrl-C.")
def start(
    design: DesignPath,
    *,
    database: Database = None,
    host: Annotated[
        str, options.option("--host", help="Address to listen at; only this machine by default.")
    ] = "127.0.0.1",
    port: Annotated[int, options.option("--port", min=1, max=65535, help="Port.")] = 8000,
    admin_secret_file: Annotated[
        Path | None,
        options.option(
            "--admin-secret-file", help=f"File with the administrator's secret; else ${SECRET}."
        ),
    ] = None,
) -> None:
    """Ask the surveys of a design as web pages, one link for each participant.

    Every answer is on the disk before the next page is shown. Without a secret of your own a new
    one is made and printed once. Put a web server with TLS in front before you open it to others.
    """
    from cimento.people.surveys.design import read_design
    from cimento.people.surveys.serving import storage
    from cimento.people.surveys.serving.app import listen, make_app, serve

    secret = _secret(admin_secret_file)
    path, wanted = _database(design, database), read_design(design)
    made = "" if secret else secrets.token_urlsafe(24)
    with listen(host, port) as listening:
        app = make_app(wanted, path, secret=secret or made)
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        note(f"The answers are in {path}. Administration: http://{address}/admin")
        if made:
            note(f"The administrator's secret, printed this once: {made}")
        if host not in {"127.0.0.1", "::1", "localhost"}:
            note("Others on the network can reach this, and without TLS in front also read it.")
        if not storage.participants(path):
            note(f"Nobody has a link yet: cimento annotate serve invite {design}, or in /admin.")
        serve(app, listening)


@app.command("invite", short_help="Make links for participants.")
def invite(
    design: DesignPath,
    *,
    number: Annotated[
        int, options.option("-n", "--number", min=1, max=10000, help="How many.")
    ] = 10,
    url: Annotated[
        str, options.option("--url", help="What the links begin with.")
    ] = "http://127.0.0.1:8000",
    database: Database = None,
) -> None:
    """Make links, as a table: participant, survey, link. They are stored nowhere else."""
    from cimento.people.surveys.design import read_design
    from cimento.people.surveys.serving import storage

    wanted, path = read_design(design), _database(design, database)
    storage.prepare(path, wanted)
    made = storage.invite_participants(path, wanted, number)
    lines = [f"{each.id}\t{each.survey}\t{url.rstrip('/')}/p/{token}" for each, token in made]
    show("\n".join(["participant\tsurvey\tlink", *lines]))


@app.command("export", short_help="Write the answers so far.")
def export(
    design: DesignPath,
    output: Annotated[
        Path, options.option("-o", "--output", help="A .parquet, .csv or .tsv file.")
    ] = Path("judgments.parquet"),
    *,
    people: Annotated[
        Path | None, options.option("--people", help="Write the participants to this .csv.")
    ] = None,
    database: Database = None,
) -> None:
    """Write all answers so far as the judgments table; the survey may go on meanwhile."""
    from cimento.io.files import write_text
    from cimento.people.surveys.serving.results import people_csv, write_results

    path = _database(design, database)
    count = write_results(path, output)
    note(f"{count} judgments in {output}.")
    if people is not None:
        write_text(people_csv(path), people)
        note(f"The participants are in {people}.")


@app.command("delete", short_help="Delete what one participant answered.")
def delete(
    design: DesignPath,
    participant: Annotated[
        str, typer.Argument(metavar="PARTICIPANT", help="Such as P-0a1b2c3d4e.")
    ],
    *,
    database: Database = None,
) -> None:
    """Delete one participant with all answers, consent and link, for good."""
    from cimento.people.surveys.serving import storage

    path = _database(design, database)
    storage.stored_design(path)
    note(f"{participant} and {storage.delete_participant(path, participant)} answers are deleted.")


def _database(design: Path, database: Path | None) -> Path:
    """The file of the answers.

    Raises:
        InputError: there is no such design.
    """
    from cimento.errors import InputError

    if not design.exists():
        raise InputError(where=str(design), seen="there is no such design", todo="Check the path.")
    folder = design if design.is_dir() else design.parent
    return database or folder / DATABASE


def _secret(file: Path | None) -> str:
    """The administrator's secret, from a file or the environment; empty where there is none.

    Raises:
        InputError: the file cannot be read, or is no text.
        UsageError: the secret is too short.
    """
    from cimento.errors import InputError, UsageError
    from cimento.io.files import read_bytes

    try:
        given = os.environ.get(SECRET, "") if file is None else read_bytes(file).decode().strip()
    except UnicodeDecodeError as error:
        raise InputError(
            where=str(file), seen="is no text", todo="Write the secret in it."
        ) from error
    if (given or file is not None) and len(given) < SHORTEST_SECRET:
        raise UsageError(
            where=str(file or SECRET),
            seen="the secret is too short",
            todo=f"Give at least {SHORTEST_SECRET} characters that nobody can guess.",
        )
    return given
