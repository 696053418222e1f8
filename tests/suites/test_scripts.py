"""Scripts that put no blanks between words: joining, regions and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from cimento import Suite, evaluate, load_suite
from cimento.cli.main import invoke
from cimento.suites import sentence
from cimento.suites.stimuli import join_regions
from cimento.testing.models import FakeScorer

TOML = """\
regions = ["subject", "adverb", "verb", "object"]

[meta]
name = "zh"
language = "zh"

[options]
join = "none"

[[predictions]]
formula = "(3;%good%) < (3;%bad%)"
"""
ITEMS = """\
item\tcondition\ttext
1\tgood\t他们 | 在 | 浇 | 花。
1\tbad\t他们 | 在 | 浇过 | 花。
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    suite = tmp_path / "zh"
    suite.mkdir()
    (suite / "suite.toml").write_text(TOML, encoding="utf-8")
    (suite / "items.tsv").write_text(ITEMS, encoding="utf-8")
    return suite


def test_regions_are_joined_by_nothing(folder: Path) -> None:
    suite = load_suite(folder).suite
    assert isinstance(suite, Suite)
    condition = suite.items[0].condition("bad")
    text, spans = join_regions(condition.regions, rule="none")
    assert text == sentence(condition, rule="none") == "他们在浇过花。"
    assert [text[low:high] for low, high in spans] == ["他们", "在", "浇过", "花。"]


@pytest.mark.parametrize("name", ["copy", "copy.xlsx"])
def test_the_rule_survives_conversion(name: str, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / name
    assert invoke(["suites", "convert", str(folder), "-o", str(copy)]) == 0
    suite = load_suite(copy).suite
    assert isinstance(suite, Suite)
    assert suite.join == "none"
    assert sentence(suite.items[0].condition("good"), rule=suite.join) == "他们在浇花。"


def test_the_bars_say_where_words_end(folder: Path) -> None:
    # The fake model has a token a letter here, each of which costs one bit more than the last.
    scorer = FakeScorer(lambda _tokens, index: -float(index))
    tokens = evaluate(folder, scorer).table("tokens")
    assert len(tokens) == len("浇") + len("浇过")
    outcomes = evaluate(folder, scorer).outcomes()
    assert outcomes["right"].to_list() == [True]  # one letter costs less than two


def test_a_chinese_sentence_without_a_final_mark_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = [
        f"{number}\t{side}\t他们 | 在 | {verb} | {object_}"
        for number, object_ in enumerate(("花。", "树。", "草。", "菜"), start=2)
        for side, verb in (("good", "浇"), ("bad", "浇过"))
    ]
    (folder / "items.tsv").write_text("\n".join([ITEMS.strip(), *more]) + "\n", encoding="utf-8")
    assert invoke(["suites", "check", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "'他们在浇菜' has no final mark" in said
    assert said.count("has no final mark") == 2


def test_words_of_a_text_are_printed_letter_by_letter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("我喜欢猫。\n", encoding="utf-8")
    assert invoke(["score", str(text), "-m", "demo-causal", "--words"]) == 0
    rows = capsys.readouterr().out.strip().splitlines()
    assert len(rows) == 1 + len("我喜欢猫。")
