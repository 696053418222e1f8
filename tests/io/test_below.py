"""Files below a folder are found through symbolic links too, each once."""

from __future__ import annotations

import pytest

from cimento.cli.main import invoke
from cimento.io.below import files_below
from cimento.studies import first_below
from tests.models.test_lm_eval_logs import story_log


def test_linked_folders_are_entered_once_and_circles_end(tmp_path):
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    for folder, name in ((data / "a", "one.csv"), (elsewhere / "deep", "two.csv")):
        folder.mkdir(parents=True)
        (folder / name).write_text("x", encoding="utf-8")
    (data / "linked").symlink_to(elsewhere, target_is_directory=True)
    (elsewhere / "again").symlink_to(data, target_is_directory=True)
    (data / "0-twin").symlink_to(data / "a", target_is_directory=True)
    expected = [data / "a" / "one.csv", data / "linked" / "deep" / "two.csv"]
    assert files_below(data, "*.csv") == expected
    assert first_below(data, "two.*") == expected[1]
    assert files_below(data, "three.csv") == files_below(tmp_path / "nowhere") == []


@pytest.mark.slow
def test_logs_behind_a_link_are_read(tmp_path, capsys):
    story_log(tmp_path / "kept" / "org__tiny")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "mine").symlink_to(tmp_path / "kept", target_is_directory=True)
    arguments = ["study", "stories", "--responses", str(tmp_path / "logs"), "--draws", "100"]
    assert invoke(arguments) == 0
    assert "tiny" in capsys.readouterr().out
