"""The table of faults: every test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NAMED = re.compile(r"`([\w/]*test_\w+\.py)::(test_\w+)`")
_PLACES = re.compile(r"`tests/([\w/]+(?:\.py|/))`")


def test_every_fault_has_a_test_that_exists():
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    named = _NAMED.findall(text)

    assert len(named) > 25
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), test


def test_every_file_of_attacks_exists():
    text = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    places = _PLACES.findall(text)
    assert "security/" in places
    assert len(places) > 4
    for place in places:
        assert (ROOT / "tests" / place).is_file() or [*(ROOT / "tests" / place).glob("test_*.py")]
