"""Starters of the app, which are opened by a double click."""

from __future__ import annotations

import configparser
import subprocess
import sys

import pytest

from cimento.app.starter import starter
from cimento.cli.main import invoke

AWKWARD = '/home/it\'s "mine" $HOME `x` 100% \\ ünï'


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_the_starter_of_macos_gives_every_word_to_the_program_as_it_is(tmp_path):
    shown = tmp_path / "a program"
    shown.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    shown.chmod(0o755)
    name, text = starter("darwin", [str(shown), "-m", "cimento", "app", AWKWARD])
    assert name == "cimento.command"
    done = subprocess.run(  # noqa: S603  # a file of the test
        ["/bin/sh", "-c", text], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:-1] == ["-m", "cimento", "app", AWKWARD]


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


def test_the_starter_of_linux_is_a_desktop_entry_with_every_word():
    command = ["/usr/bin/python3", "-m", "cimento", "app", AWKWARD]
    name, text = starter("linux", command)
    parser = configparser.RawConfigParser()
    parser.optionxform = str
    parser.read_string(text)
    entry = parser["Desktop Entry"]
    assert name == "cimento.desktop"
    assert (entry["Type"], entry["Terminal"]) == ("Application", "true")
    assert unquoted(entry["Exec"]) == command


def test_the_starter_of_windows_quotes_words_and_doubles_percent_signs():
    name, text = starter(
        "win32", ["C:\\Program Files\\python.exe", "-m", "cimento", "app", "C:\\100% x"]
    )
    assert name == "cimento.cmd"
    lines = text.split("\r\n")
    assert lines[2] == '"C:\\Program Files\\python.exe" "-m" "cimento" "app" "C:\\100%% x"'
    assert lines[3] == "if errorlevel 1 pause"


@pytest.mark.skipif(sys.platform != "linux", reason="each system has another starter")
def test_the_command_writes_the_starter_to_the_desktop(tmp_path, monkeypatch, capsys):
    (tmp_path / "Desktop").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert invoke(["app", str(tmp_path / "my files"), "--shortcut"]) == 0
    path = tmp_path / "Desktop" / "cimento.desktop"
    assert str(path) in capsys.readouterr().err
    assert f'"app" "{tmp_path / "my files"}"' in path.read_text()
    assert path.stat().st_mode & 0o111
    assert not (tmp_path / "my files").exists()
