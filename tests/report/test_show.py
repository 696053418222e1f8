"""A stored run and its items in the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from unicodedata import category, combining, east_asian_width

import pytest

from cimento import Condition, Item, Meta, Prediction, Region, Run, Suite, evaluate
from cimento.cli.main import invoke
from cimento.io.inline_markup import columns
from cimento.paradigms.regions.sections import region_report
from cimento.report.terminal import terminal_item
from cimento.testing.models import uniform_scorer

SUITE = Suite(
    meta=Meta(name="verbs", language="it", phenomenon="agreement"),
    region_names=("subject", "verb"),
    predictions=(Prediction("(2;%good%) < (2;%bad%)"),),
    items=(
        Item(
            "7",
            (
                Condition("good", (Region("Il [bold]gatto"), Region("dorme."))),
                Condition("bad", (Region("Il [bold]gatto"), Region("dormono qui."))),
            ),
        ),
    ),
)


@pytest.fixture
def stored(tmp_path: Path) -> Run:
    return evaluate(SUITE, uniform_scorer(2), output=tmp_path)


def test_one_item(stored: Run, capsys: pytest.CaptureFixture[str]) -> None:
    # Every word is one bit: one word and its period, against two words and theirs.
    assert stored.folder is not None
    assert invoke(["show", str(stored.folder), "7"]) == 0
    shown = capsys.readouterr().out
    assert "item 7 of verbs (agreement)" in shown
    assert "Il [bold]gatto dorme." in shown
    assert "* verb  dorme.  2.00 bits" in shown
    assert "* verb  dormono qui.  3.00 bits" in shown
    assert "pass by 1.00 bits  prediction 0: (2;%good%) < (2;%bad%)" in shown


def test_color_shades_surprising_tokens() -> None:
    run = evaluate(SUITE, uniform_scorer(1024))
    report = region_report(run)
    (record,) = report.items
    assert "\x1b[" in terminal_item(record, report, color=True)
    assert "\x1b[" not in terminal_item(record, report)


def test_the_summary_and_an_item_there_is_not(
    stored: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert invoke(["show", str(stored.folder)]) == 0
    assert "verbs (it), 1 item" in capsys.readouterr().out
    assert invoke(["show", str(stored.folder), "8"]) == 2
    assert "there is no item '8'" in capsys.readouterr().err


def test_columns_stand_below_one_another_in_every_script():
    """By East Asian Width (UAX 11), a Han letter takes two places, and a Thai vowel sign none."""
    lines = columns([("我买了", "1"), ("ซื้อ", "2"), ("verb", "3")]).splitlines()
    places = [sum({"W": 2, "F": 2}.get(east_asian_width(c), 1) for c in line if not combining(c)
                  and category(c) != "Mn") for line in lines]  # fmt: skip
    assert len(set(places)) == 1


def test_the_marks_of_a_recording_are_shown_by_their_names(tmp_path, capsys):
    (tmp_path / "keys.tsv").write_text("good\tbad\nPiove qui.\tPiovono qui.\n", "utf-8")
    rows = ["sentence_id\ttoken_id\ttoken\tsurprisal"]
    for number, verb in enumerate(("Piove", "Piovono"), 1):
        pieces = ("<s>", verb, "qui.", "</s>")
        rows += [f"{number}\t{k}\t{piece}\t{k}.5" for k, piece in enumerate(pieces, 1)]
    (tmp_path / "log.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    vocabulary = {"unk_types": [], "prefix_types": ["<s>"], "suffix_types": ["</s>"]}
    tokenizer = {"type": "word", "cased": True}
    spec = {"name": "marks", "vocabulary": {**vocabulary, "special_types": []}}
    (tmp_path / "spec.json").write_text(json.dumps({**spec, "tokenizer": tokenizer}), "utf-8")
    command = ["run", str(tmp_path / "keys.tsv"), "-m", f"replay:{tmp_path / 'log.tsv'}"]
    options = ["--spec", str(tmp_path / "spec.json"), "-o", str(tmp_path / "runs")]
    assert invoke([*command, *options]) == 0
    capsys.readouterr()
    assert invoke(["show", str(tmp_path / "runs"), "1"]) == 0
    shown = capsys.readouterr().out
    assert "<s>" in shown
    assert "</s>" in shown
    assert "␣" not in shown
