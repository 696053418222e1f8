"""ZIP archives that hold one file, as form programs hand out the table of answers."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from cimento.errors import Fault, counted
from cimento.faults import fault
from cimento.intake.read_once import sheet_names
from cimento.io.parsing import MAX_GROWTH, MAX_UNPACKED_BYTES, SMALL_BYTES

_SIGNATURE = b"PK\x03\x04"
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)
"""What zipfile raises for damaged and protected archives, or for packing that it does not know."""


def unzipped(data: bytes, *, name: str) -> tuple[bytes, list[Fault]]:
    """The only file in a ZIP archive; other data, and workbooks, are unchanged.

    Files that macOS adds and hidden ones do not count. Nothing is written, so paths in the archive
    lead nowhere.

    Args:
        data: the content of the file.
        name: name of the file in messages.

    Returns:
        The content, empty if it cannot be read, and the faults found.
    """
    if not data.startswith(_SIGNATURE) or sheet_names(data):
        return data, []
    most = min(max(SMALL_BYTES, MAX_GROWTH * len(data)), MAX_UNPACKED_BYTES)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if _counts(member)]
            if len(members) != 1:
                seen = f"The file is a ZIP archive of {counted(len(members), 'file')}."
                return b"", [_refused(name, seen, "Unpack it and give the table.")]
            with archive.open(members[0]) as file:
                content = file.read(most + 1)  # the size in its header is not trusted
    except _DAMAGES:
        seen = "The file is a damaged or protected ZIP archive."
        return b"", [_refused(name, seen, "Unpack it and give the table.")]
    if len(content) > most:
        seen = f"The file is a ZIP archive that grows from {len(data):,} to over {most:,} bytes."
        return b"", [_refused(name, seen, "Unpack it where you trust it, and give the table.")]
    if content.startswith(_SIGNATURE) and not sheet_names(content):
        seen = "The file is a ZIP archive of another archive."
        return b"", [_refused(name, seen, "Unpack it and give the table.")]
    return content, []


def table_path(data: bytes, path: Path) -> Path:
    """The path of a ZIP archive with a suffix that says what the file in it is, by its content.

    Args:
        data: the content of the file in the archive.
        path: of the archive.
    """
    return path.with_suffix(".xlsx" if sheet_names(data) else ".csv")


def _counts(member: zipfile.ZipInfo) -> bool:
    parts = PurePosixPath(member.filename.replace("\\", "/")).parts
    hidden = any(part == "__MACOSX" or (part.startswith(".") and part != "..") for part in parts)
    return bool(parts) and not (member.is_dir() or hidden)


def _refused(name: str, seen: str, todo: str) -> Fault:
    return fault("CIM-S002", where=name, seen=seen, todo=todo)
