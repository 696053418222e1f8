"""Archives of the kind tar.gz, in which some data sets are published, unpacked with care."""

from __future__ import annotations

import tarfile
import zlib
from pathlib import Path, PurePosixPath

from cimento.errors import InputError
from cimento.suites.load import MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES

TARBALL = ".tar.gz"
"""How the names of these archives end."""


def unpack_tarball(path: Path) -> list[Path]:
    """Unpack the files of an archive beside it; hidden files and links are left out.

    Args:
        path: path of the archive.

    Returns:
        The files, in the archive's order.

    Raises:
        InputError: it is damaged, a path leads out of it, or its files are too many or too large.
    """
    try:
        with tarfile.open(path, "r:gz") as archive:
            members = [member for member in archive.getmembers() if _is_wanted(member)]
            sizes = [member.size for member in members]
            if len(sizes) > MAX_FILES or sum(sizes) > MAX_TOTAL_BYTES or _over(sizes):
                raise _refused(path, "its files are too many or too large")
            for member in members:
                archive.extract(member, path.parent, filter="data")
    except tarfile.FilterError as error:
        raise _refused(path, f"a path in it leads out of it: {error}") from error
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise _refused(path, f"it is damaged: {error}") from error
    return [path.parent / member.name for member in members]


def _over(sizes: list[int]) -> bool:
    return any(size > MAX_FILE_BYTES for size in sizes)


def _is_wanted(member: tarfile.TarInfo) -> bool:
    parts = PurePosixPath(member.name).parts
    return member.isfile() and not any(part.startswith(".") and part != ".." for part in parts)


def _refused(path: Path, seen: str) -> InputError:
    todo = "Do not use it; fetch it again, and compare its sha256 with that of its page."
    return InputError(where=str(path), seen=seen, todo=todo)
