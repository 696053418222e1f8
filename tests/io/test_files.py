"""Files are written whole or not at all, and are on the disk before they have their names."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from cimento.errors import StorageError
from cimento.io.files import atomically, write_bytes


@pytest.fixture
def calls(monkeypatch) -> list[str]:
    """What is done with files, in order: fsync with the size of a file or ``folder``, renames."""
    log: list[str] = []
    rename, sync = Path.replace, os.fsync

    def synced(handle: int) -> None:
        status = os.fstat(handle)
        log.append("folder" if stat.S_ISDIR(status.st_mode) else str(status.st_size))
        sync(handle)

    def renamed(self: Path, target: Path) -> Path:
        log.append("rename")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    return log


def test_a_file_is_on_the_disk_before_it_has_its_name(calls, tmp_path):
    write_bytes(b"ciao", tmp_path / "a.txt")
    assert calls == ["4", "rename", "folder"]


def test_what_a_digest_seals_is_not_waited_for(calls, tmp_path):
    write_bytes(b"ciao", tmp_path / "a.txt", sealed=True)
    assert calls == ["rename"]


def test_a_disk_that_fails_leaves_what_was_there(monkeypatch, tmp_path):
    path = write_bytes(b"before", tmp_path / "a.txt")

    def failing(_handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(StorageError, match="cannot be written"):
        write_bytes(b"after", path)
    assert path.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_system_without_fsync_is_written_to(monkeypatch, tmp_path):
    def unknown(_handle: int) -> None:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", unknown)
    assert write_bytes(b"ciao", tmp_path / "a.txt").read_bytes() == b"ciao"


def test_a_file_gets_the_permissions_of_the_umask(tmp_path):
    before = os.umask(0o277)
    try:
        path = atomically(tmp_path / "a.txt", lambda file: file.write_bytes(b"x"))
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o400
