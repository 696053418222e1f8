"""What the list of published sets says of each: size in a language, who judged, what runs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.suites.published import published
from tests.helpers.command_line import invoke

if TYPE_CHECKING:
    import pytest


def test_the_command_lists_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["suites", "list", "--remote"]) == 0
    listed = capsys.readouterr().out
    assert "syntactic-agreement" in listed
    [row] = [line for line in listed.splitlines() if line.startswith("multiblimp ")]
    assert " ca and 93 more " in row
    assert invoke(["suites", "list", "--remote", "--language", "fi"]) == 0
    _, row, _, last = capsys.readouterr().out.splitlines()
    assert row.startswith("multiblimp ")
    assert "  2,570 pairs  " in row  # the number of Finnish on the dataset's card
    assert last == "Unattended: 1 of 1 set."
    assert invoke(["suites", "list", "--remote", "--language", "it"]) == 0
    lines = capsys.readouterr().out.splitlines()
    judged = {line.split()[0] for line in lines if "  by people  " in line}
    assert judged == {"itacola", "connectives"}
    assert lines[-1] == (
        "Unattended: 4 of 8 sets; 3 more with --accept-license (itacola, sprouse-it, gita);"
        " to be fetched by hand: connectives."
    )


def test_counts_are_of_languages_that_the_set_has() -> None:
    counted = {entry.name: entry for entry in published().values() if entry.counts}
    assert counted.keys() >= {"multiblimp", "clams", "bhs"}
    for entry in counted.values():
        assert set(entry.counts) == set(entry.languages)
        assert all(count > 0 for count in entry.counts.values())
    assert counted["clams"].size_in("fr") == "49,360 pairs"
    assert counted["clams"].size_in("") == counted["clams"].size
    files = counted["bhs"].files
    assert counted["bhs"].counts == {code: 1000 * len(files[code]) for code in files}


def test_the_command_refuses_a_dataset_that_is_not_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert invoke(["suites", "get", "blmp"]) == 2
    assert "Did you mean 'blimp'" in capsys.readouterr().err
