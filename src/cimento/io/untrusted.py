"""Files in folders that may come from others, opened without following links.

A link in such a folder may lead to any file of this machine, a named pipe may block whoever opens
it, and a device may never end.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""A link is not followed, and a pipe that nobody writes to is not waited for."""


def special_files(folder: Path) -> Iterator[Path]:
    """Links, and anything else that is neither file nor folder, below a folder if it exists."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from special_files(Path(entry.path))
            elif not entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def is_special(path: Path) -> bool:
    """Whether something at a path is neither file nor folder, links included.

    Raises:
        OSError: it cannot be known, for example because no file can have such a name.
    """
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def is_plain_file(path: Path) -> bool:
    """Whether there is a file at a path, and no link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def open_safely(path: Path, flags: int, mode: int = 0o666) -> int:
    """The descriptor of a file; nothing is opened through a link, and no pipe is waited for.

    Args:
        path: the file; the folders above it are the caller's to check.
        flags: as for `os.open`.
        mode: permissions of a file that is made.

    Raises:
        OSError: it cannot be opened, or is a link, a pipe or a device.
    """
    if path.is_symlink():  # not every system has the flag
        raise OSError(errno.ELOOP, "is a link", str(path))
    handle = os.open(path, flags | _SAFELY, mode)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "is a device, a pipe or a socket, and no file", str(path))
    return handle


def open_new(path: Path, mode: int = 0o666) -> int:
    """The descriptor of a new file in the place of an old one, which is removed, not written into.

    What has the same content under another name (a hard link) keeps it.

    Args:
        path: the file; the folders above it are the caller's to check.
        mode: its permissions.

    Raises:
        OSError: it cannot be made.
    """
    path.unlink(missing_ok=True)
    return open_safely(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
