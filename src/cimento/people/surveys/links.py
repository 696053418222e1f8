"""The file of links: the only place, outside participants' mail, that has them in full."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from cimento.errors import InputError, StorageError
from cimento.io.files import BOM, read_bytes, writing
from cimento.people.surveys.storage import Participant

LINKS_FILE: Final = "links.tsv"
HEADER: Final = "participant\tsurvey\tlink"


def refuse_other_file(path: Path) -> None:
    """Refuse a file that is there and holds no links, before any link is made.

    Raises:
        InputError: its first line is another one, or it cannot be read.
    """
    if not path.exists():
        return
    first = read_bytes(path).decode("utf-8", errors="replace").removeprefix(BOM).partition("\n")[0]
    if first.strip() not in {"", HEADER}:
        raise InputError(
            where=str(path),
            seen="is there already and is not a table of links",
            todo="Rename it, or name another file with -o.",
        )


def append_links(lines: Sequence[str], path: Path) -> None:
    """Append links to a file that only its owner can read; earlier links stay.

    Args:
        lines: participant, survey and link, separated by tabs.
        path: of the file; it is made with a header if it is not there.

    Raises:
        StorageError: the file cannot be written.
    """
    with writing(path, todo="Name another file with -o."):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "r+b") as file:
            # A file that somebody made by hand may be readable by others.
            path.chmod(0o600)
            content = file.read()
            begin = "" if content.endswith(b"\n") else "\n" if content else f"{HEADER}\n"
            file.write((begin + "".join(f"{line}\n" for line in lines)).encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())


def link_lines(made: Iterable[tuple[Participant, str]], address: str) -> list[str]:
    """The lines of new participants: the code, the survey and the link.

    Args:
        made: each with the token of the link.
        address: the beginning of all links.
    """
    return [f"{person.id}\t{person.survey}\t{address}/p/{token}" for person, token in made]


def addresses_in(path: Path) -> list[str]:
    """The addresses with which the links in a file begin; none if it is not there.

    Raises:
        InputError: the file cannot be read.
    """
    content = read_bytes(path).decode("utf-8", errors="replace") if path.is_file() else ""
    links = (line.rpartition("\t")[2] for line in content.splitlines())
    return sorted({link.rpartition("/p/")[0] for link in links if "/p/" in link})


def remove_link(path: Path, participant: str) -> bool:
    """Remove the lines of one participant from a file of links, and check that none is left.

    The file is written in place, so that its permissions and its former bytes do not survive in
    another one.

    Args:
        path: of the file; it need not exist.
        participant: the code.

    Returns:
        Whether there were any.

    Raises:
        StorageError: the file cannot be read or written, or still holds the code.
    """
    if not path.exists():
        return False
    code = re.compile(rb"(?<![\w-])%b(?![\w-])" % re.escape(participant.encode("utf-8")))
    with writing(path, todo=f"Delete the line of {participant} in it by hand."):
        with path.open("r+b") as file:
            lines = file.read().splitlines(keepends=True)
            kept = [line for line in lines if not code.search(line)]
            if len(kept) == len(lines):
                return False
            file.seek(0)
            file.write(b"".join(kept))
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        content = path.read_bytes()
    if code.search(content):
        raise StorageError(
            where=str(path),
            seen=f"still holds {participant} after the deletion",
            todo="Close the program in which it is open, then delete again.",
        )
    return True
