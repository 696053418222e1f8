"""Unfinished files and folders, which get their name when they are complete.

While something is written, it is called ``.NAME.unfinished``. A process that is killed leaves it
behind, and whoever writes ``NAME`` next uses it again, so that no command leaves it for ever. A
lock, which ends with the process, tells what is left from what another process is just writing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

ENDING = ".unfinished"
_NAME = re.compile(rf"\..+{re.escape(ENDING)}(\.[a-z0-9_]{{8}})?")
_HAS_LOCKS = sys.platform != "win32"
_TRIALS = 100
_STALE_S = 3600
"""Seconds after which it counts as left where the system has no locks."""


@contextlib.contextmanager
def unfinished(path: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """A context with the path of an empty file or folder beside `path`, to be renamed at the end.

    What was not renamed is removed. Where another process writes the same path, or a stranger has
    put something there, the name has more letters.

    Args:
        path: what it is to be called.
        is_folder: which of the two.

    Raises:
        OSError: it cannot be made.
    """
    usual = path.with_name(f".{path.name}{ENDING}")
    names = (usual, *(usual.with_name(f"{usual.name}.{token_hex(4)}") for _ in range(_TRIALS)))
    for place in names:
        if (handle := _taken(place, is_folder=is_folder)) is not None:
            break
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(usual))
    try:
        if is_folder:
            for entry in place.iterdir():
                _remove(entry)
        elif _HAS_LOCKS:
            os.truncate(handle, 0)
        yield place
    finally:
        if _is_same(place, handle):
            _remove(place)
        os.close(handle)


def finished_name(path: Path) -> str:
    """The name that an unfinished file or folder gets when it is complete; else its own name."""
    before, ending, _ = path.name.partition(ENDING)
    return before.removeprefix(".") if ending and before.startswith(".") else path.name


def remove_unfinished(folder: Path) -> None:
    """Remove what killed processes have left unfinished, also in subfolders.

    Args:
        folder: the folder, of which all hidden files of such a name are ours.
    """
    for path in folder.rglob(f".*{ENDING}*"):
        if not _NAME.fullmatch(path.name):
            continue
        with contextlib.suppress(OSError):
            about = path.lstat()
            if not _HAS_LOCKS:
                if time.time() - about.st_mtime > _STALE_S:
                    _remove(path)
            elif (handle := _locked(path, is_folder=stat.S_ISDIR(about.st_mode))) is not None:
                _remove(path)
                os.close(handle)


def _taken(path: Path, *, is_folder: bool) -> int | None:
    """The descriptor of a file or folder that this process alone writes; None if another does.

    Raises:
        OSError: it cannot be made.
    """
    made = True
    try:
        if is_folder:
            path.mkdir(mode=0o700)
        else:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        made = False
    if not _HAS_LOCKS:  # and an open file cannot be renamed there
        return os.open(os.devnull, os.O_RDONLY) if made else None
    try:
        return _locked(path, is_folder=is_folder, made=made)
    except OSError as error:
        # A stranger's link or folder, or a file that somebody has just renamed or removed.
        if made and error.errno not in (errno.ENOENT, errno.ELOOP):
            raise
        return None


def _locked(path: Path, *, is_folder: bool, made: bool = False) -> int | None:
    """The descriptor of a file or folder of ours that no process writes; None for any other.

    Args:
        path: the file or folder.
        is_folder: which of the two.
        made: whether this process has just made it, so that it is used even without a lock.

    Raises:
        OSError: it cannot be opened.
    """
    import fcntl

    flags = (os.O_DIRECTORY | os.O_RDONLY) if is_folder else os.O_RDWR
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    about = os.fstat(handle)
    is_right = stat.S_ISDIR(about.st_mode) if is_folder else stat.S_ISREG(about.st_mode)
    # Another user may have put it there, or have it under another name.
    is_ours = about.st_uid == os.geteuid() and (is_folder or about.st_nlink <= 1)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_free = True
    except BlockingIOError:
        is_free = False
    except OSError:  # a file system without locks
        is_free = made
    # It may have been renamed while it was opened.
    if is_right and is_ours and is_free and _is_same(path, handle):
        return handle
    os.close(handle)
    return None


def _is_same(path: Path, handle: int) -> bool:
    """Whether a path is that of an open file."""
    try:
        there = path.lstat()
    except OSError:
        return False
    return not _HAS_LOCKS or os.path.samestat(there, os.fstat(handle))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
