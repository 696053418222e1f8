"""Suites go to what runs their kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from cimento import UsageError
from cimento.cli.main import invoke
from cimento.io.declared import checked
from cimento.options import RunOptions
from cimento.suites.builtin import kind_of


def _folder(path: Path, toml: str) -> Path:
    path.mkdir()
    (path / "suite.toml").write_text(toml, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("toml", "kind"),
    [
        ("[meta]\nname = 'a'\n", "regions"),
        ("kind = 'cloze'\n[meta]\nname = 'a'\n", "cloze"),
        ("kind = [", "regions"),
    ],
)
def test_a_suite_says_its_kind(tmp_path: Path, toml: str, kind: str) -> None:
    assert kind_of(_folder(tmp_path / "suite", toml)) == kind


def test_other_formats_hold_regions(tmp_path: Path) -> None:
    assert kind_of(tmp_path / "pairs.jsonl") == "regions"


def test_an_unknown_kind_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = _folder(tmp_path / "suite", "kind = 'region'\n[meta]\nname = 'a'\n")
    assert invoke(["run", str(folder), "-m", "demo-causal"]) == 2
    assert "kind is 'region'" in capsys.readouterr().err


def test_a_kind_that_is_no_text_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = _folder(tmp_path / "suite", "kind = 3\n")
    assert invoke(["run", str(folder), "-m", "demo-causal"]) == 2
    assert "kind is 3" in capsys.readouterr().err


def test_options_of_a_kind_need_a_suite_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "it-islands", "-m", "demo-causal", "--set", "k=3"]) == 2
    assert "option k: suites of the kind 'regions' have no such option" in capsys.readouterr().err


def test_settings_are_pairs() -> None:
    options = checked(RunOptions, {"set": ["k=3", "word-rule=a=b"]})
    assert options.set == {"k": "3", "word_rule": "a=b"}
    with pytest.raises(UsageError):
        checked(RunOptions, {"set": ["k"]})
