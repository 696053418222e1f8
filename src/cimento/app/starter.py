"""A file that starts the app when it is double-clicked, for Windows, macOS and Linux.

Where the Python that wrote it is gone, the file says so and what to do, and its window stays open.
"""

from __future__ import annotations

import locale
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from cimento.app.words import LANGUAGES, USUAL, Words, spoken, words
from cimento.errors import needing
from cimento.io.files import write_bytes

_EXECUTABLE = 0o755

_SHELL = (
    "if [ -x {program} ]; then {command} && exit 0; else printf '%s\\n' {gone} {program}; fi;"
    " printf '%s' {close}; read -r _; exit 1"
)
"""A script for sh: the window of a program that failed stays open until somebody presses Enter."""

_BATCH = """\
@echo off
chcp 65001 >nul
if not exist {program} goto gone
{command}
if errorlevel 1 pause
exit /b
:gone
echo {gone}
echo {path}
pause
"""
"""A batch file in UTF-8, which the second line has read so (any Windows since 10)."""


def starter(system: str, command: Sequence[str], say: Words | None = None) -> tuple[str, str]:
    """The name and the text of a starter.

    Args:
        system: as `sys.platform` names it: ``win32``, ``darwin``, or any other for Linux.
        command: the words of the command, the first the path of a program.
        say: the words of the user's language; None for English.
    """
    say = say or words(USUAL)
    gone = say("starter.gone")
    if system == "win32":
        quoted = list(map(_batch_word, command))
        text = _BATCH.format(
            program=quoted[0],
            command=" ".join(quoted),
            gone=_echoed(gone),
            path=_echoed(command[0]),
        )
        return "cimento.cmd", text.replace("\n", "\r\n")
    script = _SHELL.format(
        program=shlex.quote(command[0]), command=shlex.join(command), gone=shlex.quote(gone),
        close=shlex.quote(say("starter.close")),
    )  # fmt: skip
    if system == "darwin":
        return "cimento.command", f"#!/bin/sh\n{script}\n"
    # A desktop opens the window of a terminal, which closes as soon as the program ends.
    line = " ".join(map(_desktop_word, ("/bin/sh", "-c", script)))
    lines = ("[Desktop Entry]", "Type=Application", "Version=1.5", "Name=cimento",
             f"Comment={say('start.heading')}", f"Exec={line}", "Terminal=true",
             "Categories=Education;Science;")  # fmt: skip
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
    # With -P, nothing that lies on the desktop is taken for a module of Python.
    command = [sys.executable, "-P", "-m", "cimento", *arguments]
    name, text = starter(sys.platform, command, words(language_of(locale.getlocale()[0] or "")))
    path = write_bytes(text.encode("utf-8"), folder / name)
    path.chmod(_EXECUTABLE)
    return path


def desktop() -> Path:
    """The desktop of the user, wherever it was moved; the current folder where there is none.

    On Windows it may be in OneDrive, and on Linux it has a name in the language of the system.

    Raises:
        MissingDependencyError: the extra ``app`` is not installed.
    """
    with needing("platformdirs", extra="app", purpose="finding the desktop"):
        from platformdirs import user_desktop_path
    folder = user_desktop_path()
    return folder if folder.is_dir() else Path.cwd()


def language_of(name: str) -> str:
    """The language of the app for a locale.

    Args:
        name: ``it_IT`` as most systems say, or ``Italian_Italy`` as Windows does.
    """
    first = name.partition("_")[0]
    english = {words(USUAL).named("language", code): code for code in LANGUAGES}
    return english.get(first) or spoken(first)


def _batch_word(word: str) -> str:
    """A word of a batch file, by the rules of the C runtime, with percent signs doubled.

    It is in double quotes; backslashes at its end are doubled, or the last would quote them.
    """
    end = len(word) - len(word.rstrip("\\"))
    return '"' + (word + "\\" * end).replace("%", "%%") + '"'


def _echoed(text: str) -> str:
    """A text for ``echo``, with a caret before each mark that means something to cmd."""
    return "".join(f"^{mark}" if mark in "^&|<>()" else mark for mark in text).replace("%", "%%")


def _desktop_word(word: str) -> str:
    r"""A word of the key ``Exec``, by the rules of the Desktop Entry Specification.

    It is in double quotes, with a backslash before ``"``, ````, ``$`` and ``\``; as in every
    value, a backslash is then written twice. A percent sign, which begins a field, is doubled.
    """
    quoted = "".join(f"\\{mark}" if mark in '"`$\\' else mark for mark in word)
    return '"' + quoted.replace("\\", "\\\\").replace("%", "%%") + '"'
