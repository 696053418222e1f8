"""``cimento annotate import``: answers of people into the judgments table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cimento.cli import options
from cimento.cli.console import note, show
from cimento.errors import UsageError

if TYPE_CHECKING:
    from cimento.people.judgments.formats import Submission
    from cimento.people.judgments.importing import Import
    from cimento.people.judgments.mapping import ColumnMap

Suites = Annotated[
    list[str] | None,
    options.option("--suite", help="The suite that was asked; its items are then checked."),
]
Columns = Annotated[
    list[str] | None,
    options.option("--map", metavar="FIELD=COLUMN", help="Where a field stands. Repeatable."),
]
Fixed = Annotated[
    list[str] | None,
    options.option("--fixed", metavar="FIELD=VALUE", help="A field equal in all. Repeatable."),
]
Mapping = Annotated[
    Path | None, options.option("--mapping", help="The same as TOML (docs/judgments.md).")
]
Prolific = Annotated[
    Path | None, options.option("--prolific", help="Prolific's export of the participants.")
]
Keep = Annotated[
    list[str] | None,
    options.option("--keep", help="Column of it to keep in --participants. Repeatable."),
]
Participants = Annotated[
    Path | None,
    options.option("--participants", help="Write pseudonym, status, seconds and --keep (TSV)."),
]
Secret = Annotated[
    Path | None,
    options.option("--secret", help="File with the secret of pseudonyms; made if not there."),
]
Names = Annotated[
    Literal["replace", "keep"],
    options.option("--names", help="Replace participants' names, or keep them as they are."),
]
OfUnknown = Annotated[
    Literal["refuse", "skip"],
    options.option("--unknown", help="Answers to no item of the suite."),
]
Form = Annotated[
    Literal["long", "wide", "jspsych", "pcibex", "rated"],
    options.option(
        "--form",
        help="long: an answer a row; wide: a person a row; rated: lists such as ItaCoLA's.",
    ),
]
Output = Annotated[
    Path, options.option("-o", "--output", help="Judgments: .parquet, .csv or .tsv.")
]


def import_answers(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files of answers.")],
    output: Output,
    form: Form,
    *,
    suites: Suites = None,
    columns: Columns = None,
    fixed: Fixed = None,
    mapping: Mapping = None,
    prolific: Prolific = None,
    keep: Keep = None,
    participants: Participants = None,
    secret: Secret = None,
    names: Names = "replace",
    unknown: OfUnknown = "refuse",
) -> None:
    """Read what people answered and write the judgments table.

    Participants get pseudonyms (a keyed hash): --secret names the file with the key, which stays
    with you and out of every table. --names keep is for names that are none.
    """
    from cimento.people.annotate.importing import ImportOptions
    from cimento.people.annotate.importing import read_answers as read
    from cimento.people.judgments.formats import read_prolific
    from cimento.people.judgments.records import (
        refuse_overwriting,
        refuse_suffix,
        table_of,
        write_judgments,
    )
    from cimento.suites.builtin import find_suite
    from cimento.suites.load import suite_paths

    refuse_suffix(output)
    refuse_overwriting(output, files)
    _check_people(files, prolific, keep, participants)
    paths = [path for name in suites or () for path in suite_paths(find_suite(name))]
    submissions = read_prolific(prolific) if prolific is not None else None
    key = _secret(secret) if form != "rated" and names == "replace" else None
    found = read(
        files,
        ImportOptions(
            form=form,
            suites=paths,
            columns=_columns(mapping, columns or (), fixed or ()),
            secret=key,
            submissions=submissions,
            unknown=unknown,
        ),
    )
    write_judgments(table_of(found.judgments), output)
    if participants is not None and submissions is not None:
        _write_people(submissions, keep or (), key, participants)
    _tell(found, output)


def _check_people(
    files: Sequence[Path],
    prolific: Path | None,
    keep: Sequence[str] | None,
    participants: Path | None,
) -> None:
    """UsageError where an option is of no use without another, or a file would be overwritten."""
    from cimento.people.judgments.records import refuse_overwriting

    if participants is not None and prolific is None:
        raise UsageError(where="--participants", seen="there is no --prolific", todo="Give both.")
    if keep and participants is None:
        raise UsageError(where="--keep", seen="there is no --participants", todo="Give both.")
    if participants is not None and prolific is not None:
        refuse_overwriting(participants, [*files, prolific])


def _tell(found: Import, output: Path) -> None:
    for reason, number in found.passed.items():
        note(f"{number} passed over: {reason}")
    for each in found.notes:
        note(each)
    people = len({each.annotator for each in found.judgments})
    note(f"{len(found.judgments)} judgments of {people} people: {output}")


def _secret(path: Path | None) -> bytes:
    from cimento.people.judgments.importing import open_secret

    if path is None:
        raise UsageError(
            where="--secret",
            seen="is missing, and participants' names are not kept",
            todo="Give --secret FILE (made if not there; keep it to yourself), or --names keep.",
        )
    secret, made = open_secret(path)
    if made:
        note(f"A secret was made: {path}. Who has it can tell who is who; keep it to yourself.")
    return secret


def _columns(mapping: Path | None, columns: Sequence[str], fixed: Sequence[str]) -> ColumnMap:
    from cimento.people.judgments.mapping import map_of_options, read_map

    said = map_of_options(columns, fixed)
    return read_map(mapping).with_own(said) if mapping is not None else said


def _write_people(
    submissions: dict[str, Submission], keep: Sequence[str], key: bytes | None, path: Path
) -> None:
    from cimento.people.judgments.formats import write_participants
    from cimento.people.judgments.importing import pseudonym

    def rename(name: str) -> str:
        return pseudonym(name, key) if key else name

    write_participants(submissions, path, keep=keep, rename=rename)
    note(f"{len(submissions)} participants: {path}")


def pseudonym_of(
    names: Annotated[list[str], typer.Argument(metavar="ID...", help="As the platform has them.")],
    secret: Annotated[Path, options.option("--secret", help="The file that they were made with.")],
) -> None:
    """Print the pseudonyms of participants, to find somebody who asks for deletion.

    Their answers are then left out with: cimento annotate filter --drop PSEUDONYM=WHY.
    """
    from cimento.errors import InputError
    from cimento.people.judgments.importing import open_secret, pseudonym

    if not secret.is_file():
        raise InputError(
            where=str(secret),
            seen="there is no such file",
            todo="Give the secret that the table was imported with; a new one is of no use.",
        )
    key, _ = open_secret(secret)
    for name in names:
        show(pseudonym(name, key))
