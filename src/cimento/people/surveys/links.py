"""The file of links: the only place, outside participants' mail, that has them in full."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cimento.errors import InputError
from cimento.io.files import BOM, read_bytes, writing

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
            seen="is there already and is no table of links",
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
