"""Starters of the app, which are opened by a double click."""

from __future__ import annotations

import configparser
import subprocess
import sys

import pytest

from cimento.app.starter import desktop, language_of, starter
from cimento.app.words import words
from cimento.cli.main import invoke

AWKWARD = '/home/it\'s "mine" $HOME `x` 100% \\ ünï'

posix = pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")


@pytest.fixture
def program(tmp_path):
    """A program that prints its arguments, and fails if the first one is ``fail``."""
    path = tmp_path / "il mio d'ambiente é" / "a program"
    path.parent.mkdir()
    path.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n[ "$1" != fail ]\n')
    path.chmod(0o755)
    return path


def script_of(system, command):
    """What sh is given by the starter of a system, and the words after it."""
    name, text = starter(system, command, words("it"))
    if system == "darwin":
        assert name == "cimento.command"
        return ["/bin/sh", "-c", text]
    parser = configparser.RawConfigParser()
    parser.optionxform = str
    parser.read_string(text)
    assert name == "cimento.desktop"
    return unquoted(parser["Desktop Entry"]["Exec"])


def run(command):
    """A starter as a double click runs it, with Enter pressed at its end."""
    return subprocess.run(  # noqa: S603  # a file of the test
        command, input="\n", capture_output=True, text=True, check=False, timeout=60
    )


@posix
@pytest.mark.parametrize("system", ["darwin", "linux"])
def test_a_starter_gives_every_word_to_the_program_as_it_is(system, program):
    done = run(script_of(system, [str(program), "-m", "cimento", "app", AWKWARD]))
    assert done.returncode == 0
    assert done.stdout.split("\n")[:-1] == ["-m", "cimento", "app", AWKWARD]


@posix
@pytest.mark.parametrize("system", ["darwin", "linux"])
def test_the_window_of_a_program_that_fails_stays_open(system, program):
    done = run(script_of(system, [str(program), "fail"]))
    assert done.returncode == 1
    assert done.stdout == "fail\nPremi Invio per chiudere questa finestra. "


@posix
@pytest.mark.parametrize("system", ["darwin", "linux"])
def test_where_the_program_was_moved_the_starter_says_what_to_do(system, program):
    script = script_of(system, [str(program), "app"])
    program.parent.rename(program.parent.with_name("moved"))
    done = run(script)
    assert (done.returncode, done.stderr) == (1, "")
    first, second, _ = done.stdout.split("\n")
    assert first.startswith("cimento non è più in questo posto")
    assert first.endswith("cimento app --shortcut")
    assert second == str(program)


def unquoted(value: str) -> list[str]:
    """The words of ``Exec``, by the rules of the Desktop Entry Specification 1.5."""
    value = value.replace("%%", "%").replace("\\\\", "\\")
    words, word, inside, escaped = [], "", False, False
    for mark in value:
        if escaped:
            word, escaped = word + mark, False
        elif mark == "\\":
            escaped = True
        elif mark == '"':
            inside = not inside
        elif mark == " " and not inside:
            words.append(word)
            word = ""
        else:
            word += mark
    return [*words, word]


def test_the_starter_of_linux_opens_a_terminal():
    text = starter("linux", ["/usr/bin/python3", "app"], words("ru"))[1]
    assert "Type=Application\n" in text
    assert "Terminal=true\n" in text
    assert "Comment=Что модель знает о языке?\n" in text


WINDOWS = """\
@echo off
chcp 65001 >nul
if not exist "C:\\Program Files\\100%% ünï\\python.exe" goto gone
"C:\\Program Files\\100%% ünï\\python.exe" "-m" "cimento" "app" "D:\\\\"
if errorlevel 1 pause
exit /b
:gone
echo cimento больше нет на этом месте: папку переместили или удалили. Установите cimento заново и \
выполните: cimento app --shortcut
echo C:\\Program Files\\100%% ünï\\python.exe
pause
"""


def test_the_starter_of_windows_is_what_the_rules_of_cmd_ask_for():
    r"""A batch file doubles ``%``, and a backslash before a closing quote is doubled.

    Rules: "Parsing C command-line arguments" and "chcp", "if", "echo" of the documentation of
    Windows; a path that ends in a backslash would else run on over its quotation mark.
    """
    python = "C:\\Program Files\\100% ünï\\python.exe"
    name, text = starter("win32", [python, "-m", "cimento", "app", "D:\\"], words("ru"))
    assert name == "cimento.cmd"
    assert text.split("\r\n") == WINDOWS.split("\n")


def test_marks_that_mean_something_to_cmd_are_only_echoed():
    text = starter("win32", ["C:\\R&D (old) ^1\\python.exe", "app"])[1]
    assert "\r\necho C:\\R^&D ^(old^) ^^1\\python.exe\r\n" in text
    assert '\r\n"C:\\R&D (old) ^1\\python.exe" "app"\r\n' in text


@pytest.mark.parametrize(
    ("name", "language"),
    [("it_IT", "it"), ("Russian_Russia", "ru"), ("pt_BR", "pt"), ("Portuguese_Brazil", "pt"),
     ("German_Germany", "en"), ("C", "en"), ("", "en")],
)  # fmt: skip
def test_a_starter_speaks_the_language_of_the_system(name, language):
    assert language_of(name) == language


@pytest.mark.skipif(sys.platform != "linux", reason="desktops of other systems are elsewhere")
def test_the_desktop_is_found_under_the_name_that_the_system_gives_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_DESKTOP_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    assert desktop() == tmp_path  # there is none yet
    (tmp_path / "Рабочий стол").mkdir()
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config" / "user-dirs.dirs").write_text(
        'XDG_DESKTOP_DIR="$HOME/Рабочий стол"\n', encoding="utf-8"
    )
    assert desktop() == tmp_path / "Рабочий стол"


@pytest.mark.skipif(sys.platform != "linux", reason="each system has another starter")
def test_the_command_writes_the_starter_to_the_desktop(tmp_path, monkeypatch, capsys):
    (tmp_path / "Desktop").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert invoke(["app", str(tmp_path / "my files"), "--shortcut"]) == 0
    path = tmp_path / "Desktop" / "cimento.desktop"
    assert str(path) in capsys.readouterr().err
    assert f"app '{tmp_path / 'my files'}'" in path.read_text()
    assert path.stat().st_mode & 0o111
    assert not (tmp_path / "my files").exists()
