"""A file that starts the app by a double click, for Windows, macOS and Linux."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from cimento.io.files import write_bytes

_DESKTOP = "Desktop"
_EXECUTABLE = 0o755


def starter(system: str, command: Sequence[str]) -> tuple[str, str]:
    """The name and the text of a starter.

    Args:
        system: as `sys.platform` names it: ``win32``, ``darwin``, or any other for Linux.
        command: the words of the command, the first the path of a program.
    """
    if system == "win32":
        words = " ".join(f'"{word}"' for word in command).replace("%", "%%")
        return (
            "cimento.cmd",
            f"@echo off\r\nchcp 65001 >nul\r\n{words}\r\nif errorlevel 1 pause\r\n",
        )
    if system == "darwin":
        return "cimento.command", f"#!/bin/sh\nexec {shlex.join(command)}\n"
    words = " ".join(map(_desktop_word, command))
    lines = ("[Desktop Entry]", "Type=Application", "Version=1.5", "Name=cimento",
             "Comment=What does a language model know about a language?", f"Exec={words}",
             "Terminal=true", "Categories=Education;Science;")  # fmt: skip
    return "cimento.desktop", "\n".join(lines) + "\n"


def write_starter(folder: Path, arguments: Sequence[str]) -> Path:
    """Write the starter of this system.

    Args:
        folder: where it is written; the file of an earlier one is replaced.
        arguments: the words of the command after ``cimento``.

    Returns:
        The path of the file.

    Raises:
        StorageError: it cannot be written.
    """
    name, text = starter(sys.platform, [sys.executable, "-m", "cimento", *arguments])
    path = write_bytes(text.encode("utf-8"), folder / name)
    path.chmod(_EXECUTABLE)
    return path


def desktop() -> Path:
    """The desktop of the user; the current folder where there is none."""
    folder = Path.home() / _DESKTOP
    return folder if folder.is_dir() else Path.cwd()


def _desktop_word(word: str) -> str:
    r"""A word of the key ``Exec``, by the rules of the Desktop Entry Specification.

    It stands in double quotes, with a backslash before ``"``, ````, ``$`` and ``\``; as in every
    value, a backslash is then written twice. A percent sign, which begins a field, is doubled.
    """
    quoted = "".join(f"\\{mark}" if mark in '"`$\\' else mark for mark in word)
    return '"' + quoted.replace("\\", "\\\\").replace("%", "%%") + '"'
