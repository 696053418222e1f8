"""The help of every command: few options first, all on request, in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cimento.cli.groups import command_of
from cimento.cli.help import MOST_SHOWN, arguments_of, metavar_of, option_groups
from cimento.cli.help_groups import GROUPS, METAVARS, OTHER, SHOWN, TAKES_LINE_OF_RUN
from cimento.cli.main import invoke
from cimento.cli.tree import COMMANDS, MOVED, leaves, moved, spellings, walk

ROOT = Path(__file__).parents[2]
MOST_AT_TOP = 20
TYPES = re.compile(r"<|\[x|\{[A-Z]|\[\[?[A-Z]|\blist\[|\b(?:int|float|str|bool)\b|Path\]|x>=")
"""What shows that a program speaks of its own types."""


@pytest.fixture(scope="module")
def commands():
    return {" ".join(words): command_of(words) for words in leaves()}


def flags_of(command):
    return {param.opts[-1] for param in command.params if param.param_type_name == "option"}


def printed(capsys, *words):
    capsys.readouterr()
    assert invoke([*words]) == 0, words
    return capsys.readouterr().out


def test_the_top_has_few_commands_and_no_summary_is_cut(capsys):
    assert len(COMMANDS) <= MOST_AT_TOP
    for words in [(), *(words for words in walk() if words not in set(leaves()))]:
        text = printed(capsys, *words, "-h")
        assert "...\n" not in text.partition("\n\n")[2], words
        assert printed(capsys, *words, "--help") == text
        assert printed(capsys, *words, "--help-all").startswith(text.rstrip()[:-30])
    assert "Exit codes:" in printed(capsys, "--help-all")


def test_every_command_shows_few_options_and_has_all_of_them_on_request(commands):
    unreachable, many = {}, {}
    for words, command in commands.items():
        groups = option_groups(words, command.params)
        rows = [row for group in groups for row in group.options]
        shown = sum(row.shown for row in rows)
        if not 0 <= shown <= MOST_SHOWN:
            many[words] = shown
        named = {param.name for param in command.params if param.param_type_name == "option"}
        if words in TAKES_LINE_OF_RUN:
            of_run = {param.name for param in commands["run"].params}
            named -= of_run - {*TAKES_LINE_OF_RUN[words]}
        if left := named - {row.name for row in rows}:
            unreachable[words] = left
    assert (many, unreachable) == ({}, {})


def test_help_is_in_words_and_has_no_types(commands):
    strange = {}
    for words, command in commands.items():
        rows = [row for group in option_groups(words, command.params) for row in group.options]
        rows += arguments_of(command.params)
        said = [row.written for row in rows]
        said += [metavar_of(param) for param in command.params]
        if found := [text for text in said if TYPES.search(text)]:
            strange[words] = found
        assert all(row.text for row in rows), words
        fragments = [row.text for row in rows if row.text.startswith(("Of ", "By which "))]
        assert fragments == [], words
    assert strange == {}


def test_the_line_under_the_options_counts_those_that_are_left(capsys, commands):
    short, long = printed(capsys, "run", "-h"), printed(capsys, "run", "--help-all")
    count = int(re.search(r"^(\d+) more options: --help-all$", short, re.MULTILINE)[1])
    assert [flag in short for flag in ("--model", "--mc-seed")] == [True, False]
    assert {
        flag for flag in flags_of(commands["run"]) if not re.search(rf"{flag}\b", long)
    } == set()
    lines = [re.findall(r"^  (?:-\w, )*(--[\w-]+)", text, re.MULTILINE) for text in (short, long)]
    assert len(lines[1]) - len(lines[0]) == count
    assert "--help-all" not in long


@pytest.mark.parametrize("words", TAKES_LINE_OF_RUN)
def test_a_command_that_takes_the_line_of_a_run_says_so_and_lists_its_own(words, capsys):
    text = " ".join(printed(capsys, *words.split(), "-h").split())
    assert "It takes the arguments of `cimento run`" in text
    assert "--pll" not in text
    assert "more options" not in text


def test_the_tables_of_help_name_options_that_there_are(commands):
    every = {param.name for command in commands.values() for param in command.params}
    assert {name for names in OTHER.values() for name in names} | {*METAVARS} <= every
    for table in (SHOWN, TAKES_LINE_OF_RUN):
        for words, names in table.items():
            own = {param.name for param in commands[words].params}
            assert set(names) <= own, words
    for words, groups in GROUPS.items():
        own = {param.name for param in commands[words].params}
        assert {name for names in groups.values() for name in names} <= own, words


@pytest.mark.parametrize("old", MOVED)
def test_an_old_spelling_is_answered_with_the_new_one(old, capsys):
    assert invoke([*old.split(), "runs"]) == 2
    said = capsys.readouterr().err
    assert f"there is no command '{old}'. It is now: cimento {MOVED[old][1]}" in said


def test_what_an_old_spelling_became_is_a_command():
    names = {" ".join(words) for words in leaves()}
    for old, new in spellings():
        assert any(f"{new} ".startswith(f"{name} ") for name in names), (old, new)
        assert old not in names, old
    assert moved(("stories",))[1].count("cimento ") == 4
    assert moved(("report", "runs")) == ("", "")


def test_runs_after_analyze_are_told_that_it_is_a_group(tmp_path, capsys):
    assert invoke(["analyze", str(tmp_path)]) == 2
    assert "Such as: cimento analyze items RUN" in capsys.readouterr().err


def test_the_changelog_has_the_old_and_the_new_spellings_as_the_code_does():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    table = (
        text.partition("old spellings answer with the new one")[2]
        .partition("|---|---|\n")[2]
        .partition("\n\n")[0]
    )
    shown = re.findall(r"^ *\| `cimento (.+?)` \| `cimento (.+?)` \|$", table, re.MULTILINE)
    assert shown == spellings()


@pytest.mark.parametrize("name", ["suites", "annotate"])
def test_the_commands_of_a_large_group_are_listed_once_in_named_sections(name, capsys):
    assert invoke([name, "-h"]) == 0
    printed = capsys.readouterr().out
    assert "Commands:" not in printed
    assert len(COMMANDS[name].sections) >= 3
    for title, section in COMMANDS[name].sections.items():
        part = printed.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in part.splitlines()] == list(section)
