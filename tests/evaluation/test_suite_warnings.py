"""What a run repeats of the warnings about its suite."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import cimento
from cimento import evaluate
from cimento.cli.main import invoke
from cimento.testing import FakeScorer

PAIRS = [
    ("Il cane abbaia forte.", "Il cane abbaiano forte."),
    ("Le rose fioriscono tardi.", "Le rose fiorisce fiorisce tardi."),
    ("La neve copre i tetti.", "La neve coprono coprono i tetti."),
]


def builtin_stories() -> Path:
    return Path(cimento.__file__).parent / "data" / "suites" / "es-stories" / "items.jsonl"


def write(path: Path, *, paradigm: str) -> Path:
    rows = [
        {"sentence_good": good, "sentence_bad": bad, "UID": paradigm, "pairID": str(number)}
        for number, (good, bad) in enumerate(PAIRS)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("limit", "seen", "counted"),
    [
        (1, [], ["2 warnings about items that were not asked"]),
        (2, ["item 1, condition bad"], ["1 warning about items that were not asked"]),
        (None, ["item 1, condition bad", "item 2, condition bad"], []),
    ],
)
def test_only_warnings_about_items_that_were_asked_are_repeated(tmp_path, limit, seen, counted):
    suite = write(tmp_path / "verbi.jsonl", paradigm="verbi")
    warnings = evaluate(suite, "demo-causal", limit=limit, language="it").summary().warnings
    doubled = [text for text in warnings if text.startswith("CIM-S055")]
    assert [place in text for place, text in zip(seen, doubled, strict=True)] == [True] * len(seen)
    rest = [text for text in warnings if "suites check" in text]
    assert [text.split(":")[0] for text in rest] == counted


def test_warnings_about_items_that_others_have_released_are_counted(tmp_path):
    suite = write(tmp_path / "wh_island.jsonl", paradigm="wh_island")
    warnings = evaluate(suite, "demo-causal").summary().warnings
    [text] = [text for text in warnings if "CIM-S055" in text]
    begun = "2 warnings (CIM-S055) about items that were asked as they were released"
    assert text.startswith(begun)


def test_what_is_wrong_with_stories_is_repeated_by_their_run(tmp_path, capsys):
    stories = [json.loads(line) for line in builtin_stories().read_text("utf-8").splitlines()[:3]]
    stories[1]["sentences"][0] = "*" + stories[1]["sentences"][0].rstrip(".")
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, stories)) + "\n", encoding="utf-8")
    assert invoke(["suites", "check", str(path), "--language", "es"]) in (0, 2)
    told = {*re.findall(r"CIM-\w+", "".join(capsys.readouterr()))}
    assert told >= {"CIM-S061", "CIM-T022"}

    scorer = FakeScorer(lambda _tokens, _index: -1.0, name="even")
    run = evaluate(path, scorer, language="es", shots=0)
    assert {
        code for text in run.summary().warnings for code in re.findall(r"CIM-\w+", text)
    } == told
