"""Exit codes: one table, in which help, pages and commands agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cimento.cli.facts import EXIT_CODES, OF_ANY_COMMAND, OF_COMMANDS, exit_codes
from cimento.cli.tree import leaves
from tests.helpers.command_line import invoke
from tests.helpers.exit_codes import ending_as_documented


def test_every_code_of_a_command_is_in_the_table_of_all():
    own = {code for codes in OF_COMMANDS.values() for code in codes}
    assert own | OF_ANY_COMMAND.keys() == EXIT_CODES.keys()
    assert OF_COMMANDS.keys() <= {" ".join(words) for words in leaves()}
    assert EXIT_CODES.keys() - own == {0, 130}


@pytest.mark.parametrize("words", OF_COMMANDS)
def test_the_help_of_a_command_ends_with_all_of_its_codes(words, capsys):
    assert invoke([*words.split(), "-h"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.endswith(exit_codes(words))
    for code in (0, 1, 2, 130, *OF_COMMANDS[words]):
        assert f" {code} " in exit_codes(words)


def test_a_command_whose_codes_are_the_usual_ones_has_no_line_on_them(capsys):
    assert invoke(["show", "-h"]) == 0
    assert "Exit code" not in capsys.readouterr().out
    assert exit_codes("show") == ""


def test_a_code_that_a_command_does_not_have_is_noticed():
    assert ending_as_documented(lambda _: 4)(["run", "a"]) == 4
    for arguments in (["show", "a"], ["judge", "a"], []):
        with pytest.raises(AssertionError, match="ended with 4"):
            ending_as_documented(lambda _: 4)(arguments)


def test_commands_end_with_the_codes_that_they_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = ["run", "it-subject-verb", "--limit", "2", "-m", "demo-causal"]
    assert invoke([*run, "-o", "runs"]) == 0
    assert invoke([*run[:-1], "none-here", "-o", "runs"]) == 2
    assert invoke([*run, "-m", "none-here", "-o", "runs"]) == 3
    wrong = ["--prediction", "(2;%match%) > (2;%mismatch_number%)"]
    assert invoke([*run, *wrong, "-o", "wrong", "--fail-under", "0.99"]) == 4
    # A file is where a folder would be made.
    Path("taken").write_text("", encoding="utf-8")
    assert invoke([*run, "-o", "taken/runs"]) == 1
    [path] = Path("runs").glob("*/*/manifest.json")
    manifest = json.loads(path.read_text("utf-8"))
    manifest["model"]["dtype"] = "bfloat16"
    path.write_text(json.dumps(manifest), "utf-8")
    assert invoke(["rerun", "runs"]) == 1
